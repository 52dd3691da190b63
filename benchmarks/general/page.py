"""The table as Markdown, put between two marks of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from general.goals import goal_of
from general.peers import PUBLISHED, PUBLISHED_BY, SIZES, SYSTEMS
from general.sets import DIRECTIONS
from general.speed import WAYS
from regard.errors import InputError
from regard.files import write_atomically
from regard.report.table import Table

BEGIN, END = "<!-- table: python benchmarks/box.py --docs -->", "<!-- end of the table -->"
SURE = 0.01  # the greatest p of a difference that is marked
ONLY_PUBLISHED = ("OPUS-MT", "Argos")
NONE = "–"


def write_page(path: Path, results: Mapping[str, Any]) -> None:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    begin, end = text.find(BEGIN), text.find(END)
    if not 0 <= begin < end:
        raise InputError(f"{path} must hold the lines {BEGIN} and {END}, between which the table is put")
    made = f"{text[: begin + len(BEGIN)]}\n\n{markdown(results)}\n\n{text[end:]}"
    write_atomically(path, lambda place: place.write_text(made, encoding="utf-8"))


def markdown(results: Mapping[str, Any]) -> str:
    return "\n\n".join(block for block in (quality(results), "\n".join(notes(results)), speeds(results)) if block)


def quality(results: Mapping[str, Any]) -> str:
    peers = [*SYSTEMS.values(), *ONLY_PUBLISHED]
    header = ["direction", "test set", "lines", "regard", "in 8 bits", "goal", *peers]
    rows = []
    for direction in DIRECTIONS:
        found = results.get(direction, {})
        tests, others = found.get("tests", {}), found.get("peers", {})
        for name, lines in found.get("lines", {}).items():
            ours, goal = tests.get(name, {}), goal_of(direction, name)
            row = [direction, name, f"{lines:,}", _own(ours), _scores(ours.get("ctranslate2"))]
            row.append(goal.text() if goal else "")
            row += [_peer(others.get(name, {}).get(system), lines) for system in SYSTEMS.values()]
            row += [_figure(PUBLISHED.get((direction, name), {}).get(system)) for system in ONLY_PUBLISHED]
            rows.append(row)
    return Table(header, rows, left=(0, 1)).markdown()


def _own(test: Mapping[str, Any]) -> str:
    if "exact" in test:
        return f"{test['exact']} exact"
    return _scores(test.get("metrics")) if test else "no translator yet"


def _scores(metrics: list[dict[str, Any]] | None) -> str:
    return " / ".join(f"{one['score']:.2f}" for one in metrics) if metrics else NONE


def _figure(score: float | None) -> str:
    return NONE if score is None else f"{score:.1f}"


def _peer(found: Mapping[str, Any] | None, lines: int) -> str:
    if not found:
        return NONE
    p = found["metrics"][0].get("p_value")
    mark = "" if p is None else " †" if p <= SURE else f" (p = {p:.2f})"
    return f"{_scores(found['metrics'])}{mark}{'' if found['sentences'] == lines else ' ‡'}"


def notes(results: Mapping[str, Any]) -> Iterator[str]:
    """What the cells mean, with the signatures."""
    yield (
        "BLEU / chrF. *regard*: native engine, float32, a line as one sentence, beam 5. *In 8 bits*: the same by "
        "CTranslate2 in 8 bits, which `regard translate` uses on a CPU. Both are in the cards. "
        f"OPUS-MT and Argos: {PUBLISHED_BY}; the other peers are scored here from their outputs "
        f"({', '.join(f'{name} {size} a direction' for name, size in SIZES.items())}). "
        f"† BLEU differs from ours with p ≤ {SURE:g} by approximate randomization, otherwise p is given."
    )
    parts = [
        f"{direction} {name} {part['sentences']:,}"
        for direction in DIRECTIONS
        for name, systems in results.get(direction, {}).get("peers", {}).items()
        for part in list(systems.values())[:1]
        if part["sentences"] < results[direction].get("lines", {}).get(name, 0)
    ]
    if parts:
        yield f"‡ Fewer lines of the set: {', '.join(parts)}."
    signatures = {
        f"{one['name']} `{one['signature']}`": None
        for found in results.values()
        for test in found.get("tests", {}).values()
        for way in ("metrics", "ctranslate2")
        for one in test.get(way, ())
    }
    tested = {
        f"`{one['signature']}`": None
        for found in results.values()
        for systems in found.get("peers", {}).values()
        for system in systems.values()
        for one in system["metrics"]
        if "p_value" in one
    }
    if signatures:
        yield ""
        yield f"Signatures: {', '.join(signatures)}{'; tests ' if tested else ''}{', '.join(tested)}."


def speeds(results: Mapping[str, Any]) -> str:
    """Sizes, and speeds where they were measured: of one sentence as a user gets it, and by the search alone."""
    header = ["direction", "weights, MB", "sentences/s", "cores"]
    texts = list(dict.fromkeys(name for found in results.values() for name in _latency(found)))
    header += [f"{name}, {way}, ms" for name in texts for way in WAYS]
    rows = []
    for direction in DIRECTIONS:
        found = results.get(direction, {})
        if "weights_bytes" in found:
            one = found.get("speed", {})
            rate = one.get("sentences_per_s")
            cells = [NONE if rate is None else f"{rate:.0f}", str(one.get("cores", NONE))]
            cells += [_milliseconds(_latency(found).get(name, {}).get(way)) for name in texts for way in WAYS]
            rows.append([direction, f"{found['weights_bytes'] / 1e6:.1f}", *cells])
    about = (
        "\n\nOne sentence at a time, CTranslate2 in 8 bits, the median; in brackets the ratio to the model "
        "of `--beside` in the same run. *Checked*: as `regard translate` does it, with protected spans, word alignment "
        "and confidence; *bare*: the search alone."
    )
    return Table(header, rows).markdown() + (about if texts else "") if rows else ""


def _latency(found: Mapping[str, Any]) -> Mapping[str, Any]:
    measured: Mapping[str, Any] = found.get("speed", {}).get("latency", {})
    return measured


def _milliseconds(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return NONE
    return f"{one['median_ms']:.0f}" + (f" ({one['ratio']:.2f})" if "ratio" in one else "")
