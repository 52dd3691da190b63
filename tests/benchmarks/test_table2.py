"""`benchmarks/table2.py`: every system of the table, sized as stated, at one budget, in the order that matters."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from regard.compare.published import PUBLISHED
from regard.models.table import ARCHITECTURES
from support import load_script

ROOT = Path(__file__).parents[2]
BUDGET = 1e15


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))  # as Python does for a script
    yield load_script(ROOT / "benchmarks" / "table2.py")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def systems(script: ModuleType) -> ModuleType:
    return sys.modules["table2_systems"]


@pytest.fixture(scope="module")
def page(script: ModuleType) -> ModuleType:
    return sys.modules["table2_page"]


@pytest.fixture(scope="module")
def setting(systems: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    data = tmp_path_factory.mktemp("data")
    for name in ("en-fr/train", "en-fr/dev", "en-fr/test", "tests/newstest2014.fr"):
        for language in ("en", "fr"):
            path = data / f"{name}.{language}"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    return systems.Setting("en-fr", BUDGET, data, tmp_path_factory.mktemp("out"))


def row(system: str, seed: int | None, bleu: float, flops: float = BUDGET) -> dict[str, Any]:
    scores = {test: {"score": bleu, "half": 0.5} for test in ("newstest2014", "europarl")}
    sizes = {"parameters": 15e6, "steps": 3000, "target_tokens": 5e7, "members": 1 if seed else 2}
    about = {"pair": "en-fr", "budget": BUDGET, "signature": "nrefs:1", "device": "a CPU", "torch": "2"}
    return {"system": system, "seed": seed, "bleu": scores, "flops": flops, **sizes, **about}


def test_every_published_system_has_a_row_and_an_entrant(systems: ModuleType, setting: Any) -> None:
    shown = [system.published for system in systems.SYSTEMS if system.published]
    assert set(shown) == set(PUBLISHED)
    assert {entrant.name for entrant in systems.entrants(setting)} == {system.name for system in systems.SYSTEMS}


def test_each_training_has_the_budget(systems: ModuleType, setting: Any) -> None:
    for entrant in systems.entrants(setting):
        spent = sum(run.recipe.train.flops for run in entrant.system.runs())
        share = 1 - systems.REWARD_SHARE if entrant.name == "gnmt" else 1
        assert spent == pytest.approx(len(entrant.system.members) * share * BUDGET), entrant.name
        assert len({run.folder for run in entrant.system.runs()}) == len(entrant.system.runs())


def test_big_is_to_base_as_in_the_paper(systems: ModuleType) -> None:
    base, big = (systems.MODELS[name].config() for name in ("transformer", "transformer:big"))
    paper = ARCHITECTURES["transformer"].presets
    for key in ("width", "heads", "inner", "encoder_layers", "decoder_layers"):
        ratio = getattr(paper["big"], key) / getattr(paper["base"], key)
        assert getattr(big, key) / getattr(base, key) == ratio, key


def test_models_see_about_as_much_text(systems: ModuleType, page: ModuleType) -> None:
    source = {name: page.flops_per_token(name) * systems.KINDS[m.kind].lengths[1] for name, m in systems.MODELS.items()}
    pieces = [flops for name, flops in source.items() if name not in ("transformer:big", "bytenet:characters")]
    assert max(pieces) / min(pieces) < 1.6  # operations of a mean pair


def test_the_page_has_the_sizes_of_the_script(page: ModuleType) -> None:
    text = (ROOT / "docs" / "table2.md").read_text("utf-8")
    assert page.between(text, page.SIZES, page.sizes_table().markdown()) == text


def test_figures_and_picture(page: ModuleType, tmp_path: Path) -> None:
    results = [row("transformer", 1, 20.0), row("transformer", 2, 22.0), row("convs2s+ensemble", None, 19.0, 2e15)]
    path = tmp_path / "page.md"
    path.write_text("\n".join(["before", *page.MEASURED, *page.SIZES, "after"]), "utf-8")
    page.write_page(path, results)
    text = path.read_text("utf-8")
    assert "21.00 ± 0.50 (sd 1.41)" in text
    assert "19.00 ± 0.50 |" in text
    assert "| 38.1 |" in text
    assert "Not measured yet: ByteNet, pieces" in text
    here, paper = ((tmp_path / "img" / f"table2-en-fr{name}.svg").read_text("utf-8") for name in ("", "-paper"))
    assert here.count("<circle") == 2  # a system each: the base's mean, and the ensemble
    assert paper.count("<circle") == sum(bool(one.en_fr and one.en_fr_flops) for one in PUBLISHED)
    assert "MoE; ConvS2S" in paper  # too close for a label each
    page.write_page(path, [])
    assert "Not measured yet." in path.read_text("utf-8")


def test_a_job_whose_text_is_not_encoded_yet_keeps_its_place(script: ModuleType, setting: Any) -> None:
    started: list[str] = []

    class Noted(script.Board):  # type: ignore[misc, name-defined]
        def start(self, job: Any) -> None:
            started.append(job.name)

    board = Noted(setting, [], 2, 0.0)
    board.start_some([job for job in board.jobs if job.ready])
    assert started == ["prepare pieces", "prepare words", "prepare characters"]
    script.keep(script.prepared(setting, "words"), {})
    started.clear()
    ready = [job for job in board.jobs if job.ready and not job.name.startswith("prepare")]
    board.start_some(ready)  # both places are for the Transformers, whose pieces are being made
    assert started == []
    script.keep(script.prepared(setting, "pieces"), {})
    board.start_some(ready)
    assert started == ["transformer 1", "transformer:big 1"]


def test_results_may_come_from_another_machine(script: ModuleType, setting: Any, tmp_path: Path) -> None:
    copied, newer = row("moe", 1, 10.0), row("moe", 1, 11.0)
    script.keep(tmp_path / script.RESULTS, [copied, row("bytenet", 1, 9.0)])
    assert len(script.known_results(tmp_path)) == 2
    script.keep(tmp_path / "en-fr" / "1e+15" / "moe.seed1" / script.SCORES, newer)
    assert newer in script.known_results(tmp_path)
    assert copied not in script.known_results(tmp_path)


def test_the_last_job_is_waited_for(script: ModuleType, setting: Any, tmp_path: Path) -> None:
    """What a process makes is there before the process has ended; only then are the results written."""
    board = script.Board(setting, [], 1, time.monotonic() + 60)
    made = tmp_path / "made"
    made.touch()
    job = script.Job("align", made)
    board.jobs = [job]
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"])
    board.running = {"align": (process, time.monotonic(), job)}
    assert board.go()
    assert process.returncode == 0
    assert (setting.out / script.RESULTS).exists()
