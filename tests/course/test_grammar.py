"""The embedded corpus keeps its promises: equal seeds, disjoint splits, aligned words, and French that is French."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.course.grammar import (
    DEFAULT_SIZE,
    NOTES_EXAMPLES,
    Example,
    Split,
    adjectives,
    ambiguous,
    corpus,
    generate,
    morphology,
    nouns,
    pronouns,
    tokens,
    verbs,
    write_corpus,
)
from regard.course.grammar.morphology import FUTURE, IMPERFECT, PRESENT
from regard.errors import InputError
from regard.text.words import split_words

SIZE = 5_500


@pytest.fixture(scope="module")
def splits() -> dict[str, Split]:
    return generate(SIZE, seed=3)


@pytest.fixture(scope="module")
def drawn() -> list[corpus.DrawnSentence]:
    """Sentences as the grammar gives them, nothing sorted out."""
    rng = random.Random(11)
    return [corpus.draw(rng) for _ in range(8_000)]


@pytest.fixture(scope="module")
def french_text(drawn: list[corpus.DrawnSentence]) -> str:
    return "\n".join(d.example.tgt for d in drawn)


# --- the corpus as a whole


def test_sizes_and_names(splits: dict[str, Split]) -> None:
    assert list(splits) == ["train", "dev", "test", "compositional"]
    assert {name: len(split.examples) for name, split in splits.items()} == {
        "train": SIZE,
        "dev": 500,
        "test": 1000,
        "compositional": 500,
    }
    assert all(split.name == name for name, split in splits.items())


def test_equal_seeds_give_equal_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from regard.course.grammar import generate, write_corpus; "
        "write_corpus(Path(sys.argv[1]), generate(1000, 5))"
    )
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / hash_seed)], check=True, env=env)
    first = {p.name: p.read_bytes() for p in (tmp_path / "1").iterdir()}
    second = {p.name: p.read_bytes() for p in (tmp_path / "2").iterdir()}
    assert first == second
    assert len(first) == 4 * 5 + 1


def test_another_seed_gives_another_corpus() -> None:
    assert generate(1000, seed=1)["train"].examples != generate(1000, seed=2)["train"].examples


def test_dev_and_test_do_not_depend_on_the_size(splits: dict[str, Split]) -> None:
    smaller = generate(5_000, seed=3)  # below, all splits are smaller
    assert smaller["test"] == splits["test"]
    assert smaller["dev"] == splits["dev"]


def test_no_sentence_is_in_two_places(splits: dict[str, Split]) -> None:
    for side in ("src", "tgt"):
        texts = [getattr(e, side).casefold() for split in splits.values() for e in split.examples]
        texts += [pair[side == "tgt"].casefold() for pair in NOTES_EXAMPLES]
        assert [t for t, n in Counter(texts).items() if n > 1] == []


def test_one_english_sentence_has_one_french(drawn: list[corpus.DrawnSentence]) -> None:
    french_of = dict(NOTES_EXAMPLES)
    for d in drawn:
        assert french_of.setdefault(d.example.src, d.example.tgt) == d.example.tgt, d.example.src


def test_minimal_pairs_are_functions_too(splits: dict[str, Split]) -> None:
    """What the pair maker writes, the sentence maker would translate alike."""
    rng, french_of = random.Random(2), {}
    for _ in range(1_500):
        d = tokens.Draft(rng)
        for drawn in (corpus.finish(d, pronouns.sentence(d), "."), corpus.finish(*ambiguous.sentence(rng), ".")):
            assert french_of.setdefault(drawn.example.src, drawn.example.tgt) == drawn.example.tgt
    for split in splits.values():
        for e in split.examples:
            assert french_of.get(e.src, e.tgt) == e.tgt


def test_compositional_sentences_are_new_combinations_of_known_forms(splits: dict[str, Split]) -> None:
    def forms(e: Example) -> set[str]:
        return {w.casefold() for text in (e.src, e.tgt) for w in split_words(text)}

    known = set().union(*(forms(e) for e in splits["train"].examples))
    for e in splits["compositional"].examples:
        assert forms(e) <= known, e


def test_withheld_combinations_are_in_no_other_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence that is written is noted with its combinations; then the splits are looked up."""
    noted: dict[str, list[tuple[str, str, str]]] = {}
    finish = corpus.finish

    def noting(d: tokens.Draft, pair: tokens.Pair, mark: str) -> corpus.DrawnSentence:
        result = finish(d, pair, mark)
        noted[result.example.src] = list(d.combinations)
        return result

    monkeypatch.setattr(corpus, "finish", noting)
    made = generate(1_000, seed=4)
    for name, split in made.items():
        for e in split.examples:
            has = any(corpus.withheld(c) for c in noted[e.src])
            assert has == (name == "compositional"), e.src
    kinds = Counter(c[0] for e in made["compositional"].examples for c in noted[e.src] if corpus.withheld(c))
    assert set(kinds) == {"adjective-noun", "subject-verb", "verb-object"}


def test_a_size_too_small_is_refused() -> None:
    with pytest.raises(InputError, match="size must be 1,000 to 1,000,000"):
        generate(999)


@pytest.mark.long
def test_more_than_the_grammar_gives_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    compose = corpus.compose
    monkeypatch.setattr(corpus, "compose", lambda rng: compose(random.Random(1)))
    with pytest.raises(InputError, match="distinct pairs"):
        generate(1000)


def test_default_size_is_the_documented_one() -> None:
    assert DEFAULT_SIZE == 40_000


# --- files


def test_files_hold_the_corpus(tmp_path: Path, splits: dict[str, Split]) -> None:
    write_corpus(tmp_path / "new" / "folder", splits)
    folder = tmp_path / "new" / "folder"
    for name, split in splits.items():
        for ending in ("en", "fr", "align", "tags"):
            assert len((folder / f"{name}.{ending}").read_text(encoding="utf-8").splitlines()) == len(split.examples)
    pairs = (folder / "test.pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert pairs[0].split("\t") == ["kind", "first", "second", "first_word", "second_word"]
    assert len(pairs) == 1 + len(splits["test"].pairs)
    assert re.fullmatch(r"(\d+-\d+ ?)+", (folder / "dev.align").read_text(encoding="utf-8").splitlines()[0])
    assert "Pharaoh" in (folder / "README.txt").read_text(encoding="utf-8")


def test_a_folder_in_use_is_left_alone(tmp_path: Path, splits: dict[str, Split]) -> None:
    (tmp_path / "mine.txt").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="is not an empty folder") as caught:
        write_corpus(tmp_path, splits)
    assert "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


# --- the sentences


def test_lengths(splits: dict[str, Split]) -> None:
    lengths = []
    for split in splits.values():
        for e in split.examples:
            assert 3 <= len(e.src.split()) <= len(split_words(e.src)) <= 50
            assert 3 <= len(split_words(e.tgt)) <= 50
            lengths.append(len(e.src.split()))
    assert 8 <= sum(lengths) / len(lengths) <= 11
    assert 0.04 <= sum(n > 25 for n in lengths) / len(lengths) <= 0.12
    assert max(lengths) >= 45


def test_alignments(drawn: list[corpus.DrawnSentence]) -> None:
    for d in drawn:
        e = d.example
        source, target = split_words(e.src), split_words(e.tgt)
        assert e.alignment == tuple(sorted(set(e.alignment)))
        assert {i for i, _ in e.alignment} == set(range(len(source))), e  # every English word has its French
        loose = set(range(len(target))) - {j for _, j in e.alignment}
        assert {target[j].lower() for j in loose} <= {"le", "la", "les", "l'"}, e  # the dog's leg, la patte du chien
        assert (len(source) - 1, len(target) - 1) in e.alignment


@pytest.mark.parametrize(
    ("src", "links"),
    [
        ("didn't", {"n'", "ne", "pas", "a", "ai", "ont", "avez", "avons", "est", "sont", "suis", "sommes", "êtes"}),
        ("doesn't", {"ne", "n'", "pas"}),
        ("because", {"parce", "que", "qu'"}),
        ("of", {"de", "d'", "du", "devant"}),
        ("street", {"rue"}),
    ],
)
def test_what_a_word_is_aligned_to(drawn: list[corpus.DrawnSentence], src: str, links: set[str]) -> None:
    seen: set[str] = set()
    for d in drawn:
        source, target = split_words(d.example.src), split_words(d.example.tgt)
        seen |= {target[j].lower() for i, j in d.example.alignment if source[i] == src}
    assert seen
    assert seen <= links


def test_phenomena_are_all_there(splits: dict[str, Split]) -> None:
    for name in ("train", "test"):
        examples = splits[name].examples
        counts = Counter(tag for e in examples for tag in e.tags)
        for tag, share in {
            "agreement": 0.2, "adjective-order": 0.06, "clitic": 0.02, "negation": 0.15,
            "elision": 0.2, "contraction": 0.04, "pronoun": 0.06, "polysemy": 0.06,
            "relative": 0.03, "coordination": 0.03, "past": 0.3, "future": 0.06,
            "question": 0.015, "reflexive": 0.015, "there-is": 0.005, "comparison": 0.005, "idiom": 0.005,
            "modal": 0.01, "genitive": 0.04, "subordinate": 0.08, "time": 0.02,
        }.items():  # fmt: skip
            assert counts[tag] >= share * len(examples), (name, tag, counts[tag])
        assert all(e.tags == tuple(sorted(set(e.tags))) for e in examples)


def test_minimal_pairs(splits: dict[str, Split]) -> None:
    for name, at_least in {"test": 60, "dev": 20, "compositional": 20}.items():
        split = splits[name]
        kinds = Counter(p.kind for p in split.pairs)
        assert kinds["pronoun"] >= at_least
        assert kinds["polysemy"] >= at_least
        for p in split.pairs:
            first, second = split.examples[p.first], split.examples[p.second]
            words = [{w.lower() for w in split_words(e.tgt)} for e in (first, second)]
            assert p.first_word in words[0] - words[1], (p, first, second)
            assert p.second_word in words[1] - words[0], (p, first, second)
            assert p.kind in first.tags
            assert p.kind in second.tags
            ours, theirs = split_words(first.src), split_words(second.src)
            assert len(ours) == len(theirs)
            assert sum(a != b for a, b in zip(ours, theirs, strict=True)) == 1, (first.src, second.src)
    pairs = [p for p in splits["test"].pairs if p.kind == "pronoun"]
    assert {p.first_word for p in pairs} == {"il", "elle"}  # in both directions
    senses = {w for p in splits["test"].pairs if p.kind == "polysemy" for w in (p.first_word, p.second_word)}
    assert len(senses) >= 24


def test_the_notes_examples_are_inside_the_language(splits: dict[str, Split]) -> None:
    train = splits["train"].examples
    known_en = {w.casefold() for e in train for w in split_words(e.src)}
    known_fr = {w.casefold() for e in train for w in split_words(e.tgt)}
    for en, fr in NOTES_EXAMPLES:
        assert {w.casefold() for w in split_words(en)} <= known_en, en
        assert {w.casefold() for w in split_words(fr)} <= known_fr, fr


# --- the French

_VOWEL = "aeiouàâéèêëîïôùœ"
_ASPIRATED = "hiboux?|haies?|hérissons?|héros|haches?|harpes?|haute?s?|haricots?"
_BEFORE_VOWEL = rf"(?=[{_VOWEL}]|h(?!{'|'.join(w[1:] for w in _ASPIRATED.split('|'))}\b))"

_NEVER = {
    "elision": rf"\b(le|la|je|me|ne|de|que|se|jusque) {_BEFORE_VOWEL}",
    "elision of nothing": rf"(?i)\b([ldjmnst]|qu)'(?![{_VOWEL}hy])",
    "elision before h aspiré": rf"\b([ldjmnst]|qu)'({_ASPIRATED})\b",
    "si il": r"\bsi ils?\b",
    "contraction": r"\b(de|à) les? (?!lui|leur)",
    "two partitives": r"\b(de|du|des) (du|des)\b",
    "ce before a vowel": rf"\bce {_BEFORE_VOWEL}",
    "cet before a consonant": rf"\bcet (?![{_VOWEL}h])",
    "ma before a vowel": rf"\b(ma|sa) {_BEFORE_VOWEL}",
    "beau before a vowel": rf"\b(un|le|ce|mon|son|notre|votre|leur) (beau|nouveau|vieux) {_BEFORE_VOWEL}",
    "bel before a consonant": rf"\b(bel|nouvel|vieil) (?!{_BEFORE_VOWEL})",
    "bel without a noun": r"\b(bel|nouvel|vieil)( (et|à|a|que)\b|,|\.)",
    "spaces": r"  |^ | $| [.,]|'\s",
    "question mark": r"\S\?|\S!",
    "negation without its second half": r"\bn(e |')(?!.*\b(pas|jamais|plus)\b)",
    "pas un": r"^(?!.*\bjou\w+ (pas|jamais|plus) d).* (pas|jamais|plus) (un|une|des|du)\b",
    "masculine participle after elle": r"\b[Ee]lle (?:n')?est (?:pas |jamais )?(?:allé|arrivé|entré|parti|venu)\b",
    "masculine reflexive after elle": r"\b[Ee]lle (?:ne )?s'est (?:pas |jamais )?(?:assis|caché|arrêté|reposé)\b",
    "feminine participle after il": r"\b[Ii]l (?:ne |n')?(?:s')?est (?:pas |jamais )?\w+(?:ée|ie|ue|ise)\b",
    "singular after ils": r"\b[Ii]ls (?:ne |n')?(?:se )?(?:est|a|était|avait|va)\b",
    "straight apostrophe only": r"[’«»]",
}


@pytest.mark.parametrize("rule", _NEVER)
def test_french_never(rule: str, french_text: str) -> None:
    found = [m for line in french_text.splitlines() if (m := line if re.search(_NEVER[rule], line) else "")]
    assert found == []


_SOMETIMES = (
    r"\b[Ll]'(homme|animal|école|hôtel|histoire)\b",
    r"\b[Ll]e (hibou|hérisson|héros)\b",
    r"\b[Ll]a (haie|hache)\b",
    r"\bdu \w+",
    r"\bau \w+",
    r"\baux \w+",
    r"\bqu'il\b",
    r"\bqu'elle\b",
    r"\b[Ss]'ils?\b",
    r"\bn'a pas\b",
    r"\bde l'eau\b",
    r"\bpas de \w+",
    r"\bpas d'\w+",
    r"\b(mon|son) (école|écharpe|amie|armoire|assiette|étagère|horloge|image)\b",
    r"\bcet (homme|animal|arbre|oiseau|âne|enfant|oncle)\b",
    r"\b(bel|nouvel|vieil) (homme|animal|âne|arbre|ami|oiseau|hôtel)\b",
    r"\bles lui (a|ai|ont|avons|avez|donn)",
    r"\bl'a \w+ée\b",
    r"\bque \w+ a \w+ée\b",
    r"\bs'est assise\b",
    r"\b[Ii]l y a\b",
    r"\b[Ii]l n'y a(vait)? pas (de |d')",
    r"\b[Ee]st-ce qu'",
    r"\bQu'est-ce que\b",
    r"\bplus \w+ que\b",
    r"\bjoue du\b",
    r"\bde (beaux|belles|petits|petites|vieux|vieilles) \w+",
    r"\bnous nous \w+",
    r"\bne \w+ plus\b",
)


@pytest.mark.parametrize("pattern", _SOMETIMES)
def test_french_sometimes(pattern: str, french_text: str) -> None:
    assert re.search(pattern, french_text)


def test_capital_and_mark(drawn: list[corpus.DrawnSentence]) -> None:
    for d in drawn:
        for text in (d.example.src, d.example.tgt):
            assert text[0].isupper()
            assert text[-1] in ".?"
        assert (d.example.src[-1] == "?") == d.example.tgt.endswith(" ?")


def test_adjectives_agree_with_their_noun(french_text: str) -> None:
    """Every noun that is followed or preceded by a listed adjective has it in the noun's own gender and number."""
    forms: dict[str, set[tuple[bool, bool]]] = {}
    for adj in adjectives.ADJECTIVES:
        if adj.invariable:
            continue
        for feminine in (False, True):
            for plural in (False, True):
                forms.setdefault(adj.form(feminine, plural), set()).add((feminine, plural))
    both = (False, True)
    prenominal = {a.form(f, p) for a in adjectives.ADJECTIVES if a.before for f in both for p in both}
    heads: dict[str, set[tuple[bool, bool]]] = {}
    for noun in nouns.NOUNS:
        heads.setdefault(noun.fr, set()).add((noun.feminine, False))
        heads.setdefault(noun.fr_plural, set()).add((noun.feminine, True))
    checked = 0
    for first, second in re.findall(r"(?=\b([\w-]+) ([\w-]+)\b)", french_text):
        for head, adj in ((first, second), (second, first)):
            before = adj == first
            if head in heads and adj in forms and adj not in heads:
                if before != (adj in prenominal):
                    continue
                checked += 1
                assert heads[head] & forms[adj], (first, second)
    assert checked > 1_000


def test_every_noun_verb_and_adjective_is_used(drawn: list[corpus.DrawnSentence]) -> None:
    words = Counter(form for d in drawn for form in d.forms)
    unused = [n.en for n in nouns.NOUNS if not words[n.en] + words[n.en_plural]]
    unused += [a.en for a in adjectives.ADJECTIVES if not words[a.en]]
    unused += [v.base for v in verbs.BY_NAME.values() if not words[v.base] + words[v.past] + words[v.third]]
    assert unused == []


def test_lexicon_is_large_and_clean() -> None:
    names = [n.en for n in nouns.NOUNS]
    assert len(names) == len(set(names))
    assert not {w.en for w in ambiguous.AMBIGUOUS_WORDS} & set(names)  # an ambiguous word is nowhere else a noun
    lemmas = {*names, *(a.en for a in adjectives.ADJECTIVES), *(v.name for v in verbs.BY_NAME.values())}
    assert 350 <= len(lemmas | {w.en for w in ambiguous.AMBIGUOUS_WORDS}) <= 520
    kinds = {k for n in nouns.NOUNS for k in n.kinds} | set(names)
    selected = [w.lstrip("-") for v in verbs.BY_NAME.values() for w in f"{v.subjects} {v.objects}".split()]
    selected += [w for a in adjectives.ADJECTIVES for w in a.kinds.split()]
    assert [w for w in selected if w not in kinds] == []


@pytest.mark.parametrize(
    ("infinitive", "tense", "forms"),
    [
        ("manger", PRESENT, "mange manges mange mangeons mangez mangent"),
        ("manger", IMPERFECT, "mangeais mangeais mangeait mangions mangiez mangeaient"),
        ("acheter", PRESENT, "achète achètes achète achetons achetez achètent"),
        ("acheter", FUTURE, "achèterai achèteras achètera achèterons achèterez achèteront"),
        ("espérer", PRESENT, "espère espères espère espérons espérez espèrent"),
        ("protéger", PRESENT, "protège protèges protège protégeons protégez protègent"),
        ("protéger", FUTURE, "protégerai protégeras protégera protégerons protégerez protégeront"),
        ("nettoyer", PRESENT, "nettoie nettoies nettoie nettoyons nettoyez nettoient"),
        ("nettoyer", FUTURE, "nettoierai nettoieras nettoiera nettoierons nettoierez nettoieront"),
        ("envoyer", FUTURE, "enverrai enverras enverra enverrons enverrez enverront"),
        ("nourrir", PRESENT, "nourris nourris nourrit nourrissons nourrissez nourrissent"),
        ("attendre", PRESENT, "attends attends attend attendons attendez attendent"),
        ("attendre", FUTURE, "attendrai attendras attendra attendrons attendrez attendront"),
        ("être", IMPERFECT, "étais étais était étions étiez étaient"),
        ("rire", IMPERFECT, "riais riais riait riions riiez riaient"),
        ("voir", IMPERFECT, "voyais voyais voyait voyions voyiez voyaient"),
        ("cueillir", FUTURE, "cueillerai cueilleras cueillera cueillerons cueillerez cueilleront"),
    ],
)
def test_conjugation(infinitive: str, tense: str, forms: str) -> None:
    assert " ".join(morphology.conjugate(infinitive, tense, person) for person in range(6)) == forms


@settings(max_examples=30, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_any_seed_gives_a_well_formed_pair(seed: int) -> None:
    e = corpus.draw(random.Random(seed)).example
    assert e == corpus.draw(random.Random(seed)).example
    assert all(i < len(split_words(e.src)) and j < len(split_words(e.tgt)) for i, j in e.alignment)
    assert not any(re.search(pattern, e.tgt) for pattern in _NEVER.values()), e.tgt
