"""The options of `Translator.translate` as flags of a command, made from their definition in `translation/options.py`.

A command that takes a parameter `options` and is decorated with `takes_translate_options` gets a flag for each option;
`options` is a mapping of those that were given. Options of sampling and of minimum Bayes risk are flags of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

from regard.cli.options import flag
from regard.config import Option, options_of
from regard.errors import InputError
from regard.search.options import Mbr, Sampling
from regard.translation.options import TranslateOptions

NO_FLAG = ("precision",)


def parameter(option: Option, name: str = "", help: str = "{}") -> inspect.Parameter:
    """An option as a parameter that typer reads; None where the flag is not given."""
    kind: Any = Literal[option.choices] if option.choices else option.kind
    annotation = Annotated[kind | None, flag(option, name, help)]
    return inspect.Parameter(name or option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def translate_flags() -> list[inspect.Parameter]:
    """A flag for each option of `translate`, of sampling and of minimum Bayes risk."""
    found = [parameter(option) for name, option in options_of(TranslateOptions).items() if name not in NO_FLAG]
    found += [parameter(option, help="With --sample: {}") for option in options_of(Sampling).values()]
    samples, utility = options_of(Mbr).values()
    found += [parameter(samples._replace(default=None), "mbr", "Minimum Bayes risk: {}")]
    return [*found, parameter(utility, help="With --mbr: {}")]


def takes_translate_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a flag for each option of `translate` in place of its parameter `options`."""
    flags = translate_flags()
    names = [one.name for one in flags]
    signature = inspect.signature(command, eval_str=True)
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
    at = list(signature.parameters).index("options")

    @wraps(command)
    def run(**given: Any) -> None:
        options = {name: value for name in names if (value := given.pop(name)) is not None}
        command(**given, options=options)

    parameters[at : at + 1] = flags
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def translate_options(given: dict[str, Any], sample: bool) -> dict[str, Any]:
    """Every option of `Translator.translate` that a command can set, from the flags that were given."""
    drawn = "--sample" if sample else "--mbr" if "mbr" in given else None
    if drawn and "beam" in given:
        raise InputError(f"{drawn} draws and --beam searches; give one or the other")
    sampling = {name: given.pop(name) for name in options_of(Sampling) if name in given}
    if sampling and not drawn:
        raise InputError(f"--{next(iter(sampling)).replace('_', '-')} is for drawn translations; add --sample")
    if "utility" in given and "mbr" not in given:
        raise InputError("--utility is of minimum Bayes risk; add --mbr 32")
    if "diversity" in given and given.get("groups", 1) == 1:
        raise InputError("--diversity is of a beam in groups; add --groups 2")
    utility = given.pop("utility", "chrf")
    mbr = Mbr(given.pop("mbr"), utility) if "mbr" in given else None
    options = TranslateOptions(**given, sampling=Sampling(**sampling) if drawn else None, mbr=mbr)
    return {name: value for name, value in vars(options).items() if name not in (*NO_FLAG, "progress")}
