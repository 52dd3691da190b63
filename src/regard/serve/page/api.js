// Questions and their answers: shared while they are on their way, remembered afterwards. In a page that was saved as one
// file the answers come from the file.

import { ApiError, askJson } from "./network.js";

const REMEMBERED = 300; // answers

/** @type {Map<string, {path: string, body: object, answer: any}>} */
const answers = new Map();
/** @type {Map<string, {waiting: number, control: AbortController, answer: Promise<any>}>} */
const flights = new Map();
/** The answers of a saved page, or null where there is a server. */
const saved = readSaved();
for (const one of saved ?? []) answers.set(keyOf(one.path, one.body), one);

export const isSaved = () => saved !== null;
export const savedAnswers = () => saved ?? [];

/** Everything that was asked so far, for saving the page as one file. */
export const remembered = () => [...answers.values()];

/**
 * Ask, or take the answer from what was asked before.
 * @param {string} path `/api/…`
 * @param {object|null} body null asks with GET
 * @param {{signal?: AbortSignal}} [how]
 */
export async function ask(path, body = null, { signal } = {}) {
  const key = keyOf(path, body);
  const known = answers.get(key);
  if (known) return known.answer;
  if (saved) throw new ApiError(404, "This file holds answers for its own sentences only, and not for this question.");
  return shared(key, signal, async (either) => {
    const answer = await askJson(path, body, either);
    remember(path, body, answer);
    return answer;
  });
}

/** Keep an answer that came in another way, such as a stream. */
export function remember(path, body, answer) {
  answers.set(keyOf(path, body), { path, body, answer });
  if (answers.size > REMEMBERED) answers.delete(answers.keys().next().value);
}

/** Panels that ask the same share one request; it is given up when the last of them has given up. */
function shared(key, signal, start) {
  let flight = flights.get(key);
  if (!flight) {
    const control = new AbortController();
    flight = { waiting: 0, control, answer: start(control.signal).finally(() => flights.delete(key)) };
    flight.answer.catch(() => {}); // those who wait are told
    flights.set(key, flight);
  }
  flight.waiting += 1;
  if (!signal) return flight.answer;
  const left = new Promise((_, reject) => {
    const leave = () => {
      flight.waiting -= 1;
      if (!flight.waiting) {
        flights.delete(key);
        flight.control.abort();
      }
      reject(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  return Promise.race([flight.answer, left]);
}

/** The order of keys and absent values do not change a question. */
function keyOf(path, body) {
  const sorted = (value) => {
    if (!value || typeof value !== "object" || Array.isArray(value)) return value;
    const keys = Object.keys(value).filter((key) => value[key] !== undefined && value[key] !== null);
    return Object.fromEntries(keys.sort().map((key) => [key, sorted(value[key])]));
  };
  return `${path} ${JSON.stringify(sorted(body))}`;
}

function readSaved() {
  const block = document.getElementById("answers");
  return block?.textContent.trim() ? JSON.parse(block.textContent) : null;
}
