"""Options of Tumble's own: the solver, room for contacts, and what overlaps from the start.

A model is solved by Newton's method, or by conjugate gradients where its factor would be dear.

Newton factors a Hessian that couples all bodies that touch, in any of the environments that are stepped side by side.
In a crowd of bodies that may touch each other its pattern fills up, and its cost grows with the cube of their number;
conjugate gradients only ever go through contacts and bodies, one after the other.
"""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from ..mjmodel.pairs import collides
from ..mjmodel.sleep import sleeps
from ..shapes import of_kinds
from .broad_phase import LIST, SWEEP

NEWTON, CG = "newton", "cg"
GJK, MPR = "gjk", "mpr"
"""Values of the option `convex`."""
MUJOCO, TILTS = "mujoco", "tilts"
"""Values of the option `manifold`."""
SPARE_CONTACTS, CONTACTS_OF_ROUND, CONTACTS_OF_FACES = 32, 6, 24
CROWD = 16
"""Trees that may touch one another from which on they are a crowd (measured: `tumble bench solvers`)."""
SMALL_TREE = 12
"""Most dofs a tree of a crowd has in the mean: a robot's many dofs are what Newton is good at."""


class Choices(NamedTuple):
    """Options that MuJoCo does not have.

    Attributes:
        solver: whether the user named a solver.
        max_contacts: most contacts of an environment; None: `default_max_contacts`.
        broad_phase: "pairs" or "sweep"; None: `broad_phase.choose_broad_phase`.
        ignore_reference_overlaps: pairs of geoms that overlap at the reference pose make no contacts.
        convex: "gjk" or "mpr": how convex shapes that no closed form serves are found to overlap, and how deep.
        manifold: "mujoco" or "tilts": whether they have more contacts where no flat sides meet.
    """

    solver: bool
    max_contacts: int | None
    ignore_reference_overlaps: bool = False
    broad_phase: str | None = None
    convex: str = GJK
    manifold: str = MUJOCO


NO_CHOICES = Choices(False, None)


def take_choices(options: Mapping[str, object]) -> tuple[Choices, dict[str, object]]:
    """Tumble's own options, and those for MuJoCo: the fields of mjOption without the solver "auto".

    Raises:
        ValueError: `max_contacts` is not a whole number above zero, or another option not one of its values.
    """
    rest = dict(options)
    most = rest.pop("max_contacts", None)
    if most is not None and (not isinstance(most, (int, np.integer)) or isinstance(most, bool) or most < 1):
        raise ValueError(f"option max_contacts: {most!r} is not a whole number above zero")
    ignored = rest.pop("ignore_reference_overlaps", False)
    if not isinstance(ignored, (bool, np.bool_)):
        raise ValueError(f"option ignore_reference_overlaps: {ignored!r} is not True or False")
    broad = _take_name(rest, "broad_phase", None, (LIST, SWEEP))
    convex, manifold = (
        _take_name(rest, "convex", GJK, (GJK, MPR)),
        _take_name(rest, "manifold", MUJOCO, (MUJOCO, TILTS)),
    )
    asked = rest.get("solver")
    if isinstance(asked, str) and asked.lower() == "auto":
        del rest["solver"]
        asked = None
    room = None if most is None else int(most)
    return Choices(asked is not None, room, bool(ignored), broad, str(convex), str(manifold)), rest


def _take_name(rest: dict[str, object], option: str, default: str | None, names: tuple[str, str]) -> str | None:
    """An option that is one of two names."""
    name = rest.pop(option, default)
    if name != default and name not in names:
        raise ValueError(f"option {option}: {name!r} is neither '{names[0]}' nor '{names[1]}'")
    return None if name is None else str(name)


def default_max_contacts(mjm: mujoco.MjModel) -> int:
    """Room for the contacts of one environment: some for every geom that moves and collides, more for those with faces.

    Spheres lie in a pile with at most six contacts each (twelve neighbours, half of them counted), boxes with about as
    many faces that meet in four points. A robot's geoms have far fewer.
    """
    moves = mjm.body_dofnum[mjm.body_weldid[mjm.geom_bodyid]] > 0
    kinds = mjm.geom_type[collides(mjm) & moves]
    faces = np.isin(kinds, list(of_kinds("list_faces")))
    return SPARE_CONTACTS + CONTACTS_OF_ROUND * int((~faces).sum()) + CONTACTS_OF_FACES * int(faces.sum())


def choose_solver(mjm: mujoco.MjModel, chosen: bool) -> tuple[str, list[str]]:
    """The solver of a model, and notes on it.

    Args:
        mjm: the compiled model.
        chosen: whether the user chose mjm.opt.solver; else the file did, perhaps by leaving the default.
    """
    asked = mujoco.mjtSolver(int(mjm.opt.solver))
    if sleeps(mjm):
        newton = asked == mujoco.mjtSolver.mjSOL_NEWTON
        return NEWTON, [] if newton else [f"solver {asked.name[6:]}: Tumble uses Newton where islands may sleep"]
    if asked == mujoco.mjtSolver.mjSOL_CG and mjm.nv:
        return CG, []
    if asked == mujoco.mjtSolver.mjSOL_PGS:
        return NEWTON, ["solver PGS: Tumble uses Newton, which solves the same convex problem"]
    if chosen or not _is_crowd(mjm):
        return NEWTON, []
    return CG, [
        "solver: conjugate gradients, as fits many bodies that may touch each other; they end with accelerations about "
        "2e-5 of their size away from Newton's. Options solver='newton' and tolerance choose otherwise"
    ]


def _is_crowd(mjm: mujoco.MjModel) -> bool:
    """Whether many small trees may touch one another."""
    moving = mjm.geom_bodyid[(mjm.geom_contype | mjm.geom_conaffinity) != 0]
    trees = np.unique(mjm.body_treeid[moving])
    trees = trees[trees >= 0]
    return len(trees) >= CROWD and mjm.tree_dofnum[trees].mean() <= SMALL_TREE and _touch_each_other(mjm, trees)


def _touch_each_other(mjm: mujoco.MjModel, trees: np.ndarray) -> bool:
    """Whether contype and conaffinity let geoms of most of the trees touch those of another."""
    kind, affinity = np.zeros(mjm.ntree, np.int64), np.zeros(mjm.ntree, np.int64)
    tree = mjm.body_treeid[mjm.geom_bodyid]
    moves = tree >= 0
    np.bitwise_or.at(kind, tree[moves], mjm.geom_contype[moves])
    np.bitwise_or.at(affinity, tree[moves], mjm.geom_conaffinity[moves])
    meets = (kind[trees][:, None] & affinity[trees]) != 0
    meets |= meets.T
    np.fill_diagonal(meets, False)
    return bool((meets.sum(1) + 1 >= CROWD).mean() > 0.5)
