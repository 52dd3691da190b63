// Panel B: one attention map as a table, in the reading and units that the reader chooses; rows can be edited by hand.

import { choice, h } from "./dom.js";
import { shownMap, texts } from "./attention_view.js";
import { heatmap } from "./heatmap.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { select } from "./state.js";
import { steering } from "./steering.js";

export const READINGS = [
  ["predicting", "predicting", "Row t: where the model looks while it predicts word t"],
  ["having_read", "having read", "Row t: where the model looks once it has read word t"],
];

export function alignPanel() {
  const map = live({ question: questions.attention, draw: drawMap, caption: mapCaption });
  const hand = steering(() => map.answer());
  const update = map.update;
  map.update = async (sel) => {
    await update(sel);
    hand.update();
  };
  return panel(
    {
      id: "align",
      letter: "B",
      title: "Where it looks",
      lede:
        "Each translated word (down) and the source words that it attends to (across); a row sums to 1. This " +
        "is what the model reads, not by itself a reason for what it says: “What it relied on” compares the two.",
    },
    map,
    hand,
  );
}

function drawMap(answer, sel) {
  const { map } = shownMap(answer, sel);
  return [
    controls(answer, sel),
    heatmap({
      label: answer.title,
      rows: texts(answer.rows),
      columns: texts(answer.columns),
      values: map.values,
      hidden: map.hidden,
      hiddenName: answer.hidden_name,
      problems: map.problems,
      scale: sel.scale,
      row: selectedRow(answer, sel),
      column: sel.source,
      choose: (row, column) =>
        select(answer.units === "words" && answer.kind === "cross" ? { word: row, source: column } : { step: row }),
    }),
  ];
}

const selectedRow = (answer, sel) =>
  answer.units === "words" && answer.kind === "cross" ? sel.word : answer.units === "pieces" ? sel.step : -1;

/** Everything that changes the map, and nothing else. */
export function controls(answer, sel) {
  const shown = shownMap(answer, sel);
  const heads = answer.layers[shown.layer - 1].length;
  const names = { cross: "source ↔ translation", encoder: "within the source", decoder: "within the translation" };
  const pick = (title, key, options, value) => {
    const box = h(
      "select",
      {
        "aria-label": title,
        "data-key": `pick-${key}`,
        onchange: () =>
          select(key === "layer" ? { layer: Number(box.value) } : { layer: shown.layer, head: Number(box.value) }),
      },
      options.map(([one, label]) => h("option", { value: one }, label)),
    );
    box.value = String(value);
    return h("label", { class: "row small" }, h("span", { class: "quiet" }, title), box);
  };
  const numbers = (count) => Array.from({ length: count }, (_, number) => [number + 1, String(number + 1)]);
  return h(
    "div",
    { class: "row controls" },
    answer.kinds.length > 1
      ? choice(
          "Attention",
          answer.kinds.map((kind) => [kind, names[kind] ?? kind]),
          answer.kind,
          (kind) => select({ kind }),
        )
      : null,
    pick("Layer", "layer", numbers(answer.layers.length), shown.layer),
    pick("Head", "head", [[-1, "mean of all"], ...numbers(heads)], shown.head ?? -1),
    answer.kind === "cross" ? choice("Row means", READINGS, answer.reading, (reading) => select({ reading })) : null,
    choice(
      "Units",
      [
        ["words", "words"],
        ["pieces", "subwords"],
      ],
      answer.units,
      (units) => select({ units }),
    ),
    choice(
      "Scale",
      [
        ["linear", "linear"],
        ["root", "√", "the square root makes small weights visible"],
      ],
      sel.scale,
      (scale) => select({ scale }),
    ),
  );
}

/** The honesty line: which view, its error rate and on which text, what is hidden. */
export function mapCaption(answer, sel) {
  const { map } = shownMap(answer, sel);
  return `${map.caption} · ${answer.how}`;
}
