"""A run put together: all its parts in one place, made by `run.py` and read by the loop and what it calls."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from regard.bundle.bundle import Bundle
from regard.data.batching import Batches
from regard.data.rows import RowBatches
from regard.recipe.recipe import Recipe
from regard.training.average import Average
from regard.training.checkpoint import Progress
from regard.training.distributed import World
from regard.training.evaluate import HeldOut
from regard.training.folder import RunFolder
from regard.training.guided import Guide


@dataclass
class Job:
    """All the parts of a run, put together by `run.py`."""

    recipe: Recipe
    folder: RunFolder
    bundle: Bundle
    batches: Batches | RowBatches
    dev: HeldOut | None
    optimizer: torch.optim.Optimizer
    average: Average
    progress: Progress
    data: str  # fingerprint
    autocast: torch.autocast
    world: World  # the processes that train together
    objective: nn.Module  # the model as they train it
    guide: Guide | None = None  # the aligner's links, where a head learns them
