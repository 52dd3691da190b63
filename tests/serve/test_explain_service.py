"""Explanations end when nobody waits for them, and their models are dropped when idle."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.serve.api.own.explain_attention import cut_answer
from regard.serve.errors import ServeError
from regard.serve.explain_service import (
    ExplainedModel,
    ExplainService,
    SentenceQuery,
    StoppedError,
    find_pair,
    stop_when,
)
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig
from regard.translator import Translator

MODEL = "en-fr-classic"


def service(**settings: Any) -> ExplainService:
    """One whose model computes nothing but has a module that looks whether to stop."""
    config = ServeConfig(models=(MODEL,), **settings)
    made = ExplainService(config, ModelPool(config))

    def load(model: str) -> ExplainedModel:
        module = torch.nn.Identity()
        stop_when(module, lambda: made._stop.is_set())
        return ExplainedModel(module)  # type: ignore[arg-type]

    made._load = load  # type: ignore[method-assign]
    return made


class EndlessWork:
    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, loaded: Any) -> None:
        self.begun.set()
        try:
            while True:
                loaded.translator(torch.zeros(1))
        except StoppedError:
            self.ended.set()
            raise


def test_what_takes_too_long_is_refused_and_ends() -> None:
    explain, work = service(timeout=0.05), EndlessWork()
    with pytest.raises(ServeError, match="took longer") as problem:
        asyncio.run(explain.run(MODEL, work))
    assert problem.value.status == 503
    explain.close()  # waits for the thread
    assert work.ended.is_set() == work.begun.is_set()  # a slow machine may not have begun


def test_a_client_that_leaves_ends_its_explanation_and_the_next_one_is_answered() -> None:
    async def leave(explain: ExplainService, work: EndlessWork) -> str:
        asking = asyncio.create_task(explain.run(MODEL, work))
        await asyncio.to_thread(work.begun.wait)
        asking.cancel()
        return await explain.run(MODEL, lambda translator: "answered")

    explain, work = service(), EndlessWork()
    assert asyncio.run(leave(explain, work)) == "answered"
    assert work.ended.is_set()
    explain.close()


def test_a_stopped_cut_leaves_the_model_whole() -> None:
    translator = Translator.load(MODEL, "cpu", "native")
    looks: list[int] = []
    stop_at: list[float] = [float("inf")]

    def stopped() -> bool:
        looks.append(1)
        return len(looks) > stop_at[0]

    stop_when(translator.bundle.model, stopped)

    def answer() -> dict[str, Any]:
        looks.clear()
        return cut_answer(find_pair(translator, SentenceQuery("The cat is black."), 200), MODEL, [["cross", 1, 1]])

    whole = answer()
    assert answer() == whole  # what is remembered from the first time is not computed again
    every = len(looks)
    assert every > 100  # modules that computed something
    for share in (0.5, 0.95):
        stop_at[0] = share * every
        with pytest.raises(StoppedError):
            answer()
    stop_at[0] = float("inf")
    assert answer() == whole


def test_models_are_dropped_when_idle_with_what_was_remembered_of_them() -> None:
    explain = service(idle=0.01)
    seen: list[weakref.ref[Any]] = []

    async def use_and_wait() -> None:
        await explain.run(MODEL, lambda loaded: seen.append(weakref.ref(loaded.translator)))
        dropping = asyncio.create_task(explain.drop_idle())
        while explain._loaded:
            await asyncio.sleep(0.01)
        dropping.cancel()

    asyncio.run(use_and_wait())
    explain.close()
    gc.collect()
    assert seen[0]() is None


def test_only_so_many_models_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    explain = service()
    monkeypatch.setattr(explain.pool, "find", lambda name: SimpleNamespace(folder=name))
    for number in range(5):
        asyncio.run(explain.run(f"model {number}", lambda translator: None))
    assert list(explain._loaded) == ["model 2", "model 3", "model 4"]
    explain.close()
