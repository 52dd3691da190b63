"""`regard fetch`: downloads public data sets as train, dev and test files, and OPUS-MT models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import FlagTable

if TYPE_CHECKING:
    from regard.data.prepare import ProgressOf


FLAGS = FlagTable("""
--out FOLDER     A folder that does not exist yet. [default: data/NAME; for a model, the user's cache]
--mirror PLACE   A folder or address that has the published files.
""")


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A data set, or a model; without one, the sets are listed.")
    ] = None,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    mirror: Annotated[str | None, FLAGS("--mirror")] = None,
) -> None:
    """Fetch a public data set, or a translator of OPUS-MT.

    Rerun to resume an interrupted download. The project's folder recipes/ has a recipe for each
    data set. A model comes from the hub of Hugging Face and is imported, as regard import does; then its name is that
    of a model, as in translate --model opus-mt-en-fr. With REGARD_OFFLINE=1 nothing is fetched.

    \b
      regard fetch tatoeba-en-fr --out data/tatoeba
      regard fetch opus-mt-en-fr
    """
    from regard.data.sources import DATA_SETS, find_data_set

    if name is None:
        for known, data in DATA_SETS.items():
            typer.echo(f"{known:<15}{data.size:>12}  {data.about}")
            typer.echo(f"{'':<29}from {data.downloads[0].url.rpartition('/')[0]}")
            typer.echo(f"{'':<29}licence: {data.licence}")
        typer.echo("\nto fetch one: regard fetch NAME")
        typer.echo("to fetch a translator of OPUS-MT: regard fetch opus-mt-SOURCE-TARGET, such as opus-mt-en-fr")
        return
    if "/" in name or name.startswith("opus-mt"):
        fetch_model(name, out, mirror)
        return
    from regard.data.prepare import fetch_data

    data, out = find_data_set(name), out or Path("data") / name
    with progress() as progress_of:
        counts = fetch_data(data, out, mirror, progress_of)
    for made, count in counts.items():
        typer.echo(f"{out / made}: {count:,} lines")
    typer.echo(f"licence: {data.licence}\ncitation: {data.citation}")


def fetch_model(name: str, out: Path | None, mirror: str | None) -> None:
    """Fetch and import a model; the last line of the output is its folder."""
    from regard.bundle.find_model import fetch_model, full_name

    with progress() as progress_of:
        folder = fetch_model(full_name(name), out, mirror, lambda line: typer.echo(line, err=True), progress_of)
    typer.echo(str(folder))


@contextmanager
def progress() -> Iterator[ProgressOf]:
    """Progress on standard error: a bar for each file in a terminal, otherwise a line for each file."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from regard.data.fetch import OnBytes

    columns = (TextColumn("{task.description}"), BarColumn(24), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    bars = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
    with bars if console.is_terminal else nullcontext():  # older versions of rich print an empty line if disabled

        def progress_of(name: str) -> OnBytes:
            task = bars.add_task(name, total=None, start=False)

            def on_bytes(done: int, total: int | None) -> None:
                bars.start_task(task)
                bars.update(task, completed=done, total=total)
                if not console.is_terminal and done == total:
                    console.print(f"{name}: {done:,} bytes", highlight=False, markup=False)

            return on_bytes

        yield progress_of
