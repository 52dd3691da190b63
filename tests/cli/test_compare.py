"""`regard compare` as a user runs it, interrupted and given again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regard.cli.compare import names_data
from support import Call, grammar, regard, write_lines

pytestmark = pytest.mark.long


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    src, tgt = write_lines(tmp_path)
    files = f"--src {src} --tgt {tgt} --dev-src {src} --dev-tgt {tgt} --test-src {src} --test-tgt {tgt}"
    small = "--preset tiny --vocab-size 300 --batch-tokens 300 --device cpu --warmup 5 --eval-every 8 --save-every 2"
    return [*files.split(), *small.split(), "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]


def test_two_models_and_their_ensemble_in_one_report(tmp_path: Path, call: Call, words: list[str]) -> None:
    command = ["compare", "--models", "rnn,transformer,ensemble", "--budget", "8 steps", *words]
    done = call(*command)
    assert done.code == 0, done.err
    assert "BLEU by source length" in done.out
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    rnn, transformer, together = report["rows"]
    assert [row["model"] for row in report["rows"]] == ["rnn", "transformer", "ensemble"]
    assert all(len(row["bleu"]) == 1 and row["flops"] > 0 and row["steps"] == 8 for row in (rnn, transformer))
    assert together["parameters"] == rnn["parameters"] + transformer["parameters"]
    assert (together["steps"], len(together["bleu"])) == (16, 1)
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "| rnn | " in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert call(*command).out.count("done before") == 3
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == report


@pytest.fixture(scope="module")
def grammar_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A tiny piece of the embedded corpus, which the rules can read; the last line of the test they cannot."""
    folder = tmp_path_factory.mktemp("piece")
    examples = grammar()["train"].examples
    short = [e for e in examples if len(e.src.split()) < 8]
    pieces = {"train": short[:200], "dev": short[200:210], "test": short[210:229]}
    words = []
    for prefix, (name, some) in zip(("", "dev-", "test-"), pieces.items(), strict=True):
        extra = {"src": [], "tgt": []} if name != "test" else {"src": ["Ideas sleep furiously."], "tgt": ["Rien."]}
        for side in ("src", "tgt"):
            path = folder / f"{name}.{side}"
            path.write_text("".join(f"{line}\n" for line in [*(getattr(e, side) for e in some), *extra[side]]), "utf-8")
            words += [f"--{prefix}{side}", str(path)]
    return words


def test_every_kind_of_system_in_one_report(tmp_path: Path, call: Call, grammar_files: list[str]) -> None:
    small = "--preset tiny --vocab-size 400 --batch-tokens 300 --max-length 100 --device cpu --warmup 2 --seeds 2"
    where = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
    models = "ibm,phrases,rules,rnn-attention,rnn-attention+ensemble,rnn-attention+lexicon"
    words = ["--budget", "4 steps", *small.split(), *grammar_files, *where]
    done = call("compare", "--models", models, *words)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    rows = {row["model"]: row for row in report["rows"]}
    assert ",".join(rows) == models
    assert [len(row["bleu"]) for row in rows.values()] == [1, 1, 1, 2, 1, 2]
    assert rows["rules"]["note"] == "read 19 of 20 sentences; the others are empty lines"
    assert rows["rules"]["mean"] > rows["phrases"]["mean"] > rows["ibm"]["mean"] > rows["rnn-attention"]["mean"]
    assert rows["ibm"]["flops"] is None
    assert rows["ibm"]["seconds"] > 0
    plain, together, steered = (rows[f"rnn-attention{added}"] for added in ("", "+ensemble", "+lexicon"))
    assert together["flops"] == pytest.approx(2 * plain["flops"])
    assert together["parameters"] == 2 * plain["parameters"]
    assert (steered["flops"], steered["parameters"]) == (plain["flops"], plain["parameters"])
    assert steered["seconds"] > plain["seconds"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert all(f"<td>{name}</td>" in page for name in rows)

    more = call("compare", "--models", f"{models},rnn-attention+rl", "--samples", "2", *words)
    assert more.code == 0, more.err
    assert more.out.count("done before") == 8
    rewarded = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["rows"][-1]
    assert (rewarded["model"], rewarded["note"], rewarded["steps"]) == ("rnn-attention+rl", "updates for reward: 1", 5)
    assert rewarded["flops"] > plain["flops"]


def test_what_a_model_needs_is_trained_but_not_shown(tmp_path: Path, call: Call, words: list[str]) -> None:
    words += ["--unit", "word", "--vocab-size", "15", "--budget", "2 steps"]
    done = call("compare", "--models", "rnn-attention+posunk", *words)
    assert done.code == 0, done.err
    assert "rnn-attention+posunk needs rnn-attention, seed 1" in done.out
    rows = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["rows"]
    assert [row["model"] for row in rows] == ["rnn-attention+posunk"]
    kept = json.loads((tmp_path / "out" / "runs" / "rnn-attention+posunk.seed1" / "compared.json").read_text())
    assert not any("<unk>" in line for line in kept["translations"])


def test_a_killed_comparison_goes_on(tmp_path: Path, words: list[str]) -> None:
    command = ["compare", "--models", "transformer", "--budget", "60 steps", *words]
    first = subprocess.Popen(
        [sys.executable, "-m", "regard", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    checkpoint = tmp_path / "out" / "runs" / "transformer.seed1" / "training.safetensors"
    until = time.monotonic() + 90
    while not checkpoint.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert checkpoint.exists()
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert not (checkpoint.parent / "compared.json").exists()
    done = regard(*command)
    assert done.returncode == 0, done.stderr.decode()
    assert b"resuming " in done.stderr
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["rows"][0]["steps"] == 60


def test_another_recipe_is_never_taken_for_this_one(tmp_path: Path, call: Call, words: list[str]) -> None:
    done = call("compare", "--models", "rnn", "--budget", "2 steps", *words)
    assert done.code == 0, done.err
    before = (tmp_path / "out" / "report.json").read_bytes()
    for models in ("rnn", "rnn+lexicon"):
        code, out, err = call("compare", "--models", models, "--budget", "3 steps", *words)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert (
            "rnn.seed1 was made with train.steps = 2, but now it is 3; choose another folder or remove that one" in err
        )
    assert (tmp_path / "out" / "report.json").read_bytes() == before


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("--models rnnn", 'unknown model "rnnn"; did you mean "rnn"'),
        ("--models transformer:hug", "unknown model.preset 'hug'"),
        ("--budget nothing", 'budget must be like "2000 steps"'),
        ("--seeds none", '--seeds must be a whole number from 1 to 1,000, but is "none"'),
        ("--seeds 0", "--seeds must be a whole number from 1 to 1,000, but is 0"),
        ("--steeps 5", 'unknown key "steeps"'),
        ("--models ibm+rl", "+rl is for neural models, and ibm is none"),
        (
            "--models deep-att+posunk",
            "needs words as tokens, but text.unit is bpe; set it to word (--unit)",
        ),
        ("--models rnn+posunk --unit word", "+posunk needs attention, and rnn has none"),
        ("--models rnn+ensemble", "rnn+ensemble needs two seeds or more, but seeds is 1"),
        ("--models rnn,ensemble", "ensemble needs two plain neural models or more, but there is only rnn"),
        ("--models rnn --samples 3", "reward.samples is for models trained for reward, but there is none"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, call: Call, words: list[str], extra: str, says: str) -> None:
    code, out, err = call("compare", *words, *extra.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert says in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["rules", "rnn+rules"])
def test_rules_for_sentences_that_they_cannot_read(tmp_path: Path, call: Call, words: list[str], name: str) -> None:
    strange = tmp_path / "strange.txt"
    strange.write_text("Ideas sleep furiously.\nBonjour!\n", encoding="utf-8")
    test = ["--test-src", strange, "--test-tgt", strange]
    code, out, err = call("compare", "--models", f"rnn,{name}", *words, *test)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert f"they can parse none of its first 2 sentences; leave {name} out" in err
    assert not (tmp_path / "out").exists()


def test_a_comparison_needs_a_test(tmp_path: Path, call: Call) -> None:
    src, tgt = write_lines(tmp_path)
    code, _, err = call("compare", "--src", src, "--tgt", tgt, "--models", "transformer", "--out", tmp_path / "out")
    assert code == 2
    assert "a comparison needs a test; name its files as data.test_src and data.test_tgt" in err


def test_join_pairs_is_no_data(tmp_path: Path, call: Call) -> None:
    """Without files of the user's own the embedded corpus is compared on, whatever keys are set."""
    done = call("compare", "--join-pairs", "0.1", "--models", "rules", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "corpus" / "train.en").exists()


def test_a_result_of_another_test_is_never_taken_for_this_one(tmp_path: Path, call: Call) -> None:
    src, tgt = tmp_path / "t.en", tmp_path / "t.fr"
    src.write_text("The cat sleeps.\n")
    tgt.write_text("Le chat dort.\n")
    words = [
        "compare",
        "--models",
        "rules",
        "--src",
        src,
        "--tgt",
        tgt,
        "--test-src",
        src,
        "--test-tgt",
        tgt,
        "--dev-size",
        "0",
    ]
    assert call(*words, "--out", tmp_path / "out").code == 0
    report = (tmp_path / "out" / "report.json").read_bytes()
    assert call(*words, "--out", tmp_path / "out").code == 0
    src.write_text("The dog sleeps.\n")
    tgt.write_text("Le chien dort.\n")
    refused = call(*words, "--out", tmp_path / "out")
    assert refused.code == 2
    assert "compared.json is of other test text than there is now" in refused.err
    done = next(tmp_path.rglob("compared.json"))
    for damaged in ("", "[]", "{}"):
        done.write_text(damaged)
        refused = call(*words, "--out", tmp_path / "out")
        assert (refused.code, "compared.json cannot be read" in refused.err) == (2, True)
    assert (tmp_path / "out" / "report.json").read_bytes() == report


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("src", True),
        ("data.pairs", True),
        ("tgt", True),
        ("join-pairs", False),
        ("test-src", False),
        ("src-key", False),
    ],
)
def test_only_keys_that_name_data_are_data(key: str, names: bool) -> None:
    """`--join-pairs` was taken for data, and the embedded corpus left out."""
    assert names_data(key) is names
