// A translation as words that can be touched: how sure the model is of each, and, once a word is chosen, what it might
// have said instead and what the word comes from.

import { ask } from "./api.js";
import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { rovingLine } from "./roving.js";
import { chooseText, current } from "./state.js";
import { decimal, direction, percent, pieces } from "./text.js";

/** How sure a word is: its calibrated confidence where the model has one, else its probability. */
export const sureness = (word) => word.confidence ?? word.probability;

const level = (p) => (p === null || !Number.isFinite(p) ? "" : p < 0.4 ? "low" : p < 0.7 ? "middle" : "");

/**
 * @param {any} answer of /api/words
 * @param {{selected?: number, choose: (number: number, element: HTMLElement) => void, rank?: boolean}} how
 */
export function wordLine(answer, { selected = -1, choose }) {
  const placed = answer.words.map((word, number) => ({ ...word, number })).filter((word) => word.span);
  const line = h("span", {
    class: "words",
    dir: direction(answer.translation),
    role: "group",
    "aria-label": "translation, word by word",
  });
  for (const piece of pieces(
    answer.translation,
    placed.map((word) => word.span),
  )) {
    if (piece.span < 0) {
      line.append(piece.text);
      continue;
    }
    const word = placed[piece.span];
    const sure = sureness(word);
    line.append(
      h(
        "button",
        {
          type: "button",
          class: `word ${level(sure)}`,
          "data-key": `word-${word.number}`,
          "aria-pressed": String(word.number === selected),
          "aria-label": `${piece.text}, ${percent(sure)} sure`,
          "aria-haspopup": "dialog",
          onclick: (event) => choose(word.number, event.currentTarget),
        },
        piece.text,
      ),
    );
  }
  return rovingLine(
    line,
    "button",
    Math.max(
      0,
      placed.findIndex((word) => word.number === selected),
    ),
  );
}

/** A bar of a probability with its number; the number is the text, the bar only the picture. */
export function bar(p, text = percent(p)) {
  return h(
    "span",
    { class: "bar", vars: { "--p": `${(100 * Math.min(1, Math.max(0, p || 0))).toFixed(1)}%` } },
    h("span", {}, text),
  );
}

/**
 * What the model might have said at this place, asked when it is shown. Choosing one takes the rest that goes with it.
 * @param {any} answer of /api/words
 * @param {number} number of the word
 * @param {{done?: () => void, filled?: () => void}} [how] after a choice, and after the list has come
 */
export function alternatives(answer, number, { done = () => {}, filled = () => {} } = {}) {
  const word = answer.words[number];
  const list = h("ol", { class: "alternatives", "aria-label": `instead of ${word.text}` });
  const row = (one) => {
    const take = () => {
      chooseText(one.text);
      done();
    };
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", onclick: take, "aria-pressed": String(one.word === word.text), title: one.text },
        h("span", { class: "name", dir: "auto" }, one.word || "(the sentence ends here)"),
        bar(one.probability),
        one.text === answer.translation ? null : h("span", { class: "whole", dir: "auto" }, one.text),
      ),
    );
  };
  const wanted = questions.alternatives(current(), answer.translation, number);
  whenAnswered(list, wanted, "Searching for other words …", (found) => found.alternatives.map(row)).then(filled);
  return list;
}

/** Fill an element with what `draw` makes of an answer; until then it says what is going on, or why there is none. */
async function whenAnswered(element, wanted, progress, draw) {
  const say = (text) => show(element, h(element.tagName === "OL" ? "li" : "p", { class: "small quiet" }, text));
  say(progress);
  element.setAttribute("aria-busy", "true");
  try {
    const found = await ask(wanted.path, wanted.body);
    show(element, draw(found));
  } catch (error) {
    say(error.message);
  }
  element.removeAttribute("aria-busy");
}

/** The alternatives in a small window beside the word. */
export function openAlternatives(answer, number, anchor) {
  document.getElementById("alternatives")?.remove();
  const word = answer.words[number];
  const close = () => box.hidePopover();
  const filled = () => {
    if (!box.isConnected) return;
    place();
    if (box.contains(document.activeElement)) box.querySelector("button")?.focus();
  };
  const box = h(
    "div",
    { id: "alternatives", popover: "auto", role: "dialog", "aria-label": `alternatives to ${word.text}`, class: "pop" },
    h(
      "p",
      { class: "small quiet" },
      surenessText(word),
      ". Choose another word, and the rest is translated again from there.",
    ),
    alternatives(answer, number, { done: close, filled }),
    h(
      "p",
      { class: "row spread" },
      button("Back to the model’s own", () => (chooseText(""), close()), { class: "plain" }),
      button("Close", close, { class: "plain" }),
    ),
  );
  document.body.append(box);
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    box.remove();
    if (anchor.isConnected) anchor.focus();
  });
  box.showPopover();
  place();
  box.querySelector("button")?.focus();

  function place() {
    const beside = anchor.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const left = Math.max(8, Math.min(beside.left, innerWidth - size.width - 8));
    const below = beside.bottom + 6 + size.height < innerHeight || beside.top < size.height;
    box.style.setProperty("left", `${left}px`);
    box.style.setProperty("top", `${below ? beside.bottom + 6 : beside.top - size.height - 6}px`);
  }
}

export function surenessText(word) {
  if (word.confidence !== null && word.confidence !== undefined)
    return `${percent(word.confidence)} of words like this one are right`;
  return `The model gives this word ${percent(word.probability)}`;
}

/** How much of a word came from the source and how much from the words before it, asked when it is shown. */
export function shares(answer, number) {
  const element = h("div", { class: "stack" });
  const wanted = questions.shares(current(), answer.translation);
  whenAnswered(element, wanted, "Measuring what the word comes from …", (found) => {
    const word = found.words[number];
    if (word.from_source === null) return null;
    return [
      h(
        "p",
        { class: "shares", vars: { "--p": `${(100 * word.from_source).toFixed(1)}%` } },
        h("span", { class: "from-source" }, `${percent(word.from_source)} from the source`),
        h("span", { class: "from-before" }, `${percent(word.from_before)} from the words before`),
      ),
      h("p", { class: "caption" }, found.share_caption),
    ];
  });
  return element;
}

/** A change of log p in words a newcomer can use. */
export function dropText(drop) {
  if (!Number.isFinite(drop)) return "unknown";
  if (Math.abs(drop) < 0.005) return "no change of log p";
  const times = Math.exp(Math.min(20, Math.abs(drop)));
  const often = times >= 1000 ? "over 1,000" : decimal(times, times < 10 ? 1 : 0);
  const [sign, than] = drop > 0 ? ["−", "less"] : ["+", "more"];
  return `${sign}${decimal(Math.abs(drop))} log p: the same translation is ${often} times ${than} probable`;
}

/** What changed between two translations, word by word. */
export function diffLine(parts) {
  return h(
    "p",
    { class: "reading diff", dir: direction(parts.map((part) => part.text).join(" ")) },
    parts.flatMap((part, number) => [
      number ? " " : "",
      h({ same: "span", removed: "del", added: "ins" }[part.kind] ?? "span", {}, part.text),
    ]),
  );
}
