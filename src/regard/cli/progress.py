"""Progress of a long translation: a bar or a counter on a terminal, a line at intervals in a log, nothing for a short
one."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.process import warn

if TYPE_CHECKING:
    from rich.progress import Progress

BAR_DELAY = 1.0  # seconds before a bar appears
BAR_INTERVAL = 0.2  # seconds between two updates of the bar
LOG_INTERVAL, LATE_LOG_INTERVAL = 60.0, 600.0  # seconds between two lines in a log; the second after ten minutes
UNCOUNTED_SENTENCES = 200  # no counter is shown up to this number


class SentenceCounter:
    """Shows the number of sentences so far on standard error if that is a terminal, unless the translations (`out` is
    None) go to the same terminal."""

    def __init__(self, out: Path | None) -> None:
        self.enabled = sys.stderr.isatty() and (out is not None or not sys.stdout.isatty())
        self.sentences, self.shown = 0, False

    def add(self, sentences: int) -> None:
        self.sentences += sentences
        if self.enabled and self.sentences > UNCOUNTED_SENTENCES:
            self.shown = True
            print(f"\r{self.sentences:,} sentences", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


class FileProgress:
    """Callbacks of a file translation, which show lines, lines per second and the remaining time."""

    def __init__(self, shown: bool, terminal: bool) -> None:
        self.shown, self.terminal = shown, terminal
        self.begun = self.updated = time.monotonic()
        self.before = self.done = self.total = self.current = 0  # lines; `current`: sentences since the last chunk
        self._bar: Progress | None = None

    def resumed(self, done: int, total: int) -> None:
        self.before = self.done = done
        if self.shown:
            warn(f"resuming after line {done:,} of {total:,}, where an earlier run stopped")

    def sentences(self, number: int) -> None:
        self.current += number
        self._show()

    def lines(self, done: int, total: int) -> None:
        self.done, self.total, self.current = done, total, 0
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        passed, since = now - self.begun, now - self.updated
        if not self.shown or (not self.terminal and not self.total):
            return
        interval = BAR_INTERVAL if self.terminal else LOG_INTERVAL if passed < LATE_LOG_INTERVAL else LATE_LOG_INTERVAL
        if passed > (BAR_DELAY if self.terminal else LOG_INTERVAL) and since > interval:
            self.updated = now
            if self.terminal:
                self._draw()
            else:
                warn(self.text(passed))

    def text(self, seconds: float) -> str:
        """
        >>> progress = FileProgress(True, False)
        >>> progress.lines(50_000, 200_000)
        >>> progress.text(100)
        '50,000 of 200,000 lines, 500 lines/s, 5:00 left'
        """
        rate = (self.done - self.before + self.current) / max(seconds, 1e-9)
        if not self.total:
            return f"{self.done + self.current:,} sentences, {rate:,.0f}/s"
        text = f"{self.done:,} of {self.total:,} lines, {rate:,.0f} lines/s"
        if self.done == self.before or self.done >= self.total:
            return text
        left = int((self.total - self.done) * seconds / (self.done - self.before))
        hours, minutes = divmod(left // 60, 60)
        return f"{text}, {f'{hours}:{minutes:02}' if hours else minutes}:{left % 60:02} left"

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        if self._bar is None:
            self._bar = Progress(
                BarColumn(), TextColumn("{task.description}"), console=Console(file=sys.stderr), auto_refresh=False
            )
            self._bar.add_task("", total=None)
            self._bar.start()
        task = self._bar.task_ids[0]
        text = self.text(time.monotonic() - self.begun)
        self._bar.update(task, description=text, completed=self.done, total=self.total or None, refresh=True)

    def end(self) -> None:
        if self._bar is not None:
            self._draw()
            self._bar.stop()
