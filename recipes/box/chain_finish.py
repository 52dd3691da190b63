"""What the cards of six packed translators say: of themselves, of their attention, of their confidence.

Nothing here is fitted or chosen on a set that is reported: newstest2013 is one to choose by for French and German, and
one to report for Spanish, which has no newstest2014.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chain_cost import StageCost
from chain_plan import DIRECTIONS, pair_of

if TYPE_CHECKING:
    from chain import Chain

HERE = Path(__file__).parent
NAMES = {"en": "English", "fr": "French", "de": "German", "es": "Spanish"}
SAID = ("voice.", "tatoeba.", "europarl.")  # how files of OUT/translated begin
WITHOUT_PAIRS = "Wikipedia, Common Voice, novels and guides"
LINES, TINY_LINES = 250, 20  # of each text
# Kinds of text that a mark must be right about: news, encyclopaedia, labels, words, software, teaching, dialogue.
SOURCES = ("news", "wiki", "ui", "vocab", "manuals", "php", "courses", "openedx", "science", "games")
# Names of files in DATA without the language at their end; {pair} is en-fr, {other} fr.
FITTED_ON = {
    "FLORES dev": "tests/flores-dev",
    "newstest2013": "tests/newstest2013",
    "Tatoeba dev": "tatoeba-{pair}/dev",
    "Europarl dev": "{pair}/dev",
} | {f"{source} dev": f"{source}-{{pair}}/dev" for source in SOURCES}
MEASURED_ON = {
    "FLORES devtest": "tests/flores-devtest",
    "newstest2014": "tests/newstest2014.{other}",
    "newstest2013": "tests/newstest2013",
    "Tatoeba v2021-08-07": "tests/tatoeba.{pair}",
} | {f"{source} test": f"{source}-{{pair}}/test" for source in ("ui", "vocab", "manuals")}
Sets = list[tuple[str, Path, Path]]  # name, sources, references


def about_of(way: str, teacher: str) -> str:
    """general-about.toml for one direction of a model with this teacher, "" for none."""
    source, target = way.split("-")
    text = (HERE / "general-about.toml").read_text(encoding="utf-8")
    stated = [line for line in text.splitlines() if not line.startswith("#")]
    of_all = [(line, re.search(r"  # only (\w+)$", line)) for line in stated]
    true = (source, target, "taught" if teacher else "untaught")
    lines = [line[: only.start()] if only else line for line, only in of_all if only is None or only[1] in true]
    said = {"SOURCE": NAMES[source], "TARGET": NAMES[target], "TEACHER": teacher}
    return re.sub("|".join(said), lambda found: said[found[0]], "\n".join(lines)) + "\n"


def teacher_of(card: Mapping[str, Any]) -> str:
    """The translations by models that a model learnt from, and whose they are, by its card; "" where there are none.

    A larger teacher says English sentences of Europarl too. With --self-taught there is none: the student goes on from
    the model that said the others, and is that model.

    >>> said = {"recipe": {"data": {"corpus": [{"src": "voice.en-fr.en"}]}}}
    >>> teacher_of(said | {"started_from": {"folder": "half"}})
    'sentences of Wikipedia, Common Voice, novels and guides that the model itself translated, halfway through training'
    """
    corpora = card.get("recipe", {}).get("data", {}).get("corpus", [])
    names = [Path(corpus["src"]).name for corpus in corpora]
    if not any(name.startswith(SAID) for name in names):
        return ""
    if "started_from" in card and not any(name.startswith("europarl.") for name in names):
        return f"sentences of {WITHOUT_PAIRS} that the model itself translated, halfway through training"
    return f"sentences of {WITHOUT_PAIRS}, and of the pairs, that a larger model or the model before this translated"


def views(chain: Chain, seconds: float) -> Iterator[StageCost]:
    """One view of attention for all six."""
    words: list[str | Path] = ["--gold", chain.gold] if chain.gold else []
    words += ["--most", str(TINY_LINES)] if chain.tiny else []
    places = ["--models", chain.out / "bundled", "--processes", str(min(2, chain.cores))]
    chain.run(HERE / "views.py", *places, *words, "--write", threads=1)
    yield StageCost("views", "cpu", note="the embedded corpus" + (", the Hansards" if chain.gold else ""))


def calibrate(chain: Chain, seconds: float) -> Iterator[StageCost]:
    """Each direction by itself, as many at once as there are cores. The first converts the weights that all share."""

    benchmarks = HERE.parents[1] / "benchmarks"
    sheet: list[str | Path] = [] if chain.tiny else ["--sheet", benchmarks / "judged" / "fit.tsv"]

    def one(way: str) -> None:
        fit, test = held_out(chain.data, way)
        sets = [str(w) for flag, some in (("--fit", fit), ("--test", test)) for one in some for w in (flag, *one)]
        options = ["--most", str(TINY_LINES if chain.tiny else LINES), "--engine", "ctranslate2", "--no-alarms"]
        model = chain.out / "bundled" / way
        chain.run(benchmarks / "guard.py", "--model", model, *sets, *sheet, *options, "--write", threads=1, name=way)

    one(DIRECTIONS[0])
    with ThreadPoolExecutor(min(chain.cores, len(DIRECTIONS))) as pool:
        list(pool.map(one, DIRECTIONS[1:]))
    if sheet:
        places = ["--models", chain.out / "bundled", "--engine", "ctranslate2"]
        chain.run(benchmarks / "word_confidence.py", *sheet, *places, "--write", threads=1)
    yield StageCost("calibrate", "cpu", note=f"{TINY_LINES if chain.tiny else LINES} lines of each text")


def held_out(data: Path, way: str) -> tuple[Sets, Sets]:
    """Texts to fit on and others to measure on, of one direction, as far as they are there."""
    source, target = way.split("-")
    pair, other = pair_of(source, target), target if source == "en" else source

    def found(names: dict[str, str]) -> Sets:
        places = {name: data / place.format(pair=pair, other=other) for name, place in names.items()}
        sides = {name: tuple(Path(f"{place}.{side}") for side in (source, target)) for name, place in places.items()}
        return [(name, a, b) for name, (a, b) in sides.items() if a.is_file() and b.is_file()]

    test, fit = found(MEASURED_ON), found(FITTED_ON)
    reported = "newstest2013" if other == "es" else "newstest2014"
    test = [one for one in test if not one[0].startswith("newstest") or one[0] == reported]
    return [one for one in fit if one[0] not in {name for name, *_ in test}], test
