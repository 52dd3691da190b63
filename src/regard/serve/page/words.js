// A translation as words that can be touched: how probable the model finds each, and what a word comes from.

import { ask } from "./api.js";
import { h, show } from "./dom.js";
import * as questions from "./questions.js";
import { rovingLine } from "./roving.js";
import { current } from "./state.js";
import { decimal, direction, percent, pieces } from "./text.js";

/** By which words are underlined: the calibrated confidence where the model has one, else the probability. */
export const sureness = (word) => word.confidence ?? word.probability;

/** The mark of a word. */
export const level = (p) => (p === null || !Number.isFinite(p) ? "" : p < 0.4 ? "low" : p < 0.7 ? "middle" : "");

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
    line.append(
      h(
        "button",
        {
          type: "button",
          class: `word ${level(sureness(word))}`,
          "data-key": `word-${word.number}`,
          "aria-pressed": String(word.number === selected),
          "aria-label": `${piece.text}, probability ${percent(word.probability)}`,
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

/** Fill an element with what `draw` makes of an answer; until then it says what is going on, or why there is none. */
async function whenAnswered(element, wanted, progress, draw) {
  const say = (text) => show(element, h("p", { class: "small quiet" }, text));
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
