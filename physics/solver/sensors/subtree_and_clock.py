"""Sensors of subtrees, of time, and of what kernels read of contacts."""

import mujoco
import numpy as np
import torch

from ...files.mjmodel.contact_sensors import read_contacts
from ...model.model import Model
from .objects import Objects
from .reader import Read, Reader, column, repeated

Tensor = torch.Tensor
_S = mujoco.mjtSensor


def _clock(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    step = float(model.mj.opt.timestep)
    return lambda look: repeated((look.steps.double() * step).to(look.sight["xpos"].dtype), sensors)


def _contacts(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Touch and contact sensors."""
    mj, known = model.mj, read_contacts(model.mj).tolist()
    begins = np.cumsum([0, *mj.sensor_dim[known]])
    places = [begins[known.index(s)] + np.arange(mj.sensor_dim[s]) for s in sensors.tolist()]
    return lambda look: look.sight["sensed"][:, look.sight.ids(("sensed", tuple(sensors)), np.concatenate(places))]


READERS: dict[mujoco.mjtSensor, Reader] = {
    _S.mjSENS_SUBTREECOM: column("subtree_com", lambda mj, bodies: bodies),
    _S.mjSENS_SUBTREELINVEL: column("subtree_linvel", lambda mj, bodies: bodies),
    _S.mjSENS_SUBTREEANGMOM: column("subtree_angmom", lambda mj, bodies: bodies),
    _S.mjSENS_CLOCK: Reader(("xpos",), _clock),
    _S.mjSENS_TOUCH: Reader(("sensed",), _contacts),
    _S.mjSENS_CONTACT: Reader(("sensed",), _contacts),
}
"""By the type of sensor."""
