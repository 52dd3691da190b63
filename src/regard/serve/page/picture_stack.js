// The stack: encoder and decoder as blocks, each with a strip of one column for each token; and one layer, with the path of
// its residual sums.

import { button, h } from "./dom.js";
import { pixels, thumbnail } from "./heatmap.js";
import { panelLinks } from "./picture_links.js";
import { panelsOf } from "./places.js";
import { distribution } from "./picture_steps.js";
import { select } from "./state.js";
import { decimal, direction, large } from "./text.js";

export const open = (part) => select({ part, query: -1, key: -1 });

/** What the encoder or the decoder reads. */
export const tokensOf = (answer, side) => (side === "source" ? answer.source_tokens : answer.target_tokens);

/** The step that is shown: the last one if the translation is shorter than it was. */
export const stepOf = (answer, sel) => Math.max(0, Math.min(sel.step, answer.target_tokens.length - 1));

export function stackView(answer, sel, others) {
  const sides = { source: [], target: [] };
  for (const part of answer.parts) sides[part.side].push(part);
  const step = stepOf(answer, sel);
  const read = answer.target_tokens.slice(0, step + 1);
  return [
    h(
      "div",
      { class: "model" },
      h(
        "section",
        { class: "side", "aria-label": "Encoder" },
        h("h3", {}, "Encoder"),
        tokens(answer.source_tokens, -1, "What the encoder reads", answer.looks?.[step]),
        answer.view ? h("p", { class: "caption" }, `bars: attention of this step, ${viewName(answer.view)}`) : null,
        panelLinks(panelsOf({ kind: "text", side: "source", id: "" }), others),
        sides.source.map((part, number) => block(part, -1, answer, number === 0)),
      ),
      h(
        "section",
        { class: "side", "aria-label": "Decoder" },
        h("h3", {}, "Decoder"),
        tokens(answer.target_tokens, step, "What the decoder reads"),
        h("p", { class: "unseen" }, `It has read ${read.length} of ${answer.target_tokens.length} tokens.`),
        sides.target.filter((part) => part.kind !== "softmax").map((part, number) => block(part, step, answer, number === 0)),
        sides.target
          .filter((part) => part.kind === "softmax")
          .map((part) =>
            h("div", { class: "block wide" }, blockName(part), distribution(answer, sel, { count: 5 })),
          ),
        h("p", { class: "reading said", dir: direction(answer.translation) }, answer.translation),
        panelLinks(panelsOf({ kind: "text", side: "target", id: "" }), others),
      ),
    ),
    answer.missing ? h("p", { class: "note small" }, answer.missing) : null,
  ];
}

/** One block of the stack: its name opens it, and so do the names of its sublayers. `named`: with names of the columns. */
function block(part, step, answer, named) {
  const inside = part.kind === "layer" ? part.parts.filter((one) => !["norm", "sum"].includes(one.kind)) : [];
  const list = tokensOf(answer, part.side);
  const chip = (one) =>
    button(`${one.name}${one.id.endsWith(".cross") ? " ←" : ""}`, () => open(one.id), {
      class: "chip",
      "data-key": `part-${one.id}`,
    });
  return h(
    "div",
    { class: `block ${part.kind}` },
    h("div", { class: "row spread" }, blockName(part), inside.length ? h("p", { class: "chips" }, inside.map(chip)) : null),
    h("div", { dir: direction(list.join(" ")) }, strip(part, step), named ? columnNames(list, step) : null),
  );
}

function blockName(part) {
  const heads = part.parts.filter((one) => one.kind === "head").length;
  const size = part.parameters && part.kind !== "layer" ? `${large(part.parameters)} parameters` : "";
  const facts = [heads > 1 ? `${heads} heads` : "", size].filter(Boolean);
  return h(
    "button",
    {
      type: "button",
      class: "name",
      "data-key": `part-${part.id}`,
      title: `${part.what}${part.shape ? ` (${part.shape.join(" × ")})` : ""}`,
      onclick: () => open(part.id),
    },
    h("b", {}, part.name),
    facts.length ? h("small", { class: "quiet" }, ` ${facts.join(" · ")}`) : null,
  );
}

const viewName = ({ layer, head }) => `layer ${layer} · ${head ? `head ${head}` : "mean of heads"}`;

/** @param {number[]} [weights] drawn as bars below the tokens */
function tokens(list, step, label, weights = []) {
  return h(
    "ol",
    { class: "tokens-read", "aria-label": label, dir: direction(list.join(" ")) },
    list.map((text, number) =>
      h(
        "li",
        {
          class: step < 0 ? null : number === step ? "now" : number > step ? "later" : null,
          dir: "auto",
          vars: { "--w": `${100 * (weights[number] ?? 0)}%` },
          title: weights.length ? `attention ${decimal(weights[number])}` : null,
        },
        text.replace(/^▁/, ""),
      ),
    ),
  );
}

/** The first numbers of each token's vector, a column for each token. */
function strip(part, step) {
  if (!part.sample) return null;
  const now = step >= 0 && part.side === "target";
  const vars = { "--at": step, "--count": part.sample.length };
  return h("div", { class: now ? "strip now" : "strip", vars }, pixels(part.sample, { across: true }));
}

const columnNames = (list, step) =>
  h(
    "p",
    { class: "upright", "aria-hidden": "true" },
    list.map((text, number) => h("span", { class: number === step ? "now" : null }, text.replace(/^▁/, ""))),
  );

// ── one layer ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The parts of a layer from top to bottom. The line at the side is the residual path, from which each sublayer reads and
 * to which it adds. */
export function layerView(answer, sel) {
  const step = answer.side === "target" ? stepOf(answer, sel) : -1;
  const heads = answer.inside;
  const list = tokensOf(answer, answer.side);
  return h(
    "ol",
    { class: "flow", dir: direction(list.join(" ")) },
    h(
      "li",
      { class: "columns", "aria-hidden": "true", vars: { "--count": list.length } },
      list.map((text, number) => h("span", { class: number === step ? "now" : null }, text.replace(/^▁/, ""))),
    ),
    answer.parts.map((part, number) =>
      h(
        "li",
        { class: part.kind === "norm" && after(answer.parts[number - 1], part) ? "norm on-path" : part.kind },
        blockName(part),
        h("p", { class: "equation small" }, part.what),
        strip(part, step),
        part.kind === "attention" ? headRow(heads.filter((head) => head.id.startsWith(`${part.id}.`))) : null,
      ),
    ),
  );
}

/** Post-norm: the norm follows its own residual sum, on the path; else it is on the way to the sublayer. */
const after = (sum, norm) => sum?.kind === "sum" && sum.id.replace(/sum$/, "norm") === norm.id;

/** The heads of an attention as small maps of their weights. */
export function headRow(heads) {
  return h(
    "div",
    { class: "head-row" },
    heads.map((head) =>
      h(
        "button",
        { type: "button", class: "thumb", "data-key": `part-${head.id}`, onclick: () => open(head.id) },
        thumbnail(head.values, null, 88, 88),
        h("span", {}, head.name),
      ),
    ),
  );
}
