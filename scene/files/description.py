"""A scene as text: all records that it was made of, from which it is made again.

Records are written as users gave them, so that their own checks read them back. Files of morphs are named, not copied:
by their names if Tumble or TUMBLE_ASSETS has them, else by whole paths; a missing one is looked for in the folder of
the description.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ... import assets
from ...physics.model.loading.sanity import ModelLoadError
from .. import materials, morphs, options, renderers, sensors, surfaces, textures
from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..model import finding
from ..model.compose import Piece
from ..sensors.patterns import RayPattern

VERSION = 1
OPTIONS = ("sim_options", "rigid_options", "vis_options", "viewer_options", "profiling_options", "renderer")
OF_MATTER = ("mpm_options", "coupler_options")
"""Further options, which older descriptions lack."""
_ROOMS = {module.__name__.rpartition(".")[2]: module for module in (morphs, materials, surfaces, textures, options)}
_ROOMS |= {"renderers": renderers, "sensors": sensors, "MPM": materials.MPM}
_KINDS = {
    f"{room}.{name}": kind
    for room, module in _ROOMS.items()
    for name, kind in vars(module).items()
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, RayPattern))
}
"""Classes of records by their names, such as "morphs.Box"."""
_NAMES = {kind: name for name, kind in _KINDS.items()}
_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RuntimeError)
"""The errors that a scene's methods raise for data that `encode` never writes."""


def encode(value: Any) -> Any:
    """Return a record, or a number, array, name or sequence in one, as JSON has it.

    Raises:
        TypeError: it holds something else.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray | torch.Tensor):
        return np.asarray(value.cpu() if isinstance(value, torch.Tensor) else value).tolist()
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    if isinstance(value, Mapping):
        return {"mapping": {str(key): encode(part) for key, part in value.items()}}
    if type(value) in _NAMES:
        arguments = {name: encode(part) for name, part in value.given.items()}
        if isinstance(value, morphs.FileMorph):
            arguments["file"] = _portable(value.file)
        if isinstance(value, textures.ImageTexture):
            arguments["image_path"] = value.image_path
        return {"class": _NAMES[type(value)], "given": arguments}
    raise TypeError(f"a scene's description cannot hold {value!r:.60}")


def decode(value: Any, folder: Path) -> Any:
    """Return the value that `encode` was given.

    Args:
        value: the result of `encode`.
        folder: where missing files are looked for.

    Raises:
        ValueError: it is no description, or of an unknown class; and for values that records refuse.
        TypeError, KeyError and others: a record cannot have such a value; `reading` turns them into ValueError.
    """
    if isinstance(value, list):
        return [decode(part, folder) for part in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"mapping"}:
        return {key: decode_at(value["mapping"], key, folder) for key in value["mapping"]}
    if set(value) != {"class", "given"} or value["class"] not in _KINDS:
        raise ValueError(f"an unknown part: {value!s:.60}")
    arguments = {name: decode_at(value["given"], name, folder) for name in value["given"]}
    for name in ("file", "image_path"):
        if isinstance(arguments.get(name), str):
            arguments[name] = _near(arguments[name], folder)
    return _KINDS[value["class"]](**arguments)


def decode_at(described: Any, place: str | int, folder: Path) -> Any:
    """Return the value that a description has at a place; errors as in `reading`."""
    with reading(place):
        return decode(described[place], folder)


@contextmanager
def reading(place: str | int) -> Iterator[None]:
    """Turn whatever a damaged description leads to into a ValueError that begins with the place in it.

    Raises:
        ValueError: something went wrong in the block.
        ModelLoadError: a file of a morph is missing or broken.
    """
    try:
        yield
    except (ModelLoadError, FileNotFoundError):
        raise
    except _DAMAGED as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ValueError(f"{place}: {reason}") from error


def _portable(file: str) -> str:
    """Return the name of a file that every Tumble finds, or its whole path."""
    path, own = Path(file), assets.FOLDER / file
    if not os.path.exists(path) and (os.path.isfile(own) or os.environ.get(finding.VARIABLE)):
        return file
    return os.path.abspath(file)


def _near(file: str, folder: Path) -> str:
    beside = folder / Path(file).name
    return str(beside) if not os.path.exists(file) and os.path.exists(beside) else file


def entity_of(entity: RigidEntity | MPMEntity, piece: Piece | None) -> dict[str, Any]:
    """Return the description of an entity; matter has no piece of the model."""
    carrier = None
    if piece is not None and entity.attached_to is not None and entity.attached_link is not None:
        carrier = {"entity": entity.attached_to.name, "link": entity.attached_link.name}
        carrier |= {"pos": encode(piece.pos), "quat": encode(piece.quat)}
    more = {"emitted": True} if isinstance(entity, MPMEntity) and entity.emitted else {}
    return more | {
        "name": entity.name,
        "morphs": encode(entity.shapes),
        "material": encode(entity.material),
        "surface": encode(entity.surface),
        "visualize_contact": entity.visualize_contact,
        "vis_mode": entity.vis_mode,
        "attached": carrier,
    }
