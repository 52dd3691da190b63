"""`regard serve`: a translator behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_group

from regard.cli.options import Device, Engine, FlagTable
from regard.cli.serve_keys import Period, PerMinute, Quota, suggestions
from regard.cli.serve_keys import app as keys_app

FLAGS = FlagTable("""
--host                The address to listen at; 0.0.0.0 for every network.
--port                The port; 0 for one that is free.
--workers             Processes side by side; each loads its models.
--through LANGUAGE    Pairs without a model by way of it, such as en.
--preload MODEL       Load it at the start, not at its first use.
--idle                Seconds after which an unused model is dropped; 0 keeps all.
--timeout             Seconds that a request may take.
--characters          Characters of a request, at most.
--texts               Texts of a request, at most.
--most-alternatives   Alternatives of a text, at most.
--waiting             Characters that may wait for translation; beyond that requests get 503.
--explained           Tokens of a sentence that is explained, at most.
--state FOLDER        Keep keys, limits, glossaries and documents in this folder.
--keys                Ask for API keys, which regard serve keys add makes.
--host-name NAME      A further name of this server, such as translate.example.
--cors ORIGIN         Let pages of this origin call it; * for all.
--log-text            Write the texts of requests to the log.
--kept-bytes          Bytes of all documents that are kept, at most.
""")

Models = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]", help="Folders of models, or bundled models; without one, all bundled models."),
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
    models: Models = None,
    host: Annotated[str, FLAGS("--host")] = "127.0.0.1",
    port: Annotated[int, FLAGS("--port")] = 8000,
    workers: Annotated[int, FLAGS("--workers")] = 1,
    through: Annotated[str | None, FLAGS("--through")] = None,
    preload: Annotated[list[str] | None, FLAGS("--preload")] = None,
    idle: Annotated[float, FLAGS("--idle")] = 1800.0,
    timeout: Annotated[float, FLAGS("--timeout")] = 60.0,
    characters: Annotated[int, FLAGS("--characters")] = 50_000,
    texts: Annotated[int, FLAGS("--texts")] = 200,
    alternatives: Annotated[int, FLAGS("--most-alternatives")] = 10,
    waiting: Annotated[int, FLAGS("--waiting")] = 2_000_000,
    explained: Annotated[int, FLAGS("--explained")] = 200,
    device: Device = "auto",
    engine: Engine = "auto",
    state: Annotated[Path | None, FLAGS("--state")] = None,
    keys: Annotated[bool, FLAGS("--keys")] = False,
    per_minute: PerMinute = None,
    quota: Quota = None,
    period: Period = "month",
    host_names: Annotated[list[str] | None, FLAGS("--host-name")] = None,
    cors: Annotated[list[str] | None, FLAGS("--cors")] = None,
    body: Annotated[int, typer.Option("--body", metavar="N", help="Bytes of a request, files counted.")] = 20_000_000,
    document_characters: Annotated[
        int, typer.Option("--document-characters", metavar="N", help="Characters of a document, at most.")
    ] = 1_000_000,
    document_timeout: Annotated[
        float, typer.Option("--document-timeout", metavar="X", help="Seconds that a document may take.")
    ] = 3600.0,
    kept_minutes: Annotated[
        float, typer.Option("--kept-minutes", metavar="X", help="Minutes for which documents are kept.")
    ] = 60.0,
    kept_bytes: Annotated[int, FLAGS("--kept-bytes")] = 1_000_000_000,
    log_text: Annotated[bool, FLAGS("--log-text")] = False,
) -> None:
    """Serve translators over HTTP, with a page to look inside.

    Clients of LibreTranslate and of DeepL (v2) work unchanged; docs/http-api.md has the interfaces. Models are loaded
    when they are first asked for. Only this machine can connect unless --host says otherwise.

    \b
      regard serve
      regard serve en-fr runs/mine --port 9000 --workers 2
    """
    given = {name: value for name, value in locals().items() if value is not None}
    from regard.serve.run import serve as start
    from regard.serve.settings import ServeConfig

    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    start(ServeConfig(**given | lists | ({} if state is None else {"state": str(state)})))
