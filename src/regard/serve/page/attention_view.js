// Which of a model's many attention maps the selection means.

/**
 * @param {any} answer of /api/attention
 * @param {{layer: number, head: number}} sel layer 0 and head 0 mean the choice of the model's card; head −1 the mean
 */
export function shownMap(answer, sel) {
  const layer = inRange(sel.layer || answer.chosen.layer, answer.layers.length);
  const heads = answer.layers[layer - 1];
  let head = sel.head;
  if (head === 0) head = !sel.layer || sel.layer === answer.chosen.layer ? (answer.chosen.head ?? -1) : -1;
  if (head < 0) return { layer, head: null, map: answer.means[layer - 1] };
  head = inRange(head, heads.length);
  return { layer, head, map: heads[head - 1] };
}

/** One layer or head further, as the keys do it; the first step leaves the card's choice. */
export function stepped(answer, sel, { layers = 0, heads = 0 }) {
  const now = shownMap(answer, sel);
  const layer = inRange(now.layer + layers, answer.layers.length);
  const most = answer.layers[layer - 1].length;
  const order = [-1, ...Array.from({ length: most }, (_, number) => number + 1)]; // the mean comes before the first head
  const at = order.indexOf(now.head === null ? -1 : Math.min(now.head, most));
  const head = order[Math.max(0, Math.min(at + heads, order.length - 1))];
  return { layer, head };
}

const inRange = (number, most) => Math.max(1, Math.min(number, most));

export const texts = (list) => list.map((one) => one.text);
