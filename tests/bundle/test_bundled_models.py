"""The models that come with the package: found by name and when none is named, read and never written.

A stand-in that learnt eight sentences is the bundled model here. At the end the real ones are held to their page.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import regard
from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.bundled_models import directions as box_directions
from regard.bundle.card import read_card
from regard.bundle.folder import LEXICON, find_bundle
from regard.course.grammar import NOTES_EXAMPLES
from regard.errors import BundleError
from regard.text.glossary import Glossary, GlossaryTerm
from regard.translator import Translator
from support import LINES, Call, needs_bundler

ROOT = Path(__file__).parents[2]
CAT, CHAT = LINES[0]
CLASSIC = "en-fr-classic"
DIRECTIONS_BYTES = 34_000_000  # of all translators that are chosen by their languages, compressed as in the wheel
CLASSIC_BYTES = 12_000_000
COURSE = ("en-fr-notes", "en-fr-rnn")  # small recurrent models that the lessons analyse
COURSE_BYTES = 4_000_000


@pytest.fixture
def empty_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bundled_models, "HOME", tmp_path / "bundled")
    return tmp_path / "bundled"


@pytest.fixture
def stand_in(empty_box: Path, run_folder: Path) -> Path:
    replace(Bundle.load(run_folder), weights="int8").save(empty_box / "en-fr")
    return empty_box / "en-fr"


def test_where_none_is_named_it_is_the_one_in_the_box(stand_in: Path, call: Call) -> None:
    assert call("translate", CAT) == (0, CHAT + "\n", "")
    assert call("translate", "--model", "en-fr", "--model", "en-fr", CAT) == (0, CHAT + "\n", "")
    code, out, _ = call("translate", "--attention", CAT)
    assert code == 0
    assert CHAT in out
    assert f"folder        {stand_in}" in call("info")[1].splitlines()
    assert regard.load().translate([CAT])[0].text == CHAT
    assert regard.load("en-fr", "cpu").translate([CAT])[0].text == CHAT
    assert Translator.load(device="cpu").translate([CAT])[0].text == CHAT


def test_a_folder_of_that_name_comes_first(stand_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_bundle(Path("en-fr")) == stand_in
    (tmp_path / "en-fr").mkdir()
    with pytest.raises(BundleError, match="no model in en-fr"):
        find_bundle(Path("en-fr"))


def test_what_is_in_the_box_is_said(stand_in: Path, call: Call) -> None:
    code, out, err = call("translate", "--model", "fr-en", CAT)
    assert (code, out) == (2, "")
    assert err == (
        "regard: no model at fr-en; give a bundle or a run folder made by regard train, or a bundled one: en-fr\n"
    )
    with pytest.raises(BundleError, match=r'no bundled model "xx"; .* a bundled one: en-fr'):
        bundled_models.folder_of("xx")


@pytest.mark.parametrize("words", [("translate", CAT), ("info",), ("lexicon",), ("pack", "--out", "new")])
def test_an_empty_box_is_one_line(empty_box: Path, call: Call, words: tuple[str, ...]) -> None:
    code, out, err = call(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert 'no bundled model "en-fr"' in err
    assert "regard demo" in err
    assert not Path("new").exists()


def test_nothing_is_learnt_into_the_box(
    stand_in: Path, call: Call, text_files: tuple[Path, Path], tmp_path: Path
) -> None:
    src, tgt = text_files
    for words in ((), ("--src", src, "--tgt", tgt)):
        code, out, err = call("lexicon", *words)
        assert (code, out) == (2, "")
        assert "regard pack en-fr --out mine" in err
    assert not (stand_in / LEXICON).exists()
    assert call("pack", "en-fr", "--out", tmp_path / "mine")[0] == 0  # as the error says
    assert call("lexicon", "--model", tmp_path / "mine", "--src", src, "--tgt", tgt)[0] == 0
    shutil.copy(tmp_path / "mine" / LEXICON, stand_in)  # one that was shipped is shown, and used
    code, out, _ = call("lexicon")
    assert code == 0
    assert "entries of" in out
    assert call("translate", "--steer", "0.2", CAT)[1] == CHAT + "\n"


def test_training_can_start_from_it(stand_in: Path, text_files: tuple[Path, Path], tmp_path: Path) -> None:
    src, tgt = (str(path) for path in text_files)
    train = {"start_from": "en-fr", "steps": 1, "batch_tokens": 600, "learning_rate": 1e-6, "device": "cpu"}
    data = {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt}
    regard.train({"data": data, "train": train}, tmp_path / "tuned")
    tuned = Bundle.load(tmp_path / "tuned")
    assert tuned.weights == "float32"  # trained weights are kept whole
    assert tuned.card["started_from"]["folder"] == "en-fr"
    assert Translator(tuned).translate([CAT])[0].text == CHAT


# ------------------------------------------------------------------------------------------------ as it is installed

OFFLINE = """
import sys

def watch(event, arguments):
    assert not event.startswith(("socket.connect", "socket.getaddrinfo")), event

sys.addaudithook(watch)
from regard.cli import main
"""


@pytest.fixture(scope="module")
def tree(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the stand-in, and nothing else, in its box."""
    home = tmp_path_factory.mktemp("tree")
    caches = shutil.ignore_patterns("__pycache__", "*.egg-info", "bundled")
    shutil.copytree(ROOT / "src", home / "src", ignore=caches)
    (home / "tools").mkdir()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "tools/build_backend.py"):
        shutil.copy(ROOT / name, home / name)
    replace(Bundle.load(run_folder), weights="int8").save(home / "src" / "regard" / "bundled" / "en-fr")
    return home


@pytest.mark.long
@needs_bundler
def test_a_wheel_and_a_source_archive_have_the_box(tree: Path, tmp_path: Path) -> None:
    build = (
        "import sys; out = sys.argv[1]; sys.path.insert(0, 'tools'); "
        "import build_backend as b; b.build_wheel(out); b.build_sdist(out)"
    )
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=tree, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shutil.unpack_archive(next(tmp_path.glob("*.tar.gz")), tmp_path / "source", filter="data")
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "installed")
    packed = sorted(p.name for p in (tree / "src" / "regard" / "bundled" / "en-fr").iterdir())
    (source,) = (tmp_path / "source").glob("regard-*/src")
    for place in (source, tmp_path / "installed"):
        assert sorted(p.name for p in (place / "regard" / "bundled" / "en-fr").iterdir()) == packed
        done = subprocess.run(
            [sys.executable, "-c", OFFLINE + "main(sys.argv[1:])", "translate", CAT],
            env={**os.environ, "PYTHONPATH": str(place)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stdout == CHAT + "\n", done.stderr
        assert done.stderr == ""


def test_a_translation_loads_nothing_it_does_not_need(tree: Path) -> None:
    """What waits at every start: the compiler, the logs, the pictures, the grammar, the aligners."""
    code = OFFLINE + "try: main(sys.argv[1:])\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "translate", "--device", "cpu", CAT],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    said, loaded = done.stdout.splitlines()
    assert said == CHAT
    heavy = {"torch._dynamo", "torch._inductor", "sympy", "rich", "tensorboard", "sacrebleu"}
    heavy |= {"triton"} if torch.version.cuda is None else set()  # a CUDA build has kernels to register
    ours = {"regard.course", "regard.align.hmm", "regard.explain", "regard.training", "regard.recipe.recipe"}
    assert not set(loaded.split()) & (heavy | ours)


# ------------------------------------------------------------------------------------------------ the real box

real = pytest.mark.skipif(not bundled_models.names(), reason="this copy has no bundled weights")


@real
def test_the_real_box_is_small_and_says_where_it_comes_from() -> None:
    sizes = {
        name: sum(len(zlib.compress(path.read_bytes(), 1)) for path in (bundled_models.HOME / name).iterdir())
        for name in bundled_models.names()
    }
    directions = [str(one) for one in box_directions()]
    assert {*directions, CLASSIC, *COURSE} == sizes.keys()
    assert sum(sizes[name] for name in directions) <= DIRECTIONS_BYTES
    assert sizes[CLASSIC] <= CLASSIC_BYTES
    assert (
        sum(path.stat().st_size for name in COURSE for path in (bundled_models.HOME / name).iterdir()) <= COURSE_BYTES
    )
    for name in sizes:
        card = read_card(Bundle.read(bundled_models.folder_of(name)).card)
        assert card.about is not None
        assert all(data.licence and data.attribution for data in card.about.data)
        assert card.tests
        assert card.training_flops > 0


@real
def test_the_classic_model_is_no_direction_and_translates_the_notes(call: Call) -> None:
    code, out, _ = call("translate", "--device", "cpu", "--model", CLASSIC, *(source for source, _ in NOTES_EXAMPLES))
    assert (code, out.splitlines()) == (0, [wanted for _, wanted in NOTES_EXAMPLES])
    assert {row["name"] for row in json.loads(call("info", "--all", "--json").out)} >= {CLASSIC, bundled_models.DEFAULT}
    assert CLASSIC not in map(str, box_directions())


@real
def test_without_attention_only_the_short_sentence_comes_through() -> None:
    short = "I would like a cup of coffee."
    long = "The house that my brother bought last year is near the station."
    without, attending = (regard.load(name, device="cpu", engine="native") for name in reversed(COURSE))
    assert without.translate(short).text == attending.translate(short).text == "J'aimerais une tasse de café."
    assert "frère" not in without.translate(long).text
    assert "frère" in attending.translate(long).text
    assert [bool(one.bundle.model.has_attention) for one in (without, attending)] == [False, True]


@real
def test_the_real_box_reads_rough_text() -> None:
    source, _ = NOTES_EXAMPLES[0]
    translator = regard.load(device="cpu")
    wanted = translator.translate(source).text
    assert "Le chat" in wanted
    rough = [source.upper(), source.title(), f"{source} 😀", f"@all {source}"]
    found = translator.translate(rough)
    assert [t.text for t in found] == [wanted.upper(), wanted, f"{wanted} 😀", f"@all {wanted}"]


@real
@pytest.mark.slow  # it depends on the clock
def test_the_real_box_answers_soon() -> None:
    """Three seconds with the processor to itself, which it may not have: so its own, loosely, in one of three tries."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def answered() -> float:
        before = spent()
        words = [sys.executable, "-m", "regard", "translate", "--device", "cpu", NOTES_EXAMPLES[0][0]]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.startswith("Le chat")
        return spent() - before

    assert any(answered() < 4 for _ in range(3))


@real
def test_a_term_passes_the_first_step_of_a_chain_and_is_translated_by_the_last(usual_engine: None) -> None:
    glossary = Glossary([GlossaryTerm("chat", ("Kater",))])
    chain = regard.load("fr-de", "cpu", through="en")
    found = chain.translate("Le chat dort.", glossary=glossary, guard=False, beam=1)
    assert "Kater" in found.text
    (term,) = found.sentences[0].protected
    assert (term.text, term.wanted, found.text[slice(*term.target)]) == ("chat", "Kater", "Kater")
