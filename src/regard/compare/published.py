"""What was published for WMT 2014: the notes' second table (Vaswani et al. 2017, table 2).

BLEU is as the papers report it, tokenised and without a signature, on newstest2014; the costs are the authors' own
estimates, training time × number of GPUs × what such a GPU sustains. Nothing here was measured by us.
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    system: str
    en_de: float | None  # BLEU
    en_fr: float | None
    en_de_flops: float | None
    en_fr_flops: float | None


PUBLISHED = (
    Published("ByteNet", 23.75, None, None, None),
    Published("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    Published("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    Published("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    Published("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    Published("Deep-Att + PosUnk, ensemble", None, 40.4, None, 8.0e20),
    Published("GNMT + RL, ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    Published("ConvS2S, ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    Published("Transformer (base)", 27.3, 38.1, 3.3e18, 3.3e18),
    Published("Transformer (big)", 28.4, 41.8, 2.3e19, 2.3e19),
)
