// From a part of the picture to the panels that show more of it.

import { button, h } from "./dom.js";
import { select } from "./state.js";

/**
 * @param {ReturnType<import("./places.js").panelsOf>} places
 * @param {{named: (id: string) => any, jump: (panel: any) => void}} others the panels of the page
 */
export function panelLinks(places, { named, jump }) {
  if (!places.length) return null;
  return h(
    "p",
    { class: "row small places" },
    h("span", { class: "quiet" }, "More in"),
    places.map(({ panel: id, set }) => {
      const panel = named(id);
      const go = () => (select(set), jump(panel));
      const label = [h("b", { "aria-hidden": "true" }, panel.letter), ` ${panel.title}`];
      return button(label, go, { class: "place", "data-key": `place-${id}` });
    }),
  );
}
