// A sentence of the translation as the reader writes it. Where the server collects corrections, it can be kept as one.

import { button, h } from "./dom.js";
import { keepsCorrections } from "./models.js";
import { askJson } from "./network.js";
import { direction } from "./text.js";

/**
 * @param {object} of
 * @param {{source: string, text: string}} of.sentence
 * @param {{from: string, to: string}} of.languages
 * @param {(text: string|null) => void} of.done with the new text; null if nothing changes
 * @param {(text: string) => void} of.say
 */
export function editor({ sentence, languages, done, say }) {
  const box = h("textarea", { "aria-label": "Your translation", "data-key": "edit", dir: direction(sentence.text, languages.to), rows: 3 }, sentence.text);
  const keep = h("input", { type: "checkbox" });
  const problem = h("p", { class: "note bad small", hidden: true });

  async function save() {
    const text = box.value.trim();
    if (!text || text === sentence.text) return done(null);
    if (keep.checked)
      try {
        await askJson("/suggest", { q: sentence.source, s: text, source: languages.from, target: languages.to });
        say("Kept as a correction.");
      } catch (error) {
        problem.hidden = false;
        problem.textContent = `The correction was not kept: ${error.message}`;
        keep.checked = false;
        return;
      }
    done(text);
  }

  const element = h(
    "form",
    {
      class: "stack edit",
      onsubmit: (event) => {
        event.preventDefault();
        save();
      },
      onkeydown: (event) => {
        if (event.key === "Escape") done(null);
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        if (event.key === "Escape") event.stopPropagation();
      },
    },
    box,
    keepsCorrections() ? h("label", { class: "small" }, keep, " Also send it to the people who run this server, as a correction") : null,
    problem,
    h(
      "p",
      { class: "row" },
      h("button", { type: "submit", class: "main" }, "Done"),
      button("Cancel", () => done(null)),
    ),
  );
  return { element, focus: () => box.focus() };
}
