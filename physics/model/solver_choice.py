"""Tumble's own options of a model: solver, contact capacity, collision methods, and overlaps at the reference pose.

A model is solved by Newton's method, or by conjugate gradients if factoring the Hessian would be expensive.

Newton's method factors a Hessian that couples all bodies that touch, in any of the environments of a tile. In a crowd
of bodies that may touch each other its pattern fills up, and the cost grows with the cube of their number. Conjugate
gradients only loop over contacts and bodies.
"""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from ..base.shapes import SDF, of_kinds
from ..files.mjmodel.pairs import collides
from ..files.mjmodel.sleep import sleeps
from ..mechanics.collision.broad.broad_phase import GRID, LIST, SWEEP

NEWTON, CG = "newton", "cg"
GJK, MPR = "gjk", "mpr"
"""Values of the option `convex`."""
MUJOCO, TILTS, SURFACE = "mujoco", "tilts", "surface"
"""Values of the option `manifold`, the first two, and of `hfield`, MUJOCO and SURFACE."""
SPARE_CONTACTS, CONTACTS_OF_ROUND, CONTACTS_OF_FACES = 32, 6, 24
CROWD = 16
"""The number of trees that may touch one another from which they are a crowd (measured: `tumble bench solvers`)."""
SMALL_TREE = 12
"""The most dofs per tree of a crowd, on average: for the many dofs of a robot Newton's method is better."""


class Choices(NamedTuple):
    """Options that MuJoCo does not have.

    Attributes:
        solver: True if the user named a solver.
        max_contacts: the most contacts of an environment; None: `default_max_contacts`.
        ignore_reference_overlaps: pairs of geoms that overlap at the reference pose make no contacts.
        broad_phase: "pairs", "sweep" or "grid"; None: `broad_phase.choose_broad_phase`.
        convex: "gjk" or "mpr": the method for penetration of convex shapes without a closed form.
        manifold: "mujoco" or "tilts": with tilts, such shapes have more contacts if no flat sides meet.
        hfield: "surface" or "mujoco": contacts of height fields with their surface, or with a prism for each triangle.
        matter: bodies may be pushed by matter that another solver moves (`parts.matter`).
    """

    solver: bool
    max_contacts: int | None
    ignore_reference_overlaps: bool = False
    broad_phase: str | None = None
    convex: str = GJK
    manifold: str = MUJOCO
    hfield: str = SURFACE
    matter: bool = False


NO_CHOICES = Choices(False, None)


def take_choices(options: Mapping[str, object]) -> tuple[Choices, dict[str, object]]:
    """Split options into Tumble's own, and MuJoCo's: the fields of mjOption, without the solver "auto".

    Raises:
        ValueError: `max_contacts` is not a whole number above zero, or another option has an unknown value.
    """
    rest = dict(options)
    most = rest.pop("max_contacts", None)
    if most is not None and (not isinstance(most, (int, np.integer)) or isinstance(most, bool) or most < 1):
        raise ValueError(f"option max_contacts: {most!r} is not a whole number above zero")
    ignored, matter = (_take_flag(rest, name) for name in ("ignore_reference_overlaps", "matter"))
    broad = _take_name(rest, "broad_phase", None, (LIST, SWEEP, GRID))
    convex, manifold = (
        _take_name(rest, "convex", GJK, (GJK, MPR)),
        _take_name(rest, "manifold", MUJOCO, (MUJOCO, TILTS)),
    )
    hfield = str(_take_name(rest, "hfield", SURFACE, (SURFACE, MUJOCO)))
    asked = rest.get("solver")
    if isinstance(asked, str) and asked.lower() == "auto":
        del rest["solver"]
        asked = None
    room = None if most is None else int(most)
    return Choices(asked is not None, room, ignored, broad, str(convex), str(manifold), hfield, matter), rest


def _take_flag(rest: dict[str, object], option: str) -> bool:
    """Remove and return an option that is True or False; without it, False."""
    flag = rest.pop(option, False)
    if not isinstance(flag, (bool, np.bool_)):
        raise ValueError(f"option {option}: {flag!r} is not True or False")
    return bool(flag)


def _take_name(rest: dict[str, object], option: str, default: str | None, names: tuple[str, ...]) -> str | None:
    """Remove and return an option that is one of a few names."""
    name = rest.pop(option, default)
    if name != default and name not in names:
        raise ValueError(f"option {option}: {name!r} is neither {' nor '.join(map(repr, names))}")
    return None if name is None else str(name)


def default_max_contacts(mjm: mujoco.MjModel) -> int:
    """Return the contact capacity of an environment: some for every geom that moves and collides, more with faces.

    Spheres in a pile have at most six contacts each (twelve neighbours, counted half); boxes about as many faces in
    contact, with four points each; so have meshes that collide by distance fields. A robot's geoms have far fewer.
    """
    moves = mjm.body_dofnum[mjm.body_weldid[mjm.geom_bodyid]] > 0
    kinds = mjm.geom_type[collides(mjm) & moves]
    faces = np.isin(kinds, [*of_kinds("list_faces"), SDF])
    return SPARE_CONTACTS + CONTACTS_OF_ROUND * int((~faces).sum()) + CONTACTS_OF_FACES * int(faces.sum())


def choose_solver(mjm: mujoco.MjModel, chosen: bool, hard: bool = False) -> tuple[str, list[str]]:
    """Return the solver of a model, and notes on the choice.

    Args:
        mjm: the compiled model.
        chosen: True if the user chose mjm.opt.solver; else the file did, perhaps by leaving the default.
        hard: True if equalities are so hard that gradients in single precision lose M.
    """
    asked = mujoco.mjtSolver(int(mjm.opt.solver))
    if sleeps(mjm):
        newton = asked == mujoco.mjtSolver.mjSOL_NEWTON
        return NEWTON, [] if newton else [f"solver {asked.name[6:]}: Tumble uses Newton where islands may sleep"]
    if asked == mujoco.mjtSolver.mjSOL_CG and mjm.nv:
        note = "solver CG: Tumble uses Newton, which solves the same convex problem, where equalities are so hard"
        return (NEWTON, [note]) if hard else (CG, [])
    if asked == mujoco.mjtSolver.mjSOL_PGS:
        return NEWTON, ["solver PGS: Tumble uses Newton, which solves the same convex problem"]
    if chosen or hard or not _is_crowd(mjm):
        return NEWTON, []
    return CG, [
        "solver: conjugate gradients, as fits many bodies that may touch each other; they end with accelerations about "
        "2e-5 of their size away from Newton's. Options solver='newton' and tolerance choose otherwise"
    ]


def _is_crowd(mjm: mujoco.MjModel) -> bool:
    """Return True if many small trees may touch one another."""
    moving = mjm.geom_bodyid[(mjm.geom_contype | mjm.geom_conaffinity) != 0]
    trees = np.unique(mjm.body_treeid[moving])
    trees = trees[trees >= 0]
    return len(trees) >= CROWD and mjm.tree_dofnum[trees].mean() <= SMALL_TREE and _touch_each_other(mjm, trees)


def _touch_each_other(mjm: mujoco.MjModel, trees: np.ndarray) -> bool:
    """Return True if contype and conaffinity let most of the trees touch enough others to be a crowd."""
    kind, affinity = np.zeros(mjm.ntree, np.int64), np.zeros(mjm.ntree, np.int64)
    tree = mjm.body_treeid[mjm.geom_bodyid]
    moves = tree >= 0
    np.bitwise_or.at(kind, tree[moves], mjm.geom_contype[moves])
    np.bitwise_or.at(affinity, tree[moves], mjm.geom_conaffinity[moves])
    meets = (kind[trees][:, None] & affinity[trees]) != 0
    meets |= meets.T
    np.fill_diagonal(meets, False)
    return bool((meets.sum(1) + 1 >= CROWD).mean() > 0.5)
