"""A Transformer for search on a GPU: low-precision weights, fixed shapes, and a step that is recorded as a CUDA graph.

    B sentences   b beams   N = B·b rows   S source   R room, in tokens   L layers   D width   V vocabulary

Every product has the same shape, however many sentences there are: the encoder reads `ENCODED` tokens at a time and a
step has `rows` rows, the unused ones empty. A library may choose another kernel for another shape, which rounds
differently; with one shape a translation does not depend on the other sentences of its batch.

A recorded step reads and writes fixed memory, an `Arena` (`recorded_arena.py`). It is for fewer sentences if little
memory is free when it is allocated; the number of rows of a product does not change, so results stay the same. Weights
are copied: a model that is trained further needs a new copy. Mixtures of experts cannot be recorded, since their loads
must be known on the host.

`for_search` chooses the fastest model for the device. On a CPU that is a copy with column-major matrices: with few rows
their products are then up to 1.3 times as fast (docs/log.md). A copy is made once for a model, and again when its
weights or its hooks have changed, such as those that ablate a head (`explain/ablation.py`): a copy has the hooks of its
model at that time. A recorded copy has none, so on a GPU a model with hooks is used for search itself.
"""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.device import free_memory
from regard.layers.kernels import HAS_TRITON
from regard.models.base import Memory, Model, ModelWrapper, State, Step
from regard.models.recorded_arena import Arena, Shape, next_power_of_two
from regard.models.recorded_layers import RecordedEncoder
from regard.models.transformer import Transformer
from regard.models.transformer_cache import JoinedMatrix

Precision = Literal["auto", "float32", "bfloat16"]  # on a GPU; a CPU computes in float32
M = TypeVar("M", bound=nn.Module)
ROWS = 2560  # rows of a step: 512 sentences with a beam of 5
ENCODED = 16384  # tokens that the encoder reads at a time
SHARE = 4  # an arena takes at most 1/SHARE of the free memory: other processes may be allocating too
KEPT = 6  # maximum idle arenas of a thread that are kept for the next search
FEW = 64  # sentences up to which a search gets a small arena


class RecordedTransformer(ModelWrapper):
    """A Transformer that replays recorded steps for states with `room`; all other steps are the model's own."""

    model: Transformer
    fixed_logits = True

    def __init__(self, model: Transformer, dtype: torch.dtype = torch.bfloat16, rows: int = ROWS) -> None:
        super().__init__(copy.deepcopy(model).to(dtype).eval().requires_grad_(False))
        self.search_rows = rows
        layers = self.model.decoder_layers()
        self.source_matrix = JoinedMatrix.of(*(m for layer in layers for m in (layer.cross.key, layer.cross.value)))
        self._token = 2 * len(layers) * model.config.width * dtype.itemsize  # bytes of a token's keys and values
        self._of_thread = threading.local()

    @property
    def own(self) -> ThreadMemory:
        """What is recorded by this thread."""
        if not hasattr(self._of_thread, "memory"):
            self._of_thread.memory = ThreadMemory()
        found: ThreadMemory = self._of_thread.memory
        return found

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        sentences, longest = src.shape
        length = next_power_of_two(longest, 16)
        some = max(1, ENCODED // length)  # sentences of a pass
        states = self.source_matrix.weight.new_empty(sentences, longest, self.model.config.width)
        encoders = self.own.encoders
        if length not in encoders:
            encoders[length] = RecordedEncoder(self.model, some, length)
        for into, tokens, real in zip(states.split(some), src.split(some), mask.split(some), strict=True):
            into.copy_(encoders[length](tokens, real))
        return Memory(states, mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> State:
        if room is None or trace:
            return self.model.start(memory, trace, beams=beams, room=room)
        sentences, longest, width = memory.states.shape
        flat = memory.states.reshape(-1, width)
        flat = F.pad(flat, (0, 0, 0, -len(flat) % ENCODED))
        seen = torch.cat([self.source_matrix(some) for some in flat.split(ENCODED)])  # (…, 2LD)
        seen = seen[: sentences * longest].view(sentences, longest, -1, width)  # (B, S, 2L, D)
        return SlotState(self, beams, room, seen, memory.mask.sum(dim=1))

    def step(self, token: Tensor, state: State) -> Step:
        if not isinstance(state, SlotState):
            return self.model.step(token, state)
        fixed = state.arena().step(token)
        return Step(fixed.logits[: len(token)], state, None, fixed=fixed)

    def most_sentences(self, beams: int, source: int, room: int) -> int:
        return self._shape(beams, source, room).sentences

    # ── arenas ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _shape(self, beams: int, source: int, room: int) -> Shape:
        """Returns the shape of an arena for as many sentences as the rows and a share of the free memory allow, at
        least one."""
        shape = Shape(
            beams, max(1, self.search_rows // beams), next_power_of_two(source, 32), next_power_of_two(room, 64)
        )
        free = free_memory(self.device)
        if free is None:
            return shape
        free += sum(arena.shape.bytes(self._token) for arena in self.own.idle)  # they can be freed
        return shape.within(free // SHARE, self._token)

    def acquire(self, beams: int, sentences: int, source: int, room: int) -> Arena:
        """Returns an idle or a new arena for this many sentences; the caller must put it back among the idle ones."""
        shape, idle = self._shape(beams, source, room), self.own.idle
        most = min(FEW, shape.sentences) if sentences <= FEW else shape.sentences
        shape = shape._replace(sentences=max(sentences, most))
        for i in reversed(range(len(idle))):
            if idle[i].shape.holds(shape):
                return idle.pop(i)
        while idle and (len(idle) >= KEPT or self._memory_is_short(shape)):
            del idle[0]
        return Arena(self.model, shape, self.search_rows)

    def _memory_is_short(self, shape: Shape) -> bool:
        """Whether a new arena would take more than half of the free memory."""
        free = free_memory(self.device)
        return free is not None and shape.bytes(self._token) > free // 2


@dataclass
class ThreadMemory:
    """What one thread has recorded. No other one runs it: its uses are in the order of the thread's CUDA stream, and
    all graphs that a thread records share one workspace of cuBLAS."""

    idle: list[Arena] = field(default_factory=list)  # the most recently used one last
    encoders: dict[int, RecordedEncoder] = field(default_factory=dict)  # by length


class SlotState:
    """The state of sentences that wait for an arena (`seen`), or that are in one."""

    def __init__(self, model: RecordedTransformer, beams: int, room: int, seen: Tensor, source_length: Tensor) -> None:
        self.model, self.beams, self.room = model, beams, room
        self.seen: Tensor | None = seen  # (B, S, 2L, D) keys and values of the source, until there is an arena
        self.source_length = source_length  # (B,)
        self._arena: Arena | None = None
        self._idle = model.own.idle  # where the arena goes at the end, in whichever thread that is noticed

    def arena(self) -> Arena:
        if self._arena is None:
            assert self.seen is not None
            self._arena = self.model.acquire(self.beams, len(self.seen), self.seen.shape[1], self.room)
            self._arena.clear()
            self._arena.add(self.seen, self.source_length)
            self.seen = None
        return self._arena

    def select(self, rows: Tensor) -> SlotState:
        if self._arena is not None and self.beams > 1:
            self._arena.select(rows)
        return self

    def keep(self, sentences: Tensor) -> SlotState:
        if self._arena is not None:
            self._arena.keep(sentences)
        else:
            assert self.seen is not None
            self.seen, self.source_length = self.seen[sentences], self.source_length[sentences]
        return self

    def join(self, other: Any) -> SlotState:
        assert isinstance(other, SlotState)
        assert other.seen is not None, "sentences join before their first step"
        arena = self.arena()
        count, source = arena.live_sentences + len(other.seen), other.seen.shape[1]
        wanted = Shape(self.beams, count, source, max(self.room, other.room))
        self.room = wanted.room
        if not arena.shape.holds(wanted):
            larger = self.model.acquire(
                self.beams, count, max(source, arena.shape.source), max(self.room, arena.shape.room)
            )
            larger.clear()
            larger.copy_from(arena)
            self._idle.append(arena)
            arena = self._arena = larger
        arena.add(other.seen, other.source_length)
        return self

    def __del__(self) -> None:
        if getattr(self, "_arena", None) is not None:
            assert self._arena is not None
            self._idle.append(self._arena)


# ── the fastest model for a device ────────────────────────────────────────────────────────────────────────────────────


_copies: WeakKeyDictionary[Model, tuple[tuple[object, ...], Model]] = WeakKeyDictionary()  # with a key of its origin
_copying = threading.Lock()


def for_search(model: Model, precision: Precision = "auto", rows: int | None = None) -> Model:
    """Returns the model to use for search in place of `model`, on a GPU with `rows` hypotheses at a time. Both give the
    same translations up to rounding."""
    if not isinstance(model, Transformer):
        return model
    weights = tuple((p.data_ptr(), p._version) for p in model.parameters())
    made_from = (precision, rows, weights, hooks_of(model), model.trainings)
    with _copying:
        known, found = _copies.get(model, (None, model))
        if known != made_from:
            found = _copy_for_search(model, precision, rows)
            if found is not model:  # otherwise the entry would keep the model alive
                _copies[model] = made_from, found
    return found


def hooks_of(model: nn.Module) -> tuple[tuple[int, int], ...]:
    """Returns (module index, hook id) of all hooks of a model. A copy keeps its hooks alive, so no other hook has their
    ids."""
    return tuple(
        (place, id(hook))
        for place, module in enumerate(model.modules())
        for hook in (*module._forward_pre_hooks.values(), *module._forward_hooks.values())
    )


def _copy_for_search(model: Transformer, precision: Precision, rows: int | None) -> Model:
    if model.device.type == "cpu":
        return column_by_column(model)
    if not HAS_TRITON or model.device.type != "cuda" or model.config.experts or hooks_of(model):
        return model
    narrow = precision == "bfloat16" or (precision == "auto" and torch.cuda.is_bf16_supported(False))
    copied = RecordedTransformer(model, torch.bfloat16 if narrow else torch.float32, rows or ROWS)
    torch.cuda.current_stream(model.device).synchronize()  # other streams will read the weights
    return copied


def column_by_column(model: M) -> M:
    """Returns a copy whose linear maps have column-major matrices with the same values. A matrix that is also an
    embedding is stored twice, since words are looked up row by row."""
    maps = [module for module in model.modules() if type(module) is nn.Linear]
    columns = {id(map.weight): nn.Parameter(map.weight.detach().T.contiguous().T, False) for map in maps}
    looked_up = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    # A copy takes the matrices of `memo` in place of copying them first as they are.
    memo: dict[int, Any] = {key: matrix for key, matrix in columns.items() if key not in looked_up}
    twin = copy.deepcopy(model, memo).eval().requires_grad_(False)
    for module, own in zip((m for m in twin.modules() if type(m) is nn.Linear), maps, strict=True):
        module.weight = columns[id(own.weight)]
    return twin
