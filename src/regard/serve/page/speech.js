// The translation read aloud by the browser; nothing where the browser has no voice for the language.

import { button } from "./dom.js";

/**
 * @param {{text: () => string, language: () => string}} of what is read
 * @returns {{element: HTMLElement, update: (has: boolean) => void}}
 */
export function speech({ text, language }) {
  const voices = globalThis.speechSynthesis ?? null;
  const element = button("Listen", () => (voices.speaking ? voices.cancel() : read()), { class: "plain", hidden: true });
  let has = false;

  /** A voice on this machine before one that sends the text elsewhere. */
  function voice() {
    const own = (voices?.getVoices() ?? []).filter((one) => one.lang.split(/[-_]/)[0].toLowerCase() === language());
    return own.find((one) => one.localService) ?? null;
  }

  function read() {
    const said = new SpeechSynthesisUtterance(text());
    said.voice = voice();
    said.lang = said.voice.lang;
    said.onend = said.onerror = () => label(false);
    label(true);
    voices.speak(said);
  }

  function label(speaking) {
    element.textContent = speaking ? "Stop" : "Listen";
  }

  function update(now = has) {
    has = now;
    element.hidden = !has || !voice();
    if (!has) voices?.cancel();
  }
  voices?.addEventListener?.("voiceschanged", () => update());
  return { element, update };
}
