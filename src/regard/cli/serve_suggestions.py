"""`regard serve suggestions`: print the translations that users have suggested."""

from __future__ import annotations

import typer

from regard.cli.options import Json
from regard.cli.serve_keys import State, existing_store


def suggestions(state: State, as_json: Json = False) -> None:
    """Print the translations that users of a server have suggested, as pairs for training or for a person to read.

    Each line has the languages, the source and the suggestion, with tabs between. Line breaks and tabs in texts become
    spaces; --json, one object a line, keeps them.

    \b
      regard serve suggestions --state state
      regard serve suggestions --state state --json
    """
    import json
    from dataclasses import asdict

    from regard.serve.state.suggestions import Suggestions

    with existing_store(state) as store:
        found = Suggestions(store).all()
    for one in found:
        row = (one.source, one.target, one.text, one.better)
        typer.echo(json.dumps(asdict(one), ensure_ascii=False) if as_json else "\t".join(map(_one_line, row)))


def _one_line(text: str) -> str:
    return " ".join(text.split())
