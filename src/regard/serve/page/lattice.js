// The search as a picture: a column for each step, a node for each token that was weighed, a line to the one before it.

import { h, svg } from "./dom.js";

const COLUMN = 98;
const HALF = 39; // of the width of a node
const LINE = 26;
const SHOWN = { kept: 0, finished: 0, "cut off": 0 }; // what went on or ended well stands above what was given up

/**
 * @param {any} answer of /api/lattice
 * @param {{path: Set<number>, selected: number, choose: (node: number) => void}} how `path`: the hypothesis in focus
 */
export function latticeDrawing(answer, { path, selected, choose }) {
  const steps = [];
  for (const node of answer.nodes) (steps[node.step] ??= []).push(node);
  const place = new Map();
  steps.forEach((nodes, step) =>
    [...nodes]
      .sort((a, b) => (SHOWN[a.fate] ?? 1) - (SHOWN[b.fate] ?? 1) || b.total - a.total)
      .forEach((node, row) => place.set(node.node, { x: 66 + step * COLUMN, y: 22 + row * LINE })),
  );
  const tallest = Math.max(1, ...steps.filter(Boolean).map((nodes) => nodes.length));
  const width = 66 + steps.length * COLUMN;
  const height = 22 + tallest * LINE;
  const start = { x: 8, y: 22 };
  const edges = answer.nodes.map((node) => {
    const from = node.parent < 0 ? start : place.get(node.parent);
    const to = place.get(node.node);
    const middle = (from.x + to.x) / 2;
    return svg("path", {
      class: `edge ${group(node)} ${path.has(node.node) ? "on" : ""}`,
      d: `M${from.x + (node.parent < 0 ? 8 : HALF - 6)} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x - HALF + 2} ${to.y}`,
    });
  });
  const marks = answer.nodes.map((node) => {
    const { x, y } = place.get(node.node);
    const mark = svg(
      "g",
      {
        class: `node ${group(node)} ${path.has(node.node) ? "on" : ""} ${node.node === selected ? "picked" : ""}`,
        role: "button",
        tabindex: node.node === selected || (selected < 0 && node.node === 0) ? "0" : "-1",
        "data-node": node.node,
        "aria-label": `step ${node.step}: ${node.piece}, ${node.fate}`,
        transform: `translate(${x} ${y})`,
        onclick: () => choose(node.node),
      },
      svg("title", {}, `${node.piece}: ${node.reason}`),
      svg("rect", { x: -HALF, y: -11, width: 2 * HALF, height: 22, rx: 6 }),
      svg("text", { "text-anchor": "middle", dy: "0.32em" }, shortened(node.piece)),
    );
    return mark;
  });
  const drawing = svg(
    "svg",
    {
      class: "lattice",
      role: "group",
      "aria-label": "the beam search as a lattice",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    },
    edges,
    svg("circle", { class: "start", cx: start.x, cy: start.y, r: 5 }),
    marks,
  );
  drawing.addEventListener("keydown", (event) => walk(event, answer, place, choose));
  return h("div", { class: "scroll" }, drawing);
}

const group = (node) =>
  node.leads_to === 1 ? "best" : node.leads_to ? "listed" : SHOWN[node.fate] === 0 ? "kept" : "given-up";
const shortened = (piece) => (piece.length > 8 ? `${piece.slice(0, 7)}…` : piece);

/** Arrow keys: along the way to the parent and the best child, and up and down within a step. */
function walk(event, answer, place, choose) {
  const here = answer.nodes[Number(event.target.closest?.("[data-node]")?.dataset.node ?? NaN)];
  if (!here) return;
  const column = answer.nodes
    .filter((node) => node.step === here.step)
    .sort((a, b) => place.get(a.node).y - place.get(b.node).y);
  const at = column.indexOf(here);
  const to = {
    ArrowLeft: () => answer.nodes[here.parent],
    ArrowRight: () => answer.nodes.filter((node) => node.parent === here.node).sort((a, b) => b.total - a.total)[0],
    ArrowUp: () => column[at - 1],
    ArrowDown: () => column[at + 1],
  }[event.key]?.();
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(here.node);
  } else if (to) {
    event.preventDefault();
    for (const mark of event.currentTarget.querySelectorAll("[data-node]"))
      mark.setAttribute("tabindex", Number(mark.dataset.node) === to.node ? "0" : "-1");
    event.currentTarget.querySelector(`[data-node="${to.node}"]`).focus();
  }
}
