"""The corpora of a recipe in compact form: one line for all directions of a source of text.

    {both = "DATA/ui-{pair}/train", weight = 2.0}

stands for the files train.en and train.fr of DATA/ui-en-fr, train.en and train.de of DATA/ui-en-de, and so on, each in
both directions with the tag of the language that is written. {pair} becomes en-fr, {other} fr; without either, the
files of all languages have the same stem. Further keys:

    from_english, into_english   in place of `both`: one direction alone
    register = "formal"          the tag is that of the register, <fr-formal>; only from English
    weight = {fr = 2.0, en = 1.0}   by the language that is written; those not named are left out
    rough                        as in [[data.corpus]]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LANGUAGES = ("fr", "de", "es")
DIRECTIONS = {"both": ("from", "into"), "from_english": ("from",), "into_english": ("into",)}


def expand(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the corpora as [[data.corpus]] has them, without those whose files do not exist.

    >>> expand([{"src": "a.en", "tgt": "a.fr"}])
    []
    """
    corpora = [corpus for entry in entries for corpus in _expand(entry)]
    return [corpus for corpus in corpora if Path(corpus["src"]).is_file() and Path(corpus["tgt"]).is_file()]


def only_backward(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the entries, of a model's own translations only those that write people's sentences (back-translation).

    >>> only_backward([{"both": "OUT/translated/wiki.{other}-en"}, {"both": "DATA/ui-{pair}/train"}])
    [{'from_english': 'OUT/translated/wiki.{other}-en'}, {'both': 'DATA/ui-{pair}/train'}]
    """
    found = []
    for entry in entries:
        form = next((key for key in DIRECTIONS if key in entry), None)
        stem = entry[form] if form else ""
        if "/translated/" not in stem:
            found.append(dict(entry))
        elif form in ("both", backward := "from_english" if stem.endswith("{other}-en") else "into_english"):
            found.append({backward: stem} | {key: value for key, value in entry.items() if key != form})
    return found


def _expand(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    form = next((key for key in DIRECTIONS if key in entry), None)
    if form is None:
        yield dict(entry)
        return
    rest = {key: value for key, value in entry.items() if key not in (form, "weight", "register")}
    suffix = f"-{entry['register']}" if "register" in entry else ""
    for other in LANGUAGES:
        stem = entry[form].format(pair=f"en-{other}", other=other)
        for direction in DIRECTIONS[form]:
            source, target = ("en", other) if direction == "from" else (other, "en")
            weight = entry.get("weight", 1.0)
            weight = weight.get(target) if isinstance(weight, Mapping) else weight
            if weight is not None and not (suffix and target == "en"):
                files = {"src": f"{stem}.{source}", "tgt": f"{stem}.{target}"}
                yield {**files, "tag": f"<{target}{suffix}>", "weight": weight, **rest}
