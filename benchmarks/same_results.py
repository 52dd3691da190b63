"""Does the batch change a translation? Sentences one at a time, 64 at a time, and in another order, for every
architecture.

    python benchmarks/same_results.py multi30k/test_2016_flickr.en.xz --sentences 1000

Every architecture is made in its tiny size with random weights and the vocabulary of the model in the box; the model in
the box itself is there too. `FixedLengthModel` ends the translations of random weights at the length of their source.
Printed is how many sentences have the same token ids, for each beam: one alone against 64 together, and the order of
the file against the reversed order with other neighbours.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.data.text_files import read_lines
from regard.doctor.rehearse import FixedLengthModel
from regard.models.base import Model
from regard.models.table import ARCHITECTURES, make_model
from regard.models.transformer_recorded import for_search
from regard.search.engine import Ids, SearchRequest
from regard.search.options import SearchOptions
from regard.search.search import Capacity, search


def searched(model: Model, sources: Sequence[Ids], beam: int, together: int) -> list[Ids]:
    requests = [SearchRequest(ids) for ids in sources]
    found = search(model, requests, SearchOptions(beam, 0.6), capacity=Capacity(10**9, together))
    return [best.ids for best, *_ in found]


def equal(a: Sequence[Ids], b: Sequence[Ids]) -> int:
    return sum(one == other for one, other in zip(a, b, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="source sentences, one a line")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--architectures", nargs="+", default=["the model in the box", *ARCHITECTURES])
    parser.add_argument("--model", type=Path, default=bundled_models.folder_of(), help="default: the model in the box")
    given = parser.parse_args()
    shipped = Bundle.load(given.model)
    lines = list(read_lines(given.file))[: given.sentences]
    sources = [tuple(ids) for ids in shipped.tokenizer.encode_source(lines)]
    print(f"{len(sources)} sentences of {given.file.name}; sentences with the same token ids")
    print(f"{'':24}{'beam':>6}{'1 = 64':>10}{'reversed':>10}{'seconds':>9}")
    for name in given.architectures:
        torch.manual_seed(1)
        if name == "the model in the box":
            model: Model = for_search(shipped.model)
        else:
            preset = ARCHITECTURES[name].presets["tiny"]
            model = FixedLengthModel(make_model(name, preset, shipped.tokenizer).eval(), ratio=1.0)
        for beam in given.beams:
            begun = time.perf_counter()
            alone, many = (searched(model, sources, beam, together) for together in (1, 64))
            turned = searched(model, sources[::-1], beam, 50)[::-1]
            row = f"{equal(alone, many):>10}{equal(many, turned):>10}"
            print(f"{name:24}{beam:>6}{row}{time.perf_counter() - begun:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
