// Panel G: BLEU by hand. The reader writes a reference and sees each n-gram that counts, and why a score is 0.

import { h, headRow } from "./dom.js";
import { live, panel } from "./live.js";
import * as questions from "./questions.js";
import { current, select, subscribe } from "./state.js";
import { decimal, direction, percent } from "./text.js";

export function bleuPanel() {
  const box = h("textarea", {
    rows: 2,
    id: "reference",
    class: "reading",
    "aria-label": "Reference translation",
    placeholder: "A translation by a person; one a line",
    dir: direction(current().reference),
  });
  box.value = current().reference;
  box.addEventListener("input", () => {
    box.dir = direction(box.value);
    select({ reference: box.value }, { typing: true });
  });
  const stop = subscribe((sel) => {
    if (!box.isConnected) return stop();
    if (document.activeElement !== box && box.value !== sel.reference) box.value = sel.reference;
  });
  const score = live({
    question: async (sel) => {
      const wanted = await questions.words(sel);
      return wanted && sel.reference.trim() ? questions.bleu(sel, wanted.body.translation) : null;
    },
    draw: drawScore,
    caption: (answer) => answer.signature,
    empty: "Write a reference to see the score; the translation is the model’s.",
  });
  return panel(
    {
      id: "bleu",
      letter: "G",
      title: "How BLEU counts",
      lede:
        "BLEU compares the translation with yours by runs of one to four words. A run counts as often as the " +
        "reference has it, and no more.",
    },
    h("label", { class: "field" }, h("span", {}, "Reference"), box),
    score,
  );
}

function drawScore(answer) {
  return [
    h("p", { class: "score" }, h("b", {}, decimal(answer.score, 1)), h("span", { class: "equation" }, answer.equation)),
    answer.reasons.map((reason) => h("p", { class: "note small" }, reason)),
    answer.texts.map((text) => tokensLine(text)),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "plain counts" },
        headRow(["Run of", "Counted", "Precision", "The runs of the translation"]),
        h(
          "tbody",
          {},
          answer.orders.map((order) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, order.n === 1 ? "1 word" : `${order.n} words`),
              h("td", {}, `${order.correct} of ${order.total}`),
              h("td", {}, order.total ? percent(order.correct / order.total) : "–"),
              h("td", {}, h("span", { class: "ngrams" }, order.ngrams.map(ngram))),
            ),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "quiet small" },
      `Brevity penalty ${decimal(answer.brevity_penalty, 3)}: the translation has ${answer.hypothesis_length} tokens, `,
      `the reference ${answer.reference_length}.`,
    ),
  ];
}

/** Lit where it is credited; clipped where it is said more often than the reference has it. */
function ngram(one) {
  const clipped = one.credit < one.count && one.credit > 0;
  const kind = one.credit === 0 ? "none" : clipped ? "clipped" : "full";
  const said = {
    none: "not in the reference",
    clipped: `said ${one.count} times, counted ${one.credit}`,
    full: "counted",
  }[kind];
  return h(
    "span",
    { class: `ngram ${kind}`, title: said, dir: "auto" },
    one.ngram.join(" "),
    clipped ? ` ${one.credit}/${one.count}` : "",
    h("span", { class: "unseen" }, `: ${said}; `),
  );
}

/** Each token coloured by the longest credited run that it is part of. */
function tokensLine(text) {
  return h(
    "p",
    { class: "tokens", dir: direction(text.tokens.join(" ")) },
    h("span", { class: "small quiet" }, `${text.name} `),
    text.tokens.map((token, number) =>
      h("span", { class: "token", "data-longest": text.longest?.[number] ?? 0 }, token, " "),
    ),
  );
}
