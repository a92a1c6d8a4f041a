"""Choosing bodies, geoms, joints and actuators of a model by their names."""

import re
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

_O = mujoco.mjtObj
KINDS = {
    "bodies": (_O.mjOBJ_BODY, "nbody"),
    "geoms": (_O.mjOBJ_GEOM, "ngeom"),
    "joints": (_O.mjOBJ_JOINT, "njnt"),
    "actuators": (_O.mjOBJ_ACTUATOR, "nu"),
    "tendons": (_O.mjOBJ_TENDON, "ntendon"),
    "sites": (_O.mjOBJ_SITE, "nsite"),
    "sensors": (_O.mjOBJ_SENSOR, "nsensor"),
}
"""MuJoCo's type, and the size of the model, of the kinds of items with names."""

Names = str | Sequence[str] | None
"""Names, or regular expressions that match whole names; None: all."""

_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def ids_of(model: mujoco.MjModel, kind: str, names: Names, owner: str) -> np.ndarray:
    """Return the numbers (k,) of things of a kind, in the model's order.

    Args:
        model: of the task.
        kind: a key of `KINDS`.
        names: names, or regular expressions that match whole names; None: all.
        owner: of the error.

    Raises:
        ValueError: nothing has such a name; the message lists the names there are.
    """
    objtype, size = KINDS[kind]
    found = [mujoco.mj_id2name(model, objtype, i) or "" for i in range(int(getattr(model, size)))]
    if names is None:
        return np.arange(len(found))
    there = ", ".join(name for name in found if name) or "none with a name"
    matching = np.zeros(len(found), bool)
    patterns = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Sequence) else ()
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise ValueError(f"{owner}: {kind}={names!r}: give names, or regular expressions for them; there are {there}")
    for pattern in patterns:
        matches = _matches(pattern, found, f"{owner}: {kind}={pattern!r}")
        if not matches.any():
            raise ValueError(f"{owner}: {kind}={pattern!r}: the model has none; there are {there}")
        matching |= matches
    return np.flatnonzero(matching)


def _matches(pattern: str, found: Sequence[str], where: str) -> np.ndarray:
    """Return which names are the pattern itself, or match it as a regular expression, (k,) bool.

    Raises:
        ValueError: it is neither a name nor a regular expression.
    """
    try:
        expression = re.compile(pattern)
    except re.error as error:
        if pattern not in found:
            raise ValueError(
                f"{where}: it is no name, and no regular expression: {error}; '.*_foot' is all that ends with _foot"
            ) from None
        return np.array([name == pattern for name in found], bool)
    return np.array([name == pattern or expression.fullmatch(name) is not None for name in found], bool)


def id_of(model: mujoco.MjModel, kind: str, name: str, owner: str) -> int:
    """Return the number of the one thing of a kind with a name; errors as in `ids_of`."""
    ids = ids_of(model, kind, name, owner)
    if len(ids) > 1:
        raise ValueError(f"{owner}: {kind}={name!r} are {len(ids)}; name one")
    return int(ids[0])


def rows_of(model: mujoco.MjModel, field: str, names: Mapping[str, Names], owner: str) -> np.ndarray | None:
    """Return which rows (k,) of a field of the model are meant; None for a field without rows, such as gravity.

    Without names these are all bodies but the world, all joints but free ones, and all of other kinds.

    Args:
        model: of the task.
        field: MuJoCo's name, such as `body_mass`.
        names: by kind, a key of `KINDS`; names for a geom may be its bodies'.
        owner: of errors.

    Raises:
        ValueError: the field is not chosen by such a kind, or nothing has such a name.
    """
    own = _KIND_OF.get(field.split("_")[0]) if "_" in field or field == "qpos0" else None
    allowed = ("geoms", "bodies") if own == "geoms" else (own or "",)
    chosen_names = {kind: ids for kind, ids in names.items() if ids is not None}
    for kind in chosen_names:
        if kind not in allowed:
            by = "it has no parts" if own is None else "it is chosen by " + " or ".join(allowed)
            raise ValueError(f"{owner}: {kind} were given, and {by}")
    if own is None:
        return None
    if own == "geoms" and "bodies" in chosen_names:
        of_bodies = np.isin(model.geom_bodyid, ids_of(model, "bodies", chosen_names["bodies"], owner))
        geoms = ids_of(model, "geoms", chosen_names.get("geoms"), owner)
        return geoms[of_bodies[geoms]]
    ids = ids_of(model, own, chosen_names.get(own), owner)
    if own == "bodies" and own not in chosen_names:
        return ids[ids > 0]
    if own != "joints":
        return ids
    if own not in chosen_names:
        ids = ids[model.jnt_type[ids] != _FREE]
    if field.startswith("jnt_"):
        return ids
    return _coordinates(model, ids) if field.startswith("qpos") else _dofs(model, ids)


_KIND_OF = {
    "body": "bodies",
    "geom": "geoms",
    "jnt": "joints",
    "dof": "joints",
    "qpos0": "joints",
    "qpos": "joints",
    "actuator": "actuators",
    "tendon": "tendons",
}


def _dofs(model: mujoco.MjModel, joints: np.ndarray) -> np.ndarray:
    """Return the dofs of joints."""
    return np.flatnonzero(np.isin(model.dof_jntid, joints))


def _coordinates(model: mujoco.MjModel, joints: np.ndarray) -> np.ndarray:
    """Return the coordinates of hinges and slides; quaternions are no numbers to add to."""
    return model.jnt_qposadr[joints[~np.isin(model.jnt_type[joints], (_FREE, _BALL))]]
