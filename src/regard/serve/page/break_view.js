// A view of the lessons: the model with a part weakened or removed, and what that costs.

import { ask } from "./api.js";
import { drawControls } from "./break_controls.js";
import { button, h, headRow } from "./dom.js";
import { live, panel } from "./live.js";
import { modelName } from "./models.js";
import * as questions from "./questions.js";
import { select } from "./state.js";
import { decimal } from "./text.js";
import { dropText } from "./words.js";

const KEPT = 6; // settings that the list below shows

export function breakView() {
  const switches = live({ question: parts, draw: drawControls, empty: "" });
  const tried = new Map(); // settings → what they cost, for one model and sentence
  let about = "";
  const result = live({
    question: questions.broken,
    draw: (answer, sel) => {
      const now = `${answer.model} ${answer.read}`;
      if (now !== about) tried.clear();
      about = now;
      tried.set(sel.broken, answer);
      return [drawResult(answer, sel), drawTried(tried, sel)];
    },
    caption: (answer) =>
      [
        answer.measured &&
          `loss: nats per piece of ${answer.measured.sentences} sentences of the grammar, each piece predicted from the right ` +
            "ones before it (teacher forcing) · choices: as many equally probable pieces have this loss · BLEU: of their greedy translations",
        "nothing is trained again",
        answer.how,
      ]
        .filter(Boolean)
        .join(" · "),
  });
  return panel(
    {
      id: "break",
      title: "Break it",
      lede: "Remove a part of the trained model and see what it loses. Nothing is trained again.",
    },
    switches,
    result,
  );
}

const parts = (sel) => ({ path: `/api/break?model=${encodeURIComponent(modelName(sel.model))}`, body: null });

// ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function drawResult(answer, sel) {
  const whole = !sel.broken;
  return h(
    "div",
    { class: "stack" },
    answer.measured ? figures(answer.measured, whole) : null,
    h(
      "div",
      { class: "card" },
      h("h3", {}, whole ? "The model as trained says" : answer.changed ? "Now the model says" : "The model still says"),
      h("p", { class: "reading", dir: "auto" }, answer.broken_translation || "(nothing)"),
      answer.changed ? h("p", { class: "quiet", dir: "auto" }, `As trained: ${answer.own_translation}`) : null,
      whole ? null : h("p", { class: "quiet small" }, `${dropText(answer.drop)}.`),
    ),
    remarks(questions.settingsOf(sel.broken), answer),
  );
}

function figures({ sentences, whole, broken }, unchanged) {
  const row = (name, found) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      h("td", {}, decimal(found.loss)),
      h("td", {}, choices(found.loss)),
      h("td", { class: "meter", vars: { "--p": `${Math.min(100, found.bleu).toFixed(1)}%` } }, decimal(found.bleu, 1)),
    );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "plain measured" },
      h("caption", { class: "small quiet" }, `Measured on ${sentences} sentences. Choices: among how many pieces it is undecided.`),
      headRow(["", "loss", "choices", "BLEU"]),
      h("tbody", {}, row("as trained", whole), unchanged ? null : row("now", broken)),
    ),
  );
}

/** A loss as the number of equally probable pieces that has the same loss. */
const choices = (loss) => decimal(Math.exp(loss), loss < Math.log(10) ? 1 : 0);

/** What the changes mean. */
function remarks(now, { measured }) {
  const found = [];
  if (now.scores > 1)
    found.push("Larger scores make the softmax nearly one-hot: each position reads one other, and a little error cannot be averaged out.");
  if (now.scores < 1)
    found.push("Smaller scores make all weights alike: every position gets nearly the same average, as without attention.");
  if (now.positions === 0)
    found.push("Without positions the encoder reads a bag of words: adjectives may go to another noun, and the decoder loses count of where it is.");
  if (now.residual < 1)
    found.push("x is the state that all layers write into. Without it a layer hands on only its own update, and what the layers before found is lost.");
  if (!now.mask)
    found.push(
      "The translation is the same: while it is written there are no later words to look at. The loss is measured with the right " +
        `translation as input, where a position can now see the word that it has to predict. ${
          measured ? "It does not fall but rises: this model never learned to use what is ahead." : ""
        } A model that is trained without the mask copies that word, has almost no loss, and cannot translate (regard claims --only mask).`,
    );
  if (now.heads.length)
    found.push("Other heads often do the same work, so that one head is rarely missed. Remove more of one layer to see which layer is.");
  return found.length ? h("ul", { class: "remarks small" }, found.map((text) => h("li", {}, text))) : null;
}

function drawTried(tried, sel) {
  if (tried.size < 2) return null;
  const rows = [...tried].slice(-KEPT);
  const score = ([, answer]) => answer.measured?.broken ?? null;
  const measured = rows.some((row) => score(row));
  return h(
    "details",
    { class: "fold tried", open: tried.open, ontoggle: (event) => (tried.open = event.currentTarget.open) },
    h("summary", {}, `What you tried: ${rows.length}`),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "plain" },
        headRow(["setting", ...(measured ? ["loss", "BLEU"] : []), "log p lost", ""]),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              { class: row[0] === sel.broken ? "on" : null },
              h("td", {}, row[0] || "as trained"),
              score(row) ? [h("td", {}, decimal(score(row).loss)), h("td", {}, decimal(score(row).bleu, 1))] : null,
              h("td", {}, decimal(row[1].drop)),
              h("td", {}, button("again", () => select({ broken: row[0] }), {
                class: "link small",
                "aria-label": `again: ${row[0] || "as trained"}`,
                "data-key": `again-${row[0]}`,
              })),
            ),
          ),
        ),
      ),
    ),
  );
}
