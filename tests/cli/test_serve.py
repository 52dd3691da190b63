"""`regard serve`: every setting of a server has a flag, and the flag reaches it."""

from __future__ import annotations

from dataclasses import fields

import pytest

from regard.cli.serve import NO_FLAGS
from regard.serve import run
from regard.serve.settings import ServeConfig
from support import Call

OTHERS = {
    "host": "::1",
    "device": "cpu",
    "engine": "native",
    "through": "en",
    "preload": "en-fr",
    "state": "folder",
    "period": "day",
    "host_names": "translate.example",
    "cors": "*",
}
NAMES = {"host_names": "host-name", "alternatives": "most-alternatives"}


def test_every_setting_has_a_flag(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[ServeConfig] = []
    monkeypatch.setattr(run, "serve", started.append)
    plain = ServeConfig()
    words = ["en-fr"]
    for field in fields(ServeConfig):
        flag = f"--{NAMES.get(field.name, field.name.replace('_', '-'))}"
        if isinstance(getattr(plain, field.name), bool):
            words += [flag]
        elif field.name not in ("models", *NO_FLAGS):
            words += [flag, OTHERS.get(field.name, "1234")]
    assert call("serve", *words).code == 0
    assert call("serve").code == 0
    changed, unchanged = started
    assert unchanged == plain
    for field in fields(ServeConfig):
        same = getattr(changed, field.name) == getattr(plain, field.name)
        assert same == (field.name in NO_FLAGS), field.name
