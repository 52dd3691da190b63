"""`regard serve`: a translator behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_group

from regard.cli.options import Device, Engine
from regard.cli.serve_keys import Period, PerMinute, Quota
from regard.cli.serve_keys import app as keys_app
from regard.cli.serve_suggestions import suggestions

Models = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]", help="Folders of models, or bundled models; without one, all bundled models."),
]
Host = Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for every network.")]
Port = Annotated[int, typer.Option(help="The port; 0 for one that is free.")]
ServeWorkers = Annotated[int, typer.Option("--workers", help="Processes side by side; each loads its models.")]
ServeThrough = Annotated[
    str | None, typer.Option("--through", metavar="LANGUAGE", help="Pairs without a model by way of it, such as en.")
]
Preload = Annotated[list[str] | None, typer.Option(metavar="MODEL", help="Load it at the start, not at its first use.")]
Idle = Annotated[float, typer.Option(help="Seconds after which an unused model is dropped; 0 keeps all.")]
Timeout = Annotated[float, typer.Option(help="Seconds that a request may take.")]
MostCharacters = Annotated[int, typer.Option("--characters", help="Characters of a request, at most.")]
MostTexts = Annotated[int, typer.Option("--texts", help="Texts of a request, at most.")]
MostAlternatives = Annotated[int, typer.Option("--most-alternatives", help="Alternatives of a text, at most.")]
Waiting = Annotated[
    int, typer.Option("--waiting", help="Characters that may wait for translation; beyond that requests get 503.")
]
Explained = Annotated[int, typer.Option("--explained", help="Tokens of a sentence that is explained, at most.")]
StateFolder = Annotated[
    Path | None,
    typer.Option("--state", metavar="FOLDER", help="Keep keys, limits, glossaries and documents in this folder."),
]
NeedKeys = Annotated[bool, typer.Option("--keys", help="Ask for API keys, which regard serve keys add makes.")]
HostNames = Annotated[
    list[str] | None,
    typer.Option("--host-name", metavar="NAME", help="A further name of this server, such as translate.example."),
]
Cors = Annotated[
    list[str] | None, typer.Option("--cors", metavar="ORIGIN", help="Let pages of this origin call it; * for all.")
]
LogText = Annotated[bool, typer.Option("--log-text", help="Write the texts of requests to the log.")]
Body = Annotated[int, typer.Option("--body", metavar="N", help="Bytes of a request, files counted.")]
KeptBytes = Annotated[int, typer.Option("--kept-bytes", help="Bytes of all documents that are kept, at most.")]
DocumentCharacters = Annotated[
    int, typer.Option("--document-characters", metavar="N", help="Characters of a document, at most.")
]
DocumentTimeout = Annotated[
    float, typer.Option("--document-timeout", metavar="X", help="Seconds that a document may take.")
]
KeptMinutes = Annotated[
    float, typer.Option("--kept-minutes", metavar="X", help="Minutes for which documents are kept.")
]

inner = typer.Typer(rich_markup_mode=None)
inner.add_typer(keys_app, name="keys")
inner.command()(suggestions)


class ServeCommand(TyperCommand):
    """`regard serve`, whose first word may also be a command of its own; a folder of that name is `./keys`."""

    @property
    def commands(self) -> dict[str, Any]:
        return dict(get_group(inner).commands)

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] not in (["keys"], ["suggestions"]):
            return super().make_context(info_name, args, parent, **extra)
        outer = self.context_class(TyperCommand("serve"), info_name=info_name, parent=parent)  # for the line of usage
        return self.commands[args[0]].make_context(args[0], args[1:], outer, **extra)


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
    most_alternatives: MostAlternatives = 10,
    waiting: Waiting = 2_000_000,
    explained: Explained = 200,
    device: Device = "auto",
    engine: Engine = "auto",
    state: StateFolder = None,
    keys: NeedKeys = False,
    per_minute: PerMinute = None,
    quota: Quota = None,
    period: Period = "month",
    host_name: HostNames = None,
    cors: Cors = None,
    body: Body = 20_000_000,
    document_characters: DocumentCharacters = 1_000_000,
    document_timeout: DocumentTimeout = 3600.0,
    kept_minutes: KeptMinutes = 60.0,
    kept_bytes: KeptBytes = 1_000_000_000,
    log_text: LogText = False,
) -> None:
    """Serve translators over HTTP, with a page to look inside.

    Clients of LibreTranslate and of DeepL (v2) work unchanged; docs/http-api.md has the interfaces. Models are loaded
    when they are first asked for. Only this machine can connect unless --host says otherwise.

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
            alternatives=most_alternatives,
            waiting=waiting,
            explained=explained,
            device=device,
            engine=engine,
            state=None if state is None else str(state),
            keys=keys,
            per_minute=per_minute,
            quota=quota,
            period=period,
            host_names=tuple(host_name or ()),
            cors=tuple(cors or ()),
            body=body,
            document_characters=document_characters,
            document_timeout=document_timeout,
            kept_minutes=kept_minutes,
            kept_bytes=kept_bytes,
            log_text=log_text,
        )
    )
