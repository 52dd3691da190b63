// What can be done with a translation: other wordings, edit, copy, download, listen.

import { openWordings } from "./alternatives.js";
import { isSaved } from "./api.js";
import { button, copyText, h, icon } from "./dom.js";
import { speech } from "./speech.js";

const COPY = "M9 9h11v11H9zM5 15H4V4h11v1";
const DOWNLOAD = "M13 3H6v18h12V8zM13 3v5h5M12 11v6m-2.5-2.5L12 17l2.5-2.5"; // a sheet of paper: the page itself has a plain arrow

/**
 * @param {object} of
 * @param {() => string} of.text the whole translation as the reader sees it
 * @param {() => {sentence: number, text: string}} of.focus the sentence in focus as the reader sees it
 * @param {() => void} of.edit
 * @param {() => string} of.language of the translation
 * @param {(text: string) => void} of.say
 * @returns {{element: HTMLElement, update: (has: {text: boolean, model: boolean}) => void, focusEdit: () => void}}
 */
export function translationTools({ text, focus, edit, language, say }) {
  const plain = { class: "plain" };
  const open = () => {
    const { sentence, text: shown } = focus();
    openWordings(sentence, shown, () => other);
  };
  const other = button("Other wordings", open, { ...plain, "aria-haspopup": "dialog" });
  const change = button("Edit", edit, { ...plain, title: "Edit the chosen sentence" });
  const copy = icon("Copy", COPY, () => copyText(text(), copy, "Copied", say));
  const download = icon("Download the translation as text", DOWNLOAD, () => save(text(), `translation-${language() || "text"}.txt`));
  const listen = speech({ text, language });
  const element = h(
    "div",
    { class: "tools", role: "group", "aria-label": "Translation" },
    isSaved() ? null : [other, change],
    copy,
    download,
    listen.element,
  );

  function update({ text: any, model }) {
    for (const one of [change, copy, download]) one.disabled = !any;
    other.disabled = !any || !model;
    other.title = any && !model ? "Not for a translation by way of another language" : "Of the chosen sentence";
    listen.update(any);
  }
  return { element, update, focusEdit: () => change.focus() };
}

/** Save a text as a file of the reader. */
function save(text, name) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
