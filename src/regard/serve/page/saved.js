// A page that was saved as one file: the sentences it can speak about.

import { savedAnswers } from "./api.js";
import { h } from "./dom.js";
import { current, select, subscribe } from "./state.js";

export function savedSentences() {
  return [
    ...new Set(
      savedAnswers()
        .filter((one) => one.path === "/api/translate")
        .map((one) => one.body.text),
    ),
  ];
}

export function savedPicker() {
  const texts = savedSentences();
  const box = h(
    "select",
    { "aria-label": "Sentences of this file", onchange: () => select({ text: box.value }) },
    texts.map((text) => h("option", { value: text }, text)),
  );
  box.value = current().text;
  const stop = subscribe((sel) => (box.isConnected ? (box.value = sel.text) : stop()));
  return h("label", { class: "row" }, h("span", { class: "small quiet" }, "Sentences of this file"), box);
}
