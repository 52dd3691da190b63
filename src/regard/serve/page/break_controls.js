// The controls of Break it: a slider, a switch or buttons for each part of a model that can be weakened or removed.

import { button, h, show } from "./dom.js";
import * as questions from "./questions.js";
import { current, select } from "./state.js";
import { decimal } from "./text.js";

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

/** The parts of a model as controls; `answer` is that of `GET /api/break`. */
export function drawControls(answer, sel) {
  const now = questions.settingsOf(sel.broken);
  const layers = Object.entries(answer.residual);
  if (!answer.scores && !answer.heads.length)
    return h("p", { class: "note" }, "This model has none of the parts that can be removed here; a Transformer has.");
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
    "aria-label": label, // its label has an output, too, which takes the name
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

const switches = { open: false }; // whether the reader has opened them
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
    {
      class: "fold head-switches",
      open: gone.size > 0 || switches.open,
      ontoggle: (event) => (switches.open = event.currentTarget.open),
    },
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
