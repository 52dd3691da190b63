"""`regard serve keys` (make, list and remove API keys and their limits) and `regard serve suggestions`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.options import FlagTable, Json
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.serve.state.keys import ApiKey
    from regard.serve.state.store import Store

FLAGS = FlagTable("""
--state FOLDER                  Keep keys, limits, glossaries and documents in this folder.
--per-minute N 1..100000        Requests of a client in any minute, at most.
--quota N 1..1000000000000000   Characters of a client in each day or month, at most.
--period                        For how long --quota is: a day or a month of the calendar, UTC.
""")

app = typer.Typer(
    rich_markup_mode=None,
    help="""Make, list and remove the API keys of a server.

    Keys are in the server's state folder; a server that runs sees a change at once. A server asks for keys when it is
    started with --keys.

    \b
      regard serve keys add alice --state state --per-minute 60 --quota 500000
      regard serve keys list --state state
    """,
)

State = Annotated[Path, FLAGS("--state")]
PerMinute = Annotated[int | None, FLAGS("--per-minute")]
Quota = Annotated[int | None, FLAGS("--quota")]
Period = Annotated[Literal["day", "month"], FLAGS("--period")]
KeyName = Annotated[str, typer.Argument(metavar="NAME", help="A name for the key, such as its user.")]


@app.command()
def add(
    name: KeyName, state: State, per_minute: PerMinute = None, quota: Quota = None, period: Period = "month"
) -> None:
    """Make a key and print it. It is shown this once: only a hash of it is kept.

    \b
      regard serve keys add alice --state state
      regard serve keys add weblate --state state --per-minute 600 --quota 2000000 --period day
    """
    from regard.serve.state.keys import ApiKeys, KeyLimits
    from regard.serve.state.store import Store

    with Store(state) as store:
        secret, key = ApiKeys(store).add(name, KeyLimits(per_minute, quota, period))
    typer.echo(secret)
    typer.echo(f'key "{key.name}" was made ({limits_text(key)}); keep it now, it is not shown again', err=True)


@app.command("list")
def list_(state: State, as_json: Json = False) -> None:
    """List the keys, also those that were removed.

    \b
      regard serve keys list --state state
      regard serve keys list --state state --json
    """
    from regard.report.table import Table
    from regard.serve.state.keys import ApiKeys

    with existing_store(state) as store:
        keys = ApiKeys(store).all()
    if as_json:
        typer.echo(json.dumps([asdict(key) for key in keys], indent=2))
    else:
        rows = [[key.name, day(key.created), limits_text(key), day(key.revoked)] for key in keys]
        typer.echo(Table(["name", "made", "limits", "removed"], rows, left=(0, 1, 2, 3)).text() if rows else "no keys")


@app.command()
def remove(name: KeyName, state: State) -> None:
    """Remove a key, with its glossaries and documents. It ends at once.

    \b
      regard serve keys remove bob --state state
      regard serve keys remove carol --state state
    """
    from regard.serve.state.keys import ApiKeys

    with existing_store(state) as store:
        key = ApiKeys(store).remove(name)
    typer.echo(f'key "{key.name}" was removed', err=True)


def suggestions(state: State, as_json: Json = False) -> None:
    """Print the translations that users of a server have suggested, as pairs for training or for a person to read.

    Each line has the languages, the source and the suggestion, with tabs between. Line breaks and tabs in texts become
    spaces; --json, one object a line, keeps them.

    \b
      regard serve suggestions --state state
      regard serve suggestions --state state --json
    """
    from regard.serve.state.suggestions import Suggestions

    with existing_store(state) as store:
        found = Suggestions(store).all()
    for one in found:
        row = (one.source, one.target, one.text, one.better)
        typer.echo(
            json.dumps(asdict(one), ensure_ascii=False)
            if as_json
            else "\t".join(" ".join(text.split()) for text in row)
        )


def existing_store(state: Path) -> Store:
    """Open the store of a folder; raises if it has none, so that a mistyped name does not create a new one."""
    from regard.serve.state.store import FILE, Store

    if not (state / FILE).exists():
        raise InputError(f"{state} is no state folder of a server; regard serve keys add makes one")
    return Store(state)


def limits_text(key: ApiKey) -> str:
    limits = key.limits
    requests = f"{limits.per_minute:,} requests a minute" if limits.per_minute else ""
    characters = f"{limits.characters:,} characters a {limits.period}" if limits.characters else ""
    return ", ".join(part for part in (requests, characters) if part) or "the server's limits"


def day(moment: float | None) -> str:
    """
    >>> day(0), day(None)
    ('1970-01-01', '')
    """
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
