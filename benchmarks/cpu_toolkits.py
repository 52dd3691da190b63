"""How fast whole toolkits train on a CPU, each as its users run it, in a process of its own, in turns.

    python benchmarks/cpu_toolkits.py --src train.en --tgt train.de --peers OTHER_ENVIRONMENT/bin/python

All train 3 + 3 layers, width 256, 4 heads, 1024 inner units, tied embeddings, dropout and label smoothing 0.1, Adam and
clipping, on the same 8,000 joint pieces: regard's BPE is learnt once and the rivals read text whose words are its ids.
A batch is about 4,096 target tokens, as far as a toolkit can be told so:

    regard         `regard train`, at most 4,096 positions a side; its batches hold sentences of like lengths
    plain PyTorch  the loop of cpu_training.py on regard's very batches
    Hugging Face   `hf_trainer.py`: as many sentences as hold 4,096 tokens on average, grouped by the longer side
    OpenNMT-py     `onmt_train`, `batch_type: tokens`, the whole corpus as one bucket
    JoeyNMT        `python -m joeynmt train`, `batch_type: token`; it cannot group by length

A speed is the difference of two runs of one toolkit, one of `--warm` updates and one of `--updates` more: target
tokens (end marks counted, padding not) over seconds. So imports, reading, building and the last checkpoint drop out,
and whatever else belongs to an update stays in. Tokens are as each toolkit counts them: metrics.jsonl of regard, the
trainer's labels that are not −100, "bsz" of OpenNMT-py's log (non-padding target tokens of an update), the total in
JoeyNMT's checkpoint (the same). Seconds are of the processor, all threads and child processes together, and of the
clock on the wall. With one thread the first decides, because other work on the machine touches it less; with more the
second. Rivals that `--peers` cannot import are left out with a line. Nothing is evaluated, and no model is any good
after so few updates.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from cpu_training import Plain, plain_step
from rich.console import Console

from regard.batch import EOS
from regard.recipe.read import read_recipe
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.training.folder import RunFolder
from regard.training.job import prepare
from regard.training.rehearsal import Trial

HERE = Path(__file__).resolve().parent
BATCH, LONGEST = 4096, 128


@dataclass(frozen=True)
class Rival:
    name: str
    precision: str
    command: Callable[[int], list[str]]  # that trains for so many updates
    tokens: Callable[[int, str], int]  # target tokens of so many updates, from what it left behind or printed


@dataclass(frozen=True)
class Taken:
    tokens: int
    processor: float  # seconds
    wall: float
    peak: int  # bytes of memory


def timed(rival: Rival, updates: int, folder: Path, environment: dict[str, str]) -> Taken:
    command, log = rival.command(updates), folder / "log"
    began = time.perf_counter()
    with log.open("w") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    said = log.read_text(encoding="utf-8", errors="replace")
    if child.returncode:
        raise SystemExit(f"{rival.name} failed: {' '.join(command)}\n{said[-2000:]}")
    return Taken(rival.tokens(updates, said), usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


@dataclass(frozen=True)
class Speed:
    """After warm-up: what the longer of two runs took more than the shorter."""

    processor: float  # target tokens per second
    wall: float
    batch: float  # target tokens an update
    peak: int

    @staticmethod
    def of(short: Taken, long: Taken, updates: int) -> Speed:
        tokens = long.tokens - short.tokens
        processor, wall = long.processor - short.processor, long.wall - short.wall
        return Speed(tokens / processor, tokens / wall, tokens / updates, long.peak)


def settings(src: Path, tgt: Path, cache: Path, precision: str) -> dict[str, str]:
    return {
        "src": str(src), "tgt": str(tgt), "preset": "small", "vocab-size": "8000", "batch-tokens": str(BATCH),
        "max-length": str(LONGEST), "dev-size": "0", "device": "cpu", "precision": precision, "cache": str(cache),
        "log-every": "1",
    }  # fmt: skip


def regard_train(src: Path, tgt: Path, folder: Path, precision: str) -> Rival:
    def out(kind: str, updates: int) -> Path:
        return folder / f"regard-{kind}-{updates}"

    def last_line(kind: str, updates: int) -> dict[str, float]:
        return json.loads((out(kind, updates) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])

    def command(updates: int) -> list[str]:
        shutil.rmtree(out(precision, updates), ignore_errors=True)
        given = settings(src, tgt, folder / "cache", precision) | {"steps": str(updates)}
        if precision == "auto":  # a run of few steps does not try both; so it is given many, and as many operations
            given |= {"steps": "1000", "flops": str(last_line("float32", updates)["flops"])}
        flags = [word for name, value in given.items() for word in (f"--{name}", value)]
        return [sys.executable, "-m", "regard", "train", *flags, "--out", str(out(precision, updates))]

    def tokens(updates: int, _: str) -> int:
        found = last_line(precision, updates)
        assert found["step"] == updates, (precision, found)
        return int(found["tokens"])

    return Rival("regard", precision, command, tokens)


def printed(updates: int, said: str) -> int:
    return int(said.rpartition("target tokens: ")[2])


def plain(src: Path, tgt: Path, folder: Path, precision: str) -> Rival:
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import cpu_toolkits; cpu_toolkits.train_plain(*sys.argv[1:])"
    )
    words = [str(src), str(tgt), str(folder / "cache"), precision]
    return Rival("plain PyTorch", precision, lambda n: [sys.executable, "-c", code, *words, str(n)], printed)


def train_plain(src: str, tgt: str, cache: str, precision: str, updates: str) -> None:
    """What the process of plain PyTorch does."""
    torch.manual_seed(1)
    recipe = read_recipe(None, settings(Path(src), Path(tgt), Path(cache), "float32").items())
    trial = Trial(prepare(recipe, RunFolder(Path(cache) / "run"), Console(quiet=True)))
    step = plain_step(Plain(trial.job.bundle.model.target_size), precision == "bfloat16")
    tokens = 0
    for _ in range(int(updates)):
        ready = next(trial.batches)
        step(ready)
        tokens += ready.tokens
    print(f"target tokens: {tokens}")


def hugging_face(peers: str, folder: Path, sentences: int, precision: str) -> Rival:
    program = [peers, str(HERE / "hf_trainer.py"), str(folder / "ids.src"), str(folder / "ids.tgt")]
    ending = [str(sentences), precision]
    return Rival("Hugging Face Trainer", precision, lambda updates: [*program, str(updates), *ending], printed)


def opennmt(peers: str, folder: Path, lines: int) -> Rival:
    ids = {side: str(folder / f"ids.{side}") for side in ("src", "tgt")}
    config = {
        "data": {"corpus": {"path_src": ids["src"], "path_tgt": ids["tgt"], "transforms": []}},
        "src_vocab": str(folder / "ids.vocab"), "tgt_vocab": str(folder / "ids.vocab"), "share_vocab": True,
        "save_model": str(folder / "opennmt"), "encoder_type": "transformer", "decoder_type": "transformer",
        "layers": 3, "heads": 4, "hidden_size": 256, "word_vec_size": 256, "transformer_ff": 1024,
        "position_encoding": True, "share_embeddings": True, "share_decoder_embeddings": True, "dropout": [0.1],
        "attention_dropout": [0.0], "label_smoothing": 0.1, "param_init": 0.0, "param_init_glorot": True,
        "optim": "adam", "learning_rate": 1e-4, "max_grad_norm": 1.0, "batch_type": "tokens", "batch_size": BATCH,
        "normalization": "tokens", "bucket_size": lines, "num_workers": 0, "report_every": 1, "seed": 1,
        "save_checkpoint_steps": 10**6, "valid_steps": 10**6,
    }  # fmt: skip

    def command(updates: int) -> list[str]:
        path = folder / "opennmt.yaml"
        path.write_text(json.dumps(config | {"train_steps": updates}), encoding="utf-8")  # JSON is YAML
        return [peers, "-m", "onmt.bin.train", "-config", str(path)]

    def tokens(updates: int, said: str) -> int:
        found = re.findall(r"Step +\d+/.*bsz: +\d+/ *(\d+)/", said)  # source/target/sentences
        assert len(found) == updates, said[-2000:]
        return sum(map(int, found))

    return Rival("OpenNMT-py", "float32", command, tokens)


def joeynmt(peers: str, folder: Path) -> Rival:
    side = {"level": "word", "max_length": LONGEST, "voc_file": str(folder / "ids.vocab")}
    stack = {
        "type": "transformer", "num_layers": 3, "num_heads": 4, "hidden_size": 256, "ff_size": 1024, "dropout": 0.1,
        "layer_norm": "pre", "embeddings": {"embedding_dim": 256, "scale": True, "dropout": 0.1},
    }  # fmt: skip
    training = {
        "overwrite": True, "optimizer": "adamw", "adam_betas": [0.9, 0.98], "learning_rate": 1e-4,
        "learning_rate_min": 0.0, "scheduling": "warmupinversesquareroot", "learning_rate_warmup": 1000,
        "normalization": "tokens", "label_smoothing": 0.1, "clip_grad_norm": 1.0, "batch_size": BATCH,
        "batch_type": "token", "epochs": 100, "logging_freq": 1, "validation_freq": 10**6,
    }  # fmt: skip
    config = {
        "name": "race", "model_dir": str(folder / "joeynmt"), "use_cuda": False, "random_seed": 1,
        "data": {
            "train": str(folder / "ids"), "dev": str(folder / "few"), "dataset_type": "plain",
            "src": {"lang": "src", **side}, "trg": {"lang": "tgt", **side},
        },
        "model": {
            "initializer": "xavier_uniform", "tied_embeddings": True, "tied_softmax": True,
            "encoder": stack, "decoder": stack,
        },
        "testing": {"beam_size": 1},
    }  # fmt: skip

    def command(updates: int) -> list[str]:
        path = folder / "joeynmt.yaml"
        path.write_text(json.dumps(config | {"training": training | {"updates": updates}}), encoding="utf-8")
        return [peers, "-m", "joeynmt", "train", str(path), "--skip-test"]

    def tokens(updates: int, _: str) -> int:
        state = torch.load(folder / "joeynmt" / f"{updates}.ckpt", mmap=True, weights_only=True)
        return int(state["stats_state"]["total_tokens"])

    return Rival("JoeyNMT", "float32", command, tokens)


def write_ids(src: Path, tgt: Path, folder: Path) -> tuple[int, float]:
    """The corpus as lines of ids, its vocabulary, and a few lines that JoeyNMT wants to see as a development set.
    → (lines, target tokens of a line)"""
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (src, tgt)]
    pairs = list(zip(*texts, strict=True))
    tokenizer = Tokenizer.train(lambda: iter(pairs), TextConfig())
    tokenizer.save(folder / "tokenizer.json")
    both = zip(tokenizer.encode_source(texts[0]), tokenizer.encode_target(texts[1]), strict=True)
    kept = [pair for pair in both if min(map(len, pair)) > 0 and max(map(len, pair)) <= LONGEST]
    for number, side in enumerate(("src", "tgt")):
        lines = [" ".join(map(str, pair[number])) + "\n" for pair in kept]
        (folder / f"ids.{side}").write_text("".join(lines), encoding="utf-8")
        (folder / f"few.{side}").write_text("".join(lines[:20]), encoding="utf-8")
    words = range(EOS + 1, tokenizer.target_size)  # each rival has specials of its own
    (folder / "ids.vocab").write_text("".join(f"{i}\n" for i in words), encoding="utf-8")
    return len(kept), statistics.mean(len(ids) + 1 for _, ids in kept)


def contestants(src: Path, tgt: Path, folder: Path, peers: str) -> list[Rival]:
    lines, length = write_ids(src, tgt, folder)
    found = [regard_train(src, tgt, folder, precision) for precision in ("float32", "bfloat16", "auto")]
    found += [plain(src, tgt, folder, precision) for precision in ("float32", "bfloat16")]
    toolkits = {
        "transformers, accelerate, datasets": [
            hugging_face(peers, folder, round(BATCH / length), precision) for precision in ("float32", "bfloat16")
        ],
        "onmt": [opennmt(peers, folder, lines)],
        "joeynmt": [joeynmt(peers, folder)],
    }
    for modules, rivals in toolkits.items():
        if subprocess.run([peers, "-c", f"import {modules}"], capture_output=True, check=False).returncode:
            print(f"{peers} cannot import {modules}: without {rivals[0].name}")
        else:
            found += rivals
    return found


def table(found: dict[Rival, list[Speed]], one_thread: bool) -> str:
    """Ratios are medians over rounds, of processor time with one thread and else of the clock."""
    ours = {rival.precision: speeds for rival, speeds in found.items() if rival.name == "regard"}

    def ratio(precision: str, speeds: list[Speed]) -> str:
        pairs = zip(ours[precision], speeds, strict=True)
        ratios = [a.processor / b.processor if one_thread else a.wall / b.wall for a, b in pairs]
        return f"{statistics.median(ratios):.2f}×"

    def spread(rates: list[float]) -> str:
        return f"{statistics.median(rates):,.0f} ({min(rates):,.0f} – {max(rates):,.0f})"

    heads = ("system", "target tokens/s of processor time", "by the clock", "target tokens an update", "peak memory")
    heads += ("regard, same precision / this", "regard, auto / this")
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for rival, speeds in found.items():
        processor, wall = spread([s.processor for s in speeds]), spread([s.wall for s in speeds])
        batch, peak = statistics.median(s.batch for s in speeds), max(s.peak for s in speeds) / 2**30
        rows.append(
            f"| {rival.name}, {rival.precision} | {processor} | {wall} | {batch:,.0f} | {peak:.1f} GiB "
            f"| {ratio(rival.precision, speeds)} | {ratio('auto', speeds)} |"
        )
    return "\n".join(rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--src", type=Path, required=True, help="text to train on, such as Multi30k's")
    options.add_argument("--tgt", type=Path, required=True)
    options.add_argument("--peers", default=sys.executable, help="the python that has the toolkits (default: this one)")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--warm", type=int, default=4, help="updates of the short run")
    options.add_argument("--updates", type=int, default=20, help="updates that the long run has more")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    threads = {name: str(given.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")}
    environment = os.environ | threads | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    said = f"{given.threads} thread{'s' * (given.threads != 1)}, torch {torch.__version__}, {given.updates} updates"
    found: dict[Rival, list[Speed]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rivals = contestants(given.src.resolve(), given.tgt.resolve(), folder, given.peers)
        timed(rivals[0], 1, folder, environment)  # encodes the corpus, once for all
        learnt = [(folder / where / "tokenizer.json").read_bytes() for where in ("", "regard-float32-1")]
        assert learnt[0] == learnt[1], "the rivals would have other tokens than regard"
        for number in range(given.rounds):
            for rival in rivals[:: 1 if number % 2 == 0 else -1]:  # there and back: load that comes or goes hits all
                short, long = (timed(rival, n, folder, environment) for n in (given.warm, given.warm + given.updates))
                speed = Speed.of(short, long, given.updates)
                found.setdefault(rival, []).append(speed)
                print(
                    f"round {number + 1}: {rival.name}, {rival.precision}: {speed.processor:,.0f} target tokens/s, "
                    f"{speed.wall:,.0f} by the clock",
                    flush=True,
                )
            print(
                f"\n{said}, {number + 1} of {given.rounds} rounds\n\n{table(found, given.threads == 1)}\n", flush=True
            )


if __name__ == "__main__":
    main()
