"""Hugging Face's Seq2SeqTrainer as its users run it, for `cpu_toolkits.py`.

    python benchmarks/hf_trainer.py SOURCE_IDS TARGET_IDS UPDATES SENTENCES PRECISION

A Marian model of 3 + 3 layers, width 256, on lines of token ids. Batches are grouped by the length of the longer side,
which fills 88% of the target's positions and 87% of the source's on Multi30k; by the target's length it is 92% and 65%,
by the source's, which is what the trainer does unless told otherwise, 60% and 93%. They hold so many sentences, because
the trainer has no batches by tokens. Prints the share that is filled and how many target tokens it learnt from, padding
not counted. Needs transformers, accelerate and datasets, and not regard, which need not be in that environment.
"""

from __future__ import annotations

import sys
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import (
    DataCollatorForSeq2Seq,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

SIZE, PAD, BOS, EOS = 8000, 0, 1, 2


class Collator(DataCollatorForSeq2Seq):
    """Without the column of lengths, which the model does not take."""

    def __call__(self, features, return_tensors=None):
        kept = [{name: row[name] for name in ("input_ids", "labels")} for row in features]
        return super().__call__(kept, return_tensors)


class CountingTrainer(Seq2SeqTrainer):
    tokens, positions = 0, 0

    def training_step(self, model, inputs, *rest):
        self.tokens += int((inputs["labels"] != -100).sum())
        self.positions += inputs["labels"].numel()
        return super().training_step(model, inputs, *rest)


def read(path: str) -> list[list[int]]:
    with open(path, encoding="utf-8") as lines:  # noqa: PTH123
        return [[int(word) for word in line.split()] + [EOS] for line in lines]


def corpus(src: str, tgt: str) -> Dataset:
    sources, targets = read(src), read(tgt)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    return Dataset.from_dict({"input_ids": sources, "labels": targets, "length": lengths})


def marian() -> MarianMTModel:
    config = MarianConfig(
        vocab_size=SIZE, d_model=256, encoder_layers=3, decoder_layers=3, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024, dropout=0.1, activation_function="relu",
        pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=BOS, forced_eos_token_id=EOS,
        max_position_embeddings=512,
    )  # fmt: skip
    return MarianMTModel(config)


def main(src: str, tgt: str, updates: str, sentences: str, precision: str) -> None:
    model = marian()
    words = Tokenizer(models.WordLevel({str(i): i for i in range(SIZE)}, unk_token=str(PAD)))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token=str(PAD), eos_token=str(EOS))
    with tempfile.TemporaryDirectory() as folder:
        arguments = Seq2SeqTrainingArguments(
            folder, max_steps=int(updates), per_device_train_batch_size=int(sentences), use_cpu=True,
            bf16=precision == "bfloat16", learning_rate=1e-3, warmup_steps=1000, label_smoothing_factor=0.1,
            max_grad_norm=1.0, train_sampling_strategy="group_by_length", save_strategy="no", report_to="none",
            logging_steps=1, seed=1,
            remove_unused_columns=False,  # else the lengths are dropped, and batches grouped by the source's
        )  # fmt: skip
        trainer = CountingTrainer(
            model, arguments, train_dataset=corpus(src, tgt), data_collator=Collator(tokenizer, model)
        )
        trainer.train()
    print(f"filled: {trainer.tokens / trainer.positions:.1%}\ntarget tokens: {trainer.tokens}")


if __name__ == "__main__":
    main(*sys.argv[1:])
