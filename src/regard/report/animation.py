"""Pictures that build up: CSS in the SVG file, without a script.

    Drawing(…, frames=(0, 1, 1, 2))      the first item is always there, the next two appear in frame 1, the last in 2
    frames −1, −2, …                     only there during that frame: marks of what is new

An animation runs once. It does not run on paper, in PNG and PDF, or for readers who ask for less motion
(`prefers-reduced-motion`): then all is there that is there at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

SECONDS = 2.0  # of a frame
FADE = 0.4  # seconds in which a frame appears


def grouped(written: Sequence[str], frames: Sequence[int]) -> list[str]:
    """The items as written, those of one frame in a group."""
    found = []
    for frame, some in groupby(zip(frames, written, strict=True), key=lambda pair: pair[0]):
        text = "\n".join(item for _, item in some)
        if frame > 0:
            text = f'<g class="frame-{frame}">\n{text}\n</g>'
        elif frame < 0:
            text = f'<g class="during-{-frame}" opacity="0">\n{text}\n</g>'
        found.append(text)
    return found


def animation_rules(frames: Sequence[int]) -> str:
    """CSS that shows the groups one after the other."""
    last = max(map(abs, frames), default=0)
    if not last:
        return ""
    total = last * SECONDS
    rules = []
    for frame in sorted(set(frames) - {0}):
        start = (abs(frame) - 1) * SECONDS
        name = f"{'frame' if frame > 0 else 'during'}-{abs(frame)}"
        shown = f"{_share(start + FADE, total)}"
        if frame > 0:
            steps = f"0%,{_share(start, total)}{{opacity:0}}{shown},100%{{opacity:1}}"
        else:
            fades, gone = _share(start + SECONDS - FADE, total), _share(start + SECONDS, total)
            end = gone if gone == "100%" else f"{gone},100%"
            steps = f"0%,{_share(start, total)}{{opacity:0}}{shown},{fades}{{opacity:1}}{end}{{opacity:0}}"
        rules.append(f"@keyframes {name}{{{steps}}}.{name}{{animation:{name} {total:g}s linear both}}")
    return f"@media screen and (prefers-reduced-motion:no-preference){{{''.join(rules)}}}"


def _share(seconds: float, total: float) -> str:
    """
    >>> _share(3.0, 20.0)
    '15%'
    """
    return f"{min(100.0, 100 * seconds / total):.4g}%"
