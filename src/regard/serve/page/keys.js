// The keyboard, from everywhere on the page except where letters are typed.

import { ask } from "./api.js";
import { shownMap, stepped } from "./attention_view.js";
import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { nextHypothesis } from "./results.js";
import { current, currentPart, redo, select, undo, within } from "./state.js";

const KEYS = [
  [["/"], "go to the text"],
  [["[", "]"], "one layer down, up"],
  [[",", "."], "one head back, on; the mean of all heads comes first"],
  [["j", "k"], "next, previous result of the search"],
  [["←", "→", "↑", "↓"], "move inside words, maps, heads and the lattice"],
  [["Enter"], "choose"],
  [["Esc"], "close; leave the text; one level up in the whole model"],
  [["u", "U"], "undo, redo"],
  [["1", "2", "3"], "Translate, Look inside, Lesson"],
  [["?"], "this help"],
];

export function helpDialog(dialog) {
  show(
    dialog,
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "dl",
      {},
      KEYS.flatMap(([keys, text]) => [
        h(
          "dt",
          {},
          keys.flatMap((key, number) => [number ? " " : "", h("kbd", {}, key)]),
        ),
        h("dd", {}, text),
      ]),
    ),
    h(
      "p",
      { class: "small quiet" },
      "What you see is in the address of the page: copy the link, and another reader of this server sees " +
        "the same. The part after # never leaves the browser.",
    ),
    h(
      "p",
      {},
      button("Close", () => dialog.close(), { class: "main", autofocus: true }),
    ),
  );
}

export function bindKeys(say) {
  document.addEventListener("keydown", async (event) => {
    const typing = event.target.closest?.(
      "textarea, input:not([type=range]):not([type=radio]):not([type=checkbox]), select",
    );
    if (event.key === "Escape" && typing) return event.target.blur();
    const undoKey = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (typing || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      if (!undoKey) return;
      event.preventDefault();
      return void (event.shiftKey ? redo() : undo());
    }
    const act = ACTIONS[event.key];
    if (!act) return;
    event.preventDefault();
    const said = await act();
    if (said) say(said);
  });
}

const ACTIONS = {
  "/": () => void document.getElementById("source-text")?.focus(),
  "?": () => void document.getElementById("help").showModal(),
  u: () => (undo() ? "undone" : "nothing to undo"),
  U: () => (redo() ? "done again" : "nothing to do again"),
  j: () => nextHypothesis(1),
  k: () => nextHypothesis(-1),
  "[": () => move({ layers: -1 }),
  "]": () => move({ layers: 1 }),
  ",": () => move({ heads: -1 }),
  ".": () => move({ heads: 1 }),
  1: () => select({ view: "translate" }),
  2: () => select({ view: "inside" }),
  3: () => select({ view: "lesson" }),
};

async function move(by) {
  const part = currentPart();
  const wanted = await questions.attention(current()).catch(() => null);
  if (!wanted) return "Type a sentence first.";
  const answer = await ask(wanted.path, wanted.body).catch(() => null);
  if (!answer) return "";
  const { layer, head } = within(part, () => {
    select(stepped(answer, current(), by));
    return shownMap(answer, current());
  });
  return `layer ${layer}, ${head ? `head ${head}` : "mean of all heads"}`;
}
