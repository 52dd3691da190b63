"""Scoring waits for nothing heavy: neither torch, which it never needs, nor sacreBLEU, which tests compare it with."""

from __future__ import annotations

import subprocess
import sys

MODULES = ("bleu", "chrf", "ter", "significance", "show.bleu_steps", "show.comparison")


def test_import_is_cheap():
    modules = ", ".join(f"regard.metrics.{name}" for name in MODULES)
    check = f"import {modules}, sys; assert not {{'torch', 'sacrebleu'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
