"""The tables of sensors that read contacts (touch and contact sensors), for kernels, from a compiled model."""

import mujoco
import numpy as np

from ...base.shapes import ENTRIES, INSIDES
from .flags import disabled

_S, _O = mujoco.mjtSensor, mujoco.mjtObj
TOUCH, CONTACT = int(_S.mjSENS_TOUCH), int(_S.mjSENS_CONTACT)
ANY, SITE, GEOM, BODY, SUBTREE = range(5)
"""Conditions on a contact: none, a position inside a site, a geom, a body, or a body and all below it."""
_MATCHES = {
    int(_O.mjOBJ_UNKNOWN): ANY,
    int(_O.mjOBJ_SITE): SITE,
    int(_O.mjOBJ_GEOM): GEOM,
    int(_O.mjOBJ_BODY): BODY,
    int(_O.mjOBJ_XBODY): SUBTREE,
}
FIRST, NEAREST, STRONGEST, TOTAL = range(4)
"""The contacts that a contact sensor selects among the matching ones, by its attribute `reduce`."""
FOUND, FORCE, TORQUE, DIST, POS, NORMAL, TANGENT, LINVEL, ANGVEL = range(9)
"""Bits of the data that a contact sensor has of each contact."""
WIDTHS = (1, 3, 3, 1, 3, 3, 3, 3, 3)
ZONES = tuple(INSIDES.keys() & ENTRIES.keys())
"""Shapes of sites that a point or a ray can be inside of."""


def read_contacts(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of the sensors that kernels compute."""
    off = disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SENSOR)
    return np.zeros(0, int) if off else readable_contacts(mjm)


def readable_contacts(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of sensors that kernels can compute, even if sensors are switched off."""
    touch = (mjm.sensor_type == TOUCH) & _has_shape(mjm, mjm.sensor_objid)
    within = (mjm.sensor_objtype != int(_O.mjOBJ_SITE)) | _has_shape(mjm, mjm.sensor_objid)
    known = mjm.sensor_intprm[:, 0] >> len(WIDTHS) == 0
    return np.flatnonzero(touch | ((mjm.sensor_type == CONTACT) & within & known))


def _has_shape(mjm: mujoco.MjModel, sites: np.ndarray) -> np.ndarray:
    """Return a mask of the ids that are of sites with one of the shapes of `ZONES`."""
    kinds = np.append(mjm.site_type, -1)
    return np.isin(kinds[np.where((sites >= 0) & (sites < mjm.nsite), sites, mjm.nsite)], ZONES)


def reads_limits(mjm: mujoco.MjModel) -> bool:
    """Return True if a sensor reads a limit of a joint or tendon."""
    kinds = [int(getattr(_S, f"mjSENS_{of}LIMIT{n}")) for of in ("JOINT", "TENDON") for n in ("POS", "VEL", "FRC")]
    return bool(np.isin(mjm.sensor_type, kinds).any()) and not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SENSOR)


def contact_sensor_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of `model.fields` whose names begin with sense_ or zone_."""
    ids = read_contacts(mjm)
    # numbers per contact, and the objects that both sides of each sensor match
    size = np.array([sum(w for k, w in enumerate(WIDTHS) if bits >> k & 1) for bits in mjm.sensor_intprm[ids, 0]], int)
    touch = mjm.sensor_type[ids] == TOUCH
    dims = mjm.sensor_dim[ids]
    first = np.array([_MATCHES[int(kind)] for kind in mjm.sensor_objtype[ids]], int)
    second = np.array([_MATCHES.get(int(kind), ANY) for kind in mjm.sensor_reftype[ids]], int)
    site = np.where(first == SITE, mjm.sensor_objid[ids], -1)

    def of_site(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.zeros_like(values[:1], shape=(1, *values.shape[1:]))])[site]

    return {
        "sense_is_touch": touch.astype(int),
        "sense_match1": first,
        "sense_id1": np.maximum(mjm.sensor_objid[ids], 0),
        "sense_match2": np.where(touch, ANY, second),
        "sense_id2": np.maximum(mjm.sensor_refid[ids], 0),
        "sense_data": np.where(touch, 0, mjm.sensor_intprm[ids, 0]),
        "sense_reduce": np.where(touch, 0, mjm.sensor_intprm[ids, 1]),
        "sense_size": np.where(touch, 1, size),
        "sense_slots": np.where(touch, 1, dims // np.maximum(size, 1)),
        "sense_adr": np.cumsum([0, *dims])[:-1],
        "zone_bodyid": of_site(mjm.site_bodyid),
        "zone_type": of_site(mjm.site_type),
        "zone_pos": of_site(mjm.site_pos),
        "zone_quat": of_site(mjm.site_quat),
        "zone_size": of_site(mjm.site_size),
    }


def sensor_sizes(mjm: mujoco.MjModel, values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the sizes of fields that kernels compute for sensors; 0 if no sensor needs a field."""
    rk4 = int(mjm.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
    keeps = rk4 and mjm.nsensor > 0 and not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SENSOR)
    return {
        "nsense": len(values["sense_is_touch"]),
        "nsensed": int(mjm.sensor_dim[read_contacts(mjm)].sum()),
        "nlimitsense": len(values["limit_jnt"]) if reads_limits(mjm) else 0,
        "nstart": int(keeps),
    }
