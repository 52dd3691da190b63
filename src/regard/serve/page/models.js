// The models that the server has, and the controls that choose among them.

import { ask } from "./api.js";
import { h, show } from "./dom.js";
import { current, select, subscribe } from "./state.js";

let known = { models: [], default: "" };

export async function loadModels() {
  known = await ask("/api/models");
  return known;
}

export const models = () => known.models;
export const version = () => known.version ?? "";
export const modelName = (name = current().model) => name || known.default;
export const modelOf = (name = current().model) => known.models.find((one) => one.name === modelName(name)) ?? null;
export const pairName = (model) => `${model.source_name ?? model.source} → ${model.target_name ?? model.target}`;

/** By languages, with the model's name only where two models have the same. */
function label(model) {
  const twins = known.models.filter((one) => pairName(one) === pairName(model)).length > 1;
  return twins ? `${pairName(model)} (${model.name})` : pairName(model);
}

/** @param {string} key the part of the selection that it sets: model or beside */
export function modelPicker(key, { title, none = null, byLanguage = true } = {}) {
  const box = h("select", {
    "aria-label": title,
    "data-key": `pick-${key}`,
    onchange: () => select({ [key]: box.value }),
  });
  const fill = (sel) => {
    show(
      box,
      none === null ? null : h("option", { value: "" }, none),
      known.models.map((model) =>
        h("option", { value: model.name }, byLanguage ? label(model) : `${model.name} · ${pairName(model)}`),
      ),
    );
    box.value = key === "model" ? modelName(sel.model) : sel[key];
  };
  fill(current());
  const stop = subscribe((sel) => (box.isConnected ? fill(sel) : stop()));
  return box;
}

export const pairPicker = () =>
  h(
    "label",
    { class: "row" },
    h("span", { class: "quiet small" }, "Languages"),
    modelPicker("model", { title: "Languages" }),
  );

/** Formal or informal address; hidden for a model without tags for both. */
export function formalityPicker() {
  const box = h(
    "select",
    { "aria-label": "Form of address", "data-key": "formality", onchange: () => select({ formality: box.value }) },
    ["", "formal", "informal"].map((value) => h("option", { value }, value || "automatic")),
  );
  const label = h("label", { class: "row" }, h("span", { class: "quiet small" }, "Form of address"), box);
  const fill = (sel) => {
    label.hidden = !modelOf(sel.model)?.formality;
    box.value = sel.formality;
  };
  fill(current());
  const stop = subscribe((sel) => (label.isConnected ? fill(sel) : stop()));
  return label;
}

/**
 * Go to the model of the other direction, with the translation as the new text.
 * @param {string|null} text null only says whether there is one
 */
export function swapped(text) {
  const here = modelOf();
  const back = here && known.models.find((one) => one.source === here.target && one.target === here.source);
  if (text !== null && back) select({ model: back.name, text });
  return Boolean(back);
}
