"""All text of a run: the vocabulary, the encoded corpora as batches from where a run stands, and what is held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console

from regard.data.batching import Batches, Encoded
from regard.data.cache import cache_folder, learnt_before
from regard.data.corpus import PairFiles, read_pairs
from regard.data.encode import EncodedCorpus, encode_corpus
from regard.data.mixture import Mixture
from regard.data.rows import RowBatches
from regard.data.splits import Corpus, Splits
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import Progress
from regard.training.distributed import ALONE, World
from regard.training.evaluate import HeldOut
from regard.training.guided import Guide
from regard.training.log import counting


@dataclass(frozen=True)
class Material:
    """All text of a run, read and found good."""

    batches: Batches | RowBatches
    dev: HeldOut | None
    test: HeldOut | None
    fingerprint: str  # of the training files
    guide: Guide | None = None  # the aligner's links, where a head learns them


def learn_text(recipe: Recipe, splits: Splits, console: Console) -> Tokenizer:
    count = 0
    with counting(console, "reading pairs") as told:

        def pairs() -> Iterable[tuple[str, str]]:
            nonlocal count
            count = 0
            for count, pair in enumerate(splits.training_pairs(), start=1):
                if count % 1000 == 0:
                    told(count)
                yield pair

        def learn() -> Tokenizer:
            return Tokenizer.train(lambda: iter(pairs()), recipe.text)

        tokenizer = learnt_before(recipe.data, recipe.text, splits.fingerprint(), learn)
    source = f"from {count:,} pairs" if count else "as learnt before"
    kind = "joint" if recipe.text.joint else "separate"
    sizes = (
        f"{tokenizer.target_size:,}" if recipe.text.joint else f"{tokenizer.source_size:,} + {tokenizer.target_size:,}"
    )
    console.print(f"vocabulary  {sizes} {recipe.text.unit} pieces, {kind}, {source}", highlight=False)
    return tokenizer


def read_material(
    recipe: Recipe, splits: Splits, tokenizer: Tokenizer, progress: Progress, console: Console, world: World = ALONE
) -> Material:
    tag = recipe.data.dev_tag
    dev, test = (read_held_out(files, tag) if files else None for files in (splits.dev, splits.test))
    batches = make_batches(recipe, splits.train, tokenizer, progress, console, world)
    guide = None
    if recipe.train.guided_weight:
        console.print("guide       linking words of the training text", highlight=False)
        guide = Guide(batches.corpus, tokenizer, cache_folder(recipe.data))
    return Material(batches, dev, test, splits.fingerprint(), guide)


def make_batches(
    recipe: Recipe,
    train: Sequence[Corpus],
    tokenizer: Tokenizer,
    progress: Progress,
    console: Console,
    world: World = ALONE,
) -> Batches | RowBatches:
    """Batches from where `progress` stands. With BPE-dropout or transforms every epoch is encoded anew; of corpora with
    weights every epoch is another mixture."""
    seed, weights = recipe.train.seed, [corpus.weight for corpus in train]
    anew = recipe.text.bpe_dropout > 0 or any(recipe.data.transforms)

    def encode(epoch: int | None) -> list[EncodedCorpus]:
        with counting(console, "encoding pairs") as told:
            given = [(corpus.files, tokenizer, recipe.data, told) for corpus in train]
            tags = [corpus.tag for corpus in train]
            return [encode_corpus(*g, epoch=epoch, seed=seed, tag=tag) for g, tag in zip(given, tags, strict=True)]

    if world.size > 1:  # the first one encodes; the others find it in the cache, or have a cache of their own
        world.told(lambda: len(encode(progress.epoch if anew else None)))
    fixed = None if anew else encode(None)

    def of_epoch(epoch: int) -> Encoded:
        corpora = fixed or encode(epoch)
        return corpora[0] if weights == [1] else Mixture(corpora, weights, seed, epoch)

    state = {"epoch": progress.epoch, "index": progress.index, "width": progress.width}
    kind = RowBatches if progress.shared_rows else Batches
    batches = kind(of_epoch, recipe.train.batch_tokens, recipe.train.seed, world.rank, world.size, state)
    console.print(f"pairs       {batches.corpus.report.summary()}", highlight=False)
    return batches


def read_held_out(files: PairFiles, tag: str | None = None) -> HeldOut:
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs], tag)
