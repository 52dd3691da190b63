"""Measure the package: its size by folder, and what makes it hard to read or change.

    python tools/house.py              the table for this tree
    python tools/house.py --root DIR   for another checkout
    python tools/house.py --list       with what each figure counts
    python tools/house.py --path       files and functions that one sentence passes, counted in a running process
    python tools/house.py --check      exit 1 where a limit is exceeded (`make check` calls this)

Code lines exclude blank lines, comments and docstrings. A small file has fewer than 40 lines that are not blank. A
duplicated block is six or more consecutive code lines that occur again elsewhere in `src`, letter by letter, imports
aside. Imports against the layers are counted by `lint-imports`, which also names them.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LONG_FUNCTION, MANY_PARAMETERS, BLOCK, SMALL_FILE = 60, 7, 6, 40
LIMITS = {
    "small files": 40,
    "import cycles": 0,
    "class names that occur twice": 0,
    "flags that clash": 0,
}
TRACE = Path(__file__).with_name("trace_request.py")  # counts what one sentence passes


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Of the whole file; parsing 900 files takes seconds, and several measures need them."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


@cache
def code_lines(path: Path) -> list[tuple[int, str]]:
    """(line number, code) without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    skipped = set()
    for node in nodes(path):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                skipped |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: dict[int, str] = {}
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in layout:
            for number in range(token.start[0], token.end[0] + 1):
                if number not in skipped and lines[number - 1].strip():
                    code[number] = lines[number - 1].strip()
    return sorted(code.items())


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def import_cycles(sources: list[Path], package: Path) -> list[list[str]]:
    """Groups of modules that import each other, imports for type checking included."""
    names = {".".join(("regard", *path.relative_to(package).with_suffix("").parts)): path for path in sources}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    edges: dict[str, set[str]] = {
        name: {m for m in imported_modules(path, names) if m != name} for name, path in names.items()
    }
    return [group for group in components(edges) if len(group) > 1]


def imported_modules(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (
                    name for name in (whole, node.module) if name in known and known[name].name != "__init__.py"
                )
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def components(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group: list[str] = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            found.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def duplicated_blocks(sources: list[Path]) -> list[tuple[str, str, int]]:
    """(place, place, lines) of every longest run of equal code lines."""
    windows: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    code = {
        path: [(n, line) for n, line in code_lines(path) if not line.startswith(("from ", "import "))]
        for path in sources
    }
    for path, lines in code.items():
        for i in range(len(lines) - BLOCK + 1):
            block = tuple(line for _, line in lines[i : i + BLOCK])
            if sum(len(line) > 2 for line in block) >= BLOCK - 1:  # brackets alone are not a block
                windows[block].append((path, i))
    found: dict[tuple[Path, Path, int], list[int]] = defaultdict(list)
    for places in windows.values():
        for a in range(len(places)):
            for b in range(a + 1, len(places)):
                (one, i), (other, j) = places[a], places[b]
                if one != other or abs(i - j) >= BLOCK:
                    found[one, other, j - i].append(i)
    blocks = []
    for (one, other, shift), starts in found.items():
        runs = sorted(starts)
        first = previous = runs[0]
        for start in [*runs[1:], -1]:
            if start != previous + 1:
                here, there = code[one][first][0], code[other][first + shift][0]
                blocks.append((f"{one}:{here}", f"{other}:{there}", previous - first + BLOCK))
                first = start
            previous = start
    return sorted(blocks, key=lambda block: -block[2])


def clashing_flags(root: Path) -> list[str]:
    """What `tools/flags.py` of that tree says."""
    script = root / "tools" / "flags.py"
    if not script.exists():
        return []
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    return lines[max(i for i, line in enumerate(lines) if line.endswith("flags clash")) + 1 :]


def upward_imports(root: Path) -> int | None:
    """Imports against the layers, as import-linter counts them; None where it is not installed."""
    tool = Path(sys.executable).parent / "lint-imports"
    if not tool.exists():
        return None
    done = subprocess.run([tool, "--no-logo"], cwd=root, capture_output=True, text=True, check=False)
    return sum(line.startswith("- regard.") for line in done.stdout.splitlines())


def is_small(path: Path) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    return path.name != "__init__.py" and sum(bool(line.strip()) for line in lines) < SMALL_FILE


def by_folder(root: Path) -> dict[str, tuple[int, int, int]]:
    """Code lines, files and small files of each folder of the package, largest first."""
    package = root / "src" / "regard"
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        found[parts[0] if len(parts) > 1 else "(top level)"].append(path)
    sizes = {
        name: (sum(len(code_lines(path)) for path in paths), len(paths), sum(map(is_small, paths)))
        for name, paths in found.items()
    }
    return dict(sorted(sizes.items(), key=lambda item: -item[1][0]))


def measure(root: Path) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The figures by name, and what each counts where that is a list worth reading."""
    package = root / "src" / "regard"
    sources, tests = sorted(package.rglob("*.py")), sorted((root / "tests").rglob("*.py"))
    sizes = {path: len(code_lines(path)) for path in (*sources, *tests)}
    everything = [(path, function) for path in sources for function in functions(path)]
    classes = Counter(node.name for path in sources for node in nodes(path) if isinstance(node, ast.ClassDef))
    long = [(p, f) for p, f in everything if (f.end_lineno or f.lineno) - f.lineno + 1 > LONG_FUNCTION]
    many = [
        (p, f) for p, f in everything if parameters(f) > MANY_PARAMETERS and "cli" not in p.relative_to(package).parts
    ]
    listed = {
        "small files": [str(path) for path in sources if is_small(path)],
        "import cycles": [" ↔ ".join(group) for group in import_cycles(sources, package)],
        "duplicated blocks of six lines or more": [f"{a} = {b} ({n} lines)" for a, b, n in duplicated_blocks(sources)],
        "functions over 60 lines": [f"{p}:{f.lineno} {f.name} ({f.end_lineno - f.lineno + 1} lines)" for p, f in long],
        "functions with more than seven parameters, outside the command line": [
            f"{p}:{f.lineno} {f.name}" for p, f in many
        ],
        "class names that occur twice": [name for name, count in sorted(classes.items()) if count > 1],
        "flags that clash": clashing_flags(root),
    }
    figures = {
        "files in src": len(sources),
        "lines in src": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources),
        "code lines in src": sum(sizes[path] for path in sources),
        "code lines of the tests": sum(sizes[path] for path in tests),
        **{name: len(items) for name, items in listed.items()},
    }
    return figures, listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the checkout to measure")
    parser.add_argument("--check", action="store_true", help="exit 1 where a limit is exceeded")
    parser.add_argument("--list", action="store_true", help="name what is counted")
    parser.add_argument("--path", action="store_true", help="count what one sentence passes, in a running process")
    given = parser.parse_args()
    if given.path:
        environment = {**os.environ, "PYTHONPATH": str((given.root / "src").resolve())}
        sys.exit(subprocess.run([sys.executable, TRACE], env=environment, check=False).returncode)
    if not given.check:
        print(f"{'folder':<14}{'code lines':>11}{'files':>7}{'small':>7}")
        for name, (lines, files, small) in by_folder(given.root).items():
            print(f"{name:<14}{lines:>11,}{files:>7}{small:>7}")
        print()
    figures, listed = measure(given.root)
    upward = upward_imports(given.root)
    figures |= {} if upward is None else {"imports against the layers": upward}
    width = max(map(len, figures))
    for name, figure in figures.items():
        print(f"{name:<{width}}  {figure:>7,}")
        for item in listed.get(name, ()) if given.list or (given.check and figure > LIMITS.get(name, figure)) else ():
            print(f"    {item}".replace(f"{given.root}/", ""))
    over = [name for name, limit in LIMITS.items() if figures[name] > limit]
    if given.check and over:
        sys.exit(f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
