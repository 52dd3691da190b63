"""Other words for a word of a translation: the time that a place takes, and how many words are offered.

python benchmarks/word_alternatives.py en-fr sentences.en --sentences 40

    MODEL FILE         a bundled model or a folder, and source sentences, one a line
    --sentences 40     taken at equal distances from the file
    --places 5         words of each translation, at equal distances
    --engine auto      or native, ctranslate2

Times are of the whole answer of `/api/alternatives`, without HTTP: the search for words and the translation with each.
CPU time is of all threads together.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np

import regard
from regard.data.text_files import read_lines
from regard.errors import RegardError
from regard.serve.errors import ServeError
from regard.serve.explain_service import SentenceQuery, find_alternatives
from regard.text.words import word_spans


def spread(items: list[str], most: int) -> list[str]:
    """At most `most` items, at equal distances."""
    return [items[i * len(items) // most] for i in range(min(most, len(items)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", type=Path)
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--places", type=int, default=5)
    parser.add_argument("--engine", default="auto")
    given = parser.parse_args()
    translator = regard.load(given.model, device="cpu", engine=given.engine)
    cpu, wall, offered = list[float](), list[float](), Counter[int]()
    for text in spread([line for line in read_lines(given.file) if line.strip()], given.sentences):
        for number, sentence in enumerate(translator.translate(text).sentences):
            places = [str(place) for place in range(len(word_spans(sentence.text)))]
            for place in spread(places, given.places):
                query = SentenceQuery(text, sentence.text, number)
                began = time.perf_counter(), time.process_time()
                try:
                    _, found = find_alternatives(translator, query, 200, int(place), 6)
                except (RegardError, ServeError):
                    continue  # a sentence that is not read, or too long
                wall.append(time.perf_counter() - began[0])
                cpu.append(time.process_time() - began[1])
                offered[len(found.others)] += 1
    print(f"{given.model}: {len(cpu)} places of real sentences, engine {translator.engine_name}")
    for name, times in (("CPU", cpu), ("wall", wall)):
        median, late, worst = 1000 * np.quantile(times, (0.5, 0.95, 1.0))
        print(f"{name:>5} time: median {median:.0f} ms, 95% within {late:.0f} ms, longest {worst:.0f} ms")
    print("words offered:", ", ".join(f"{count} at {n} places" for count, n in sorted(offered.items())))


if __name__ == "__main__":
    main()
