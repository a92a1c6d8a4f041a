"""Geoms as people name them: names and numbers in, words for messages out."""

import difflib
from collections.abc import Iterable
from typing import Any

import mujoco

from ...machine.scalars import as_whole


def type_name(geom_type: int) -> str:
    """MJCF's name of a geom type."""
    return mujoco.mjtGeom(int(geom_type)).name.removeprefix("mjGEOM_").lower()


def label(mjm: mujoco.MjModel, geom: int) -> str:
    """A geom's name, or number, and its type: for messages."""
    return f"{mjm.geom(geom).name or f'geom {geom}'} ({type_name(mjm.geom_type[geom])})"


def geom_ids(mjm: mujoco.MjModel, geoms: Any) -> list[int]:
    """Numbers of geoms that are given by number or name: a sequence of them, or a single one.

    Raises:
        KeyError: for a name that no geom has, with the nearest ones.
        IndexError: for a number that is no geom's.
        ValueError: for a value that is neither a name nor a whole number.
    """
    single = isinstance(geoms, str) or not isinstance(geoms, Iterable) or getattr(geoms, "ndim", 1) == 0
    return [_geom_id(mjm, geom) for geom in ([geoms] if single else geoms)]


def _geom_id(mjm: mujoco.MjModel, geom: Any) -> int:
    if isinstance(geom, str):
        found = mujoco.mj_name2id(mjm, mujoco.mjtObj.mjOBJ_GEOM, geom)
        if found < 0:
            near = difflib.get_close_matches(geom, [mjm.geom(g).name for g in range(mjm.ngeom)], 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise KeyError(f"no geom is named {geom!r}{hint}")
        return int(found)
    number = as_whole("geom", geom)
    if not 0 <= number < mjm.ngeom:
        raise IndexError(f"geom {number}: the model has geoms 0 to {mjm.ngeom - 1}")
    return number
