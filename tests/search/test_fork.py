"""A process that is forked after translating translates too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, regard, torch  # several texts: large products take other ways through torch
translator = regard.load("en-fr-classic", device="cpu")
texts = ["The cat sleeps.", *(f"The cat eats {n} apples and sleeps in the house." for n in range(4))]
print(torch.get_num_threads(), translator.translate(texts)[0].text, flush=True)
if not (child := os.fork()):
    print(torch.get_num_threads(), translator.translate(texts)[0].text, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_translates_with_one_thread() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        out, _ = process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise
    assert out.decode().splitlines() == ["2 Le chat dort.", "1 Le chat dort."]
