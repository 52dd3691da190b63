"""Marked sentences of a translation: a summary on standard error, a report file, and the exit code."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regard.cli.process import ExitCode, warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.chunks import TranslationCounts
    from regard.translation.translation import Translation


class DoubtReport:
    """Counts marked sentences. The `report` file is created when all is done; until then its rows are in a temporary
    file. Raises InputError if the report cannot be written."""

    def __init__(self, report: Path | None = None, strict: bool = False) -> None:
        from regard.bulk.chunks import TranslationCounts

        self.report, self.strict, self.counts = report, strict, TranslationCounts()
        if report is None:
            return
        if report.is_dir() or not report.parent.is_dir():
            raise InputError(f"--report {report} cannot be written: name a file in a folder that exists")
        self._rows = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._rows.close)

    def add(self, place: str, translation: Translation, lines: bool = False) -> None:
        """Count a translation. `lines`: the text is a whole file, and the place of a sentence is its line."""
        places = self.counts.add(place, translation, 1 if lines else None)
        if self.report is not None:
            from regard.bulk.rows import report_row

            rows = zip(places, translation.sentences, strict=True)
            self._rows.write("".join(report_row(*row) for row in rows).encode())

    def add_part(self, counts: TranslationCounts, rows: bytes) -> None:
        """Add the counts of a part of the text, and its rows of the report."""
        self.counts.join(counts)
        if self.report is not None:
            self._rows.write(rows)

    def finish(self, report_written: bool = False) -> None:
        """Write the report and the summary. If `strict`, raises typer.Exit with code 3 for marked sentences."""
        if self.report is not None and not report_written:
            from regard.files import write_atomically

            write_atomically(self.report.resolve(), self._write_report)
        if self.counts.places:
            warn(self.summary())
            if self.strict:
                raise typer.Exit(ExitCode.DOUBTFUL)

    def _write_report(self, path: Path) -> None:
        self._rows.seek(0)
        with path.open("wb") as file:
            shutil.copyfileobj(self._rows, file)

    def summary(self) -> str:
        """The summary: `1 doubtful, 2 to check, of 40 sentences: lines 4, 17, 31; --report r.jsonl says why`"""
        counts = self.counts
        kinds = ((counts.doubtful, "doubtful"), (counts.check, "to check"))
        marked = ", ".join(f"{count:,} {name}" for count, name in kinds if count)
        start = f"{marked}, of {counts.sentences:,} sentence{'s' * (counts.sentences > 1)}"
        if counts.doubtful + counts.check == 1:
            return f"{start}: {counts.named[0]}: {counts.reason}"
        names = counts.named
        places = {name.rpartition(" ")[0] for name in names}
        if len(places) == 1 and len(names) > 1:
            names = [name.rpartition(" ")[2] for name in names]
            names[0] = f"{places.pop()}s {names[0]}"
        more = f" and {counts.places - len(names):,} more" if counts.places > len(names) else ""
        why = f"{self.report} says why" if self.report else "--report why.jsonl says why"
        return f"{start}: {', '.join(names)}{more}; {why}"
