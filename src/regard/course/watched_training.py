"""A minute of training that can be watched: a tiny model learns short sentences of the grammar, and says how it does.

    sentences ─ batches ─ update ─▶ {"kind": "loss", …}          twice a second
                            └─ every few seconds ─▶ {"kind": "look", …}   BLEU, a translation, an attention map

It has the parts of `training/` without what a minute does not need: no checkpoints, no files, no recipe. The learning
rate rises and falls with the time, so that a slow machine makes fewer updates of the same schedule. The held-out
sentences share no sentence with those that it learns from, but their words.

    B sentences   H heads   T target   S source
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.batch import Batch, flat_batch
from regard.course.grammar import Example, generate
from regard.data.batching import plan_epoch
from regard.metrics.bleu import bleu
from regard.models.base import Model
from regard.models.rnn import RnnConfig
from regard.models.rnn_attention import RnnAttentionConfig
from regard.models.table import ModelConfig, make_model
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import TrainConfig
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.search.search import search
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.words import split_words
from regard.training.loss import smoothed_nll_fused
from regard.training.optim import make_optimizer, set_rate
from regard.training.schedule import learning_rate

Tell = Callable[[dict[str, Any]], object]  # receives an event, which can be sent as JSON

SECONDS = 60.0
SEED = 1
LONGEST = 7  # words of a source
HELD_OUT = 40  # sentences
FEWEST = 7  # tokens of the sentence to look at
MOST_TOKENS = 16  # of a translation: a model that has learned little does not end
BATCH_TOKENS = 512
LOSS_SECONDS, LOOK_SECONDS = 0.5, 3.0  # between two events
LOOK_SHARE = 0.2  # of the time that looking may take


TINY_RNN = RnnConfig(width=128, layers=1, embedding=64, dropout=0.0, tie="none")
TINY_ATTENTION = RnnAttentionConfig(
    width=96, encoder_width=48, encoder_layers=1, decoder_layers=1, embedding=64, alignment=64, dropout=0.0, tie="none"
)
TINY_TRANSFORMER = TransformerConfig(
    width=64, heads=4, inner=128, encoder_layers=2, decoder_layers=2, dropout=0.0, norm="pre", tie="none"
)
MODELS: dict[str, tuple[ModelConfig, float]] = {  # by architecture: the configuration, and Muon's rate at its peak
    "rnn": (TINY_RNN, 0.01),
    "rnn-attention": (TINY_ATTENTION, 0.01),
    "transformer": (TINY_TRANSFORMER, 0.006),
}


class ShortSentences:
    """Short sentences of the grammar, as words: those to learn from, those held out, and one to look at."""

    def __init__(self, size: int) -> None:
        splits = generate(size, SEED)
        self.train = [one for one in splits["train"].examples if is_short(one)]
        config = TextConfig(unit="word", vocab_size=10_000, joint=False)
        self.tokenizer = Tokenizer.train(lambda: ((one.src, one.tgt) for one in self.train), config)
        known = [one for one in splits["dev"].examples if is_short(one) and self.is_known(one)]
        self.held_out = known[:HELD_OUT]
        counts = Counter(word for one in self.train for word in split_words(one.src))

        def worth(one: Example) -> tuple[bool, int]:  # an adjective changes its place, and no word is rare
            return "adjective-order" in one.tags, min(counts[word] for word in split_words(one.src))

        self.shown = max(filter(self.is_in_words, known), key=worth)

    def ids(self, one: Example) -> tuple[list[int], list[int]]:
        return self.tokenizer.encode_source([one.src])[0], self.tokenizer.encode_target([one.tgt])[0]

    def is_known(self, one: Example) -> bool:
        """Whether all words occur in the sentences to learn from."""
        source, target = self.ids(one)
        return self.tokenizer.source.unknown not in source and self.tokenizer.unknown not in target

    def is_in_words(self, one: Example) -> bool:
        """Whether tokens are words on both sides, as the alignment counts them, and there are enough for a map."""
        source, target = self.ids(one)
        words = [len(split_words(one.src)), len(split_words(one.tgt))]
        return [len(source), len(target)] == words and min(words) >= FEWEST


def is_short(one: Example) -> bool:
    return len(one.src.split()) <= LONGEST


def batches(sources: Sequence[list[int]], targets: Sequence[list[int]]) -> Iterator[Batch]:
    """Endless batches of sentences of similar lengths."""
    lengths = [np.array([len(ids) + 1 for ids in side]) for side in (sources, targets)]
    for epoch in count():
        for rows in plan_epoch(lengths[0], lengths[1], BATCH_TOKENS, SEED, epoch):
            yield flat_batch([sources[i] for i in rows], [targets[i] for i in rows]).pad()


class WatchedTraining:
    """A training of one model. `run` tells what happens and returns when the time is over."""

    def __init__(self, name: str, sentences: ShortSentences, seconds: float = SECONDS) -> None:
        torch.manual_seed(SEED)
        self.sentences, self.seconds = sentences, seconds
        self.tokenizer = sentences.tokenizer
        config, rate = MODELS[name]
        self.model: Model = make_model(name, config, self.tokenizer)
        self.recipe = TrainConfig(steps=1000, warmup=40, learning_rate=rate, schedule="linear", optimizer="muon")
        self.optimizer = make_optimizer(self.model, self.recipe)

    def run(self, tell: Tell) -> None:
        train = self.sentences.train
        sources = self.tokenizer.encode_source([one.src for one in train])
        stream = batches(sources, self.tokenizer.encode_target([one.tgt for one in train]))
        tell({"kind": "begin", **self.about()})
        tell({"kind": "look", "second": 0.0, "update": 0, **self.look()})
        began = said = looked = time.monotonic()
        updates, cost, losses = 0, 0.0, list[float]()
        while (second := time.monotonic() - began) < self.seconds:
            updates += 1
            losses.append(self.update(next(stream), updates, second))
            now = time.monotonic()
            place = {"second": round(now - began, 2), "update": updates}
            if now - said >= LOSS_SECONDS:
                tell({"kind": "loss", **place, "loss": round(sum(losses) / len(losses), 4)})
                losses, said = [], now
            if now - looked >= max(LOOK_SECONDS, cost / LOOK_SHARE):
                tell({"kind": "look", **place, **self.look()})
                looked = time.monotonic()
                cost = looked - now
        tell({"kind": "look", "second": self.seconds, "update": updates, **self.look()})

    def update(self, batch: Batch, number: int, second: float) -> float:
        """One update; returns the loss per target token, without smoothing."""
        self.model.train()
        place = max(number, self.recipe.steps * second / self.seconds)
        set_rate(self.optimizer, learning_rate(number, self.recipe, min(place, self.recipe.steps)))
        self.optimizer.zero_grad()
        loss = smoothed_nll_fused(self.model(batch), batch.tgt_out, batch.tgt_mask, 0.0) / batch.target_tokens
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        return float(loss.detach())

    # ── looking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def about(self) -> dict[str, Any]:
        shown = self.sentences.shown
        return {
            "parameters": self.model.parameter_count(),
            "sentences": len(self.sentences.train),
            "words": [self.tokenizer.source_size, self.tokenizer.target_size],
            "held_out": len(self.sentences.held_out),
            "reference": shown.tgt,
            "source": list(split_words(shown.src)),
            "target": list(split_words(shown.tgt)),
            "links": [list(link) for link in shown.alignment],
        }

    @torch.inference_mode()
    def look(self) -> dict[str, Any]:
        """BLEU of the held-out sentences, the translation of one of them, and its attention."""
        self.model.eval()
        examples = [self.sentences.shown, *self.sentences.held_out]
        requests = [SearchRequest(tuple(ids)) for ids in self.tokenizer.encode_source([e.src for e in examples])]
        found = search(self.model, requests, SearchOptions(1, 0.0, max_length=MOST_TOKENS))
        texts = [self.tokenizer.decode(best.ids) for (best,) in found]
        score = bleu(texts[1:], [e.tgt for e in examples[1:]]).score
        return {"bleu": round(score, 2), "translation": texts[0], **self.attention()}

    def attention(self) -> dict[str, Any]:
        """The map of the head that aligns best now: rows are words of the reference, columns those of the source."""
        if not self.model.has_attention:
            return {}
        source, target = self.sentences.ids(self.sentences.shown)
        layers = self.model.attention(flat_batch([source], [target]).pad()).cross
        rows = [(layer, head, one) for layer, maps in enumerate(layers) for head, one in enumerate(maps[0])]
        layer, head, best = max(rows, key=lambda row: self.on_links(row[2]))
        return {
            "weights": [[round(float(w), 4) for w in row] for row in best[:-1]],
            "head": [layer + 1, head + 1, len(rows)],
            "on_links": round(self.on_links(best), 3),
        }

    def on_links(self, weights: Tensor) -> float:
        """The mean weight of the words that the grammar links with each target word."""
        shown = self.sentences.shown
        rows = sorted({t for _, t in shown.alignment})
        return float(sum(weights[t, s] for s, t in shown.alignment) / len(rows))
