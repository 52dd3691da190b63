// Panel K: the model as a diagram of its modules, or an architecture by its sizes.

import { h, headRow, scroller } from "./dom.js";
import { drawing } from "./drawing.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { isSaved } from "./api.js";
import { current, select } from "./state.js";

export function modelPanel() {
  const pictures = live({
    question: questions.diagram,
    draw: drawModel,
    caption: (answer) =>
      `${answer.summary} · operations: matrix products, a multiply-add counts as two · made from the modules of the ` +
      "model: the parameters and operations of all boxes sum to the model’s",
  });
  return panel(
    {
      id: "model",
      letter: "K",
      title: "The model as a diagram",
      lede:
        "Every box is a module of the model, with the shape of what leaves it for this sentence, its parameters and its " +
        "operations. Read it from below to above: the source enters at the left, the translation leaves at the upper right.",
    },
    pictures,
  );
}

function drawModel(answer, sel) {
  return [
    isSaved() ? null : chooser(answer, sel),
    h("div", { class: "drawings" }, answer.pictures.map(drawing)),
    h(
      "details",
      { class: "details" },
      h("summary", {}, "All blocks as a table"),
      scroller(
        "All blocks as a table",
        h("table", { class: "plain" }, headRow(answer.header), h("tbody", {}, answer.rows.map(row))),
      ),
    ),
  ];
}

const row = (cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)));

/** This model, or the sizes of an architecture. */
function chooser(answer, sel) {
  const option = (value, label) => h("option", { value, selected: value === sel.drawn }, label);
  return h(
    "label",
    { class: "row" },
    h("span", { class: "quiet small" }, "Drawn"),
    h(
      "select",
      { "data-key": "drawn", onchange: (event) => select({ drawn: event.target.value }) },
      option("", `the model ${current().model || answer.model}`),
      Object.entries(answer.architectures).map(([name, presets]) =>
        h(
          "optgroup",
          { label: name },
          presets.filter((preset) => preset !== "moe-2048").map((preset) => option(`${name}:${preset}`, `${name}, ${preset}`)),
        ),
      ),
    ),
  );
}
