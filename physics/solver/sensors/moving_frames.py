"""Sensors of the frames of bodies, geoms, sites and cameras: poses, velocities, accelerations, and forces on a site."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_mul
from ...model.model import Model
from .objects import Objects
from .reader import Read, Reader, SensorView, flat

Tensor = torch.Tensor
_S = mujoco.mjtSensor
_VELOCITY = ("cvel", "subtree_com")
_ACCELERATION = (*_VELOCITY, "cacc")
_FORCE = ("cfrc_int", "subtree_com")


def _of_frames(sources: tuple[str, ...], read: Callable[[SensorView, Any], Tensor]) -> Reader:
    """Sensors without a frame of reference: `read(view, rows of objects)` gives (n, k, width)."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj = model.mj
        rows = objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors])
        return lambda view: flat(read(view, view.quantities.ids(("rows", tuple(sensors)), rows)))

    return Reader(sources, prepare)


def _relative(
    sources: tuple[str, ...],
    read: Callable[[SensorView, Any], Tensor],
    seen: Callable[[SensorView, Any, Any], Tensor],
) -> Reader:
    """Sensors that may have one: `seen(view, rows of objects, rows of their references)`, and `read` in the world."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj = model.mj
        rows = np.array(objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors]))
        has = mj.sensor_refid[sensors] >= 0
        refs = objects.numbers(mj.sensor_reftype[sensors[has]], mj.sensor_refid[sensors[has]])
        order = np.argsort(np.concatenate([np.flatnonzero(~has), np.flatnonzero(has)]))

        def both(view: SensorView) -> Tensor:
            ids, key = view.quantities.ids, tuple(sensors)
            alone, held = ids(("alone", key), rows[~has]), ids(("held", key), rows[has])
            parts = [read(view, alone)] if not has.all() else []
            if has.any():
                parts.append(seen(view, held, ids(("references", key), refs)))
            found = parts[0] if len(parts) == 1 else torch.cat(parts, 1)[:, ids(("order", key), order)]
            return flat(found)

        return both

    return Reader(sources, prepare)


def _axis(c: int) -> Reader:
    def read(view: SensorView, rows: Any) -> Tensor:
        return view.frames.mat[:, rows, :, c]

    return _relative((), read, lambda view, rows, refs: view.frames.turned(read(view, rows), refs))


def _position(view: SensorView, rows: Any, refs: Any) -> Tensor:
    return view.frames.turned(view.frames.pos[:, rows] - view.frames.pos[:, refs], refs)


def _orientation(view: SensorView, rows: Any, refs: Any) -> Tensor:
    back = view.frames.quat[:, refs] * view.quantities.constant(
        "conjugate", lambda: view.quantities.tensor([1.0, -1, -1, -1])
    )
    return quat_mul(back, view.frames.quat[:, rows])


def _linear_velocity(view: SensorView, rows: Any, refs: Any) -> Tensor:
    frames = view.frames
    turn, slide = frames.velocity
    apart = frames.pos[:, rows] - frames.pos[:, refs]
    speed = slide[:, rows] - slide[:, refs] + torch.linalg.cross(apart, turn[:, refs])
    return frames.turned(speed, refs)


def _angular_velocity(view: SensorView, rows: Any, refs: Any) -> Tensor:
    turn = view.frames.velocity[0]
    return view.frames.turned(turn[:, rows] - turn[:, refs], refs)


def _own(part: Callable[[SensorView], Tensor]) -> Callable[[SensorView, Any], Tensor]:
    """Return a reader of a vector of each object in the object's axes."""
    return lambda view, rows: view.frames.turned(part(view)[:, rows], rows)


def _magnetic(view: SensorView, rows: Any) -> Tensor:
    field = view.quantities.constant("magnetic", lambda: view.quantities.tensor(view.quantities.model.mj.opt.magnetic))
    return view.frames.turned(field[None, None], rows)


READERS: dict[mujoco.mjtSensor, Reader] = {
    _S.mjSENS_FRAMEPOS: _relative((), lambda view, rows: view.frames.pos[:, rows], _position),
    _S.mjSENS_FRAMEQUAT: _relative((), lambda view, rows: view.frames.quat[:, rows], _orientation),
    _S.mjSENS_FRAMEXAXIS: _axis(0),
    _S.mjSENS_FRAMEYAXIS: _axis(1),
    _S.mjSENS_FRAMEZAXIS: _axis(2),
    _S.mjSENS_FRAMELINVEL: _relative(_VELOCITY, lambda view, rows: view.frames.velocity[1][:, rows], _linear_velocity),
    _S.mjSENS_FRAMEANGVEL: _relative(_VELOCITY, lambda view, rows: view.frames.velocity[0][:, rows], _angular_velocity),
    _S.mjSENS_FRAMELINACC: _of_frames(_ACCELERATION, lambda view, rows: view.frames.acceleration[1][:, rows]),
    _S.mjSENS_FRAMEANGACC: _of_frames(_ACCELERATION, lambda view, rows: view.frames.acceleration[0][:, rows]),
    _S.mjSENS_VELOCIMETER: _of_frames(_VELOCITY, _own(lambda view: view.frames.velocity[1])),
    _S.mjSENS_GYRO: _of_frames(_VELOCITY, _own(lambda view: view.frames.velocity[0])),
    _S.mjSENS_ACCELEROMETER: _of_frames(_ACCELERATION, _own(lambda view: view.frames.acceleration[1])),
    _S.mjSENS_FORCE: _of_frames(_FORCE, _own(lambda view: view.frames.wrench[1])),
    _S.mjSENS_TORQUE: _of_frames(_FORCE, _own(lambda view: view.frames.wrench[0])),
    _S.mjSENS_MAGNETOMETER: _of_frames((), _magnetic),
}
"""By the type of sensor."""
