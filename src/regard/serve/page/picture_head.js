// Inside a layer: the heads of an attention, the vectors and maps of one head, one dot product, and the numbers of any part.

import { button, h, scroller } from "./dom.js";
import { heatmap, pixels } from "./heatmap.js";
import { headRow, open, stepOf, tokensOf } from "./picture_stack.js";
import { select } from "./state.js";
import { decimal } from "./text.js";
import { bar } from "./words.js";

let withNumbers = false; // whether the cells of vectors show their numbers; the same for every part

export const headsView = (answer) => headRow(answer.inside.filter((one) => one.kind === "head"));

/** One head: its vectors as pictures, its scores and weights as maps. A cell of a map opens the dot product. */
export function headView(answer, sel) {
  const of = Object.fromEntries(answer.inside.map((part) => [part.kind, part]));
  const vectors = answer.inside.filter((part) => !part.keys);
  return [
    h("div", { class: "vectors" }, vectors.map(vectorPicture)),
    h(
      "div",
      { class: "sides maps" },
      [of.scores, of.weights].filter(Boolean).map((part) => cellMap(answer, part, sel)),
    ),
    h("p", { class: "small quiet" }, "Choose a cell to see the dot product that it comes from."),
  ];
}

function cellMap(answer, part, sel) {
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, part.name), " ", h("span", { class: "small quiet" }, part.what)),
    heatmap({
      label: `${part.name}: ${part.what}`,
      rows: tokensOf(answer, part.side),
      columns: tokensOf(answer, part.keys),
      values: part.values,
      distribution: part.kind === "weights",
      row: answer.side === "target" ? stepOf(answer, sel) : sel.query,
      column: sel.key,
      choose: (query, key) => select({ query, key }),
    }),
  );
}

function vectorPicture(part) {
  return h(
    "figure",
    {},
    h("figcaption", {}, button(part.name, () => open(part.id), { class: "plain", "data-key": `part-${part.id}` })),
    pixels(part.values),
    h("p", { class: "equation small" }, part.what),
  );
}

// ── the numbers of a part ──────────────────────────────────────────────────────────────────────────────────────────

/** The values of a part, a row for each token. Vectors have a window of columns, which `turn` moves. */
export function valuesView(answer, sel, turn) {
  if (!answer.values) return null;
  if (answer.keys) return cellMap(answer, answer, sel);
  const rows = tokensOf(answer, answer.side);
  const width = answer.values[0]?.length ?? 0;
  const [, all] = answer.shape;
  const last = answer.first + width;
  const picked = h("p", { class: "small where", role: "status" }, "Choose a cell to read its number.");
  const table = heatmap({
    label: `${answer.name}: the numbers of each token`,
    rows,
    columns: Array.from({ length: width }, (_, number) => String(answer.first + number + 1)),
    values: answer.values,
    distribution: false,
    row: answer.side === "target" ? stepOf(answer, sel) : -1,
    choose: (row, column) =>
      (picked.textContent = `${rows[row]}, number ${answer.first + column + 1} of ${all}: ${decimal(answer.values[row][column], 3)}`),
  });
  table.classList.add("fine");
  table.classList.toggle("numbered", withNumbers);
  const numbers = h("input", {
    type: "checkbox",
    checked: withNumbers,
    "data-key": "with-numbers",
    onchange: () => table.classList.toggle("numbered", (withNumbers = numbers.checked)),
  });
  return [
    h(
      "div",
      { class: "row small" },
      button("◀", () => turn(Math.max(0, answer.first - 64)), { disabled: !answer.first, "aria-label": "Numbers before", "data-key": "turn-back" }),
      h("span", {}, `Numbers ${answer.first + 1} to ${last} of ${all}`),
      button("▶", () => turn(last), { disabled: last >= all, "aria-label": "Numbers after", "data-key": "turn-on" }),
      h("label", { class: "row" }, numbers, "Show numbers"),
    ),
    table,
    picked,
    answer.inside.length
      ? h(
          "p",
          { class: "chips" },
          answer.inside.filter((one) => one.kind !== "head").map((one) => button(one.name, () => open(one.id), { class: "chip", "data-key": `part-${one.id}` })),
        )
      : null,
  ];
}

// ── one dot product ────────────────────────────────────────────────────────────────────────────────────────────────

export function dotView(answer) {
  const { dot } = answer;
  const [left, right] = dot.names;
  const keys = tokensOf(answer, answer.keys);
  const asks = tokensOf(answer, answer.side)[dot.query];
  return [
    h("h3", {}, h("span", { dir: "auto" }, asks), " looks at ", h("span", { dir: "auto" }, keys[dot.key])),
    h("p", { class: "equation" }, dot.equation),
    productBars(dot, left, right),
    h(
      "ol",
      { class: "chain" },
      h("li", {}, `Σ ${left}ⱼ ${right}ⱼ = `, h("b", {}, decimal(dot.score, 3)), `, the sum of ${dot.left.length} products`),
      dot.scale === 1
        ? null
        : h("li", {}, `÷ √${dot.left.length} = `, h("b", {}, decimal(dot.score / dot.scale, 3))),
      h(
        "li",
        {},
        `softmax over ${keys.length} keys = `,
        h("b", {}, decimal(dot.weights[dot.key], 3)),
        dot.scaled[dot.key] === null ? ": it is masked, for it comes later" : "",
      ),
    ),
    keyTable(dot, keys),
    h("details", { class: "fold" }, h("summary", {}, "Every term"), scroller("Every term", termTable(dot, left, right))),
  ];
}

/** The products as bars, up or down from a line. */
function productBars(dot, left, right) {
  const most = Math.max(1e-9, ...dot.products.map(Math.abs));
  return h(
    "figure",
    {},
    h("figcaption", { class: "small quiet" }, `The products ${left}ⱼ · ${right}ⱼ, j = 1 to ${dot.left.length}`),
    h(
      "div",
      { class: "products", role: "img", "aria-label": `${dot.products.length} products that sum to ${decimal(dot.score, 3)}` },
      dot.products.map((value, number) =>
        h("i", {
          class: value < 0 ? "negative" : null,
          title: `${number + 1}: ${decimal(dot.left[number], 3)} · ${decimal(dot.right[number], 3)} = ${decimal(value, 3)}`,
          vars: { "--h": `${(50 * Math.abs(value)) / most}%` },
        }),
      ),
    ),
  );
}

function keyTable(dot, keys) {
  return h(
    "table",
    { class: "plain" },
    h("caption", { class: "small quiet" }, "The same query with every key"),
    h(
      "tbody",
      {},
      keys.map((key, number) =>
        h(
          "tr",
          { class: number === dot.key ? "on" : null },
          h(
            "th",
            { scope: "row" },
            button(key, () => select({ key: number }), { class: "plain", dir: "auto", "data-key": `key-${number}` }),
          ),
          h("td", {}, dot.scaled[number] === null ? "−∞" : decimal(dot.scaled[number], 3)),
          h("td", {}, bar(dot.weights[number])),
        ),
      ),
    ),
  );
}

function termTable(dot, left, right) {
  const row = (name, values) =>
    h("tr", {}, h("th", { scope: "row" }, name), values.map((value) => h("td", {}, decimal(value, 3))));
  return h(
    "table",
    { class: "plain numbers" },
    h("tbody", {}, row(left, dot.left), row(right, dot.right), row("product", dot.products)),
  );
}
