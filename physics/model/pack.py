"""From a compiled `mujoco.MjModel` to the numbers of `model.fields`: every rule that is fixed at load time."""

from collections.abc import Mapping

import mujoco
import numpy as np

from ..fields import SMALL_BITS, layout
from .condition import worst_condition
from .fields import FINE, INTEGERS, OPTIONS, REALS
from .hulls import Hulls
from .pair_table import PAIR_TABLE, rows_of
from .pairs import has_narrow_phase, possible_pairs
from .solver_params import impedance_params, reference_params

UNLIMITED = 1e30
_D = mujoco.mjtDisableBit
_FREE, _BALL, _SLIDE, _HINGE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{n}")) for n in ("FREE", "BALL", "SLIDE", "HINGE"))


def disabled(mjm: mujoco.MjModel, *bits: mujoco.mjtDisableBit) -> bool:
    """Whether any of the disable flags is set."""
    return any(int(mjm.opt.disableflags) & int(bit) for bit in bits)


def pack(mjm: mujoco.MjModel) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    """Sizes and all field values of a supported model.

    Returns:
        (sizes, values): the named sizes; for each field an array of `items x width` numbers.
    """
    values: dict[str, np.ndarray] = {}
    values.update(_options(mjm))
    values.update(_bodies(mjm))
    values.update(_joints(mjm))
    values.update(_actuators(mjm))
    values.update(_meshes(mjm))
    values.update(_geoms(mjm))
    values.update(_pairs(mjm))
    values.update(_limits(mjm))
    values.update({f"{name}_rest": values[name] - np.float32(values[name]) for name in FINE})
    sizes = {n: int(getattr(mjm, n)) for n in ("nq", "nv", "nu", "nbody", "njnt", "ngeom")}
    sizes.update(
        one=1,
        npairtype1=len(PAIR_TABLE) + 1,
        npair=len(values["pair_geom1"]),
        nlimit=len(values["limit_jnt"]),
        nvert=len(values["vert_corneradr"]),
        ncorner=len(values["corner_next"]),
    )
    for field in (*INTEGERS, *REALS, *OPTIONS):
        if values[field.name].size != field.length(sizes):
            raise AssertionError(f"{field.name}: {values[field.name].size} numbers for {field.length(sizes)}")
    return sizes, values


def check_size(source: str, values: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError where ids or counts need more bits than kernels read."""
    for field in INTEGERS:
        largest, most = np.max(values[field.name], initial=0), (1 << SMALL_BITS) - 1
        if field.small and largest > most:
            raise ValueError(f"{source}: too large a model: {field.name} reaches {largest}, and {most} is the most")


def flatten(fields: tuple, values: dict[str, np.ndarray], sizes: dict[str, int], dtype: type) -> np.ndarray:
    """One flat array of the fields in declaration order, at least one number long."""
    _, total = layout(fields, sizes)
    flat: list[np.ndarray] = [np.asarray(values[f.name], dtype=dtype).reshape(-1) for f in fields]
    return np.concatenate(flat) if total else np.zeros(1, dtype)


def _options(mjm: mujoco.MjModel) -> dict:
    island = not disabled(mjm, _D.mjDSBL_ISLAND)
    return {
        "timestep": np.array([mjm.opt.timestep]),
        "impratio": np.array([mjm.opt.impratio]),
        "least_timeconst": np.array([0.0 if disabled(mjm, _D.mjDSBL_REFSAFE) else 2.0 * mjm.opt.timestep]),
        "tolerance": np.array([mjm.opt.tolerance]),
        "ls_tolerance": np.array([mjm.opt.ls_tolerance]),
        "condition": np.array([worst_condition(mjm)]),
        "solver_scale": np.array([0.0 if island else 1.0 / (mjm.stat.meaninertia * max(1, mjm.nv))]),
        "gravity": np.zeros(3) if disabled(mjm, _D.mjDSBL_GRAVITY) else mjm.opt.gravity,
    }


def _bodies(mjm: mujoco.MjModel) -> dict:
    floats = np.zeros(mjm.nbody, int)
    alone = np.zeros(mjm.nbody, int)
    for b in range(1, mjm.nbody):
        if mjm.body_jntnum[b] == 1 and mjm.jnt_type[mjm.body_jntadr[b]] == _FREE:
            floats[b] = 1
            tree = mjm.dof_treeid[mjm.body_dofadr[b]]
            alone[b] = mjm.tree_dofnum[tree] == 6
    out = {
        name: getattr(mjm, name)
        for name in (
            *("body_parentid", "body_rootid", "body_jntnum", "body_dofnum", "body_pos", "body_quat"),
            *("body_ipos", "body_iquat", "body_mass", "body_inertia", "body_subtreemass"),
        )
    }
    out["body_jntadr"] = np.maximum(mjm.body_jntadr, 0)
    out["body_dofadr"] = np.maximum(mjm.body_dofadr, 0)
    last = np.full(mjm.nbody, -1)
    for b in range(1, mjm.nbody):
        own = int(mjm.body_dofnum[b])
        last[b] = mjm.body_dofadr[b] + own - 1 if own else last[mjm.body_parentid[b]]
    out["body_invweight0"] = mjm.body_invweight0[:, 0]
    return {**out, "body_is_free": floats, "body_alone": alone, "body_lastdof": last}


def _joints(mjm: mujoco.MjModel) -> dict:
    depth = np.ones(mjm.nv, int)
    for dof in range(mjm.nv):
        if mjm.dof_parentid[dof] >= 0:
            depth[dof] += depth[mjm.dof_parentid[dof]]
    springs = 0.0 if disabled(mjm, _D.mjDSBL_SPRING) else 1.0
    dampers = 0.0 if disabled(mjm, _D.mjDSBL_DAMPER) else 1.0
    out = {n: getattr(mjm, n) for n in ("qpos0", "qpos_spring", "jnt_type", "jnt_qposadr", "jnt_dofadr")}
    out |= {n: getattr(mjm, n) for n in ("jnt_pos", "jnt_axis", "dof_bodyid", "dof_jntid", "dof_armature")}
    kinds = mjm.jnt_type[mjm.dof_jntid]
    nth = np.arange(mjm.nv) - mjm.jnt_dofadr[mjm.dof_jntid]
    return out | {
        "jnt_centred": (mjm.jnt_pos == 0).all(1).astype(int),
        "dof_turns": np.where(kinds == _FREE, nth >= 3, kinds != _SLIDE).astype(int),
        "dof_depth": depth,
        "dof_parentid": mjm.dof_parentid,
        "jnt_stiffness": _first(mjm.jnt_stiffness, mjm.njnt) * springs,
        "dof_damping": _first(mjm.dof_damping, mjm.nv) * dampers,
    }


def _first(array: np.ndarray, rows: int) -> np.ndarray:
    """First column of an array of `rows` rows, whatever its shape."""
    return np.asarray(array).reshape(rows, -1)[:, 0] if rows else np.zeros(0)


def _actuators(mjm: mujoco.MjModel) -> dict:
    nu = mjm.nu
    joint = mjm.actuator_trnid[:nu, 0]
    active = 0.0 if disabled(mjm, _D.mjDSBL_ACTUATION) else 1.0
    gain, bias = mjm.actuator_gainprm[:, :3].copy(), mjm.actuator_biasprm[:, :3].copy()
    gain[mjm.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
    bias[mjm.actuator_biastype == int(mujoco.mjtBias.mjBIAS_NONE)] = 0.0
    clamp = np.asarray(mjm.actuator_ctrllimited[:nu], bool) & (not disabled(mjm, _D.mjDSBL_CLAMPCTRL))
    unlimited = np.tile([-UNLIMITED, UNLIMITED], (nu, 1))
    forced = np.asarray(mjm.actuator_forcelimited[:nu], bool)
    joint_type = mjm.jnt_type[joint] if nu else np.zeros(0, int)
    gear = mjm.actuator_gear.reshape(-1, 6)[:nu]
    servo = (
        (mjm.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED))
        & (mjm.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE))
        & (mjm.actuator_gainprm[:, 0] == -mjm.actuator_biasprm[:, 1])
        & (joint_type == _BALL)
    )
    return {
        "actuator_type": joint_type,
        "actuator_inparent": (mjm.actuator_trntype[:nu] == int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)).astype(int),
        "actuator_qposadr": mjm.jnt_qposadr[joint] if nu else np.zeros(0, int),
        "actuator_dofadr": mjm.jnt_dofadr[joint] if nu else np.zeros(0, int),
        "actuator_gear": gear,
        "actuator_gain": gain * active,
        "actuator_bias": bias * active,
        "actuator_ctrlrange": np.where(clamp[:, None], mjm.actuator_ctrlrange.reshape(-1, 2)[:nu], unlimited),
        "actuator_forcerange": np.where(forced[:, None], mjm.actuator_forcerange.reshape(-1, 2)[:nu], unlimited),
        "actuator_period": np.where(servo, 2 * np.pi * np.linalg.norm(gear[:, :3], axis=1), 0.0),
    }


def _geoms(mjm: mujoco.MjModel) -> dict:
    collides = np.zeros(mjm.ngeom, int)
    collides[possible_pairs(mjm).reshape(-1)] = 1
    names = ("bodyid", "condim", "priority", "pos", "quat", "size", "rbound", "margin", "friction", "solmix", "solref")
    return {f"geom_{n}": getattr(mjm, f"geom_{n}") for n in (*names, "solimp")} | {
        "geom_collides": collides,
        "geom_rootid": mjm.body_rootid[mjm.geom_bodyid],
        "geom_detect": mjm.geom_margin + mjm.geom_gap,
    }


def _meshes(mjm: mujoco.MjModel) -> dict:
    """Vertices and corners of every mesh that a geom uses."""
    start, count = np.zeros(mjm.ngeom, int), np.zeros(mjm.ngeom, int)
    hulls, placed = Hulls(), {}
    for g in np.nonzero(mjm.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))[0]:
        mesh = int(mjm.geom_dataid[g])
        if mesh not in placed:
            placed[mesh] = hulls.add(mjm, mesh)
        start[g], count[g] = placed[mesh]
    return {
        "geom_vertadr": start,
        "geom_vertnum": count,
        "vert_pos": np.array(hulls.points).reshape(-1, 3),
        "vert_corneradr": np.array(hulls.corner_start, int),
        "vert_cornernum": np.array(hulls.corner_count, int),
        "corner_next": np.array(hulls.following, int).reshape(-1, 3),
        "corner_normal": np.array(hulls.normals).reshape(-1, 3),
    }


def _pairs(mjm: mujoco.MjModel) -> dict:
    """Pairs grouped by their row of the dispatch table."""
    pairs = possible_pairs(mjm)
    pairs = pairs[has_narrow_phase(mjm, pairs)].reshape(-1, 2)
    row = rows_of(mjm.geom_type[pairs[:, 0]], mjm.geom_type[pairs[:, 1]])
    order = np.argsort(row, kind="stable")
    return {
        "pair_start": np.searchsorted(row[order], np.arange(len(PAIR_TABLE) + 1)),
        "pair_geom1": pairs[order, 0],
        "pair_geom2": pairs[order, 1],
    }


def _limits(mjm: mujoco.MjModel) -> dict:
    rows = []
    if not disabled(mjm, _D.mjDSBL_LIMIT, _D.mjDSBL_CONSTRAINT):
        for j in np.nonzero(np.asarray(mjm.jnt_limited, bool))[0]:
            if mjm.jnt_type[j] == _BALL:
                rows.append((j, 0, mjm.jnt_range[j].max()))
            elif mjm.jnt_type[j] in (_SLIDE, _HINGE):
                rows += [(j, -1, mjm.jnt_range[j, 0]), (j, 1, mjm.jnt_range[j, 1])]
    joint = np.array([r[0] for r in rows], int)
    solimp = np.array([impedance_params(mjm.jnt_solimp[j]) for j in joint]).reshape(-1, 5)
    kb = np.array([reference_params(mjm, mjm.jnt_solref[j], s[1]) for j, s in zip(joint, solimp, strict=True)])
    kb = kb.reshape(-1, 2)
    dof = mjm.jnt_dofadr[joint] if len(joint) else joint
    return {
        "limit_jnt": joint,
        "limit_qposadr": mjm.jnt_qposadr[joint] if len(joint) else joint,
        "limit_dofadr": dof,
        "limit_side": np.array([r[1] for r in rows], int),
        "limit_value": np.array([r[2] for r in rows]),
        "limit_margin": mjm.jnt_margin[joint] if len(joint) else np.zeros(0),
        "limit_solimp": solimp,
        "limit_stiffness": kb[:, 0],
        "limit_damping": kb[:, 1],
        "limit_diagonal": mjm.dof_invweight0[dof] if len(joint) else np.zeros(0),
    }
