// Words that must be translated in one way, one pair a line. They are applied as they are typed, and a line says how
// often each was used; the receipt under the translation says where.

import { h, show } from "./dom.js";
import { current, select, subscribe } from "./state.js";

const REST = 700; // milliseconds without a key
const NAMED = 8; // more terms are only counted
const TIMES = ["not used", "used once", "used twice"];

/** @returns {{element: HTMLElement, update: (row: any) => void}} `row` is a translation of /api/translate, or null */
export function glossaryFold() {
  const box = h("textarea", {
    rows: 4,
    id: "glossary",
    placeholder: "mouse = souris\nregard = regard",
    "aria-describedby": "glossary-help",
  });
  const used = h("p", { class: "small", role: "status" });
  let timer = null;
  const apply = () => {
    clearTimeout(timer);
    select({ glossary: box.value }, { typing: true });
  };
  box.value = current().glossary;
  box.addEventListener("change", apply);
  box.addEventListener("input", () => {
    clearTimeout(timer);
    if (linesOf(box.value).every((line) => line.targets.length)) timer = setTimeout(apply, REST);
  });
  const stop = subscribe((sel) => {
    if (!box.isConnected) return stop();
    if (document.activeElement !== box) box.value = sel.glossary;
  });

  function update(row) {
    const text = row ? usage(linesOf(current().glossary), row) : "";
    if (used.textContent !== text) show(used, text);
  }

  const element = h(
    "details",
    { class: "fold", open: Boolean(current().glossary) },
    h("summary", {}, "Words to translate in your way"),
    h(
      "div",
      { class: "stack" },
      h("label", { class: "field" }, h("span", {}, "Glossary"), box),
      used,
      h(
        "p",
        { class: "small quiet", id: "glossary-help" },
        "One pair a line, divided by = or a tab. A word that equals itself stays untranslated. Numbers, links and placeholders " +
          "are kept in any case.",
      ),
    ),
  );
  return { element, update };
}

/** The terms of a glossary; one that is still being typed has no target. */
function linesOf(glossary) {
  const forms = (text) => text.split("|").map((one) => one.trim().toLowerCase()).filter(Boolean);
  return glossary
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => {
      const [source, ...rest] = line.split(line.includes("\t") ? "\t" : "=");
      return { name: source.trim(), sources: forms(source), targets: forms(rest.join(" ")) };
    });
}

/** How often each term was used. An inflected word is recognized by its translation. */
function usage(lines, row) {
  const found = row.sentences
    .flatMap((sentence) => sentence.protected ?? [])
    .filter((one) => ["term", "keep"].includes(one.kind) && one.status !== "missing")
    .map((one) => [one.text.toLowerCase(), one.wanted.toLowerCase()]);
  const counts = lines.map(
    ({ sources, targets }) =>
      found.filter(([text, wanted]) => sources.includes(text) || targets.some((one) => wanted.startsWith(one))).length,
  );
  if (lines.length > NAMED) return `${counts.filter(Boolean).length} of ${lines.length} terms were used.`;
  return lines.map(({ name }, place) => `${name}: ${TIMES[counts[place]] ?? `used ${counts[place]} times`}`).join(" · ");
}
