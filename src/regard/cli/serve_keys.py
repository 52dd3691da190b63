"""`regard serve keys`: make, list and remove API keys and their limits."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.options import Json, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.serve.state.keys import ApiKey
    from regard.serve.state.store import Store

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

State = Annotated[
    Path, typer.Option("--state", metavar="FOLDER", help="Keep keys, limits, glossaries and documents in this folder.")
]
PerMinute = Annotated[
    int | None,
    typer.Option(
        "--per-minute",
        parser=number("--per-minute", int, 1, 100_000),
        metavar="N",
        help="Requests of a client in any minute, at most.",
    ),
]
Quota = Annotated[
    int | None,
    typer.Option(
        "--quota",
        parser=number("--quota", int, 1, 10**15),
        metavar="N",
        help="Characters of a client in each day or month, at most.",
    ),
]
Period = Annotated[
    Literal["day", "month"],
    typer.Option("--period", help="For how long --quota is: a day or a month of the calendar, UTC."),
]
KeyName = Annotated[str, typer.Argument(metavar="NAME", help="A name for the key, such as its user.")]


@app.command()
def add(
    name: KeyName,
    state: State,
    per_minute: PerMinute = None,
    quota: Quota = None,
    period: Period = "month",
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
    import json
    from dataclasses import asdict

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


def existing_store(state: Path) -> Store:
    """The store of a folder that has one: a mistyped name makes no new one."""
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
