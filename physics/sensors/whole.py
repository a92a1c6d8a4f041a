"""Sensors of subtrees, of time, and of what kernels read of contacts."""

import mujoco
import numpy as np
import torch

from ..mjmodel.contact_sensors import read_contacts
from ..model.model import Model
from .objects import Objects
from .reader import Read, Reader, repeated

Tensor = torch.Tensor
_S = mujoco.mjtSensor


def _of_bodies(name: str) -> Reader:
    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        bodies = model.mj.sensor_objid[sensors]
        return lambda look: look.sight[name][:, look.sight.ids((name, tuple(sensors)), bodies)].flatten(1)

    return Reader((name,), prepare)


def _clock(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    step = float(model.mj.opt.timestep)
    return lambda look: repeated((look.steps.double() * step).to(look.sight["xpos"].dtype), sensors)


def _contacts(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Touch and contact sensors."""
    mj, known = model.mj, read_contacts(model.mj).tolist()
    begins = np.cumsum([0, *mj.sensor_dim[known]])
    places = [begins[known.index(s)] + np.arange(mj.sensor_dim[s]) for s in sensors.tolist()]
    return lambda look: look.sight["sensed"][:, look.sight.ids(("sensed", tuple(sensors)), np.concatenate(places))]


READERS: dict[int, Reader] = {
    int(kind): reader
    for kind, reader in {
        _S.mjSENS_SUBTREECOM: _of_bodies("subtree_com"),
        _S.mjSENS_SUBTREELINVEL: _of_bodies("subtree_linvel"),
        _S.mjSENS_SUBTREEANGMOM: _of_bodies("subtree_angmom"),
        _S.mjSENS_CLOCK: Reader(("xpos",), _clock),
        _S.mjSENS_TOUCH: Reader(("sensed",), _contacts),
        _S.mjSENS_CONTACT: Reader(("sensed",), _contacts),
    }.items()
}
"""By MuJoCo's number of the type of sensor."""
