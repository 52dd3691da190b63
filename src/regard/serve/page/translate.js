// The first entrance: text in, text out, and nothing technical. Every sentence can be chosen: its words correspond to
// those above them, those of which the model is less sure are underlined, and choosing one shows what else it could be.

import { openAlternatives } from "./alternatives.js";
import { ask, isSaved } from "./api.js";
import { askTranslation } from "./ask_translation.js";
import { button, h, show } from "./dom.js";
import { editor } from "./edit.js";
import { examples } from "./examples.js";
import { filesFold } from "./files.js";
import { glossaryFold } from "./glossary.js";
import { historyFold } from "./history.js";
import { followLanguage, languageBar, otherLanguage } from "./languages.js";
import { formalityPicker, languageName, languages, pivot } from "./models.js";
import { ApiError } from "./network.js";
import { bindWords, legend, markChosen, reasons, reveal, ribbonsOf, sentenceRun, wordsOf } from "./output.js";
import * as questions from "./questions.js";
import { receipt } from "./receipt.js";
import { savedPicker } from "./saved.js";
import { countText, sourceBox } from "./source_box.js";
import { chooseText, chosenText, current, select } from "./state.js";
import { direction, pieces } from "./text.js";
import { translationTools } from "./translation_tools.js";

export function translateEntrance(say) {
  const output = h("div", { class: "output", id: "output", role: "group", "aria-busy": "false", "aria-label": "Translation, word by word" });
  const doubts = h("div", { class: "result stack" });
  const strip = h("section", { class: "result stack", "aria-label": "How the words correspond" });
  const count = h("span");
  const tools = translationTools({ text: wholeText, focus, edit, language: () => languages(current()).to, say });
  const history = historyFold();
  const bar = languageBar(() => wholeText());
  const glossary = glossaryFold();
  const box = sourceBox({ rows: 5, told: typed });
  let chosen = null; // the source language that is chosen, and the text for which it was
  let followed = null; // says that the language of another text was followed
  const receipts = h("div", { class: "result" });
  let row = null; // the translation that is shown
  let pending = false; // whether another one is on its way
  let drawn = []; // what the text on the page was made of
  let words = []; // of its sentences
  let changed = null; // the words of a sentence that the reader has changed
  let control = null;
  let asked = null;
  let editing = null; // the editor of a sentence, with its number

  const element = h(
    "div",
    { class: "translate" },
    isSaved() ? savedPicker() : bar.element,
    h(
      "div",
      { class: "desk" },
      h(
        "section",
        { "aria-label": "Source" },
        box,
        h(
          "footer",
          {},
          count,
          button("Clear", () => (select({ text: "", detected: "" }), box.focus()), { class: "plain" }),
        ),
      ),
      h("section", { "aria-label": "Translation" }, output, h("footer", {}, isSaved() ? null : formalityPicker(), tools.element)),
    ),
    doubts,
    strip,
    receipts,
    isSaved() ? null : h("div", { class: "extras" }, glossary.element, filesFold(say)),
    isSaved() ? null : history.element,
  );
  bindWords(output, choose);

  function counted(text, tooLong = false) {
    count.className = tooLong ? "chip bad" : "";
    show(count, countText(text));
  }

  /** Every letter: what is shown is then that of another text, until its own translation has come. */
  function typed(text, tooLong) {
    counted(text, tooLong);
    if (!tooLong && text === current().text) return update();
    stale(true);
    if (!tooLong) return undefined;
    control?.abort();
    clear();
    return show(output, h("p", { class: "note small" }, "This text is too long for the box: translate it as a file."));
  }

  function stale(is) {
    element.dataset.stale = String(is);
    output.setAttribute("aria-busy", String(is));
    if (is) tools.update({ text: false, model: false });
  }

  function clear() {
    row = asked = changed = editing = null;
    pending = false;
    words = drawn = [];
    for (const one of [doubts, strip, receipts]) show(one);
    glossary.update(null);
    tools.update({ text: false, model: false });
    stale(false);
  }

  async function update(sel = current(), what = null) {
    if (!chosen) welcome(sel);
    if (chosen?.from !== sel.from) chosen = { from: sel.from, text: sel.text };
    bar.update(sel, row?.sure);
    if (what?.has("text") ?? true) counted(sel.text);
    const wanted = questions.translation(sel);
    const key = JSON.stringify(wanted);
    if (key !== asked) await translate(wanted, key);
    else if (row && !pending) {
      stale(false);
      draw(sel);
    }
    if (row && !pending) await findChanged(current());
  }

  async function translate(wanted, key) {
    control?.abort();
    if (!wanted) {
      clear();
      asked = key;
      return drawEmpty(current());
    }
    const mine = (control = new AbortController());
    asked = key;
    stale(true);
    pending = true;
    if (!row) drawEmpty(current());
    try {
      const found = await askTranslation(wanted, mine.signal, (text) => {
        if (mine !== control) return;
        if (row) clear();
        [asked, pending] = [key, true];
        stale(false);
        show(output, text);
      });
      const other = mine === control && followLanguage(found, chosen.text);
      if (other) followed = other;
      if (mine !== control) return; // or it goes into another language, now that its own is known
      row = found;
      pending = false;
      words = row.sentences.map((_, number) => wordsOf(row, number));
      changed = editing = null;
      history.add(wanted.body.text, row.text, languages(current()));
      bar.update(current(), row.sure);
      stale(false);
      draw(current());
      say(row.text);
    } catch (error) {
      if (mine !== control || error.name === "AbortError") return;
      clear();
      const lasting = error instanceof ApiError && error.status < 500;
      show(
        output,
        h("p", { class: lasting ? "note small" : "note bad small" }, problem(error), " ", lasting ? null : button("Try again", () => update())),
      );
    }
  }

  /** Ask for the words of the chosen sentence where the reader has changed it. */
  async function findChanged(sel) {
    const text = chosenText(sel);
    if (!text || changed?.translation === text) return;
    try {
      const wanted = row.models.length === 1 ? await questions.words(sel) : null;
      const found = wanted && (await ask(wanted.path, wanted.body, { signal: control?.signal }));
      if (!found || chosenText(current()) !== text || current().sentence !== sel.sentence) return;
      changed = found;
      draw(current());
    } catch {
      changed = null; // the sentence stands without its words
    }
  }

  function wordsHere(sel, number = sel.sentence) {
    const text = chosenText(sel, number);
    if (!text) return words[number] ?? null;
    return changed?.translation === text && changed.sentence.index === number ? changed : null;
  }

  function choose(number, word) {
    if (word < 0) return select({ sentence: number });
    select({ sentence: number, word, source: -1 });
    const answer = wordsHere(current());
    if (!answer || answer.scored === false) return undefined;
    return openAlternatives(answer, word, () => output.querySelector(`[data-key="word-${number}-${word}"]`));
  }

  function drawEmpty(sel) {
    show(output, h("span", { class: "quiet" }, sel.text.trim() ? "…" : "The translation appears here as you type."));
    show(strip, sel.text.trim() || isSaved() ? null : examples(languages(sel).from || "en"));
  }

  function draw(sel) {
    const key = output.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const several = row.sentences.length > 1;
    tools.update({ text: true, model: row.models.length === 1 });
    drawText(sel);
    markChosen(output, sel, several);
    const other = otherLanguage(row); // every other doubt follows from it
    show(doubts, followed?.(), way(row), other ?? [legend(output, row, sel), reasons(row, sel)]);
    show(receipts, receipt(row));
    glossary.update(row);
    show(strip, several ? sentenceSteps(sel) : null, ribbonsOf(wordsHere(sel), sel));
    reveal(strip, sel);
    if (key) output.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  /** The text is made once: a choice within it only moves the marks of what is chosen. */
  function drawText(sel) {
    const from = [row, sel.edits, changed, editing];
    if (from.every((one, place) => one === drawn[place])) return;
    drawn = from;
    output.dir = direction(row.text, languages(sel).to);
    const spans = row.sentences.map((sentence) => sentence.target_span);
    show(
      output,
      pieces(row.text, spans).map(({ span: number, text }) => {
        if (number < 0) return text;
        if (editing?.number === number) return editing.element;
        const own = chosenText(sel, number);
        const mark = (!own && row.sentences[number].mark) || "";
        return sentenceRun(wordsHere(sel, number), { number, text: own || text, mark });
      }),
    );
  }

  function sentenceSteps(sel) {
    const last = row.sentences.length - 1;
    const step = (label, name, to) =>
      button(label, () => select({ sentence: to }), { "aria-label": name, class: "plain", disabled: to < 0 || to > last });
    return h(
      "p",
      { class: "row small quiet" },
      step("‹", "Previous sentence", sel.sentence - 1),
      `Sentence ${sel.sentence + 1} of ${last + 1}`,
      step("›", "Next sentence", sel.sentence + 1),
    );
  }

  /** The sentence that is chosen, as the reader sees it. */
  function focus() {
    const { sentence } = current();
    return { sentence, text: chosenText(current()) || row.sentences[sentence].text };
  }

  function edit() {
    const { sentence: number, text } = focus();
    const done = (written) => {
      editing = null;
      if (written !== null) chooseText(written === row.sentences[number].text ? "" : written, { sentence: number });
      draw(current());
      tools.focusEdit();
    };
    const sentence = { source: row.sentences[number].source, text };
    editing = { number, ...editor({ sentence, languages: languages(current()), done, say }) };
    draw(current());
    editing.focus();
  }

  /** The text as the reader sees it, their own choices in place. */
  function wholeText() {
    if (!row) return "";
    const sel = current();
    const spans = row.sentences.map((sentence) => sentence.target_span);
    return pieces(row.text, spans)
      .map((piece) => (piece.span < 0 ? piece.text : chosenText(sel, piece.span) || piece.text))
      .join("");
  }

  return { element, update };
}

let isFirst = true;

/** On a wide screen the page begins with the cursor in its empty box; on a phone that would open the keyboard. */
function welcome({ text }) {
  if (isFirst && !text && matchMedia("(min-width: 44rem)").matches && document.activeElement === document.body)
    document.getElementById("source-text")?.focus({ preventScroll: true });
  isFirst = false;
}

/** What a translation by two models lacks. */
const way = (row) =>
  row.models.length > 1
    ? h("p", { class: "small quiet" }, `Translated by way of ${languageName(pivot())}: other words are not offered.`)
    : null;

/** An error as a line for readers: the models of the server do not concern them. */
function problem(error) {
  const message = error instanceof ApiError ? error.message : String(error);
  const missing = /^there is no translator from [^,;]+/.exec(message);
  return missing ? `Here ${missing[0]}.` : message;
}
