"""The stage of a chain that translates (`translate_lines.py`): a process for each direction on a GPU, since CPUs work
on the text before and after the search.

A process that fails is started again without recorded steps and goes on behind its last whole chunk; one that fails
again is given up. What was translated by then is used.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chain_beside import encoding_beside
from chain_cost import StageCost
from chain_plan import TextToTranslate
from translate_lines import publish

from regard.bundle.find_model import find_model
from regard.errors import RunError

if TYPE_CHECKING:
    from chain import Chain

HERE = Path(__file__).parent
START_UP = {"cuda": 25.0, "cpu": 10.0}  # seconds: imports, and the last chunk
GRACE = 40.0  # seconds after its time until a process is ended


def translate(chain: Chain, seconds: float) -> Iterator[StageCost]:
    folder = chain.out / "translated"
    if chain.again:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    texts: dict[str, list[str]] = {}
    for one in chain.texts_to_translate():
        texts.setdefault(one.direction if chain.device == "cuda" else "all", []).extend(words_of(one, folder))
    until = time.monotonic() + max(3.0, seconds - START_UP[chain.device])
    models = [word for model in chain.teachers_there() for word in ("--model", str(model))]
    common = [sys.executable, str(HERE / "translate_lines.py"), *models, "--device", chain.device]
    with encoding_beside(chain, find_model(chain.teachers_there()[0])):
        tallies, failed = side_by_side(chain, {way: [*common, *words] for way, words in texts.items()}, until)
    publish_all(folder)
    total = {key: sum(tally[key] for tally in tallies) for key in ("lines", "left_out", "tokens", "flops")}
    if not total["lines"]:
        raise RunError("nothing could be translated; why is above")
    note = f"{total['lines']:,} lines, {total['left_out']:,} left out, "
    note += "all" if all(tally["finished"] for tally in tallies) else "as far as time allowed"
    note += f"; failed: {', '.join(failed)}" if failed else ""
    working = max(tally["seconds"] for tally in tallies)  # at the same time
    yield StageCost("translate", chain.device, tokens=total["tokens"], working=working, flops=total["flops"], note=note)


def words_of(one: TextToTranslate, folder: Path) -> list[str]:
    names = [str(folder / f"{one.name}.{one.direction}.{language}") for language in (one.source, one.target)]
    return ["--text", str(one.path), *names, f"<{one.target}>", str(one.beam)]


def publish_all(folder: Path) -> None:
    """Use the translations of texts that were not finished, because their process failed or was ended."""
    for state in sorted(folder.glob("*.state")):
        name, direction, target = state.name.removesuffix(".state").split(".")
        source = direction.split("-")[0]
        publish([folder / f"{name}.{direction}.{language}" for language in (source, target)])


def side_by_side(chain: Chain, commands: dict[str, list[str]], until: float) -> tuple[list[dict[str, Any]], list[str]]:
    """Several processes at once, each with its name: the JSON that they print, and who failed."""
    tallies: list[dict[str, Any]] = []
    failed: list[str] = []
    running: set[subprocess.Popen[str]] = set()

    def once(name: str, command: list[str]) -> int:
        left = max(0.0, until - time.monotonic())
        with subprocess.Popen(
            [*command, "--seconds", f"{left:.0f}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        ) as process:  # fmt: skip
            running.add(process)
            late = threading.Timer(left + GRACE, process.kill)
            late.start()
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    tallies.append(json.loads(line))
                else:
                    chain.report(f"   {line.rstrip()}")
            late.cancel()
        running.discard(process)
        return process.returncode

    def follow(name: str, command: list[str]) -> None:
        code = once(name, command)
        if code and time.monotonic() < until and not ended.is_set():
            chain.alarm(f"translating {name} failed with code {code} (above); it goes on without recorded steps")
            code = once(name, [*command, "--plain"])
        if code:
            chain.alarm(f"translating {name} failed with code {code} (above); what it translated before is used")
            failed.append(name)

    ended = threading.Event()
    threads = [threading.Thread(target=follow, args=item) for item in commands.items()]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        ended.set()
        for process in list(running):
            process.terminate()
        raise
    return tallies, failed
