"""Which sentences of a translation are doubtful: one line on standard error, a report, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from regard.cli.process import ExitCode, warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.decode.translation import SentenceTranslation, Translation

NAMED = 10  # places that the summary names


class Doubts:
    """Gathers what the guard says, place by place. The report appears when all is done."""

    def __init__(self, report: Path | None = None, strict: bool = False) -> None:
        self.report, self.strict = report, strict
        self.sentences = self.doubtful = 0
        self.places: dict[str, None] = {}  # in order, each once
        self.reason = ""  # of the first doubtful sentence
        self.rows: list[str] = []
        if report is not None and (report.is_dir() or not report.parent.is_dir()):
            raise InputError(f"--report {report} cannot be written: name a file in a folder that exists")

    def add(self, place: str, translation: Translation, lines: bool = False) -> None:
        """`lines`: the text is a whole file, and a sentence's place is its line."""
        line, at = 1, 0
        for sentence in translation.sentences:
            if lines:
                line, at = line + translation.source.count("\n", at, sentence.source_span[0]), sentence.source_span[0]
                place = f"line {line}"
            self.sentences += 1
            if sentence.reasons:
                self.doubtful += 1
                self.places[place] = None
                self.reason = self.reason or str(sentence.reasons[0])
            if self.report is not None:
                row = {"place": place, **sentence_row(sentence)}
                self.rows.append(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def finish(self) -> None:
        """Write the report, say the summary, and exit with code 3 if that is asked for."""
        if self.report is not None:
            from regard.files import write_atomically

            write_atomically(self.report.resolve(), lambda path: path.write_text("".join(self.rows), encoding="utf-8"))
        if self.doubtful:
            warn(self.summary())
            if self.strict:
                raise typer.Exit(ExitCode.DOUBTFUL)

    def summary(self) -> str:
        """`3 of 40 sentences are doubtful: lines 4, 17, 31; --report r.jsonl says why`"""
        verb = "is" if self.doubtful == 1 else "are"
        start = f"{self.doubtful:,} of {self.sentences:,} sentence{'s' * (self.sentences > 1)} {verb} doubtful"
        if self.doubtful == 1:
            return f"{start}: {next(iter(self.places))}: {self.reason}"
        names = list(self.places)
        kinds = {name.rpartition(" ")[0] for name in names}
        if len(kinds) == 1 and len(names) > 1:
            names = [name.rpartition(" ")[2] for name in names]
            names[0] = f"{kinds.pop()}s {names[0]}"
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        why = f"{self.report} says why" if self.report else "--report why.jsonl says why"
        return f"{start}: {', '.join(names[:NAMED])}{more}; {why}"


def sentence_row(sentence: SentenceTranslation) -> dict[str, Any]:
    """A sentence as JSON."""
    return {
        "source": sentence.source,
        "text": sentence.text,
        "source_span": sentence.source_span,
        "target_span": sentence.target_span,
        "confidence": None if sentence.confidence is None else round(sentence.confidence, 4),
        "reasons": [{"name": reason.name, "text": reason.text} for reason in sentence.reasons],
        "protected": [
            {
                "text": one.text, "kind": one.kind, "wanted": one.wanted, "source_span": one.source,
                "target_span": one.target, "status": one.status, "note": one.note,
            }
            for one in sentence.protected
        ],
        "alignment": sentence.alignment,
    }  # fmt: skip
