"""Drones from files: URDF as any robot; of MJCF the tree whose sites motors push."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ...physics.model.loading.loading import open_mjcf
from ...physics.model.loading.sanity import ModelLoadError
from ..materials import Rigid
from ..morphs import MJCF, Drone, Morph
from ..options import RigidOptions
from ..surfaces import Surface
from .mjcf import dress_mjcf
from .urdf import urdf_entity_spec


def is_mjcf(morph: Morph) -> bool:
    """Return True if the entity is in an MJCF file, as drones may be."""
    return isinstance(morph, MJCF) or (isinstance(morph, Drone) and morph.path.suffix.lower() == ".xml")


def drone_spec(morph: Drone, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of a drone.

    Raises:
        UrdfError: a URDF file is missing or broken, or mesh files of its collision shapes are missing.
        ModelLoadError: an MJCF file is, or has no motors at sites of one tree.
    """
    if not is_mjcf(morph):
        return urdf_entity_spec(morph, material, surface, options)
    spec = open_mjcf(morph.path)
    sites = {site.name: site for site in spec.sites}
    roots = {_root(sites[motor.target].parent).name for motor in _motors(spec)}
    if len(roots) != 1:
        what = f"a drone has motors at sites of one tree (<motor site=...>), and here are {len(roots)} such trees"
        raise ModelLoadError(f"{morph.file}: {what}")
    (root,) = roots
    for part in [*spec.worldbody.geoms, *spec.worldbody.lights]:
        spec.delete(part)
    for body in [body for body in spec.worldbody.bodies if body.name != root]:
        spec.delete(body)
    body = spec.body(root)
    body.pos = (0.0, 0.0, 0.0)  # the place of the morph is the drone's
    for key in list(spec.keys):
        spec.delete(key)
    return dress_mjcf(spec, morph, material, surface, options)


def _motors(spec: mujoco.MjSpec) -> list[Any]:
    return [each for each in spec.actuators if each.trntype == mujoco.mjtTrn.mjTRN_SITE]


def _root(body: mujoco.MjsBody) -> mujoco.MjsBody:
    """Return the body below the world that carries a body."""
    while body.parent is not None and body.parent.name != "world":
        body = body.parent
    return body


@dataclass(frozen=True)
class Propellers:
    """The propellers of a drone in a built scene.

    Attributes:
        bodies: that they push, (k,).
        sites: at which they do, (k,); None: at the centres of mass of their bodies.
        spins: 1 or -1 each.
        force: N/rpm2.
        torque: N m/rpm2.
    """

    bodies: np.ndarray
    sites: np.ndarray | None
    spins: tuple[int, ...]
    force: float
    torque: float


def propellers_at_sites(mj: mujoco.MjModel, name: str, usual: tuple[float, float]) -> Propellers:
    """Return the propellers of a drone from an MJCF file.

    Args:
        mj: the compiled model.
        name: of the entity.
        usual: force and torque if the file has no number "kf".
    """
    motors = [
        motor
        for motor in range(mj.nu)
        if mj.actuator_trntype[motor] == mujoco.mjtTrn.mjTRN_SITE and mj.actuator(motor).name.startswith(f"{name}/")
    ]
    sites, gear = mj.actuator_trnid[motors, 0], mj.actuator_gear[motors]
    number = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_NUMERIC, f"{name}/kf")
    force = usual[0] if number < 0 else float(mj.numeric_data[mj.numeric_adr[number]])
    torque = force * float(np.abs(gear[0, 5] / gear[0, 2]))
    spins = tuple(int(sign) for sign in np.sign(gear[:, 5] * gear[:, 2]))
    return Propellers(mj.site_bodyid[sites], sites, spins, force, torque)
