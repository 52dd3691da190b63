"""Settings: safe where nothing is said, and checked."""

from __future__ import annotations

import pytest

from regard.errors import InputError
from regard.serve.settings import ServeConfig


def test_a_server_is_for_this_machine_unless_told_otherwise() -> None:
    config = ServeConfig()
    assert (config.host, config.host_names, config.cors) == ("127.0.0.1", (), ())
    assert not config.log_text


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 70000},
        {"workers": 0},
        {"per_minute": 0},
        {"quota": 0},
        {"kept_minutes": 0},
        {"timeout": 0},
        {"body": 1},
    ],
)
def test_what_cannot_be(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name} must be"):
        ServeConfig(**wrong)  # type: ignore[arg-type]
