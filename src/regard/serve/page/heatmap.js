// A map between words as a real table: it has headers, can be copied into a spreadsheet, shapes every script as the
// browser does, and is walked with arrow keys. A row that is not a distribution is not drawn.

import { h } from "./dom.js";
import { rovingGrid } from "./roving.js";
import { decimal, direction, rowProblem } from "./text.js";

export const TURNS = 0.619; // of the way to the heat colour: from here on the other text colour is readable (base.css)

/**
 * @param {object} map
 * @param {string} map.label for screen readers
 * @param {string[]} map.rows
 * @param {string[]} map.columns
 * @param {(number|null)[][]} map.values
 * @param {number[]} [map.hidden] per row, what the columns do not show
 * @param {string} [map.hiddenName]
 * @param {(string|null)[]} [map.problems] that the server found
 * @param {"linear"|"root"} [map.scale]
 * @param {boolean} [map.distribution] false: values are of any size, coloured relative to the largest
 * @param {number} [map.row] the selected row
 * @param {number} [map.column] the selected column
 * @param {(row: number, column: number) => void} [map.choose]
 */
export function heatmap(map) {
  const { rows, columns, values, hidden, hiddenName = "EOS", scale = "linear", distribution = true } = map;
  const most = distribution ? 1 : Math.max(1e-9, ...values.flat().filter(Number.isFinite).map(Math.abs));
  const table = h(
    "table",
    { class: "heat", role: "grid", "aria-label": map.label, dir: direction(columns.join(" ")) },
    h(
      "thead",
      {},
      h(
        "tr",
        { role: "row" },
        h("th", { class: "corner", role: "columnheader" }, h("span", { class: "unseen" }, "word")),
        columns.map((text, c) =>
          h(
            "th",
            { scope: "col", role: "columnheader", class: c === map.column ? "on" : null },
            h("span", { dir: "auto" }, text),
          ),
        ),
        hidden
          ? h(
              "th",
              {
                scope: "col",
                role: "columnheader",
                class: "hidden-mass",
                title: `weight on ${hiddenName}, which the map does not show`,
              },
              h("span", {}, hiddenName),
            )
          : null,
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((text, r) => {
        const problem = distribution ? (map.problems?.[r] ?? rowProblem(values[r] ?? [NaN], hidden?.[r] ?? 0)) : null;
        const head = h("th", { scope: "row", role: "rowheader" }, h("span", { dir: "auto" }, text));
        const line = h("tr", { role: "row", class: r === map.row ? "on" : null }, head);
        if (problem)
          line.append(
            h("td", { role: "gridcell", colspan: columns.length + (hidden ? 1 : 0), class: "undrawn" }, problem),
          );
        else {
          line.append(...columns.map((_, c) => cell(values[r][c], most, scale, c === map.column && r === map.row)));
          if (hidden) line.append(h("td", { role: "gridcell", class: "hidden-mass" }, decimal(hidden[r])));
        }
        return line;
      }),
    ),
  );
  const find = rovingGrid(table, (row, column) => column < columns.length && map.choose?.(row, column));
  if (map.row >= 0) {
    const start = find(map.row, Math.max(0, map.column ?? 0));
    if (start) {
      table.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
      start.setAttribute("tabindex", "0");
    }
  }
  for (const one of table.querySelectorAll("td"))
    one.dataset.key = `cell-${one.parentElement.rowIndex}-${one.cellIndex}`;
  return h("div", { class: "scroll" }, table);
}

function cell(value, most, scale, on) {
  if (!Number.isFinite(value)) return h("td", { role: "gridcell", class: "faint" }, h("span", {}, "–"));
  const share = Math.min(1, Math.max(0, Math.abs(value) / most));
  const fraction = scale === "root" ? Math.sqrt(share) : share;
  const names = [
    fraction >= TURNS ? "light" : "",
    fraction < 0.08 ? "faint" : "",
    value < 0 ? "negative" : "",
    on ? "on" : "",
  ];
  return h(
    "td",
    {
      role: "gridcell",
      class: names.filter(Boolean).join(" ") || null,
      "aria-selected": on ? "true" : null,
      vars: { "--w": `${(100 * fraction).toFixed(1)}%` },
    },
    h("span", {}, decimal(value)),
  );
}

/** A small picture of the same numbers, for the sheet of heads. */
export function thumbnail(values, problems, width, height) {
  const rows = values.length || 1;
  const columns = values[0]?.length || 1;
  return painted({ width, height }, (pen, colour) => {
    pen.fillStyle = colour;
    values.forEach((row, r) => {
      if (problems?.[r]) return;
      row.forEach((value, c) => {
        if (!Number.isFinite(value)) return;
        pen.globalAlpha = Math.min(1, Math.max(0, value));
        pen.fillRect((c * width) / columns, (r * height) / rows, Math.ceil(width / columns), Math.ceil(height / rows));
      });
    });
  });
}

/** A canvas that is painted again in other colours when these change. */
function painted(props, paint) {
  const canvas = h("canvas", { ...props, "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const draw = () => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    paint(pen, heatColour(), heatColour("negative"));
  };
  draw();
  canvas.addEventListener("redraw", draw);
  return canvas;
}

/** The colour of the theme that is on for the largest number, or for the largest "negative" one. */
function heatColour(sign = "") {
  const probe = h("i", { class: `probe ${sign}` });
  document.body.append(probe);
  const colour = getComputedStyle(probe).color || getComputedStyle(document.documentElement).color;
  probe.remove();
  return colour;
}

/**
 * Numbers of any size as a picture of as many pixels, which CSS scales up: a row for each token, or a column with
 * `across`. Its shade is the square root of a number's share of the largest, or what `shade` makes of that share.
 */
export function pixels(values, { across = false, shade = Math.sqrt } = {}) {
  const [rows, columns] = [values.length, values[0]?.length ?? 1];
  const size = across ? { width: rows, height: columns } : { width: columns, height: rows };
  const most = Math.max(1e-9, ...values.map((row) => Math.max(...row.map(Math.abs))));
  return painted({ ...size, class: "pixels" }, (pen, above, below) =>
    values.forEach((row, r) =>
      row.forEach((value, c) => {
        pen.globalAlpha = shade(Math.abs(value) / most);
        pen.fillStyle = value < 0 ? below : above;
        pen.fillRect(across ? r : c, across ? c : r, 1, 1);
      }),
    ),
  );
}
