"""What a person types on the second day: paragraphs, numbers, names, addresses, emoji, capitals, another language.

    python benchmarks/second_day.py            the model in the box
    python benchmarks/second_day.py --hostile  texts that are made to break things, with time and memory of each

Every row is translated as `regard translate` does; what is doubtful says why.
"""

from __future__ import annotations

import argparse
import resource
import time

import regard
from regard.errors import RegardError

SIMPLE = [
    *("The cat is on the mat.", "I like coffee.", "She reads a book.", "We live in a small house.", "It is raining."),
    *("He works every day.", "The children are playing.", "My brother is tall.", "They sing well.", "I am hungry."),
    *("The train is late.", "Open the window.", "You are right.", "The dog is sleeping.", "She loves music."),
    *("We eat at noon.", "The water is cold.", "He bought a car.", "I lost my key.", "Good night."),
]
ROWS = {
    "8 sentences on one line": " ".join(SIMPLE[:8]),
    "10 sentences on one line": " ".join(SIMPLE[:10]),
    "20 sentences on one line": " ".join(SIMPLE),
    "phone and time": "Call 555-0199 at 3:45 pm",
    "date": "I was born on May 3, 1998.",
    "number": "There are 1,250 people here.",
    "name": "My name is Sarah.",
    "place": "I live in Zürich.",
    "surname": "Mrs Merkel is here.",
    "address": "See https://example.com/docs?id=42 for details.",
    "emoji": "I love pizza 🍕 and my dog 😂!",
    "product": "AcmeCloud Pro is our new product.",
    "not English": "Le chat est sur le tapis.",
    "two paragraphs": "The cat is on the mat. The dog is sleeping.\n\nIt is raining.",
    "capitals": "PLEASE DO NOT FEED THE ANIMALS.",
}
HOSTILE = {
    "5 MB of one word": "word" * 1_250_000,
    "1 MB of short words": "word " * 200_000,
    "NUL": "The cat\0 is on\0 the mat.",
    "a lone surrogate": "The cat \ud800 is here.",
    "right-to-left marks": "The \u202ecat\u202c is \u200fon the mat.",
    "placeholders only": '{name} %s %(x)d {{x}} $VAR <x id="7"/> ' * 200,
    "100,000 brackets": "(" * 100_000,
    "40,000 emoji": "😀" * 40_000,
    "50,000 line breaks": "\n" * 50_000,
    "combining marks": "e" + "\u0301" * 50_000,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=None)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--engine", choices=("native", "ctranslate2"), default="native", help="[default: native]")
    args = parser.parse_args()
    translator = regard.load(args.model, device="auto" if args.engine == "native" else "cpu", engine=args.engine)
    if args.hostile:
        for name, text in HOSTILE.items():
            print(f"{name}: {survived(translator, text)}", flush=True)
        return
    for name, text in ROWS.items():
        found = translator.translate(text)
        shown = found.text.replace("\n", "⏎")
        print(f"{name}: {len(found.sentences)} sentences\n  {text!r}\n  {shown}")
        for line in found.warnings:
            print(f"  doubtful: {line}")


def survived(translator: regard.Translator, text: str) -> str:
    began = time.monotonic()
    try:
        found = translator.translate(text, beam=1)
        what = f"{len(found.sentences):,} sentences, {len(found.text):,} characters out of {len(text):,}"
    except RegardError as problem:
        what = f"refused: {problem}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{what}; {time.monotonic() - began:.1f} s, peak {peak:,.0f} MB so far"


if __name__ == "__main__":
    main()
