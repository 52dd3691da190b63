// A parameter of an operation: a labelled control for its JSON schema, what the schema allows in words, and its value.

import { h } from "./dom.js";

const SHORT = 200; // characters of a text that needs one line only
let count = 0;

/** Parameters without a value are left out of a request. */
export function isBlank(value) {
  return value === undefined || value === "" || (Array.isArray(value) && !value.length);
}

/**
 * @param {{name: string, required?: boolean, schema: object}} parameter
 * @param {any} example the value at the start; undefined for none
 * @returns {{name: string, element: HTMLElement, value: () => any}}
 */
export function parameterField({ name, required = false, schema }, example) {
  const id = `parameter-${(count += 1)}`;
  const { control, value } = controlFor(schema, example);
  control.id = id;
  control.required = required;
  control.setAttribute("aria-describedby", `${id}-help`);
  const help = `${schema.description ?? "part of the path"} · ${typeText(schema)}`;
  const element = h(
    "div",
    { class: "parameter" },
    h(
      "p",
      {},
      h("label", { for: id }, h("code", {}, name)),
      required ? h("span", { class: "warm", "aria-hidden": "true" }, " required") : null,
    ),
    control,
    h("p", { class: "small quiet", id: `${id}-help` }, help),
  );
  return { name, element, value };
}

/** @returns {{control: HTMLElement, value: () => any}} */
function controlFor(schema, example) {
  const kind = typesOf(schema)[0];
  const options = kind === "boolean" ? ["true", "false"] : schema.enum?.filter((one) => one !== null);
  if (schema.format === "binary") {
    const control = h("input", { type: "file" });
    return { control, value: () => control.files[0] };
  }
  if (options) {
    const chosen = String(example ?? "");
    const option = (value) => h("option", { value, selected: value === chosen }, value || "not sent");
    const control = h("select", {}, ["", ...options].map(option));
    return { control, value: () => (kind === "boolean" && control.value ? control.value === "true" : control.value) };
  }
  if (kind === "integer" || kind === "number") {
    const { minimum: min, maximum: max } = schema;
    const step = kind === "integer" ? 1 : "any";
    const control = h("input", { type: "number", min, max, step, value: example });
    return { control, value: () => (control.value === "" ? undefined : control.valueAsNumber) };
  }
  return textControl(schema, kind, example);
}

/** A text; a list of strings as its lines; any other list or object as JSON. */
function textControl(schema, kind, example) {
  if (kind === "string" && schema.maxLength <= SHORT) {
    const control = h("input", { type: "text", value: example, dir: "auto" });
    return { control, value: () => control.value };
  }
  const lines = kind === "array" && typesOf(schema.items ?? {})[0] === "string";
  const [read, write] = lines
    ? [(text) => text.split("\n").filter(Boolean), (list) => list.join("\n")]
    : kind === "string"
      ? [String, String]
      : [parsed, JSON.stringify];
  const control = h("textarea", { rows: lines ? 2 : 1, dir: "auto", spellcheck: "false" });
  if (lines) control.placeholder = "one on each line";
  control.value = example === undefined ? "" : write(example);
  function parsed(text) {
    try {
      control.setCustomValidity("");
      return text.trim() ? JSON.parse(text) : undefined;
    } catch (error) {
      control.setCustomValidity(`This is not JSON: ${error.message}`);
      return undefined;
    }
  }
  return { control, value: () => read(control.value) };
}

/** The types of a schema without null, which is the same as leaving the parameter out. */
function typesOf(schema) {
  const types = schema.oneOf ? schema.oneOf.map((one) => one.type) : [schema.type].flat();
  return types.filter((one) => one && one !== "null");
}

/** What a schema allows: "integer, 1 to 16, default 5". The values of an `enum` are in its menu. */
export function typeText(schema) {
  const types = schema.oneOf ?? typesOf(schema).map((type) => ({ ...schema, type }));
  const more = (least) => (least > 1 ? least : undefined);
  return [
    types.map(typeName).filter(Boolean).join(" or "),
    between(schema.minimum, schema.maximum, ""),
    schema.enum ? "" : between(more(schema.minLength), schema.maxLength, " characters"),
    between(more(schema.minItems), schema.maxItems, " entries"),
    isBlank(schema.default) ? "" : `default ${schema.default}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function typeName({ type, items, format }) {
  if (format === "binary") return "file";
  if (type !== "array") return type === "null" ? "" : type;
  return items?.type === "string" ? "array of strings" : "array, written as JSON";
}

function between(least, most, unit) {
  const number = (value) => value.toLocaleString("en");
  if (most === undefined) return least === undefined ? "" : `at least ${number(least)}${unit}`;
  return least === undefined ? `at most ${number(most)}${unit}` : `${number(least)} to ${number(most)}${unit}`;
}
