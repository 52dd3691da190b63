// A view of the lessons: a tiny model learns for a minute, and one watches its loss, its BLEU, a translation and the
// attention of one sentence. The last runs stay, so that two models can be compared.

import { ask, isSaved } from "./api.js";
import { button, choice, h, show } from "./dom.js";
import { heatmap } from "./heatmap.js";
import { lineChart } from "./line_chart.js";
import { panel } from "./live.js";
import { ApiError, askJson, sendJson } from "./network.js";
import { current, select } from "./state.js";
import { decimal } from "./text.js";

const EVERY = 1000; // ms between two questions while a model learns
const PATH = "/api/training";
const NAMES = { rnn: "RNN without attention", "rnn-attention": "RNN with attention", transformer: "Transformer" };

export function learnView() {
  const controls = h("div", { class: "stack" });
  const status = h("p", { role: "status" });
  const body = h("div", { class: "stack" });
  const element = h("div", { class: "live stack learn" }, controls, status, body);
  let runs = [];
  let chosen = 0; // number of the run whose details are shown; 0: the newest
  let at = -1; // which of its looks; −1: the newest
  let waiting = null;
  let begun = false;
  let sel = current();

  async function begin() {
    begun = true;
    if (isSaved()) return refuse("Training needs a server: regard course.");
    const { can } = await ask("/api/lessons");
    if (!can.live) return refuse('Training needs PyTorch: pip install "regard[torch]"');
    if (!can.learn) return refuse("This server trains no models. On your own machine, regard course opens the lessons and trains.");
    return turn(() => askJson(PATH, null));
  }

  const refuse = (text) => show(controls, h("p", { class: "note" }, text));

  /** Ask, draw the answer, and ask again while a model learns and the page shows this view. */
  async function turn(question) {
    clearTimeout(waiting);
    try {
      const before = runs.at(-1);
      const all = (await question()).runs;
      runs = all.filter((run) => isActive(run) || run.looks.length); // without those that ended before they began
      const failed = all.at(-1)?.state === "failed";
      if (runs.at(-1)?.number !== before?.number) [chosen, at] = [0, -1];
      show(status, failed ? h("span", { class: "note bad" }, "The training failed; the server’s log says why.") : null);
    } catch (error) {
      show(status, h("span", { class: "note bad" }, error instanceof ApiError ? error.message : String(error)));
    }
    if (!element.querySelector("input:active")) draw(); // a slider that is being moved stays
    if (isActive(runs.at(-1))) waiting = setTimeout(() => element.isConnected && turn(() => askJson(PATH, null)), EVERY);
  }

  function draw() {
    const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    show(controls, drawControls());
    const run = runs.find((one) => one.number === chosen) ?? runs.at(-1);
    show(body, run ? [drawCurves(), drawRun(run)] : null);
    if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  function drawControls() {
    const active = isActive(runs.at(-1));
    const model = NAMES[sel.learn] ? sel.learn : "rnn-attention";
    return [
      active ? null : choice("Train", Object.entries(NAMES), model, (learn) => select({ learn })),
      h(
        "p",
        { class: "row" },
        active
          ? button("Stop", () => turn(() => sendJson("DELETE", PATH)), { "data-key": "learn-go" })
          : button(`Train it for a minute`, () => turn(() => sendJson("POST", PATH, { model })), {
              class: "main",
              "data-key": "learn-go",
            }),
        active ? progress(runs.at(-1)) : null,
      ),
    ];
  }

  function drawCurves() {
    const end = Math.max(...runs.map((run) => run.seconds));
    const series = (points) => runs.map((run) => ({ name: NAMES[run.model], points: points(run) }));
    const last = (points) =>
      runs.map((run) => `${NAMES[run.model]} ${decimal(points(run).at(-1)?.[1] ?? 0, 1)}`).join(", ");
    const loss = (run) => run.losses;
    const score = (run) => run.looks.map((look) => [look.second, look.bleu]);
    const most = Math.ceil(Math.max(2, ...runs.flatMap((run) => run.losses.map((point) => point[1]))));
    const shown = runs.find((one) => one.number === chosen) ?? runs.at(-1);
    const mark = at < 0 ? null : shown.looks[at]?.second ?? null;
    return h(
      "div",
      { class: "stack" },
      h(
        "div",
        { class: "sides" },
        lineChart({ title: "Loss per word, of the sentences that it learns", label: `loss, now ${last(loss)}`, series: series(loss), end, most, at: mark }),
        lineChart({ title: "BLEU, of sentences that it never sees", label: `BLEU, now ${last(score)}`, series: series(score), end, most: 100, at: mark }),
      ),
      h(
        "p",
        { class: "row small", role: "group", "aria-label": "Runs" },
        runs.map((run, number) =>
          button(
            h("span", { class: `key series-${number}` }, `${NAMES[run.model]}: BLEU ${decimal(run.looks.at(-1)?.bleu ?? 0, 0)}`),
            () => {
              [chosen, at] = [run.number, -1];
              draw();
            },
            { "aria-pressed": String(run === shown), "data-key": `run-${run.number}` },
          ),
        ),
      ),
    );
  }

  function drawRun(run) {
    const look = run.looks[at] ?? run.looks.at(-1);
    if (!look) return h("p", { class: "quiet" }, PREPARING);
    const { source, target } = run.about;
    return h(
      "div",
      { class: "stack" },
      times(run, look),
      h(
        "div",
        { class: "sides maps" },
        h(
          "div",
          { class: "card" },
          h("h3", {}, source.join(" ").replace(/ ([.,])/g, "$1")),
          h("p", { class: "reading" }, look.translation || "(nothing)"),
          h("p", { class: "quiet small" }, "Right would be: ", run.about.reference),
        ),
        look.weights
          ? h(
              "figure",
              {},
              h("figcaption", { class: "small quiet" }, mapTitle(look)),
              h(
                "div",
                { class: "scroll" },
                heatmap({
                  label: "attention of each word of the right translation to the words of the source",
                  rows: target,
                  columns: source,
                  values: look.weights.map((row) => row.slice(0, -1)),
                  hidden: look.weights.map((row) => row.at(-1)),
                }),
              ),
            )
          : h("p", { class: "note" }, "This model has no attention: all of the source comes to it through one vector."),
      ),
      h(
        "p",
        { class: "caption" },
        `${run.about.parameters.toLocaleString("en")} parameters · ${run.about.sentences.toLocaleString("en")} sentences of the grammar, ` +
          `${run.about.words[0].toLocaleString("en")} English and ${run.about.words[1].toLocaleString("en")} French words · ` +
          `BLEU of ${run.about.held_out} held-out sentences · ${run.update.toLocaleString("en")} updates`,
      ),
    );
  }

  /** A slider through the looks of a run; at its end it follows the run. */
  function times(run, look) {
    const last = run.looks.length - 1;
    const now = at < 0 ? last : Math.min(at, last);
    return h(
      "label",
      { class: "row stretch" },
      h("span", { class: "small" }, `after ${decimal(look.second, 0)} seconds, ${look.update.toLocaleString("en")} updates`),
      h("input", {
        type: "range",
        min: 0,
        max: last,
        value: now,
        disabled: !last,
        "data-key": "learn-time",
        "aria-label": "Time of the training that is shown",
        "aria-valuetext": `${decimal(look.second, 0)} seconds`,
        oninput: (event) => {
          const wanted = Number(event.target.value);
          at = wanted === last ? -1 : wanted;
          draw();
        },
      }),
    );
  }

  function update(now = current(), changed = null) {
    sel = now;
    if (!begun) begin();
    else if (changed?.has("learn")) draw();
  }

  return panel(
    {
      id: "learn",
      title: "Watch it learn",
      lede: "A tiny model with random weights learns short sentences of the grammar on this machine. Train a second one to compare.",
    },
    { element, update },
  );
}

const isActive = (run) => run?.state === "preparing" || run?.state === "running";
const PREPARING = "Starting, and making sentences from the grammar; that takes about ten seconds …";

function mapTitle(look) {
  const [layer, head, count] = look.head;
  const which = count > 1 ? `layer ${layer}, head ${head} of ${count}, which aligns best now` : "its one attention";
  return `Attention: ${which}. ${decimal(100 * look.on_links, 0)}% of the weight is on the words that each one translates.`;
}

function progress(run) {
  if (run.state === "preparing") return h("span", { class: "quiet small" }, PREPARING);
  return h(
    "label",
    { class: "row small quiet" },
    h("progress", { max: run.seconds, value: run.second }),
    `${decimal(run.second, 0)} of ${decimal(run.seconds, 0)} seconds`,
  );
}
