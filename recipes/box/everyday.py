"""Expand templates of everyday text (letters, notices, forms, recipes, health, travel, …) into aligned lines.

    python recipes/box/everyday.py OUT
    python recipes/box/everyday.py OUT --count 6 --held-out data/general/tests/*

Writes OUT/everyday.formal.en, .fr, .de and .es, the same for `informal` and `neutral`, aligned line by line and without
duplicates, and prints how many templates and lines there are of each kind. The output depends on the templates and
on --count alone.

The templates are the .tsv files in everyday/, with five columns: register, English, French, German, Spanish.

    register    `formal` (vous, Sie, usted), `informal` (tu, du, tú), or `-` where nobody is addressed
    {1:a|b|c}   a choice. A number occurs on all four sides with the same number of options, and options with the same
                position belong together; it may occur again on a side, for agreement
    {g:a|b}     the masculine and the feminine form for the speaker or the person addressed; a side may be without it
    {weekday}   one entry of a list, from everyday/lists.toml or generated here: time, morning, evening, hours, date,
                day, number, age, minutes, price, amount. {time} and {time2} are different entries, in the order of
                the list

Conventions of the generated lists: 9:30 am, 9 h 30, 9:30 Uhr, 9:30 (a las is in the template); 3 May 2025, 3 mai 2025,
3. Mai 2025, 3 de mayo de 2025; €12.50, and 12,50 € in the other three languages.

A template gives one line for each combination of its options, up to --count; with a list, three times as many. With
--held-out, a line is dropped if any of its four sides is a line of those files, ignoring case, punctuation and spaces.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

from regard.data.overlap import key_words
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table

FOLDER = Path(__file__).with_name("everyday")
LANGUAGES = ("en", "fr", "de", "es")
REGISTERS = {"formal": "formal", "informal": "informal", "-": "neutral"}
HEADER = ["register", *LANGUAGES]
GENDER = "g"
PER_LIST = 3  # lines for each combination of options, where a list provides different entries
ATTEMPTS = 4  # draws for each line wanted, since some are duplicates

FIELD = re.compile(r"\{([^{}]*)\}")
CHOICE = re.compile(r"([1-9]|g):(.*)")
LIST_NAME = re.compile(r"([a-z]+)[2-9]?")

Sides = tuple[str, ...]  # one text for each of LANGUAGES
Lists = Mapping[str, Sequence[Sides]]


@dataclass(frozen=True)
class Template:
    kind: str
    register: str
    sides: Sides
    options: Mapping[str, int]  # by the number of a choice
    lists: frozenset[str]  # names as written: {"time", "time2"}

    def combinations(self) -> int:
        return prod(self.options.values()) * (PER_LIST if self.lists else 1)


@dataclass(frozen=True)
class Line:
    kind: str
    register: str
    sides: Sides


# Lists


def read_lists(path: Path) -> dict[str, list[Sides]]:
    """Reads lists.toml; lists of different lengths raise InputError."""
    found = {}
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        columns = [table["all"]] * len(LANGUAGES) if "all" in table else [table[language] for language in LANGUAGES]
        if len({len(column) for column in columns}) > 1:
            raise InputError(f"{path}: the list {name!r} does not have the same number of entries in each language")
        found[name] = list(zip(*columns, strict=True))
    return found


def generated_lists(months: Sequence[Sides]) -> dict[str, list[Sides]]:
    days = [(d, month) for month in months for d in range(1, 29)]
    times = {(h, m): time(h, m) for h in range(7, 23) for m in (0, 15, 30, 45) if (h, m) != (12, 0)}
    amounts = [price(euros, 0) for euros in (60, 75, 90, 120, 250, 480, 520, 650, 750, 890, 1200, 1850)]
    return {
        "time": list(times.values()),
        "morning": [text for (h, _), text in times.items() if h < 11],
        "evening": [text for (h, _), text in times.items() if h > 16],
        "hours": [hours(start, end) for start in (7, 8, 9, 10) for end in (14, 16, 17, 18, 19, 20)],
        "day": [day(d, month) for d, month in days],
        "date": [date(d, month, year) for year in range(2024, 2029) for d, month in days],
        "number": [(str(n),) * 4 for n in (*range(2, 13), 14, 15, 16, 18, 20, 24, 25, 30)],
        "age": [(str(n),) * 4 for n in (2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 16)],
        "minutes": [(str(n),) * 4 for n in (2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45)],
        "price": [price(euros, cents) for euros in (2, 3, 4, 6, 8, 9, 12, 15, 18, 24, 39) for cents in (20, 50, 90, 95)]
        + [price(euros, 0) for euros in (5, 7, 10, 20, 25, 40)]
        + amounts,
        "amount": amounts,
    }


def time(hour: int, minute: int) -> Sides:
    """
    >>> time(9, 0)
    ('9 am', '9 h', '9 Uhr', '9:00')
    >>> time(14, 30)
    ('2:30 pm', '14 h 30', '14:30 Uhr', '14:30')
    """
    half, past = "am" if hour < 12 else "pm", f":{minute:02}" if minute else ""
    french = f"{hour} h {minute}" if minute else f"{hour} h"
    return (f"{(hour - 1) % 12 + 1}{past} {half}", french, f"{hour}{past} Uhr", f"{hour}:{minute:02}")


def hours(start: int, end: int) -> Sides:
    """
    >>> hours(9, 17)
    ('9 am to 5 pm', 'de 9 h à 17 h', 'von 9 bis 17 Uhr', 'de 9:00 a 17:00')
    """
    (english, french, _, spanish), (e, f, german, s) = time(start, 0), time(end, 0)
    return (f"{english} to {e}", f"de {french} à {f}", f"von {start} bis {german}", f"de {spanish} a {s}")


def day(number: int, month: Sides) -> Sides:
    """
    >>> day(1, ("May", "mai", "Mai", "mayo"))
    ('1 May', '1er mai', '1. Mai', '1 de mayo')
    """
    english, french, german, spanish = month
    first = "1er" if number == 1 else number
    return (f"{number} {english}", f"{first} {french}", f"{number}. {german}", f"{number} de {spanish}")


def date(number: int, month: Sides, year: int) -> Sides:
    """
    >>> date(3, ("May", "mai", "Mai", "mayo"), 2025)
    ('3 May 2025', '3 mai 2025', '3. Mai 2025', '3 de mayo de 2025')
    """
    english, french, german, spanish = day(number, month)
    return (f"{english} {year}", f"{french} {year}", f"{german} {year}", f"{spanish} de {year}")


def price(euros: int, cents: int) -> Sides:
    """
    >>> price(12, 50)
    ('€12.50', '12,50 €', '12,50 €', '12,50 €')
    >>> price(1850, 0)
    ('€1,850', '1 850 €', '1.850 €', '1850 €')
    """
    if not cents:
        english = f"{euros:,}"
        return (f"€{english}", f"{english.replace(',', ' ')} €", f"{english.replace(',', '.')} €", f"{euros} €")
    return (f"€{euros}.{cents:02}", *[f"{euros},{cents:02} €"] * 3)


# Templates


def read_templates(path: Path, lists: Lists) -> Iterator[Template]:
    """Yields the templates of one file; raises InputError with the file and the line of what is wrong."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        columns = line.split("\t")
        try:
            if number > 1:
                yield template_of(path.stem, columns, lists)
            elif columns != HEADER:
                raise InputError(f"the first line must have the columns {', '.join(HEADER)}")
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None


def template_of(kind: str, columns: Sequence[str], lists: Lists) -> Template:
    """
    >>> template_of("notices", ["-", "{1:Push|Pull}", "{1:Pousser|Tirer}", "{1:Drücken|Ziehen}", "{1:Empujar}"], {})
    Traceback (most recent call last):
    regard.errors.InputError: the choice 1 has 2 options in en, but 1 in es
    """
    if len(columns) != len(HEADER):
        raise InputError(f"there must be {len(HEADER)} columns, but there are {len(columns)}")
    register, *sides = columns
    if register not in REGISTERS:
        raise InputError(f"the register must be {', '.join(REGISTERS)}, but is {register!r}")
    for language, side in zip(LANGUAGES, sides, strict=True):
        if not side or side != " ".join(side.split()):
            raise InputError(f"the {language} column is empty or has extra spaces")
    fields = [fields_of(side, language, lists) for language, side in zip(LANGUAGES, sides, strict=True)]
    check_same(fields)
    options = {name: count for some in fields for name, count in some.items() if count}
    used = frozenset(name for name, count in fields[0].items() if not count)
    return Template(kind, REGISTERS[register], tuple(sides), options, used)


def fields_of(side: str, language: str, lists: Lists) -> dict[str, int]:
    """The fields of one side, with the number of options of each choice, and 0 for lists."""
    if any(mark in FIELD.sub("", side) for mark in "{}|"):
        raise InputError(f"braces or | without their counterpart in {language}")
    found: dict[str, int] = {}
    for field in FIELD.findall(side):
        if choice := CHOICE.fullmatch(field):
            name, count = choice[1], len(choice[2].split("|"))
            if name == GENDER and count != 2:
                raise InputError(f"{{{GENDER}:…}} must have 2 options, but has {count} in {language}")
            if found.setdefault(name, count) != count:
                raise InputError(f"the choice {name} has {found[name]} options, but also {count}, in {language}")
        elif (listed := LIST_NAME.fullmatch(field)) and listed[1] in lists:
            found[field] = 0
        else:
            raise InputError(f"{{{field}}} in {language} is neither a choice nor a list ({', '.join(sorted(lists))})")
    return found


def check_same(fields: Sequence[Mapping[str, int]]) -> None:
    """Raises InputError unless all sides have the same fields with as many options, gender aside."""
    for language, here in zip(LANGUAGES, fields, strict=True):
        for name in sorted({*fields[0], *here} - {GENDER}):
            if name not in here or name not in fields[0]:
                missing = LANGUAGES[0] if name in here else language
                raise InputError(f"{{{name}{':…' if name.isdigit() else ''}}} is missing in {missing}")
            if here[name] != fields[0][name]:
                raise InputError(
                    f"the choice {name} has {fields[0][name]} options in en, but {here[name]} in {language}"
                )


# Expansion


def expand(template: Template, lists: Lists, count: int) -> list[Sides]:
    """Returns up to `count` different lines; every option occurs once before any occurs again."""
    rng = random.Random("\t".join(template.sides))
    wanted = min(count, template.combinations())
    draws = {name: option_order(n, ATTEMPTS * wanted, rng) for name, n in template.options.items()}
    found: dict[Sides, None] = {}
    for i in range(ATTEMPTS * wanted):
        chosen = {name: order[i] for name, order in draws.items()}
        entries = list_entries(template.lists, lists, rng)
        sides = [filled(side, k, chosen, entries) for k, side in enumerate(template.sides)]
        found[capitalised(sides) if sides[0][0].isupper() else tuple(sides)] = None
        if len(found) == wanted:
            break
    return list(found)


def capitalised(sides: Iterable[str]) -> Sides:
    """A list entry may begin a side: "montags geschlossen" for "Closed on Mondays"."""
    return tuple(side[0].upper() + side[1:] for side in sides)


def option_order(options: int, count: int, rng: random.Random) -> list[int]:
    """Random permutations of the options, one after another."""
    return [i for _ in range(-(-count // options)) for i in rng.sample(range(options), options)]


def list_entries(names: Iterable[str], lists: Lists, rng: random.Random) -> dict[str, Sides]:
    """An entry for each name; those of the same list are different and in the order of the list."""
    of_list: dict[str, list[str]] = {}
    for name in sorted(names):
        of_list.setdefault(name.rstrip("23456789"), []).append(name)
    found = {}
    for base, some in of_list.items():
        for name, i in zip(some, sorted(rng.sample(range(len(lists[base])), len(some))), strict=True):
            found[name] = lists[base][i]
    return found


def filled(side: str, language: int, chosen: Mapping[str, int], entries: Mapping[str, Sides]) -> str:
    """One side with its fields replaced."""

    def value(field: re.Match[str]) -> str:
        if choice := CHOICE.fullmatch(field[1]):
            return choice[2].split("|")[chosen[choice[1]]]
        return entries[field[1]][language]

    return FIELD.sub(value, side)


def expand_all(templates: Iterable[Template], lists: Lists, count: int) -> list[Line]:
    """All lines without duplicates, in the order of the templates."""
    lines: dict[Sides, Line] = {}
    for template in templates:
        for sides in expand(template, lists, count):
            lines.setdefault(sides, Line(template.kind, template.register, sides))
    return list(lines.values())


def words_of_files(paths: Iterable[Path]) -> set[tuple[str, ...]]:
    return {tuple(key_words(line)) for path in paths for line in read_lines(path)}


def is_held_out(line: Line, held_out: set[tuple[str, ...]]) -> bool:
    return any(tuple(key_words(side)) in held_out for side in line.sides)


def write(out: Path, lines: Iterable[Line]) -> None:
    """Writes each register in each language, with the same order of lines."""
    out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[Line]] = {register: [] for register in REGISTERS.values()}
    for line in lines:
        rows[line.register].append(line)
    for (register, some), (k, language) in product(rows.items(), enumerate(LANGUAGES)):
        path = out / f"everyday.{register}.{language}"
        path.write_text("".join(f"{line.sides[k]}\n" for line in some), encoding="utf-8")


def table(templates: Iterable[Template], lines: Iterable[Line], dropped: Iterable[Line]) -> Table:
    """Counts by kind and register."""
    of_templates = Counter(template.kind for template in templates)
    of_lines = Counter((line.kind, line.register) for line in lines)
    of_dropped = Counter(line.kind for line in dropped)
    registers = list(REGISTERS.values())
    rows = [
        [n, *(of_lines[kind, register] for register in registers), of_dropped[kind]] for kind, n in of_templates.items()
    ]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    names = [*of_templates, "all"]
    header = ["", "templates", *registers, "held out"]
    return Table(header, [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, rows, strict=True)])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out", type=Path)
    options.add_argument("--count", type=int, default=12, help="maximum number of lines from one template (default 12)")
    options.add_argument(
        "--held-out", type=Path, nargs="+", default=[], metavar="FILE", help="text that must not occur"
    )
    options.add_argument("--templates", type=Path, default=FOLDER, help="folder of .tsv files and lists.toml")
    given = options.parse_args()
    try:
        templates, lists = read_folder(given.templates)
        held_out = words_of_files(given.held_out)
    except InputError as error:
        sys.exit(str(error))
    lines = expand_all(templates, lists, max(given.count, 1))
    dropped = [line for line in lines if is_held_out(line, held_out)]
    kept = [line for line in lines if not is_held_out(line, held_out)]
    write(given.out, kept)
    print(table(templates, kept, dropped).text())


def read_folder(folder: Path) -> tuple[list[Template], dict[str, list[Sides]]]:
    """The templates of all files, and all lists; raises InputError."""
    lists = read_lists(folder / "lists.toml")
    lists |= generated_lists(lists["month"])
    return [template for path in sorted(folder.glob("*.tsv")) for template in read_templates(path, lists)], lists


if __name__ == "__main__":
    main()
