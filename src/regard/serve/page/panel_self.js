// Panel D: attention within one sentence, and the laboratory of minimal pairs.

import { texts } from "./attention_view.js";
import { arcs, seriesOf } from "./arcs.js";
import { button, choice, h } from "./dom.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { current, select, subscribe } from "./state.js";
import { direction, rowProblem } from "./text.js";
import { bar } from "./words.js";

const EXAMPLE = {
  text: "The animal didn't cross the street because it was too tired.",
  pair: "The animal didn't cross the street because it was too wide.",
  choices: "il elle",
};

export function selfPanel() {
  const figure = live({ question: selfQuestion, draw: drawArcs, caption: arcsCaption });
  const first = live({
    question: (sel) => (sel.pair ? questions.choice(sel, sel.text) : null),
    draw: drawChoice,
    empty: "",
  });
  const second = live({
    question: (sel) => (sel.pair ? questions.choice(sel, sel.pair) : null),
    draw: drawChoice,
    empty: "",
  });
  return panel(
    {
      id: "self",
      letter: "D",
      title: "Words that look at words",
      lede:
        "Inside one sentence, each word gathers what it needs from the others. Every colour is a head; " +
        "choose a word to see where its heads look.",
    },
    figure,
    h("h3", {}, "Two sentences that differ in one word"),
    pairBox(),
    h("div", { class: "sides" }, first.element, second.element),
    { element: null, update: (sel) => (first.update(sel), second.update(sel)) },
  );
}

const selfQuestion = (sel) =>
  questions.attention({ ...sel, units: "words", reading: "" }, sel.self === "decoder" ? "decoder" : "encoder");

function drawArcs(answer, sel) {
  const layer = Math.max(1, Math.min(sel.depth || answer.layers.length, answer.layers.length));
  const heads = answer.layers[layer - 1];
  const chosen = sel.self === "decoder" ? sel.word : sel.source;
  const from = Math.max(0, Math.min(chosen < 0 ? pronoun(texts(answer.rows)) : chosen, answer.rows.length - 1));
  const rows = heads
    .filter((map) => !sel.arc || map.head === sel.arc)
    .map((map) => ({
      head: map.head,
      row: map.problems[from] || rowProblem(map.values[from], map.hidden[from]) ? null : map.values[from],
    }));
  const layers = h(
    "select",
    {
      "aria-label": "Layer of self-attention",
      "data-key": "depth",
      onchange: () => select({ depth: Number(layers.value), arc: 0 }),
    },
    answer.layers.map((_, number) => h("option", { value: number + 1 }, String(number + 1))),
  );
  layers.value = String(layer);
  return [
    h(
      "div",
      { class: "row controls" },
      choice(
        "Sentence",
        [
          ["encoder", "source"],
          ["decoder", "translation"],
        ].filter(([kind]) => answer.kinds.includes(kind)),
        answer.kind,
        (self) => select({ self }),
      ),
      h("label", { class: "row small" }, h("span", { class: "quiet" }, "Layer"), layers),
    ),
    arcs({
      words: texts(answer.columns),
      from,
      chosen: chosen >= 0,
      heads: rows,
      choose: (number) => select(sel.self === "decoder" ? { word: number } : { source: number }),
      label: answer.title,
    }),
    h(
      "div",
      { class: "row legend", role: "group", "aria-label": "heads" },
      button("all heads", () => select({ arc: 0 }), { "aria-pressed": String(!sel.arc), "data-key": "arc-all" }),
      heads.map((map) =>
        button(String(map.head), () => select({ arc: map.head, depth: layer }), {
          "aria-pressed": String(sel.arc === map.head),
          "aria-label": `head ${map.head}`,
          class: "hue",
          vars: { "--series": seriesOf(map.head) },
          "data-key": `arc-head-${map.head}`,
        }),
      ),
    ),
  ];
}

/** Where the story is usually told: the pronoun, else the middle word. */
function pronoun(words) {
  const found = words.findIndex((word) => /^(it|he|she|they|il|elle|er|sie|es)$/i.test(word));
  return found >= 0 ? found : Math.floor(words.length / 2);
}

function arcsCaption(answer, sel) {
  const layer = sel.depth || answer.layers.length;
  const head = sel.arc ? `head ${sel.arc}` : "all heads";
  const honest = "arcs under 0.04 are not drawn · AER does not apply within one sentence";
  return `${answer.kind} self-attention · layer ${layer} · ${head} · ${honest} · ${answer.how}`;
}

function pairBox() {
  const field = (key) =>
    h("input", { type: "text", id: key, onchange: (event) => select({ [key]: event.target.value }) });
  const [other, words] = [field("pair"), field("choices")];
  const fill = (sel) => {
    other.value = sel.pair;
    other.dir = direction(sel.pair || sel.text);
    words.value = sel.choices;
  };
  fill(current());
  const stop = subscribe((sel) => (other.isConnected ? fill(sel) : stop()));
  return h(
    "div",
    { class: "stack" },
    h(
      "p",
      { class: "quiet" },
      "Change one word of the source and watch a word of the translation follow: the pronoun, the gender, the sense.",
    ),
    h(
      "div",
      { class: "pair-box" },
      h("label", { class: "field" }, h("span", {}, "The second sentence"), other),
      h("label", { class: "field" }, h("span", {}, "Words to decide between"), words),
      button("Use the example", () => select(EXAMPLE)),
    ),
  );
}

function drawChoice(answer) {
  return h(
    "div",
    { class: "card" },
    h("p", { class: "small quiet" }, answer.sentence.text),
    h("p", { class: "reading", dir: "auto" }, answer.translation),
    h(
      "table",
      { class: "plain" },
      h(
        "tbody",
        {},
        answer.choices.map((one) =>
          h("tr", {}, h("th", { scope: "row", dir: "auto" }, one.word), h("td", {}, bar(one.share))),
        ),
      ),
    ),
    h("p", { class: "caption" }, `share among these words, after “${answer.prefix.trim()}”`),
  );
}
