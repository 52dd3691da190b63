// A translation of the server: at once, or, of a long text, sentence by sentence as they are done.

import { ask, isSaved, remember } from "./api.js";
import { ApiError, listen } from "./network.js";
import { observe } from "./state.js";
import { cut, length, offsets } from "./text.js";

const STREAM_FROM = 400; // characters: shorter texts are there at once

/**
 * @param {{path: string, body: any}} wanted
 * @param {AbortSignal} signal
 * @param {(text: string) => void} begun hears what is done of a long translation, after each sentence
 * @returns {Promise<any>} a translation of /api/translate
 */
export async function askTranslation(wanted, signal, begun) {
  const streamed = !isSaved() && length(wanted.body.text) >= STREAM_FROM;
  const found = streamed ? await stream(wanted, signal, begun) : await ask(wanted.path, wanted.body, { signal });
  const row = found.translations[0];
  if (!signal.aborted && row.detected) learn(row, wanted);
  return row;
}

/** Keep the language that was detected, and the answer as that of its model, which explanations ask for. */
function learn(row, { path, body }) {
  const { source, target, through, ...rest } = body;
  if (row.models.length === 1) remember(path, { ...rest, model: row.models[0] }, { translations: [row] });
  if (row.source_language) observe({ detected: row.source_language });
}

async function stream({ path, body }, signal, begun) {
  const sentences = [];
  let whole = null;
  await listen(
    "/api/translate/stream",
    body,
    (event, data) => {
      if (event === "sentence") {
        sentences[data.index] = data;
        begun(soFar(body.text, sentences));
      } else if (event === "done") whole = { translations: [data] };
      else if (event === "error")
        throw new ApiError(data.error?.status ?? 500, data.error?.message ?? "The translation stopped.");
    },
    signal,
  );
  if (!whole) throw new ApiError(502, "The translation stopped before its end.");
  remember(path, body, whole);
  return whole;
}

/**
 * The sentences that are done, with the line breaks of the source between them, and … for those that are not: sentences
 * come in any order, and none of them changes afterwards.
 */
function soFar(source, sentences) {
  const places = offsets(source);
  let text = "";
  let last = -1; // the last sentence that is done
  for (const number of Object.keys(sentences).map(Number)) {
    const one = sentences[number];
    const gap = cut(source, [last < 0 ? 0 : sentences[last].source_span[1], one.source_span[0]], places);
    const missing = number - last > 1 ? "… " : "";
    text += (last < 0 ? "" : gap.replace(/[^\n]/g, "") || " ") + missing + one.text;
    last = number;
  }
  return text;
}
