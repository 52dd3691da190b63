"""Which sentences of a translation are doubtful: one line on standard error, a report, and the exit code."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

from regard.cli.process import ExitCode, warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.chunks import TranslationCounts
    from regard.translation.translation import Translation


class Doubts:
    """Gathers what the guard says, place by place. The report appears when all is done; until then its rows are in a
    temporary file."""

    def __init__(self, report: Path | None = None, strict: bool = False) -> None:
        from regard.bulk.chunks import TranslationCounts

        self.report, self.strict, self.tally = report, strict, TranslationCounts()
        self._rows: IO[bytes] | None = None
        if report is not None and (report.is_dir() or not report.parent.is_dir()):
            raise InputError(f"--report {report} cannot be written: name a file in a folder that exists")

    def add(self, place: str, translation: Translation, lines: bool = False) -> None:
        """`lines`: the text is a whole file, and a sentence's place is its line."""
        places = self.tally.add(place, translation, 1 if lines else None)
        if self.report is not None:
            from regard.bulk.rows import report_row

            rows = "".join(report_row(*row) for row in zip(places, translation.sentences, strict=True))
            self.add_part(None, rows.encode())

    def add_part(self, tally: TranslationCounts | None, rows: bytes = b"") -> None:
        """The tally of a part of the text, and its rows of the report."""
        if tally is not None:
            self.tally.join(tally)
        if self.report is not None:
            if self._rows is None:
                self._rows = tempfile.TemporaryFile()  # noqa: SIM115
                weakref.finalize(self, self._rows.close)
            self._rows.write(rows)

    def finish(self, report_written: bool = False) -> None:
        """Write the report, say the summary, and exit with code 3 if that is asked for."""
        if self.report is not None and not report_written:
            from regard.files import write_atomically

            write_atomically(self.report.resolve(), self._write_report)
        if self.tally.doubtful:
            warn(self.summary())
            if self.strict:
                raise typer.Exit(ExitCode.DOUBTFUL)

    def _write_report(self, path: Path) -> None:
        with path.open("wb") as file:
            if self._rows is not None:
                self._rows.seek(0)
                shutil.copyfileobj(self._rows, file)

    def summary(self) -> str:
        """`3 of 40 sentences are doubtful: lines 4, 17, 31; --report r.jsonl says why`"""
        tally = self.tally
        verb = "is" if tally.doubtful == 1 else "are"
        start = f"{tally.doubtful:,} of {tally.sentences:,} sentence{'s' * (tally.sentences > 1)} {verb} doubtful"
        if tally.doubtful == 1:
            return f"{start}: {tally.named[0]}: {tally.reason}"
        names = tally.named
        kinds = {name.rpartition(" ")[0] for name in names}
        if len(kinds) == 1 and len(names) > 1:
            names = [name.rpartition(" ")[2] for name in names]
            names[0] = f"{kinds.pop()}s {names[0]}"
        more = f" and {tally.places - len(names):,} more" if tally.places > len(names) else ""
        why = f"{self.report} says why" if self.report else "--report why.jsonl says why"
        return f"{start}: {', '.join(names)}{more}; {why}"
