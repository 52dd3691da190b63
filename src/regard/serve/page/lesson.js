// The third entrance: the lessons of the course. Without a number it lists them; with one it shows that lesson.

import { ask } from "./api.js";
import { bottleneckView } from "./bottleneck.js";
import { breakView } from "./break_view.js";
import { button, h, show } from "./dom.js";
import { PANELS } from "./inside.js";
import { drawBlock } from "./lesson_blocks.js";
import { fromHtml } from "./lesson_html.js";
import { modelOf } from "./models.js";
import { ApiError } from "./network.js";
import { piecesView } from "./pieces_view.js";
import { current, select } from "./state.js";

/** Every view that a lesson can name. */
const VIEWS = { ...PANELS, bottleneck: bottleneckView, break: breakView, pieces: piecesView };

export function lessonEntrance() {
  const element = h("div", { class: "lesson" });
  let open = null; // the number of the lesson that is drawn, 0 for the list
  let views = [];

  async function update(sel = current(), changed = null) {
    const number = Number(sel.lesson) || 0;
    if (number === open) return views.forEach((view) => view.update(current(), changed));
    open = number;
    views = [];
    try {
      const all = await ask("/api/lessons");
      const lesson = number ? await ask(`/api/lessons/${number}`) : null;
      if (open !== number) return undefined;
      if (!lesson) return show(element, list(all.lessons));
      draw(lesson, all);
      // a lesson brings its own sentence, unless the link that led here has one
      if (!(changed?.size > 10 && sel.text)) select(lesson.start);
      return views.forEach((view) => view.update(current(), null));
    } catch (error) {
      return show(element, h("p", { class: "note bad" }, error instanceof ApiError ? error.message : String(error)));
    }
  }

  function draw(lesson, { lessons, can }) {
    const next = lessons[lesson.number];
    const context = { lesson, can, views: VIEWS, add: (view) => views.push(view) };
    show(
      element,
      h("p", {}, linkTo(0, "All lessons")),
      h(
        "header",
        { class: "title" },
        h("p", { class: "quiet" }, `Lesson ${lesson.number} of ${lessons.length} · ${lesson.minutes} minutes`),
        h("h1", {}, lesson.title),
        h("p", { class: "lead" }, fromHtml(lesson.summary)),
        objectives(lesson),
      ),
      modelOf()?.source === "en" ? null : otherLanguage(),
      lesson.blocks.map((block) => drawBlock(block, context)),
      lesson.notes ? h("p", { class: "small quiet" }, `In the course notes: ${lesson.notes}. The lesson does not need them.`) : null,
      next ? h("p", {}, button(`Next: ${next.number}. ${next.title}`, () => go(next.number), { class: "main" })) : null,
    );
  }
  return { element, update };
}

function list(lessons) {
  return [
    h(
      "header",
      { class: "title" },
      h("h1", {}, "How a translator works"),
      h("p", { class: "lead" }, "Twelve lessons of ten minutes at most, with the model beside them."),
    ),
    h("ol", { class: "contents" }, lessons.map((lesson) => h("li", {}, card(lesson)))),
  ];
}

function card(lesson) {
  return linkTo(
    lesson.number,
    h("span", { class: "small quiet" }, `${lesson.number} · ${lesson.minutes} minutes`),
    h("b", {}, lesson.title),
    h("span", { class: "small quiet" }, fromHtml(lesson.summary)),
  );
}

function objectives(lesson) {
  return h(
    "div",
    { class: "objectives" },
    h("p", {}, "After this lesson you can"),
    h("ul", {}, lesson.objectives.map((text) => h("li", {}, fromHtml(text)))),
  );
}

function otherLanguage() {
  return h(
    "p",
    { class: "note small" },
    "The sentences of the lessons are English; choose a model that reads English to follow them word by word.",
  );
}

function linkTo(number, ...children) {
  const onclick = (event) => (event.preventDefault(), go(number));
  return h("a", { href: number ? `#/lesson?lesson=${number}` : "#/lesson", onclick }, children);
}

function go(number) {
  select({ lesson: number ? String(number) : "" });
  scrollTo(0, 0);
}
