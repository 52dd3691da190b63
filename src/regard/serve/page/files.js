// A file in, a file of the same kind out. The server keeps the result for a while, for this reader alone.

import { h, show } from "./dom.js";
import { documents, languageName, languages, pivot } from "./models.js";
import { ApiError, sendForm } from "./network.js";
import { current, subscribe } from "./state.js";

export function filesFold(say) {
  const status = h("div", { role: "status" });
  const input = h("input", {
    type: "file",
    id: "file",
    class: "unseen",
    onchange: () => input.files[0] && send(input.files[0]),
  });
  const direction = h("p", { class: "small" });
  const direct = (sel) => void show(direction, directionOf(sel));
  direct(current());
  const stop = subscribe((sel) => (area.isConnected ? direct(sel) : stop()));
  const area = h(
    "div",
    { class: "drop stack" },
    direction,
    h("p", {}, "Drop a document here, or ", h("label", { class: "file-label", for: "file" }, "choose a file"), input),
    h("p", { class: "small quiet" }, supported(documents())),
    status,
  );
  area.addEventListener("dragover", (event) => (event.preventDefault(), area.classList.add("over")));
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
  });

  function refuse(message) {
    input.value = ""; // so that the same file can be chosen again
    show(status, h("p", { class: "note bad" }, message));
  }

  async function send(file) {
    const { bytes } = documents();
    const suffix = /\.[^.]+$/.exec(file.name)?.[0].toLowerCase() ?? "";
    if (suffix in INSTEAD) return refuse(`${file.name}: ${INSTEAD[suffix]}`);
    if (file.size > bytes) return refuse(`${file.name} has ${megabytes(file.size)}, more than the ${megabytes(bytes)} of a file.`);
    const now = languages(current());
    const form = new FormData();
    form.append("file", file);
    form.append("source", now.detect ? "auto" : now.from);
    form.append("target", now.to);
    if (pivot()) form.append("through", pivot());
    area.setAttribute("aria-busy", "true");
    show(status, h("p", { class: "quiet" }, `Translating ${file.name} …`));
    try {
      const { translatedFileUrl } = await sendForm("/translate_file", form);
      const address = new URL(translatedFileUrl, location.href);
      // behind a proxy the server may know itself by another name; the path is what counts
      show(
        status,
        h(
          "p",
          { class: "note good" },
          `${file.name} is translated. `,
          h("a", { href: address.pathname + address.search, download: "" }, "Save the translation"),
        ),
      );
      say(`${file.name} is translated.`);
    } catch (error) {
      refuse(error instanceof ApiError ? error.message.replace(/^Invalid request: /, "") : `${file.name} could not be sent: ${error.message}`);
    } finally {
      area.setAttribute("aria-busy", "false");
      input.value = "";
    }
  }

  return h("details", { class: "fold" }, h("summary", {}, "Translate a file"), area);
}

/** From which language into which: the menus above hold for files, too. */
function directionOf(sel) {
  const { from, to, detect } = languages(sel);
  return `${detect ? "The language of the file" : languageName(from)} → ${languageName(to)}`;
}

const INSTEAD = {
  ".pdf": "PDF files cannot be translated. Open it in a word processor, such as Word or LibreOffice, and save it as DOCX.",
  ".doc": "old Word files cannot be translated. Save it as DOCX.",
  ".rtf": "RTF files cannot be translated. Save it as DOCX.",
};

const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

function supported({ suffixes, characters, bytes, kept_minutes }) {
  const most = `up to ${megabytes(bytes)} and ${characters.toLocaleString("en")} characters`;
  return `${suffixes.join(" ")} · ${most} · the layout stays · the result is kept for ${kept_minutes} minutes`;
}
