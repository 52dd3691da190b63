"""Maps to draw: of many scripts, long and short, some with rows that must not be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from regard.align.attention import View, WordAttention
from regard.explain.grid import Grid, grid_of

LETTERS = "abMWé.'<&\"猫が😀❤\ufe0fשלحبي\u0301กक्\u200d\x1b\u202e▁"
WORD = st.text(st.sampled_from(LETTERS), min_size=1, max_size=24)

HARD = {
    "words": ("The old woman did not cross the wide street because it was too tired .", "La vieille femme n' a pas ."),
    "japanese": ("黒い 猫 が 公園 で 静かに 眠っている 。", "The black cat sleeps quietly in the park ."),
    "arabic": ("القطة السوداء الصغيرة تنام بهدوء في الحديقة الكبيرة .", "The small black cat sleeps ."),
    "emoji": ("I ❤️ 👩‍👩‍👧 and 🍕 🇫🇷 !", "J' aime 👩‍👩‍👧 et la 🍕 !"),
    "a long word": ("The Donaudampfschifffahrtselektrizitätenhauptbetriebswerk sleeps", "Le mot dort"),
    "cyrillic": ("Широкая электрификация южных губерний даст мощный толчок подъёму .", "Щука жужжит ."),
    "sixty words": (" ".join(f"word{i}" for i in range(60)), " ".join(f"mot{i}" for i in range(62))),
    "markup": ('<script> & "quoted" \']]>', "<img src=x onerror=alert(1)> &amp;"),
}


def sample(source: Sequence[str], target: Sequence[str], broken: bool = False) -> Grid:
    """Weights near the diagonal; a row of NaN and one that sums to 1.3 on request."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(len(source) + 1, 0.3), size=len(target)).reshape(len(target), len(source) + 1)
    if broken:
        weights[0] = np.nan
        weights[1] *= 1.3
    attention = WordAttention(tuple(source), tuple(target), weights[:, :-1], weights[:, -1])
    return grid_of(attention, View(1, 2), 0.081, "Each target word and what it looks at")


def hard(name: str, broken: bool = False) -> Grid:
    source, target = HARD[name]
    return sample(source.split(), target.split(), broken)
