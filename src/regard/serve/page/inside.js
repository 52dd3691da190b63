// The second entrance: all panels under one text, with an index at their side.

import { ask, isSaved } from "./api.js";
import { button, h, show } from "./dom.js";
import { explains, modelOf, modelPicker } from "./models.js";
import { alignPanel } from "./panel_align.js";
import { beamPanel } from "./panel_beam.js";
import { bleuPanel } from "./panel_bleu.js";
import { evidencePanel } from "./panel_evidence.js";
import { headsPanel } from "./panel_heads.js";
import { lensPanel } from "./panel_lens.js";
import { modelPanel } from "./panel_model.js";
import { positionsPanel } from "./panel_positions.js";
import { selfPanel } from "./panel_self.js";
import { stepPanel } from "./panel_step.js";
import { wordsPanel } from "./panel_words.js";
import { examplesOf } from "./examples.js";
import { picturePanel } from "./picture.js";
import { partOf } from "./places.js";
import * as questions from "./questions.js";
import { savedPicker } from "./saved.js";
import { sentenceChooser } from "./sentences.js";
import { sourceBox } from "./source_box.js";
import { current, observe, select, takeLanding } from "./state.js";
import { decimal, large } from "./text.js";

export const PANELS = {
  words: wordsPanel,
  align: alignPanel,
  heads: headsPanel,
  self: selfPanel,
  step: stepPanel,
  beam: beamPanel,
  bleu: bleuPanel,
  positions: positionsPanel,
  evidence: evidencePanel,
  lens: lensPanel,
  model: modelPanel,
};

const WITHOUT_TORCH = [wordsPanel, bleuPanel]; // what a server shows that only translates

export function insideEntrance() {
  const named = (id) => panels.find((panel) => panel.id === id);
  const picture = explains() ? picturePanel({ named, jump }) : null;
  const others = (explains() ? Object.values(PANELS) : WITHOUT_TORCH).map((make) => make({ seeInPicture }));
  const panels = [picture, ...others].filter(Boolean);
  if (picture) for (const panel of others) addWayBack(panel);
  const about = h("div", { class: "small" });
  const sentence = sentenceChooser();
  let fresh = true; // an empty page opens with an example; a text that was removed stays removed
  const links = panels.map((panel) =>
    h(
      "a",
      { href: `#panel-${panel.id}`, "data-panel": panel.id, onclick: (event) => (event.preventDefault(), jump(panel)) },
      h("b", { "aria-hidden": "true" }, panel.letter ?? ""),
      panel.title,
    ),
  );
  const element = h(
    "div",
    { class: "inside" },
    h(
      "nav",
      { class: "index", "aria-label": "Panels" },
      h(
        "ol",
        {},
        links.map((link) => h("li", {}, link)),
      ),
    ),
    h(
      "div",
      { class: "panels" },
      h(
        "section",
        { class: "stack", "aria-label": "Text and model" },
        h(
          "div",
          { class: "row" },
          h(
            "label",
            { class: "row" },
            h("span", { class: "quiet small" }, "Model"),
            modelPicker("model", { title: "Model" }),
          ),
          isSaved() ? savedPicker() : null,
          sentence.choose,
        ),
        sentence.line,
        sourceBox({ rows: 2, placeholder: "Type a sentence to look at" }),
        about,
        explains() ? null : torchNotice(),
      ),
      panels.map((panel) => panel.element),
    ),
  );
  const seen = new Set();
  let landed = null; // the panel that was jumped to, until the reader scrolls
  const watch = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) seen[isIntersecting ? "add" : "delete"](target.id);
      markCurrent();
    },
    { rootMargin: "-15% 0px -60% 0px" },
  );
  for (const panel of panels) watch.observe(panel.element);
  // Panels above the landing place grow when their answers come.
  new ResizeObserver(() => landed && element.isConnected && landed.element.scrollIntoView()).observe(element);
  for (const gesture of ["wheel", "touchmove", "keydown", "pointerdown"])
    element.addEventListener(gesture, () => (landed = null), { passive: true });

  function markCurrent() {
    const first = landed ?? panels.find((panel) => seen.has(`panel-${panel.id}`)) ?? panels[0];
    for (const link of links) {
      if (link.dataset.panel === first.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** The address holds the selection, so a jump must not write into it. */
  function jump(panel) {
    landed = panel;
    panel.element.scrollIntoView(); // at once: panels that are scrolled over would all ask
    panel.element.focus({ preventScroll: true });
    markCurrent();
  }

  /** Open the part of the picture that a panel is about. */
  function seeInPicture(id) {
    const part = partOf(id, current(), picture.has);
    select({ part, query: -1, key: -1 });
    jump(picture);
  }

  /** The way back to the picture. */
  function addWayBack(panel) {
    const go = () => seeInPicture(panel.id);
    panel.element.querySelector("header").append(button("Show in the whole model", go, { class: "small link" }));
  }

  function update(sel = current(), changed = null) {
    if (fresh && !sel.text.trim()) {
      fresh = false;
      const text = examplesOf(modelOf(sel.model)?.source)[0];
      if (text) return select({ text });
    }
    fresh = false;
    aboutModel(about, modelOf(sel.model));
    sentence.update(sel);
    if (!changed || changed.has("view") || changed.has("word")) followWord(sel);
    for (const panel of panels) panel.update(sel, changed);
    const wanted = takeLanding();
    if (wanted) jump(named(wanted));
    return undefined;
  }
  return { element, update };
}

function torchNotice() {
  return h(
    "p",
    { class: "note" },
    "Explanations need PyTorch, which this server lacks; whoever runs it can add it: ",
    h("code", {}, 'pip install "regard[torch]"'),
    ". The panels that work without it are below.",
  );
}

/** A word that was chosen sets the step of the decoder: to that of the word's first piece. A step in a link stays. */
async function followWord(sel) {
  if (sel.word < 0 || sel.step) return;
  const wanted = await questions.words(sel).catch(() => null);
  const found = wanted && (await ask(wanted.path, wanted.body).catch(() => null)); // panel A says what went wrong
  const now = current();
  if (!found || now.word !== sel.word || now.sentence !== sel.sentence || now.step) return;
  observe({ step: found.words.slice(0, sel.word).reduce((sum, word) => sum + word.tokens.length, 0) });
}

function aboutModel(element, model) {
  if (element.dataset.model === (model?.name ?? "")) return; // so that details stay open
  element.dataset.model = model?.name ?? "";
  show(element);
  if (!model) return;
  const size = Number.isFinite(model.parameters) ? ` with ${large(model.parameters)} parameters` : "";
  show(
    element,
    h("p", { class: "quiet" }, `The model: ${model.architecture}${size}.`),
    h("details", { class: "details" }, h("summary", {}, "Details"), h("p", { class: "caption" }, modelLine(model))),
  );
}

function modelLine(model) {
  const aer = model.view?.aer
    ? `alignment error rate of its view ${Object.entries(model.view.aer)
        .map(([text, value]) => `${decimal(value, 1)}% on ${text}`)
        .join(", ")}`
    : "alignment error rate not evaluated";
  const layers = model.layers ? `${model.layers.encoder} + ${model.layers.decoder} layers` : "";
  return [
    layers,
    model.heads ? `${model.heads} heads` : "",
    aer,
  ]
    .filter(Boolean)
    .join(" · ");
}
