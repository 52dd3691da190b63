// The page at /docs: every operation of the server, from its own OpenAPI document, in groups that can be filtered.

import { operationBox } from "./api_operation.js";
import { h, show } from "./dom.js";
import { theme } from "./theme.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const place = document.getElementById("api");
let key = "";

/** The operations of an OpenAPI document, in its order. */
export function operationsOf(spec) {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      ...item[method],
      method: method.toUpperCase(),
      path,
      id: [method, ...path.split(/\W+/).filter(Boolean)].join("-"),
    })),
  );
}

function draw(spec) {
  const operations = operationsOf(spec);
  const groups = (spec.tags ?? []).map(({ name, description }) => {
    const boxes = operations.filter((one) => one.tags[0] === name).map((one) => operationBox(one, () => key));
    return { name, boxes, element: group(name, description, boxes) };
  });
  const none = h("p", { class: "quiet", hidden: true }, "No operation has these words.");
  const filter = (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const { boxes, element } of groups) {
      for (const box of boxes) {
        const text = box.querySelector("summary").textContent.toLowerCase();
        box.hidden = !words.every((word) => text.includes(word));
      }
      element.hidden = boxes.every((box) => box.hidden);
    }
    none.hidden = !groups.every((one) => one.element.hidden);
  };
  const find = h("input", { type: "search", oninput: filter, autocomplete: "off" });
  show(
    place,
    h("p", {}, spec.info.description, " Clients can be generated from ", h("a", { href: "spec" }, "/spec"), "."),
    h(
      "div",
      { class: "row find" },
      h("label", { class: "field" }, h("span", {}, "Find an operation"), find),
      operations.some((one) => one.security) ? keyField() : null,
    ),
    groups.map((one) => one.element),
    none,
  );
}

function group(name, description, boxes) {
  const id = `api-${name}`;
  return h(
    "section",
    { class: "stack", "aria-labelledby": id },
    h("h2", { id }, name === "regard" ? "regard’s own" : name),
    h("p", { class: "quiet" }, description),
    h("div", { class: "operations" }, boxes),
  );
}

/** Shown where the server asks for keys. The key stays in this variable, and is not part of the curl commands. */
function keyField() {
  const change = (event) => (key = event.target.value.trim());
  const box = h("input", { type: "password", autocomplete: "off", oninput: change });
  return h("label", { class: "field" }, h("span", {}, "API key, which this server asks for"), box);
}

/** Open the operation that the address names. */
function follow() {
  const box = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(box instanceof HTMLDetailsElement)) return;
  box.open = true;
  box.scrollIntoView();
}

async function start() {
  show(document.getElementById("tools"), theme());
  try {
    const response = await fetch("spec", { credentials: "omit" });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    draw(await response.json());
    follow();
    addEventListener("hashchange", follow);
  } catch (error) {
    const message = `The server's description of its API could not be read: ${error.message}`;
    show(place, h("p", { class: "note bad" }, message));
  } finally {
    place.setAttribute("aria-busy", "false");
  }
}

start();
