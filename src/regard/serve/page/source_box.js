// The text to translate. What is typed reaches the selection after a short rest, so that the server is not asked for
// every letter; it survives a reload, and a server that went away.

import { h } from "./dom.js";
import { current, select, subscribe } from "./state.js";
import { direction, length } from "./text.js";

const REST = 300; // milliseconds
export const LONGEST = 20_000; // characters that a link and this box hold; longer text goes in as a file

export function sourceBox({ label = "Text to translate", rows = 3, placeholder = "Type or paste text" } = {}) {
  const box = h("textarea", {
    id: "source-text",
    rows,
    placeholder,
    "aria-label": label,
    maxlength: LONGEST,
    spellcheck: "true",
    autocapitalize: "sentences",
    dir: direction(current().text),
    class: "reading",
    "data-key": "source-text",
  });
  box.value = current().text;
  let timer = null;
  const commit = () => {
    clearTimeout(timer);
    timer = null;
    select({ text: box.value }, { typing: true });
  };
  box.addEventListener("input", () => {
    box.dir = direction(box.value);
    clearTimeout(timer);
    timer = setTimeout(commit, REST);
  });
  box.addEventListener("blur", () => timer && commit());
  const stop = subscribe((sel) => {
    if (!box.isConnected) return stop();
    if (timer || box.value === sel.text) return;
    box.value = sel.text;
    box.dir = direction(sel.text);
  });
  return box;
}

export const countText = (text) => `${length(text).toLocaleString("en")} of ${LONGEST.toLocaleString("en")} characters`;
