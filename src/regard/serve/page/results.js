// The results of the search: those with different texts, and the keys that go through them.

import { ask } from "./api.js";
import * as questions from "./questions.js";
import { current, select } from "./state.js";

/** The results with different texts, each with its place and the number of further results of the same text. */
export function distinctResults(nbest) {
  return nbest
    .map((one, number) => ({ ...one, number, same: nbest.filter((other) => other.text === one.text).length - 1 }))
    .filter((one) => nbest.findIndex((other) => other.text === one.text) === one.number);
}

/** j and k go through the different texts of the n-best list, wherever the reader is; @returns what to say */
export async function nextHypothesis(by) {
  const sel = current();
  const wanted = questions.lattice(sel);
  const found = wanted && (await ask(wanted.path, wanted.body).catch(() => null));
  const places = distinctResults(found?.nbest ?? []).map((one) => one.number);
  const next = places[places.findLastIndex((number) => number <= sel.hypothesis) + by];
  if (next === undefined) return "There is no further result.";
  select({ hypothesis: next, edits: "" });
  return `result ${next + 1}`;
}
