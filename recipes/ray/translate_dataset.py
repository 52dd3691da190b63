"""Translate a data set on many machines with Ray Data: one actor holds one translator, on a GPU or on CPUs.

    python recipes/ray/translate_dataset.py INPUT OUT --column text --actors 2
    python recipes/ray/translate_dataset.py 'corpus/*.parquet' s3://bucket/corpus.fr --column text --actors 8 --gpus 1

INPUT is Parquet (a file, a folder or a pattern) or lines of text (.txt, also compressed); the column of lines is called
text. OUT is a folder of Parquet files that this script can list: local, on a shared file system, or any that pyarrow
knows by its address. It gets one file for each input file (a folder of parts), with all columns of the input and one
more, COLUMN_translated.

An input file is done when its output has its name, which it gets last. After a stop the same command skips what is done
and removes what is half written. Ray starts on this machine, or joins the cluster of RAY_ADDRESS; the package must be
installed on all machines (`pip install "regard[ray]"`).
"""

from __future__ import annotations

import argparse
import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow
import pyarrow.fs
import ray

import regard

Batch = dict[str, Any]  # columns by name, each a NumPy array


class Translate:
    """What an actor does: it loads the model once, then translates batches."""

    def __init__(self, column: str, model: str | None = None, **options: Any) -> None:
        self.column, self.options = column, options
        self.translator = regard.load(model)

    def __call__(self, batch: Batch) -> Batch:
        texts = [None if text is None else str(text) for text in batch[self.column]]
        found = iter(self.translator.translate([text for text in texts if text is not None], **self.options))
        new = [None if text is None else next(found).text for text in texts]
        return {**batch, f"{self.column}_translated": pyarrow.array(new, pyarrow.string())}


def translate_dataset(
    inputs: list[str],
    out: str,
    column: str = "text",
    *,
    model: str | None = None,
    actors: int = 1,
    gpus: float = 0,
    batch_size: int = 2000,
    **options: Any,
) -> int:
    """Translate each input file into OUT/NAME.parquet, but for those that are there; how many were translated. Options
    are those of `Translator.translate`."""
    cores = ray.cluster_resources().get("CPU", 0)
    if not gpus and actors >= cores:
        raise SystemExit(f"{actors} actors take all {cores:.0f} cores; leave one or more for reading and writing")
    place, folder = file_system(out)
    place.create_dir(folder)
    there = {Path(info.path).name for info in place.get_file_info(pyarrow.fs.FileSelector(folder))}
    done = 0
    for path in inputs:
        name = f"{Path(path).name.partition('.')[0]}.parquet"
        if name in there:
            continue
        unfinished = f"{folder}/{name}.unfinished"
        if f"{name}.unfinished" in there:
            place.delete_dir(unfinished)
        data = ray.data.read_parquet(path) if is_parquet(path) else ray.data.read_text(path)
        if column not in data.columns():
            raise SystemExit(f"{path} has no column {column!r}; it has {', '.join(data.columns())}")
        data.map_batches(
            Translate,
            fn_constructor_args=(column, model),
            fn_constructor_kwargs=options,
            batch_size=batch_size,
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_gpus=gpus,
        ).write_parquet(unfinished, filesystem=place)
        place.move(unfinished, f"{folder}/{name}")
        done += 1
    return done


def file_system(address: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """
    >>> file_system("corpus.fr")[1].startswith("/")
    True
    """
    if urlsplit(address).scheme:
        return pyarrow.fs.FileSystem.from_uri(address)
    return pyarrow.fs.LocalFileSystem(), str(Path(address).absolute())


def is_parquet(path: str) -> bool:
    return path.endswith((".parquet", ".pq")) or Path(path).is_dir()


def input_files(pattern: str) -> list[str]:
    """The files that a name or a pattern means; an address is taken as it is."""
    if urlsplit(pattern).scheme:
        return [pattern]
    found = sorted(glob.glob(pattern))  # noqa: PTH207 (a pattern may be absolute)
    folders = [path for path in found if Path(path).is_dir()]
    files = [str(file) for folder in folders for file in sorted(Path(folder).glob("*.parquet"))]
    if not found:
        raise SystemExit(f"{pattern} names no file")
    return [path for path in found if path not in folders] + files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("out")
    parser.add_argument("--column", default="text")
    parser.add_argument("--model", default=None, help="a folder that all machines see; default: the model in the box")
    parser.add_argument("--actors", type=int, default=1, help="translators that work at a time")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs of each; 1 for one actor per GPU")
    parser.add_argument("--batch-size", type=int, default=2000, help="rows of a batch")
    parser.add_argument("--beam", type=int, default=None)
    args = parser.parse_args()
    files = input_files(args.input)
    ray.init()
    done = translate_dataset(
        files,
        args.out,
        args.column,
        model=args.model,
        actors=args.actors,
        gpus=args.gpus,
        batch_size=args.batch_size,
        beam=args.beam,
    )
    print(f"{done:,} of {len(files):,} files translated, {len(files) - done:,} were there already")


if __name__ == "__main__":
    main()
