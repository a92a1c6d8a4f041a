"""The numbers of `model.fields` from a compiled `mujoco.MjModel`: every rule that is fixed when a model is loaded."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

import mujoco
import numpy as np

from ...base.fields import SMALL_BITS, layout
from ...base.joints import is_free, rotation_dofs
from ...base.shapes import MESH
from ...base.shapes.mesh import BLOCK
from ...files.mjmodel.actuators import actuator_types, on_joints, output_controls, owners
from ...files.mjmodel.contact_sensors import contact_sensor_values, sensor_sizes
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.pairs import explicit_pair_number, explicit_pairs, possible_pairs, without
from ...mechanics.collision.broad.broad_phase import Split, sweep_sizes, sweep_tables
from ...mechanics.collision.broad.static_grid_model import WARM, grid_sizes, grid_tables, gridded
from ...mechanics.collision.pair_table import PAIR_TABLE, rows_of
from ...mechanics.dynamics.actuation import IDLE, PLAIN
from ..condition import worst_condition
from ..parts import ACTUATOR_KINDS, PARTS, ROWS
from ..parts.part import EQUALITY, FRICTION
from ..rules import has_narrow_phase
from .distance_fields import FieldOptions, distance_field_sizes, distance_field_values
from .fields import INTEGERS, OPTIONS, REALS
from .height_fields import field_sizes, field_values
from .hulls import Hulls
from .kernel_numbers import RULES, kernel_numbers

_D = mujoco.mjtDisableBit

LONG_RUN = 2
"""The least number of successive pairs with one static geom for which it pays to test if anything is near that geom."""
MOST_WARM = 4000
"""The most convex pairs for which each stores the axis that separated it; with more, storing costs too much."""
_CONVEX = [row for row, pair in enumerate(PAIR_TABLE) if pair.group == "convex"]
"""The rows of the dispatch table served by GJK and EPA."""


def pack(
    mjm: mujoco.MjModel, pairs: Split, fields: FieldOptions = MappingProxyType({})
) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    """Return sizes and all field values of a supported model.

    Args:
        mjm: the model.
        pairs: pairs of geoms that can have contacts (`contact_pairs`), by how they are found.
        fields: options of distance fields by the name of a mesh.

    Returns:
        (sizes, values): the named sizes; for each field an array of `items x width` numbers.
    """
    derived = {"condition": np.array([[worst_condition(mjm)]])}
    values = {name: found[0] for name, found in kernel_numbers(mjm, RULES, derived).items()}
    values.update(_options(mjm))
    values.update(_bodies(mjm))
    values.update(_joints(mjm))
    kept = ("dof_treeid", "tree_dofadr", "tree_dofnum", "site_bodyid", "site_pos", "site_quat")
    values.update({name: getattr(mjm, name) for name in kept})
    values["tree_is_body"] = values["body_is_single_free"][mjm.dof_bodyid[mjm.tree_dofadr]]
    values.update(_actuators(mjm))
    for part in PARTS:
        values.update(part.values(mjm))
    for part in PARTS:
        values.update({n: change(mjm, values[n]) for n, change in part.amends.items() if n not in RULES})
    values.update(_meshes(mjm))
    values.update(distance_field_values(mjm, np.concatenate(pairs), fields))
    values.update(field_values(mjm))
    tables = sweep_tables(mjm, pairs.swept)
    static = grid_tables(mjm, gridded(mjm, pairs.gridded), values["geom_half"])
    values.update(tables | static)
    values.update(_geoms(mjm, pairs))
    values.update(_pairs(mjm, pairs.listed))
    values.update(_runs(mjm, np.column_stack((values["pair_geom1"], values["pair_geom2"])), values["pair_start"]))
    values.update(_explicit_pairs(mjm))
    values["dof_coupledid"] = coupled_parents(mjm)
    values.update(contact_sensor_values(mjm))
    sizes = _sizes(mjm, values) | sweep_sizes(tables) | grid_sizes(static)
    for field in (*INTEGERS, *REALS, *OPTIONS):
        if values[field.name].size != field.length(sizes):
            raise AssertionError(f"{field.name}: {values[field.name].size} numbers for {field.length(sizes)}")
    return sizes, values


def _sizes(mjm: mujoco.MjModel, values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the named sizes of a model whose fields have been computed, except sizes of a sweep and a grid."""
    sizes = {n: int(getattr(mjm, n)) for n in ("nq", "nv", "nu", "nbody", "nmocap", "njnt", "ngeom", "nsite", "ntree")}
    sizes.update(
        one=1,
        nout=len(values["actuator_type"]),
        npairtype1=len(PAIR_TABLE) + 1,
        npair=len(values["pair_geom1"]),
        nrungeom=len(values["run_geom"]),
        nexplicit=mjm.npair,
        nframed=len(values["framed_geom"]),
        nwarm=_warm_pairs(values["pair_start"], values["class_start"]) if not len(values["sweep_geom"]) else 0,
        **_row_sizes(values),
        **field_sizes(values),
        **distance_field_sizes(values),
        nvert=len(values["vert_corneradr"]),
        nvertblock=len(values["vert_block"]),
        ncorner=len(values["corner_next"]),
        npoly=len(values["poly_vertnum"]),
        npolyvert=len(values["poly_vert"]),
        ngrid=len(values["grid_vert"]),
        nway=len(values["way_vert"]),
        **sensor_sizes(mjm, values),
    )
    for part in PARTS:
        sizes.update(part.sizes(mjm, values))
    return sizes


def contact_pairs(mjm: mujoco.MjModel, ignored: np.ndarray | None = None) -> np.ndarray:
    """Return the pairs of geoms (n, 2) that can have contacts and have a narrow phase, except the ignored ones."""
    pairs = possible_pairs(mjm)
    pairs = pairs[has_narrow_phase(mjm, pairs)].reshape(-1, 2)
    return pairs if ignored is None else without(mjm, pairs, ignored)


def row_pairs(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the number of pairs, of (n, 2), that each row of the dispatch table serves."""
    types = mjm.geom_type[pairs]
    return np.bincount(rows_of(types[:, 0], types[:, 1]), minlength=len(PAIR_TABLE))


def check_size(source: str, values: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError if ids or counts need more bits than kernels read."""
    for field in INTEGERS:
        largest, most = np.max(values[field.name], initial=0), (1 << SMALL_BITS) - 1
        if field.small and largest > most:
            raise ValueError(f"{source}: too large a model: {field.name} reaches {largest}, and {most} is the most")


def flatten(fields: tuple, values: dict[str, np.ndarray], sizes: dict[str, int], dtype: type) -> np.ndarray:
    """Return the fields in one flat array, in the order of declaration; at least one number long."""
    _, total = layout(fields, sizes)
    flat: list[np.ndarray] = [np.asarray(values[f.name], dtype=dtype).reshape(-1) for f in fields]
    return np.concatenate(flat) if total else np.zeros(1, dtype)


def _options(mjm: mujoco.MjModel) -> dict:
    """Return the options that kernels read."""
    return {
        "timestep": np.array([mjm.opt.timestep]),
        "impratio": np.array([mjm.opt.impratio]),
        "least_timeconst": np.array([0.0 if disabled(mjm, _D.mjDSBL_REFSAFE) else 2.0 * mjm.opt.timestep]),
        "tolerance": np.array([mjm.opt.tolerance]),
        "ls_tolerance": np.array([mjm.opt.ls_tolerance]),
        "noslip_tolerance": np.array([mjm.opt.noslip_tolerance]),
        "ccd_tolerance": np.array([mjm.opt.ccd_tolerance]),
    }


def _bodies(mjm: mujoco.MjModel) -> dict:
    """Return the integer fields of bodies."""
    floats = np.zeros(mjm.nbody, int)
    alone = np.zeros(mjm.nbody, int)
    for b in range(1, mjm.nbody):
        if mjm.body_jntnum[b] == 1 and is_free(mjm.jnt_type[mjm.body_jntadr[b]]):
            floats[b] = 1
            tree = mjm.dof_treeid[mjm.body_dofadr[b]]
            alone[b] = mjm.tree_dofnum[tree] == 6
    out = {n: getattr(mjm, n) for n in ("body_parentid", "body_rootid", "body_jntnum", "body_dofnum", "body_mocapid")}
    out["body_jntadr"] = np.maximum(mjm.body_jntadr, 0)
    out["body_dofadr"] = np.maximum(mjm.body_dofadr, 0)
    last = np.full(mjm.nbody, -1)
    for b in range(1, mjm.nbody):
        own = int(mjm.body_dofnum[b])
        last[b] = mjm.body_dofadr[b] + own - 1 if own else last[mjm.body_parentid[b]]
    return {**out, "body_is_free": floats, "body_is_single_free": alone, "body_lastdof": last}


def _joints(mjm: mujoco.MjModel) -> dict:
    """Return the fields of joints and dofs."""
    depth = np.ones(mjm.nv, int)
    for dof in range(mjm.nv):
        if mjm.dof_parentid[dof] >= 0:
            depth[dof] += depth[mjm.dof_parentid[dof]]
    names = ("jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_pos", "jnt_axis", "dof_bodyid", "dof_jntid")
    out = {n: getattr(mjm, n) for n in names}
    return out | {
        "jnt_at_origin": (mjm.jnt_pos == 0).all(1).astype(int),
        "dof_is_rotation": rotation_dofs(mjm).astype(int),
        "dof_depth": depth,
        "dof_parentid": mjm.dof_parentid,
        "dof_is_simple": (mjm.M_rownnz == 1).astype(int),
    }


def _actuators(mjm: mujoco.MjModel) -> dict:
    """Return the integer fields of actuators, an entry for each of their outputs."""
    of = owners(mjm)
    joint = np.where(on_joints(mjm), mjm.actuator_trnid[:, 0], 0)[of]
    kind, number = np.zeros((2, mjm.nactuator), int)
    for each in ACTUATOR_KINDS:
        found = each.actuators(mjm)
        kind[found], number[found] = each.gaintype, np.arange(len(found))
    if disabled(mjm, _D.mjDSBL_ACTUATION):
        kind[kind != PLAIN] = IDLE
    return {
        "actuator_servo": kind[of],
        "actuator_servoid": number[of],
        "actuator_ctrladr": output_controls(mjm),
        "actuator_type": actuator_types(mjm)[of],
        "actuator_inparent": (mjm.actuator_trntype[of] == int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)).astype(int),
        "actuator_qposadr": mjm.jnt_qposadr[joint] if mjm.njnt else joint,
        "actuator_dofadr": mjm.jnt_dofadr[joint] if mjm.njnt else joint,
    }


def _geoms(mjm: mujoco.MjModel, pairs: Split) -> dict:
    """Return the integer fields of geoms, from the pairs that can have contacts."""
    collides = np.zeros(mjm.ngeom, int)
    for found in pairs:
        collides[found.reshape(-1)] = 1
    moves = mjm.body_weldid[mjm.geom_bodyid[pairs.gridded]] > 0
    framed = np.concatenate((pairs.listed.reshape(-1), pairs.swept.reshape(-1), pairs.gridded[moves]))
    return {f"geom_{n}": getattr(mjm, f"geom_{n}") for n in ("bodyid", "type", "condim", "priority")} | {
        "geom_collides": collides,
        "framed_geom": np.unique(framed),
        "geom_rootid": mjm.body_rootid[mjm.geom_bodyid],
    }


def _meshes(mjm: mujoco.MjModel) -> dict:
    """Return vertices, faces and search tables of the hull of every mesh that a geom uses."""
    start, count, block, grid = np.zeros((4, mjm.ngeom), int)
    hulls, placed = Hulls(), {}
    for g in np.nonzero(mjm.geom_type == MESH)[0]:
        mesh = int(mjm.geom_dataid[g])
        if mesh not in placed:
            placed[mesh] = hulls.add(mjm, mesh)
        start[g], count[g], block[g], grid[g] = placed[mesh]
    return {
        "geom_vertadr": start,
        "geom_vertnum": count,
        "geom_gridadr": grid,
        "grid_vert": np.array(hulls.grid, int),
        "vert_pos": np.concatenate([*hulls.points, np.zeros((0, 3))]),
        "vert_block": np.concatenate([*hulls.blocks, np.zeros((0, 3 * BLOCK))]),
        "geom_blockadr": block,
        "vert_corneradr": np.array(hulls.corner_start, int),
        "vert_cornernum": np.array(hulls.corner_count, int),
        "corner_poly": np.array(hulls.corner_face, int),
        "corner_before": np.array(hulls.before, int),
        "vert_wayadr": np.cumsum([0, *map(len, hulls.ways)], dtype=int)[:-1],
        "vert_waynum": np.array([len(way) for way in hulls.ways], int),
        "way_vert": np.concatenate([*hulls.ways, np.zeros(0, int)]),
        "poly_vertadr": np.cumsum([0, *map(len, hulls.faces)], dtype=int)[:-1],
        "poly_vertnum": np.array([len(face) for face in hulls.faces], int),
        "poly_vert": np.array([v for face in hulls.faces for v in face], int),
        "corner_next": np.array(hulls.following, int).reshape(-1, 3),
        "corner_normal": np.array(hulls.normals).reshape(-1, 3),
    }


def _pairs(mjm: mujoco.MjModel, pairs: np.ndarray) -> dict:
    """Return the pairs sorted by their row of the dispatch table."""
    row = rows_of(mjm.geom_type[pairs[:, 0]], mjm.geom_type[pairs[:, 1]])
    order = np.argsort(row, kind="stable")
    return {
        "pair_start": np.searchsorted(row[order], np.arange(len(PAIR_TABLE) + 1)),
        "pair_geom1": pairs[order, 0],
        "pair_geom2": pairs[order, 1],
    }


def _runs(mjm: mujoco.MjModel, pairs: np.ndarray, start: np.ndarray) -> dict:
    """Return the runs of `LONG_RUN` or more successive pairs of one table row with the same static geom.

    Explicit pairs belong to no run.
    """
    moves = mjm.body_weldid[mjm.geom_bodyid[pairs]] > 0
    static = np.where(moves[:, 0], pairs[:, 1], pairs[:, 0])
    eligible = (~moves).any(axis=1) & (explicit_pair_number(mjm, pairs) < 0)
    row = np.searchsorted(start, np.arange(len(pairs)), side="right")
    key = np.where(eligible, row * mjm.ngeom + static, -1 - np.arange(len(pairs)))
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))[: len(key)])
    count = np.zeros(len(pairs), int)
    count[first] = np.diff(first, append=len(pairs))
    count[count < LONG_RUN] = 0
    within = np.repeat(count[first], np.diff(first, append=len(pairs))) > 0
    return {"pair_run": count, "run_static": static, "run_geom": np.unique(pairs[within][moves[within]])}


def _explicit_pairs(mjm: mujoco.MjModel) -> dict:
    """Return the explicit pairs sorted by geom 1, so that a kernel finds the explicit pair of two geoms."""
    own = explicit_pairs(mjm)
    order = np.argsort(own[:, 0], kind="stable")
    return {
        "explicit_start": np.searchsorted(own[order, 0], np.arange(mjm.ngeom)),
        "explicit_count": np.bincount(own[:, 0], minlength=mjm.ngeom),
        "explicit_geom2": own[order, 1],
        "explicit_pair": order,
        "pair_dim": mjm.pair_dim,
    }


def _row_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the numbers of two-sided constraint rows: of equalities, of friction losses, of both."""
    ne, nf = (sum(len(rows.dofs(values)) for rows in ROWS if rows.kind == kind) for kind in (EQUALITY, FRICTION))
    return {EQUALITY: ne, FRICTION: nf, "ntwosided": ne + nf}


def _warm_pairs(pair_start: np.ndarray, class_start: np.ndarray) -> int:
    """Return how many axes are stored that separated convex pairs, listed or of a grid; 0 if there are too many."""
    listed, gridded = (int(starts[_CONVEX[-1] + 1] - starts[_CONVEX[0]]) for starts in (pair_start, class_start))
    count = listed + WARM * gridded
    return count if count <= MOST_WARM else 0


def coupled_parents(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the parent (nv,) of each dof in the tree that gives the Hessian's pattern; -1 for a root.

    It is the kinematic tree, with two branches merged into one path if a constraint row couples them. Contacts merge
    branches in the same way at run time (`constraint.hessian_pattern`).
    """
    return joined_paths(mjm.dof_parentid, (dofs for rows in ROWS for dofs in rows.couples(mjm)))


def joined_paths(parents: np.ndarray, coupled: Iterable[np.ndarray]) -> np.ndarray:
    """Return the parents (nv,) of a tree in which the dofs of each array in `coupled` are on one path to the root."""
    parent = np.array(parents)
    for dofs in coupled:
        for i, j in pairwise(dofs):
            _join(parent, int(i), int(j))
    return parent


def _join(parent: np.ndarray, i: int, j: int) -> None:
    """Merge the paths from i and from j to the root into one, in descending order."""
    low, high = min(i, j), max(i, j)
    while low != high:
        up = int(parent[high])
        if up < low:
            parent[high] = low
            low, high = up, low
        else:
            high = up
