// Panel A: the translation word by word, with probabilities, alternatives, shares, coverage and alarms.

import { alternatives } from "./alternatives.js";
import { button, h, headRow, scroller } from "./dom.js";
import { live, panel } from "./live.js";
import { explains, modelOf, modelPicker, pairName } from "./models.js";
import * as questions from "./questions.js";
import { ribbons } from "./ribbons.js";
import { chooseText, chosenText, current, select } from "./state.js";
import { decimal, percent } from "./text.js";
import { bar, shares, wordLine } from "./words.js";

export function wordsPanel() {
  const doubts = live({ question: questions.translation, draw: reasons, empty: "", lazy: false });
  const main = live({ question: questions.words, draw: drawWords, caption, lazy: false });
  const beside = live({
    question: (sel) => (sel.beside ? questions.words({ ...sel, model: sel.beside, edits: "", hypothesis: 0, beam: 0 }) : null),
    draw: (answer, sel) => [
      h("h3", {}, "Beside it: ", modelName(sel.beside)),
      h("p", { class: "reading" }, wordLine(answer, { choose: () => {} })),
      h("p", { class: "small quiet" }, `log p ${decimal(answer.log_prob)}`),
    ],
    empty: "",
    lazy: false,
  });
  return panel(
    {
      id: "words",
      letter: "A",
      title: "Word by word",
      lede:
        "Ribbons join the words that correspond. An underline marks a word of which the model was less sure; " +
        "choose a word to see what else it might have said.",
    },
    doubts,
    main,
    h(
      "p",
      { class: "row" },
      h(
        "label",
        { class: "row small" },
        h("span", { class: "quiet" }, "Side by side with"),
        modelPicker("beside", { title: "A second model", none: "no other model" }),
      ),
    ),
    beside,
  );
}

const modelName = (name) => {
  const model = modelOf(name);
  return model ? `${model.name}, ${pairName(model)}` : name;
};

/** Why the translation is marked; other results of the search and the reader's choices are not judged. */
function reasons(answer, sel) {
  if (chosenText(sel) || sel.hypothesis || sel.beam) return null;
  const sentence = answer.translations[0].sentences[sel.sentence];
  return (sentence?.reasons ?? []).map((reason) => h("p", { class: "note warm small" }, reason.text));
}

function drawWords(answer, sel) {
  const links = answer.words.flatMap((word, t) => word.links.map((s) => [s, t, 0.6]));
  const choose = (side, number) =>
    side === "target"
      ? select({ word: sel.word === number ? -1 : number, source: -1 })
      : select({ source: sel.source === number ? -1 : number, word: -1 });
  return [
    ribbons({
      source: answer.source_words,
      target: answer.words,
      links,
      word: sel.word,
      from: sel.source,
      uncovered: answer.uncovered,
      choose,
    }),
    links.length || !answer.words.length
      ? null
      : h("p", { class: "small quiet" }, "No ribbons: they are drawn from attention weights, and there are none here."),
    alarms(answer, sel),
    sel.word >= 0 && answer.words[sel.word] ? wordCard(answer, sel.word) : null,
    sel.source >= 0 && answer.source_words[sel.source] ? sourceCard(answer, sel.source) : null,
    probabilityTable(answer, sel),
  ];
}

function alarms(answer, sel) {
  const found = [];
  const missed = answer.uncovered.map((number) => `“${answer.source_words[number]?.text}”`);
  if (missed.length)
    found.push(
      h(
        "p",
        { class: "note warm small" },
        `Hardly any attention went to ${missed.join(", ")}: it may not have been translated.`,
      ),
    );
  if (answer.loop)
    found.push(
      h("p", { class: "note warm small" }, `“${answer.loop.text}” is said ${answer.loop.times} times: a loop.`),
    );
  if (chosenText(sel))
    found.push(
      h(
        "p",
        { class: "note small row" },
        "This is your own choice, not the model’s first.",
        button("Back to the model’s own", () => chooseText("")),
      ),
    );
  return h("div", { class: "stack" }, found);
}

function wordCard(answer, number) {
  const word = answer.words[number];
  return h(
    "div",
    { class: "card fade" },
    h("h3", {}, "“", h("span", { dir: "auto" }, word.text), "”"),
    h(
      "div",
      { class: "sides" },
      h(
        "div",
        { class: "stack" },
        h("p", {}, `The model gives it a probability of ${percent(word.probability)} here.`),
        h(
          "p",
          { class: "small quiet" },
          "In pieces (▁ begins a word): ",
          inTokens(word),
        ),
        explains() ? shares(answer, number) : null,
      ),
      h(
        "div",
        { class: "stack" },
        h("p", { class: "small quiet" }, "Instead of it: choose one, and the rest is translated again."),
        alternatives(answer, number),
      ),
    ),
  );
}

const inTokens = (word) => word.tokens.map((token) => `${token.text} ${percent(token.probability)}`).join("  ·  ");

function sourceCard(answer, number) {
  const targets = answer.words.filter((word) => word.links.includes(number)).map((word) => word.text);
  const coverage = answer.coverage?.[number];
  return h(
    "div",
    { class: "card fade" },
    h("h3", {}, "“", h("span", { dir: "auto" }, answer.source_words[number].text), "”"),
    h(
      "p",
      {},
      targets.length
        ? `Corresponds to ${targets.map((text) => `“${text}”`).join(", ")}.`
        : "No word of the translation is linked to it.",
    ),
    coverage === undefined || coverage === null
      ? null
      : h(
          "p",
          { class: "quiet" },
          `Coverage ${decimal(coverage)}: the attention of all translated words together; near 1 is usual.`,
        ),
  );
}

function probabilityTable(answer, sel) {
  return h(
    "details",
    {
      class: "fold",
      open: probabilityTable.open,
      ontoggle: (event) => (probabilityTable.open = event.currentTarget.open),
    },
    h("summary", {}, "Every word as a table"),
    scroller(
      "Every word as a table",
      h(
        "table",
        { class: "plain" },
        headRow(["Word", "Probability", "Confidence", "Tokens"]),
        h(
          "tbody",
          {},
          answer.words.map((word, number) =>
            h(
              "tr",
              { class: number === sel.word ? "on" : null },
              h("th", { scope: "row", dir: "auto" }, word.text),
              h("td", {}, bar(word.probability)),
              h("td", {}, word.confidence === null ? "–" : percent(word.confidence)),
              h("td", { dir: "auto" }, inTokens(word)),
            ),
          ),
        ),
      ),
    ),
  );
}

function caption(answer) {
  const known = answer.words.map((word) => word.probability).filter(Number.isFinite);
  const least = known.length ? `least probable word ${percent(Math.min(...known))}` : "";
  return [
    answer.view?.caption && `ribbons: ${answer.view.caption}`,
    `log p ${decimal(answer.log_prob)}`,
    least,
    answer.how,
    answer.confidence_caption,
  ]
    .filter(Boolean)
    .join(" · ");
}
