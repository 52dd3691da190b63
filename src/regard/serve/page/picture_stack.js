// The stack: encoder and decoder as blocks, each with a strip of one cell for each token; and one layer, with the path of
// its residual sums.

import { button, h } from "./dom.js";
import { thumbnail } from "./heatmap.js";
import { panelLinks } from "./picture_links.js";
import { panelsOf } from "./places.js";
import { distribution } from "./picture_steps.js";
import { select } from "./state.js";
import { direction, large } from "./text.js";

export const open = (part) => select({ part, query: -1, key: -1 });

/** The step that is shown: the last one if the translation is shorter than it was. */
export const stepOf = (answer, sel) => Math.max(0, Math.min(sel.step, answer.target_tokens.length - 1));

export function stackView(answer, sel, others) {
  const sides = { source: [], target: [] };
  for (const part of answer.parts) sides[part.side].push(part);
  const most = largest(answer.parts);
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
        tokens(answer.source_tokens, -1, "What the encoder reads"),
        panelLinks(panelsOf({ kind: "text", side: "source", id: "" }), others),
        sides.source.map((part) => block(part, most, -1)),
      ),
      h(
        "section",
        { class: "side", "aria-label": "Decoder" },
        h("h3", {}, "Decoder"),
        tokens(answer.target_tokens, step, "What the decoder reads"),
        h("p", { class: "unseen" }, `It has read ${read.length} of ${answer.target_tokens.length} tokens.`),
        sides.target.filter((part) => part.kind !== "softmax").map((part) => block(part, most, step)),
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

/** One block of the stack: its name opens it, and so do the names of its sublayers. */
function block(part, most, step) {
  const inside = part.kind === "layer" ? part.parts.filter((one) => !["norm", "sum"].includes(one.kind)) : [];
  const chip = (one) =>
    button(`${one.name}${one.id.endsWith(".cross") ? " ←" : ""}`, () => open(one.id), {
      class: "chip",
      "data-key": `part-${one.id}`,
    });
  return h(
    "div",
    { class: `block ${part.kind}` },
    h("div", { class: "row spread" }, blockName(part), inside.length ? h("p", { class: "chips" }, inside.map(chip)) : null),
    strip(part, most, step),
  );
}

function blockName(part) {
  const heads = part.parts.filter((one) => one.kind === "head").length;
  const size = part.parameters && part.kind !== "layer" ? large(part.parameters) : "";
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

function tokens(list, step, label) {
  return h(
    "ol",
    { class: "tokens-read", "aria-label": label, dir: direction(list.join(" ")) },
    list.map((text, number) =>
      h(
        "li",
        { class: step < 0 ? null : number === step ? "now" : number > step ? "later" : null, dir: "auto" },
        text.replace(/^▁/, ""),
      ),
    ),
  );
}

/** The largest size of each kind of part on each side: what the shades of strips are relative to. */
function largest(parts) {
  const most = {};
  const add = (part) => {
    const key = `${part.side} ${part.kind}`;
    if (part.sizes) most[key] = Math.max(most[key] ?? 1e-9, ...part.sizes.filter(Number.isFinite));
    part.parts.forEach(add);
  };
  parts.forEach(add);
  return most;
}

/** The size of each token's vector as a row of shades: one gradient, however many tokens there are. */
function strip(part, most, step) {
  if (!part.sizes) return null;
  const count = part.sizes.length;
  const stops = part.sizes.map((size, number) => {
    const share = Math.round(100 * Math.sqrt((size ?? 0) / (most[`${part.side} ${part.kind}`] ?? 1)));
    const shade = `color-mix(in oklab, var(--heat) ${share}%, var(--sunken))`;
    return `${shade} ${(100 * number) / count}% ${(100 * (number + 1)) / count}%`;
  });
  return h("i", {
    class: "strip",
    "aria-hidden": "true",
    vars: { "--cells": stops.join(", "), "--at": step, "--count": count },
    "data-step": step >= 0 && part.side === "target" ? step : null,
  });
}

// ── one layer ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The parts of a layer from top to bottom. The line at the side is the residual path, from which each sublayer reads and
 * to which it adds. */
export function layerView(answer, sel) {
  const most = largest(answer.parts);
  const step = answer.side === "target" ? stepOf(answer, sel) : -1;
  const heads = answer.inside;
  return h(
    "ol",
    { class: "flow" },
    answer.parts.map((part, number) =>
      h(
        "li",
        { class: part.kind === "norm" && after(answer.parts[number - 1], part) ? "norm on-path" : part.kind },
        blockName(part),
        h("p", { class: "equation small" }, part.what),
        strip(part, most, step),
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
