// A view of the lessons: what is left when the decoder gets the same average of the source at every step.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { decimal } from "./text.js";

export function bottleneckView() {
  const view = live({
    question: async (sel) => {
      const wanted = await questions.attention(sel, "cross");
      if (!wanted) return null;
      const { layers } = await ask(wanted.path, wanted.body);
      const heads = layers.flatMap((layer) => layer.map((map) => ["cross", map.layer, map.head]));
      const { model, text, sentence, translation } = wanted.body;
      return { path: "/api/cut", body: { model, text, sentence, translation, heads, how: "uniform" } };
    },
    draw,
    caption: (answer) =>
      `all ${answer.heads.length} heads between source and translation made uniform · this model was trained with ` +
      `attention, so it suffers more than one that never had it; the course’s claims train both · ${answer.how}`,
  });
  return panel(
    {
      id: "bottleneck",
      title: "One vector for everything",
      lede:
        "Above: the translation with attention. Below: every look at the source is replaced by the same " +
        "average of all its words.",
    },
    view,
  );
}

function draw(answer) {
  const words = Math.max(1, answer.target_words.length);
  return [
    h("p", { class: "reading", dir: "auto" }, answer.translation),
    h("p", { class: "reading quiet", dir: "auto" }, answer.cut_translation || "(nothing)"),
    h(
      "p",
      {},
      `${answer.source_words.length} words in. The translation loses ${decimal(answer.drop / words)} log p a word.`,
    ),
  ];
}
