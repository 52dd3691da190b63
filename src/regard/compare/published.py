"""What was published for WMT 2014: table 2 of Vaswani et al. 2017, "Attention Is All You Need", as the notes print it.

BLEU is as the papers report it, tokenised and without a signature, on newstest2014; the costs are the authors' own
estimates, training time × number of GPUs × what such a GPU sustains. The Transformers have one cost for both languages:
the paper sets it across both columns, the notes in the first. Nothing here was measured by us.
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    system: str
    here: str  # what it is called in --models
    en_de: float | None  # BLEU
    en_fr: float | None
    en_de_flops: float | None
    en_fr_flops: float | None


PUBLISHED = (
    Published("ByteNet", "bytenet", 23.75, None, None, None),
    Published("Deep-Att + PosUnk", "deep-att+posunk", None, 39.2, None, 1.0e20),
    Published("GNMT + RL", "gnmt+rl", 24.6, 39.92, 2.3e19, 1.4e20),
    Published("ConvS2S", "convs2s", 25.16, 40.46, 9.6e18, 1.5e20),
    Published("MoE", "moe", 26.03, 40.56, 2.0e19, 1.2e20),
    Published("Deep-Att + PosUnk Ensemble", "deep-att+posunk+ensemble", None, 40.4, None, 8.0e20),
    Published("GNMT + RL Ensemble", "gnmt+rl+ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    Published("ConvS2S Ensemble", "convs2s+ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    Published("Transformer (base model)", "transformer", 27.3, 38.1, 3.3e18, 3.3e18),
    Published("Transformer (big)", "transformer:big", 28.4, 41.8, 2.3e19, 2.3e19),
)
