// Curves over time, one for each series, with axes that say their ends.

import { h, svg } from "./dom.js";
import { decimal } from "./text.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, EDGE] = [420, 220, 38, 28, 10];

/**
 * @param {object} chart
 * @param {string} chart.label for screen readers, with the last values
 * @param {string} chart.title
 * @param {{name: string, points: [number, number][]}[]} chart.series
 * @param {number} chart.end of the horizontal axis, in seconds
 * @param {number} chart.most of the vertical axis, which begins at 0
 * @param {number|null} [chart.at] a time to mark
 */
export function lineChart({ label, title, series, end, most, at = null }) {
  const x = (second) => LEFT + (Math.min(second, end) / end) * (WIDTH - LEFT - EDGE);
  const y = (value) => EDGE + (1 - Math.min(value, most) / most) * (HEIGHT - BOTTOM - EDGE);
  const place = ([second, value]) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`;
  const note = (text, place, anchor = "end") => svg("text", { ...place, "text-anchor": anchor }, text);
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", { class: "small quiet" }, title),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": label },
      svg("line", { x1: LEFT, x2: WIDTH - EDGE, y1: y(0), y2: y(0), class: "axis" }),
      svg("line", { x1: LEFT, x2: LEFT, y1: EDGE, y2: HEIGHT - BOTTOM, class: "axis" }),
      note(decimal(most, 0), { x: LEFT - 6, y: EDGE + 10 }),
      note("0", { x: LEFT - 6, y: y(0) }),
      note(`${decimal(end, 0)} s`, { x: WIDTH - EDGE, y: HEIGHT - 8 }),
      at === null ? null : svg("line", { x1: x(at), x2: x(at), y1: EDGE, y2: y(0), class: "mark-line" }),
      series.map(({ points }, number) =>
        svg("polyline", { points: points.map(place).join(" "), class: `series series-${number}` }),
      ),
    ),
  );
}
