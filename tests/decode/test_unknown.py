"""PosUnk, on a model of whole words that was really trained: names were met once each, so they are all <unk> to it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

import regard
from regard.batch import flat_batch
from regard.decode.token_lexicon import TokenLexicon, learn_lexicon
from regard.decode.unknown import fill_unknown, filled, source_positions
from regard.errors import InputError
from regard.models.rnn import PRESETS, Rnn
from regard.text.learnt_vocabulary import LearntVocabulary
from regard.text.tokenizer import TextConfig, Tokenizer
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


def test_a_maker_is_never_padding_or_the_end(namer: Translator) -> None:
    model, tokenizer = namer.bundle.model, namer.tokenizer
    sources = tokenizer.encode_source(["Zorro", NEW])
    found = source_positions(model, namer.alignment_heads, sources, [[3, 3, 3, 3], [3]])
    assert found[0] == [0, 0, 0, 0]
    assert len(found[1]) == 1


def test_a_tag_before_the_source_is_no_word(namer: Translator) -> None:
    """The last word of the vocabulary taken for a tag."""
    plain, model = namer.tokenizer, namer.bundle.model
    words = LearntVocabulary(plain.source.pieces[:-1], None).with_tags(["<x>"])
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
    with pytest.raises(InputError, match='by "guess"'):
        namer.translate([NEW], unknown="guess")
    with pytest.raises(InputError, match="regard lexicon"):
        namer.translate([NEW], unknown="lexicon")
    with pytest.raises(InputError, match="spell every word"):
        translator.translate([NEW], unknown="copy")
    size = namer.tokenizer.target_size
    deaf = replace(namer.bundle, architecture="rnn", model=Rnn(PRESETS["tiny"], size, size, True).eval())
    with pytest.raises(InputError, match="rnn has no attention"):
        Translator(deaf).translate([NEW], unknown="copy")
