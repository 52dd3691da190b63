// A view of the lessons: the text as the model reads it, in pieces with numbers.

import { h } from "./dom.js";
import { live, panel } from "./live.js";
import { modelName } from "./models.js";

export function piecesView() {
  const view = live({
    question: (sel) =>
      sel.text.trim() ? { path: "/api/tokens", body: { model: modelName(sel.model), text: sel.text } } : null,
    draw: (answer) =>
      h(
        "ol",
        { class: "pieces" },
        answer.pieces.map((piece) => h("li", {}, h("span", { dir: "auto" }, piece.text), h("small", {}, piece.id))),
      ),
    caption: (answer) => `${answer.count} pieces · below each its number in the model’s vocabulary`,
  });
  return panel(
    {
      id: "pieces",
      title: "The text in pieces",
      lede: "Frequent words are whole, rare ones are cut; ▁ marks where a word begins.",
    },
    view,
  );
}
