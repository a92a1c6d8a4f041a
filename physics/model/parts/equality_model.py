"""Loading equalities: what each holds together, and its numbers, as `equality` reads them."""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from ...base.fields import Field, ids
from ...files.mjmodel.equalities import (
    CONNECT,
    JOINT,
    ROWS,
    SITE,
    TENDON,
    WELD,
    dofs_of_side,
    equality_bodies,
    equality_dofs,
    equality_joints,
    equality_rows,
    equality_tendons,
)
from ...files.mjmodel.solver_params import has_uncommon_powers, impedance_params, reference_of
from ...files.mjmodel.unsupported import Unsupported
from .part import Loaded, Rule

_OFF = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
EQUALITY_INTEGERS = (
    ids("eq_rows", ("neq",), "rows of an equality: 1 joints, 3 connect, 6 weld; 0: it couples no dofs"),
    ids("eq_body1", ("neq",), "first body of connect and weld"),
    ids("eq_body2", ("neq",), "second body"),
    ids("eq_qpos1", ("neq",), "coordinate of the first joint"),
    Field("eq_qpos2", ("neq",), 1, "", "coordinate of the second joint; -1: none"),
    Field("eq_dofadr", ("neq",), 1, "", "first dof of the equality in eq_dof"),
    ids("eq_dofnum", ("neq",), "number of dofs of the equality"),
    ids("eq_dof", ("neqdof",), "dofs of all equalities, descending within an equality"),
    ids("eq_side", ("neqdof",), "bodies moved by the dof: 1 the first, 2 the second, 3 both"),
    Field("eq_tendon1", ("neq",), 1, "", "first tendon; -1: the equality is not between tendons"),
    Field("eq_tendon2", ("neq",), 1, "", "second tendon; -1: none"),
)
EQUALITY_REALS = (
    Field("eq_polycoef", ("neq",), 5, "", "of joints and tendons: coefficients of the polynomial"),
    Field("eq_anchor", ("neq",), 6, "m", "points that are constrained to coincide, in the frames of both bodies"),
    Field(
        "eq_orientation",
        ("neq",),
        8,
        "",
        "orientations that a weld constrains to be equal, in the frames of both bodies",
    ),
    Field("eq_torquescale", ("neq",), 1, "m", "length by which rotations of a weld are multiplied"),
    Field(
        "eq_diagonal", ("neq",), 2, "1/kg or 1/(kg m^2)", "approximate A of translational rows, and of rotational rows"
    ),
    Field("eq_solimp", ("neq",), 5, "", "impedance, as geom_solimp"),
    Field("eq_stiffness", ("neq",), 1, "1/s^2", "K of the reference acceleration"),
    Field("eq_damping", ("neq",), 1, "1/s", "B of the reference acceleration"),
)


def equality_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the integer fields of equalities."""
    rows, bodies, joints = equality_rows(mjm), equality_bodies(mjm), equality_joints(mjm)
    dofs = [equality_dofs(mjm, e) if rows[e] else np.zeros(0, int) for e in range(mjm.neq)]
    sides = [sum((1 << s) * np.isin(dofs[e], dofs_of_side(mjm, e, s)) for s in (0, 1)) for e in range(mjm.neq)]
    held = np.where(joints >= 0, joints, 0)
    return {
        "eq_rows": rows,
        "eq_body1": bodies[:, 0],
        "eq_body2": bodies[:, 1],
        "eq_qpos1": mjm.jnt_qposadr[held[:, 0]] if mjm.njnt else np.zeros(mjm.neq, int),
        "eq_qpos2": np.where(joints[:, 1] >= 0, mjm.jnt_qposadr[held[:, 1]], -1) if mjm.njnt else joints[:, 1],
        "eq_tendon1": equality_tendons(mjm)[:, 0],
        "eq_tendon2": equality_tendons(mjm)[:, 1],
        "eq_dofadr": np.cumsum([0, *map(len, dofs)])[:-1],
        "eq_dofnum": np.array([len(of) for of in dofs], int),
        "eq_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "eq_side": np.concatenate([*sides, np.zeros(0, int)]).astype(int),
    }


def row_dofs(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the number of dofs that each row acts on."""
    return np.repeat(values["eq_dofnum"], values["eq_rows"])


def uncommon_powers(model: Loaded) -> bool:
    """Return True if the impedance of a row has another power than 1 and 2."""
    return has_uncommon_powers(model.values["eq_solimp"][model.values["eq_rows"] > 0])


def _anchors(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Return the points held together, in the frames of both bodies, (environments, neq, 6): MuJoCo's order differs."""
    first, second = data[..., 0:3], data[..., 3:6]
    weld = (mjm.eq_type == WELD)[:, None]
    anchors = np.concatenate((np.where(weld, second, first), np.where(weld, first, second)), axis=-1)
    for e in np.flatnonzero(_between_sites(mjm)):
        anchors[:, e] = mjm.site_pos[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return anchors


def _orientations(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Return the frames that a weld aligns, in the frames of both bodies: two quaternions (environments, neq, 8)."""
    turned = np.zeros((*data.shape[:2], 8))
    turned[..., :4], turned[..., 4] = data[..., 6:10], 1.0
    for e in np.flatnonzero(_between_sites(mjm)):
        turned[:, e] = mjm.site_quat[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return turned


def _between_sites(mjm: mujoco.MjModel) -> np.ndarray:
    return (mjm.eq_objtype == SITE) & np.isin(mjm.eq_type, (CONNECT, WELD))


def _diagonal(mjm: mujoco.MjModel, of_body: np.ndarray, of_dof: np.ndarray, of_tendon: np.ndarray) -> np.ndarray:
    """Return the approximate inverse inertia along the rows that slide, and those that turn, (environments, neq, 2)."""
    bodies, joints = equality_bodies(mjm), equality_joints(mjm)
    found = of_body[:, bodies[:, 0]] + of_body[:, bodies[:, 1]]
    for e in np.flatnonzero(mjm.eq_type == JOINT):
        found[:, e] = of_dof[:, mjm.jnt_dofadr[joints[e][joints[e] >= 0]]].sum(axis=1)[:, None]
    tendons = equality_tendons(mjm)
    for e in np.flatnonzero(mjm.eq_type == TENDON):
        found[:, e] = of_tendon[:, tendons[e][tendons[e] >= 0]].sum(axis=1)[:, None]
    return found


def _solimp(mjm: mujoco.MjModel, solimp: np.ndarray) -> np.ndarray:
    return impedance_params(solimp)


def _reference(k: int) -> Callable[..., np.ndarray]:
    return lambda mjm, solref, solimp: reference_of(k, mjm, solref, solimp)


def _active(value: int) -> Callable[[mujoco.MjModel], np.ndarray]:
    """Return a function from a model to the ids of its equalities of a type that hold from the beginning."""
    return lambda mjm: np.flatnonzero((mjm.eq_type == value) & (mjm.eq_active0 != 0))


EQUALITY_RULES: dict[str, Rule] = {
    "eq_polycoef": (("eq_data",), lambda mjm, data: data[..., :5]),
    "eq_anchor": (("eq_data",), _anchors),
    "eq_orientation": (("eq_data",), _orientations),
    "eq_torquescale": (("eq_data",), lambda mjm, data: data[..., 10]),
    "eq_diagonal": (("body_invweight0", "dof_invweight0", "tendon_invweight0"), _diagonal),
    "eq_solimp": (("eq_solimp",), _solimp),
    "eq_stiffness": (("eq_solref", "eq_solimp"), _reference(0)),
    "eq_damping": (("eq_solref", "eq_solimp"), _reference(1)),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""
UNSUPPORTED = tuple(
    Unsupported(f"equality constraint '{name}'", "equality", name, _active(int(value)), None, _OFF)
    for name, value in ((n.removeprefix("mjEQ_").lower(), v) for n, v in mujoco.mjtEq.__members__.items())
    if int(value) not in ROWS
)
