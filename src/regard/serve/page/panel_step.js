// Panel E: one decoding step with its numbers: scores, scaling, mask, softmax, weighted sum, as the model computed them.

import { ask } from "./api.js";
import { shownMap } from "./attention_view.js";
import { h, scroller } from "./dom.js";
import { TURNS } from "./heatmap.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { select } from "./state.js";
import { decimal } from "./text.js";

export function stepPanel() {
  const numbers = live({
    question: async (sel) => {
      const map = await questions.attention(sel);
      if (!map) return null;
      const { layer, head } = shownMap(await ask(map.path, map.body), sel);
      return questions.step(sel, layer, head ?? 1); // one head's numbers: the mean of heads has no scores of its own
    },
    draw: drawStep,
    caption: stepCaption,
  });
  return panel(
    {
      id: "step",
      letter: "E",
      title: "One step in numbers",
      lede:
        "How the weights of one row come about: a query is compared with every key, the scores are scaled " +
        "and masked, and softmax turns them into weights that sum to 1. ▁ marks where a word begins.",
    },
    numbers,
  );
}

function drawStep(answer, sel) {
  const slider = h("input", {
    type: "range",
    min: 0,
    max: answer.positions.length - 1,
    step: 1,
    value: answer.position,
    "aria-label": "Step",
    "aria-valuetext": answer.query,
    "data-key": "step",
    onchange: () => select({ step: Number(slider.value) }),
  });
  const perKey = answer.terms.filter((term) => term.of_keys && term.shape.length === 1);
  const vectors = answer.terms.filter((term) => !(term.of_keys && term.shape.length === 1));
  return [
    h(
      "div",
      { class: "row" },
      h(
        "label",
        { class: "row stretch" },
        h("span", { class: "small quiet" }, `Step ${answer.position + 1} of ${answer.positions.length}`),
        slider,
      ),
      h("b", { dir: "auto" }, answer.query),
    ),
    h("p", { class: "equation" }, answer.equation),
    scroller(
      "The numbers of each key",
      h(
        "table",
        { class: "plain numbers" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "of each key"),
            answer.keys.map((key) => h("th", { scope: "col", dir: "auto" }, key)),
          ),
        ),
        h(
          "tbody",
          {},
          perKey.map((term) => keyRow(term)),
        ),
      ),
    ),
    h(
      "details",
      { class: "fold" },
      h("summary", {}, "The vectors behind them"),
      scroller(
        "The vectors behind them",
        vectors.map((term) => vectorTable(term, answer.keys)),
      ),
    ),
  ];
}

/** Weights get a colour; scores are only numbers. A masked score is −∞, and the cell says so. */
function keyRow(term) {
  const finite = term.values.filter((value) => value !== null);
  const weights =
    finite.length > 0 &&
    Math.abs(finite.reduce((sum, value) => sum + value, 0) - 1) < 1e-3 &&
    finite.every((value) => value >= 0);
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: term.what }, term.name, term.what === term.name ? null : h("small", { class: "quiet" }, ` ${term.what}`)),
    term.values.map((value) =>
      value === null
        ? h("td", { class: "masked" }, "−∞")
        : h(
            "td",
            {
              class: weights ? (value >= TURNS ? "weight light" : "weight") : null,
              vars: weights ? { "--w": `${100 * value}%` } : {},
            },
            decimal(value, 3),
          ),
    ),
  );
}

function vectorTable(term, keys) {
  const rows = term.shape.length === 2 ? term.values : [Array.isArray(term.values) ? term.values : [term.values]];
  const width = term.shape.at(-1) ?? 1;
  const more = rows[0]?.length < width ? `first ${rows[0].length} of ${width}` : `${width}`;
  return h(
    "table",
    { class: "plain numbers" },
    h("caption", {}, h("b", {}, term.name), ` ${term.what} (${more})`),
    h(
      "tbody",
      {},
      rows.map((row, number) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", dir: "auto" }, term.shape.length === 2 && term.of_keys ? keys[number] : term.name),
          row.map((value) => h("td", {}, value === null ? "−∞" : decimal(value, 3))),
        ),
      ),
    ),
  );
}

function stepCaption(answer) {
  const worst = Math.max(0, ...Object.values(answer.largest_differences));
  const checked = `recomputed from the equation; differs from the model’s own values by at most ${worst.toExponential(0)}`;
  const where = `${answer.kind} attention · layer ${answer.layer} · head ${answer.head} · ${answer.architecture}`;
  return `${where} · ${checked} · ${answer.how}`;
}
