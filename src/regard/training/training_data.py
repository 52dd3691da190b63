"""All text of a run: the vocabulary, the encoded corpora as batches, and the held-out pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from regard.batch import Batch
from regard.bundle.numpy_weights import pieces_to_card
from regard.data.batching import Batches, Encoded
from regard.data.cache import cache_folder, cached_known_words, cached_tokenizer
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.encode import EncodedCorpus
from regard.data.epochs import BackgroundEncoder, encode_epoch
from regard.data.order import Mixture
from regard.data.rows import RowBatches
from regard.data.splits import Splits, TrainingCorpus
from regard.recipe.train import TrainConfig
from regard.text.known_words import KnownWords
from regard.text.language_identification import sample_language
from regard.text.tokenizer import SAMPLE, TextConfig, Tokenizer
from regard.training.checkpoint import Progress
from regard.training.distributed import SINGLE_PROCESS, ProcessGroup
from regard.training.evaluate import HeldOut
from regard.training.guided import AlignmentGuide, padded
from regard.training.log import progress_bar


@dataclass(frozen=True)
class TrainingData:
    """The prepared text of a run, for training and evaluation."""

    batches: Batches | RowBatches
    dev: HeldOut | None
    test: HeldOut | None
    max_length: int  # longer sentences are not trained on, and are translated in parts
    fingerprint: str  # of the training files
    guide: AlignmentGuide | None = None  # word alignments, if an attention head is trained on them
    known_words: KnownWords | None = None  # of the sources, if they hold slots
    written: dict[str, str] | None = None  # the pieces of the targets by tag, for the card, if all corpora have tags

    def largest(self) -> Batch:
        """Returns the batch of an epoch that takes the most memory."""
        return padded(self.batches.largest(), self.guide)


def learn_tokenizer(data: DataConfig, text: TextConfig, splits: Splits, console: Console) -> Tokenizer:
    """Reads the vocabulary of the training pairs from the cache, or learns it."""
    count = 0
    with progress_bar(console, "reading pairs") as show:

        def pairs() -> Iterator[tuple[str, str]]:
            nonlocal count
            count = 0
            for count, pair in enumerate(splits.training_pairs(), start=1):
                if count % 1000 == 0:
                    show(count)
                yield pair

        tokenizer = cached_tokenizer(data, text, splits.fingerprint(), lambda: Tokenizer.train(pairs, text))
    source = f"from {count:,} pairs" if count else "from the cache"
    kind = "joint" if text.joint else "separate"
    sizes = f"{tokenizer.target_size:,}" if text.joint else f"{tokenizer.source_size:,} + {tokenizer.target_size:,}"
    console.print(f"vocabulary  {sizes} {text.unit} pieces, {kind}, {source}", highlight=False)
    return tokenizer


def read_training_data(
    data: DataConfig,
    config: TrainConfig,
    splits: Splits,
    tokenizer: Tokenizer,
    progress: Progress,
    console: Console,
    group: ProcessGroup = SINGLE_PROCESS,
) -> TrainingData:
    dev, test = (read_held_out(files, data.dev_tag) if files else None for files in (splits.dev, splits.test))
    batches = make_batches(data, config, splits.train, tokenizer, progress, console, group)
    guide = None
    if config.guided_weight:
        console.print("guide       aligning words of the training text", highlight=False)
        warn = partial(console.print, highlight=False, markup=False)
        guide = AlignmentGuide(batches.corpus, tokenizer, cache_folder(data), warn)
    known = None
    if batches.corpus.has_target_ids(tokenizer.slot_ids):
        known = group.broadcast(lambda: learn_known_words(data, splits, dev, batches.corpus.report.read))
    written = written_by_tag(batches.corpus, [corpus.tag for corpus in splits.train], tokenizer.target_size)
    return TrainingData(batches, dev, test, data.max_length, splits.fingerprint(), guide, known, written)


def written_by_tag(corpus: Encoded, tags: Sequence[str | None], size: int) -> dict[str, str] | None:
    """Returns the pieces of the targets for each tag, if tags select the output: all corpora have one, and not all the
    same."""
    if None in tags or len(set(tags)) < 2 or not isinstance(corpus, Mixture):
        return None
    counts: dict[str, NDArray[np.int64]] = {}
    for tag, part in zip(tags, corpus.corpora, strict=True):
        assert tag is not None
        counts[tag] = counts.get(tag, 0) + part.target_counts(size)
    return pieces_to_card(counts)


def learn_known_words(
    data: DataConfig, splits: Splits, dev: HeldOut | None, pairs: int, known: KnownWords | None = None
) -> KnownWords:
    """Learns the words of at most SAMPLE training pairs, or reads them from the cache; `known`, if given, is stored."""
    language = (sample_language(dev.sources) if dev else None) or "en"

    def learn() -> KnownWords:
        return known or KnownWords.learn(islice(splits.training_pairs(), 0, None, -(-pairs // SAMPLE)), language)

    return cached_known_words(data, splits.fingerprint(), language, learn)


def make_batches(
    data: DataConfig,
    config: TrainConfig,
    train: Sequence[TrainingCorpus],
    tokenizer: Tokenizer,
    progress: Progress,
    console: Console,
    group: ProcessGroup = SINGLE_PROCESS,
) -> Batches | RowBatches:
    """Makes batches from the position in `progress` on. With BPE-dropout or transforms every epoch is encoded again;
    with weighted corpora every epoch is another mixture."""
    seed, weights = config.seed, [corpus.weight for corpus in train]
    epochs_differ = tokenizer.config.bpe_dropout > 0 or any(data.transforms)
    in_background = BackgroundEncoder(train, tokenizer, data, seed)

    def encode(epoch: int | None) -> list[EncodedCorpus]:
        in_background.wait()
        with progress_bar(console, "encoding pairs") as show:
            return encode_epoch(train, tokenizer, data, seed, epoch, show)

    if group.size > 1:  # the first process encodes; the others find it in the cache, or have a cache of their own
        group.broadcast(lambda: len(encode(progress.epoch if epochs_differ else None)))
    fixed = None if epochs_differ else encode(None)

    def of_epoch(epoch: int) -> Encoded:
        corpora = fixed or encode(epoch)
        return corpora[0] if weights == [1] else Mixture(corpora, weights, seed, epoch)

    state = {"epoch": progress.epoch, "index": progress.index, "width": progress.width}
    kind = RowBatches if progress.shared_rows else Batches
    batches = kind(of_epoch, config.batch_tokens, seed, group.rank, group.size, state)
    if epochs_differ and group.rank == 0:
        batches.begin_epoch = in_background.begin
    console.print(f"pairs       {batches.corpus.report.summary()}", highlight=False)
    return batches


def read_held_out(files: PairFiles, tag: str | None = None) -> HeldOut:
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs], tag)
