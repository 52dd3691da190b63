// What had to stay as it is, or be translated in one way, and whether it was.

import { h, headRow } from "./dom.js";

const NAMES = { term: "your words", keep: "your words", phrase: "set phrases", url: "links", email: "links", code: "codes", placeholder: "codes" };
const ORDER = ["your words", "set phrases", "names and numbers", "links", "codes"];

/** What is kept, in words, such as "Names and numbers". */
function kinds(kept) {
  const found = new Set(kept.map((one) => NAMES[one.kind] ?? "names and numbers"));
  const text = ORDER.filter((name) => found.has(name)).join(", ");
  return text[0].toUpperCase() + text.slice(1);
}

/** @param {any} row a translation of /api/translate */
export function receipt(row) {
  const kept = row.sentences.flatMap((sentence) => sentence.protected ?? []);
  if (!kept.length) return null;
  const outcome = (one) => (one.note ? `${one.status}: ${one.note}` : one.status);
  const columns = ["In the source", "Kind", "In the translation", "Outcome"];
  return h(
    "details",
    { class: "fold" },
    h("summary", {}, `${kinds(kept)} kept: ${kept.filter((one) => one.status !== "missing").length} of ${kept.length}`),
    h(
      "table",
      { class: "plain" },
      headRow(columns),
      h(
        "tbody",
        {},
        kept.map((one) =>
          h(
            "tr",
            {},
            [one.text, one.kind, one.wanted, outcome(one)].map((text) => h("td", { dir: "auto" }, text)),
          ),
        ),
      ),
    ),
  );
}
