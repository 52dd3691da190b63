// Two lines of words and a ribbon between each pair that corresponds. The ends of a ribbon are as wide as its words, so
// one word that becomes two is seen at once.

import { h, svg } from "./dom.js";
import { direction } from "./text.js";
import { rovingLine } from "./roving.js";
import { level, sureness } from "./words.js";

/**
 * @param {object} pair
 * @param {{text: string}[]} pair.source
 * @param {{text: string}[]} pair.target
 * @param {[number, number, number][]} pair.links source word, target word, weight in 0 … 1
 * @param {number} [pair.word] the selected target word
 * @param {number} [pair.from] the selected source word
 * @param {number[]} [pair.uncovered] source words that nothing attends to
 * @param {(side: "source"|"target", number: number) => void} [pair.choose]
 */
export function ribbons({ source, target, links, word = -1, from = -1, uncovered = [], choose }) {
  const line = (side, words, selected) =>
    rovingLine(
      h(
        "p",
        {
          class: `line ${side}`,
          dir: direction(words.map((one) => one.text).join(" ")),
          role: "group",
          "aria-label": side === "source" ? "source words" : "translated words",
        },
        words.map((one, number) =>
          h(
            "button",
            {
              type: "button",
              class: `word ${mark(side, number, one)}`,
              "data-number": number,
              "data-key": `${side}-${number}`,
              "aria-pressed": String(number === selected),
              "aria-label": described(side, number, one.text),
              onclick: () => choose?.(side, number),
            },
            one.text,
          ),
        ),
      ),
      "button",
      Math.max(0, selected),
    );
  const mark = (side, number, one) =>
    side === "target" ? level(sureness(one)) : uncovered.includes(number) ? "uncovered" : "";
  const described = (side, number, text) => {
    if (!links.length) return text;
    const others = links
      .filter((link) => link[side === "source" ? 0 : 1] === number)
      .map((link) => (side === "source" ? target[link[1]] : source[link[0]])?.text);
    return others.length ? `${text}, corresponds to ${others.join(" ")}` : `${text}, corresponds to nothing`;
  };
  const top = line("source", source, from);
  const bottom = line("target", target, word);
  const drawing = svg("svg", { class: "bands", "aria-hidden": "true", focusable: "false" });
  const inner = h("div", { class: "ribbons" }, top, drawing, bottom);
  const element = h("div", { class: "scroll" }, inner);

  function draw() {
    const frame = inner.getBoundingClientRect();
    if (!frame.width) return;
    const box = (side, number) => {
      const found = side.children[number]?.getBoundingClientRect();
      return (
        found && {
          left: found.left - frame.left,
          right: found.right - frame.left,
          top: found.top - frame.top,
          bottom: found.bottom - frame.top,
        }
      );
    };
    drawing.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    drawing.replaceChildren(
      ...links.flatMap(([s, t, weight]) => {
        const a = box(top, s);
        const b = box(bottom, t);
        if (!a || !b) return [];
        const lit = s === from || t === word;
        const path = svg("path", {
          d: band(a, b),
          class: lit ? "band lit" : word >= 0 || from >= 0 ? "band dim" : "band",
          "data-source": s,
          "data-target": t,
        });
        path.style.setProperty("--w", String(0.15 + 0.5 * Math.min(1, weight)));
        return [path];
      }),
    );
  }
  new ResizeObserver(draw).observe(inner);
  inner.addEventListener("redraw", draw);
  const light = (event) => {
    const over = event.type === "pointerover" ? event.target.closest?.(".word") : null;
    const side = over?.parentElement === top ? "source" : "target";
    for (const path of drawing.children)
      path.classList.toggle("over", over !== null && path.dataset[side] === over.dataset.number);
  };
  inner.addEventListener("pointerover", light);
  inner.addEventListener("pointerout", light);
  return element;
}

/** From the foot of a word above to the head of a word below. */
function band(a, b) {
  const middle = (a.bottom + b.top) / 2;
  const down = (x, y) => `C${x} ${middle} ${y} ${middle} ${y} ${b.top}`;
  const up = `C${b.right} ${middle} ${a.right} ${middle} ${a.right} ${a.bottom}`;
  return `M${a.left} ${a.bottom}${down(a.left, b.left)}H${b.right}${up}Z`;
}
