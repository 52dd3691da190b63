// The translations of this visit, newest first, in the memory of the page alone.

import { button, h, show } from "./dom.js";
import { languageName } from "./models.js";
import { select } from "./state.js";
import { direction } from "./text.js";

const MOST = 50;
const entries = []; // {text, translation, from, to}, newest first

export function historyFold() {
  const list = h("ol", { class: "history" });
  const clear = button("Clear the history", () => (entries.splice(0), draw()), { class: "plain" });
  const element = h(
    "details",
    { class: "fold", hidden: true },
    h("summary", {}, "History of this visit"),
    list,
    h("p", { class: "row spread small quiet" }, "It is gone when the page is closed.", clear),
  );

  function draw() {
    element.hidden = !entries.length;
    show(
      list,
      entries.map(({ text, translation, from, to }) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", onclick: () => select({ model: "", from, to, text }) },
            h("span", { class: "small quiet" }, `${languageName(from)} → ${languageName(to)}`),
            h("span", { class: "line", dir: direction(text, from) }, text),
            h("span", { class: "line", dir: direction(translation, to) }, translation),
          ),
        ),
      ),
    );
  }

  /** Add what is shown now; what was typed on the way to it is left out. */
  function add(text, translation, { from, to }) {
    if (!text.trim() || !from || !to) return;
    const last = entries[0];
    const typed = last && last.to === to && (text.startsWith(last.text.trim()) || last.text.startsWith(text.trim()));
    if (typed) entries.shift();
    const again = entries.findIndex((one) => one.text === text && one.from === from && one.to === to);
    if (again >= 0) entries.splice(again, 1);
    entries.unshift({ text, translation, from, to });
    entries.length = Math.min(entries.length, MOST);
    draw();
  }
  draw();
  return { element, add };
}
