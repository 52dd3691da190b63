"""`benchmarks/table2.py`: every system of the table, sized as stated, at one budget, in the order that matters."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from regard.course.compare.report import PUBLISHED
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
def board(script: ModuleType) -> ModuleType:
    return sys.modules["table2_board"]


@pytest.fixture(scope="module")
def setting(systems: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    data = tmp_path_factory.mktemp("data")
    for name in ("en-fr/train", "en-fr/dev", "en-fr/test", "tests/newstest2014.fr"):
        for language in ("en", "fr"):
            path = data / f"{name}.{language}"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    return sys.modules["table2_setting"].Setting("en-fr", BUDGET, data, tmp_path_factory.mktemp("out"))


def row(system: str, seed: int | None, bleu: float, flops: float = BUDGET) -> dict[str, Any]:
    scores = {test: {"score": bleu, "half": 0.5} for test in ("newstest2014", "europarl")}
    sizes = {"parameters": 15e6, "steps": 3000, "target_tokens": 5e7, "members": 1 if seed else 2}
    about = {"pair": "en-fr", "budget": BUDGET, "rate": 1.0, "signature": "nrefs:1", "device": "a CPU", "torch": "2"}
    return {"system": system, "seed": seed, "bleu": scores, "flops": flops, **sizes, **about}


@pytest.mark.long
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


def test_the_rate_rises_over_a_tenth_of_the_updates(systems: ModuleType, setting: Any) -> None:
    updates = {name: systems.expected_updates(name, BUDGET) for name in systems.MODELS}
    assert updates["transformer"] / updates["transformer:big"] == pytest.approx(
        systems.flops_per_token("transformer:big") / systems.flops_per_token("transformer")
    )
    for name, expected in updates.items():
        train = systems.recipe_of(name, 1, setting).train
        assert train.warmup == pytest.approx(0.1 * expected, abs=1), name
        length = systems.KINDS[systems.MODELS[name].kind].lengths[1]
        sentences = train.flops / (systems.flops_per_token(name) * length)
        assert expected == pytest.approx(sentences * length / (0.9 * train.batch_tokens)), name


def test_models_see_about_as_much_text(systems: ModuleType) -> None:
    source = {
        name: systems.flops_per_token(name) * systems.KINDS[m.kind].lengths[1] for name, m in systems.MODELS.items()
    }
    pieces = [flops for name, flops in source.items() if name not in ("transformer:big", "bytenet:characters")]
    assert max(pieces) / min(pieces) < 1.6  # operations of a mean pair


def test_the_page_has_the_sizes_of_the_script(page: ModuleType) -> None:
    text = (ROOT / "docs" / "table2.md").read_text("utf-8")
    assert page.between(text, page.SIZES, page.sizes_table().markdown()) == text


def test_figures_and_picture(page: ModuleType, tmp_path: Path) -> None:
    results = [row("transformer", 1, 20.0), row("transformer", 2, 22.0), row("convs2s+ensemble", None, 19.0, 2e15)]
    path = tmp_path / "page.md"
    path.write_text("\n".join(["before", *page.MEASURED, *page.RATES, *page.SIZES, "after"]), "utf-8")
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


def test_a_job_whose_text_is_not_encoded_yet_keeps_its_place(board: ModuleType, setting: Any) -> None:
    started: list[str] = []

    class Noted(board.Board):  # type: ignore[misc, name-defined]
        def start(self, job: Any) -> None:
            started.append(job.name)

    jobs = Noted(board.jobs_of([setting]), [], 2, 0.0)
    jobs.start_some([job for job in jobs.jobs if job.ready])
    assert started == ["prepare pieces", "prepare words", "prepare characters"]
    board.keep(board.prepared(setting, "pieces"), {})
    started.clear()
    ready = [job for job in jobs.jobs if job.ready and not job.name.startswith("prepare")]
    jobs.start_some(ready)  # both places are for those whose characters and words are being made
    assert started == []
    for kind in ("characters", "words"):
        board.keep(board.prepared(setting, kind), {})
    jobs.start_some(ready)
    assert started == ["bytenet:characters 1", "deep-att 1"]


def test_every_row_of_both_pairs_comes_before_further_seeds(
    board: ModuleType, systems: ModuleType, setting: Any
) -> None:
    german = replace(setting, pair="en-de", data=setting.data.parent / "none")
    german.data.mkdir(exist_ok=True)
    for name in ("en-de/train", "en-de/dev"):
        for language in ("en", "de"):
            path = german.data / f"{name}.{language}"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    jobs = board.jobs_of([setting, german])
    encoding = [job for job in jobs if job.name.startswith("prepare") and job.setting is german]
    assert all(set(job.needs) == {board.prepared(setting, kind) for kind in systems.KINDS} for job in encoding)
    trained = [job for job in jobs if job.on_gpu]
    rows = len({job.name.split()[0] for job in trained})
    first = trained[: 2 * len(systems.EVERY_ROW)]
    assert len({(job.setting.pair, job.name.split()[0]) for job in first}) == 2 * rows == 2 * len(systems.SYSTEMS)
    made = {job.makes.parent / board.LEARNT for job in first} | {board.lexicon_of(s) for s in (setting, german)}
    assert all(need in made for job in first for need in job.needs)  # nothing waits for a further seed


def test_results_may_come_from_another_machine(board: ModuleType, tmp_path: Path) -> None:
    copied, newer = row("moe", 1, 10.0), row("moe", 1, 11.0)
    page = tmp_path / "page.json"
    board.keep(page, [row("bytenet", 1, 9.0), row("moe", 1, 8.0)])
    board.keep(tmp_path / board.RESULTS, [copied])
    assert copied in board.known_results(tmp_path, page)
    assert len(board.known_results(tmp_path, page)) == 2
    board.keep(tmp_path / "en-fr" / "1e+15" / "moe.seed1" / board.SCORES, newer)
    assert newer in board.known_results(tmp_path, page)
    assert copied not in board.known_results(tmp_path, page)


def test_the_last_job_is_waited_for(board: ModuleType, setting: Any, tmp_path: Path) -> None:
    """What a process makes is there before the process has ended; only then are the results written."""
    made = tmp_path / "made"
    made.touch()
    job = board.Job("align", setting, made)
    jobs = board.Board([job], [], 1, time.monotonic() + 60)
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"])
    jobs.running = {job: (process, time.monotonic())}
    assert jobs.go()
    assert process.returncode == 0
    assert (setting.out / board.RESULTS).exists()


def test_of_the_systems_asked_for_only_what_they_are_made_of_is_done(board: ModuleType, setting: Any) -> None:
    def names(*systems: str) -> list[str]:
        return [job.name for job in board.jobs_of([setting], systems)]

    assert names("moe") == ["prepare pieces", "moe 1", "moe 2", "moe 3"]
    assert names("convs2s+ensemble") == ["prepare pieces", "convs2s 1", "convs2s 2", "convs2s+ensemble"]
    assert {"prepare words", "align", "deep-att 1", "deep-att+posunk 1"} <= set(names("deep-att+posunk"))
    assert names() == names(*(name for name, _ in sys.modules["table2_systems"].ORDER))


def test_other_rates_are_a_table_of_their_own(page: ModuleType, systems: ModuleType, setting: Any) -> None:
    fast = {**row("moe", 1, 12.0), "rate": 2.0}
    results = [row("moe", 1, 11.0), row("moe", 2, 15.0), fast]
    assert page.groups(results) == [(("en-fr", BUDGET), results[:2])]
    cells = next(line for line in page.rates_table(results).markdown().splitlines() if line.startswith("| MoE"))
    assert cells == "| MoE | 0.002 | 11.00 | 12.00 | 11.00 | 12.00 |"  # seed 1, both tests
    assert page.rates_part(results[:2]) == "Not measured yet."
    twice = replace(setting, rate=2.0)
    for name, _ in systems.RATED:
        own, other = (systems.recipe_of(name, 1, one).train for one in (setting, twice))
        assert other == replace(own, learning_rate=2 * own.learning_rate)


def test_at_other_rates_single_models_are_trained_beside_the_others(board: ModuleType, setting: Any) -> None:
    rates = [replace(setting, rate=rate) for rate in (0.5, 2.0)]
    jobs = board.jobs_of(rates, ["moe", "gnmt+rl"])
    assert [str(job) for job in jobs] == [
        *["en-fr prepare pieces"] * 2,  # the second finds what the first has made
        *(f"en-fr {name} 1 at {rate} times its rate" for rate in ("0.5", "2") for name in ("gnmt", "moe")),
    ]
    assert len({job.makes for job in jobs if job.on_gpu}) == len({job.log for job in jobs if job.on_gpu}) == 4
