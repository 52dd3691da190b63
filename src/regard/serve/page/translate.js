// The first entrance: text in, text out, and nothing technical. Words of which the model is less sure are underlined;
// touching one shows what else it might have said.

import { openAlternatives } from "./alternatives.js";
import { ask, isSaved, remember } from "./api.js";
import { button, h, show } from "./dom.js";
import { examples } from "./examples.js";
import { filesFold } from "./files.js";
import { glossaryFold } from "./glossary.js";
import { languageBar, otherLanguage } from "./languages.js";
import { formalityPicker, languageName, languages, pivot } from "./models.js";
import { ApiError, listen } from "./network.js";
import * as questions from "./questions.js";
import { receipt } from "./receipt.js";
import { ribbons } from "./ribbons.js";
import { savedPicker } from "./saved.js";
import { countText, sourceBox } from "./source_box.js";
import { chosenText, current, observe, select } from "./state.js";
import { cut, direction, length, offsets, pieces, percent } from "./text.js";
import { wordLine } from "./words.js";

const STREAM_FROM = 400; // characters: shorter texts are there at once

export function translateEntrance(say) {
  const output = h("div", { class: "output", id: "output", "aria-busy": "false" });
  const doubts = h("div", { class: "stack" });
  const strip = h("section", { class: "stack", "aria-label": "How the words correspond" });
  const count = h("span");
  const copy = button("Copy", async () => (await navigator.clipboard.writeText(wholeText()), say("Copied.")), {
    class: "plain",
  });
  const bar = languageBar(() => wholeText());
  const receipts = h("div");
  const way = h("span"); // the languages between, if there are any
  let row = null; // the translation that is shown
  let words = null; // of its sentence in focus
  let control = null;
  let asked = null;

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
        sourceBox({ rows: 5, told: (text, tooLong) => counted(text, tooLong) }),
        h(
          "footer",
          {},
          count,
          button("Clear", () => select({ text: "" }), { class: "plain" }),
        ),
      ),
      h("section", { "aria-label": "Translation" }, output, h("footer", {}, isSaved() ? null : formalityPicker(), way, copy)),
    ),
    doubts,
    strip,
    receipts,
    isSaved() ? null : h("div", { class: "extras" }, glossaryFold(), filesFold(say)),
  );

  function counted(text, tooLong = false) {
    count.className = tooLong ? "chip bad" : "";
    show(count, countText(text, tooLong));
  }

  async function update(sel = current(), changed = null) {
    bar.update(sel, row?.sure);
    if (changed?.has("text") ?? true) counted(sel.text);
    const wanted = questions.translation(sel);
    const key = JSON.stringify(wanted);
    if (key !== asked) await translate(wanted, key);
    else draw(sel);
    if (row) await touch(current());
  }

  async function translate(wanted, key) {
    control?.abort();
    const mine = (control = new AbortController());
    asked = key;
    words = null;
    if (!wanted) {
      row = null;
      return draw(current());
    }
    output.setAttribute("aria-busy", "true");
    if (!row) draw(current());
    try {
      const long = length(wanted.body.text) >= STREAM_FROM && !isSaved();
      const found = long
        ? await streamed(wanted, mine.signal)
        : (await ask(wanted.path, wanted.body, { signal: mine.signal })).translations[0];
      if (mine !== control) return;
      learn(found, wanted);
      if (mine !== control) return; // into another language, now that its own is known
      row = found;
      bar.update(current(), row.sure);
      draw(current());
      say(row.text);
    } catch (error) {
      if (mine !== control || error.name === "AbortError") return;
      row = null;
      asked = null;
      show(
        output,
        h(
          "p",
          { class: "note bad small" },
          error instanceof ApiError ? error.message : String(error),
          " ",
          button("Try again", () => update()),
        ),
      );
      show(strip);
    } finally {
      if (mine === control) output.setAttribute("aria-busy", "false");
    }
  }

  /** Keep the language that was detected, and the answer as that of its model, which explanations ask for. */
  function learn(found, { path, body }) {
    if (!found.detected) return;
    const { source, target, through, ...rest } = body;
    if (found.models.length === 1) remember(path, { ...rest, model: found.models[0] }, { translations: [found] });
    if (found.source_language) observe({ detected: found.source_language });
  }

  /** A long text appears sentence by sentence. */
  async function streamed({ path, body }, signal) {
    let whole = null;
    const parts = [];
    await listen(
      "/api/translate/stream",
      body,
      (event, data) => {
        if (event === "sentence") {
          parts[data.index] = data;
          show(output, soFar(body.text, parts));
        } else if (event === "done") whole = data.translations?.[0] ?? data;
        else if (event === "error")
          throw new ApiError(data.error?.status ?? 500, data.error?.message ?? "The translation stopped.");
      },
      signal,
    );
    if (!whole) throw new ApiError(502, "The translation stopped before its end.");
    remember(path, body, { translations: [whole] });
    return whole;
  }

  /** The sentences that are done, with the paragraphs of the source between them, and … for those that are not. */
  function soFar(source, parts) {
    const places = offsets(source);
    let before = null; // the number of the last sentence that is done
    return [...parts.keys()].filter((number) => parts[number]).map((number) => {
      const start = before === null ? 0 : parts[before].source_span[1];
      const between = cut(source, [start, parts[number].source_span[0]], places).replace(/[^\n]/g, "");
      const missing = number - (before ?? -1) > 1 ? "… " : "";
      const gap = before === null ? "" : between || " ";
      before = number;
      return gap + missing + parts[number].text;
    });
  }

  /** Make the words of the sentence in focus touchable. */
  async function touch(sel) {
    try {
      const wanted = row.models.length === 1 ? await questions.words(sel) : null;
      if (!wanted) return void (words = null);
      const found = await ask(wanted.path, wanted.body, { signal: control?.signal });
      if (JSON.stringify(await questions.words(current())) !== JSON.stringify(wanted)) return;
      words = found;
      draw(current());
    } catch (error) {
      if (error.name === "AbortError") return;
      words = null; // the translation stands without it: too long for the view, or a model that cannot be looked into
      draw(current());
    }
  }

  function draw(sel) {
    const key = output.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    copy.disabled = !row;
    if (!row) {
      show(output, h("span", { class: "quiet" }, sel.text.trim() ? "…" : "The translation appears here as you type."));
      show(strip, sel.text.trim() || isSaved() ? null : examples(languages(sel).from || "en"));
      show(doubts);
      show(receipts);
      show(way);
      return;
    }
    output.dir = direction(row.text, languages(sel).to);
    const spans = row.sentences.map((sentence) => sentence.target_span);
    show(
      output,
      pieces(row.text, spans).map((piece) => (piece.span < 0 ? piece.text : sentencePart(piece, sel))),
    );
    show(doubts, notes(sel));
    show(receipts, receipt(row));
    show(way, row.models.length > 1 ? `by way of ${languageName(pivot())}: other words are not offered` : null);
    if (words && words.sentence.index === sel.sentence) {
      const links = words.words.flatMap((word, t) => word.links.map((s) => [s, t, 0.6]));
      const choose = (side, number) =>
        side === "target" ? select({ word: number, source: -1 }) : select({ source: number, word: -1 });
      show(
        strip,
        ribbons({
          source: words.source_words,
          target: words.words,
          links,
          word: sel.word,
          from: sel.source,
          uncovered: words.uncovered,
          choose,
        }),
      );
    } else show(strip);
    if (key) output.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  function sentencePart(piece, sel) {
    const number = piece.span;
    const chosen = chosenText(sel, number);
    const text = chosen || piece.text;
    if (words && number === sel.sentence && words.sentence.index === number && words.translation === text) {
      const open = (word) => {
        select({ word, source: -1 });
        openAlternatives(words, word, () => output.querySelector(`[data-key="word-${word}"]`));
      };
      return wordLine(words, { selected: sel.word, choose: open });
    }
    const mark = (!chosen && row.sentences[number].mark) || "";
    if (row.sentences.length === 1) return mark ? h("span", { class: mark }, text) : text;
    // A <button> is a box of its own line; a sentence must flow on within its paragraph.
    const focus = () => select({ sentence: number });
    return h(
      "span",
      {
        role: "button",
        tabindex: 0,
        class: `sentence ${mark}`,
        "data-key": `sentence-${number}`,
        onclick: focus,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          focus();
        },
        "aria-label": `${text} Look at this sentence`,
      },
      text,
    );
  }

  function notes(sel) {
    const other = otherLanguage(row);
    if (other) return [other]; // every other doubt follows from it
    const found = [];
    row.sentences.forEach((sentence, number) => {
      if (chosenText(sel, number) || !sentence.reasons?.length) return;
      const where = row.sentences.length > 1 ? `Sentence ${number + 1}: ` : "";
      const sure = sentence.confidence === null ? "" : ` (${percent(sentence.confidence)} sure)`;
      const [said, tone] = sentence.mark === "check" ? ["perhaps wrong", "warm"] : ["probably wrong", "bad"];
      const why = sentence.reasons.map((reason) => reason.text).join("; ");
      found.push(h("p", { class: `note ${tone} small` }, where, said, sure, ": ", why));
    });
    if (found.length)
      found.unshift(
        h(
          "p",
          { class: "small quiet" },
          "Marks: ",
          h("span", { class: "check" }, "perhaps wrong, check it"),
          " · ",
          h("span", { class: "doubtful" }, "probably wrong"),
        ),
      );
    if (words?.loop)
      found.push(
        h(
          "p",
          { class: "note warm small" },
          `“${words.loop.text}” is said ${words.loop.times} times; the model may have been caught in a loop.`,
        ),
      );
    return found;
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
