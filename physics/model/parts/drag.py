"""Aerodynamic drag of geoms: -1/2 rho c A |v| v at the geom's centre, v being its velocity relative to the wind.

MuJoCo has no such force. Custom elements of MJCF say which geoms have it:

    <text name="drag_geoms" data="wing tail"/>          names of the geoms
    <numeric name="drag_area" data="0.3 0.1"/>          projected area A of each (m^2)
    <numeric name="drag_coefficient" data="1.2 0.9"/>   coefficient c of each
    <numeric name="drag_density" data="1.2"/>           density rho of the air (kg/m^3)

One number stands for all geoms. The option `wind` is the velocity of the air; the option `density` is not read, as it
switches on MuJoCo's own forces of a fluid on every body. Like other passive forces of users in MuJoCo (mjcb_passive),
the drag has no share in the matrix of implicit integrators.
"""

import mujoco
import numpy as np

from ...base.fields import Field
from ...base.hooks import BODY_FORCES, PASSIVE_FORCES
from ...base.math import SpatialMotion, Vec3
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import NOT_NEGATIVE
from ...files.mjmodel.custom import CustomElementError, named_elements, number_of_each
from ...files.mjmodel.flags import has_passive_forces
from ...mechanics.dynamics.newton_euler import along, gather
from .part import Number, Part

GEOMS = "drag_geoms"


@stage(
    when=lambda has: has.drag,
    reads="xquat root_offset inertial_offset com_offset anchor_offset cdof cvel",
    writes="qfrc_drag",
    updates="cfrc",
)
def drag_force(model, work):
    """Set qfrc_drag: each of its geoms is held back by the air at its centre."""
    lanes, zero = work.precise_lanes, work.real(0.0)
    none = lanes.cast(Vec3(zero, zero, zero))
    for b in range(1, model.nbody):
        work.cfrc.put(b, SpatialMotion(none, none))
    for k in range(model.ndrag):
        g = model.drag_geomid[k]
        b = model.geom_bodyid[g]
        # Places are differences from the root of the tree, which stay small far from the origin.
        center = work.lanes.cast(work.root_offset[b]) + work.lanes.cast(work.xquat[b]).rotate(model.geom_pos[g])
        motion = work.lanes.cast(work.cvel[b])  # of the point of the body at the tree's centre of mass
        arm = center - work.com_offset[model.body_rootid[b]]
        velocity = motion.lin + motion.rot.cross(arm) - model.wind[0]
        force = velocity * (velocity.norm() * -model.drag_constant[k])
        torque = (center - work.inertial_offset[b]).cross(force)
        work.cfrc.put(b, work.cfrc[b] + SpatialMotion(lanes.cast(torque), lanes.cast(force)))
    gather(model, work)
    for i in range(model.nv):
        work.qfrc_drag[i] = work.lanes.cast(along(model, work, i))


@piece(reads="qfrc_drag", updates="qfrc_passive")
def add_drag(model, work):
    """Add the drag to the passive forces."""
    for i in range(model.nv):
        work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_drag[i]


def _geoms(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of the geoms with drag, (ndrag,)."""
    geoms = named_elements(mjm, GEOMS, "geom")
    for g in geoms[mjm.geom_bodyid[geoms] == 0]:
        raise CustomElementError(f"custom text '{GEOMS}': geom '{mjm.geom(g).name}' is fixed to the world")
    return geoms


def _constant(mjm: mujoco.MjModel, coefficient: np.ndarray, area: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Return 1/2 rho c A of each geom, (n, ndrag)."""
    return 0.5 * float(has_passive_forces(mjm)) * density * coefficient * area


def _number(name: str) -> Number:
    return Number(lambda mjm: number_of_each(mjm, name, GEOMS), NOT_NEGATIVE)


PART = Part(
    name="drag",
    doc="the air holds geoms back",
    wanted=lambda model: model.sizes["ndrag"] > 0,
    integers=(Field("drag_geomid", ("ndrag",), 1, "", "geom on which the air's drag acts", small=True),),
    reals=(Field("drag_constant", ("ndrag",), 1, "N s^2/m^2", "half of density, coefficient and area"),),
    values=lambda mjm: {"drag_geomid": _geoms(mjm)},
    rules={"drag_constant": (("drag_coefficient", "drag_area", "drag_density"), _constant)},
    sizes=lambda mjm, values: {"ndrag": len(values["drag_geomid"])},
    scratch=(Field("qfrc_drag", ("ndragdof",), 1, "N or N m", "drag of geoms in the air"),),
    room=lambda model: {"ndragdof": model.sizes["nv"]},
    hooks={BODY_FORCES: drag_force, PASSIVE_FORCES: add_drag},
    numbers={name: _number(name) for name in ("drag_coefficient", "drag_area", "drag_density")},
    custom=f"{GEOMS} drag_coefficient drag_area drag_density",
)
