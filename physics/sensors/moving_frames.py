"""Sensors of the frames of bodies, geoms, sites and cameras: poses, velocities, accelerations, and forces on a site."""

from collections.abc import Callable

import mujoco
import numpy as np
import torch

from ..model.model import Model
from ..readout.derived import multiply
from .objects import KINDS, Objects
from .reader import Look, Read, Reader, flat

Tensor = torch.Tensor
_S = mujoco.mjtSensor
_VELOCITY = ("cvel", "subtree_com")
_ACCELERATION = (*_VELOCITY, "cacc")
_FORCE = ("cfrc_int", "subtree_com")


def _unknown(mj: mujoco.MjModel, sensor: int) -> str:
    return "" if int(mj.sensor_objtype[sensor]) in KINDS else "an object that has no frame"


def _of_frames(sources: tuple[str, ...], read: Callable[[Look, Tensor], Tensor]) -> Reader:
    """Sensors without a frame of reference: `read(look, rows of objects)` gives (n, k, width)."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj = model.mj
        rows = objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors])
        return lambda look: flat(read(look, look.sight.ids(("rows", tuple(sensors)), rows)))

    return Reader(sources, prepare, _unknown)


def _relative(
    sources: tuple[str, ...],
    read: Callable[[Look, Tensor], Tensor],
    seen: Callable[[Look, Tensor, Tensor], Tensor],
) -> Reader:
    """Sensors that may have one: `seen(look, rows of objects, rows of their references)`, and `read` in the world."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj = model.mj
        rows = np.array(objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors]))
        has = mj.sensor_refid[sensors] >= 0
        refs = objects.numbers(mj.sensor_reftype[sensors[has]], mj.sensor_refid[sensors[has]])
        order = np.argsort(np.concatenate([np.flatnonzero(~has), np.flatnonzero(has)]))

        def both(look: Look) -> Tensor:
            ids, key = look.sight.ids, tuple(sensors)
            alone, held = ids(("alone", key), rows[~has]), ids(("held", key), rows[has])
            parts = [read(look, alone)] if len(alone) else []
            if len(held):
                parts.append(seen(look, held, ids(("references", key), refs)))
            found = parts[0] if len(parts) == 1 else torch.cat(parts, 1)[:, ids(("order", key), order)]
            return flat(found)

        return both

    return Reader(sources, prepare, _unknown)


def _axis(c: int) -> Reader:
    def read(look: Look, rows: Tensor) -> Tensor:
        return look.frames.mat[:, rows, :, c]

    return _relative((), read, lambda look, rows, refs: look.frames.turned(read(look, rows), refs))


def _position(look: Look, rows: Tensor, refs: Tensor) -> Tensor:
    return look.frames.turned(look.frames.pos[:, rows] - look.frames.pos[:, refs], refs)


def _orientation(look: Look, rows: Tensor, refs: Tensor) -> Tensor:
    back = look.frames.quat[:, refs] * look.sight.constant("conjugate", lambda: look.sight.tensor([1.0, -1, -1, -1]))
    return multiply(back, look.frames.quat[:, rows])


def _linear_velocity(look: Look, rows: Tensor, refs: Tensor) -> Tensor:
    frames = look.frames
    turn, slide = frames.velocity
    apart = frames.pos[:, rows] - frames.pos[:, refs]
    speed = slide[:, rows] - slide[:, refs] + torch.linalg.cross(apart, turn[:, refs])
    return frames.turned(speed, refs)


def _angular_velocity(look: Look, rows: Tensor, refs: Tensor) -> Tensor:
    turn = look.frames.velocity[0]
    return look.frames.turned(turn[:, rows] - turn[:, refs], refs)


def _own(part: Callable[[Look], Tensor]) -> Callable[[Look, Tensor], Tensor]:
    """A vector of each object in its own axes."""
    return lambda look, rows: look.frames.turned(part(look)[:, rows], rows)


def _magnetic(look: Look, rows: Tensor) -> Tensor:
    field = look.sight.constant("magnetic", lambda: look.sight.tensor(look.sight.model.mj.opt.magnetic))
    return look.frames.turned(field.expand(1, len(rows), 3), rows)


READERS: dict[int, Reader] = {
    int(kind): reader
    for kind, reader in {
        _S.mjSENS_FRAMEPOS: _relative((), lambda look, rows: look.frames.pos[:, rows], _position),
        _S.mjSENS_FRAMEQUAT: _relative((), lambda look, rows: look.frames.quat[:, rows], _orientation),
        _S.mjSENS_FRAMEXAXIS: _axis(0),
        _S.mjSENS_FRAMEYAXIS: _axis(1),
        _S.mjSENS_FRAMEZAXIS: _axis(2),
        _S.mjSENS_FRAMELINVEL: _relative(
            _VELOCITY, lambda look, rows: look.frames.velocity[1][:, rows], _linear_velocity
        ),
        _S.mjSENS_FRAMEANGVEL: _relative(
            _VELOCITY, lambda look, rows: look.frames.velocity[0][:, rows], _angular_velocity
        ),
        _S.mjSENS_FRAMELINACC: _of_frames(_ACCELERATION, lambda look, rows: look.frames.acceleration[1][:, rows]),
        _S.mjSENS_FRAMEANGACC: _of_frames(_ACCELERATION, lambda look, rows: look.frames.acceleration[0][:, rows]),
        _S.mjSENS_VELOCIMETER: _of_frames(_VELOCITY, _own(lambda look: look.frames.velocity[1])),
        _S.mjSENS_GYRO: _of_frames(_VELOCITY, _own(lambda look: look.frames.velocity[0])),
        _S.mjSENS_ACCELEROMETER: _of_frames(_ACCELERATION, _own(lambda look: look.frames.acceleration[1])),
        _S.mjSENS_FORCE: _of_frames(_FORCE, _own(lambda look: look.frames.wrench[1])),
        _S.mjSENS_TORQUE: _of_frames(_FORCE, _own(lambda look: look.frames.wrench[0])),
        _S.mjSENS_MAGNETOMETER: _of_frames((), _magnetic),
    }.items()
}
"""By MuJoCo's number of the type of sensor."""
