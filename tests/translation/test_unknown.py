"""PosUnk, on a model of whole words that was really trained: names were met once each, so they are all <unk> to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

import regard
from regard.batch import Batch, flat_batch
from regard.errors import InputError
from regard.models.base import AttentionMaps
from regard.models.rnn import PRESETS, Rnn
from regard.search.token_lexicon import TokenLexicon, learn_lexicon
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.translation.unknown import fill_unknown, filled, source_positions
from regard.translator import Translator

NOUNS = {"cat": "chat", "dog": "chien", "bird": "oiseau", "cow": "vache", "wolf": "loup", "bear": "ours"}
VERBS = {"sleeps": "dort", "eats": "mange", "runs": "court", "sings": "chante"}


def named_pairs(count: int = 400) -> list[tuple[str, str]]:
    """Two words that change places, each a noun or a name of its own: only who looks at a word can know which."""
    draw = random.Random(3)

    def word() -> tuple[str, str]:
        name = "".join(draw.choices("abcdefghijklmnop", k=6)).capitalize()
        return draw.choice([*NOUNS.items(), *[(name, name)] * len(NOUNS)])

    pairs = []
    for _ in range(count):
        (first, premier), (second, deuxieme), (does, fait) = word(), word(), draw.choice([*VERBS.items()])
        pairs.append((f"With {first} the {second} {does}.", f"Le {deuxieme} {fait} avec {premier}."))
    return pairs


@pytest.fixture(scope="module")
def namer(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    home = tmp_path_factory.mktemp("names")
    for side, name in enumerate(("a.en", "a.fr")):
        (home / name).write_text("".join(pair[side] + "\n" for pair in named_pairs()), encoding="utf-8")
    data = {key: str(home / name) for key, name in (("src", "a.en"), ("tgt", "a.fr"))}
    recipe = {
        "data": data | {"dev_size": 0},
        "text": {"unit": "word", "vocab_size": 40},
        "model": {"architecture": "rnn-attention", "preset": "tiny", "width": 48, "encoder_width": 32, "dropout": 0.0}
        | {"embedding": 48, "alignment": 32},
        "train": {"steps": 140, "batch_tokens": 500, "learning_rate": 1e-2, "warmup": 10, "schedule": "cosine"}
        | {"save_every": 140, "device": "cpu"},
    }
    return regard.load(regard.train(recipe, home / "run").run, device="cpu")


NEW = "With Zorro the Batman sleeps."


@pytest.mark.parametrize("beam", [1, 4])
def test_copied_by_where_the_model_looked(namer: Translator, beam: int) -> None:
    assert namer.translate([NEW], beam=beam)[0].text == "Le <unk> dort avec <unk>."
    assert namer.translate([NEW], beam=beam, unknown="copy")[0].text == "Le Batman dort avec Zorro."


def test_looked_up_where_the_lexicon_knows(namer: Translator) -> None:
    able = Translator(namer.bundle, namer.config, lexicon=TokenLexicon({"▁Batman": [("▁Hommechauve", 0.7)]}, "", 1))
    assert able.translate([NEW], unknown="lexicon")[0].text == "Le Hommechauve dort avec Zorro."
    assert able.translate([NEW], unknown="copy")[0].text == "Le Batman dort avec Zorro."


def test_a_learnt_lexicon(namer: Translator) -> None:
    pairs = [*named_pairs(), ("With Germany the dog sleeps.", "Le chien dort avec Allemagne.")]
    able = Translator(namer.bundle, namer.config, lexicon=learn_lexicon(pairs * 2, namer.tokenizer))
    assert able.translate(["With Germany the dog eats."], unknown="lexicon")[0].text == "Le chien mange avec Allemagne."


def test_every_candidate_and_every_part(namer: Translator) -> None:
    found = namer.translate([NEW, "", "sleeps."], nbest=3, unknown="copy")
    assert all("<unk>" not in c.text for t in found for c in t.candidates)
    assert len(found[0].candidates) == 3
    short = Translator(namer.bundle, max_length=9)
    long = short.translate([f"{NEW} With Robin the Joker eats."], unknown="copy")[0]
    assert (len(long.sentences), long.text) == (2, "Le Batman dort avec Zorro. Le Joker mange avec Robin.")


def test_the_batch_does_not_matter(namer: Translator) -> None:
    lines = [NEW, "With Ann the Bob runs.", "Bob", *(source for source, _ in named_pairs()[:20])]
    alone = [namer.translate([line], unknown="copy")[0].text for line in lines]
    assert [t.text for t in namer.translate(lines, unknown="copy")] == alone


def one_by_one(namer: Translator, source: str, ids: Sequence[int]) -> str:
    """The equation, in a pass for this sentence alone."""
    (read,), words = namer.tokenizer.encode_source([source]), source.replace(".", " .").split()
    with torch.inference_mode():
        maps = namer.bundle.model.attention(flat_batch([read], [ids]).pad()).cross
    places = namer.alignment_heads.average(maps)[0, :, : len(read)].argmax(dim=1)  # (T + 1,), EOS is not looked at
    said = [words[place] if i == namer.tokenizer.unknown else None for i, place in zip(ids, places, strict=False)]
    pieces = [namer.tokenizer.decode([i]) for i in ids]
    return " ".join(word or piece for word, piece in zip(said, pieces, strict=True)).replace(" .", ".")


LINES = [NEW, "Bob", "With Ann the dog eats.", *(source for source, _ in named_pairs()[:20])]


@pytest.mark.parametrize("batch_tokens", [1, 40, 4096])
def test_in_batches_as_one_by_one(namer: Translator, batch_tokens: int) -> None:
    found = namer.translate(LINES, nbest=3, unknown="copy", batch_tokens=batch_tokens)
    said = [(line, c) for line, one in zip(LINES, found, strict=True) for c in one.candidates]
    assert [c.text for _, c in said] == [one_by_one(namer, line, c.ids) for line, c in said]
    assert sum(namer.tokenizer.unknown in c.ids for _, c in said) > len(LINES)


def passes(namer: Translator, lines: list[str], monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[int]:
    """How many sentences each forced pass of a translation has."""
    counts: list[int] = []
    attention = namer.bundle.model.attention

    def counted(batch: Batch) -> AttentionMaps:
        counts.append(len(batch.src))
        return attention(batch)

    with monkeypatch.context() as patch:
        patch.setattr(namer.bundle.model, "attention", counted)
        namer.translate(lines, unknown="copy", **options)
    return counts


def test_only_what_lacks_a_word_is_decoded_again(namer: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    known = ["With the dog the cat sleeps.", "With the cow the wolf runs."]
    assert not any("<unk>" in one.text for one in namer.translate(known))
    assert passes(namer, known, monkeypatch) == []
    assert passes(namer, [*known, NEW], monkeypatch) == [1]


def test_many_sentences_take_few_passes(namer: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list(dict.fromkeys(source for source, _ in named_pairs()))
    lacking = {one.candidates[0].ids for one in namer.translate(lines) if "<unk>" in one.text}
    (together,) = passes(namer, lines, monkeypatch)
    assert len(lacking) <= together < len(lines)  # names are one id, so sentences with other names are equal
    assert len(passes(namer, lines, monkeypatch, batch_tokens=100)) > 1
    assert passes(namer, [NEW, NEW.replace("Zorro", "Robin")], monkeypatch) == [1]


def test_a_maker_is_never_padding_or_the_end(namer: Translator) -> None:
    model, tokenizer = namer.bundle.model, namer.tokenizer
    sources = tokenizer.encode_source(["Zorro", NEW])
    found = source_positions(model, namer.alignment_heads, sources, [[3, 3, 3, 3], [3]])
    assert found[0] == [0, 0, 0, 0]
    assert len(found[1]) == 1


def test_a_tag_before_the_source_is_no_word(namer: Translator) -> None:
    """The last word of the vocabulary taken for a tag."""
    plain, model = namer.tokenizer, namer.bundle.model
    words = LearnedVocabulary(plain.source.pieces[:-1], None).with_tags(["<x>"])
    marked = Tokenizer(words, words, replace(plain.config, tags=("<x>",)), "<x>")
    text = "Zorro eats"
    (ids,) = marked.encode_source([text])
    target = [plain.unknown or 0] * 12
    with torch.inference_mode():
        looked = namer.alignment_heads.average(model.attention(flat_batch([ids], [target]).pad()).cross)[
            0, :12
        ]  # (T, S)
    (places,) = source_positions(model, namer.alignment_heads, [ids], [target], first=1)
    assert places == looked[:, 1:-1].argmax(dim=1).tolist()
    said = fill_unknown(model, namer.alignment_heads, marked, None, [text], [target])[0]
    assert said.split() == [text.split()[place] for place in places]


@pytest.mark.parametrize(("before", "text"), [("▁l'", "l'Obama"), ("▁le", "le Obama")])
def test_an_elision_stands_close(before: str, text: str) -> None:
    lines = [("Obama the 'the", "l'homme le homme l'homme le homme")] * 2
    words = Tokenizer.train(lambda: iter(lines), TextConfig(unit="word", vocab_size=20, joint=False))
    ids = [words.target.ids[before], words.unknown or 0]
    assert filled(words, None, ["▁Obama"], ids, [0, 0]) == text


def test_what_cannot_be_filled_in(namer: Translator, translator: Translator) -> None:
    with pytest.raises(InputError, match='unknown must be "keep", "copy" or "lexicon"'):
        namer.translate([NEW], unknown="guess")
    with pytest.raises(InputError, match="regard lexicon"):
        namer.translate([NEW], unknown="lexicon")
    with pytest.raises(InputError, match="spell every word"):
        translator.translate([NEW], unknown="copy")
    size = namer.tokenizer.target_size
    deaf = replace(namer.bundle, architecture="rnn", model=Rnn(PRESETS["tiny"], size, size, True).eval())
    with pytest.raises(InputError, match="rnn has no attention"):
        Translator(deaf).translate([NEW], unknown="copy")
