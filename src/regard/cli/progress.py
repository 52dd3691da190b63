"""How far a long translation is: a bar on a terminal, a line now and then in a log, nothing for short ones."""

from __future__ import annotations

import sys
import time

from regard.cli.process import warn

SOON = 1.0  # seconds before a bar appears
DRAWN = 0.2  # seconds between two pictures of it
FIRST, OFTEN, LATER = 60.0, 60.0, 600.0  # seconds before the first line in a log, between two, and after ten minutes


class FileProgress:
    """Called by a translation of a file; shows lines, lines a second and the time that is left."""

    def __init__(self, shown: bool, terminal: bool) -> None:
        from rich.progress import Progress

        self.shown, self.terminal = shown, terminal
        self.begun = self.said = time.monotonic()
        self.before = self.done = self.total = self.current = 0  # lines; `current`: sentences after the last chunk
        self._bar: Progress | None = None

    def resumed(self, done: int, total: int) -> None:
        self.before = self.done = done
        if self.shown:
            warn(f"going on after line {done:,} of {total:,}, where an earlier run stopped")

    def sentences(self, number: int) -> None:
        self.current += number
        self._show()

    def lines(self, done: int, total: int) -> None:
        self.done, self.total, self.current = done, total, 0
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if not self.shown:
            return
        if self.terminal:
            if now - self.begun > SOON and now - self.said > DRAWN:
                self.said = now
                self._draw()
        elif (
            self.total and now - self.begun > FIRST and now - self.said > (OFTEN if now - self.begun < LATER else LATER)
        ):
            self.said = now
            warn(self.text(now - self.begun))

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
        said = self.text(time.monotonic() - self.begun)
        self._bar.update(task, description=said, completed=self.done, total=self.total or None, refresh=True)

    def end(self) -> None:
        if self._bar is not None:
            self._draw()
            self._bar.stop()
