// Panel H: how a model without recurrence knows where a word stands.

import { h, svg } from "./dom.js";
import { pixels } from "./heatmap.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";

export function positionsPanel() {
  const figure = live({
    question: () => questions.positions(),
    draw: drawPositions,
    caption: (answer) =>
      `width ${answer.width}, ${answer.length} positions · computed from the formula, the same for every sentence; ` +
      "a model may also learn its positions or turn them (rotary)",
  });
  return panel(
    {
      id: "positions",
      letter: "H",
      title: "Where a word stands",
      lede:
        "Attention by itself has no order. Sine waves of many lengths are added to the words; two places can " +
        "be told apart, and their product depends on how far apart they are.",
    },
    figure,
  );
}

function drawPositions(answer) {
  return h(
    "div",
    { class: "sides" },
    h(
      "figure",
      {},
      waves(answer.sinusoids),
      h(
        "figcaption",
        { class: "caption" },
        "A row for each position, a column for each number of its vector. Slow waves on the right, quick ones on the left.",
      ),
    ),
    h(
      "figure",
      {},
      curve(answer.products),
      h("figcaption", { class: "caption" }, "The dot product of two positions against the distance between them."),
    ),
  );
}

function waves(values) {
  const label = "Sinusoidal position vectors: stripes that become wider from left to right";
  return h("div", { class: "waves", role: "img", "aria-label": label }, pixels(values, { shade: (share) => share }));
}

function curve(products) {
  const [width, height, left, bottom] = [420, 260, 34, 26];
  const all = products.flatMap((one) => one.mean).filter(Number.isFinite);
  const [least, most] = [Math.min(...all, 0), Math.max(...all)];
  const x = (number, count) => left + (number / Math.max(1, count - 1)) * (width - left - 10);
  const y = (value) => 10 + (1 - (value - least) / (most - least || 1)) * (height - bottom - 10);
  return h(
    "div",
    { class: "stack" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        class: "curve",
        role: "img",
        "aria-label": "Dot product of two positions against their distance: it falls as the distance grows",
      },
      svg("line", { x1: left, x2: width - 10, y1: y(0), y2: y(0), class: "axis" }),
      svg("line", { x1: left, x2: left, y1: 10, y2: height - bottom, class: "axis" }),
      svg("text", { x: width - 10, y: height - 6, "text-anchor": "end" }, "distance in words"),
      products.map((one, number) =>
        svg("polyline", {
          points: one.mean
            .map((value, place) => `${x(place, one.mean.length).toFixed(1)},${y(value).toFixed(1)}`)
            .join(" "),
          class: `series series-${number}`,
        }),
      ),
    ),
    h(
      "p",
      { class: "row small" },
      products.map((one, number) => h("span", { class: `key series-${number}` }, one.name)),
    ),
  );
}
