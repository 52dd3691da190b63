// Other words for a word of the translation. The list is asked for when it is opened; choosing a word puts the
// translation with it in the place of the shown one at once, and the list stays, so that another one can be tried.

import { ask } from "./api.js";
import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { rovingList } from "./roving.js";
import { chooseText, chosenText, current, subscribe } from "./state.js";
import { direction, percent } from "./text.js";
import { bar } from "./words.js";

let chosen = ""; // the word that was just chosen: a list that is drawn again for it takes the focus back

/**
 * The list for a word.
 * @param {any} answer of /api/words
 * @param {number} number of the word
 * @param {() => void} [filled] called when the list is there
 */
export function alternatives(answer, number, filled = () => {}) {
  const word = answer.words[number];
  const wanted = questions.alternatives(current(), answer.translation, number);
  const list = h("div", { class: "alternatives", role: "listbox", "aria-label": `Instead of ${word.text}` });
  const note = h("p", { class: "small quiet", role: "status" }, "Searching for other words …");
  const back = button("Back", () => put(start), { class: "plain", hidden: true });
  const element = h("div", { class: "stack" }, list, note, back);
  const sentence = answer.sentence.index;
  const start = chosenText(current(), sentence); // what stands here when the list is opened
  const rows = [];

  const put = (text) => chooseText(text, { sentence, word: number });
  const shown = () => chosenText(current(), sentence) || start || answer.translation;

  function row(one) {
    const take = () => {
      chosen = one.word;
      put(one.text);
    };
    const made = h(
      "div",
      {
        role: "option",
        "data-key": `instead-${one.word}`,
        onclick: take,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          take();
        },
        title: one.text,
      },
      h("span", { class: "name", dir: direction(one.word) }, one.word),
      bar(one.probability),
    );
    rows.push({ made, text: one.text });
    return made;
  }

  /** Which of the words stands there now; a change from elsewhere (undo) counts too. */
  function mark() {
    const text = shown();
    for (const { made, text: own } of rows) made.setAttribute("aria-selected", String(own === text));
    back.hidden = chosenText(current(), sentence) === start;
  }

  async function fill() {
    const found = await ask(wanted.path, wanted.body);
    const own = { word: found.word, probability: found.probability, text: answer.translation };
    const all = [own, ...found.alternatives].sort((a, b) => b.probability - a.probability);
    show(list, all.map(row));
    const place = Math.max(0, all.indexOf(own));
    rovingList(list, "[role=option]", place);
    show(note, found.alternatives.length ? `${capital(found.caption)}.` : whyNone(found));
    mark();
    if (chosen === own.word && document.activeElement === document.body) list.children[place].focus();
    chosen = "";
    const stop = subscribe(() => (list.isConnected ? mark() : stop()));
    filled();
  }
  fill().catch((error) => show(note, error.message));
  return element;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const whyNone = (found) =>
  found.reason
    ? `There are no other words for “${found.word}”: ${found.reason}.`
    : `No other word has a probability of 1% or more here; “${found.word}” has ${percent(found.probability)}.`;

/**
 * The list in a small window beside the word.
 * @param {any} answer of /api/words
 * @param {number} number of the word
 * @param {() => HTMLElement|null} anchor the word on the page, which is drawn again after a choice
 */
export function openAlternatives(answer, number, anchor) {
  document.getElementById("alternatives")?.remove();
  const close = () => box.hidePopover();
  const filled = () => {
    if (!box.isConnected) return;
    place();
    if (box.contains(document.activeElement)) box.querySelector("[role=option][tabindex='0']")?.focus();
  };
  const box = h(
    "div",
    {
      id: "alternatives",
      popover: "auto",
      role: "dialog",
      "aria-label": `Other words for ${answer.words[number].text}`,
      class: "pop stack",
    },
    h(
      "header",
      { class: "row spread" },
      h("h3", {}, "Other words for “", h("bdi", {}, answer.words[number].text), "”"),
      button("Close", close, { class: "plain" }),
    ),
    alternatives(answer, number, filled),
  );
  document.body.append(box);
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const inside = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    if (inside) anchor()?.focus();
  });
  box.showPopover();
  place();
  box.querySelector("button")?.focus();

  function place() {
    const beside = anchor()?.getBoundingClientRect() ?? new DOMRect();
    const size = box.getBoundingClientRect();
    const left = Math.max(8, Math.min(beside.left, innerWidth - size.width - 8));
    const below = beside.bottom + 6 + size.height < innerHeight || beside.top < size.height;
    box.style.setProperty("left", `${left}px`);
    box.style.setProperty("top", `${below ? beside.bottom + 6 : beside.top - size.height - 6}px`);
  }
}
