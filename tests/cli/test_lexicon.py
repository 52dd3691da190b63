"""`regard lexicon`, and what `regard translate` does with it: steering, unknown words, rules, ensembles."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from regard.bundle.bundle import Bundle
from regard.bundle.folder import LEXICON
from regard.errors import InputError
from regard.models.table import ARCHITECTURES, make_model
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.translator import Translator
from support import LINES, write_lines

if TYPE_CHECKING:
    from conftest import Answer, Call

CAT = "The black cat sleeps."


@pytest.fixture
def run(run_folder: Path, tmp_path: Path) -> Path:
    """A run of one's own: what is learnt beside it is nobody else's."""
    shutil.copytree(run_folder, tmp_path / "run")
    return tmp_path / "run"


def refused(answer: Answer, *says: str) -> None:
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("regard: ")
    assert answer.err.count("\n") == 1
    for text in says:
        assert text in answer.err


def test_it_is_learnt_from_what_the_model_learnt_from(call: Call, run: Path) -> None:
    answer = call("lexicon", "--model", run)
    assert answer.code == 0, answer.err
    first, *examples = answer.out.splitlines()
    stored = json.loads((run / "best" / LEXICON).read_text(encoding="utf-8"))
    count = sum(len(row) for row in stored["entries"].values())
    assert first.startswith(f"{count} entries of {len(stored['entries'])} tokens, from 32 pairs of ")
    assert first.endswith(str(run / "best" / LEXICON))
    assert [line.split()[:2] for line in examples if line.split()[0] == "sleeps"] == [["sleeps", "dort"]]


def test_steering_off_changes_nothing_and_on_something(call: Call, run: Path) -> None:
    plain = call("translate", "--model", run, "--json", CAT, "Eats cat dog")
    assert call("lexicon", "--model", run).code == 0
    assert call("translate", "--model", run, "--json", "--steer", "0", "--rules", "0", CAT, "Eats cat dog") == plain
    steered = call("translate", "--model", run, "--json", "--steer", "0.4", CAT, "Eats cat dog")
    assert steered.code == 0
    assert json.loads(steered.out.splitlines()[0])["text"] == "Le chat noir dort."
    assert steered.out != plain.out


def test_other_pairs(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "b.en").write_text("cat\ncat\n")
    (tmp_path / "b.fr").write_text("matou\nmatou\n")
    answer = call("lexicon", "--model", run, "--src", tmp_path / "b.en", "--tgt", tmp_path / "b.fr", "--entries", "1")
    assert answer.code == 0, answer.err
    assert "from 2 pairs" in answer.out
    stored = json.loads((run / "best" / LEXICON).read_text(encoding="utf-8"))
    assert all(len(row) == 1 for row in stored["entries"].values())


def test_rules(call: Call, run: Path) -> None:
    line = "The animal didn't cross the street because it was too wide."
    ruled = call("translate", "--model", run, "--rules", "0.999", line)
    assert ruled.out == "L'animal n'a pas traversé la rue parce qu'elle était trop large.\n"
    assert ruled.err == ""
    unread = call("translate", "--model", run, "--rules", "0.5", "Cat the")
    assert unread.out == call("translate", "--model", run, "Cat the").out
    assert "could parse no line" in unread.err


def test_an_ensemble(call: Call, run: Path, translator: Translator) -> None:
    lines = [source for source, _ in LINES]
    answer = call("translate", "--model", run, "--model", run / "last", *lines)
    assert answer.out.splitlines() == [target for _, target in LINES]
    one, same = call("translate", "--model", run, "--json", CAT), translator.translate([CAT])[0]
    twice = call("translate", "--model", run, "--model", run / "best", "--json", CAT)
    assert json.loads(twice.out)["score"] == pytest.approx(json.loads(one.out)["score"], abs=1e-5)
    assert json.loads(one.out)["text"] == same.text


def test_an_ensemble_needs_one_vocabulary(call: Call, run: Path, tmp_path: Path) -> None:
    other = Tokenizer.train(lambda: iter([("a b c", "d e f")] * 9), TextConfig(vocab_size=360))
    config = ARCHITECTURES["transformer"].presets["tiny"]
    Bundle("transformer", config, make_model("transformer", config, other), other).save(tmp_path / "other")
    answer = call("translate", "--model", run, "--model", tmp_path / "other", CAT)
    refused(answer, str(run / "best"), str(tmp_path / "other"), "share one vocabulary")
    with pytest.raises(InputError, match="needs a model"):
        Translator.load([])


def test_bad_flags(call: Call, run: Path) -> None:
    def translated(*words: str) -> Answer:
        return call("translate", "--model", run, *words, CAT)

    refused(translated("--steer", "0.2"), "no lexicon", "regard lexicon --model")
    refused(translated("--steer", "1"), "steer must be a number from 0", "but is 1")
    refused(translated("--rules", "-1"), "rules must be a number from 0", "but is -1")
    refused(translated("--rules", "much"), "--rules must be a number", '"much"')
    refused(translated("--unknown", "copy"), "spell every word", "use keep")
    refused(translated("--unknown", "cpy"), "'cpy' is not one of 'keep', 'copy', 'lexicon'")
    (run / "best" / LEXICON).write_text("{")
    refused(translated("--steer", "0.2"), LEXICON, "learn it again")
    assert translated().out == "Le chat noir dort.\n"  # who does not ask for it does not need it


def test_bad_pairs(call: Call, run: Path, tmp_path: Path) -> None:
    source, target = write_lines(tmp_path)
    blank = tmp_path / "blank.en"
    blank.write_text("\n" * 32)
    refused(call("lexicon", "--model", run, "--src", source), "without --tgt")
    refused(call("lexicon", "--model", run, "--tgt", target), "without --src")
    refused(call("lexicon", "--model", run, "--src", source, "--tgt", tmp_path / "c.fr"), "does not exist")
    refused(call("lexicon", "--model", run, "--src", blank, "--tgt", target), "none has words on both sides")
    refused(call("lexicon", "--model", run, "--entries", "0"), "--entries must be a whole number of at least 1")
    refused(call("lexicon", "--model", tmp_path / "none"), "no model at")
    card = json.loads((run / "best" / "card.json").read_text(encoding="utf-8"))
    card["recipe"]["data"]["src"] = "gone.en"
    (run / "best" / "card.json").write_text(json.dumps(card))
    refused(call("lexicon", "--model", run), "gone.en", "give sentence pairs")
    assert not (run / "best" / LEXICON).exists()
