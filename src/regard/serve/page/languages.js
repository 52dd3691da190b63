// From which language into which: two menus, and a button between them that swaps them.

import { button, h, show, svg } from "./dom.js";
import { languageName, languages, pairOf, sources, targets } from "./models.js";
import { current, observe, select } from "./state.js";

const narrow = matchMedia("(max-width: 30rem)");
const SWAP = "M4 8h14m-4-4 4 4-4 4M20 16H6m4-4-4 4 4 4";

/**
 * @param {() => string} translated the translation as the reader sees it, which is the text after a swap
 * @returns {{element: HTMLElement, update: (sel: object, sure?: boolean) => void}} `sure`: whether what was detected is
 */
export function languageBar(translated) {
  const from = h("select", { id: "from", "aria-label": "Translate from", "data-key": "from" });
  const to = h("select", { id: "to", "aria-label": "Translate to", "data-key": "to" });
  from.addEventListener("change", () => chooseFrom(from.value));
  to.addEventListener("change", () => chooseTo(to.value));
  const swap = h(
    "button",
    { type: "button", class: "plain", "aria-label": "Swap the two languages", title: "Swap the two languages" },
    svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: SWAP })),
  );
  swap.addEventListener("click", () => {
    const now = languages(current());
    select({ model: "", from: now.to, to: now.from, text: translated() });
  });

  function update(sel, sure = true) {
    const now = languages(sel);
    const found = `${languageName(now.from)} (${!sure ? "perhaps" : narrow.matches ? "auto" : "detected"})`;
    const detected = now.detect && now.from && sel.text.trim();
    fill(from, ["", ...sources()], now.detect ? "" : now.from, detected ? found : "Detect language");
    fill(to, targets(now.detect ? "" : now.from), now.to);
    swap.disabled = !pairOf({ from: now.to, to: now.from });
  }

  return { element: h("div", { class: "languages" }, from, swap, to), update };
}

function fill(box, codes, value, first = "") {
  const written = JSON.stringify([codes, first]);
  if (box.dataset.written !== written)
    show(
      box,
      codes.map((code) => h("option", { value: code }, code ? languageName(code) : first)),
    );
  box.dataset.written = written;
  box.value = value;
}

/** A language that is chosen twice changes places with the other one. */
function chooseFrom(code) {
  const now = languages(current());
  if (!code) return select({ model: "", from: "", to: now.to });
  const to = code === now.to ? now.from : now.to;
  return select({ model: "", from: code, to: pairOf({ from: code, to }) ? to : "" });
}

function chooseTo(code) {
  const now = languages(current());
  return select({ model: "", from: now.detect ? "" : now.from, to: code });
}

/** The target for a text in a language that is not the chosen one: the chosen target, or else the chosen source. */
function targetFrom(code) {
  const sel = current();
  const now = languages(sel);
  const all = [now.to, now.from, languages({ ...sel, from: code, to: "" }).to];
  return all.find((to) => to !== code && pairOf({ from: code, to })) ?? "";
}

/**
 * Translate a text that replaced another one from its own language, if that is surely not the one that was chosen for the
 * text before.
 * @param {any} row a translation of /api/translate
 * @param {string} before the text for which the language was chosen
 * @returns {(() => any)|null} draws what is said of it, with the way back; null if nothing was changed
 */
export function followLanguage(row, before) {
  const { from, to, model, text } = current();
  const code = row.text_language;
  const target = code && from && !model && isReplaced(before, text) ? targetFrom(code) : "";
  if (!target) return null;
  observe({ detected: code });
  select({ from: "", to: target });
  const back = () => select({ from, to });
  return () =>
    current().from || current().text !== text
      ? null
      : h("p", { class: "note row" }, `This text is ${languageName(code)}, and is now translated from ${languageName(code)}.`, button(`Back to ${languageName(from)}`, back));
}

/** Whether hardly a word of a text is from the text before. */
function isReplaced(before, text) {
  const words = (one) => one.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const old = new Set(words(before));
  const now = words(text);
  return old.size > 0 && now.filter((word) => old.has(word)).length < now.length / 3;
}

/**
 * What is said, once, of a text that is in another language than the chosen one, with a button to translate from it.
 * @param {any} row a translation of /api/translate
 */
export function otherLanguage(row) {
  const code = row.text_language ?? (row.models.length ? null : row.source_language);
  if (!code) return null;
  const now = languages(current());
  const to = targetFrom(code);
  const name = languageName(code);
  const label = to === now.to ? `Translate from ${name}` : `Translate from ${name} into ${languageName(to)}`;
  return h(
    "p",
    { class: "note row" },
    row.text_language ? `This text seems to be ${name}.` : `This text is ${name} already.`,
    to ? button(label, () => select({ model: "", from: code, to })) : null,
  );
}
