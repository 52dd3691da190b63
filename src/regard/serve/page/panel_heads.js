// Panel C: every layer and head as a small picture with three numbers; a head can be cut.

import { shownMap } from "./attention_view.js";
import { button, h } from "./dom.js";
import { thumbnail } from "./heatmap.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { rovingLine } from "./roving.js";
import { current, select } from "./state.js";
import { decimal } from "./text.js";
import { diffLine, dropText } from "./words.js";

/** @param {{seeInPicture?: (panel: string) => void}} [how] how to show the chosen head; without it there is no such action */
export function headsPanel({ seeInPicture } = {}) {
  const see = seeInPicture && (() => seeInPicture("heads"));
  const sheet = live({
    question: questions.attention,
    draw: (answer, sel) => drawSheet(answer, sel, see),
    caption: sheetCaption,
  });
  const cut = live({
    question: questions.cut,
    draw: drawCut,
    caption: (answer) => `heads set to zero: ${written(answer.heads)} · the rest of the model is unchanged`,
    empty: "No head is cut.",
  });
  return panel(
    {
      id: "heads",
      letter: "C",
      title: "Every head",
      lede:
        "A row for each layer, a column for each head. Low entropy: the head looks at one word; high: at " +
        "many. Translating without a head shows whether the translation needs it.",
    },
    sheet,
    cut,
  );
}

const nameOf = (kind, layer, head) => `${kind}.${layer}.${head}`;
const written = (heads) => heads.map(([kind, layer, head]) => `${kind} layer ${layer} head ${head}`).join(", ");

function drawSheet(answer, sel, see) {
  const shown = shownMap(answer, sel);
  const gone = new Set(questions.headsOf(sel.cut).map((one) => nameOf(...one)));
  return [
    h(
      "div",
      { class: "sheet scroll", role: "group", "aria-label": `${answer.title}: layers and heads` },
      answer.layers.map((heads, l) =>
        rovingLine(
          h(
            "div",
            { class: "layer", role: "group", "aria-label": `layer ${l + 1}` },
            h("span", { class: "layer-name" }, `layer ${l + 1}`),
            heads.map((map) =>
              thumb(
                answer,
                map,
                map.layer === shown.layer && map.head === shown.head,
                gone.has(nameOf(answer.kind, map.layer, map.head)),
              ),
            ),
          ),
          "button",
          shown.layer === l + 1 && shown.head ? shown.head - 1 : 0,
        ),
      ),
    ),
    headControls(answer, shown, sel, see),
  ];
}

function thumb(answer, map, on, gone) {
  const aer = map.aer
    ? Object.entries(map.aer)
        .map(([text, value]) => `AER ${decimal(value, 1)}% on ${text}`)
        .join(", ")
    : "AER not evaluated";
  const numbers = [
    `entropy ${decimal(map.entropy, 1)} bits`,
    `${answer.hidden_name} mass ${decimal(map.hidden_mass)}`,
    ...(answer.kind === "cross" ? [aer] : []),
  ].join(", ");
  return h(
    "button",
    {
      type: "button",
      class: gone ? "thumb gone" : "thumb",
      "aria-pressed": String(on),
      "data-key": `head-${map.layer}-${map.head}`,
      title: numbers,
      "aria-label": `layer ${map.layer} head ${map.head}${gone ? ", cut" : ""}: ${numbers}`,
      onclick: () => select({ layer: map.layer, head: map.head }),
    },
    thumbnail(map.values, map.problems, 72, 72),
    h(
      "span",
      {},
      `${map.head}`,
      h("i", {}, ` ${decimal(map.entropy, 1)} b`),
      map.aer ? h("i", { class: "known" }, ` AER ${decimal(Object.values(map.aer)[0], 0)}%`) : null,
    ),
  );
}

function headControls(answer, shown, sel, see) {
  if (!shown.head) return h("p", { class: "quiet small" }, "Choose a head to see it, or to translate without it.");
  const name = nameOf(answer.kind, shown.layer, shown.head);
  const now = sel.cut.split(" ").filter(Boolean);
  const gone = now.includes(name);
  const change = gone ? now.filter((one) => one !== name) : [...now, name];
  return h(
    "p",
    { class: "row" },
    see ? button(`See head ${shown.head} of layer ${shown.layer}`, see, { "data-key": "see-head", class: "main" }) : null,
    button(
      gone ? `Restore head ${shown.head} of layer ${shown.layer}` : `Cut head ${shown.head} of layer ${shown.layer}`,
      () => select({ cut: change.join(" ") }),
      { "data-key": "cut", title: "Translate with the output of this head set to zero" },
    ),
    now.length ? button(`Restore all ${now.length}`, () => select({ cut: "" }), { "data-key": "restore" }) : null,
  );
}

function drawCut(answer) {
  return h(
    "div",
    { class: "card" },
    h("h3", {}, answer.changed ? "Without it, the model says" : "Without it, the model says the same"),
    diffLine(answer.diff),
    h("p", { class: "quiet" }, dropText(answer.drop), "."),
    worst(answer),
  );
}

function worst(answer) {
  const most = Math.max(...answer.word_drops);
  if (!(most > 0.05)) return null;
  return h(
    "p",
    { class: "quiet small" },
    `It mattered most for “${answer.target_words[answer.word_drops.indexOf(most)]?.text}” (−${decimal(most)} log p).`,
  );
}

function sheetCaption(answer) {
  const reading = answer.kind === "encoder" ? "" : `${answer.reading.replace("_", " ")} · `;
  const known = "entropy in bits, mean over rows · AER where it was measured, else not evaluated";
  return `${reading}${known} · ${answer.how} · ${current().units}`;
}
