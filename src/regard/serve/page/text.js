// Places in text, directions and numbers as people read them.

/**
 * The server counts characters as Unicode code points, JavaScript counts UTF-16 units; an emoji is 1 there and 2 here.
 * @param {string} text
 * @returns {number[]} for each code point its UTF-16 offset, and the length of the text at the end
 */
export function offsets(text) {
  const found = [];
  let at = 0;
  for (const character of text) {
    found.push(at);
    at += character.length;
  }
  found.push(at);
  return found;
}

/** The part of a text between two code points. */
export function cut(text, [start, end], places = offsets(text)) {
  const last = places.length - 1;
  return text.slice(places[Math.min(start, last)], places[Math.min(end, last)]);
}

/**
 * A text as alternating pieces: what lies between the spans, and the spans themselves.
 * @param {string} text
 * @param {[number, number][]} spans in code points, in order and without overlap
 * @returns {{text: string, span: number}[]} `span` is the number of the span, −1 between spans
 */
export function pieces(text, spans) {
  const places = offsets(text);
  const found = [];
  let done = 0;
  spans.forEach(([start, end], number) => {
    if (start > done) found.push({ text: cut(text, [done, start], places), span: -1 });
    found.push({ text: cut(text, [start, end], places), span: number });
    done = end;
  });
  if (done < places.length - 1) found.push({ text: cut(text, [done, places.length - 1], places), span: -1 });
  return found;
}

export function length(text) {
  return offsets(text).length - 1;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const RIGHT_TO_LEFT_LANGUAGES = new Set([
  "ar",
  "arc",
  "ckb",
  "dv",
  "fa",
  "he",
  "iw",
  "ks",
  "ps",
  "sd",
  "syr",
  "ug",
  "ur",
  "yi",
]);

/** By the first letter of the text; by the language where the text has none. */
export function direction(text, language = "") {
  const letter = /\p{L}/u.exec(text ?? "");
  if (letter) return RIGHT_TO_LEFT.test(letter[0]) ? "rtl" : "ltr";
  return RIGHT_TO_LEFT_LANGUAGES.has(language.split(/[-_]/)[0].toLowerCase()) ? "rtl" : "ltr";
}

/** 0.873 → "87%", never a rounded-up certainty and never a rounded-down impossibility. */
export function percent(p) {
  if (!Number.isFinite(p)) return "–";
  if (p > 0 && p < 0.005) return "<1%";
  if (p < 1 && p > 0.995) return ">99%";
  return `${Math.round(100 * p)}%`;
}

/** A number with a real minus sign. */
export function decimal(value, digits = 2) {
  if (!Number.isFinite(value)) return "–";
  return value
    .toFixed(digits)
    .replace(/^-(?=0\.?0*$)/, "")
    .replace("-", "−");
}

/** 28400000 → "28.4 million". */
export function large(value) {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} million`;
  return value.toLocaleString("en");
}

/**
 * Why a row of attention must not be drawn, or null: it has to be a distribution.
 * @param {number[]} row
 * @param {number} [hidden] weight on what the map does not show
 */
export function rowProblem(row, hidden = 0) {
  const values = [...row, hidden];
  if (!values.every((value) => typeof value === "number" && Number.isFinite(value))) return "not drawn: contains NaN or infinity";
  const least = Math.min(...values);
  if (least < -1e-3) return `not drawn: a weight is ${least.toFixed(3)}`;
  const total = values.reduce((sum, value) => sum + value, 0);
  return Math.abs(total - 1) > 2e-3 ? `not drawn: sums to ${total.toFixed(3)}` : null;
}
