// The blocks of a lesson: prose, a question to guess first, a live view, an equation, code, a session, an exercise.

import { button, h, show } from "./dom.js";
import { exerciseView } from "./exercise.js";
import { fromHtml } from "./lesson_html.js";
import { liveView } from "./lesson_view.js";
import { guessOf, keepGuess } from "./progress.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/**
 * @param {object} block of `/api/lessons/N`
 * @param {{lesson: object, can: object, done: Set<string>, onRight: (id: string) => void, views: object,
 *   add: (view: object) => void, hasModel: (name: string) => boolean}} context `done`: exercises solved before
 * @param {number} index of the block in its lesson
 */
export function drawBlock(block, context, index) {
  return DRAWN[block.kind]?.(block, context, index) ?? null;
}

/** A command may be long: its line wraps, while tables of numbers keep theirs. */
const commandLine = (line) => (line.startsWith("$ ") ? h("span", { class: "command" }, line) : line);

const plain = (kind) => (block) => h("pre", { class: kind, tabindex: "0" }, block.text);

const DRAWN = {
  html: (block) => h("div", { class: "prose" }, fromHtml(block.html)),
  guess,
  view: liveView,
  equation: plain("equation"),
  code: (block) =>
    h(
      "figure",
      { class: "code" },
      h("pre", { tabindex: "0" }, block.text),
      h("figcaption", { class: "small quiet" }, block.file),
    ),
  console: (block) => h("pre", { class: "session", tabindex: "0" }, block.text.split(/(?<=\n)/).map(commandLine)),
  python: plain("session"),
  exercise: (block, { lesson, can, done, onRight }) =>
    exerciseView(lesson, block, { can, done: done.has(block.id), onRight: () => onRight(block.id) }).element,
};

function guess(block, { lesson }, index) {
  const key = `${lesson.slug}.${index}`;
  const before = guessOf(key);
  const answer = h("div", { class: "answer", hidden: true, tabindex: "-1" });
  const open = button("Show the answer", () => reveal(true));
  let given = before;
  const control = block.choices.length ? choices() : writing();

  function choices() {
    open.disabled = before === undefined;
    const choose = (number) => {
      given = number;
      open.disabled = false;
    };
    return h(
      "fieldset",
      { class: "guesses" },
      h("legend", { class: "unseen" }, "Your guess"),
      block.choices.map((text, at) =>
        h(
          "label",
          {},
          h("input", { type: "radio", name: key, checked: before === at + 1, onchange: () => choose(at + 1) }),
          h("span", {}, `(${LETTERS[at]}) `, fromHtml(text)),
        ),
      ),
    );
  }

  function writing() {
    const box = h("textarea", { rows: 2, "aria-label": "Your guess", placeholder: "Your guess", class: "guess" });
    box.value = before ?? "";
    box.addEventListener("input", () => (given = box.value));
    return box;
  }

  function reveal(now) {
    keepGuess(key, given ?? "");
    open.hidden = true;
    for (const input of control.querySelectorAll("input")) input.disabled = true;
    const right = block.right && given === block.right;
    const verdict = block.right && (right ? "Right." : `It is (${LETTERS[block.right - 1]}).`);
    show(answer, verdict ? h("p", { class: right ? "right" : "wrong" }, verdict) : null, fromHtml(block.answer));
    answer.hidden = false;
    if (now) answer.focus();
  }
  if (before !== undefined) reveal(false);
  return h(
    "section",
    { class: "question", "aria-label": "A question to guess first" },
    h("p", { class: "label" }, "Guess first"),
    h("div", { class: "asked" }, fromHtml(block.question)),
    control,
    h("p", {}, open),
    answer,
  );
}
