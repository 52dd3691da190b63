// Words that must be translated in one way, one pair a line. The receipt under the translation says what became of them.

import { h } from "./dom.js";
import { current, select, subscribe } from "./state.js";

export function glossaryFold() {
  const box = h("textarea", {
    rows: 4,
    id: "glossary",
    placeholder: "mouse = souris\nregard = regard",
    "aria-describedby": "glossary-help",
  });
  box.value = current().glossary;
  box.addEventListener("change", () => select({ glossary: box.value }));
  const stop = subscribe((sel) => {
    if (!box.isConnected) return stop();
    if (document.activeElement !== box) box.value = sel.glossary;
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
        "One pair a line, divided by = or a tab, as in a file for regard translate --glossary. A word that equals itself " +
          "stays untranslated. Numbers, links and placeholders are kept in any case.",
      ),
    ),
  );
}
