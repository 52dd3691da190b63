// The list of the lessons, with what is done and the one to go on with.

import { h } from "./dom.js";
import { fromHtml } from "./lesson_html.js";
import { progressOf } from "./progress.js";

/** @param {object[]} lessons of `/api/lessons` @param {(number: number) => void} open */
export function lessonList(lessons, open) {
  const next = lessons.find((one) => !progressOf(one.number).done);
  const done = lessons.filter((one) => progressOf(one.number).done).length;
  const minutes = lessons.reduce((sum, one) => sum + one.minutes, 0);
  return [
    h(
      "header",
      { class: "title" },
      h("h1", {}, "How a translator works"),
      h("p", { class: "lead" }, `Twelve lessons, ${minutes} minutes to read together, and as long for views and exercises, with a real model beside the text.`),
      h("p", { class: "quiet" }, `${done} of ${lessons.length} lessons done.`),
    ),
    h("ol", { class: "contents" }, lessons.map((lesson) => h("li", {}, card(lesson, lesson === next, open)))),
  ];
}

function card(lesson, isNext, open) {
  const { done, exercises } = progressOf(lesson.number);
  const state = done ? "✓ done" : exercises.length ? `${exercises.length} of ${lesson.exercises.length} exercises` : "";
  const about = [`${lesson.number} · ${lesson.minutes} minutes to read`, state, isNext ? "next" : ""].filter(Boolean);
  return h(
    "a",
    {
      href: `#/lesson?lesson=${lesson.number}`,
      class: isNext ? "next" : null,
      onclick: (event) => (event.preventDefault(), open(lesson.number)),
    },
    h("span", { class: "small quiet" }, about.join(" · ")),
    h("b", {}, lesson.title),
    h("span", { class: "small quiet" }, fromHtml(lesson.summary)),
    h("ul", { class: "small" }, lesson.objectives.map((text) => h("li", {}, fromHtml(text)))),
  );
}
