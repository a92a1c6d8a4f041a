"""Scenes of mechanisms that no model of the parity suite has, or whose oracle is Tumble's own plain solver."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import mujoco
import numpy as np

from tumble.physics.mechanics.collision.pair_table import PAIR_TABLE

from ...models.purpose import FOLDER
from .. import test_distance_contacts as distance
from ..ground import fields
from ..parity import catalogue
from ..parity.pairs import Scene as Pairs
from ..parity.reference import States
from ..test_convex_pairs import ALL, MESHES, REACH, poses
from .differences import exact

SEARCH = 'ccd_tolerance="1e-12" ccd_iterations="500"'
"""How convex collision searches: derivatives of curved shapes are as exact as their contacts."""
TRIED = 60
"""Poses of a pair, of which those are taken in which it touches."""
DEEPEST = 0.02
"""m: the deepest overlap of a pair."""
SPEED = 0.3
"""m/s and rad/s."""
WITHIN = 1e-8
"""Largest difference from the oracle, relative to the largest entry of the Jacobian: as exact as the oracle is."""
ROUGH = 5e-3
"""The same where the contacts of curved shapes are searched for (`gradients.steps.SEARCHED`)."""


@dataclass(frozen=True)
class Scene:
    """A model with states.

    Attributes:
        name: of the scene.
        make: from the number of states to the model, as of `exact`, and the states.
        own: the oracle is Tumble's own plain solver.
        within: the largest error, relative to the largest entry of a Jacobian.
        choices: Tumble's own options.
    """

    name: str
    make: Callable[[int], tuple[mujoco.MjModel, States]]
    own: bool = True
    choices: dict = field(default_factory=dict)
    within: float = WITHIN


def _moving(mjm: mujoco.MjModel, qpos: np.ndarray, seed: int) -> States:
    """Return states at some poses."""
    speed = SPEED * np.random.default_rng(seed).standard_normal((len(qpos), mjm.nv))
    return States(qpos, speed, np.zeros((len(qpos), mjm.nu)))


def _pair(one: str, other: str, count: int) -> tuple[mujoco.MjModel, States]:
    """A fixed and a free shape that touch."""
    mjm = exact(
        mujoco.MjModel.from_xml_string(
            f'<mujoco><option {SEARCH}><flag multiccd="enable"/></option>'
            f'<default><geom margin="{REACH / 4}" gap="{REACH / 4}"/></default>{MESHES}<worldbody>'
            f'<geom name="fixed0" {ALL[one]} contype="1" conaffinity="0"/><body><freejoint/>'
            f'<geom name="moving0" {ALL[other]} contype="0" conaffinity="1"/></body></worldbody></mujoco>'
        ),
        "Euler",
    )
    data, touching, rng = mujoco.MjData(mjm), [], np.random.default_rng(0)
    for qpos in poses(mjm, [(one, other)], TRIED):
        mujoco.mju_quatIntegrate(qpos[3:7], 0.01 * rng.standard_normal(3), 1.0)  # no sides are parallel to the bit
        data.qpos[:] = qpos
        mujoco.mj_forward(mjm, data)
        if data.nefc and data.contact.dist.min() > -DEEPEST:
            touching.append(qpos)
    return mjm, _moving(mjm, np.array(touching[: count + 1]), 1)


def _thrown(mjm: mujoco.MjModel, count: int, low: float, high: float, wide: float = 0.2) -> tuple:
    """A free body in any pose, at a height between two numbers (m)."""
    qpos = fields.random_poses(np.random.default_rng(0), count + 1, wide, low, high)
    return mjm, _moving(mjm, qpos, 1)


def _field(solid: str, count: int) -> tuple:
    """A solid on a height field."""
    spec = fields.with_field(fields.rough(12, 12, 0.15, 1), 0.1)
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-12, 500
    fields.add_solid(spec, solid)
    return _thrown(exact(spec.compile(), "Euler"), count, 0.1, 0.2)


def _distance_field(one: str, other: str, count: int) -> tuple:
    """A mesh with a distance field, or a plane, and a free body."""
    spec = mujoco.MjSpec()
    if one == "plane":
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1])
    else:
        distance.add(spec, spec.worldbody, one, True, contype=1, conaffinity=0)
    body = spec.worldbody.add_body()
    body.add_freejoint()
    distance.add(spec, body, other, other != "prism", contype=1, conaffinity=1)
    return _thrown(exact(spec.compile(), "Euler"), count, 0.0, 0.2)


def _file(name: str, integrator: str, count: int) -> tuple:
    """A model with mechanisms that MuJoCo does not have."""
    mjm = exact(mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml")), integrator)
    rng, qpos = np.random.default_rng(0), np.tile(mjm.qpos0, (count + 1, 1))
    for pose in qpos:
        mujoco.mj_integratePos(mjm, pose, 0.5 * rng.standard_normal(mjm.nv), 1.0)
    return mjm, _moving(mjm, qpos, 1)


def _suite(name: str, count: int) -> tuple:
    """A model of the parity suite."""
    from .parity import with_rest

    mjm = exact(catalogue.load(name), "Euler")
    return mjm, with_rest(mjm, count)


SEARCHED = [pair for pair, closed in zip(*Pairs.of_the_table(), strict=True) if not closed]
"""The pairs of shapes whose contacts are searched for."""
_CURVED = {"ellipsoid", "cylinder"}
SCENES = (
    *(Scene(f"{a} and {b}", partial(_pair, a, b), within=ROUGH if _CURVED & {a, b} else WITHIN) for a, b in SEARCHED),
    Scene("cube and prism, by mpr", partial(_pair, "cube", "prism"), choices={"convex": "mpr"}),
    Scene(
        *("cylinder and box, with tilts", partial(_pair, "cylinder", "box")),
        choices={"manifold": "tilts"},
        within=ROUGH,
    ),
    *(
        Scene(
            *(f"height field and {solid}, by {way}", partial(_field, solid)),
            choices={"hfield": way},
            within=ROUGH if solid in _CURVED else WITHIN,
        )
        for way in ("surface", "mujoco")
        for solid in fields.SOLIDS
    ),
    *(
        Scene(f"distance fields: {a} and {b}", partial(_distance_field, a, b))
        for a, b in (("plane", "torus"), ("torus", "sphere"), ("star", "box"), ("torus", "prism"), ("torus", "torus"))
    ),
    Scene("dead bands", partial(_file, "deadband", "implicitfast")),
    Scene("drag", partial(_file, "drag", "implicitfast")),
    Scene("plane_shapes, by a sweep", partial(_suite, "plane_shapes"), False, {"broad_phase": "sweep"}),
    Scene("boxes, by a grid", partial(_suite, "boxes"), False, {"broad_phase": "grid"}),
    Scene("everything, by conjugate gradients", partial(_suite, "everything"), False, {"solver": "cg"}),
)
assert len(SEARCHED) == sum(row.group == "convex" for row in PAIR_TABLE)
