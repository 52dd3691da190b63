"""Documentation: doctests of the package and of pages, commands, and the paths and links of all pages."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PACKAGE = Path(regard.__file__).parent
PAGES = ["notes.md", "python.md"]
CHECKED_PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "recipes" / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if page.name != "log.md"),
]
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
REPOSITORY_FOLDERS = {"src", "tests", "benchmarks", "docs", "tools", "recipes", "deploy"}
PACKAGE_FOLDERS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
MODULES = sorted(m.name for m in pkgutil.walk_packages(regard.__path__, "regard.") if not m.name.endswith("__main__"))


def has_examples(name: str) -> bool:
    found = importlib.util.find_spec(name)
    return found is not None and ">>> " in Path(str(found.origin)).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in ("regard", *MODULES) if has_examples(name)])
def test_examples_of_a_module(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_can_be_imported() -> None:
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page: str) -> None:
    path = DOCS / page
    result = doctest.testfile(str(path), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def known_commands() -> set[str]:
    from regard.cli.app import program

    commands = {
        (command.name or command.callback.__name__) for command in program().registered_commands if command.callback
    }
    return commands | {group.name for group in program().registered_groups if group.name}


def named_commands(page: Path) -> set[str]:
    """The commands that a page shows, in code blocks or in backticks."""
    text = page.read_text(encoding="utf-8")
    return set(re.findall(r"^regard ([a-z]+)", "".join(FENCE.findall(text)), re.MULTILINE)) | set(
        re.findall(r"`regard ([a-z]+)", FENCE.sub("", text))
    )


def test_commands_of_the_readme_exist() -> None:
    assert named_commands(README) <= known_commands()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_page_of_commands_has_every_command() -> None:
    assert named_commands(DOCS / "commands.md") == known_commands()


def test_the_index_has_every_page() -> None:
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "README.md").read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(path.name for path in DOCS.glob("*.md") if path.name != "README.md")


# ------------------------------------------------------------------------------------------------ paths and links


def heading_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if link.startswith(("http://", "https://")):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in heading_anchors(target)):
            yield link


def missing_paths(page: Path) -> Iterator[str]:
    """Paths in backticks, and quoted source files, that look like files of this repository and do not exist.

    A path begins with a folder of the repository (`tests/support.py`) or of the package (`text/bpe.py`), or it is a
    Python file. Names in capitals are placeholders (`metrics/NAME.py`).
    """
    text = page.read_text(encoding="utf-8")
    quoted = re.findall(r"^<!-- code: (\S+) -->$", text, re.MULTILINE)
    for path in [*quoted, *re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", FENCE.sub("", text))]:
        folder = path.split("/")[0]
        base = ROOT if folder in REPOSITORY_FOLDERS else PACKAGE
        ours = base == ROOT or folder in PACKAGE_FOLDERS or path.endswith(".py")
        if ours and not re.search(r"[A-Z]{4}", path.replace("README", "")) and not (base / path).exists():
            yield path


def test_paths_and_links_of_the_documents_exist() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in CHECKED_PAGES
        for path in sorted({*broken_links(page), *missing_paths(page)})
    ]
    assert not wrong, f"{len(wrong)} paths or links do not exist:\n" + "\n".join(wrong)


def test_pages_named_in_the_source_exist() -> None:
    folders = [PACKAGE, *(ROOT / name for name in ("tests", "benchmarks", "tools", "recipes"))]
    files = [path for folder in folders for suffix in (".py", ".toml", ".json") for path in folder.rglob(f"*{suffix}")]
    named = {(path, page) for path in files for page in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8"))}
    wrong = sorted(f"{path.relative_to(ROOT)}: {page}" for path, page in named if not (ROOT / page).exists())
    assert not wrong, "these pages do not exist:\n" + "\n".join(wrong)


def test_a_missing_path_and_a_missing_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A b\n`text/gone.py` `text/bpe.py` `and/or` [x](#a-b) [y](#c) [z](gone.md)\n", encoding="utf-8")
    assert list(missing_paths(page)) == ["text/gone.py"]
    assert list(broken_links(page)) == ["#c", "gone.md"]
