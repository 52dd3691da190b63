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


def test_only_texts_and_their_languages_go_past_the_parser() -> None:
    assert texts_alone(["translate", "The cat.", "A dog - or two."]) == {"text": ["The cat.", "A dog - or two."]}
    given = {"text": ["a"], "to": "fr", "source": "en"}
    assert texts_alone(["translate", "--to", "fr", "--from", "en", "a"]) == given
    for line in ("", "translate", "translate --json a", "translate a -- -b", "info a", "translate --to fr",
                 "translate --to -x a", "translate --to fr --json a", "translate --to"):  # fmt: skip
        assert texts_alone(line.split()) == {}


def test_the_parser_gives_the_same_request(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class StopError(Exception):
        pass

    def load(cls: object, *given: object, **named: object) -> None:
        asked.append({"given": given, **named})
        raise StopError

    monkeypatch.setattr("regard.translator.Translator.load", classmethod(load))
    for words in (["The cat.", "A dog."], ["--", "The cat.", "A dog."]):
        call("translate", *words)
        call("translate", "--to", "fr", "--from", "en", *words)
    assert len(asked) == 4
    assert asked[:2] == asked[2:]


@pytest.mark.usefixtures("usual_engine")
def test_both_ways_translate_alike(call: Call) -> None:
    plain, parsed = call("translate", "The black cat sleeps."), call("translate", "--", "The black cat sleeps.")
    assert plain == parsed
    assert plain.out == "Le chat noir dort.\n"
