"""Sensors of a model that can be read, and why others cannot. No model is refused for them, as they move nothing."""

from collections.abc import Callable

import mujoco
import numpy as np
from mujoco import MjModel

from ...base.shapes import INSIDES, KINDS, SDF, SEEN
from .contact_sensors import readable_contacts

_S, _O = mujoco.mjtSensor, mujoco.mjtObj
BODY = int(_O.mjOBJ_BODY)
FRAMES = tuple(int(getattr(_O, f"mjOBJ_{n}")) for n in ("BODY", "XBODY", "GEOM", "SITE", "CAMERA"))
"""Objects that have a frame."""


ELSEWHERE = {
    "camprojection": "a point's pixel: project it by the camera's matrix",
    "tactile": "depths in a mesh's skin: use touch or contact sensors",
    "plugin": "code of a plugin, as touch_grid: use touch or contact sensors",
    "user": "filled by a callback of the user's program",
}
"""The types of sensors of MuJoCo 4.0 that are not computed, with descriptions."""


def type_of(kind: int) -> str:
    """Return the name of a type of sensors, in lower case."""
    return mujoco.mjtSensor(kind).name.removeprefix("mjSENS_").lower()


def refused_sensors(mj: MjModel) -> dict[int, str]:
    """Return the sensors that cannot be read: id -> reason, as a noun."""
    found = {}
    for sensor in range(mj.nsensor):
        kind = int(mj.sensor_type[sensor])
        if kind not in REASONS:
            reason = f"a sensor of type '{type_of(kind)}' ({ELSEWHERE.get(type_of(kind), 'a newer type')})"
        else:
            reason = REASONS[kind](mj, sensor)
        if reason:
            found[sensor] = reason
    return found


def geom_pairs_of(mj: MjModel, sensor: int) -> np.ndarray:
    """Return the pairs of geoms (n, 2) that a distance sensor measures: its geoms, or all geoms of its bodies."""
    sides = []
    for kind, index in ((mj.sensor_objtype, mj.sensor_objid), (mj.sensor_reftype, mj.sensor_refid)):
        first, count = int(index[sensor]), 1
        if int(kind[sensor]) == BODY:
            first, count = int(mj.body_geomadr[first]), int(mj.body_geomnum[first])
        sides.append(range(first, first + count))
    return np.array([(a, b) for a in sides[0] for b in sides[1]], int).reshape(-1, 2)


def _nothing(mj: MjModel, sensor: int) -> str:
    return ""


def _without_frame(mj: MjModel, sensor: int) -> str:
    return "" if int(mj.sensor_objtype[sensor]) in FRAMES else "a sensor of an object that has no frame"


def _contacts(mj: MjModel, sensor: int) -> str:
    return "" if sensor in readable_contacts(mj) else "a sensor of a site whose shape has no inside"


def _ray(mj: MjModel, sensor: int) -> str:
    if int(mj.sensor_objtype[sensor]) != int(_O.mjOBJ_SITE):
        return "a rangefinder of a camera"
    body = mj.site_bodyid[mj.sensor_objid[sensor]]
    unseen = ~np.isin(mj.geom_type, (*SEEN, SDF)) & (mj.geom_bodyid != body)
    return "a rangefinder among geoms that no ray meets" if unseen.any() else ""


def _distance(mj: MjModel, sensor: int) -> str:
    unmeasured = ~np.isin(mj.geom_type[geom_pairs_of(mj, sensor).ravel()], KINDS)
    return "the distance of a height field or signed distance function" if unmeasured.any() else ""


def _inside(mj: MjModel, sensor: int) -> str:
    known = int(mj.site_type[mj.sensor_refid[sensor]]) in INSIDES
    return _without_frame(mj, sensor) if known else "a sensor of a site whose shape has no inside"


def _rows(reason: Callable[[MjModel, int], str], names: str) -> dict[int, Callable[[MjModel, int], str]]:
    return {int(getattr(_S, f"mjSENS_{name}")): reason for name in names.split()}


REASONS: dict[int, Callable[[MjModel, int], str]] = {
    **_rows(_nothing, "JOINTPOS JOINTVEL JOINTACTFRC JOINTLIMITPOS JOINTLIMITVEL JOINTLIMITFRC BALLQUAT BALLANGVEL"),
    **_rows(_nothing, "TENDONPOS TENDONVEL TENDONACTFRC TENDONLIMITPOS TENDONLIMITVEL TENDONLIMITFRC"),
    **_rows(_nothing, "ACTUATORPOS ACTUATORVEL ACTUATORFRC SUBTREECOM SUBTREELINVEL SUBTREEANGMOM"),
    **_rows(_nothing, "E_POTENTIAL E_KINETIC CLOCK"),
    **_rows(_without_frame, "FRAMEPOS FRAMEQUAT FRAMEXAXIS FRAMEYAXIS FRAMEZAXIS FRAMELINVEL FRAMEANGVEL"),
    **_rows(_without_frame, "FRAMELINACC FRAMEANGACC VELOCIMETER GYRO ACCELEROMETER FORCE TORQUE MAGNETOMETER"),
    **_rows(_contacts, "TOUCH CONTACT"),
    **_rows(_ray, "RANGEFINDER"),
    **_rows(_distance, "GEOMDIST GEOMNORMAL GEOMFROMTO"),
    **_rows(_inside, "INSIDESITE"),
}
"""The types of sensors that can be read, each with a function (model, id) -> reason why this one cannot; empty if it
can. `physics/solver/sensors` reads them."""
