// The whole model in one picture: the real model for the sentence, from the stack to a layer, a head and one dot product.
// The place in it is the part `part` of the selection, and `query` and `key` for a dot product.

import { button, h } from "./dom.js";
import { live, panel } from "./live.js";
import { dotView, headView, headsView, valuesView } from "./picture_head.js";
import { panelLinks } from "./picture_links.js";
import { layerView, stackView } from "./picture_stack.js";
import { decoderSteps, distribution } from "./picture_steps.js";
import { panelsOf } from "./places.js";
import * as questions from "./questions.js";
import { current, select } from "./state.js";
import { large } from "./text.js";

/** Names of the parts of a head, which the tree leaves out. */
const VECTORS = {
  query: "Queries",
  key: "Keys",
  value: "Values",
  scores: "Scores",
  weights: "Weights",
  context: "Output of the head",
  readout: "Readout",
};

/** @param {{named: (id: string) => any, jump: (panel: any) => void}} others the other panels, and how to go to one */
export function picturePanel(others) {
  let first = 0; // the first number of the vectors that are shown
  let of = ""; // the part that they are of
  let last = null; // the place that was shown
  const turn = (to) => {
    first = to;
    detail.update();
  };
  const tree = live({ question: questions.anatomy, draw: drawTree, caption: treeCaption, lazy: false });
  const detail = live({
    question: (sel) => {
      if (of !== sel.part) [first, of] = [0, sel.part];
      const cell = sel.query >= 0 && sel.key >= 0 ? { query: sel.query, key: sel.key } : {};
      const known = !sel.part || sel.part === "output";
      return known ? null : questions.anatomyPart(sel, sel.part, { first: first || undefined, ...cell });
    },
    draw: (answer, sel) => drawDetail(answer, sel, turn),
    empty: "",
    lazy: false,
  });
  const steps = decoderSteps();

  function drawTree(answer, sel) {
    steps.show(answer, sel);
    follow(sel);
    const path = pathOf(answer.parts, sel.part);
    const open = path.at(-1);
    return [
      open ? crumbs(path, sel) : null,
      open ? aboutPart(open, others) : null,
      !open ? stackView(answer, sel, others) : null,
      open?.kind === "softmax" ? distribution(answer, sel) : null,
    ];
  }

  const inPicture = (selector) => made.element.querySelector(selector);
  /** One level up: from a dot product to its head, from a part to the one that it lies in. */
  function up() {
    const sel = current();
    if (sel.query >= 0) return select({ query: -1, key: -1 });
    const path = pathOf(tree.answer()?.parts ?? [], sel.part);
    return path.length ? select({ part: path.at(-2)?.id ?? "" }) : null;
  }

  /** What was chosen is drawn anew elsewhere, so the focus goes along: to the new place, or to where it was left. */
  function follow(sel) {
    const place = `${sel.part} ${sel.query} ${sel.key}`;
    const left = last;
    last = place;
    if (left === place || left === null || !made.element.contains(document.activeElement)) return;
    const from = left.split(" ")[0];
    queueMicrotask(() => {
      const block = from.startsWith(sel.part) && inPicture(`[data-key="part-${CSS.escape(from)}"]`);
      (block || inPicture(".crumbs [aria-current]"))?.focus();
    });
  }
  const has = (id) => pathOf(tree.answer()?.parts ?? [], id).at(-1)?.id === id;
  const made = panel(
    {
      id: "picture",
      title: "The whole model",
      lede:
        "The model as it computed this sentence. Open a block to see what is inside: a layer, a head, one dot " +
        "product. A strip has a column for each token, named below the first one, with the first 16 numbers of its vector, blue above zero and " +
        "brown or orange below.",
    },
    steps,
    tree,
    detail,
  );
  made.element.addEventListener("keydown", (event) => event.key === "Escape" && up());
  return { ...made, has };
}

/** The part of this id and those that it lies in, outermost first. */
export function pathOf(parts, id) {
  if (!id) return [];
  const found = parts.find((part) => id === part.id || id.startsWith(`${part.id}.`));
  if (!found) return [];
  if (found.id === id) return [found];
  const inside = pathOf(found.parts, id);
  if (inside.length) return [found, ...inside];
  const last = id.split(".").at(-1);
  return found.kind === "head" && VECTORS[last]
    ? [found, { id, kind: last, name: VECTORS[last], what: "", parts: [], parameters: 0 }]
    : [found];
}

function treeCaption(answer) {
  const shade = "the shade of a number is the square root of its share of the largest";
  return `${answer.architecture} · ${large(answer.parameters)} parameters · ${shade} · ${answer.how}`;
}

function crumbs(path, sel) {
  const cell = sel.query >= 0 && sel.key >= 0;
  const steps = [["", "The model"], ...path.map((part) => [part.id, part.name])];
  const last = steps.length - 1;
  return h(
    "nav",
    { "aria-label": "Place in the picture", class: "crumbs" },
    h(
      "ol",
      {},
      steps.map(([part, name], number) =>
        h(
          "li",
          {},
          number === last && !cell
            ? h("b", { "aria-current": "location", tabindex: "-1" }, name)
            : button(name, () => select({ part, query: -1, key: -1 }), { class: "plain", "data-key": `crumb-${part}` }),
        ),
      ),
      cell ? h("li", {}, h("b", { "aria-current": "location", tabindex: "-1" }, "One dot product")) : null,
    ),
  );
}

/** What a part is, how large it is, and the panels that show more of it. */
function aboutPart(part, others) {
  const facts = [
    part.id.startsWith(part.side) ? { source: "encoder", target: "decoder" }[part.side] : "",
    part.shape ? `${part.shape.join(" × ")} numbers` : "",
    part.parameters ? `${large(part.parameters)} parameters` : "",
  ].filter(Boolean);
  return h(
    "div",
    { class: "about" },
    part.what ? h("p", { class: "equation" }, part.what) : null,
    h("p", { class: "small quiet" }, facts.join(" · ")),
    panelLinks(panelsOf(part), others),
  );
}

function drawDetail(answer, sel, turn) {
  if (answer.dot && sel.query >= 0 && sel.key >= 0) return dotView(answer, sel);
  if (answer.kind === "layer") return layerView(answer, sel);
  if (answer.kind === "head") return headView(answer, sel);
  if (answer.kind === "attention") return [headsView(answer, sel), answer.values ? valuesView(answer, sel, turn) : null];
  return valuesView(answer, sel, turn);
}
