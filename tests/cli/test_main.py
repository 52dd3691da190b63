"""How a command is found: alone, without importing the others."""

from __future__ import annotations

import pytest
from typer.main import get_command

from regard.cli.app import NAMES, program


@pytest.mark.parametrize("name", NAMES)
def test_a_command_alone_is_that_command(name: str) -> None:
    group = get_command(program(name))
    assert [*group.commands] == [name]  # type: ignore[attr-defined]


def test_without_a_command_there_are_all() -> None:
    assert {*get_command(program("--help")).commands} == {*NAMES}  # type: ignore[attr-defined]
    assert {*get_command(program()).commands} == {*NAMES}  # type: ignore[attr-defined]
