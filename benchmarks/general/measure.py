"""A model on its test sets, in two ways, and beside what others said.

    native        the native engine in float32: the same on every machine but for rounding
    ctranslate2   CTranslate2 in 8 bits, the engine that `regard translate` uses on a CPU for the models of the box

Both search with a beam of 5 and take a line as one sentence; nothing is protected, checked or tried again.
Differences to others are tested by approximate randomisation, line by line (`regard.metrics.significance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from general.peers import Output
from general.sets import TestSet, languages_of
from regard.course.lab import has_word, sentences_of
from regard.course.minimal_pairs import all_pairs
from regard.errors import InputError
from regard.metrics.bleu import Bleu
from regard.metrics.chrf import Chrf
from regard.metrics.significance import TESTS, paired
from regard.translation.options import AS_LINES
from regard.translator import Translator

BEAM = 5
METRICS = (Bleu(), Chrf())
Record = dict[str, Any]  # for JSON


@dataclass(frozen=True)
class Candidate:
    """A model in one direction, as it is measured; a way that is not asked for is None."""

    direction: str
    native: Translator | None
    ctranslate2: Translator | None
    tag: str | None = None  # put before every source; None: the model's own, or none

    @property
    def any(self) -> Translator:
        found = self.native or self.ctranslate2
        assert found is not None
        return found


def tag_for(translator: Translator, direction: str) -> str | None:
    """The tag that makes a model translate in a direction: <de> for German, where the model has it; none for a model
    that is of this direction without one."""
    _, target = languages_of(direction)
    bundle = translator.bundle
    if bundle.tag is None and f"<{target}>" in bundle.tokenizer.config.tags:
        return f"<{target}>"
    if bundle.languages[1] not in (None, target):
        raise InputError(f"the model has no tag <{target}> and translates into {bundle.languages[1]!r}")
    if bundle.tokenizer.config.tags and bundle.tag is None and bundle.languages[1] is None:
        raise InputError(f"the model has no tag <{target}>; it has {', '.join(bundle.tokenizer.config.tags)}")
    return None


def measure(model: Candidate, test: TestSet) -> tuple[Record, list[str]]:
    """What a card says of a test set, and the translations."""
    ways = {"metrics": model.native, "ctranslate2": model.ctranslate2}
    said = {
        way: [one.text for one in translator.translate(test.sources, beam=BEAM, tag=model.tag, **AS_LINES)]
        for way, translator in ways.items()
        if translator is not None
    }
    first = next(iter(said.values()))
    record: Record = {"sentences": len(first), "beam": BEAM, "fingerprint": test.fingerprint}
    if test.name == "notes":
        for source, answer, wanted in zip(test.sources, first, test.references, strict=True):
            print(f"  {source}\n{'=' if answer == wanted else '≠'} {answer}")
        return record | {"exact": sum(a == b for a, b in zip(first, test.references, strict=True))}, first
    return record | {way: scores(texts, test.references) for way, texts in said.items()}, first


def scores(texts: Sequence[str], references: Sequence[str]) -> list[Record]:
    found = [metric.score(metric.stats(texts, references)) for metric in METRICS]
    return [{"name": one.name, "score": one.score, "signature": one.signature} for one in found]


def measure_pronouns(model: Candidate, limit: int | None = None) -> Record:
    """The share of the grammar's minimal pairs of which both sentences have the right pronoun, by greedy search."""
    _, pairs = all_pairs("pronoun", limit)
    sentences = sentences_of(pairs)
    found = model.any.translate([one.source for one in sentences], beam=1, tag=model.tag, **AS_LINES)
    right = [has_word(t.text, one.word, one.other) for t, one in zip(found, sentences, strict=True)]
    both = sum(a and b for a, b in zip(right[0::2], right[1::2], strict=True))
    test = TestSet.of("pronoun pairs", [(one.source, one.word) for one in sentences])
    share = {"name": "% right", "score": 100 * both / len(pairs), "signature": f"pairs:{len(pairs)}|beam:1"}
    way = "ctranslate2" if model.native is None else "metrics"
    return {"sentences": len(sentences), "beam": 1, "fingerprint": test.fingerprint, way: [share]}


def beside(
    test: TestSet, peers: Mapping[str, Output], ours: Sequence[str] | None, samples: int | None = None
) -> Record:
    """Each peer's scores on the lines that all of them have; with `ours`, how they differ from ours on these lines."""
    lines = [i for i, number in enumerate(test.numbers) if all(number in said for said in peers.values())]
    theirs = {name: [said[test.numbers[i]] for i in lines] for name, said in peers.items()}
    references = [test.references[i] for i in lines]
    if ours is None:
        return {name: {"sentences": len(lines), "metrics": scores(texts, references)} for name, texts in theirs.items()}
    found: Record = {name: {"sentences": len(lines), "metrics": []} for name in theirs}
    for metric in METRICS:
        systems = [metric.stats(texts, references) for texts in ([ours[i] for i in lines], *theirs.values())]
        mine, *others = paired(metric, systems, "randomisation", samples or TESTS["randomisation"][1])
        for name, one in zip(theirs, others, strict=True):
            kept = {key: one.to_dict()[key] for key in ("name", "score", "signature", "difference", "p_value")}
            found[name]["metrics"].append(kept | {"ours": mine.score.score})
    return found
