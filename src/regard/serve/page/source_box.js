// The text to translate. What is typed reaches the selection after a short rest, so that the server is not asked for
// every letter; it survives a reload, and a server that went away.

import { h } from "./dom.js";
import { current, select, subscribe } from "./state.js";
import { direction, length } from "./text.js";

const REST = 300; // milliseconds
export const LONGEST = 20_000; // characters that a link and this box hold; longer text goes in as a file

/** @param {{told?: (text: string, tooLong: boolean) => void}} [how] `told` hears every letter */
export function sourceBox({ label = "Text to translate", rows = 3, placeholder = "Type or paste text", told } = {}) {
  const box = h("textarea", {
    id: "source-text",
    rows,
    placeholder,
    "aria-label": label,
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
    if (length(box.value) <= LONGEST) select({ text: box.value }, { typing: true });
  };
  if (!CSS.supports("field-sizing", "content")) growWithText(box);
  box.addEventListener("input", () => {
    box.dir = direction(box.value);
    const tooLong = length(box.value) > LONGEST;
    box.setAttribute("aria-invalid", String(tooLong));
    told?.(box.value, tooLong);
    clearTimeout(timer);
    timer = setTimeout(commit, REST);
  });
  box.addEventListener("blur", () => timer && commit());
  const stop = subscribe((sel, changed) => {
    if (!box.isConnected) return stop();
    if (timer || !changed.has("text") || box.value === sel.text) return;
    box.value = sel.text;
    box.dir = direction(sel.text);
  });
  return box;
}

/** What `field-sizing: content` does, for browsers without it. */
function growWithText(box) {
  const fit = () => {
    box.style.minHeight = "";
    if (box.scrollHeight > box.clientHeight) box.style.minHeight = `${box.scrollHeight}px`;
  };
  box.addEventListener("input", fit);
  new ResizeObserver(fit).observe(box); // another text or width
}

export const countText = (text) => `${length(text).toLocaleString("en")} of ${LONGEST.toLocaleString("en")} characters`;
