"""How a command is found and called: alone, without building the others, and plain texts without a parser."""

from __future__ import annotations

import pytest
from typer.main import get_command

from regard.cli import texts_alone
from regard.cli.app import GROUPS, app, name_of, only
from support import Call

NAMES = [name_of(command) for group in GROUPS.values() for command in group]


@pytest.mark.parametrize("name", NAMES)
def test_a_command_alone_is_that_command(name: str) -> None:
    group = get_command(only(name))
    assert [*group.commands] == [name]  # type: ignore[attr-defined]


def test_without_a_command_there_are_all() -> None:
    assert only("--help") is app
    assert {*get_command(app).commands} == {*NAMES}  # type: ignore[attr-defined]


def test_only_texts_without_flags_go_past_the_parser() -> None:
    assert texts_alone(["translate", "The cat.", "A dog - or two."]) == ["The cat.", "A dog - or two."]
    for words in ([], ["translate"], ["translate", "--json", "a"], ["translate", "a", "--", "-b"], ["info", "a"]):
        assert texts_alone(words) == []


def test_the_parser_gives_the_same_request(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class StopError(Exception):
        pass

    def load(cls: object, *given: object, **named: object) -> None:
        asked.append({"given": given, **named})
        raise StopError

    monkeypatch.setattr("regard.translator.Translator.load", classmethod(load))
    for words in (["translate", "The cat.", "A dog."], ["translate", "--", "The cat.", "A dog."]):
        call(*words)
    assert len(asked) == 2
    assert asked[0] == asked[1]


def test_both_ways_translate_alike(call: Call) -> None:
    plain, parsed = call("translate", "The black cat sleeps."), call("translate", "--", "The black cat sleeps.")
    assert plain == parsed
    assert plain.out == "Le chat noir dort.\n"
