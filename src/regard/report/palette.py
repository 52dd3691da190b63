"""The colours and sizes of everything that regard draws: the web page, figures and report pages.

Each colour has a value for light and one for dark pages. `serve/page/base.css` declares the same names with the same
values, and report pages get them from `declarations`; a test holds the two equal, and checks contrasts.
"""

from __future__ import annotations

PALETTE = {
    "paper": ("#faf8f3", "#15181b"),
    "surface": ("#ffffff", "#1c2024"),
    "sunken": ("#f3f0e8", "#121518"),
    "ink": ("#1b1e22", "#eceae4"),
    "quiet": ("#5b6068", "#a5abb3"),
    "line": ("#e2ddd1", "#32383e"),
    "line-strong": ("#8d8a80", "#6d757d"),
    "accent": ("#0e5f7d", "#7cc6e2"),
    "accent-soft": ("#e2eff4", "#1d3642"),
    "bar": ("#b5d8e5", "#2d627c"),
    "selected": ("#f1ede3", "#2c343b"),
    # The scale of maps runs from sunken to heat, for negative values from sunken to heat-negative.
    "heat": ("#06384f", "#7cc6e2"),
    "heat-negative": ("#572400", "#edb058"),
    "warm": ("#8f4a00", "#f0b35a"),
    "warm-soft": ("#fbedd6", "#3a2d17"),
    "bad": ("#a3241c", "#f2938b"),
    "bad-soft": ("#fae5e2", "#432422"),
    "good": ("#256045", "#84cda9"),
    "good-soft": ("#e2f1e8", "#1d3429"),
    # Text on the weak and on the strong half of the scale, and on the accent.
    "on-cold": ("#000000", "#ffffff"),
    "on-heat": ("#ffffff", "#000000"),
    "on-accent": ("#ffffff", "#0c1215"),
    # Series of charts and heads, in this order; they also differ for people who do not see all colours.
    "series-1": ("#0e5f7d", "#7cc6e2"),
    "series-2": ("#e74d33", "#ff7932"),
    "series-3": ("#099c63", "#58b56c"),
    "series-4": ("#d24fa3", "#e1a5ab"),
    "series-5": ("#8d7d0a", "#ebed4c"),
    "series-6": ("#3c69e6", "#5972ff"),
    "series-7": ("#64138c", "#c16dc2"),
    "series-8": ("#777777", "#9a9a9a"),
}
TYPE = {
    "serif": (
        "'Iowan Old Style', 'Palatino Linotype', Palatino, 'Source Serif 4', Charter, 'Noto Serif', Georgia, serif"
    ),
    "sans": (
        "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', sans-serif"
    ),
    "mono": "ui-monospace, 'SF Mono', 'Cascadia Code', 'DejaVu Sans Mono', monospace",
    "size-tiny": "0.71875rem",
    "size-small": "0.8125rem",
    "size-compact": "0.9rem",
    "size-text": "1rem",
    "size-lead": "1.1rem",
    "size-reading": "clamp(1.15rem, 0.95rem + 0.8vw, 1.4rem)",
    "size-title": "clamp(1.3rem, 1.1rem + 0.7vw, 1.6rem)",
    "size-display": "clamp(1.9rem, 1.3rem + 2.2vw, 2.9rem)",
}
REM = 16.0  # pixels


def pixels(size: str) -> float:
    """
    >>> pixels("size-small")
    13.0
    """
    return float(TYPE[size].removesuffix("rem")) * REM


def declarations() -> str:
    """The CSS custom properties of a page."""
    colours = {name: f"light-dark({light}, {dark})" for name, (light, dark) in PALETTE.items()}
    return "\n".join(f"  --{name}: {value};" for name, value in (colours | TYPE).items())
