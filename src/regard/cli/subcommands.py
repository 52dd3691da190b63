"""Commands whose first word may also be a subcommand: `regard serve MODEL` and `regard serve keys`."""

from __future__ import annotations

from typing import Any, ClassVar

import typer
from typer.core import TyperCommand
from typer.main import get_group


class OuterCommand(TyperCommand):
    """A command with arguments of its own and with subcommands: those of `inner`, whose names are `subcommands`."""

    inner: ClassVar[typer.Typer]
    subcommands: ClassVar[tuple[str, ...]]

    @property
    def commands(self) -> dict[str, Any]:
        return dict(get_group(self.inner).commands)

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if not args or args[0] not in self.subcommands:
            return super().make_context(info_name, args, parent, **extra)
        outer = self.context_class(TyperCommand(self.name), info_name=info_name, parent=parent)  # for the usage line
        return self.commands[args[0]].make_context(args[0], args[1:], outer, **extra)
