for (const grid of document.querySelectorAll('[role=grid]')) {
  const rows = [...grid.tBodies[0].rows].map(row => [...row.querySelectorAll('td')]);
  const right = getComputedStyle(grid).direction === 'rtl' ? -1 : 1;
  grid.addEventListener('keydown', event => {
    const y = rows.findIndex(row => row.includes(event.target));
    if (y < 0) return;
    const x = rows[y].indexOf(event.target), last = rows[y].length - 1;
    const to = { ArrowRight: [y, x + right], ArrowLeft: [y, x - right], ArrowDown: [y + 1, x], ArrowUp: [y - 1, x],
      Home: [y, 0], End: [y, last] }[event.key];
    if (!to) return;
    event.preventDefault();
    const row = rows[to[0]], cell = row && row[Math.min(to[1], to[0] === y ? to[1] : row.length - 1)];
    if (!cell) return;
    event.target.tabIndex = -1; cell.tabIndex = 0; cell.focus();
  });
}
