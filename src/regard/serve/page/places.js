// Which panels show more of a part of the picture, and which part of the picture a panel is about.

/** A part's id in pieces: side, layer, sublayer and head, as far as it has them; recurrent models have one layer. */
export function readPlace(id) {
  const found = /^(encoder|decoder|cross)\.(\d+)(?:\.(attention|cross|feed_forward))?(?:\.(\d+))?/.exec(id);
  if (!found) return null;
  const [, side, layer, sublayer, head] = found;
  const kind = sublayer === "cross" || side === "cross" ? "cross" : side;
  return { kind, layer: Number(layer), sublayer, head: Number(head ?? 0) };
}

const IN_ATTENTION = ["attention", "head", "query", "key", "value", "scores", "weights", "context"];
const place = (panel, set = {}) => ({ panel, set });

/** @returns {{panel: string, set: object}[]} `set` is what the panel should show */
export function panelsOf(part) {
  const of = {
    positions: ["positions"],
    embedding: part.side === "source" ? ["evidence"] : [],
    softmax: ["words", "beam"],
    text: part.side === "source" ? ["evidence"] : ["words", "beam", "bleu"],
  }[part.kind];
  if (of) return of.map((name) => place(name));
  const at = readPlace(part.id);
  if (part.kind === "layer") return at?.kind === "decoder" ? [place("lens")] : [];
  if (!at || !IN_ATTENTION.includes(part.kind)) return [];
  const set = { kind: at.kind, layer: at.layer, head: at.head || -1 };
  const own =
    at.kind === "cross"
      ? place("align", { ...set, units: "pieces", reading: "predicting" })
      : place("self", { self: at.kind, depth: at.layer, arc: at.head });
  return [own, place("heads", set), ...(at.head ? [place("step", set)] : [])];
}

/** The part that a panel is about, for the way back: the first that the model has; "" is the stack. */
export function partOf(panel, sel, has) {
  const head = sel.head > 0 ? `.${sel.head}` : "";
  const layer = sel.layer || 1;
  const attention =
    sel.kind === "cross"
      ? [`decoder.${layer}.cross${head}`, "cross.1.1"]
      : [`${sel.kind}.${layer}.attention${head}`];
  const of = {
    words: ["output"],
    align: attention,
    heads: attention,
    self: [`${sel.self}.${sel.depth || 1}.attention${sel.arc ? `.${sel.arc}` : ""}`],
    step: attention,
    beam: ["output"],
    positions: ["source.positions"],
    evidence: ["source.embedding"],
    lens: [`decoder.${layer}`],
  };
  return (of[panel] ?? []).find(has) ?? "";
}
