// A block that shows the answer to a question about the selection, and says truthfully where it stands: nothing asked,
// loading, stale (an older answer while the new one is on its way), refused, or ready.

import { ask, isSaved } from "./api.js";
import { current, currentPart, within } from "./state.js";
import { button, h, show } from "./dom.js";
import { ApiError } from "./network.js";

/**
 * @param {object} spec
 * @param {(sel: object) => any} spec.question a Question, null for none, or a promise of one
 * @param {(answer: any, sel: object) => any} spec.draw nodes for the answer
 * @param {(answer: any, sel: object) => string} [spec.caption] which view it is and how far to trust it
 * @param {string} [spec.empty] said where there is no question
 * @param {boolean} [spec.lazy] ask only while the block is near the window
 */
export function live({ question, draw, caption, empty = "Type a sentence above to see this.", lazy = true }) {
  const body = h("div", { class: "body" });
  const foot = h("p", { class: "caption" });
  const details = h("details", { class: "details small", hidden: true }, h("summary", {}, "Details"), foot);
  const element = h("div", { class: "live stack" }, body, details);
  let asked = null; // the question that is shown or on its way, as text
  let answer = null;
  let control = null;
  let near = !lazy;
  let missed = true; // whether there is something to catch up with: far from the window nothing is asked
  let turn = 0;
  const part = currentPart(); // in which the block is built, and is drawn

  const say = (text) => {
    show(foot, text);
    details.hidden = !text;
  };

  const state = (name) => {
    element.dataset.state = name;
    body.setAttribute("aria-busy", String(name === "loading" || name === "stale"));
  };

  async function update(sel = within(part, current)) {
    if (!near) {
      missed = true;
      return;
    }
    const mine = (turn += 1);
    let wanted;
    try {
      wanted = await within(part, () => question(sel));
    } catch (error) {
      if (mine === turn) refuse(error);
      return;
    }
    if (mine !== turn) return;
    const key = wanted && JSON.stringify(wanted);
    if (key === asked && answer !== null) return redraw(sel);
    if (key === asked && control) return;
    control?.abort();
    control = null;
    asked = key;
    if (!wanted) {
      answer = null;
      say();
      show(body, empty ? h("p", { class: "quiet" }, empty) : null);
      return state("empty");
    }
    await load(wanted);
  }

  async function load(wanted) {
    const mine = (control = new AbortController());
    state(answer === null ? "loading" : "stale");
    if (answer === null) show(body, h("p", { class: "quiet small" }, "Loading …"));
    try {
      const found = await ask(wanted.path, wanted.body, { signal: mine.signal });
      if (mine !== control) return;
      control = null;
      answer = found;
      redraw(within(part, current));
    } catch (error) {
      if (mine !== control) return;
      control = null;
      answer = null;
      refuse(error, () => load(wanted));
    }
  }

  function redraw(sel) {
    // a control that the new drawing lacks leaves the focus to the one before it
    const keyed = [...body.querySelectorAll("[data-key]")];
    const keys = keyed.slice(0, keyed.indexOf(document.activeElement) + 1).map((one) => one.dataset.key);
    const now = (key) => body.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
    within(part, () => {
      show(body, draw(answer, sel));
      say(caption?.(answer, sel));
    });
    state("ready");
    keys.reverse().map(now).find((one) => one?.checkVisibility())?.focus();
  }

  function refuse(error, again = null) {
    asked = again ? asked : null;
    missed = true;
    say();
    const known = error instanceof ApiError;
    const lasting = known && (error.status < 500 || error.status === 501); // 501: a library is not installed
    const kind = lasting ? "note" : "note bad";
    const message = known ? error.message : "Something went wrong on this page: " + error.message;
    show(
      body,
      h(
        "p",
        { class: kind },
        message,
        " ",
        again && !isSaved() && !lasting ? button("Try again", again) : null,
      ),
    );
    state(known && error.status === 413 ? "too-long" : "refused");
  }

  if (lazy) {
    const watch = new IntersectionObserver(
      (changes) => {
        near = changes.at(-1).isIntersecting;
        if (!near || !missed) return; // what is drawn stays: a click may just be on its way to it
        missed = false;
        update();
      },
      { rootMargin: "300px" },
    );
    watch.observe(element);
  }
  return { element, update, answer: () => answer };
}

/** A titled panel around blocks. */
export function panel({ id, letter, title, lede }, ...inside) {
  const blocks = inside.filter((one) => one?.update);
  const element = h(
    "section",
    { class: "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}`, tabindex: "-1" },
    h(
      "header",
      {},
      h("h2", { id: `title-${id}` }, letter ? h("b", { "aria-hidden": "true" }, letter) : null, title),
      h("p", { class: "lede" }, lede),
    ),
    inside.map((one) => (one?.update ? one.element : one)),
  );
  return {
    id,
    letter,
    title,
    element,
    update: (sel, changed) => blocks.forEach((block) => block.update(sel, changed)),
  };
}
