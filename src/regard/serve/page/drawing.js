// Pictures that the server makes, as SVG in the colours of the page.

import { h, scroller, svg } from "./dom.js";

const NARROW = 510; // pixels: a picture that is shrunk to a phone and stays readable
const LEAST = 0.72; // of its width; below that its words are too small

/** @param {{title: string, caption: string, width: number, height: number, items: object[]}} picture */
export function drawing(picture) {
  const { width, height } = picture;
  const drawn = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${picture.title}. ${picture.caption}` },
    picture.items.map(item),
  );
  return h(
    "figure",
    { class: width < NARROW ? "drawing narrow" : "drawing", vars: { "--least": `${LEAST * width}px` } },
    h("h3", {}, picture.title),
    scroller(picture.title, drawn),
    h("figcaption", { class: "caption" }, picture.caption),
  );
}

const colour = (name) => `var(--${name})`;
const written = (points) => points.map((point) => point.join(",")).join(" ");
const ANCHORS = { left: "start", middle: "middle", right: "end" };

function item(one) {
  const note = one.note ? svg("title", {}, one.note) : null;
  const opacity = one.opacity < 1 ? one.opacity : null;
  if (one.box) return svg("rect", { ...one.box, rx: one.round, fill: colour(one.fill), opacity }, note);
  if (one.dot) return svg("circle", { ...one.dot, fill: colour(one.fill) }, note);
  const stroke = {
    fill: "none",
    stroke: colour(one.stroke),
    "stroke-width": one.width,
    opacity,
    "stroke-dasharray": one.dashed ? "6 4" : null,
  };
  if (one.line) return svg("polyline", { points: written(one.line), ...stroke });
  if (one.curve) return svg("path", { d: `M${one.curve[0]}C${written(one.curve.slice(1))}`, ...stroke });
  const style = { "font-size": one.size, "font-weight": one.bold ? "bold" : null, "text-anchor": ANCHORS[one.anchor] };
  return svg("text", { x: one.x, y: one.y + 0.35 * one.size, fill: colour(one.fill), ...style }, one.text);
}
