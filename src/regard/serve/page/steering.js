// Attention edited by hand: the reader sets where one translated word looks, and the sentence is decoded again.

import { ask } from "./api.js";
import { shownMap } from "./attention_view.js";
import { button, h, show } from "./dom.js";
import { modelName } from "./models.js";
import { current } from "./state.js";
import { diffLine, dropText } from "./words.js";
import { percent } from "./text.js";
import { ApiError } from "./network.js";

/** @param {() => any} attention the answer that the map shows */
export function steering(attention) {
  const inside = h("div", { class: "stack" });
  const result = h("div", { "aria-live": "polite" });
  const element = h(
    "details",
    { class: "fold", id: "steering", ontoggle: () => update() },
    h("summary", {}, "Edit a row by hand, and translate again"),
    inside,
    result,
  );
  let shown = null; // what the sliders belong to

  function update() {
    const answer = attention();
    const sel = current();
    if (!element.open) return;
    if (!answer || answer.kind !== "cross") {
      shown = null;
      return show(
        inside,
        h("p", { class: "quiet" }, "Only attention between the two sentences can be edited: choose it above."),
      );
    }
    const row = Math.max(0, Math.min(answer.units === "words" ? sel.word : sel.step, answer.rows.length - 1));
    const { layer, head, map } = shownMap(answer, sel);
    const key = JSON.stringify([answer.translation, answer.units, answer.reading, row, layer, head]);
    if (key === shown) return;
    shown = key;
    show(result);
    const sliders = answer.columns.map((column, number) => slider(column.text, map.values[row]?.[number] ?? 0));
    show(
      inside,
      h(
        "p",
        { class: "quiet small" },
        `Layer ${layer}, ${head ? `head ${head}` : "all heads"}: where the row of “${answer.rows[row].text}” looks. `,
        "Choose another row in the map. The weights are divided by their sum.",
      ),
      h(
        "div",
        { class: "sliders" },
        sliders.map((one) => one.element),
      ),
      h(
        "p",
        { class: "row" },
        button(
          "Translate with this attention",
          () =>
            steer(
              answer,
              row,
              layer,
              head,
              sliders.map((one) => one.value()),
            ),
          { class: "main" },
        ),
        button("Put back", () => (sliders.forEach((one) => one.reset()), show(result))),
      ),
    );
  }

  async function steer(answer, row, layer, head, weights) {
    if (!weights.some((weight) => weight > 0))
      return show(result, h("p", { class: "note warm" }, "Give at least one word some weight."));
    const sel = current();
    const body = {
      model: modelName(sel.model),
      text: sel.text,
      sentence: sel.sentence,
      translation: answer.translation,
      layer,
      heads: head ? [head] : undefined,
      units: answer.units,
      reading: answer.reading,
      rows: [{ position: row, weights }],
    };
    result.setAttribute("aria-busy", "true");
    try {
      const found = await ask("/api/steer", body);
      show(
        result,
        h(
          "div",
          { class: "card fade" },
          h("h3", {}, found.changed ? "It says something else now" : "It still says the same"),
          diffLine(found.diff),
          h("p", { class: "quiet small" }, dropText(found.drop), ". ", found.caption),
        ),
      );
    } catch (error) {
      show(result, h("p", { class: "note bad" }, error instanceof ApiError ? error.message : String(error)));
    } finally {
      result.setAttribute("aria-busy", "false");
    }
  }
  return { element, update };
}

function slider(text, weight) {
  const input = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    value: weight.toFixed(2),
    "aria-label": `weight on ${text}`,
  });
  const number = h("output");
  const say = () => show(number, percent(Number(input.value)));
  const reset = () => ((input.value = weight.toFixed(2)), say());
  input.addEventListener("input", say);
  say();
  return { element: h("label", {}, h("span", { dir: "auto" }, text), input, number), value: () => Number(input.value), reset };
}
