// The one selection that drives every panel. It lives in the part of the address after #, which browsers do not send
// to any server, so a shared link shows exactly this view and the text stays between the two people.

/**
 * Every part of the selection with its value at the start; the type of that value is the type of the part.
 * Layers and heads count from 1; 0 is the view that the model's card names, and head −1 the mean of all heads.
 */
export const START = Object.freeze({
  view: "translate", // translate | inside | lesson
  model: "", // chosen by name; "" is the one for the languages
  from: "", // source language; "" is detected
  to: "", // target language; "" is that of the server's first model
  detected: "", // the source language that was detected last
  beside: "", // a second model, shown side by side
  text: "",
  edits: "", // translations that the reader chose instead of the model's: JSON, sentence number → text
  sentence: 0, // of the text, from 0
  word: -1, // target word, from 0; −1 is none
  source: -1, // source word
  hypothesis: 0, // place in the n-best list, from 0
  kind: "cross", // cross | encoder | decoder
  layer: 0,
  head: 0,
  reading: "", // predicting | having_read; "" is the card's
  units: "words", // words | pieces
  scale: "linear", // linear | root
  cut: "", // heads that are cut: "cross.2.4 encoder.1.1"
  self: "encoder", // the self-attention of the arcs: encoder | decoder
  depth: 0, // its layer; 0 is the last
  arc: 0, // its head; 0 is all of them
  step: 0, // the decoding step whose numbers are shown
  drawn: "", // what is drawn as a diagram: architecture:preset, such as rnn:small; "" is the model
  part: "", // of the whole model, such as decoder.2.cross.3; "" is the stack
  query: -1, // the row and the column of a head whose dot product is shown
  key: -1,
  broken: "", // parts that are weakened or removed: "scores=8 mask=0 heads=cross.2.1,cross.2.2"
  temperature: 10, // of the picture's distributions, in tenths
  beam: 0, // 0 is the model's own
  reference: "", // of BLEU
  pair: "", // the second sentence of a minimal pair
  choices: "il elle", // the words between which a minimal pair decides
  glossary: "",
  formality: "", // formal | informal; "" is the model's choice
  learn: "", // the model to train: rnn | rnn-attention | transformer
  lesson: "",
});

// prettier-ignore
const OF_MODEL = ["broken", "drawn", "edits", "word", "source", "hypothesis", "layer", "head", "reading", "cut", "step", "kind", "depth", "arc", "part", "query", "key"];
/** What a change makes meaningless: it goes back to the start unless it is given too. */
const CLEARS = {
  text: ["edits", "sentence", "word", "source", "hypothesis", "cut", "step", "reference", "query", "key"],
  model: OF_MODEL,
  from: OF_MODEL,
  to: OF_MODEL,
  formality: ["edits", "word", "source", "hypothesis", "step"],
  sentence: ["word", "source", "hypothesis", "step", "reference", "query", "key"],
  edits: ["word", "hypothesis", "step", "query", "key"],
  hypothesis: ["word", "step", "query", "key"],
  part: ["query", "key"],
  kind: ["layer", "head"],
  word: ["step"], // the step follows the word
};

const POINTING = ["word", "source", "step"]; // where the reader looks: not undone by itself
const NAVIGATION = ["view", "lesson", "part"]; // these make an entry of the browser's own history
const LONGEST = 100;

let selection = { ...START };
const past = [];
const future = [];
const listeners = new Set();

let part = null; // the part of the page with a selection of its own in which the running code is; null is the page

/** The selection of the page, or of the part of it in which this is called. @returns {Readonly<typeof START>} */
export function current() {
  return part ? part.selection() : selection;
}

export const currentPart = () => part;

/** @param {(now: typeof START, changed: Set<string>) => void} listener */
export function subscribe(listener) {
  const all = part?.listeners ?? listeners;
  all.add(listener);
  return () => all.delete(listener);
}

/**
 * Change parts of the selection.
 * @param {Partial<typeof START>} changes
 * @param {{typing?: boolean}} [how] letters typed one after the other are undone together
 */
export function select(changes, { typing = false } = {}) {
  if (part && "view" in changes) changes = { ...part.differing(), ...changes };
  else if (part && !("lesson" in changes)) return part.change(changes);
  const next = withCleared(selection, changes);
  const changed = differences(selection, next);
  if (!changed.size) return;
  if ([...changed].every((key) => POINTING.includes(key))) return put(next, changed, false);
  if (!(typing && past.at(-1)?.typing)) past.push({ selection, typing });
  else past.at(-1).typing = true;
  if (past.length > LONGEST) past.shift();
  future.length = 0;
  put(
    next,
    changed,
    NAVIGATION.some((key) => changed.has(key)),
  );
}

let landing = "";

/** Open Look inside at one of its panels; where it opens is no part of the selection. */
export function openPanel(panel, changes = {}) {
  landing = panel;
  select({ ...changes, view: "inside" });
}

/** The panel at which Look inside is to open, once. */
export function takeLanding() {
  const panel = landing;
  landing = "";
  return panel;
}

/** Keep what was found out about the selection, which the reader neither chose nor can undo. */
export function observe(changes) {
  if (part) return part.change(changes);
  const next = { ...selection, ...changes };
  const changed = differences(selection, next);
  if (changed.size) put(next, changed, false);
}

/** The translation that the reader chose for the sentence, or "". */
export function chosenText(one, sentence = one.sentence) {
  return editsOf(one)[sentence] ?? "";
}

/** Choose a translation for a sentence; "" goes back to the model's own. `word` stays selected. */
export function chooseText(text, { sentence = current().sentence, word = -1 } = {}) {
  const edits = { ...editsOf(current()), [sentence]: text };
  if (!text) delete edits[sentence];
  select({ edits: Object.keys(edits).length ? JSON.stringify(edits) : "", word });
}

function editsOf(one) {
  try {
    const found = JSON.parse(one.edits || "{}");
    return Object.fromEntries(Object.entries(found).filter(([, text]) => typeof text === "string"));
  } catch {
    return {}; // an address that somebody edited
  }
}

/** Run code as a part of the page, so that it reads and changes the selection of that part; null is the page. */
export function within(own, act) {
  const before = part;
  part = own;
  try {
    return act();
  } finally {
    part = before;
  }
}

/**
 * A selection for a part of the page, such as a view of a lesson: that of the page, but for what it begins with and what
 * the reader chooses inside. It is no part of the address and cannot be undone.
 * @param {Partial<typeof START>} first
 */
export function ownSelection(first) {
  let kept = { ...first };
  const tell = (changed) => {
    for (const listener of [...own.listeners]) within(own, () => listener(own.selection(), changed));
  };
  const own = {
    listeners: new Set(),
    selection: () => Object.freeze(withCleared(selection, kept)),
    differing: () => ({ ...kept }),
    change(changes) {
      const before = own.selection();
      const next = withCleared(before, changes);
      const changed = differences(before, next);
      for (const key of changed) kept[key] = next[key];
      if (changed.size) tell(changed);
    },
    /** Begin again, with something else. */
    reset(changes = {}) {
      const before = own.selection();
      kept = { ...first, ...changes };
      tell(differences(before, own.selection()));
    },
    /** Hear of the page's selection: what it makes meaningless is dropped. */
    follow(changed) {
      for (const key of changed ?? []) {
        if (key in kept) continue;
        for (const other of CLEARS[key] ?? []) if (other in kept) own.drop(other);
      }
      tell(changed);
    },
    drop(key) {
      if (key in first) kept[key] = first[key];
      else delete kept[key];
    },
    /** Whatever happens inside the element happens in this part. */
    bind(element) {
      for (const type of EVENTS) element.addEventListener(type, () => enterPart(own), { capture: true });
    },
  };
  return own;
}

// prettier-ignore
const EVENTS = ["click", "change", "input", "keydown", "keyup", "pointerdown", "pointerup", "pointerover", "pointerout", "pointerenter", "pointerleave", "mouseover", "mouseout", "mouseenter", "mouseleave", "focusin", "focusout", "focus", "blur", "toggle", "submit"];

/** Until the handlers of this event are done. */
function enterPart(own) {
  part = own;
  setTimeout(() => (part = null));
}
for (const type of EVENTS) addEventListener(type, () => (part = null), { capture: true });

export function undo() {
  const last = past.pop();
  if (!last) return false;
  future.push({ selection, typing: false });
  put(last.selection, differences(selection, last.selection), false);
  return true;
}

export function redo() {
  const next = future.pop();
  if (!next) return false;
  past.push({ selection, typing: false });
  put(next.selection, differences(selection, next.selection), false);
  return true;
}

export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

/** Take the selection from the address, and again whenever the reader goes back, forward or edits it. */
export function readAddress() {
  // a page saved as one file remembers where it was saved
  const hash = location.hash || decodeURIComponent(document.documentElement.dataset.hash ?? "");
  put(fromHash(hash), new Set(Object.keys(START)), false);
  addEventListener("popstate", () => {
    const next = fromHash(location.hash);
    const changed = differences(selection, next);
    if (changed.size) put(next, changed, null);
  });
}

/** The address of a selection: only what differs from the start is written. */
export function toHash(one) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(one)) {
    if (key !== "view" && value !== START[key]) query.set(key, String(value));
  }
  const written = query.toString();
  return `#/${one.view}${written ? `?${written}` : ""}`;
}

/** The selection of an address; parts that are unknown or of the wrong type stay at the start. */
export function fromHash(hash) {
  const [path, written = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const found = { ...START };
  if (["translate", "inside", "lesson"].includes(path)) found.view = path;
  for (const [key, value] of new URLSearchParams(written)) {
    if (!(key in START) || key === "view") continue;
    if (typeof START[key] === "number") {
      if (/^-?\d{1,6}$/.test(value)) found[key] = Number(value);
    } else found[key] = value;
  }
  return found;
}

function withCleared(now, changes) {
  const next = { ...now };
  for (const [key, value] of Object.entries(changes)) {
    if (value === now[key]) continue;
    for (const other of CLEARS[key] ?? []) next[other] = START[other];
  }
  return { ...next, ...changes };
}

function differences(a, b) {
  return new Set(Object.keys(START).filter((key) => a[key] !== b[key]));
}

/** `enter` says whether the address becomes an entry of the history; null leaves the address alone. */
function put(next, changed, enter) {
  selection = Object.freeze({ ...next });
  if (enter !== null) history[enter ? "pushState" : "replaceState"](null, "", toHash(selection));
  for (const listener of [...listeners]) listener(selection, changed);
}
