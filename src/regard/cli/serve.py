"""`regard serve`: a translator behind HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from regard.cli.options import Device, Engine

Models = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]", help="Folders of models, or models in the box; without one, all in the box."),
]
Host = Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for every network.")]
Port = Annotated[int, typer.Option(help="The port; 0 for one that is free.")]
ServeWorkers = Annotated[int, typer.Option("--workers", help="Processes side by side; each loads its models.")]
ServeThrough = Annotated[
    str | None, typer.Option("--through", metavar="LANGUAGE", help="Pairs without a model by way of it, such as en.")
]
Preload = Annotated[list[str] | None, typer.Option(metavar="MODEL", help="Load it at the start, not when asked for.")]
Idle = Annotated[float, typer.Option(help="Seconds after which an unused model is dropped; 0 keeps all.")]
Timeout = Annotated[float, typer.Option(help="Seconds that a request may take.")]
MostCharacters = Annotated[int, typer.Option("--characters", help="Characters of a request, at most.")]
MostTexts = Annotated[int, typer.Option("--texts", help="Texts of a request, at most.")]


def serve(
    model: Models = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: ServeWorkers = 1,
    through: ServeThrough = None,
    preload: Preload = None,
    idle: Idle = 1800.0,
    timeout: Timeout = 60.0,
    characters: MostCharacters = 50_000,
    texts: MostTexts = 200,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Serve translators over HTTP, with a page to look inside.

    Clients of LibreTranslate and of DeepL (v2) work unchanged; docs/http.md has the interfaces. Models are loaded when
    they are first asked for. Only this machine can connect unless --host says otherwise.

    \b
      regard serve
      regard serve en-fr runs/mine --port 9000 --workers 2
    """
    from regard.serve.run import serve as start
    from regard.serve.settings import ServeConfig

    start(
        ServeConfig(
            models=tuple(model or ()),
            host=host,
            port=port,
            workers=workers,
            through=through,
            preload=tuple(preload or ()),
            idle=idle,
            timeout=timeout,
            characters=characters,
            texts=texts,
            device=device,
            engine=engine,
        )
    )
