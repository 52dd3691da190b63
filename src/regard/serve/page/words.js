// A translation as words that can be touched: how sure the model is of each, and what it might have said instead.

import { ask } from "./api.js";
import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { rovingLine } from "./roving.js";
import { chooseText, current } from "./state.js";
import { cut, decimal, direction, percent, pieces } from "./text.js";

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
 * What the model might have said at this place. Choosing one translates the rest again from there.
 * @param {any} answer of /api/words
 * @param {number} number of the word
 * @param {() => void} [done] after a choice
 */
export function alternatives(answer, number, done = () => {}) {
  const word = answer.words[number];
  const prefix = word.span ? cut(answer.translation, [0, word.span[0]]) : "";
  const list = h("ol", { class: "alternatives", "aria-label": `instead of ${word.text}` });
  const row = (one, whole) => {
    const name = one.word ?? one.text;
    const same = whole === answer.translation;
    const take = async () => {
      chooseText(whole ?? (await completed(prefix, one)));
      done();
    };
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", onclick: take, "aria-pressed": String(Boolean(one.chosen || same)), title: whole ?? null },
        h("span", { class: "name", dir: "auto" }, name || "(the sentence ends here)"),
        bar(one.probability),
        whole && !same ? h("span", { class: "whole", dir: "auto" }, whole) : null,
      ),
    );
  };
  show(
    list,
    word.alternatives.map((one) => row(one, null)),
  );
  const wanted = questions.alternatives(current(), prefix);
  ask(wanted.path, wanted.body).then(
    (found) =>
      found.alternatives.length &&
      show(
        list,
        found.alternatives.map((one) => row(one, one.text)),
      ),
    () => {}, // the first list stays, and a choice asks again
  );
  return list;
}

async function completed(prefix, one) {
  const wanted = questions.alternatives(current(), prefix + (one.text ? `${one.text} ` : ""));
  return (await ask(wanted.path, wanted.body)).alternatives[0]?.text ?? prefix + one.text;
}

/** The alternatives in a small window beside the word. */
export function openAlternatives(answer, number, anchor) {
  document.getElementById("alternatives")?.remove();
  const word = answer.words[number];
  const close = () => box.hidePopover();
  const box = h(
    "div",
    { id: "alternatives", popover: "auto", role: "dialog", "aria-label": `alternatives to ${word.text}`, class: "pop" },
    h(
      "p",
      { class: "small quiet" },
      surenessText(word),
      ". Choose another word, and the rest is translated again from there.",
    ),
    alternatives(answer, number, close),
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
  const place = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, innerWidth - size.width - 8));
  const below = place.bottom + 6 + size.height < innerHeight || place.top < size.height;
  box.style.setProperty("left", `${left}px`);
  box.style.setProperty("top", `${below ? place.bottom + 6 : place.top - size.height - 6}px`);
  box.querySelector("button")?.focus();
}

export function surenessText(word) {
  if (word.confidence !== null && word.confidence !== undefined)
    return `${percent(word.confidence)} of words like this one are right`;
  return `The model gives this word ${percent(word.probability)}`;
}

/** How much of a word came from the source and how much from the words before it. */
export function shares(word) {
  if (word.from_source === null || word.from_source === undefined) return null;
  return h(
    "p",
    { class: "shares", vars: { "--p": percentOf(word.from_source) } },
    h("span", { class: "from-source" }, `${percent(word.from_source)} from the source`),
    h("span", { class: "from-before" }, `${percent(word.from_before)} from the words before`),
  );
}

const percentOf = (p) => `${(100 * p).toFixed(1)}%`;

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
