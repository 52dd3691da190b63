// A translation as text whose words can be chosen: its sentences, their ribbons, the marks of what is less sure, and what
// the marks mean.

import { button, h } from "./dom.js";
import { ribbons } from "./ribbons.js";
import { chosenText, select } from "./state.js";
import { cut, offsets, percent, pieces } from "./text.js";
import { level, sureness } from "./words.js";

/** The words of a sentence of /api/translate as those of /api/words; null if the answer has none. */
export function wordsOf(row, number) {
  const { words, text, source_span, target_span } = row.sentences[number];
  if (!words) return null;
  const sources = offsets(row.source);
  const targets = offsets(row.text);
  const from = (span, places, whole) => (span ? cut(whole, span, places) : "");
  const isFixed = fixedWords(row.sentences[number]);
  const fixed = words.target.map((span, place) => isFixed(span) || (!/[\p{L}\p{N}]/u.test(from(span, targets, row.text)) && isFixed(words.target[place - 1])));
  return {
    sentence: { index: number, span: source_span },
    translation: text,
    source_words: words.source.map((span) => ({ span, text: from(span, sources, row.source) })),
    words: words.target.map((span, place) => ({
      text: from(span, targets, row.text),
      span: span && span.map((at) => at - target_span[0]),
      probability: fixed[place] ? null : (words.probabilities?.[place] ?? null),
      confidence: fixed[place] ? null : (words.confidences?.[place] ?? null),
      links: words.links.filter((link) => link[1] === place).map((link) => link[0]),
    })),
    scored: words.probabilities !== null,
  };
}

/** Which words were not the model's to choose: those of the glossary and of set phrases; nor is the punctuation after them. */
function fixedWords(sentence) {
  const kinds = ["term", "keep", "phrase"];
  const spans = (sentence.protected ?? []).filter((one) => one.target_span && kinds.includes(one.kind)).map((one) => one.target_span);
  return (span) => Boolean(span) && spans.some(([start, end]) => start <= span[0] && span[1] <= end);
}

/**
 * One sentence as a run of text, so that it flows within its paragraph: a <button> would be a box of its own line.
 * @param {any} answer of `wordsOf` or /api/words; null for a sentence that has no words yet
 * @param {{number: number, text: string, mark: string}} what
 */
export function sentenceRun(answer, { number, text, mark }) {
  const kind = ["sentence", mark].filter(Boolean).join(" ");
  if (!answer) return h("span", { class: kind, "data-sentence": number }, text);
  const placed = answer.words.map((word, place) => ({ ...word, place })).filter((word) => word.span);
  const run = pieces(
    answer.translation,
    placed.map((word) => word.span),
  ).map((piece) => (piece.span < 0 ? piece.text : wordRun(placed[piece.span], number, answer.scored)));
  return h("span", { class: kind, "data-sentence": number }, run);
}

function wordRun(word, number, scored) {
  return h(
    "span",
    {
      role: "button",
      tabindex: -1,
      class: `word ${level(sureness(word))}`,
      "data-key": `word-${number}-${word.place}`,
      "data-word": word.place,
      "aria-pressed": "false",
      "aria-label": word.probability === null ? word.text : `${word.text}, probability ${percent(word.probability)}`,
      "aria-haspopup": scored ? "dialog" : null,
    },
    word.text,
  );
}

/** Mark the sentence and the word that are chosen; the word, or the first one, is what the tab key reaches. */
export function markChosen(output, sel, several) {
  for (const one of output.querySelectorAll(".sentence.here")) one.classList.remove("here");
  for (const one of output.querySelectorAll('.word:is([aria-pressed="true"], [tabindex="0"])')) {
    one.setAttribute("aria-pressed", "false");
    one.tabIndex = -1;
  }
  const sentence = output.querySelector(`[data-sentence="${sel.sentence}"]`);
  if (several) sentence?.classList.add("here");
  const word = output.querySelector(`[data-key="word-${sel.sentence}-${sel.word}"]`);
  word?.setAttribute("aria-pressed", "true");
  const stop = word ?? sentence?.querySelector(".word") ?? output.querySelector(".word");
  if (stop) stop.tabIndex = 0;
}

/**
 * Words are one stop of the tab key: arrows go from word to word, up and down from sentence to sentence, and Enter, space
 * or a click chooses.
 * @param {HTMLElement} output
 * @param {(sentence: number, word: number, element: HTMLElement) => void} choose word −1 is the sentence alone
 */
export function bindWords(output, choose) {
  const act = (target) => {
    const word = target.closest?.(".word");
    const sentence = target.closest?.(".sentence");
    if (sentence) choose(Number(sentence.dataset.sentence), word ? Number(word.dataset.word) : -1, word ?? sentence);
  };
  output.addEventListener("click", (event) => act(event.target));
  output.addEventListener("keydown", (event) => {
    const word = event.target.closest?.(".word");
    if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = next(output, word, event.key);
    if (event.key === "Enter" || event.key === " ") act(word);
    else if (!to) return;
    event.preventDefault();
    if (!to) return;
    word.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
}

function next(output, word, key) {
  const words = [...output.querySelectorAll(".word")];
  const forward = getComputedStyle(output).direction === "rtl" ? -1 : 1;
  const by = { ArrowRight: forward, ArrowLeft: -forward }[key];
  if (by) return words[words.indexOf(word) + by];
  if (key === "Home") return words[0];
  if (key === "End") return words.at(-1);
  const sentences = [...output.querySelectorAll(".sentence")];
  const up = { ArrowDown: 1, ArrowUp: -1 }[key];
  return up && sentences[sentences.indexOf(word.closest(".sentence")) + up]?.querySelector(".word");
}

const SENTENCES = { check: "perhaps wrong", doubtful: "probably wrong" };
const IMPROBABLE = /^By the model's probabilities it is [^.]*\.\s*/; // which the mark and its confidence say
const WORDS = { middle: "less sure", low: "unsure" };

/** What the marks in the text mean: only those that are there. A mark of sentences leads to the next one that has it. */
export function legend(output, row, sel) {
  const ofWords = Object.entries(WORDS).map(([name, meaning]) =>
    output.querySelector(`.word.${name}`) ? h("span", { class: `sample ${name}` }, meaning) : null,
  );
  const ofSentences = Object.entries(SENTENCES).map(([mark, meaning]) => {
    const found = [...row.sentences.keys()].filter((one) => row.sentences[one].mark === mark && !chosenText(sel, one));
    if (!found.length) return null;
    const sample = h("span", { class: `sample ${mark}` }, meaning);
    if (row.sentences.length === 1) return sample;
    const to = found.find((one) => one > sel.sentence) ?? found[0];
    const count = found.length === 1 ? "1 sentence" : `${found.length} sentences`;
    return button([sample, `: ${count}`], () => select({ sentence: to }), { class: "plain small" });
  });
  const all = [...ofWords, ...ofSentences].filter(Boolean);
  return all.length ? h("p", { class: "marks row small quiet" }, "Underlined:", all) : null;
}

/** Why the chosen sentence is marked. */
export function reasons(row, sel) {
  const sentence = row.sentences[sel.sentence];
  if (!sentence?.reasons.length || chosenText(sel)) return null;
  const sure = sentence.confidence === null ? "" : ` (${percent(sentence.confidence)} sure)`;
  const why = sentence.reasons.map((reason) => reason.text.replace(IMPROBABLE, "")).join(" ");
  return h("p", { class: "note small" }, `This sentence is ${SENTENCES[sentence.mark]}${sure}. ${why}`);
}

/** Scroll the ribbons to the chosen word, without moving the page. */
export function reveal(strip, sel) {
  const [side, number] = sel.word >= 0 ? ["target", sel.word] : ["source", sel.source];
  const scroller = strip.querySelector(".scroll");
  const word = scroller?.querySelector(`.${side} [data-number="${number}"]`)?.getBoundingClientRect();
  if (!word) return;
  const frame = scroller.getBoundingClientRect();
  if (word.left < frame.left || word.right > frame.right) scroller.scrollLeft += word.left - frame.left - frame.width / 2;
}

/** The ribbons of the chosen sentence; null without links. */
export function ribbonsOf(answer, sel) {
  if (!answer?.words.some((word) => word.links.length)) return null;
  return ribbons({
    source: answer.source_words,
    target: answer.words,
    links: answer.words.flatMap((word, t) => word.links.map((s) => [s, t, 0.6])),
    word: sel.word,
    from: sel.source,
    choose: (side, number) =>
      side === "target" ? select({ word: number, source: -1 }) : select({ source: number, word: -1 }),
  });
}
