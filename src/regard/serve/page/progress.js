// What the learner has done in the course. Under `regard course` the server keeps it in the user's data folder; otherwise
// this browser does, as it always does with guesses.

import { isSaved } from "./api.js";
import { askJson, sendJson } from "./network.js";

const KEPT = "regard-course"; // in the browser's storage
const listeners = new Set();
let here = fromBrowser();
let atServer = false;
let sending = Promise.resolve();

/** Read it where it is kept. @param {{progress: boolean}} can what the server does for a learner */
export async function loadProgress(can) {
  if (!can.progress || isSaved() || atServer) return;
  here.lessons = (await askJson("/api/progress", null)).lessons;
  atServer = true;
}

/** @returns {{done: boolean, exercises: string[]}} */
export const progressOf = (number) => here.lessons[number] ?? { done: false, exercises: [] };

/** An exercise was solved; the lesson is done with its last one. @param {{number: number, exercises: string[]}} lesson */
export function markSolved(lesson, id) {
  const before = progressOf(lesson.number);
  if (before.exercises.includes(id)) return;
  const exercises = [...before.exercises, id];
  const all = lesson.exercises.every((one) => exercises.includes(one));
  put(lesson.number, { done: before.done || all, exercises });
}

export function markDone(number, done) {
  put(number, { ...progressOf(number), done });
}

/** @param {() => void} listener @returns {() => void} stops it */
export function onProgress(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The guess of a question, a number of a choice or a text; undefined before it is given. */
export const guessOf = (key) => here.guesses[key];

export function keepGuess(key, guess) {
  here.guesses[key] = guess;
  toBrowser();
}

function put(number, done) {
  here.lessons = { ...here.lessons, [number]: done };
  toBrowser();
  if (atServer) {
    const { lessons } = here; // one after the other, so that the last one stays
    sending = sending.then(() => sendJson("PUT", "/api/progress", { lessons })).catch(() => {});
  }
  for (const listener of [...listeners]) listener();
}

function fromBrowser() {
  try {
    const { lessons, guesses } = JSON.parse(localStorage.getItem(KEPT)) ?? {};
    return { lessons: lessons ?? {}, guesses: guesses ?? {} };
  } catch {
    return { lessons: {}, guesses: {} }; // no storage, or somebody else's
  }
}

function toBrowser() {
  try {
    localStorage.setItem(KEPT, JSON.stringify(here));
  } catch {
    // what cannot be kept is lost with the tab
  }
}
