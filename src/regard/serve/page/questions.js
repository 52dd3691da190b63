// What the page asks for a selection: one function for each question, so that a page saved as one file can hold exactly
// the answers that its panels will ask for.

import { ask, isSaved, savedAnswers } from "./api.js";
import { hasFormality, languages, modelName, modelOf, pairOf, pivot } from "./models.js";
import { chosenText } from "./state.js";

const TRANSLATE = "/api/translate";

/** @typedef {{path: string, body: object}} Question */

/** The sentence, as every explanation names it. */
const sentenceOf = (sel) => ({ model: modelName(sel.model), text: sel.text, sentence: sel.sentence });

/** The text of the sentence that the page shows: the reader's choice, a result of the search, or the translation. */
async function shownText(sel) {
  const chosen = chosenText(sel);
  if (chosen) return chosen;
  const wanted = sel.hypothesis || sel.beam ? lattice(sel) : translation(sel);
  const found = await ask(wanted.path, wanted.body);
  if (wanted.path === "/api/translate") return found.translations[0].sentences[sel.sentence]?.text;
  return sel.hypothesis ? found.nbest[sel.hypothesis]?.text : found.translation;
}

/** Explanations are of the text that is shown, whatever they are computed by; null if there is none. */
async function asked(path, sel, more = {}) {
  if (!sel.text.trim()) return null;
  const shown = await shownText(sel);
  return shown ? { path: `/api/${path}`, body: { ...sentenceOf(sel), translation: shown, ...more } } : null;
}

export const words = (sel) => asked("words", sel);
export const anatomy = (sel) => asked("anatomy", sel);
export const anatomyPart = (sel, part, more) => asked("anatomy/part", sel, { part, ...more });
/** The model as pictures, or an architecture by its sizes: "rnn-attention:notes". */
export const diagram = (sel) => asked("diagram", sel, { drawn: sel.drawn || undefined });
export const lens = (sel) => asked("lens", sel);
export const evidence = (sel) => asked("evidence", sel);

/** What the reader asks of a translation. */
const wishes = (sel) => ({
  glossary: sel.glossary.trim() || undefined,
  formality: (hasFormality(sel) && sel.formality) || undefined,
});

export const translation = (sel) => {
  if (!sel.text.trim()) return null;
  const kept = isSaved() && !sel.model && savedAnswers().find((one) => one.path === TRANSLATE && one.body.text === sel.text);
  if (kept) return { path: kept.path, body: kept.body };
  return { path: TRANSLATE, body: { ...translator(sel), text: sel.text, words: true, ...wishes(sel) } };
};

/** Who translates: one model, which explanations need, or whatever models lead from a language to another. */
function translator(sel) {
  const now = languages(sel);
  if (sel.view !== "translate" || (!now.detect && pairOf(now)?.models.length === 1)) return { model: modelName(sel.model) };
  return { source: now.detect ? undefined : now.from, target: now.to, through: pivot() || undefined };
}

export const attention = (sel, kind = sel.kind) =>
  asked("attention", sel, {
    kind,
    units: sel.units === "pieces" ? "pieces" : undefined,
    reading: kind === "cross" && sel.reading ? sel.reading : undefined,
  });

export const lattice = (sel, resume = undefined) => {
  const body = { ...sentenceOf(sel), beam: sel.beam || undefined, resume };
  return sel.text.trim() ? { path: "/api/lattice", body } : null;
};

/** `layer` and `head` are those that are really shown: 0 in the selection means the card's choice. */
export const step = (sel, layer, head) => asked("step", sel, { kind: sel.kind, layer, head, position: sel.step });

export const cut = async (sel) => {
  const heads = headsOf(sel.cut);
  return heads.length ? asked("cut", sel, { heads }) : null;
};

/** The model without some of its parts. */
export const broken = (sel) =>
  sel.text.trim() ? { path: "/api/break", body: { ...sentenceOf(sel), ...settingsOf(sel.broken) } } : null;

/** What else could stand at a word of a translation. */
export const alternatives = (sel, translation, position) => ({
  path: "/api/alternatives",
  body: { ...sentenceOf(sel), translation, position, ...wishes(sel) },
});

/** Other translations of a sentence than the shown one. */
export const wordings = (sel, sentence, translation) => ({
  path: "/api/wordings",
  body: { ...sentenceOf(sel), sentence, translation, ...wishes(sel) },
});

/** The words of a translation with the shares of source and preceding words, which take longer than all the rest. */
export const shares = (sel, translation) => ({
  path: "/api/words",
  body: { ...sentenceOf(sel), translation, share: true },
});

export const choice = (sel, text) => {
  const words = sel.choices.split(/[\s,]+/).filter(Boolean);
  return text.trim() && words.length > 1
    ? { path: "/api/choice", body: { model: modelName(sel.model), text, sentence: 0, words } }
    : null;
};

export const bleu = (sel, hypothesis) => {
  const references = sel.reference
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return hypothesis && references.length ? { path: "/api/bleu", body: { hypothesis, references } } : null;
};

export const positions = () => ({ path: "/api/positions", body: { width: 64, length: 64 } });

export const neighbours = (sel) =>
  sel.text.trim() && modelOf(sel.model)?.neighbours ? { path: "/api/neighbours", body: { model: modelName(sel.model), text: sel.text } } : null;

/** "cross.2.4 encoder.1.1" → [["cross", 2, 4], ["encoder", 1, 1]] */
export function headsOf(written) {
  return [...written.matchAll(/\b(cross|encoder|decoder)\.(\d{1,3})\.(\d{1,3})\b/g)].map(([, kind, layer, head]) => [
    kind,
    Number(layer),
    Number(head),
  ]);
}

/** "scores=8 mask=0" → what is asked of the model; what is not written is as trained. */
export function settingsOf(written) {
  const given = Object.fromEntries(written.split(" ").map((word) => word.split("=")));
  const number = (name, most) => {
    const value = Number.parseFloat(given[name]);
    return value >= 0 && value <= most ? value : 1;
  };
  return {
    scores: number("scores", 64),
    positions: number("positions", 1),
    residual: number("residual", 1),
    residual_at: given.at ?? "",
    mask: given.mask !== "0",
    heads: headsOf(given.heads ?? ""),
  };
}
