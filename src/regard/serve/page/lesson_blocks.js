// The blocks of a lesson: prose, a question to guess first, a live view, an equation, code, a session, an exercise.

import { button, h, show } from "./dom.js";
import { exerciseView } from "./exercise.js";
import { fromHtml } from "./lesson_html.js";
import { select } from "./state.js";

/**
 * @param {object} block of `/api/lessons/N`
 * @param {{lesson: object, can: object, views: object, add: (view: object) => void, done?: Set<string>,
 *   onRight?: (id: string) => void}} context `done`: the exercises that were solved before
 */
export function drawBlock(block, context) {
  return DRAWN[block.kind]?.(block, context) ?? null;
}

const DRAWN = {
  html: (block) => h("div", { class: "prose" }, fromHtml(block.html)),
  guess,
  view: liveView,
  equation: (block) => h("pre", { class: "equation", tabindex: "0" }, block.text),
  code: (block) =>
    h("figure", { class: "code" }, h("pre", { tabindex: "0" }, block.text), h("figcaption", { class: "small quiet" }, block.file)),
  console: (block) => h("pre", { class: "session", tabindex: "0" }, block.text),
  python: (block) => h("pre", { class: "session", tabindex: "0" }, block.text),
  exercise: (block, { lesson, can, done, onRight }) =>
    exerciseView(lesson, block, { can, done: done?.has(block.id), onRight: () => onRight?.(block.id) }).element,
};

function guess(block) {
  const answer = h("div", { class: "answer", hidden: true, tabindex: "-1" });
  const open = button("Show the answer", () => {
    answer.hidden = false;
    open.hidden = true;
    show(answer, fromHtml(block.answer));
    answer.focus();
  });
  return h("section", { class: "question" }, h("p", { class: "small quiet" }, "Guess first"), h("div", {}, fromHtml(block.question)), open, answer);
}

function liveView(block, { views, add }) {
  const view = views[block.name]?.();
  if (!view) return h("p", { class: "note" }, `This page has no view “${block.name}”.`);
  add(view);
  return h(
    "section",
    { class: "scene" },
    h("div", { class: "prose" }, fromHtml(block.caption)),
    block.tries.length
      ? h("p", { class: "row" }, block.tries.map((each) => button(each.label, () => select(each.set))))
      : null,
    h("div", { class: "view" }, view.element),
  );
}
