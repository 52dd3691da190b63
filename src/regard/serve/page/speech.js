// The translation read aloud by the browser; nothing where the browser has no voice for the language.

import { icon } from "./dom.js";

const SPEAKER = "M4 9v6h4l5 4V5L8 9zM16.5 8.5a5 5 0 0 1 0 7M19 6a9 9 0 0 1 0 12";

/**
 * @param {{text: () => string, language: () => string}} of what is read
 * @returns {{element: HTMLElement, update: (has: boolean) => void}}
 */
export function speech({ text, language }) {
  const voices = globalThis.speechSynthesis ?? null;
  const element = icon("Listen", SPEAKER, () => (voices.speaking ? voices.cancel() : read()), { hidden: true });
  let has = false;

  /** Only voices on this machine: others send the text elsewhere. */
  function voice() {
    const speaks = (one) => one.localService && one.lang.split(/[-_]/)[0].toLowerCase() === language();
    return (voices?.getVoices() ?? []).find(speaks) ?? null;
  }

  function read() {
    const said = new SpeechSynthesisUtterance(text());
    said.voice = voice();
    said.lang = said.voice.lang;
    said.onstart = () => element.setAttribute("aria-pressed", "true");
    said.onend = said.onerror = () => element.setAttribute("aria-pressed", "false");
    voices.speak(said);
  }

  function update(now = has) {
    has = now;
    element.hidden = !has || !voice();
    if (!has) voices?.cancel();
  }
  voices?.addEventListener?.("voiceschanged", () => update());
  return { element, update };
}
