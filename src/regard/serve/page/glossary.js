// Words that must be translated in one way, one pair a line. The receipt under the translation says what became of them.

import { h } from "./dom.js";
import { current, select, subscribe } from "./state.js";

/** "mouse = souris" and "mouse → souris" are what people type; the server reads a tab between the two. */
export function asTabs(text) {
  return text
    .split("\n")
    .map((line) => line.split(/\t|\s*(?:→|=>|=)\s*/).map((part) => part.trim()))
    .filter((parts) => parts.length === 2 && parts.every(Boolean))
    .map((parts) => parts.join("\t"))
    .join("\n");
}

export function glossaryFold() {
  const shown = (sel) => sel.glossary.replaceAll("\t", " = ");
  const box = h("textarea", {
    rows: 4,
    id: "glossary",
    placeholder: "mouse = souris\nregard = regard",
    "aria-describedby": "glossary-help",
  });
  box.value = shown(current());
  box.addEventListener("change", () => select({ glossary: asTabs(box.value) }));
  const stop = subscribe((sel) => {
    if (!box.isConnected) return stop();
    if (document.activeElement !== box) box.value = shown(sel);
  });
  return h(
    "details",
    { class: "fold", open: Boolean(current().glossary) },
    h("summary", {}, "Words to translate in your way"),
    h(
      "div",
      { class: "stack" },
      h("label", { class: "field" }, h("span", {}, "Glossary"), box),
      h(
        "p",
        { class: "small quiet", id: "glossary-help" },
        "One pair a line, as it stands in the text and as you want it. A word that equals itself stays " +
          "untranslated. Numbers, links and placeholders are kept without being asked.",
      ),
    ),
  );
}
