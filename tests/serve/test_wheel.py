"""The package as a user gets it: a wheel, installed with what it needs into an empty environment, serves the page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.serve.page.build_page import build_page
from regard.serve.page.page_files import DOCUMENTS, HASHED, TYPES
from server_process import running
from support import needs_bundler

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200), needs_bundler]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "regard" / "serve" / "page"
BUILD = "import sys; sys.path.insert(0, 'tools'); import build_backend; build_backend.build_wheel(sys.argv[1])"


def call(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel and its dependencies and nothing else."""
    home = tmp_path_factory.mktemp("wheel")
    tree, venv = home / "tree", home / "venv"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (tree / "tools").mkdir()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "NOTICE", "tools/build_backend.py"):
        shutil.copy(ROOT / name, tree / name)
    call(sys.executable, "-c", BUILD, home, cwd=tree)
    (wheel,) = home.glob("regard-*.whl")
    call(sys.executable, "-m", "venv", venv, cwd=home)
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    call(*pip, "--constraint", ROOT / "constraints.txt", wheel, cwd=home)
    shutil.rmtree(tree)
    return venv


def test_the_installed_package_serves_the_page(installed: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "REGARD_CACHE": str(tmp_path / "cache"), "REGARD_ENGINE": "auto"}
    where = call(installed / "bin" / "python", "-I", "-c", "import regard; print(regard.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(installed)
    assert {file.suffix for file in (Path(where).parent / "serve" / "page").iterdir()} >= {*TYPES} - {".map"}  # sources
    with running(command=[installed / "bin" / "regard"], env=environment, cwd=tmp_path) as server:
        build_page(PAGE, tmp_path / "built")
        for file in (file for file in (tmp_path / "built").iterdir() if file.suffix != ".map"):
            path = {name: path for path, name in DOCUMENTS.items()}.get(file.name, f"/{file.name}")
            answer = server.ask(path)
            assert (answer.status, answer.body) == (200, file.read_text("utf-8")), path
            assert ("immutable" in answer.headers["cache-control"]) == bool(HASHED.fullmatch(file.name))
        assert server.translate().body == {"translatedText": "Le chat est noir."}
        refused = server.ask("/api/attention", {"text": "The cat is black.", "source": "en", "target": "fr"})
        assert refused.status == 501  # PyTorch is an extra
        assert "pip install 'regard[torch]'" in refused.body["error"]["message"]
        lessons = server.ask("/api/lessons")
        assert lessons.status == 200
        assert json.dumps(lessons.body).count('"title"') > 3
