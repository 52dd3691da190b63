// Panel I: what the translation relied on. Each source word is blanked in turn; attention stands beside the result.

import { texts } from "./attention_view.js";
import { h } from "./dom.js";
import { heatmap } from "./heatmap.js";
import { live, panel } from "./live.js";
import { modelOf } from "./models.js";
import * as questions from "./questions.js";
import { select } from "./state.js";
import { decimal, percent } from "./text.js";

export function evidencePanel() {
  const maps = live({
    question: questions.evidence,
    draw: drawEvidence,
    caption: (answer) => `${answer.caption} · ${answer.how}`,
  });
  const near = live({
    question: questions.neighbours,
    draw: drawNeighbours,
    caption: (answer) => `${answer.measure} · ${answer.searched.toLocaleString("en")} pairs searched`,
    empty: "",
  });
  const heading = h("h3", {}, "The nearest sentences it learned from"); // where the model has its training pairs
  return panel(
    {
      id: "evidence",
      letter: "I",
      title: "What it relied on",
      lede:
        "A source word is blanked, and the probability of each translated word falls or rises. Where " +
        "attention and this evidence disagree, trust the evidence.",
    },
    maps,
    { element: heading, update: (sel) => (heading.hidden = !modelOf(sel.model)?.neighbours) },
    near,
  );
}

function drawEvidence(answer, sel) {
  const rows = texts(answer.target_words);
  const columns = texts(answer.source_words);
  const choose = (row, column) => select({ word: row, source: column });
  return [
    blankButtons(answer, sel),
    sel.source >= 0 && columns[sel.source] !== undefined ? blanked(answer, sel.source) : null,
    h(
      "div",
      { class: "sides maps" },
      h(
        "figure",
        {},
        h("figcaption", { class: "small quiet" }, "Loss of log p when the source word is blanked"),
        heatmap({
          label: "loss of log p of each translated word when a source word is blanked",
          rows,
          columns,
          values: answer.drops,
          distribution: false,
          row: sel.word,
          column: sel.source,
          choose,
          scale: "root",
        }),
      ),
      answer.attention
        ? h(
            "figure",
            {},
            h("figcaption", { class: "small quiet" }, "Attention, the same cells"),
            heatmap({
              label: "attention of the same words",
              rows,
              columns,
              values: answer.attention,
              hidden: answer.attention.map((row) => 1 - row.reduce((sum, value) => sum + value, 0)),
              row: sel.word,
              column: sel.source,
              choose,
              scale: "root",
            }),
          )
        : h("p", { class: "quiet" }, "This model has no attention to compare with."),
    ),
    agreement(answer),
  ];
}

/** A word to blank, with what the whole translation loses without it. */
function blankButtons(answer, sel) {
  const most = Math.max(1e-9, ...answer.total);
  return h(
    "div",
    { class: "blanks", role: "group", "aria-label": "Blank a source word" },
    answer.source_words.map((word, number) =>
      h(
        "button",
        {
          type: "button",
          class: "blank",
          "aria-pressed": String(number === sel.source),
          "data-key": `blank-${number}`,
          "aria-label": `blank ${word.text}: the translation loses ${decimal(answer.total[number])} log p`,
          onclick: () => select({ source: number === sel.source ? -1 : number, word: -1 }),
          vars: { "--p": `${Math.max(0, (100 * answer.total[number]) / most).toFixed(1)}%` },
        },
        h("span", { dir: "auto" }, word.text),
        h("small", {}, `−${decimal(Math.max(0, answer.total[number]), 1)}`),
      ),
    ),
  );
}

function blanked(answer, number) {
  const drops = answer.drops
    .map((row, word) => [row[number], answer.target_words[word].text])
    .sort((a, b) => b[0] - a[0]);
  const hurt = drops.filter(([drop]) => drop > 0.1).slice(0, 4);
  return h(
    "p",
    { class: "note small" },
    `Without “${answer.source_words[number].text}” the same translation loses ${decimal(answer.total[number])} log p`,
    hurt.length
      ? `, most of it at ${hurt.map(([drop, text]) => `“${text}” (−${decimal(drop)})`).join(", ")}.`
      : "; no single word depends on it.",
  );
}

function agreement(answer) {
  const found = answer.agreement.attention;
  if (!found) return null;
  const rho = found.all === null ? "unknown" : decimal(found.all);
  return h(
    "p",
    {},
    "Attention orders the words as the evidence does with Spearman’s ρ = ",
    h("b", {}, rho),
    found.same_best === null
      ? "."
      : `; its strongest word is the one that matters most for ${percent(found.same_best)} of the words.`,
  );
}

function drawNeighbours(answer) {
  return h(
    "ol",
    { class: "neighbours" },
    answer.pairs.map((pair) =>
      h(
        "li",
        {},
        h("p", { dir: "auto" }, pair.source),
        h("p", { dir: "auto", class: "quiet" }, pair.target),
        h(
          "p",
          { class: "caption" },
          `similarity ${decimal(pair.similarity)} · line ${(pair.line + 1).toLocaleString("en")}`,
        ),
      ),
    ),
  );
}
