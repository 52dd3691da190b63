// Light, dark, or as the system says; the choice is remembered on this device only. The documents apply it themselves,
// before anything is painted.

import { button } from "./dom.js";
import { redraw } from "./redraw.js";

const NEXT = { "": "dark", dark: "light", light: "" };
const NAMES = { "": "as the system", dark: "dark", light: "light" };
const SIGNS = { "": "◐", dark: "●", light: "○" };

export function theme() {
  let now = stored();
  const box = button("", () => put(NEXT[now]), { id: "theme", class: "plain" });
  function put(next) {
    now = next;
    if (now) document.documentElement.dataset.theme = now;
    else delete document.documentElement.dataset.theme;
    redraw();
    box.textContent = SIGNS[now];
    box.title = `Colours: ${NAMES[now]}`;
    box.setAttribute("aria-label", `Colours: ${NAMES[now]}. Change`);
    try {
      localStorage.setItem("regard-theme", now);
    } catch {
      // a file, or a browser that keeps nothing: the choice holds for this visit
    }
  }
  put(now);
  return box;
}

function stored() {
  try {
    const found = localStorage.getItem("regard-theme") ?? "";
    return found in NEXT ? found : "";
  } catch {
    return "";
  }
}
