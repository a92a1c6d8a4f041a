"""Files with the state of a scene, from which it goes on to the bit, and how the scene has to look for that."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...physics.machine.disk import replacing
from ...physics.solver.user.state_file import DAMAGED, model_digest, read_tensors
from ..sensors.manager import SensorManager, split
from ..world import Envs, World

_VERSION = 1
_PUSHED = "scene/pushed"
"""The part of a state with the bodies whose wrenches end with the next step, (k, bodies)."""
_DT = "scene/dt"
"""The part of a state with the seconds of a step of the scene, in which sensors count, (k, 1). Old states lack it."""


_MATTER = "matter/"
"""Prefix of the names of matter's parts of a state."""


def save(
    path: str | os.PathLike, world: World, names: list[str], sensors: SensorManager, description: str | None = None
) -> None:
    """Write the state of a scene and its description. A file that exists is replaced at once, when the new is whole."""
    path = Path(path)
    content = {
        "scene": _VERSION,
        "model": model_digest(world.model),
        "n_envs": world.n_envs,
        "entities": names,
        "state": state_of(world, sensors, None),
        "description": description,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        torch.save(content, unfinished)


def load(path: str | os.PathLike, world: World, names: list[str], sensors: SensorManager) -> None:
    """Go on where `save` left off.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: it is no checkpoint, or of another scene, precision or number of environments; nothing is changed.
    """
    content = _read(path)
    if content["entities"] != names:
        raise ValueError(f"{path}: saved from another scene: its entities are {', '.join(content['entities'])}")
    if content["n_envs"] != world.n_envs:
        raise ValueError(f"{path}: saved from {content['n_envs']} environments; this scene has {world.n_envs}")
    if content["model"] != model_digest(world.model):
        raise ValueError(f"{path}: saved from another scene: its entities have other numbers, or its options differ")
    try:
        load_state(content["state"], world, sensors, None)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def description_in(path: str | os.PathLike) -> str:
    """Return the description of the scene in a file of `save`; errors as in `load`."""
    description = _read(path).get("description")
    if description is None:
        raise ValueError(f"{path}: it has no description of its scene: build that, then scene.load_checkpoint(path)")
    return description


def state_of(world: World, sensors: SensorManager, envs: Envs) -> dict[str, torch.Tensor]:
    """Return all that the future of environments depends on."""
    state = world.solver.state.state_dict(envs) | sensors.state_dict(envs)
    if sensors.dt:
        state[_DT] = torch.full((world.how_many(envs), 1), sensors.dt, dtype=torch.float64)
    if world.pushed:
        state[_PUSHED] = torch.tensor(sorted(world.pushed)).repeat(world.how_many(envs), 1)
    if world.matter is not None:
        state |= {_MATTER + name: part for name, part in world.matter.state_of(envs).items()}
    return state


def load_state(state: dict[str, torch.Tensor], world: World, sensors: SensorManager, envs: Envs) -> None:
    """Put environments where `state_of` was.

    Raises:
        ValueError: it is of another scene, step, precision or number of environments; nothing is changed then.
    """
    of_sensors, of_solver = split(state)
    of_matter = {name.removeprefix(_MATTER): of_solver.pop(name) for name in [*of_solver] if name.startswith(_MATTER)}
    if bool(of_matter) != (world.matter is not None):
        raise ValueError(f"state: it has {'' if of_matter else 'no '}matter, unlike this scene")
    if of_matter:
        of_matter = world.matter.checked(of_matter, envs)
    pushed, dt = of_solver.pop(_PUSHED, None), of_solver.pop(_DT, None)
    sensors.check_state(of_sensors)
    if dt is not None and bool((dt != sensors.dt).any()):
        raise ValueError(
            f"state: its sensors count steps of {dt.max():g} s, and this scene's count steps of {sensors.dt:g} s: "
            "make both with the same dt"
        )
    world.solver.state.load_state_dict(of_solver, envs)
    if of_matter:
        world.matter.load(of_matter, envs)
    sensors.load_state_dict(of_sensors, envs)
    if pushed is not None and len(pushed):
        world.pushed.update(pushed[0].tolist())


def own_rows(state: Mapping[str, torch.Tensor], world: World, envs: Envs) -> dict[str, torch.Tensor]:
    """Select rows if the state covers all environments, else return it unchanged.

    Raises:
        TypeError: it is no state.
        ValueError: it is of more than one environment, and neither of as many as are named nor of all.
    """
    if not isinstance(state, Mapping) or not all(isinstance(part, torch.Tensor) for part in state.values()):
        raise TypeError(f"state: expected what get_state() returned, not {type(state).__name__}")
    rows, named, all_of_them = len(state.get("memory", ())), len(world.indices(envs)), len(world.indices(None))
    if rows == all_of_them != named:
        index = world.indices(envs)
        return {name: part[index.to(part.device)] for name, part in state.items()}
    if rows not in (1, named):
        raise ValueError(
            f"state: it is of {rows} environments, and {named} are named; give the state of {named}, of one or of all"
        )
    return dict(state)


def _read(path: str | os.PathLike) -> dict[str, Any]:
    try:
        content = read_tensors(path)
        known = isinstance(content, dict) and content.get("scene") == _VERSION
    except DAMAGED as error:
        raise ValueError(f"{path}: not a file that Scene.save_checkpoint wrote, or a damaged one") from error
    if not known:
        raise ValueError(f"{path}: not a file that Scene.save_checkpoint wrote, or one of another version")
    return content
