// The decoder step by step: back, play and on, and the temperature of the distribution of the next token.

import { button, h, show } from "./dom.js";
import { current, select } from "./state.js";
import { decimal, percent } from "./text.js";
import { bar } from "./words.js";

const PACE = 1100; // milliseconds for each step

/** The controls stay while the picture is drawn again, so that a slider can be dragged. `show` has the newest answer. */
export function decoderSteps() {
  let timer = null;
  let answer = null; // of /api/anatomy
  const count = () => answer?.target_tokens.length ?? 0;
  const at = () => Math.max(0, Math.min(current().step, count() - 1));
  const go = (step) => select({ step: Math.max(0, Math.min(step, count() - 1)) }, { typing: true });
  const stop = () => {
    clearInterval(timer);
    timer = null;
    update();
  };
  const tick = () => {
    if (!element.isConnected) return stop();
    if (at() < count() - 1) go(at() + 1);
    if (at() >= count() - 1) stop();
    return undefined;
  };
  const play = () => {
    if (timer) return stop();
    if (at() >= count() - 1) go(0);
    timer = setInterval(tick, PACE);
    return update();
  };
  const back = button("◀", () => (stop(), go(at() - 1)), { "aria-label": "Previous step" });
  const start = button("Play", play, { class: "main play" });
  const on = button("▶", () => (stop(), go(at() + 1)), { "aria-label": "Next step" });
  const place = h("input", {
    type: "range",
    min: 0,
    step: 1,
    class: "at",
    "aria-label": "Step of the decoder",
    oninput: () => (timer && stop(), go(Number(place.value))),
  });
  const heat = h("input", {
    type: "range",
    min: 1,
    max: 30,
    step: 1,
    "aria-label": "Temperature",
    oninput: () => select({ temperature: Number(heat.value) }, { typing: true }),
  });
  const where = h("span", { class: "where small" });
  const degree = h("output", {});
  const element = h(
    "div",
    { class: "steps", role: "group", "aria-label": "The decoder step by step" },
    [back, start, on, place, where],
    h("label", { class: "row small" }, h("span", { class: "quiet" }, "Temperature"), heat, degree),
  );

  function update(sel = current()) {
    element.hidden = !answer || !sel.text.trim();
    if (element.hidden) return;
    const step = at();
    start.textContent = timer ? "Pause" : "Play";
    [place.max, place.value] = [count() - 1, step];
    [back.disabled, on.disabled] = [step === 0, step === count() - 1];
    heat.value = sel.temperature;
    degree.textContent = decimal(temperatureOf(answer, sel), 1);
    const [read, said] = [answer.target_tokens[step], answer.predicted_tokens[step]].map((text) =>
      h("b", { dir: "auto" }, text.replace(/^▁/, "")),
    );
    show(where, `Step ${step + 1} of ${count()}: reads `, read, ", predicts ", said);
    place.setAttribute("aria-valuetext", where.textContent);
  }
  const showAnswer = (found, sel) => {
    answer = found;
    update(sel);
  };
  update();
  return { element, update, show: showAnswer };
}

const placeOf = (answer, sel) => Math.max(0, Math.min(Math.round(sel.temperature) - 1, answer.temperatures.length - 1));
export const temperatureOf = (answer, sel) => answer.temperatures[placeOf(answer, sel)];

/** The probabilities of a step at a temperature: exp(logit / τ − log Σ exp(logit / τ)), the sum over the vocabulary. */
export function probabilities(step, answer, sel) {
  const place = placeOf(answer, sel);
  return step.top.map((one) => Math.exp(one.logit / answer.temperatures[place] - step.log_sums[place]));
}

export function distribution(answer, sel, { count = 10 } = {}) {
  const number = Math.max(0, Math.min(sel.step, answer.steps.length - 1));
  const step = answer.steps[number];
  const found = probabilities(step, answer, sel);
  const rest = Math.max(0, 1 - found.reduce((sum, p) => sum + p, 0));
  const said = answer.predicted_tokens[number];
  const rows = step.top.map((one, place) => ({ ...one, p: found[place] }));
  const shown = rows.filter((one, place) => place < count || one.token === said);
  const others = rest + rows.filter((one) => !shown.includes(one)).reduce((sum, one) => sum + one.p, 0);
  return h(
    "table",
    { class: "plain distribution" },
    h("caption", { class: "small quiet" }, `The next token at temperature ${decimal(temperatureOf(answer, sel), 1)}; ▁ begins a word`),
    h(
      "tbody",
      {},
      shown.map((one) =>
        h(
          "tr",
          { class: one.token === said ? "on" : null },
          h("th", { scope: "row", dir: "auto" }, one.token),
          h("td", {}, bar(one.p)),
          h("td", { class: "quiet" }, `logit ${decimal(one.logit, 2)}`),
        ),
      ),
      h(
        "tr",
        {},
        h("th", { scope: "row", class: "quiet" }, `${(answer.vocabulary - shown.length).toLocaleString("en")} others`),
        h("td", {}, bar(others, percent(others))),
        h("td", {}),
      ),
    ),
  );
}
