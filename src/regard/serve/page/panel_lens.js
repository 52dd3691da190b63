// Panel J: what each layer of the decoder would say if it were the last.

import { h } from "./dom.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { rovingGrid } from "./roving.js";
import { percent } from "./text.js";
import { bar } from "./words.js";

export function lensPanel() {
  let picked = null;
  const table = live({
    question: questions.lens,
    draw: drawLens,
    caption: (answer) => `${answer.caption} · ${answer.how}`,
  });

  function drawLens(answer) {
    const layers = [...answer.layers].reverse(); // the last layer, which speaks, stands on top
    const grid = h(
      "table",
      { class: "lens", role: "grid", "aria-label": "the most probable token of each layer at each step" },
      h(
        "thead",
        {},
        h(
          "tr",
          { role: "row" },
          h("th", { scope: "col", role: "columnheader" }, "layer"),
          answer.positions.map((one) =>
            h("th", { scope: "col", role: "columnheader" }, h("span", { dir: "auto" }, one.said)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        layers.map((layer) =>
          h(
            "tr",
            { role: "row" },
            h("th", { scope: "row", role: "rowheader" }, layer.layer === 0 ? "input" : String(layer.layer)),
            layer.positions.map((one, number) =>
              h(
                "td",
                {
                  role: "gridcell",
                  class: one.rank === 1 ? "right" : null,
                  vars: { "--w": `${(48 * one.top[0].probability).toFixed(1)}%` },
                  "data-key": `lens-${layer.layer}-${number}`,
                  "aria-label": `${one.top[0].token}, ${percent(one.top[0].probability)}; what is said has rank ${one.rank}`,
                },
                h("span", { dir: "auto" }, one.top[0].token),
              ),
            ),
          ),
        ),
      ),
    );
    rovingGrid(grid, (row, column) => {
      picked = [layers[row].layer, column];
      table.update();
    });
    const chosen = picked && answer.layers.find((one) => one.layer === picked[0])?.positions[picked[1]];
    return [
      h("div", { class: "scroll" }, grid),
      chosen
        ? detail(answer, chosen, picked)
        : h("p", { class: "quiet small" }, "Choose a cell to see the five most probable tokens there."),
    ];
  }
  return panel(
    {
      id: "lens",
      letter: "J",
      title: "Layer by layer",
      lede:
        "Each layer’s state is read as if it were the last: the word forms on the way up. Outlined cells " +
        "already hold what is said in the end. ▁ marks where a word begins.",
    },
    table,
  );
}

function detail(answer, chosen, [layer, position]) {
  return h(
    "div",
    { class: "card fade" },
    h(
      "h3",
      {},
      layer === 0 ? "Before any layer" : `Layer ${layer}`,
      ", where ",
      h("span", { dir: "auto" }, answer.positions[position].said),
      " is said",
    ),
    h(
      "table",
      { class: "plain" },
      h(
        "tbody",
        {},
        chosen.top.map((one) =>
          h("tr", {}, h("th", { scope: "row", dir: "auto" }, one.token), h("td", {}, bar(one.probability))),
        ),
      ),
    ),
    h(
      "p",
      { class: "caption" },
      `what is said in the end has ${percent(chosen.probability)} here, rank ${chosen.rank}`,
    ),
  );
}
