"""Emoji, emoticons and signs that no vocabulary holds, as patterns of one scan (`protect.py`).

An emoji is a whole sequence: joined ones (family), skin tones, flags, keycaps, text or picture. A run of emoji without
a space is one span.
"""

from __future__ import annotations

_PICTURE = (
    r"(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3"
    r"|\p{Extended_Pictographic}[\uFE0E\uFE0F\u20E3\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]*+"
    r"(?:\u200D(?:\p{Extended_Pictographic}|[\u2640\u2642])[\uFE0E\uFE0F\U0001F3FB-\U0001F3FF]*+)*+)"
)
_FACE = (
    r"(?:>?[:;=8][-'^o]?(?:[()\[\]DPpOo3*|\\/]|\$)|[xX]D|<3+|</3|\^_?\^|-_-|[oO]_[oO]|T_T|[(;]-?[:;]"
    r"|¯\\_\(ツ\)_/¯|\\o/|[Dd]:)"
)
PICTURES = rf"{_PICTURE}++"
PICTURE_STARTS = r"[0-9#*\p{Extended_Pictographic}\p{Regional_Indicator}]"
FACE = (
    rf"(?<![^\s\p{{P}}\p{{So}}]|[:\[(<\\/]){_FACE}(?![\w/\\:()])"  # :) ;-) <3
    r"|(?<![\w:]):(?=[^:\s]{0,40}[a-z])[a-z0-9_+-]{2,40}+:(?![\w:])"  # :smile:
)
FACE_STARTS = r"[:;=8>xX<^oOT(\\¯Dd-]"

# Private use (a model's own marks among them), control characters, marks of direction, halves of characters
_UNSEEN = r"[\p{Co}\p{Cs}\u200E\u200F\u202A-\u202E\u2066-\u2069[\p{Cc}--\s]]"
_SIGNS = r"[[\p{So}\p{Sm}\xA9\xAE]--[\x00-\xA8\xAA-\xAD\xAF-\xB1×÷\uFFFC]]"  # → ★ ≤ ©, not + < = ° ±
_ABOVE = r"[[\U00010000-\U0010FFFF]--\p{Extended_Pictographic}--\p{Regional_Indicator}--\p{Co}]"  # 𝕏
SYMBOL = rf"{_UNSEEN}++|{_SIGNS}++|{_ABOVE}++"
SYMBOL_STARTS = rf"{_UNSEEN}|{_SIGNS}|{_ABOVE}"
POWER = r"(?<!\p{L})\p{Latin}{1,3}+[²³](?![\p{L}\p{N}])"  # m²
OBJECT = r"\uFFFC"
