// An exercise of a lesson: an input of its kind, the check by the server with a hint, and the answer, folded away.

import { isSaved } from "./api.js";
import { h, show } from "./dom.js";
import { fromHtml } from "./lesson_html.js";
import { ApiError, askJson } from "./network.js";

const NO_SERVER = "This file has no server that checks answers. Write yours down, then compare it with the answer.";

/**
 * @param {{number: number, exercises: string[]}} lesson
 * @param {object} block of the kind `exercise`, from `/api/lessons/N`
 * @param {{can?: {line?: boolean}, done?: boolean, onRight?: () => void}} [how] `done`: it was solved before
 * @returns {{element: HTMLElement}}
 */
export function exerciseView(lesson, block, { can = {}, done = false, onRight = () => {} } = {}) {
  const solved = h("span", { class: "chip good", hidden: !done }, "Solved");
  const name = `Exercise ${lesson.exercises.indexOf(block.id) + 1} of ${lesson.exercises.length}`;
  const reason = isSaved() ? NO_SERVER : block.type === "line" && !can.line ? onlyInCourse(lesson) : null;
  const element = h(
    "section",
    { class: "exercise", "aria-label": name },
    h(
      "p",
      { class: "row small quiet" },
      h("span", {}, name),
      block.source ? h("span", {}, `course notes ${block.source}`) : null,
      solved,
    ),
    h("div", { class: "text" }, fromHtml(block.question)),
    reason ? [unchecked(block), h("p", { class: "note small" }, reason)] : form(lesson, block, right),
    h("details", {}, h("summary", {}, "The answer"), h("div", { class: "text" }, fromHtml(block.answer))),
  );

  function right() {
    solved.hidden = false;
    onRight();
  }
  return { element };
}

function onlyInCourse(lesson) {
  return `A line of Python is run on your own machine alone: start this lesson with regard course ${lesson.number}.`;
}

/** The input, the button and the result. */
function form(lesson, block, right) {
  const result = h("div", { class: "result", role: "status" });
  const check = h("button", { type: "submit" }, "Check");
  const input = INPUTS[block.type](block, `exercise-${lesson.number}-${block.id}`, () => made.requestSubmit());
  const made = h("form", { onsubmit: submit, oninput: forget }, input.element, h("p", {}, check), result);
  let asked = 0;

  async function submit(event) {
    event.preventDefault();
    const own = (asked += 1);
    const given = input.given();
    show(result, h("p", { class: "small quiet" }, block.type === "line" ? "Running the line …" : "Checking …"));
    made.setAttribute("aria-busy", "true");
    try {
      const answer = await askJson(`/api/lessons/${lesson.number}/check`, { exercise: block.id, given });
      if (own !== asked) return;
      show(result, h("div", { class: `note ${answer.right ? "good" : "warm"}` }, fromHtml(answer.message)));
      if (answer.right) right();
    } catch (error) {
      if (own !== asked) return;
      show(result, h("p", { class: "note bad" }, error instanceof ApiError ? error.message : String(error)));
    } finally {
      if (own === asked) made.removeAttribute("aria-busy");
    }
  }

  /** What was said is about another answer. */
  function forget() {
    asked += 1;
    made.removeAttribute("aria-busy");
    show(result);
  }
  return made;
}

const INPUTS = {
  number: (block) => {
    const box = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: "500" });
    return { element: h("label", { class: "field" }, h("span", {}, "Your answer"), box), given: () => box.value };
  },
  choice: (block, name) => {
    const kind = block.several ? "checkbox" : "radio";
    const boxes = block.choices.map((_, i) => h("input", { type: kind, name, value: i + 1 }));
    const element = h(
      "fieldset",
      { class: "answers" },
      h("legend", { class: "small quiet" }, block.several ? "Choose all that are right" : "Choose one"),
      block.choices.map((text, i) => h("label", {}, boxes[i], h("span", {}, fromHtml(text)))),
    );
    return { element, given: () => boxes.filter((box) => box.checked).map((box) => Number(box.value)) };
  },
  change: (block, _, submit) => textInput("Change the text", block.begin, "", submit),
  line: (block, _, submit) => {
    const input = textInput("Your line of Python", block.begin, "python", submit);
    return { element: h("div", { class: "stack" }, shown(block), input.element), given: input.given };
  },
};

/** A box for one line that may be long: Enter checks it. */
function textInput(label, begin, kind, submit) {
  const keys = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  const plain = { rows: 2, autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "300" };
  const box = h("textarea", { class: kind, onkeydown: keys, ...plain }, begin ?? "");
  const element = h("label", { class: "field" }, h("span", {}, label), box);
  return { element, given: () => box.value.replaceAll("\n", " ") };
}

/** What belongs to the question, where nothing can be checked. */
function unchecked(block) {
  if (block.type !== "choice") return shown(block);
  return h("ul", {}, block.choices.map((text) => h("li", {}, fromHtml(text))));
}

/** The lines that run before the reader's own. */
function shown(block) {
  return block.type === "line" && block.before ? h("pre", { class: "session", tabindex: "0" }, block.before) : null;
}
