"""recipes/box/everyday.py: the templates are valid, expand to the same aligned lines, and mistakes are named."""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from pathlib import Path

import pytest

from support import load_script

SCRIPT = Path(__file__).parents[2] / "recipes" / "box" / "everyday.py"
everyday = load_script(SCRIPT)
HEADER = "register\ten\tfr\tde\tes"
KINDS = {path.stem for path in everyday.FOLDER.glob("*.tsv")}
TYPOGRAPHY = {
    "an apostrophe that is not straight": (re.compile("[’´`]"), "en fr de es"),
    "two spaces": (re.compile("  "), "en fr de es"),
    "no space before a French mark": (re.compile(r"[^ ][!?;]|[^\d ]:"), "fr"),
    "an elision that is missing": (re.compile(r"(?<!-)\b(?:de|que|ne|je|le|la) (?!oui|A-)[aeiouéêâœ]", re.I), "fr"),
    "a contraction that is missing": (re.compile(r"\b[ad]e? el\b", re.IGNORECASE), "es"),
    "a space before a mark": (re.compile(" [.,!?;:]"), "en de es"),
}


@pytest.fixture(scope="module")
def expanded() -> list[tuple[everyday.Template, list[everyday.Sides]]]:
    templates, lists = everyday.read_folder(everyday.FOLDER)
    return [(template, everyday.expand(template, lists, 12)) for template in templates]


@pytest.fixture(scope="module")
def lines(expanded: list[tuple[everyday.Template, list[everyday.Sides]]]) -> list[everyday.Line]:
    return [everyday.Line(template.kind, template.register, sides) for template, some in expanded for sides in some]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(everyday.FOLDER / "lists.toml", tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["everyday.py", *map(str, arguments)])
    everyday.main()


def test_examples() -> None:
    assert doctest.testmod(everyday).failed == 0


def test_all_kinds_and_registers(lines: list[everyday.Line]) -> None:
    assert {line.kind for line in lines} == KINDS
    assert {line.register for line in lines} == {"formal", "informal", "neutral"}
    both = [{line.sides[0] for line in lines if line.register == register} for register in ("formal", "informal")]
    assert len(both[0] & both[1]) > 50  # the same English in both registers


def test_every_template_gives_lines(expanded: list[tuple[everyday.Template, list[everyday.Sides]]]) -> None:
    assert len(expanded) > 900
    assert {len(some) for _, some in expanded} <= set(range(1, 13))
    unused = [template.sides for template, some in expanded if len(some) < max(template.options.values(), default=1)]
    assert unused == []


@pytest.mark.parametrize("name", TYPOGRAPHY)
def test_typography(lines: list[everyday.Line], name: str) -> None:
    pattern, languages = TYPOGRAPHY[name]
    columns = [everyday.LANGUAGES.index(language) for language in languages.split()]
    assert [line.sides[k] for line in lines for k in columns if pattern.search(line.sides[k])] == []


def test_spanish_marks_are_paired(lines: list[everyday.Line]) -> None:
    texts = [line.sides[3] for line in lines]
    assert [t for t in texts if t.count("?") != t.count("¿") or t.count("!") != t.count("¡")] == []


def test_output_is_aligned_and_deterministic(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(everyday.FOLDER / "health.tsv", folder)
    for name in "ab":
        run(monkeypatch, tmp_path / name, "--templates", folder)
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "a").iterdir()}
    assert len(written) == 12
    assert written == {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "b").iterdir()}
    for register in ("formal", "informal", "neutral"):
        sides = [written[f"everyday.{register}.{language}"].splitlines() for language in everyday.LANGUAGES]
        rows = list(zip(*sides, strict=True))
        assert len(set(rows)) == len(rows) > 0


def test_fields(folder: Path) -> None:
    sides = (
        "{time} {time2} {1:red|big}",
        "{time} {time2} {1:a|b}{g:|e}",
        "{time}-{time2} {1:x|y}",
        "{time2}{time} {1:u|v}",
    )
    row = "\t".join(["-", *sides])
    (folder / "one.tsv").write_text(f"{HEADER}\n{row}\n", encoding="utf-8")
    (template,), lists = everyday.read_folder(folder)
    found = everyday.expand(template, lists, 12)
    assert len(found) == 12
    order = [entry[2] for entry in lists["time"]]
    for english, french, german, spanish in found:
        first, second = re.fullmatch(r"(.* Uhr)-(.* Uhr) [xy]", german).groups()
        assert (english.endswith("red"), "x" in german, "u" in spanish) in {(True,) * 3, (False,) * 3}
        assert re.search("[ab]e?$", french)
        assert order.index(first) < order.index(second)


def test_a_list_entry_that_begins_a_sentence(folder: Path) -> None:
    row = "-\tClosed on {weekdays}.\tFermé {weekdays}.\t{weekdays} geschlossen.\tCerrado {weekdays}."
    (folder / "one.tsv").write_text(f"{HEADER}\n{row}\n", encoding="utf-8")
    (template,), lists = everyday.read_folder(folder)
    assert all(sides[2][0].isupper() for sides in everyday.expand(template, lists, 12))


def test_held_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "one.tsv").write_text(
        f"{HEADER}\n-\tGood night\tBonne nuit\tGute Nacht\tBuenas noches\n-\tBye\tSalut\tTschüss\tAdiós\n",
        encoding="utf-8",
    )
    (tmp_path / "test.de").write_text("GUTE  Nacht!\n", encoding="utf-8")
    run(monkeypatch, tmp_path / "out", "--templates", folder, "--held-out", tmp_path / "test.de")
    assert (tmp_path / "out" / "everyday.neutral.en").read_text(encoding="utf-8") == "Bye\n"
    assert re.search(r"^one +2 +0 +0 +1 +1$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("-\ta\tb\tc", "there must be 5 columns, but there are 4"),
        ("polite\ta\tb\tc\td", "the register must be formal, informal, -, but is 'polite'"),
        ("-\ta\t\tc\td", "the fr column is empty or has extra spaces"),
        ("-\t{1:a|b}\t{1:a|b}\t{1:a|b|c}\t{1:a|b}", "the choice 1 has 2 options in en, but 3 in de"),
        ("-\t{1:a|b}\t{1:a|b} {1:c}\t{1:a|b}\t{1:a|b}", "the choice 1 has 2 options, but also 1, in fr"),
        ("-\t{1:a|b}\t{1:a|b}\t{1:a|b}\ta", "{1:…} is missing in es"),
        ("-\ta\t{time}\t{time}\t{time}", "{time} is missing in en"),
        ("-\ta\t{g:a|b|c}\tc\td", "{g:…} must have 2 options, but has 3 in fr"),
        ("-\t{1:a|b\tb\tc\td", "braces or | without their counterpart in en"),
        ("-\ta\tb}\tc\td", "braces or | without their counterpart in fr"),
        ("-\t{1:a|{time}}\tb\tc\td", "braces or | without their counterpart in en"),
        ("-\t{wekday}\tb\tc\td", "{wekday} in en is neither a choice nor a list"),
    ],
)
def test_mistakes_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch, row: str, said: str) -> None:
    path = folder / "one.tsv"
    path.write_text(f"{HEADER}\n-\tA\tB\tC\tD\n{row}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, folder / "out", "--templates", folder)
    assert str(end.value).startswith(f"{path}, line 3: {said}")
    assert "\n" not in str(end.value)


def test_the_header_is_needed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "one.tsv").write_text("-\ta\tb\tc\td\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"line 1: the first line must have the columns register, en, fr, de, es"):
        run(monkeypatch, folder / "out", "--templates", folder)
