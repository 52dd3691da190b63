// What had to stay as it is, or be translated in one way, and whether it was.

import { h, headRow } from "./dom.js";

/** @param {any} row a translation of /api/translate */
export function receipt(row) {
  const kept = row.sentences.flatMap((sentence) => sentence.protected ?? []);
  if (!kept.length) return null;
  const outcome = (one) => (one.note ? `${one.status}: ${one.note}` : one.status);
  const columns = ["In the source", "Kind", "In the translation", "Outcome"];
  return h(
    "details",
    { class: "fold" },
    h("summary", {}, `Kept as asked: ${kept.filter((one) => one.status !== "lost").length} of ${kept.length}`),
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
