"""How fast a GPU translates: our search against Hugging Face's generate, and the model in the box on real text.

    python benchmarks/gpu_translating.py                                  # both forced runs, Hugging Face beside them
    python benchmarks/gpu_translating.py --text lines.en --lines 100000   # text to text, and where the time goes

The forced runs have random weights and random sources: Transformer base, 32,000 words, bf16, 512 sentences of 30 tokens
in flight, 30 output tokens each. Ours cannot end, because the bias of EOS is −10,000, and stops at its limit; Hugging
Face's Marian has min_new_tokens = max_new_tokens = 30. Tokens are those of the best hypothesis of each sentence. Each
is timed over several batches, after one that compiles and records.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard import Translator
from regard.batch import EOS
from regard.models.base import Model
from regard.models.transformer import PRESETS, Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import for_search
from regard.search.batch_rows import SearchItem
from regard.search.engine import Hypothesis, SearchRequest
from regard.search.options import SearchOptions
from regard.search.search import Capacity, Plan, SearchLoop, search

VOCABULARY, SOURCE, TARGET = 32_000, 30, 30


def clocked(work: Callable[[], object], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def random_sources(count: int, vocabulary: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.random.default_rng(1).integers(3, vocabulary, (count, SOURCE - 1)).tolist()]


def endless_model(config: TransformerConfig, vocabulary: int, device: str) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(replace(config, output_bias=True), vocabulary, vocabulary, True).to(device).eval()
    with torch.no_grad():
        model.output.bias[EOS] = -10_000.0
    return model


def ours(model: Transformer, beam: int, batch: int, batches: int) -> tuple[float, list[list[Hypothesis]]]:
    """Output tokens/s, and what was found."""
    device = model.device.type
    search_model = for_search(model, "bfloat16", batch * beam)
    plan = Plan(SearchOptions(beam, 0.6))
    found: list[list[Hypothesis]] = []

    requests = [SearchRequest(ids) for ids in random_sources(batch * batches, model.source_size)]

    def run(count: int) -> None:
        goals = [SearchItem(i, request, TARGET) for i, request in enumerate(requests[:count])]
        begin = plan.begin(False, model.device)
        capacity = Capacity(sentences=batch)
        SearchLoop(search_model, begin, beam, lambda _, some: found.extend(some), capacity).run(goals)

    run(batch)
    found.clear()
    seconds = clocked(lambda: run(batch * batches), device)
    assert len(found) == batch * batches
    assert all(len(some[0].ids) == TARGET for some in found)
    return batch * batches * TARGET / seconds, found


def marian(config: TransformerConfig, vocabulary: int, device: str) -> object:
    from transformers import MarianConfig, MarianMTModel

    marian_config = MarianConfig(
        vocab_size=vocabulary, d_model=config.width,
        encoder_layers=config.encoder_layers, decoder_layers=config.decoder_layers,
        encoder_attention_heads=config.heads, decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.inner, decoder_ffn_dim=config.inner, activation_function="relu", pad_token_id=0,
        eos_token_id=EOS, decoder_start_token_id=0, forced_eos_token_id=None, max_position_embeddings=512,
    )  # fmt: skip
    return MarianMTModel(marian_config).to(device, torch.bfloat16).eval()


def theirs(model: object, vocabulary: int, beam: int, batch: int, batches: int, device: str) -> float:
    sources = torch.tensor(random_sources(batch, vocabulary), device=device)
    mask = torch.ones_like(sources)

    def run(count: int) -> None:
        for _ in range(count):
            out = model.generate(  # type: ignore[attr-defined]
                input_ids=sources, attention_mask=mask, num_beams=beam, do_sample=False,
                min_new_tokens=TARGET, max_new_tokens=TARGET,
            )  # fmt: skip
        assert out.shape[1] == TARGET + 1

    with torch.inference_mode():
        run(1)
        seconds = clocked(lambda: run(batches), device)
    return batch * batches * TARGET / seconds


def forced(args: argparse.Namespace) -> list[str]:
    config = PRESETS[args.preset]
    rows = ["| output tokens/s | beam 1 | beam 5 |", "|---|---|---|"]
    model = endless_model(config, args.vocabulary, args.device)
    own = [max(ours(model, beam, args.batch, args.batches)[0] for _ in range(args.repeat)) for beam in (1, 5)]
    rows.append(f"| regard, {args.preset}, batch {args.batch} | {own[0]:,.0f} | {own[1]:,.0f} |")
    if not args.without_peer:
        peer_model = marian(config, args.vocabulary, args.device)
        peer = [
            max(
                theirs(peer_model, args.vocabulary, beam, args.batch, args.peer_batches, args.device)
                for _ in range(args.repeat)
            )
            for beam in (1, 5)
        ]
        rows.append(f"| Hugging Face generate | {peer[0]:,.0f} | {peer[1]:,.0f} |")
        rows.append(f"| ratio | {own[0] / peer[0]:.2f} | {own[1] / peer[1]:.2f} |")
    return rows


@dataclass
class Clock:
    """Seconds by stage. What the host waits for counts, since it waits for the GPU."""

    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

        return run

    def listed(self, name: str, function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """The same for what gives its results one by one."""

        def run(*given: Any, **named: Any) -> Iterator[Any]:
            one = self.timed(name, partial(next, function(*given, **named), None))
            while (found := one()) is not None:
                yield found

        return run


class TimedEngine:
    def __init__(self, engine: Any, clock: Clock) -> None:
        self.search = clock.timed("search", engine.search)
        self.attention = clock.timed("attention pass", engine.attention)
        self.log_probs = engine.log_probs


def real_text(args: argparse.Namespace) -> list[str]:
    """The model in the box, text to text, as `translate` does it by default."""
    from regard.translation import pipeline
    from regard.translation import translator as module

    with args.text.open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, args.lines)]
    translator = Translator.load(device=args.device, engine="native")
    translator.translate(lines[:3000])  # compiles and records
    clock = Clock()
    make = translator.engine
    translator.engine = lambda *given, **named: TimedEngine(make(*given, **named), clock)  # type: ignore[method-assign]
    module.UnitMaker.units = clock.listed("preparation", module.UnitMaker.units)  # type: ignore[method-assign]
    module.assembled = clock.timed("assembly", module.assembled)  # type: ignore[attr-defined]
    pipeline.word_links = clock.timed("word links", pipeline.word_links)
    pipeline.judge = clock.timed("guard", pipeline.judge)
    pipeline.checked = clock.timed("checks", pipeline.checked)
    pipeline.repaired = clock.timed("checks", pipeline.repaired)
    began = time.perf_counter()
    found = translator.translate(lines)
    total = time.perf_counter() - began
    assert len(found) == len(lines)
    rows = [f"| {len(lines):,} lines, text to text | seconds | share |", "|---|---|---|"]
    named = {**clock.seconds, "the rest": total - sum(clock.seconds.values())}
    rows += [f"| {name} | {seconds:.2f} | {seconds / total:.0%} |" for name, seconds in named.items()]
    rows.append(f"| all: {len(lines) / total:,.0f} sentences/s | {total:.2f} | |")
    return rows


def same_whatever_the_batch(args: argparse.Namespace) -> list[str]:
    """How many of 1,000 sentences the box translates otherwise in other batches and in another order."""
    with args.text.open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, 1000)]
    bundle = Translator.load(device=args.device, engine="native").bundle
    requests = [SearchRequest(tuple(ids)) for ids in bundle.tokenizer.encode_source(lines)]
    rows = ["| 1,000 sentences, 512 at a time, against | beam 1 | beam 5 |", "|---|---|---|"]
    wholes: dict[int, list[tuple[int, ...]]] = {}

    def found(model: Model, beam: int, sentences: int | None) -> list[tuple[int, ...]]:
        options, backwards = SearchOptions(beam, 0.6), requests[::-1]
        asked = backwards if sentences else requests
        some = search(model, asked, options, capacity=Capacity(sentences=sentences))
        ids = [best.ids for best, *_ in some]
        return ids[::-1] if sentences else ids

    narrow = for_search(bundle.model, "bfloat16", 2560)
    for beam in (1, 5):
        wholes[beam] = found(narrow, beam, None)
    for sentences in (1, 7, 100):
        counts = [sum(map(ne, wholes[beam], found(narrow, beam, sentences))) for beam in (1, 5)]
        rows.append(f"| {sentences} at a time, in reverse order | {counts[0]} differ | {counts[1]} differ |")
    wide = for_search(bundle.model, "float32", 2560)
    counts = [sum(map(ne, wholes[beam], found(wide, beam, None))) for beam in (1, 5)]
    rows.append(f"| float32 | {counts[0]} differ | {counts[1]} differ |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--preset", default="base")
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--peer-batches", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=2, help="the best of so many runs counts, for both")
    parser.add_argument("--without-peer", action="store_true")
    parser.add_argument("--text", type=Path, help="a file with one sentence a line")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="write the tables here too")
    args = parser.parse_args()
    rows = forced(args) if args.text is None else [*same_whatever_the_batch(args), "", *real_text(args)]
    text = "\n".join(rows)
    print(text)
    if args.out is not None:
        args.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
