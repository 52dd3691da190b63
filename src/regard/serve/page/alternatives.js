// Other words for a word of the translation, and other wordings of a sentence. A list is asked for when it is opened;
// choosing an entry puts it in the place of what is shown at once, and the list stays, so that another can be tried.

import { ask } from "./api.js";
import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { rovingList } from "./roving.js";
import { chooseText, chosenText, current, currentPart, openPanel, subscribe } from "./state.js";
import { direction, percent } from "./text.js";
import { bar } from "./words.js";

/** @typedef {{text: string, key: string, inside: any}} Choice the translation with it, its name, and what is shown */

const NEAR = 110; // pixels: three lines
let chosen = ""; // the key of what was just chosen: a list that is drawn again for it takes the focus back

/**
 * A list of translations of a sentence, of which the shown one is marked.
 * @param {object} spec
 * @param {string} spec.label
 * @param {{path: string, body: object}} spec.wanted the question
 * @param {(found: any) => Choice[]} spec.choices from its answer
 * @param {(found: any) => string} spec.note what is said below the list
 * @param {number} spec.sentence
 * @param {number} [spec.word] stays selected
 * @param {string} spec.shown the translation that is shown when the list is opened
 * @param {string} spec.before what stood there when the list was opened, as the button that goes back to it says it
 * @param {() => void} [spec.filled] called when the list is there
 * @param {(key: string) => void} [spec.marked] hears which choice stands there now
 * @param {HTMLElement|null} [spec.more] a control beside the one that goes back
 */
function choiceList({ label, wanted, choices, note, sentence, word = -1, shown, before, filled = () => {}, marked = () => {}, more = null }) {
  const list = h("div", { class: "alternatives", role: "listbox", "aria-label": label });
  const below = h("p", { class: "small quiet", role: "status" }, "Searching …");
  const start = chosenText(current(), sentence); // "" is the model's own
  const put = (text) => chooseText(text, { sentence, word });
  const back = button(`Back to ${before}`, () => put(start), { class: "plain small", hidden: true });
  const rows = [];

  function row({ text, key, inside }) {
    const take = () => {
      chosen = key;
      put(text === shown ? start : text);
    };
    const press = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      take();
    };
    const made = h("div", { role: "option", "data-key": `instead-${key}`, onclick: take, onkeydown: press, title: text }, inside);
    rows.push({ made, text, key });
    return made;
  }

  /** Which one stands there now; a change from elsewhere (undo) counts too. */
  function mark() {
    const now = chosenText(current(), sentence);
    const here = rows.find(({ text }) => text === (now === start ? shown : now));
    for (const { made } of rows) made.setAttribute("aria-selected", String(made === here?.made));
    if (here) marked(here.key);
    if (now === start && here && back.contains(document.activeElement)) {
      for (const { made } of rows) made.tabIndex = made === here.made ? 0 : -1;
      here.made.focus();
    }
    back.hidden = now === start;
  }

  async function fill() {
    const found = await ask(wanted.path, wanted.body);
    const all = choices(found);
    show(list, all.map(row));
    const place = Math.max(0, all.findIndex((one) => one.text === shown));
    rovingList(list, "[role=option]", place);
    show(below, note(found));
    mark();
    if (all[place]?.key === chosen && document.activeElement === document.body) list.children[place].focus();
    chosen = "";
    const stop = subscribe(() => (list.isConnected ? mark() : stop()));
    filled();
  }
  fill().catch((error) => show(below, error.message));
  return h("div", { class: "stack" }, list, below, h("div", { class: "row spread" }, more, back));
}

/**
 * The words that the model might have put in the place of one.
 * @param {any} answer of /api/words
 * @param {number} number of the word
 * @param {{filled?: () => void, marked?: (key: string) => void, more?: HTMLElement}} [around] as of `choiceList`
 */
export function alternatives(answer, number, around = {}) {
  const choices = (found) =>
    [{ word: found.word, probability: found.probability, text: answer.translation }, ...found.alternatives]
      .sort((a, b) => b.probability - a.probability)
      .map(({ word, probability, text }) => ({
        text,
        key: word,
        inside: [h("span", { class: "name", dir: direction(word) }, word), bar(probability)],
      }));
  return choiceList({
    label: `Instead of ${answer.words[number].text}`,
    wanted: questions.alternatives(current(), answer.translation, number),
    choices,
    note: (found) => (found.alternatives.length ? `${found.caption[0].toUpperCase()}${found.caption.slice(1)}.` : whyNone(found)),
    sentence: answer.sentence.index,
    word: number,
    shown: answer.translation,
    before: `“${answer.words[number].text}”`,
    ...around,
  });
}

const whyNone = (found) =>
  found.reason
    ? `There are no other words for “${found.word}”: ${found.reason}.`
    : `No other word has a probability of 1% or more here; “${found.word}” has ${percent(found.probability)}.`;

/** The same of a whole sentence. */
function wordings(sentence, shown, { filled }) {
  const entry = (text) => ({ text, key: text, inside: h("span", { class: "name", dir: direction(text) }, text) });
  return choiceList({
    label: "Other wordings",
    wanted: questions.wordings(current(), sentence, shown),
    choices: (found) => [{ text: shown }, ...found.wordings].map((one) => entry(one.text)),
    note: (found) =>
      found.wordings.length
        ? "Other translations that the model finds probable, the most probable first."
        : "The model finds no other wording that differs in more than a word.",
    sentence,
    shown,
    before: "the wording before",
    filled,
  });
}

/** The list of words in a small window beside the word; `anchor` finds it after the page is drawn again. */
export function openAlternatives(answer, number, anchor) {
  const word = h("bdi", {}, answer.words[number].text);
  const name = () => `Other words for ${word.textContent}`;
  const make = (filled, box) => {
    const why = () => {
      box.hidePopover();
      openPanel("words", { word: number, source: -1 });
    };
    const marked = (now) => {
      word.textContent = now;
      box.setAttribute("aria-label", name());
    };
    const more = button("Why this word?", why, { class: "plain small", title: "Its probability and what it comes from, in Look inside" });
    return alternatives(answer, number, { filled, marked, more });
  };
  openBeside(name(), ["Other words for “", word, "”"], make, anchor);
}

/** The list of wordings of a sentence in a small window. */
export function openWordings(sentence, shown, anchor) {
  const title = `Other wordings of sentence ${sentence + 1}`;
  openBeside(title, title, (filled) => wordings(sentence, shown, { filled }), anchor);
}

function openBeside(name, title, make, anchor) {
  document.getElementById("alternatives")?.remove();
  const close = () => box.hidePopover();
  const filled = () => {
    if (!box.isConnected) return;
    place();
    if (box.contains(document.activeElement)) box.querySelector("[role=option][tabindex='0']")?.focus();
  };
  const box = h(
    "div",
    { id: "alternatives", popover: "auto", role: "dialog", "aria-label": name, class: "pop stack" },
    h("div", { class: "head" }, h("h2", {}, title), button("Close", close, { class: "plain" })),
  );
  box.append(make(filled, box));
  currentPart()?.bind(box); // it stands outside of the view that opened it
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
    const word = anchor();
    const beside = word?.getBoundingClientRect() ?? new DOMRect();
    const end = word?.closest(".sentence")?.getBoundingClientRect().bottom ?? beside.bottom;
    const bottom = end - beside.bottom < NEAR ? end : beside.bottom; // the rest of the sentence stays in sight
    const size = box.getBoundingClientRect();
    const left = Math.max(8, Math.min(beside.left, innerWidth - size.width - 8));
    const most = innerHeight - size.height - 8; // where it just fits
    const above = beside.top - size.height - 6;
    const top = bottom + 6 <= most || above < 8 ? Math.min(bottom + 6, Math.max(8, most)) : above;
    box.style.setProperty("left", `${left}px`);
    box.style.setProperty("top", `${top}px`);
  }
}
