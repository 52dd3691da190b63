// One tab stop for a group of things, and arrow keys inside it: the way that screen readers expect grids and lists.

/**
 * @param {HTMLElement} container
 * @param {string} selector of the things inside
 * @param {number} [start] which of them the tab key reaches first
 * @param {Object<string, number>} [keys] steps by key, instead of those of a line of text
 */
export function rovingLine(container, selector, start = 0, keys = null) {
  const things = () => [...container.querySelectorAll(selector)];
  const all = things();
  all.forEach((thing, number) =>
    thing.setAttribute("tabindex", number === Math.max(0, Math.min(start, all.length - 1)) ? "0" : "-1"),
  );
  container.addEventListener("keydown", (event) => {
    const here = event.target.closest?.(selector);
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const list = things();
    const mirrored = getComputedStyle(container).direction === "rtl";
    const forward = (keys ?? { ArrowRight: mirrored ? -1 : 1, ArrowLeft: mirrored ? 1 : -1 })[event.key];
    let to = list.indexOf(here) + (forward ?? 0);
    if (event.key === "Home") to = 0;
    else if (event.key === "End") to = list.length - 1;
    else if (!forward) return;
    event.preventDefault();
    move(list, list[Math.max(0, Math.min(to, list.length - 1))]);
  });
  return container;
}

/** The same for a list from top to bottom. */
export function rovingList(container, selector, start = 0) {
  return rovingLine(container, selector, start, { ArrowDown: 1, ArrowUp: -1 });
}

/**
 * The same for the cells of a table.
 * @param {HTMLTableElement} table
 * @param {(row: number, column: number) => void} choose on Enter, space or a click
 */
export function rovingGrid(table, choose) {
  const cells = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  const place = (cell) => {
    const row = cells.findIndex((line) => line.includes(cell));
    return row < 0 ? null : [row, cells[row].indexOf(cell)];
  };
  cells.flat().forEach((cell, number) => cell.setAttribute("tabindex", number === 0 ? "0" : "-1"));
  table.addEventListener("keydown", (event) => {
    const at = place(event.target.closest?.("td"));
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = at;
    const mirrored = getComputedStyle(table).direction === "rtl" ? -1 : 1;
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -mirrored],
      ArrowRight: [0, mirrored],
      Home: [0, -column],
      End: [0, Infinity],
    };
    if (event.key in steps) {
      event.preventDefault();
      const [down, across] = steps[event.key];
      const line = cells[Math.max(0, Math.min(row + down, cells.length - 1))];
      move(cells.flat(), line[Math.max(0, Math.min(column + across, line.length - 1))]);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(row, column);
    }
  });
  table.addEventListener("click", (event) => {
    const at = place(event.target.closest?.("td"));
    if (!at) return;
    move(cells.flat(), cells[at[0]][at[1]]);
    choose(...at);
  });
  return (row, column) => cells[row]?.[column];
}

function move(list, to) {
  for (const thing of list) thing.setAttribute("tabindex", thing === to ? "0" : "-1");
  to?.focus();
}
