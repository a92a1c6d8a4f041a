"""One model of all entities: each is a spec, attached with its name in front; all are compiled at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco

from ...physics.model.model import Model
from ..options import CONES, INTEGRATORS, SOLVERS, RigidOptions, SimOptions
from .lights import Light
from .mjcf import OFF_GROUP

_VISUAL = ("global_", "headlight", "map", "quality", "rgba", "scale")
ELLIPTIC_IMPRATIO = 100.0
"""The `impratio` of elliptic cones: with a smaller one, resting and held objects creep."""
SEPARATOR = "/"
"""Between the name of an entity and that of a part of it."""


@dataclass
class Piece:
    """An entity on its way into the model.

    Attributes:
        name: of the entity.
        spec: its spec.
        pos, quat: where its origin is put, m.
        onto: the body of another piece in whose frame that is; None: the world.
        scale: of all its lengths.
        distance_fields: names of its geoms or meshes that touch by distance fields, with their options.
    """

    name: str
    spec: mujoco.MjSpec
    pos: Sequence[float] = (0.0, 0.0, 0.0)
    quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    onto: str | None = None
    scale: float = 1.0
    distance_fields: dict[str, dict[str, Any]] = field(default_factory=dict)


def compose(
    pieces: Sequence[Piece],
    sim: SimOptions,
    rigid: RigidOptions,
    lights: Sequence[Light] = (),
    actuators: bool = False,
    **options: Any,
) -> Model:
    """Return the model of a scene.

    Args:
        pieces: its entities.
        sim: time and gravity.
        rigid: contacts, constraints, integration.
        lights: of the whole scene.
        actuators: whether the actuators of files act; else only controls of dofs do.
        options: override the scene's: `Model.from_mjcf`.

    Raises:
        ModelLoadError: MuJoCo cannot compile it.
        UnsupportedModelError: an entity uses features that Tumble does not simulate.
    """
    root = mujoco.MjSpec()
    root.modelname = "scene"
    _put_options(root, sim, rigid)
    if actuators:
        root.option.disableactuator = 0
    for number, light in enumerate(lights):
        light.add_to(root, f"light_{number}")
    fields = dict[str, Any]()
    for piece in pieces:
        prefix = piece.name + SEPARATOR
        carrier = root.worldbody if piece.onto is None else root.body(piece.onto)
        frame = carrier.add_frame(pos=piece.pos, quat=piece.quat)
        if piece.scale != 1.0:
            frame.scale, frame.scaling = piece.scale, mujoco.mjtScaling.mjSCALING_GEOMETRY
        if not rigid.enable_self_collision:
            exclude_all(piece.spec)
        _agree(piece.spec, root)
        _name_keyframes(piece.spec)
        root.attach(piece.spec.copy(), prefix=prefix, frame=frame)  # the scene may be compiled again
        fields |= {prefix + name: options for name, options in piece.distance_fields.items()}
    if rigid.max_contacts is not None:
        options = {"max_contacts": rigid.max_contacts} | options
    if rigid.use_gjk_collision is not None and not rigid.use_gjk_collision:
        options = {"convex": "mpr"} | options
    return Model.from_mjspec(root, distance_fields=fields or None, **options)


def _agree(spec: mujoco.MjSpec, root: mujoco.MjSpec) -> None:
    """Give a spec the options of the scene, which are in force: MuJoCo would warn of each that differs."""
    parts = [(spec.option, root.option), (spec.stat, root.stat)]
    parts += [(getattr(spec.visual, part), getattr(root.visual, part)) for part in _VISUAL]
    for mine, scenes in parts:
        for name in (name for name in dir(scenes) if not name.startswith("_")):
            setattr(mine, name, getattr(scenes, name))


def _name_keyframes(spec: mujoco.MjSpec) -> None:
    """Name the keyframes without a name: attached, they would share one, and MuJoCo 4.0 ends the process by a copy."""
    taken = {key.name for key in spec.keys}
    for number, key in enumerate(spec.keys):
        name = key.name or f"keyframe_{number}"
        while not key.name and name in taken:
            name += "_"
        key.name = name
        taken.add(name)


def exclude_all(spec: mujoco.MjSpec) -> None:
    """Exclude contacts between all bodies of an entity."""
    bodies = [body.name for body in spec.bodies[1:]]
    there = {frozenset((each.bodyname1, each.bodyname2)) for each in spec.excludes}
    for number, first in enumerate(bodies):
        for second in bodies[number + 1 :]:
            if frozenset((first, second)) not in there:
                spec.add_exclude(bodyname1=first, bodyname2=second)


def _put_options(spec: mujoco.MjSpec, sim: SimOptions, rigid: RigidOptions) -> None:
    """Give the whole scene its options."""
    option = spec.option
    option.timestep, option.gravity = sim.timestep, sim.gravity
    option.integrator = _member(mujoco.mjtIntegrator, "mjINT_", INTEGRATORS[rigid.integrator])
    option.solver = _member(mujoco.mjtSolver, "mjSOL_", SOLVERS[rigid.constraint_solver])
    option.cone = _member(mujoco.mjtCone, "mjCONE_", CONES[rigid.friction_cone])
    option.iterations, option.ls_iterations = rigid.iterations, rigid.ls_iterations
    option.ls_tolerance = rigid.ls_tolerance
    option.noslip_iterations, option.noslip_tolerance = rigid.noslip_iterations, rigid.noslip_tolerance
    if rigid.tolerance is not None:
        option.tolerance = rigid.tolerance
    option.impratio = rigid.impratio or (ELLIPTIC_IMPRATIO if rigid.friction_cone == "elliptic" else 1.0)
    bits = mujoco.mjtDisableBit
    off = {
        bits.mjDSBL_CONTACT: not rigid.enable_collision,
        bits.mjDSBL_LIMIT: not rigid.enable_joint_limit,
        bits.mjDSBL_CONSTRAINT: rigid.disable_constraint,
        bits.mjDSBL_FILTERPARENT: rigid.enable_adjacent_collision,
    }
    option.disableflags = sum(int(bit) for bit, asked in off.items() if asked)
    option.enableflags = int(mujoco.mjtEnableBit.mjENBL_SLEEP) if rigid.use_hibernation else 0
    option.disableactuator = 1 << OFF_GROUP


def _member(enum: Any, prefix: str, name: str) -> Any:
    """Return the member of an enumeration of MuJoCo's by MJCF's name for it."""
    return next(member for key, member in enum.__members__.items() if key.lower() == (prefix + name).lower())
