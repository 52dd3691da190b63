"""How fast a GPU translates: our search against Hugging Face's generate, and the model in the box on real text.

    python benchmarks/gpu_translating.py                                  # both forced runs, Hugging Face beside them
    python benchmarks/gpu_translating.py --text lines.en --workers 24     # text to text

The forced runs have random weights and random sources: Transformer base, 32,000 words, bf16, 512 sentences of 30 tokens
in flight, 30 output tokens each. Ours cannot end, because the bias of EOS is −10,000, and stops at its limit; Hugging
Face's Marian has min_new_tokens = max_new_tokens = 30. Tokens are those of the best hypothesis of each sentence. Each
is timed over several batches, after one that compiles and records.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard import Translator
from regard.batch import EOS
from regard.bulk.speed import ALL, measure_speed
from regard.cli.translate_models import load_models
from regard.export.huggingface import export_huggingface
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
        begin = plan.begin(False, model)
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


def real_text(args: argparse.Namespace) -> list[str]:
    """A model, text to text, beside Hugging Face with its export and its tokenizer on the same lines."""
    with args.text.open(encoding="utf-8") as file:
        lines = [line for line in map(str.strip, islice(file, args.lines)) if line]
    load = partial(load_models, args.model and [args.model], args.device, "native", False, None)
    translator = load(0)
    rows = ["| text to text | beam | sentences/s | words/s | CPU ms/sentence |", "|---|---|---|---|---|"]
    for beam in args.beams:
        compared = not args.checked_only
        found = measure_speed(translator, lines, {"beam": beam}, args.workers, args.repeat, load, compared)
        print(found, flush=True)
        for name, one in found.speeds.items():
            cells = (
                f"{one.per_second:,.0f} | {one.words / one.seconds:,.0f} | {1000 * one.cpu_seconds / one.sentences:.2f}"
            )
            rows.append(f"| regard, {name}, {args.workers} workers | {beam} | {cells} |")
        if not args.without_peer:
            peer = huggingface_lines(translator, lines[: args.peer_lines], beam, args)
            ratio = found.speeds[ALL].per_second / peer
            rows.append(f"| Hugging Face generate, bf16, {args.peer_batch} at a time | {beam} | {peer:,.0f} | | |")
            rows.append(f"| ratio, all checks | {beam} | {ratio:.1f} | | |")
            print("\n".join(rows[-2:]), flush=True)
    return rows


def huggingface_lines(translator: Translator, lines: list[str], beam: int, args: argparse.Namespace) -> float:
    """Lines/s of `generate` with its tokenizer, sorted by length, in bfloat16."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    with tempfile.TemporaryDirectory() as place:
        export_huggingface(translator.folders[0], Path(place) / "model", "float32")
        tokenizer: Any = AutoTokenizer.from_pretrained(f"{place}/model")
        model: Any = AutoModelForSeq2SeqLM.from_pretrained(f"{place}/model").to(args.device, torch.bfloat16).eval()

    def run(some: list[str]) -> None:
        done = []
        for start in range(0, len(some), args.peer_batch):
            read = tokenizer(some[start : start + args.peer_batch], return_tensors="pt", padding=True).to(args.device)
            out = model.generate(
                input_ids=read["input_ids"], attention_mask=read["attention_mask"], num_beams=beam, do_sample=False,
                max_new_tokens=2 * read["input_ids"].shape[1] + 20,
            )  # fmt: skip
            done += tokenizer.batch_decode(out, skip_special_tokens=True)
        assert len(done) == len(some)
        print("Hugging Face:", done[:2], flush=True)

    by_length = sorted(lines, key=len, reverse=True)
    with torch.inference_mode():
        run(by_length[-2 * args.peer_batch :])
        return len(lines) / min(clocked(lambda: run(by_length), args.device) for _ in range(args.peer_repeat))


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
    parser.add_argument("--model", type=Path, help="of --text; default: the bundled one for English to French")
    parser.add_argument("--workers", type=int, default=1, help="of --text: processes that prepare and check text")
    parser.add_argument(
        "--checked-only", action="store_true", help="of --text: not without checks, nor the engine alone"
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[5, 1])
    parser.add_argument("--peer-batch", type=int, default=512)
    parser.add_argument("--peer-lines", type=int, default=3003)
    parser.add_argument("--peer-repeat", type=int, default=1)
    parser.add_argument("--batches-too", action="store_true", help="of --text: are results the same in other batches?")
    parser.add_argument("--out", type=Path, help="write the tables here too")
    args = parser.parse_args()
    rows = forced(args) if args.text is None else real_text(args)
    if args.batches_too:
        rows += ["", *same_whatever_the_batch(args)]
    text = "\n".join(rows)
    print(text)
    if args.out is not None:
        args.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
