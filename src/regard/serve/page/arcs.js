// One word and where each head of a layer looks from it, as arcs over the sentence.

import { h, svg } from "./dom.js";
import { rovingLine } from "./roving.js";
import { direction } from "./text.js";

/**
 * @param {object} figure
 * @param {string[]} figure.words
 * @param {number} figure.from
 * @param {boolean} figure.chosen whether the reader chose that word
 * @param {{head: number, row: number[]|null}[]} figure.heads weights from that word, null where they must not be drawn
 * @param {(number: number) => void} figure.choose
 * @param {string} figure.label
 */
export function arcs({ words, from, chosen, heads, choose, label }) {
  const line = rovingLine(
    h(
      "p",
      { class: "line", dir: direction(words.join(" ")), role: "group", "aria-label": label },
      words.map((text, number) =>
        h(
          "button",
          {
            type: "button",
            class: number === from && !chosen ? "word from" : "word",
            "data-key": `arc-${number}`,
            "aria-pressed": String(number === from && chosen),
            onclick: () => choose(number),
          },
          text,
        ),
      ),
    ),
    "button",
    from,
  );
  const drawing = svg("svg", { class: "arc-lines", "aria-hidden": "true", focusable: "false" });
  const inner = h("div", { class: "arcs" }, drawing, line);

  function draw() {
    const frame = inner.getBoundingClientRect();
    if (!frame.width) return;
    const middle = (number) => {
      const box = line.children[number].getBoundingClientRect();
      return (box.left + box.right) / 2 - frame.left;
    };
    const floor = line.getBoundingClientRect().top - frame.top;
    drawing.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const paths = heads.flatMap(({ head, row }, place) =>
      (row ?? []).flatMap((weight, to) => {
        if (!(weight >= 0.04)) return [];
        const [a, b] = [middle(from), middle(to)];
        const spread = (place - (heads.length - 1) / 2) * 2.2; // arcs of different heads side by side
        const rise = to === from ? 22 + 3 * place : Math.min(floor - 6, 16 + Math.abs(b - a) * 0.42);
        const d =
          to === from
            ? `M${a - 7} ${floor}C${a - 24} ${floor - rise} ${a + 24} ${floor - rise} ${a + 7} ${floor}`
            : `M${a + spread} ${floor}C${a + spread} ${floor - rise} ${b + spread} ${floor - rise} ${b + spread} ${floor}`;
        const path = svg("path", { d, class: "arc", "data-head": head });
        path.style.setProperty("--w", String(weight));
        path.style.setProperty("--series", seriesOf(head));
        return [path];
      }),
    );
    drawing.replaceChildren(...paths);
  }
  new ResizeObserver(draw).observe(inner);
  inner.addEventListener("redraw", draw);
  return h("div", { class: "scroll" }, inner);
}

/** The colour of a head, the same in every layer; after eight they repeat. */
export const seriesOf = (head) => `var(--series-${((head - 1) % 8) + 1})`;
