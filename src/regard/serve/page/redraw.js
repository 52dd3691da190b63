// Drawings follow what they depend on: the colours of the theme, and paper, where what is wide and scrolls on a screen
// is made small enough.

const DRAWN = ".ribbons, .arcs, canvas"; // those that measure words or read colours; they listen to "redraw"

export function redraw() {
  for (const one of document.querySelectorAll(DRAWN)) one.dispatchEvent(new Event("redraw"));
}

/** Call once; it holds for what is drawn later, too. */
export function redrawWithMedia() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    for (const box of document.querySelectorAll(".scroll")) {
      for (const inner of box.children) inner.style.zoom = "";
      const share = box.clientWidth / box.scrollWidth;
      if (matches && share < 1) for (const inner of box.children) inner.style.zoom = String(share);
    }
    redraw();
  });
}
