"""The tensor files of a bundle, and its model: a file is compared with the model before memory is allocated.

    config.json → model on the meta device (shapes, no memory) ⇄ header of model.safetensors (shapes) → checksum → load

A file's header is small and is read first. While the model is built for comparison, its parameters are counted: a
configuration with far more layers than the file has tensors for is refused before they are built.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from regard.bundle import folder as places
from regard.bundle.card import Card
from regard.bundle.folder import CARD, CONFIG, Storage, one_line, verify
from regard.bundle.weights import SCALE, from_storage, is_scale, to_storage
from regard.config import build
from regard.device import make_forks_safe
from regard.errors import BundleError, RegardError
from regard.files import write_atomically
from regard.layers.lora import merged, updated
from regard.models.base import Model, unique_tensors
from regard.models.table import ARCHITECTURES, ModelConfig, check_architecture, make_model
from regard.text.tokenizer import Tokenizer

Shapes = dict[str, tuple[int, ...]]
FLOATS = ("F64", "F32", "F16", "BF16")  # as safetensors names them


class NoInitialisation(TorchFunctionMode):
    """Disables random initialization inside the `with`: it is slower than loading, and all weights will be loaded."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ in ("normal_", "uniform_", "kaiming_uniform_"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def load_model(make: Callable[[], Model], folder: Path) -> Model:
    """Returns the model built by `make`, with a bundle's weights. It is first built without memory, for its shapes."""
    path = places.part(folder, places.WEIGHTS)
    stored = read_shapes(path)
    try:
        with torch.device("meta"), NoInitialisation(), at_most(2 * len(stored), path):
            compare_shapes(make(), stored, path)
    except (RuntimeError, ValueError, TypeError, OverflowError) as problem:  # sizes that no tensor can have
        raise BundleError(f"{path} does not fit its config.json: {one_line(problem)}") from None
    with NoInitialisation():
        model = make()
    load_weights(model, folder)
    return model


def load_weights(model: Model, folder: Path) -> None:
    """Loads a bundle's weights into a model of the same shapes."""
    path, own_updates = places.part(folder, places.WEIGHTS), places.updates(folder)
    wanted = unique_tensors(model)
    compare_shapes(model, read_shapes(path), path)
    stored = _read_tensors(path)
    if own_updates is not None:
        try:
            stored = updated(stored, _read_tensors(own_updates))
        except (ValueError, RuntimeError) as problem:
            raise BundleError(f"{own_updates} does not fit {path}: {problem}; copy both folders again") from None
        compare_shapes(model, {name: tuple(tensor.shape) for name, tensor in stored.items()}, own_updates)
    with torch.no_grad():
        for name, tensor in wanted.items():
            tensor.copy_(stored[name])


def write_model(path: Path, model: Model, storage: Storage) -> None:
    write_tensors(path, merged(model, unique_tensors(model)), storage)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], storage: Storage) -> None:
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    stored = to_storage(whole, storage)
    write_atomically(path, lambda place: save_file(stored, place))


def read_shapes(path: Path) -> Shapes:
    """Reads the shape of every weight in a file, by name, from its header; raises if a tensor cannot be a weight."""
    try:
        with safe_open(path, "pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
            kinds = {name: str(part.get_dtype()) for name, part in slices.items()}
            shapes = {name: tuple(part.get_shape()) for name, part in slices.items()}
    except (SafetensorError, OSError) as problem:
        raise _damaged(path, problem) from None
    int8 = {name: kind == "I8" for name, kind in kinds.items()}
    for name, kind in kinds.items():
        if kind not in FLOATS and not (int8[name] and name + SCALE in kinds):
            raise BundleError(
                f"{path} is damaged: {name} holds numbers of the type {kind}; weights are "
                f"{', '.join(FLOATS)}, or I8 with scales"
            )
    return {name: shape for name, shape in shapes.items() if not is_scale(name, int8)}


def compare_shapes(model: Model, stored: Shapes, path: Path) -> None:
    """Raises unless a file has the tensors of a model."""
    wanted = {name: tuple(tensor.shape) for name, tensor in unique_tensors(model).items()}
    odd = sorted(name for name in stored.keys() | wanted.keys() if stored.get(name) != wanted.get(name))
    if odd:
        raise BundleError(f"{path} does not fit its config.json: {odd[0]} differs ({len(odd)} tensors in all)")


@contextmanager
def at_most(count: int, path: Path) -> Iterator[None]:
    """Limits the number of parameters that this thread may create inside the `with`; raises at the first one more."""
    made, thread = 0, threading.get_ident()

    def note(module: object, name: str, parameter: object) -> None:
        nonlocal made
        if threading.get_ident() == thread and parameter is not None:
            made += 1
            if made > count:
                raise BundleError(f"{path} does not fit its config.json, which describes a larger model")

    hook = register_module_parameter_registration_hook(note)
    try:
        yield
    finally:
        hook.remove()


def _read_tensors(path: Path) -> dict[str, Tensor]:
    read_shapes(path)  # raises for tensors that cannot be weights
    verify(path)
    try:
        return from_storage(load_file(path))
    except BundleError as problem:
        raise BundleError(f"{path} is damaged: {problem}") from None
    except (SafetensorError, OSError) as problem:
        raise _damaged(path, problem) from None


def _damaged(path: Path, problem: object) -> BundleError:
    return BundleError(f"{path} is damaged or cut short ({one_line(problem)}); copy it again or train anew")


class ConfiguredModel(NamedTuple):
    config: ModelConfig
    model: Model


def read_model(
    folder: Path,
    architecture: str,
    table: Mapping[str, Any],
    tokenizer: Tokenizer,
    card: Card,
    device: torch.device | str,
) -> ConfiguredModel:
    """Reads the model in a folder, given the architecture and the configuration table of its config.json. Raises
    `BundleError` if anything is wrong with its files."""
    make_forks_safe()
    config = read_config(folder, architecture, table)
    try:
        model = load_model(lambda: make_model(architecture, config, tokenizer), folder)
    except BundleError:
        raise
    except RegardError as problem:  # a configuration that this vocabulary does not allow
        raise BundleError(f"{folder / CONFIG} cannot be used: {one_line(problem)}") from None
    check_view(model, card, folder)
    return ConfiguredModel(config, model.to(device).eval())


def read_config(folder: Path, architecture: str, table: Mapping[str, Any]) -> ModelConfig:
    """Parses the configuration in config.json."""
    try:
        check_architecture(one_line(architecture))
        return build(ARCHITECTURES[architecture].config, table, "config")
    except RegardError as problem:
        raise BundleError(f"{folder / CONFIG} cannot be used: {one_line(problem)}") from None


def check_view(model: Model, card: Card, folder: Path) -> None:
    """Raises if a card names an attention map that the model does not have."""
    view, parts = card.attention_view, model.attention_parts()
    if view is not None and parts:
        part_of_view = parts.get(("cross", view.layer))
        if part_of_view is None or (view.head or 0) >= part_of_view.heads:
            raise BundleError(
                f"{folder / CARD} cannot be used: its attention_view is of a layer or head that is not there"
            )
