// The third entrance: the lessons of the course. Without a number it lists them; with one it shows that lesson.

import { ask, isSaved } from "./api.js";
import { bottleneckView } from "./bottleneck.js";
import { breakView } from "./break_view.js";
import { button, h, show } from "./dom.js";
import { PANELS } from "./inside.js";
import { drawBlock } from "./lesson_blocks.js";
import { fromHtml } from "./lesson_html.js";
import { learnView } from "./learn_view.js";
import { lessonList } from "./lesson_list.js";
import { modelOf, models, pairOf } from "./models.js";
import { ApiError } from "./network.js";
import { piecesView } from "./pieces_view.js";
import { loadProgress, markDone, markSolved, onProgress, progressOf } from "./progress.js";
import { savedSentences } from "./saved.js";
import { current, select, START } from "./state.js";

/** Every view that a lesson can name. */
const VIEWS = { ...PANELS, bottleneck: bottleneckView, break: breakView, learn: learnView, pieces: piecesView };
// What a lesson begins without, because it belongs to the sentence that was looked at before.
// prettier-ignore
const FRESH = ["model", "beside", "broken", "edits", "sentence", "word", "source", "hypothesis", "kind", "layer", "head", "reading", "units", "scale", "cut", "self", "depth", "arc", "step", "drawn", "part", "beam", "reference", "pair", "choices", "glossary", "formality"];

export function lessonEntrance() {
  const element = h("div", { class: "lesson" });
  let open = null; // the number of the lesson that is drawn, 0 for the list
  let views = [];
  let stop = () => {};

  async function update(sel = current(), changed = null) {
    const number = Number(sel.lesson) || 0;
    if (number === open) return views.forEach((view) => view.update(current(), changed));
    open = number;
    views = [];
    stop();
    try {
      const all = await ask("/api/lessons");
      await loadProgress(all.can);
      const lesson = number ? await ask(`/api/lessons/${number}`) : null;
      if (open !== number) return undefined;
      document.title = `${lesson ? `${number}. ${lesson.title}` : "Lessons"} · regard`;
      if (!lesson) return (show(element, lessonList(all.lessons, go)), arrive());
      // a lesson brings its own sentence, unless the link that led here has one
      if (!(changed?.size > 10 && sel.text)) select(beginning(lesson));
      draw(lesson, all);
      arrive();
      return views.forEach((view) => view.update(current(), null));
    } catch (error) {
      open = null;
      const message = error instanceof ApiError ? error.message : String(error);
      return show(element, h("p", { class: "note bad" }, message, " "), h("p", {}, linkTo(0, "All lessons")));
    }
  }

  /** The link that was followed is gone: go on at the heading. */
  function arrive() {
    const heading = element.querySelector("h1");
    heading.tabIndex = -1;
    if (document.activeElement === document.body) heading.focus({ preventScroll: true });
  }

  function draw(lesson, { lessons, can }) {
    const add = (view) => views.push(view);
    const done = new Set(progressOf(lesson.number).exercises);
    const onRight = (id) => markSolved(lesson, id);
    const context = { lesson, can, done, onRight, views: VIEWS, add, hasModel };
    show(
      element,
      h("p", { class: "small" }, linkTo(0, "All lessons")),
      header(lesson, lessons.length),
      isSaved() ? ofFile(lesson) : can.live ? null : withoutTorch(),
      modelOf()?.source === "en" ? null : otherLanguage(),
      lesson.blocks.map((block, index) => drawBlock(block, context, index)),
      foot(lesson, lessons),
    );
    scrollTo(0, 0);
  }

  function foot(lesson, lessons) {
    const [before, next] = [lessons[lesson.number - 2], lessons[lesson.number]];
    const done = h("p", { class: "row", "aria-live": "polite" });
    const tell = () => {
      const now = progressOf(lesson.number);
      const solved = `${now.exercises.length} of ${lesson.exercises.length} exercises solved`;
      const change = button(now.done ? "Mark as not done" : "Mark as done", () => markDone(lesson.number, !now.done));
      show(done, now.done ? h("b", {}, "✓ Done") : null, h("span", {}, solved), change);
    };
    tell();
    stop = onProgress(tell);
    return h(
      "footer",
      { class: "stack" },
      lesson.notes
        ? h("p", { class: "small quiet" }, `In the course notes: ${lesson.notes}. The lesson does not need them.`)
        : null,
      done,
      h(
        "nav",
        { class: "row between", "aria-label": "Other lessons" },
        before ? linkTo(before.number, `← ${before.number}. ${before.title}`) : h("span"),
        next ? linkTo(next.number, `${next.number}. ${next.title} →`) : linkTo(0, "All lessons"),
      ),
    );
  }
  return { element, update };
}

const hasModel = (name) => models().some((one) => one.name === name);

/** The selection that a lesson begins with. Its sentences are English, and their translations French. */
function beginning({ start }) {
  const clear = Object.fromEntries(FRESH.map((key) => [key, START[key]]));
  const languages = pairOf({ from: "en", to: "fr" }) ? { from: "en", to: "fr" } : {};
  const { model, ...rest } = start;
  if (isSaved() && !savedSentences().includes(rest.text)) rest.text = savedSentences()[0] ?? "";
  return { ...clear, ...languages, ...rest, ...(hasModel(model) ? { model } : {}) };
}

function header(lesson, count) {
  return h(
    "header",
    { class: "title" },
    h("p", { class: "quiet" }, `Lesson ${lesson.number} of ${count} · ${lesson.minutes} minutes to read, and ${lesson.exercises.length} exercises`),
    h("h1", {}, lesson.title),
    h("p", { class: "lead" }, fromHtml(lesson.summary)),
    h(
      "div",
      { class: "objectives" },
      h("p", {}, "After this lesson you can"),
      h("ul", {}, lesson.objectives.map((text) => h("li", {}, fromHtml(text)))),
    ),
  );
}

function withoutTorch() {
  return h(
    "p",
    { class: "note" },
    "The live views need PyTorch: ",
    h("code", {}, 'pip install "regard[torch]"'),
    ". The figures printed below were computed with it.",
  );
}

/** What a page that was saved as one file has of a lesson. */
function ofFile({ number, start }) {
  const views = savedSentences().includes(start.text)
    ? "This file answers for the lesson’s own sentences."
    : "This file does not have the lesson’s sentences: the live views show its own, and the printed figures are of others.";
  return h("p", { class: "note" }, views, " Answers of exercises are checked by ", h("code", {}, `regard course ${number}`), ".");
}

function otherLanguage() {
  return h(
    "p",
    { class: "note" },
    "The sentences of the lessons are English, and this server has no model that reads English: the live views do not fit the text.",
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
