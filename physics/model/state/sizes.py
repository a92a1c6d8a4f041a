"""Sizes and offsets: the header that tells a kernel where every number of a model and of its scratch is stored."""

from collections.abc import Collection, Sequence

import mujoco
import numpy as np

from ...base.fields import layout
from ...base.hooks import CONTROLS
from ...files.mjmodel.flags import disabled
from ...mechanics.collision.pair_table import CANDIDATES, PAIR_TABLE, PRISMS
from ...mechanics.dynamics.stage_time import EULER, IMPLICIT, IMPLICITFAST, RK4
from ..features import (
    has_elliptic_cones,
    has_noslip,
    has_pulls,
    has_repeated_pairs,
    is_implicit,
    needs_double_solver,
    needs_mixed_precision,
)
from ..model import Model
from ..parts import PARTS, ROWS
from ..parts.part import FRICTION, Part
from ..solver_choice import CG, MUJOCO
from ..tables.fields import INTEGERS, OPTIONS, PRECISE, REALS
from ..tables.height_fields import CORNERS
from ..tables.kernel_numbers import RULES
from ..tables.pack import flatten
from .capacity import MOST_LANES, Capacity, most_capacity
from .fields import CONVEX, DOUBLED, DOUBLES, GROWING_FIELDS, PIECES, ROUNDED, SCRATCH, SCRATCH_INDICES
from .memory import MEMORY, START

SIZES = tuple(
    """
    one six cone nq nv nu nout nbody nmocap njnt ngeom nsite npairtype1 npair nrungeom nvert nvertblock ncorner
    max_contacts ne nf ntwosided
    nexplicit ncon naxis nblock nblockdof njac nM nH nqrest ntree nsolve ncgdof ncgbody nown nside nparameter
    nprecise nrounded ndoubled nhullpair npoint npolygon most_ncon nsweep nexplicitplace nword nlisted nccdframe
    nccdpoint nccdface nccdedge nccdcorner nccdpolygon nccdflat nccdlist npoly npolyvert ngrid nway nsense nsensed
    nsdf nsdfvalue nsdfpoint nsdfedge nsdfend nsdfball
    nhfield nhfieldlevel nhfieldpeak nhfielddata npiece nhit
    nlimitsense nstart nframed nstatic ngridgeom ngridgroup nstaticclass nclasspair nstatichit
    """.split()
) + tuple(dict.fromkeys(dim for part in PARTS for field in part.all_fields() for dim in field.dims))
"""The names of all sizes, in the order of the header."""
FLAGS = (
    *("integrator", "iterations", "ls_iterations", "ccd_iterations", "multiccd", "euler_damping", "warmstart"),
    *("actuates", "noslip_iterations", "ccd_follows", "first_rounded"),
)
"""The names of options and flags, in the order of the header."""

_FIELDS = sorted((*OPTIONS, *REALS), key=lambda field: (field.name not in RULES, field.name not in PRECISE))
PARAMETER_FIELDS = tuple(field for field in _FIELDS if field.name in RULES)
"""The fields that may be per-environment parameters: the first of the flat real numbers, first the ones in PRECISE."""
ARRAYS = {"numbers": SCRATCH, "indices": SCRATCH_INDICES, "doubles": DOUBLES, "convex": (*CONVEX, *PIECES)}
"""The arrays of a worker's scratch: lane numbers, integers, lane numbers in double precision, doubles of one lane."""
GROUPS = {
    "integers": INTEGERS,
    "reals": tuple(_FIELDS),
    **ARRAYS,
}
"""The fields of each flat array; the header has an offset for each of them."""
STRIDES = tuple(f"{name}_rows" for name in ARRAYS)
"""The names of the numbers of items that one worker has of each array."""
HEADER: tuple[str, ...] = (
    *SIZES,
    *FLAGS,
    *STRIDES,
    *(f"{group}.{f.name}" for group, fields in GROUPS.items() for f in fields),
)
"""The names of all numbers of the header, in order."""


_WHOLE_LINES = 64  # numbers, of any type and width, that fill whole cache lines
SINGLE_TOLERANCE = 1e-6
"""The least solver tolerance in single precision: below it rounding, not convergence, ends the iterations."""
MOST_POINTS = 8
"""The most contacts of a pair, except MuJoCo's of a height field."""
MOST_EXPANSIONS = 1000
"""The most steps of EPA: corners of a polytope have numbers of ten bits."""
SINGLE_CCD_TOLERANCE = 1e-7
"""The least tolerance of the distances of convex shapes in single precision, in metres."""
EXACT_CCD_TOLERANCE = 1e-9
"""Metres: up to this tolerance depths are exact by any method; above it, EPA stops where MuJoCo's does."""
_INTEGRATORS = {
    int(mujoco.mjtIntegrator.mjINT_EULER): EULER,
    int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST): IMPLICITFAST,
    int(mujoco.mjtIntegrator.mjINT_RK4): RK4,
    int(mujoco.mjtIntegrator.mjINT_IMPLICIT): IMPLICIT,
}


def all_sizes(model: Model, room: Capacity, parameters: bool = False, lanes: int = MOST_LANES) -> dict[str, int]:
    """Return the sizes of the model and of the scratch, by name; `room` has the capacities that depend on the state.

    With `parameters` the scratch has copies of the numbers that environments override. `lanes` is the largest number of
    environments that share a scratch.
    """
    sizes, values, contacts = model.sizes, model.values, room.contacts
    most = most_capacity(model, lanes)
    row_dofs = np.concatenate([of.dofs(values) for of in ROWS])
    rows, joint_dofs = len(row_dofs), int(row_dofs.sum())
    deepest = int(values["dof_depth"].max(initial=0))
    dofs = contacts * min(sizes["nv"], 2 * deepest)
    cg = model.solver == CG
    axes = int(np.concatenate((values["geom_condim"][values["geom_collides"] == 1], values["pair_dim"])).max(initial=1))
    blocks = {
        "ncon": contacts,
        "most_ncon": most.contacts,
        "nblock": rows + contacts,
        "nblockdof": joint_dofs + (0 if cg else dofs),
        "njac": joint_dofs + (0 if cg else dofs * axes),
        "nsolve": 1 if cg else sizes["ntree"],
        "ncgdof": sizes["nv"] if cg else 0,
        "ncgbody": sizes["nbody"] if cg else 0,
        "naxis": axes,
        "max_contacts": min(most.contacts, model.max_contacts),
        "nfurther": (has_repeated_pairs(model) or has_pulls(model)) * contacts,
        "npull": has_pulls(model) * contacts,
        "ngridcon": (sizes["nstatic"] > 0) * contacts,
        "nown": contacts + 1 if cg else 0,
        "nside": 2 * contacts if cg else 0,
        "nconeblock": has_elliptic_cones(model) * (rows + contacts),
        "nowncone": has_elliptic_cones(model) * (contacts + 1 if cg else 0),
    }
    blocks.update(_noslip(model, rows, contacts, deepest, axes))
    matrices = {"nM": int(values["dof_depth"].sum()), "nH": room.entries}
    common = {**sizes, "one": 1, "six": 6, "two": 2, "cone": 11, **blocks, **matrices}
    own = {
        "nparameter": parameters * layout(PARAMETER_FIELDS, sizes)[1],
        "nprecise": parameters * layout(tuple(f for f in PARAMETER_FIELDS if f.name in PRECISE), sizes)[1],
        "nrounded": needs_mixed_precision(model) * layout(ROUNDED, sizes)[1],
        "ndoubled": needs_double_solver(model) * layout((*ROUNDED, *DOUBLED), common)[1],
    }
    return {
        **common,
        **_optional(model, matrices["nM"]),
        **own,
        **_pairs(model, room),
        **_broad_phase(sizes, room),
        **polytope_sizes(model, _has_convex_pairs(model)),
        **{name: size for part in PARTS for name, size in _room_of(part, model, parameters).items()},
    }


def _room_of(part: Part, model: Model, parameters: bool) -> dict[str, int]:
    """Return the sizes of a part's workspace: 0 in models without it, unless numbers of environments may bring it."""
    present = part.wanted(model) or (parameters and bool(part.wanted_with))
    return {name: present * size for name, size in part.room(model).items()}


def _pairs(model: Model, room: Capacity) -> dict[str, int]:
    """Return the sizes of the work list, and of the fields of collision routines."""
    pairs, listed = model.row_pairs, np.diff(model.values["pair_start"])
    solids, terrain = (bool(pairs @ [row.group == group for row in PAIR_TABLE]) for group in ("solids", "terrain"))
    near = int(listed @ [bool(row.group) for row in PAIR_TABLE]) + room.pairs * (model.sizes["nsweep"] > 0)
    points = PRISMS if terrain and model.hfield == MUJOCO else MOST_POINTS
    hulls = {"nhullpair": near, "npoint": points, "npolygon": 24 * solids}
    return {
        **hulls,
        "npiece": CORNERS * terrain,
        "nhit": CANDIDATES * (terrain or model.sizes["nsdf"] > 0),
        "nground": int(terrain or model.row_pairs @ [row.group == "field_terrain" for row in PAIR_TABLE] > 0),
    }


def _optional(model: Model, entries: int) -> dict[str, int]:
    """Return the sizes of fields that few models need."""
    sizes, implicit = model.sizes, is_implicit(model)
    return {
        "nqrest": needs_mixed_precision(model) * sizes["nq"],
        "nacting": any(part.wanted(model) for part in PARTS if CONTROLS in part.hooks) * sizes["nu"],
        "nimplicitM": implicit * entries,
        "nimplicitbody": implicit * sizes["nbody"],
        "nimplicitdof": implicit * sizes["nv"],
    }


def _noslip(model: Model, rows: int, contacts: int, deepest: int, axes: int) -> dict[str, int]:
    """Return the sizes of the fields of noslip.

    A contact's row of friction has the dofs of two paths to a root, a loss's row the dofs of the paths from all of its
    dofs.
    """
    has, path = has_noslip(model), min(model.sizes["nv"], 2 * deepest)
    paths = np.concatenate([of.dofs(model.values) for of in ROWS if of.kind == FRICTION])
    losses = int(np.minimum(paths * deepest, model.sizes["nv"]).sum())
    return {
        "nslipcon": has * contacts,
        "nslipblock": has * (rows + contacts),
        "nslipdof": has * (losses + contacts * path),
        "nslipy": has * (losses + contacts * path * (axes - 1)),
        "nslipv": has * model.sizes["nv"],
        "nsliptree": has * model.sizes["ntree"],
        "nslipaxis": has * 5,
        "nslipentry": has * 15,
    }


def _broad_phase(sizes: dict[str, int], room: Capacity) -> dict[str, int]:
    """Return the sizes of the fields of a sweep, and of a grid."""
    count, lists = sizes["nsweep"], sizes["ngridgeom"] * MOST_LANES
    return {
        **{"nsweeprow": count, "nsweepword": count * sizes["nword"], "nlisted": room.pairs * (count > 0)},
        **{
            "nstatichit": room.pairs * (lists > 0),
            "nstaticstart": lists + (lists > 0),
            "nstaticlane": MOST_LANES * (lists > 0),
        },
        "nstaticnear": sizes["nstatic"] + (lists > 0),
    }


def _has_convex_pairs(model: Model) -> bool:
    """Return True if GJK and EPA serve a pair of the model."""
    return bool(model.row_pairs @ [row.served != "" for row in PAIR_TABLE])


def polytope_sizes(model: Model, has: bool) -> dict[str, int]:
    """Return the sizes of the fields of GJK and EPA; 0 unless `has`.

    A polytope with n corners has 2 n - 4 faces.
    """
    corners = has * (4 + ccd_iterations(model) + 1)
    polygon = has * int(max(16, model.values["poly_vertnum"].max(initial=0)))  # 16: a cylinder's end (`manifold`)
    around = has * int(max(3, model.values["vert_cornernum"].max(initial=0)))  # 3: faces at a corner of a box
    return {
        **{"nccdframe": 8 * has, "nccdpoint": corners, "nccdface": 2 * corners + 8 * has, "nccdedge": 6 * corners},
        **{"nccdcorner": polygon, "nccdpolygon": 5 * polygon, "nccdflat": around, "nccdlist": 2 * around},
    }


def ccd_iterations(model: Model) -> int:
    """Return the largest number of steps of GJK, and of EPA; at most a thousand, as in MuJoCo's EPA."""
    return int(np.clip(model.mj.opt.ccd_iterations, 1, MOST_EXPANSIONS))


def header(model: Model, sizes: dict[str, int], damped: bool = False) -> np.ndarray:
    """Return sizes, flags and the offset of every field, in the order of `HEADER`, int32.

    `damped` says that dofs may have dampers although the file has none.
    """
    options = model.mj.opt
    off = int(disabled(model.mj, mujoco.mjtDisableBit.mjDSBL_EULERDAMP))
    flags = {
        "integrator": _INTEGRATORS[int(options.integrator)],
        "iterations": max(1, int(options.iterations)),
        "ls_iterations": int(options.ls_iterations),
        "ccd_iterations": ccd_iterations(model),
        "multiccd": int(not disabled(model.mj, mujoco.mjtDisableBit.mjDSBL_MULTICCD)),
        "euler_damping": int(damped or sizes["nparameter"] > 0 or _damped(model)) * (1 - off),
        "noslip_iterations": int(options.noslip_iterations),
        "ccd_follows": int(options.ccd_tolerance > EXACT_CCD_TOLERANCE),
        "warmstart": int(not disabled(model.mj, mujoco.mjtDisableBit.mjDSBL_WARMSTART)),
        "actuates": int(not disabled(model.mj, mujoco.mjtDisableBit.mjDSBL_ACTUATION)),
        "first_rounded": layout(SCRATCH, sizes)[0][DOUBLES[1].name],
    }
    numbers = [sizes[n] for n in SIZES] + [flags[n] for n in FLAGS] + list(scratch_rows(sizes))
    for group, fields in GROUPS.items():
        start = len(HEADER) if group == "integers" else 0
        numbers += [start + offset for offset in layout(fields, sizes)[0].values()]
    return np.array(numbers, np.int32)


def _damped(model: Model) -> bool:
    """Return True if Euler's integrator may treat dampers implicitly: any may be damped, and dampers are enabled."""
    mj = model.mj
    found = (mj.dof_damping > 0).any() or mj.dof_dampingpoly.any() or (mj.jnt_actuatorid != -1).any()
    return bool(found) and not disabled(mj, mujoco.mjtDisableBit.mjDSBL_DAMPER)


def flat_integers(model: Model, sizes: dict[str, int]) -> np.ndarray:
    """Return the header followed by all integer fields, int32."""
    return np.concatenate([header(model, sizes), flatten(INTEGERS, model.values, sizes, np.int32)])


def flat_reals(model: Model, dtype: type) -> np.ndarray:
    """Return all real fields in the precision of `dtype`; in single precision tolerances have a lower bound."""
    values = dict(model.values)
    if dtype is np.float32:
        if not needs_double_solver(model):
            values["tolerance"] = np.maximum(values["tolerance"], SINGLE_TOLERANCE)
        values["ccd_tolerance"] = np.maximum(values["ccd_tolerance"], SINGLE_CCD_TOLERANCE)
    return flatten(GROUPS["reals"], values, model.sizes, dtype)


def solver_notes(model: Model, single: bool) -> list[str]:
    """Return a sentence for each option of the file that the solver does not follow."""
    asked, notes = model.mj.opt, []
    if single and asked.tolerance < SINGLE_TOLERANCE and not needs_double_solver(model):
        notes.append(
            f"tolerance {asked.tolerance:g}: taken as {SINGLE_TOLERANCE:g}, the least that single precision can reach"
        )
    if asked.iterations < 1:
        notes.append(f"iterations {asked.iterations}: taken as 1, in which islands without contacts are solved exactly")
    return notes


def scratch_rows(sizes: dict[str, int]) -> tuple[int, ...]:
    """Return the items of each of `ARRAYS` for one worker, rounded up so that no cache line belongs to two workers."""
    rows = {name: layout(group, sizes)[1] for name, group in ARRAYS.items()}
    rows["doubles"] = sizes["nprecise"] + max(sizes["nrounded"], sizes["ndoubled"])
    return tuple(-(-count // _WHOLE_LINES) * _WHOLE_LINES for count in rows.values())


def kinds(width: int, precision: str) -> tuple[tuple[int, str], ...]:
    """Return for each of `ARRAYS` the lanes of an item and the type of its numbers, as Taichi and numpy name it."""
    return (width, f"float{precision}"), (1, "int32"), (width, "float64"), (1, "float64")


def bytes_of(rows: Sequence[int], width: int, precision: str) -> int:
    """Return the bytes of the given numbers of items of `ARRAYS`."""
    return int(np.dot(rows, [lanes * np.dtype(kind).itemsize for lanes, kind in kinds(width, precision)]))


def stored_numbers(sizes: dict[str, int], outputs: Collection[str]) -> int:
    """Return how many numbers a batch stores for each environment: its memory, and the outputs that steps deliver."""
    memory = max(group.stop for group in memory_groups(sizes).values())
    delivered = (field for field in SCRATCH if field.name in outputs and field.name not in GROWING_FIELDS)
    return memory + sum(field.length(sizes) for field in delivered)


def memory_groups(sizes: dict[str, int]) -> dict[str, slice]:
    """Return the rows of each group of an environment's memory (`memory.MEMORY`), and of `START` if it is stored."""
    groups, first = {}, 0
    for name, fields in (MEMORY | {"START": START if sizes["nstart"] else ()}).items():
        groups[name] = slice(first, first + layout(fields, sizes)[1])
        first = groups[name].stop
    return groups
