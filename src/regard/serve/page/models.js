// The models that the server has, which of them translate from one language to another, and the controls that choose one.

import { ask } from "./api.js";
import { h, show } from "./dom.js";
import { current, select, subscribe } from "./state.js";

let known = { models: [], default: "", pairs: [], languages: {}, through: "", documents: null };

export async function loadModels() {
  known = { ...known, ...(await ask("/api/models?cards=false")) };
  return known;
}

export const models = () => known.models;
export const version = () => known.version ?? "";
/** Whether the server keeps the translations that readers prefer. */
export const keepsCorrections = () => known.corrections === true;
/** Whether the server has what explanations need. */
export const explains = () => known.explains !== false;
export const modelName = (name = current().model) => name || pairOf(languages(current()))?.models[0] || known.default;
export const modelOf = (name = current().model) => known.models.find((one) => one.name === modelName(name)) ?? null;
export const pairName = (model) => `${model.source_name ?? model.source} → ${model.target_name ?? model.target}`;

// ── languages ───────────────────────────────────────────────────────────────────────────────────────────────────────

const names = new Intl.DisplayNames(["en"], { type: "language" }); // of languages that are only detected
export const languageName = (code) => known.languages[code] ?? (code && names.of(code));
export const pivot = () => known.through;
export const documents = () => known.documents;

/**
 * The pair of two languages, with the names of its models: one, or two by way of the pivot language.
 * @param {{from: string, to: string}} languages
 */
export const pairOf = ({ from, to }) => known.pairs.find((one) => one.source === from && one.target === to) ?? null;
export const sources = () => sorted(known.pairs.map((one) => one.source));
export const targets = (from) => sorted(known.pairs.filter((one) => !from || one.source === from).map((one) => one.target));

const sorted = (codes) => [...new Set(codes)].sort((a, b) => languageName(a).localeCompare(languageName(b)));

/**
 * The languages of a selection: those of the model that was chosen by name, else the reader's choice. A language that
 * is not chosen is the one that was detected; the target is then that of the server's first model.
 */
export function languages(sel) {
  const named = sel.model && known.models.find((one) => one.name === sel.model);
  if (named) return { from: named.source, to: named.target, detect: false };
  const home = known.models.find((one) => one.name === known.default);
  const from = sel.from || sel.detected;
  const reached = (to) => (from ? pairOf({ from, to }) : true);
  const to = sel.to || [home?.target, home?.source, ...targets(from)].find((code) => code !== from && reached(code));
  return { from, to: to ?? "", detect: !sel.from };
}

/** Whether the translation can be asked for in a form of address. */
export function hasFormality(sel) {
  const last = sel.model || pairOf(languages(sel))?.models.at(-1);
  return Boolean(known.models.find((one) => one.name === last)?.formality);
}

// ── controls ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** @param {string} key the part of the selection that it sets: model or beside */
export function modelPicker(key, { title, none = null } = {}) {
  const box = h("select", {
    "aria-label": title,
    "data-key": `pick-${key}`,
    onchange: () => select({ [key]: box.value }),
  });
  const fill = (sel) => {
    show(
      box,
      none === null ? null : h("option", { value: "" }, none),
      known.models.map((model) => h("option", { value: model.name }, `${model.name} · ${pairName(model)}`)),
    );
    box.value = key === "model" ? modelName(sel.model) : sel[key];
  };
  fill(current());
  const stop = subscribe((sel) => (box.isConnected ? fill(sel) : stop()));
  return box;
}

/** Formal or informal address; hidden where the model has no tags for both. */
export function formalityPicker() {
  const box = h(
    "select",
    { "aria-label": "Form of address", "data-key": "formality", onchange: () => select({ formality: box.value }) },
    ["", "formal", "informal"].map((value) => h("option", { value }, value || "automatic")),
  );
  const label = h("label", { class: "row" }, h("span", { class: "quiet small" }, "Form of address"), box);
  const fill = (sel) => {
    label.hidden = !hasFormality(sel);
    box.value = sel.formality;
  };
  fill(current());
  const stop = subscribe((sel) => (label.isConnected ? fill(sel) : stop()));
  return label;
}
