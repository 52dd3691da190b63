"""`regard score`: the probability of given translations by a model, with forced decoding."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TextIO

import typer

from regard.cli.lines import STDIN, check_output, read_lines, write_output
from regard.cli.options import Device, FlagTable, Json, LengthPenalty, Model
from regard.device import has_torch
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.search.likelihood import Likelihood
    from regard.translator import Translator


FLAGS = FlagTable("""
--src FILE          Sentences, one a line (.gz .xz .bz2 .zst too).
--tgt FILE          Their translations, line by line.
--candidates FILE   Several translations of each sentence, to be ranked: 'LINE ||| TEXT ||| …', lines counted from 0, as
                    translate --nbest prints them.
--tag TAG           One of the model's tags, put before every source sentence.
--tokens            The log-probability of each token too.
--total             One figure for all pairs: the perplexity of a token, EOS counted.
--out FILE          Where to write (.gz .xz .bz2 .zst too). [default: the terminal]
""")


def score(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE TARGET...", help='A sentence and its translations. Write -- before what starts with "-".'
        ),
    ] = None,
    src: Annotated[Path | None, FLAGS("--src")] = None,
    tgt: Annotated[Path | None, FLAGS("--tgt")] = None,
    candidates: Annotated[Path | None, FLAGS("--candidates")] = None,
    model: Model = None,
    length_penalty: LengthPenalty = None,
    tag: Annotated[str | None, FLAGS("--tag")] = None,
    tokens: Annotated[bool, FLAGS("--tokens")] = False,
    total: Annotated[bool, FLAGS("--total")] = False,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    as_json: Json = False,
    device: Device = "auto",
) -> None:
    """How probable a model finds given translations.

    One pair is scored token by token; several targets are ranked, best first. For two files there is a line per pair:
    log-probability, a tab, perplexity per token. Logarithms are natural; the end of the sentence counts as a token.

    \b
      regard score "The cat is black." "Le chat est noir." "Le chat noir est."
      regard score --src corpus/dev.en --tgt corpus/dev.fr --total
    """
    check_given(text, src, tgt, candidates, total)
    check_output(out, src)
    from regard.translator import Translator

    translator = Translator.load(model, device, "native" if has_torch() else "ctranslate2")
    alpha = translator.config.length_penalty if length_penalty is None else length_penalty
    if text:
        found = translator.rank(text[0], text[1:], length_penalty=alpha, tag=tag)
        shown = ScoreWriter(alpha, as_json, tokens or len(text) == 2)
        write_output(out, lambda file: shown.write_ranking(file, found))
    elif src is not None and candidates is not None:
        shown = ScoreWriter(alpha, as_json, tokens)
        ranked = ranked_candidates(translator, src, candidates, alpha, tag)
        write_output(out, lambda file: shown.write_candidates(file, ranked))
    elif src is not None and tgt is not None:
        shown = ScoreWriter(alpha, as_json, tokens)
        rows = translator.scores(pairs_of(src, tgt), tag=tag)
        write_output(out, lambda file: shown.write_total(file, rows) if total else shown.write_pairs(file, rows))


def check_given(
    text: list[str] | None, src: Path | None, tgt: Path | None, candidates: Path | None, total: bool
) -> None:
    if text:
        if src or tgt or candidates:
            raise InputError("both texts and files were given; give one or the other")
        if len(text) < 2:
            raise InputError("a source and its translations are scored, but one text was given; give a target too")
    elif src is None:
        raise InputError("nothing to score: give a source and targets, or --src FILE and --tgt FILE")
    elif (tgt is None) == (candidates is None):
        raise InputError("--src needs --tgt FILE, or --candidates FILE for several translations of a line; give one")
    if total and tgt is None:
        raise InputError("--total is of pairs of lines; give --src FILE and --tgt FILE")
    if [src, tgt, candidates].count(STDIN) > 1:
        raise InputError('standard input ("-") can be read once; name a file for the other')


# ── reading ──


def pairs_of(src: Path, tgt: Path) -> Iterator[tuple[str, str]]:
    """Yield the pairs line by line; raise if one file is longer than the other."""
    for number, pair in enumerate(zip_longest(read_lines(src), read_lines(tgt))):
        source, target = pair
        if source is None or target is None:
            short, long = (src, tgt) if source is None else (tgt, src)
            raise InputError(f"{short} ends after {number:,} lines, but {long} goes on; they must have equally many")
        yield source, target


class NumberedCandidate(NamedTuple):
    line: int  # line of its source, counted from 0
    text: str


def read_candidates(path: Path) -> Iterator[NumberedCandidate]:
    """Yield the lines of an n-best list; fields after the text are ignored."""
    last = 0
    for number, row in enumerate(read_lines(path), start=1):
        line, mark, rest = row.partition("|||")
        if not mark or not line.strip().isdecimal():
            raise InputError(f"line {number:,} of {path} is no 'LINE ||| TEXT ||| …', as translate --nbest prints it")
        found = NumberedCandidate(int(line), rest.partition("|||")[0].strip())
        if found.line < last:
            raise InputError(f"line {number:,} of {path} is of source line {found.line}, after {last}; sort it first")
        last = found.line
        yield found


def ranked_candidates(
    translator: Translator, src: Path, candidates: Path, alpha: float, tag: str | None
) -> Iterator[tuple[int, list[Likelihood]]]:
    """Yield the candidates of each source line, best first."""
    lines: deque[int] = deque()  # of the candidates that are not yet scored

    def pairs() -> Iterator[tuple[str, str]]:
        sources, source, at = read_lines(src), "", -1
        for one in read_candidates(candidates):
            while at < one.line:
                line = next(sources, None)
                if line is None:
                    raise InputError(f"{candidates} has source line {one.line}, but {src} has {at + 1:,} lines")
                source, at = line, at + 1
            lines.append(one.line)
            yield source, one.text

    numbered = ((lines.popleft(), found) for found in translator.scores(pairs(), tag=tag))
    for line, group in groupby(numbered, key=lambda pair: pair[0]):
        yield line, sorted((found for _, found in group), key=lambda one: -one.score(alpha))


# ── writing ──


@dataclass(frozen=True)
class ScoreWriter:
    alpha: float  # of the length penalty, for ranking
    as_json: bool
    tokens: bool

    def write_ranking(self, out: TextIO, found: list[Likelihood]) -> None:
        for one in found:
            if self.as_json:
                out.write(self._json(one))
            elif len(found) == 1:
                out.write(token_table(one))
            else:
                out.write(f"{one.score(self.alpha):.4f}\t{self._row(one)}\t{one.target}\n")

    def write_candidates(self, out: TextIO, ranked: Iterator[tuple[int, list[Likelihood]]]) -> None:
        for line, found in ranked:
            for one in found:
                tokens = f" ||| {token_list(one)}" if self.tokens else ""
                row = f"{line} ||| {one.target} ||| {one.score(self.alpha):.4f}{tokens}\n"
                out.write(self._json(one, line=line) if self.as_json else row)

    def write_pairs(self, out: TextIO, rows: Iterator[Likelihood]) -> None:
        for one in rows:
            out.write(self._json(one) if self.as_json else f"{self._row(one)}\n")

    def write_total(self, out: TextIO, rows: Iterator[Likelihood]) -> None:
        from regard.search.likelihood import perplexity

        pairs = tokens = 0
        log_prob = 0.0
        for one in rows:
            pairs, tokens, log_prob = pairs + 1, tokens + len(one.tokens), log_prob + one.log_prob
        mean = perplexity(log_prob, tokens)
        if self.as_json:
            row = {"pairs": pairs, "tokens": tokens, "log_prob": log_prob, "perplexity": mean}
            out.write(json.dumps(row) + "\n")
        else:
            out.write(f"perplexity {mean:.4f} a token; {pairs:,} pairs, {tokens:,} tokens, log P {log_prob:.2f}\n")

    def _row(self, one: Likelihood) -> str:
        tokens = f"\t{token_list(one)}" if self.tokens else ""
        return f"{one.log_prob:.4f}\t{one.perplexity:.4f}{tokens}"

    def _json(self, one: Likelihood, **more: Any) -> str:
        row = more | {
            "source": one.source, "target": one.target, "log_prob": one.log_prob, "perplexity": one.perplexity,
            "score": one.score(self.alpha), "tokens": one.tokens, "token_log_probs": one.token_log_probs,
        }  # fmt: skip
        return json.dumps(row, ensure_ascii=False) + "\n"


def token_list(one: Likelihood) -> str:
    """The tokens with their scores: `▁Le:-0.0321 ▁chat:-0.0114 …`"""
    return " ".join(f"{t}:{p:.4f}" for t, p in zip(one.tokens, one.token_log_probs, strict=True))


def token_table(one: Likelihood) -> str:
    rows = [f"{p:>9.4f}  {t}\n" for t, p in zip(one.tokens, one.token_log_probs, strict=True)]
    return "".join(rows) + f"{one.log_prob:>9.4f}  in all; perplexity {one.perplexity:.4f} a token\n"
