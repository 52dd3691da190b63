"""`regard page`: writes the page of the server as one file, for a lecture without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Device, FlagTable
from regard.cli.process import warn
from regard.errors import InputError

FLAGS = FlagTable("--out FILE  The file to write, such as site.html.")


def page(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder of a model, or a bundled model.")],
    text: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]…", help="The texts; without one, those of the lessons.")
    ] = None,
    out: Annotated[Path, FLAGS("--out")] = ...,  # type: ignore[assignment]
    device: Device = "auto",
) -> None:
    """Write the page of the server as one file, for a lecture.

    It holds the answers for these texts: translations, alternatives, attention, cut heads, the search and evidence. It
    has the text of all lessons, whose live views work for the lessons' own sentences if they are among the texts; it
    checks no exercises. A browser opens it from the disk; it loads and sends nothing.

    \b
      regard page en-fr --out lecture.html
      regard page en-fr --out lecture.html "The cat sleeps." "I see him every day."
    """
    from regard.course.lessons.load import sentences
    from regard.files import write_atomically
    from regard.serve.saved_page import saved_page
    from regard.serve.settings import ServeConfig

    if out.is_dir():
        raise InputError(f"--out must be a file, but {out} is a folder; give a name such as {out / 'site.html'}")
    texts = list(text or sentences())

    def report(done: int) -> None:
        warn(f"text {done + 1} of {len(texts)}: {texts[done]}" if done < len(texts) else "all texts are done")

    made = saved_page(ServeConfig(models=(model,), timeout=600.0, device=device), texts, report)
    write_atomically(out, lambda path: path.write_text(made, encoding="utf-8"))
    typer.echo(f"{out}: {len(made.encode('utf-8')) / 1e6:.1f} MB, texts: {len(texts)}")
