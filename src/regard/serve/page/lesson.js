// The third entrance: the story of the course, with live views and a question to each.

import { ask } from "./api.js";
import { bottleneckView } from "./bottleneck.js";
import { button, h, show } from "./dom.js";
import { PANELS } from "./inside.js";
import { modelOf } from "./models.js";
import { current, select } from "./state.js";
import { piecesView } from "./pieces_view.js";
import { ApiError } from "./network.js";

const VIEWS = { ...PANELS, bottleneck: bottleneckView, pieces: piecesView };

export function lessonEntrance() {
  const element = h("div", { class: "lesson" });
  let lessons = null;
  let open = null;
  let views = [];

  async function update(sel = current(), changed = null) {
    try {
      lessons ??= (await ask("/api/lessons")).lessons;
    } catch (error) {
      return show(element, h("p", { class: "note bad" }, error instanceof ApiError ? error.message : String(error)));
    }
    const lesson = lessons.find((one) => one.id === sel.lesson) ?? lessons[0];
    if (lesson.id !== open) {
      open = lesson.id;
      draw(lesson);
      // a lesson brings its own sentence, unless the link that led here has one
      if (!(changed?.size > 10 && sel.text)) return select({ lesson: lesson.id, ...lesson.start });
    }
    return views.forEach((view) => view.update(current(), changed));
  }

  function draw(lesson) {
    views = [];
    const number = lessons.indexOf(lesson);
    const next = lessons[number + 1];
    show(
      element,
      contents(lesson),
      h(
        "header",
        { class: "title" },
        h("p", { class: "quiet" }, number ? `Lesson ${number}` : "First"),
        h("h1", {}, lesson.title),
        h("p", { class: "quiet" }, lesson.summary),
      ),
      modelOf()?.source === "en"
        ? null
        : h(
            "p",
            { class: "note small" },
            "The sentences of the lessons are English; choose a model that reads English to follow them word by word.",
          ),
      lesson.scenes.map(scene),
      next
        ? h(
            "p",
            {},
            button(`Next: ${next.title}`, () => (select({ lesson: next.id }), scrollTo(0, 0)), { class: "main" }),
          )
        : null,
    );
  }

  function contents(lesson) {
    return h(
      "nav",
      { "aria-label": "Lessons" },
      h(
        "ol",
        { class: "contents" },
        lessons.map((one) =>
          h(
            "li",
            {},
            h(
              "a",
              {
                href: `#/lesson?lesson=${one.id}`,
                "aria-current": one === lesson ? "page" : null,
                onclick: (event) => (event.preventDefault(), select({ lesson: one.id })),
              },
              h("b", {}, one.title),
              h("span", { class: "small quiet" }, one.summary),
            ),
          ),
        ),
      ),
    );
  }

  function scene(one) {
    const view = VIEWS[one.view]?.();
    if (view) views.push(view);
    return h(
      "section",
      { class: "scene" },
      h("h2", {}, one.title),
      h(
        "div",
        { class: "prose" },
        one.text.map((paragraph) => h("p", {}, paragraph)),
      ),
      one.tries?.length
        ? h(
            "p",
            { class: "row" },
            one.tries.map((each) => button(each.label, () => select(each.set))),
          )
        : null,
      view ? h("div", { class: "view" }, view.element) : null,
      h(
        "div",
        { class: "question" },
        h("p", {}, one.question),
        h("details", {}, h("summary", {}, "An answer"), h("p", {}, one.answer)),
      ),
    );
  }
  return { element, update };
}
