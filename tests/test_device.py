"""Which device computes, found without torch where that is possible."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from regard import device
from regard.device import device_name, pick_device
from regard.errors import InputError

NAMED = """
import sys
from regard.device import device_name
assert device_name("cpu") == "cpu" and "torch" not in sys.modules
"""


def test_the_cpu_by_name_needs_no_torch() -> None:
    subprocess.run([sys.executable, "-c", NAMED], check=True)


def test_without_the_files_of_a_gpu_torch_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    monkeypatch.setattr(device, "pick_device", lambda name: pytest.fail("torch was asked"))
    assert device_name("auto") == "cpu"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_where_there_may_be_one_torch_is_asked(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([self / "nvidia0"]))
    monkeypatch.setattr(device, "pick_device", lambda name: f"asked for {name}")
    assert device_name("auto") == "asked for auto"
    assert device_name("cuda:1") == "asked for cuda:1"


def test_it_is_what_is_picked() -> None:
    assert device_name("auto") == str(pick_device("auto"))
    with pytest.raises(InputError, match="not available"):
        device_name("abacus")
