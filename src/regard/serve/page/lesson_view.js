// A live view in a lesson: a panel of the page with a caption and, where the lesson sets one, a selection of its own.

import { isSaved } from "./api.js";
import { button, h, show } from "./dom.js";
import { fromHtml } from "./lesson_html.js";
import { savedPicker } from "./saved.js";
import { sourceBox } from "./source_box.js";
import { ownSelection, select, subscribe, within } from "./state.js";

/** A view with a selection of its own, if it has one; else it shows that of the lesson. */
export function liveView(block, context, index) {
  const { views, add, hasModel } = context;
  const make = views[block.name];
  if (!make) return h("p", { class: "note" }, `This page has no view “${block.name}”.`);
  const wanted = [block.set.model ?? context.lesson.start.model, ...block.tries.map((each) => each.set.model)];
  const missing = [...new Set(wanted)].filter((name) => name && !hasModel(name));
  const known = ({ model, ...rest }) => (model && hasModel(model) ? { model, ...rest } : rest);
  const first = known(block.set);
  const own = Object.keys(first).length ? ownSelection(first) : null;
  const view = within(own, () => make());
  const tries = block.tries.map((each) => button(each.label, () => (own ? own.reset(known(each.set)) : select(known(each.set)))));
  const element = h(
    "section",
    { class: "scene" },
    h("div", { class: "prose" }, fromHtml(block.caption)),
    missing.length ? otherModel(missing.join(" and ")) : null,
    own ? ownText(own) : null,
    tries.length ? h("p", { class: "row" }, tries) : null,
    h("div", { class: "view" }, view.element),
  );
  own?.bind(element);
  uniqueIds(view.element, index);
  if (own) within(own, () => subscribe((sel, changed) => view.update(sel, changed)));
  add({ update: (sel, changed) => (own ? own.follow(changed) : view.update(sel, changed)) });
  return ["text" in first ? null : common(context), element]; // what happens inside an element belongs to its own selection
}

function otherModel(model) {
  return h("p", { class: "note small" }, `${isSaved() ? "This file" : "This server"} has no model ${model}; another one is shown.`);
}

/** The sentence that the views share which have none of their own, above the first of them; the reader may change it. */
function common(context) {
  if (context.shared) return null;
  context.shared = true;
  const { text, model } = context.lesson.start;
  if (isSaved()) return savedPicker();
  const start = context.hasModel(model) ? { model, text } : { text };
  return h(
    "div",
    { class: "own-sentence" },
    h("span", { class: "small quiet" }, "The sentence of the live views of this lesson; you may write another"),
    sourceBox({ rows: 1, label: "The sentence of this lesson", placeholder: "Type a sentence" }),
    text ? h("p", {}, button("Back to the lesson’s sentence", () => select(start), { class: "small link" })) : null,
  );
}

/** The sentence of a view while it has its own, and the way back to the first one. */
function ownText(own) {
  const line = h("p", { class: "reading small", dir: "auto" });
  const row = h("div", { class: "row between" }, line, button("Back to the example", () => own.reset(), { class: "small link" }));
  const fill = () => {
    row.hidden = !("text" in own.differing());
    show(line, own.selection().text);
  };
  fill();
  within(own, () => subscribe(fill));
  return row;
}

/** A lesson may show a view twice. */
function uniqueIds(element, index) {
  const renamed = [element, ...element.querySelectorAll("[id]")].filter((one) => one.id);
  const names = new Map(renamed.map((one) => [one.id, `${one.id}-${index}`]));
  for (const one of renamed) one.id = names.get(one.id);
  for (const name of ["aria-labelledby", "aria-describedby", "for"]) {
    for (const one of [element, ...element.querySelectorAll(`[${name}]`)]) {
      if (names.has(one.getAttribute(name))) one.setAttribute(name, names.get(one.getAttribute(name)));
    }
  }
}
