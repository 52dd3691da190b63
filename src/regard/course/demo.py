"""`make demo`: writes the embedded corpus, trains on it, measures, translates, and shows the attention.

It uses the same recipe, training, search and BLEU as a user's own corpus.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.rule import Rule

from regard.batch import flat_batch
from regard.course.grammar import NOTES_EXAMPLES, MinimalPair, Split, generate, write_corpus
from regard.course.lab import has_word
from regard.data.config import DataConfig
from regard.errors import RunError
from regard.explain.grid import grid_of
from regard.explain.render.terminal import render
from regard.explain.views import measure_view, view_attention
from regard.files import write_atomically
from regard.metrics.bleu import BleuScore, bleu
from regard.models.transformer import PRESETS, Transformer
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.text.tokenizer import TextConfig
from regard.training.folder import free_folder
from regard.training.loss import smoothed_nll_fused
from regard.training.optim import make_optimizer
from regard.training.run import train
from regard.translation.options import AS_LINES
from regard.translation.translation import Translation
from regard.translator import Translator

STEPS = 3000  # four minutes on two idle cores
TIMED = 5  # updates in each measurement before the demo
OVERHEAD = 1.1  # time of a training step, with data and evaluation, divided by that of an update alone
REST = 600  # time of everything except training, in updates
PAIRS = 40_000  # enough for a small model to learn the grammar in minutes
ALIGNED = 100  # sentences to choose the attention view on, and as many to measure it on


def demo_recipe(corpus: Path, steps: int) -> Recipe:
    """Returns a recipe of many small updates: on two cores they cost no more per token, and the model learns more."""
    return Recipe(
        data=DataConfig(
            src=str(corpus / "train.en"),
            tgt=str(corpus / "train.fr"),
            dev_src=str(corpus / "dev.en"),
            dev_tgt=str(corpus / "dev.fr"),
            max_length=128,
        ),
        text=TextConfig(vocab_size=3200),
        model=replace(PRESETS["tiny"], dropout=0.0),
        train=TrainConfig(
            steps=steps,
            batch_tokens=512,
            optimizer="muon",
            learning_rate=4e-3,
            schedule="cosine",
            warmup=max(1, steps // 10),
            eval_every=max(1, steps // 6),
            save_every=max(1, steps // 3),
        ),
    )


def time_updates() -> tuple[int, float]:
    """Returns the faster number of threads, one or all, and the seconds per update with it.

    Threads wait for each other, so on a shared core a single thread can be faster.
    """
    most = torch.get_num_threads()
    rows = torch.randint(3, 3200, (42, 11)).tolist()
    batch, model = flat_batch(rows, rows).pad(), Transformer(PRESETS["tiny"], 3200, 3200, joint=True)
    optimizer = make_optimizer(model, demo_recipe(Path(), STEPS).train)

    def seconds(threads: int) -> float:
        torch.set_num_threads(threads)
        began = time.perf_counter()
        for _ in range(TIMED):
            optimizer.zero_grad()
            smoothed_nll_fused(model(batch), batch.tgt_out, batch.tgt_mask, 0.1).backward()
            optimizer.step()
        return (time.perf_counter() - began) / TIMED

    try:
        seconds(most)  # warm up
        found = {threads: statistics.median(seconds(threads) for _ in range(5)) for threads in {1, most}}
    finally:
        torch.set_num_threads(most)
    best = min(found, key=lambda threads: found[threads])
    return best, found[best]


def expected_minutes(steps: int, update_seconds: float) -> float:
    """Estimates the time of the whole demo from the time of one update on this machine."""
    return (OVERHEAD * steps + REST) * update_seconds / 60


def run_demo(out: Path | None = None, steps: int | None = None) -> dict[str, Any]:
    """Runs the whole demo in the folder `out` and returns its figures, which are also written to demo.json there."""
    console, began = Console(highlight=False), time.monotonic()
    home = out or free_folder(Path("runs/demo"))
    if home.exists() and any(home.iterdir()):
        raise RunError(f"{home} already holds something; choose another folder", parameter="out")

    steps = steps or STEPS
    threads, update_seconds = time_updates()
    minutes = max(1, round(expected_minutes(steps, update_seconds)))
    console.print(
        f"About {minutes} minute{'s' * (minutes > 1)} on this machine, where an update takes "
        f"{1000 * update_seconds:.0f} ms with {threads} thread{'s' * (threads > 1)}, the faster choice."
    )

    _title(console, "1  A corpus", "English–French pairs from our own grammar, with known word alignments")
    splits = generate(PAIRS)
    write_corpus(home / "corpus", splits)
    console.print(f"{len(splits['train'].examples):,} pairs to learn from, in {home / 'corpus'}; for example")
    for example in splits["train"].examples[:4]:
        console.print(f"  {example.src}\n  [cyan]{example.tgt}[/cyan]")

    _title(console, "2  Training", "a Transformer with attention, by teacher forcing")
    torch.set_num_threads(threads)
    outcome = train(demo_recipe(home / "corpus", steps), home / "run", console)
    if outcome.ending == "interrupted":
        console.print(f"interrupted, saved; to go on training: regard resume {home / 'run'}", markup=False)
        raise KeyboardInterrupt

    _title(console, "3  Measuring", "on sentences it has never seen")
    translator = Translator.load(home / "run", "cpu")
    figures: dict[str, Any] = {}
    found = {
        name: translator.translate([e.src for e in splits[name].examples], **AS_LINES)
        for name in ("test", "compositional")
    }
    scores = {name: bleu([t.text for t in found[name]], [e.tgt for e in splits[name].examples]) for name in found}
    _show_scores(console, splits, scores, figures)
    for kind in ("pronoun", "polysemy"):
        figures[kind] = _show_pairs(console, kind, splits["test"], found["test"])

    _title(console, "4  Reading", "held-out sentences, then the course notes' own examples")
    _show_samples(console, splits["test"], found["test"])
    _show_notes(console, translator, figures)

    _title(console, "5  Looking", "which English word each French word looked at")
    figures["attention"] = _show_attention(console, translator, splits, home)

    figures["seconds"] = round(time.monotonic() - began)
    text = json.dumps(figures, indent=2, ensure_ascii=False) + "\n"
    write_atomically(home / "demo.json", lambda path: path.write_text(text, encoding="utf-8"))
    _show_next_steps(console, home, figures["seconds"])
    return figures


def right_pairs(pairs: Sequence[MinimalPair], found: Sequence[Translation]) -> list[MinimalPair]:
    """Returns the minimal pairs in which each translation has its own word and not the other's."""
    return [
        p
        for p in pairs
        if has_word(found[p.first].text, p.first_word, p.second_word)
        and has_word(found[p.second].text, p.second_word, p.first_word)
    ]


def _show_scores(
    console: Console, splits: dict[str, Split], scores: dict[str, BleuScore], figures: dict[str, Any]
) -> None:
    names = {"test": "test, the same grammar", "compositional": "compositional, unseen combinations"}
    for name, score in scores.items():
        console.print(f"[bold]BLEU {score.score:6.2f}[/bold]  {names[name]} ({len(splits[name].examples):,} sentences)")
        figures[name] = score.to_dict()
    console.print(f"[dim]{scores['test'].signature}[/dim]")


def _show_pairs(console: Console, kind: str, split: Split, found: Sequence[Translation]) -> dict[str, int]:
    pairs = [p for p in split.pairs if p.kind == kind]
    right = right_pairs(pairs, found)
    console.print(
        f"[bold]{len(right) / max(1, len(pairs)):11.1%}[/bold]  {kind} minimal pairs with both sentences right "
        f"({len(right)} of {len(pairs)})"
    )
    for line in (pairs[0].first, pairs[0].second) if pairs else ():
        console.print(f"             {found[line].source}\n             [cyan]{found[line].text}[/cyan]")
    return {"right": len(right), "pairs": len(pairs)}


def _show_samples(console: Console, split: Split, found: Sequence[Translation]) -> None:
    step = max(1, len(found) // 6)
    for example, translation in list(zip(split.examples, found, strict=True))[::step][:6]:
        _show_one(console, example.src, translation.text, example.tgt)


def _show_notes(console: Console, translator: Translator, figures: dict[str, Any]) -> None:
    console.print()
    sources = [source for source, _ in NOTES_EXAMPLES]
    found = translator.translate(sources, **AS_LINES)
    for (source, wanted), translation in zip(NOTES_EXAMPLES, found, strict=True):
        _show_one(console, source, translation.text, wanted)
    right = sum(t.text == wanted for t, (_, wanted) in zip(found, NOTES_EXAMPLES, strict=True))
    figures["notes"] = {"exact": right, "sentences": len(sources)}


def _show_one(console: Console, source: str, text: str, wanted: str) -> None:
    mark = "[green]=[/green]" if text == wanted else "[yellow]≠[/yellow]"
    console.print(f"  {source}\n{mark} [cyan]{text}[/cyan]")
    if text != wanted:
        console.print(f"  [dim]{wanted}[/dim]")


def _show_attention(console: Console, translator: Translator, splits: dict[str, Split], home: Path) -> dict[str, Any]:
    lines = {
        name: [(e.src, e.tgt, " ".join(f"{i}-{j}" for i, j in e.alignment)) for e in splits[name].examples[:ALIGNED]]
        for name in ("dev", "test")
    }
    choice, aer = measure_view(translator.bundle, lines["dev"], lines["test"])
    view = choice.view
    measured = {"layer": view.layer, "head": view.head, "row": view.row, "aer": aer, "on": "the embedded corpus"}
    translator.bundle.card["attention_view"] = measured
    translator.bundle.save(home / "run" / "best")  # so that `regard translate --attention` uses this view too
    for source, _ in NOTES_EXAMPLES[:1] + NOTES_EXAMPLES[2:4]:
        translation = translator.translate([source], **AS_LINES)[0]
        seen = view_attention(translator.bundle, source, translation.candidates[0].ids)
        console.print(f"\n  {source}\n  [cyan]{translation.text}[/cyan]")
        console.print(render(grid_of(seen.attention, seen.view, seen.trust)))
    console.print(
        f"\n[dim]The view was chosen on {ALIGNED} dev sentences by alignment error rate (AER) against the grammar's "
        f"own alignments; on {ALIGNED} test sentences its AER is {aer:.1%}. Attention is a hint, not a proof.[/dim]"
    )
    return measured


def _show_next_steps(console: Console, home: Path, seconds: int) -> None:
    _title(console, "6  Your turn", f"all of this took {seconds // 60} min {seconds % 60} s")
    run = home / "run"
    for command, what in (
        ("source .venv/bin/activate", "if make installed regard"),
        (f'regard translate --model {run} "The small cat sees her."', "translate what you like"),
        (f'regard translate --model {run} --attention "The cat sleeps."', "and see where it looked"),
        (f"regard info {run}", "what the model is made of"),
        ('regard translate "Where is the train station?"', "without --model: a bundled model"),
        ("regard train --src a.en --tgt a.fr --out runs/mine", "your own two files"),
    ):
        console.print(f"  [bold]{command}[/bold]  [dim]# {what}[/dim]", soft_wrap=True)


def _title(console: Console, name: str, about: str) -> None:
    console.print()
    console.print(Rule(f"[bold]{name}[/bold] · {about}", align="left"))
