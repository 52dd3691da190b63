// Elements from plain data. Text enters the page only as text nodes, so no sentence can become markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Build an HTML element.
 * @param {string} tag
 * @param {Object<string, any>} [props] `on…` are listeners, `vars` are CSS custom properties, the rest are attributes;
 *   null, undefined and false leave an attribute out
 * @param {...any} children nodes, strings, numbers or lists of them
 */
export function h(tag, props = {}, ...children) {
  return fill(dress(document.createElement(tag), props), children);
}

/** The same for SVG. */
export function svg(tag, props = {}, ...children) {
  return fill(dress(document.createElementNS(SVG, tag), props), children);
}

/** Replace everything inside an element. */
export function show(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

/** A control with a visible label. */
export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

/** A control with a picture, an SVG path of 24 by 24, and a name that appears beside it on hover. */
export function icon(name, path, onclick, props = {}) {
  const picture = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path }));
  return button(picture, onclick, { title: name, "aria-label": name, class: "plain", ...props });
}

const TICK = "m5 13 4 4L19 7";

/** Say for two seconds at a control with a picture what it did. */
export function tellAt(control, text, done = true) {
  if (control.classList.contains("told")) return;
  const before = [...control.childNodes];
  const tick = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: TICK }));
  control.classList.add("told");
  show(control, done ? tick : before, h("span", { class: "bubble", "aria-hidden": "true" }, text));
  setTimeout(() => {
    control.classList.remove("told");
    show(control, before);
  }, 2000);
}

/** Copy a text, and say at the control that asked for it whether it was copied: not every browser allows it. */
export async function copyText(text, control, said, say) {
  try {
    await navigator.clipboard.writeText(text);
    tellAt(control, said);
    say(`${said}.`);
  } catch {
    tellAt(control, "The browser does not allow copying", false);
    say("The browser does not allow copying.");
  }
}

/**
 * A row of alternatives of which one holds, as radio buttons: the browser gives them arrow keys and a group name.
 * @param {string} name
 * @param {[string, string, string?][]} options value, label and an explanation
 * @param {string} value
 * @param {(value: string) => void} choose
 */
export function choice(name, options, value, choose) {
  const group = `choice-${name.replace(/\W+/g, "-")}-${(choice.count = (choice.count ?? 0) + 1)}`;
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, name),
    options.map(([key, label, title]) =>
      h(
        "label",
        { title },
        h("input", {
          type: "radio",
          name: group,
          value: key,
          checked: key === value,
          "data-key": `${name}-${key}`,
          onchange: () => choose(key),
        }),
        h("span", {}, label),
      ),
    ),
  );
}

/** What may be wider than the window and has nothing to focus: the keyboard scrolls it. */
export function scroller(label, ...children) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, children);
}

/** The head of a plain table: a row of the names of its columns. */
export function headRow(names) {
  const cells = names.map((name) => (name ? h("th", { scope: "col" }, name) : h("td")));
  return h("thead", {}, h("tr", {}, cells));
}

function dress(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}
