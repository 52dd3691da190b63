"""`regard serve`: a translation server over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Annotated, Any, get_origin

import typer

from regard.cli.options import Device, Engine
from regard.cli.serve_keys import Period, PerMinute, Quota, suggestions
from regard.cli.serve_keys import app as keys_app
from regard.cli.subcommands import OuterCommand
from regard.config import keys_of
from regard.serve.settings import ServeConfig

FLAGS = {"alternatives": "--most-alternatives", "host_names": "--host-name"}  # others are named after their fields
METAVARS = {
    "through": "LANGUAGE", "preload": "MODEL", "state": "FOLDER", "host_names": "NAME", "cors": "ORIGIN", "body": "N",
    "document_characters": "N", "document_timeout": "X", "kept_minutes": "X",
}  # fmt: skip
DECLARED = {"device": Device, "engine": Engine, "per_minute": PerMinute, "quota": Quota, "period": Period}
NO_FLAGS = ("course",)  # set by regard course
inner = typer.Typer(rich_markup_mode=None)
inner.add_typer(keys_app, name="keys")
inner.command()(suggestions)


class ServeCommand(OuterCommand):
    """`regard serve`; a model folder with the name of a subcommand is `./keys`."""

    inner, subcommands = inner, ("keys", "suggestions")


def parameters() -> Iterator[Parameter]:
    """Yield each field of `ServeConfig` as a parameter for typer: the models as an argument, the others as flags."""
    for field in fields(ServeConfig):
        if field.name in NO_FLAGS:
            continue
        name, kind, default, help = field.name, keys_of(ServeConfig)[field.name], field.default, field.metadata["help"]
        if get_origin(kind) is tuple:
            kind, default = list[str] | None, None
        flag: Any = typer.Option(FLAGS.get(name, f"--{name.replace('_', '-')}"), metavar=METAVARS.get(name), help=help)
        if name == "models":
            flag = typer.Argument(metavar="[MODEL]", help=help)
        annotation = DECLARED.get(name, Annotated[kind, flag])
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def serve(**given: Any) -> None:
    """Serve translators over HTTP, with a page to look inside.

    Clients of LibreTranslate and of DeepL (v2) work unchanged; docs/http-api.md has the interfaces. Models are loaded
    when they are first asked for. Only this machine can connect unless --host says otherwise.

    \b
      regard serve
      regard serve en-fr runs/mine --port 9000 --workers 2
    """
    from regard.serve.run import serve as start

    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    chosen |= {name: tuple(value) for name, value in chosen.items() if isinstance(value, list)}
    start(ServeConfig(**chosen))


serve.__signature__ = Signature(list(parameters()))  # type: ignore[attr-defined]
serve.__annotations__ = {one.name: one.annotation for one in parameters()}
