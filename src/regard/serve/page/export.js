// This view as one file that opens without a server: the page itself, and the answers that were asked for so far.

import { remembered } from "./api.js";
import { current, toHash } from "./state.js";

/** @param {(...children: any[]) => void} banner */
export async function saveAsFile(banner) {
  const response = await fetch("one-file.html");
  if (!response.ok) return banner(`The page could not be saved: ${await response.text()}`);
  const sel = current();
  const kept = remembered().filter(({ body }) => !body?.text || [sel.text, sel.pair].includes(body.text));
  const page = withAnswers(await response.text(), kept, toHash(sel));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = "regard.html";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return undefined;
}

/** Text in a script element ends where a tag closes, so no "<" may stand in it; JSON can write it otherwise. */
export function withAnswers(page, answers, hash) {
  const written = JSON.stringify(answers).replaceAll("<", "\\u003c");
  return page
    .replace('id="answers">', (found) => found + written)
    .replace("<html ", (found) => `${found}data-hash="${encodeURIComponent(hash)}" `);
}
