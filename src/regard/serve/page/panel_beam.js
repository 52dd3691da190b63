// Panel F: the beam search. A path of the n-best list loads its own attention; a branch that was given up can go on.

import { button, h, headRow } from "./dom.js";
import { latticeDrawing } from "./lattice.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { distinctResults } from "./results.js";
import { chooseText, chosenText, current, select } from "./state.js";
import { decimal } from "./text.js";

export function beamPanel() {
  let picked = -1; // a node; what it says is not part of the selection, only what comes of it
  let resume = null;
  let of = null; // the search that the node belongs to
  const search = live({ question: questions.lattice, draw: drawSearch, caption: searchCaption });
  const again = live({
    question: (sel) => (resume === null ? null : questions.lattice(sel, resume)),
    draw: drawResumed,
    empty: "",
  });

  function drawSearch(answer, sel) {
    if (of !== answer) [picked, resume, of] = [-1, null, answer];
    const path = new Set(answer.nbest[shownPlace(answer, sel)]?.nodes ?? []);
    const choose = (node) => {
      picked = picked === node ? -1 : node;
      search.update();
      search.element.querySelector(`[data-node="${node}"]`)?.focus();
    };
    return [
      beamPicker(answer),
      latticeDrawing(answer, { path, selected: picked, choose }),
      picked >= 0
        ? nodeCard(answer.nodes[picked])
        : h("p", { class: "quiet small" }, "Choose a node to see what it cost and why it was kept or dropped."),
      nbestTable(answer, sel),
    ];
  }

  function nodeCard(node) {
    const goOn = () => {
      resume = node.node;
      again.update();
    };
    return h(
      "div",
      { class: "card fade" },
      h("h3", { dir: "auto" }, node.piece),
      h("p", {}, `${node.fate}: ${node.reason}.`),
      h(
        "p",
        { class: "quiet small" },
        `log p of the token ${decimal(node.log_prob)} · of all so far ${decimal(node.total)}`,
        ` · score if it ended here ${decimal(node.score, 3)}`,
      ),
      button("Go on from here", goOn, { class: "main", "data-key": "go-on" }),
    );
  }

  return panel(
    {
      id: "beam",
      letter: "F",
      title: "The ways it considered",
      lede:
        "The search keeps a few beginnings and goes on with the best. Grey ones were dropped; any of them " +
        "can be taken up again. ▁ marks where a word begins. The keys j and k go through the list of results.",
    },
    search,
    again,
  );
}

function beamPicker(answer) {
  const box = h(
    "select",
    { "aria-label": "Beam", "data-key": "beam", onchange: () => select({ beam: Number(box.value), hypothesis: 0 }) },
    [...new Set([1, 2, 3, 4, 5, 8, answer.beam])]
      .sort((a, b) => a - b)
      .map((width) => h("option", { value: width }, String(width))),
  );
  box.value = String(answer.beam);
  return h("label", { class: "row small" }, h("span", { class: "quiet" }, "Beam"), box);
}

/** The place of the text that is shown among the results of this search; −1 if another engine found it. */
function shownPlace(answer, sel) {
  const text = chosenText(sel) || (sel.hypothesis ? answer.nbest[sel.hypothesis]?.text : answer.translation);
  return answer.nbest.findIndex((one) => one.text === text);
}

/** Place 0 of the selection is the translation, which may not be the first result of this search. */
function takeResult(answer, number) {
  const { text } = answer.nbest[number];
  if (number || text === answer.translation) select({ hypothesis: number, edits: "" });
  else chooseText(text);
}

function nbestTable(answer, sel) {
  const shown = shownPlace(answer, sel);
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "plain" },
      h("caption", { class: "unseen" }, "The translations that the search found, best first"),
      headRow([h("span", { class: "unseen" }, "Place"), "Translation", "log p", "Score"]),
      h(
        "tbody",
        {},
        distinctResults(answer.nbest).map(({ number, same, ...one }) =>
          h(
            "tr",
            { class: number === shown ? "on" : null },
            h(
              "td",
              {},
              button(`${number + 1}`, () => takeResult(answer, number), {
                "aria-pressed": String(number === shown),
                "aria-label": `Show result ${number + 1} in all panels`,
                "data-key": `nbest-${number}`,
              }),
            ),
            h(
              "td",
              { class: "reading", dir: "auto" },
              one.text,
              same ? h("small", { class: "quiet" }, ` and ${same} more ${same > 1 ? "ways" : "way"} to write it in pieces`) : null,
            ),
            h("td", {}, decimal(one.log_prob)),
            h("td", {}, decimal(one.score, 3)),
          ),
        ),
      ),
    ),
  );
}

function drawResumed(answer) {
  const found = answer.resumed;
  if (!found) return null;
  const better = found.score - found.first_score;
  return h(
    "div",
    { class: "card fade" },
    h("h3", {}, "From there it goes on to"),
    h("p", { class: "reading", dir: "auto" }, found.text),
    h(
      "p",
      { class: "quiet small" },
      `score ${decimal(found.score, 3)}, `,
      better > 1e-6
        ? `better than the first by ${decimal(better, 3)}: the search gave up too early`
        : `worse than the first by ${decimal(-better, 3)}: rightly dropped`,
    ),
    button("Take this translation into all panels", () => chooseText(found.text)),
  );
}

function searchCaption(answer) {
  return [
    `beam ${answer.beam}`,
    `length penalty ${decimal(answer.length_penalty, 2)}`,
    `ended because ${answer.ending}`,
    answer.note,
    current().edits ? "the search, not your own choice" : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
