"""The forms of the recurrent model with attention: its keys, which of them go together, and its presets.

The preset "notes" is the notes' own model (file 003, equations 4 to 8): tanh cells without biases, an encoder that
reads from left to right, s(0) = h(S), attend = "before", readout = "state". Two things are added to the equations: v,
without which the score is not one number, and the factor √E on embeddings, which only changes what a fresh table starts
from. The notes write [c, y] where the code has [y; c]: the same up to the order of W's columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.config import key, require
from regard.layers.recurrent import Cell
from regard.layers.scores import Score
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, check_ties


@dataclass(frozen=True)
class RnnAttentionConfig:
    cell: Cell = key("lstm", "recurrent cell: lstm, gru or tanh")
    width: int = key(384, "units of a decoder layer")
    encoder_width: int = key(192, "units of each of the encoder's directions")
    encoder_layers: int = key(2, "encoder layers")
    bidirectional: bool = key(True, "the encoder reads both ways, not from left to right alone")
    start: Literal["bridge", "end"] = key(
        "bridge", "the decoder's first state: a layer over the encoder's last states, or these states themselves"
    )
    decoder_layers: int = key(2, "decoder layers")
    embedding: int = key(384, "numbers per token read")
    score: Score = key("additive", "how a decoder state is compared with a source word")
    alignment: int = key(384, "units of the additive score")
    attend: Literal["before", "after"] = key(
        "after", "attend before the cell's step (Bahdanau; slow), or after it (Luong)"
    )
    input_feeding: bool = key(False, "the last attentional vector enters the next step (Luong; slow)")
    readout: Literal["attentional", "state"] = key(
        "attentional", "what the output layer reads: tanh(W[c; s]), or the state s alone (the notes)"
    )
    biases: bool = key(True, "biases in cells, score and start; the notes have none")
    coverage: bool = key(False, "the additive score depends on the weight that each word has had so far (slow)")
    dropout: float = key(0.2, "share of embeddings and layer outputs set to zero in training")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "encoder_width", "encoder_layers", "decoder_layers", "embedding", "alignment")
        check_shares(self, "dropout")
        check_ties(self.tie, self.embedding, self.width)
        require(
            self.score in ("additive", "general") or self.width == self.annotation,
            f'model.score = "{self.score}" needs model.width = {"2 × " if self.bidirectional else ""}'
            f'model.encoder_width, but they are {self.width} and {self.encoder_width}; use score = "general"',
        )
        same = (self.encoder_width, self.encoder_layers) == (self.width, self.decoder_layers)
        require(
            self.start == "bridge" or (same and not self.bidirectional),
            'model.start = "end" needs model.bidirectional = false and an encoder of the decoder\'s width and '
            'layers; use start = "bridge"',
        )
        require(
            self.readout == "attentional" or self.attend == "before",
            'model.readout = "state" needs model.attend = "before", but it is "after", where the context would reach '
            "nothing",
        )
        require(
            not self.input_feeding or self.attend == "after",
            'model.input_feeding = true needs model.attend = "after", but it is "before", which feeds the context',
        )
        require(
            not self.coverage or self.score == "additive",
            f'model.coverage = true needs model.score = "additive", but it is "{self.score}"',
        )

    @property
    def annotation(self) -> int:
        """K: numbers of h(i), of all directions."""
        return self.encoder_width * (2 if self.bidirectional else 1)


# bahdanau: RNNsearch-50 (appendix A.2.3 and B: 1000 units each way, embeddings of 620, alignment of 1000), but for its
# readout (here ŝ of 1000, there a maxout of 500) and its start (here from both ends of the source, there from one).
# notes: equations 4 to 8 of the notes; the sizes are ours, as are those of tiny and small.
PRESETS = {
    "tiny": RnnAttentionConfig(
        width=160, encoder_width=80, encoder_layers=1, decoder_layers=1, embedding=160, alignment=160
    ),
    "small": RnnAttentionConfig(
        width=384, encoder_width=192, encoder_layers=2, decoder_layers=2, embedding=384, alignment=384
    ),
    "bahdanau": RnnAttentionConfig(
        cell="gru",
        width=1000,
        encoder_width=1000,
        encoder_layers=1,
        decoder_layers=1,
        embedding=620,
        alignment=1000,
        attend="before",
        dropout=0.0,
        tie="none",
    ),
    "notes": RnnAttentionConfig(
        cell="tanh",
        width=384,
        encoder_width=384,
        encoder_layers=1,
        bidirectional=False,
        start="end",
        decoder_layers=1,
        embedding=384,
        alignment=384,
        attend="before",
        readout="state",
        biases=False,
        dropout=0.0,
        tie="none",
    ),
}
