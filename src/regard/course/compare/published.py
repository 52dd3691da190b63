"""Published scores for WMT 2014: table 2 of Vaswani et al. 2017, "Attention Is All You Need", as the notes print it.

BLEU is as the papers report it, tokenised and without a signature, on newstest2014; the costs are the authors' own
estimates: training time × number of GPUs × sustained speed of the GPU. The Transformers have one cost for both
languages: the paper prints it across both columns, the notes in the first. Nothing here is measured by regard.
"""

from __future__ import annotations

from typing import NamedTuple


class PublishedSystem(NamedTuple):
    system: str
    here: str  # its name in a comparison
    en_de: float | None  # BLEU
    en_fr: float | None
    en_de_flops: float | None
    en_fr_flops: float | None


PUBLISHED = (
    PublishedSystem("ByteNet", "bytenet", 23.75, None, None, None),
    PublishedSystem("Deep-Att + PosUnk", "deep-att+posunk", None, 39.2, None, 1.0e20),
    PublishedSystem("GNMT + RL", "gnmt+rl", 24.6, 39.92, 2.3e19, 1.4e20),
    PublishedSystem("ConvS2S", "convs2s", 25.16, 40.46, 9.6e18, 1.5e20),
    PublishedSystem("MoE", "moe", 26.03, 40.56, 2.0e19, 1.2e20),
    PublishedSystem("Deep-Att + PosUnk Ensemble", "deep-att+posunk+ensemble", None, 40.4, None, 8.0e20),
    PublishedSystem("GNMT + RL Ensemble", "gnmt+rl+ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    PublishedSystem("ConvS2S Ensemble", "convs2s+ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    PublishedSystem("Transformer (base model)", "transformer", 27.3, 38.1, 3.3e18, 3.3e18),
    PublishedSystem("Transformer (big)", "transformer:big", 28.4, 41.8, 2.3e19, 2.3e19),
)
