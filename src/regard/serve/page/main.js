// The page starts here: the models are asked for, the address is read, and the entrance that it names is shown. The code
// of the first entrance comes with the page, that of the others when they are opened.

import { isSaved } from "./api.js";
import { button, copyText, h, icon, show } from "./dom.js";
import { bindKeys, helpDialog } from "./keys.js";
import { loadModels, models, modelOf, version } from "./models.js";
import { onConnection, onKeyWanted, useKey } from "./network.js";
import { savedSentences } from "./saved.js";
import { canUndo, current, readAddress, select, subscribe, undo } from "./state.js";
import { redrawWithMedia } from "./redraw.js";
import { theme } from "./theme.js";
import { saveAsFile } from "./export.js";
import { translateEntrance } from "./translate.js";

const ENTRANCES = {
  translate: ["Translate", async () => translateEntrance],
  inside: ["Look inside", async () => (await import("./inside.js")).insideEntrance],
  lesson: ["Lesson", async () => (await import("./lesson.js")).lessonEntrance],
};
const ICONS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1.5-1.5",
  save: "M12 4v11m-5-4 5 5 5-5M5 20h14",
  keys: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18h.01",
};
const place = (id) => document.getElementById(id);
let entrance = null;
let shown = "";

/** Tell everybody, those who cannot see the page too. */
function say(text) {
  show(place("live"), text);
}

function banner(...children) {
  show(place("banner"), children);
}

function enter(sel, changed) {
  place("undo").disabled = !canUndo();
  if (sel.view !== shown) open(sel.view, changed);
  else entrance?.update(sel, changed);
}

async function open(view, changed) {
  shown = view;
  entrance = null;
  const [title, load] = ENTRANCES[view];
  document.title = `${title} · regard`;
  for (const link of place("entrances").children) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const late = setTimeout(() => show(place("main"), h("p", { class: "quiet" }, `Loading “${title}” …`)), 150);
  let make = null;
  try {
    make = await load();
  } catch {
    return notLoaded(view);
  } finally {
    clearTimeout(late);
  }
  if (view !== shown) return undefined; // another one was opened meanwhile
  entrance = make(say);
  show(place("main"), view === "lesson" ? null : h("h1", { class: "unseen" }, title), entrance.element);
  scrollTo(0, 0);
  return entrance.update(current(), changed);
}

/** The server does not answer, or has a newer page, whose files have other names. The address keeps the selection. */
function notLoaded(view) {
  if (view !== shown) return;
  shown = "";
  const again = button("Load the page again", () => location.reload());
  show(place("main"), h("p", { class: "note bad" }, "This view could not be loaded from the server. ", again));
}

function topLine() {
  for (const link of place("entrances").children) {
    const { view } = link.dataset;
    link.addEventListener("click", (event) => (event.preventDefault(), select({ view })));
    link.addEventListener("pointerenter", () => ENTRANCES[view][1]().catch(() => {})); // so that it is there at a click
  }
  const tool = (id, name, act) => icon(name, ICONS[id], act, { id });
  const copyLink = () => copyText(location.href, place("link"), "The link is copied", say);
  show(
    place("tools"),
    tool("undo", "Undo", () => undo()),
    isSaved() ? null : tool("link", "Copy the link to this view", copyLink),
    isSaved() ? null : tool("save", "Save this view as one file", () => saveAsFile(banner)),
    theme(),
    tool("keys", "Keys and help", () => place("help").showModal()),
  );
  place("skip").addEventListener("click", (event) => {
    event.preventDefault();
    place("main").focus();
  });
  document.querySelector(".mark").addEventListener("click", (event) => {
    event.preventDefault();
    select({ view: "translate" });
  });
}

function footLine() {
  show(
    place("foot"),
    h("span", {}, `regard ${version()}`),
    isSaved()
      ? h("span", {}, "saved as one file: the answers are in it, and nothing is loaded")
      : h(
          "span",
          {},
          "everything runs on this server, and nothing is sent elsewhere; the text in a link stays in the browsers of those who open it",
        ),
    isSaved() ? null : h("a", { href: "docs" }, "For programs: the API"),
  );
}

/** A server without models, or that wants a key, is still a server: say what to do. */
async function start() {
  const main = place("main");
  main.setAttribute("aria-busy", "true");
  show(main, h("p", { class: "quiet" }, "Loading …"));
  try {
    await loadModels();
  } catch (error) {
    show(main, h("p", { class: "note bad" }, error.message, " ", button("Try again", start)));
    return;
  } finally {
    main.setAttribute("aria-busy", "false");
  }
  footLine();
  if (!models().length) {
    show(
      main,
      h(
        "div",
        { class: "note" },
        h("h1", {}, "No model yet"),
        h(
          "p",
          {},
          "The server runs, but it has no model to translate with. Start it with one: ",
          h("code", {}, "regard serve MODEL"),
        ),
      ),
    );
    return;
  }
  subscribe(enter);
  readAddress();
  const ofLesson = current().view === "lesson"; // which brings its own sentence
  if (isSaved() && !ofLesson && !savedSentences().includes(current().text)) select({ text: savedSentences()[0] ?? "" });
  if (current().model && !modelOf()) {
    banner(`This server has no model “${current().model}”; its own choice is shown.`);
    select({ model: "" });
  }
  bindKeys(say);
}

/** Some servers answer only those who have a key; it is asked for when the first question is refused. */
function askForKey(message) {
  const box = h("input", { type: "password", id: "key", autocomplete: "off", "aria-label": "API key" });
  const use = (event) => {
    event.preventDefault();
    useKey(box.value.trim());
    banner();
    shown = ""; // everything is asked again
    enter(current(), null);
  };
  banner(
    h(
      "form",
      { class: "row", onsubmit: use },
      message,
      box,
      h("button", { type: "submit", class: "main" }, "Use this key"),
    ),
  );
}

redrawWithMedia();
onKeyWanted(askForKey);
onConnection((gone) => {
  banner(
    gone
      ? "The server does not answer. Your text is safe on this page; it goes on by itself when the server is back."
      : "",
  );
  say(gone ? "The server does not answer." : "The server is back.");
});
topLine();
helpDialog(place("help"));
start();
