"""The pictures of the pages, drawn by the command line with the model en-fr-classic, which docs/explain.md describes.

python benchmarks/pictures.py                 draws all of docs/img again
python benchmarks/pictures.py --only hero     some of them
python benchmarks/pictures.py --check         draws nothing; exit code 1 says that one would differ

The same model, weights and kind of processor give the same bytes. Another processor may round a weight the other way,
which changes a hundredth here and there.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[1] / "docs" / "img"
MODEL = "en-fr-classic"
LONG = (
    "I didn't buy the red car last week because it was too expensive, so my father gave me his old bicycle and a blue "
    "hat."
)
PAIR = [f"The animal didn't cross the street because it was too {word}." for word in ("tired", "wide")]
PICTURES: dict[str, list[str]] = {
    "hero": ["attention", "She has not read the red book that I gave her last week.", "--arrows"],
    "attention": ["attention", LONG],
    "heads": ["heads", LONG],
    "arcs": ["arcs", "--word", "it", "--layer", "6", "--head", "2", "--head", "4", *PAIR],
    "il": ["arcs", "--word", "il", "--kind", "decoder", "--layer", "3", "--head", "1", PAIR[0]],
    "elle": ["arcs", "--word", "elle", "--kind", "decoder", "--layer", "3", "--head", "1", PAIR[1]],
    "lattice": ["lattice", "School bores me.", "--beam", "3"],
    "positions": ["positions"],
    "step": ["step", "The cat is on the mat.", "--kind", "encoder", "--position", "4"],
    "model": ["model", "--architecture", "transformer", "--preset", "base"],
    "model-notes": ["model", "--architecture", "rnn-attention", "--preset", "notes"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=list(PICTURES), metavar="NAME")
    parser.add_argument("--check", action="store_true", help="compare with what is there instead of writing it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        alike = [draw(name, Path(folder) if given.check else HOME) for name in given.only]
    sys.exit(0 if all(alike) else 1)


def draw(name: str, folder: Path) -> bool:
    """Draw one picture into a folder, and say whether it is the one that the pages show."""
    chosen = [] if PICTURES[name][0] == "positions" or "--architecture" in PICTURES[name] else ["--model", MODEL]
    words = ["explain", *PICTURES[name], *chosen, "--out", str(folder / f"{name}.svg")]
    print("regard", shlex.join(words[:-1]), f"{name}.svg", flush=True)
    subprocess.run([sys.executable, "-m", "regard", *words], check=True, stdout=subprocess.DEVNULL)
    drawn, shown = (place / f"{name}.svg" for place in (folder, HOME))
    alike = shown.exists() and shown.read_bytes() == drawn.read_bytes()
    print(f"  {drawn.stat().st_size / 1000:.1f} kB{'' if alike else ', not as in docs/img'}")
    return alike


if __name__ == "__main__":
    main()
