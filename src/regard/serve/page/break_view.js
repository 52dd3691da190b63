// A view of the lessons: the model with a part weakened or removed, and what that costs.

import { ask } from "./api.js";
import { button, h, headRow, show } from "./dom.js";
import { live, panel } from "./live.js";
import { modelName } from "./models.js";
import * as questions from "./questions.js";
import { current, select } from "./state.js";
import { decimal } from "./text.js";
import { diffLine, dropText } from "./words.js";

const KEPT = 6; // settings that the list below shows

export function breakView() {
  const switches = live({ question: parts, draw: drawSwitches, empty: "" });
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

// ── the settings, as they stand in the address: "scores=8 positions=0 mask=0 residual=0.5 at=encoder.2 heads=cross.2.1" ──

function written(settings) {
  const heads = settings.heads.map((head) => head.join(".")).join(",");
  const weaker = settings.residual !== 1;
  return [
    ...["scores", "positions", "residual"].map((name) => (settings[name] === 1 ? "" : `${name}=${settings[name]}`)),
    weaker && settings.residual_at ? `at=${settings.residual_at}` : "",
    settings.mask ? "" : "mask=0",
    heads ? `heads=${heads}` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

const change = (some) => select({ broken: written({ ...questions.settingsOf(current().broken), ...some }) });

// ── controls ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function drawSwitches(answer, sel) {
  const now = questions.settingsOf(sel.broken);
  const layers = Object.entries(answer.residual);
  return [
    h(
      "div",
      { class: "breakers" },
      answer.scores ? scoreSlider(answer, now) : null,
      answer.positions ? shareSlider("positions", "Positions", "added to the words", now.positions) : null,
      layers.length ? shareSlider("residual", "Residual sums", "x + f(x)", now.residual, places(layers, now)) : null,
      answer.mask ? maskSwitch(now) : null,
    ),
    answer.heads.length ? headSwitches(answer.heads, now) : null,
    h(
      "p",
      { class: "row" },
      button("Put everything back", () => select({ broken: "" }), { "data-key": "whole", disabled: !sel.broken }),
    ),
  ];
}

/** A slider with its value in words, which changes the model when it is let go. */
function slider({ name, label, what, steps, value, say, remove, normal = 1, extra = null }) {
  const near = steps.reduce((best, step, at) => (Math.abs(step - value) < Math.abs(steps[best] - value) ? at : best), 0);
  const said = h("output", { class: "small" }, say(steps[near]));
  const input = h("input", {
    type: "range",
    min: 0,
    max: steps.length - 1,
    step: 1,
    value: near,
    "aria-valuetext": say(steps[near]),
    "data-key": `break-${name}`,
    oninput: () => {
      const text = say(steps[Number(input.value)]);
      show(said, text);
      input.setAttribute("aria-valuetext", text);
    },
    onchange: () => change({ [name]: steps[Number(input.value)] }),
  });
  const whole = value === normal;
  return h(
    "div",
    { class: whole ? "breaker" : "breaker on" },
    h("label", {}, h("span", {}, label, " ", h("i", { class: "small quiet" }, what)), said, input),
    h(
      "p",
      { class: "row spread" },
      button(whole ? remove.label : "Put back", () => change({ [name]: whole ? remove.value : normal }), {
        class: "link small",
        "data-key": `remove-${name}`,
        "aria-label": whole ? `${remove.label}: ${label}` : `Put back: ${label}`,
      }),
      extra,
    ),
  );
}

function scoreSlider(answer, now) {
  const root = answer.key_size ? Math.sqrt(answer.key_size) : 8;
  const steps = [0, 0.25, 0.5, 1, 2, 4, root].filter((step, at, all) => all.indexOf(step) === at).sort((a, b) => a - b);
  const say = (step) => {
    if (step === 1) return "as trained";
    if (step === 0) return "all equal: every weight is the same";
    const times = `× ${decimal(step, Number.isInteger(step) ? 0 : 2)}`;
    return step === root && answer.key_size ? `${times} = √${answer.key_size}: no scaling` : times;
  };
  const remove = { label: "Remove the scaling", value: root };
  return slider({ name: "scores", label: "Attention scores", what: "Q·K / √d", steps, value: now.scores, say, remove });
}

function shareSlider(name, label, what, value, extra = null) {
  const steps = Array.from({ length: 11 }, (_, at) => at / 10);
  const say = (step) => (step === 1 ? "as trained" : step === 0 ? "removed" : `${Math.round(100 * step)}%`);
  return slider({ name, label, what, steps, value, say, remove: { label: "Remove", value: 0 }, extra });
}

function places(layers, now) {
  const options = [["", "in all layers"]];
  for (const [side, count] of layers) {
    options.push([side, `in the ${side}`]);
    for (let layer = 1; layer <= count; layer += 1) options.push([`${side}.${layer}`, `in ${side} layer ${layer}`]);
  }
  return h(
    "select",
    {
      "aria-label": "Residual sums of which layers",
      "data-key": "break-at",
      onchange: (event) => {
        const weaker = questions.settingsOf(current().broken).residual;
        change({ residual_at: event.target.value, residual: weaker === 1 ? 0 : weaker });
      },
    },
    options.map(([value, text]) => h("option", { value, selected: value === now.residual_at }, text)),
  );
}

function maskSwitch(now) {
  return h(
    "div",
    { class: now.mask ? "breaker" : "breaker on" },
    h(
      "p",
      { class: "row spread" },
      h("span", { class: "name" }, "Causal mask ", h("i", { class: "small quiet" }, "no look ahead")),
      h("output", { class: "small" }, now.mask ? "as trained" : "removed"),
    ),
    h(
      "p",
      {},
      button(now.mask ? "Remove" : "Put back", () => change({ mask: !now.mask }), {
        class: "link small",
        "data-key": "break-mask",
        "aria-label": now.mask ? "Remove: Causal mask" : "Put back: Causal mask",
      }),
    ),
  );
}

const KINDS = { encoder: "in the encoder", decoder: "in the decoder", cross: "from decoder to source" };

function headSwitches(heads, now) {
  const gone = new Set(now.heads.map(String));
  const flip = (some) => {
    const all = some.every((head) => gone.has(String(head)));
    const names = new Set(some.map(String));
    change({ heads: [...now.heads.filter((head) => !names.has(String(head))), ...(all ? [] : some)] });
  };
  const layersOf = (kind) => Map.groupBy(heads.filter((head) => head[0] === kind), (head) => head[1]);
  return h(
    "details",
    { class: "fold head-switches", open: gone.size > 0 },
    h("summary", {}, gone.size ? `Heads: ${gone.size} of ${heads.length} removed` : `Heads: all ${heads.length} there`),
    h(
      "div",
      { class: "head-rows" },
      Object.keys(KINDS)
        .filter((kind) => heads.some((head) => head[0] === kind))
        .map((kind) =>
          h(
            "div",
            { role: "group", "aria-label": `heads ${KINDS[kind]}` },
            h("p", {}, KINDS[kind]),
            [...layersOf(kind)].map(([layer, some]) =>
              h(
                "p",
                { class: "row" },
                h("span", { class: "small quiet" }, `layer ${layer}`),
                some.map((head) => headSwitch(head, gone.has(String(head)), () => flip([head]))),
                some.length > 1 &&
                  button("all", () => flip(some), {
                    class: "plain small",
                    "data-key": `break-${kind}-${layer}`,
                    "aria-label": `all of layer ${layer}`,
                  }),
              ),
            ),
          ),
        ),
    ),
  );
}

function headSwitch(head, gone, flip) {
  return button(head[2], flip, {
    class: gone ? "head gone" : "head",
    "aria-pressed": String(gone),
    "aria-label": `remove head ${head[2]} of layer ${head[1]}`,
    "data-key": `break-${head.join("-")}`,
  });
}

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
      whole || !answer.changed
        ? h("p", { class: "reading", dir: "auto" }, answer.own_translation)
        : diffLine(answer.diff),
      whole ? null : h("p", { class: "quiet small" }, dropText(answer.drop), "."),
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
      h("caption", { class: "small quiet" }, `Measured on ${sentences} sentences`),
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
        } A model that is trained without the mask copies that word, has almost no loss, and cannot translate (claim mask).`,
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
    { class: "fold tried" },
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
              h("td", {}, button("again", () => select({ broken: row[0] }), { class: "link small", "aria-label": `again: ${row[0] || "as trained"}` })),
            ),
          ),
        ),
      ),
    ),
  );
}
