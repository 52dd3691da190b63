// The sentence that everything in "Look inside" is about, and the control that chooses another one of the text.

import { ask } from "./api.js";
import { h, show } from "./dom.js";
import * as questions from "./questions.js";
import { select } from "./state.js";
import { direction } from "./text.js";

const LONGEST = 48; // characters of a sentence in the list; the chosen one stands below it in full

/** Both are hidden where the text is one sentence. `choose` is the control, `line` the sentence. */
export function sentenceChooser() {
  const box = h("select", {
    "aria-label": "Sentence",
    "data-key": "sentence",
    onchange: () => select({ sentence: Number(box.value) }),
  });
  const place = h("span", { class: "small quiet" });
  const choose = h("label", { class: "row", hidden: true }, place, box);
  const text = h("p", { class: "reading" });
  const line = h("div", { hidden: true }, text, h("p", { class: "small quiet" }, "Everything below is about this sentence. The whole text:"));
  let turn = 0;
  let filled = null;

  async function update(sel) {
    const mine = (turn += 1);
    const wanted = questions.translation(sel);
    const found = wanted && (await ask(wanted.path, wanted.body).catch(() => null)); // panel A says what went wrong
    if (mine !== turn) return;
    const list = found?.translations[0].sentences ?? [];
    choose.hidden = line.hidden = list.length < 2;
    if (choose.hidden) return;
    if (filled !== list) show(box, list.map((one, number) => h("option", { value: number }, `${number + 1}: ${shortened(one.source)}`)));
    filled = list;
    box.value = String(sel.sentence);
    place.textContent = `Sentence ${sel.sentence + 1} of ${list.length}`;
    text.textContent = list[sel.sentence]?.source ?? "";
    text.dir = direction(text.textContent);
  }
  return { choose, line, update };
}

const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text);
