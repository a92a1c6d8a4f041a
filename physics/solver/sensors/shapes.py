"""Sensors of shapes: rangefinders, distances of geoms, and whether an object is inside a site."""

from collections import namedtuple
from collections.abc import Callable

import mujoco
import numpy as np
import torch

from ...base.shapes import INSIDES
from ...files.mjmodel.sensors import geom_pairs_of
from ...model.model import Model
from .objects import BODY, SITE, Objects
from .reader import Read, Reader, SensorView

Tensor = torch.Tensor
_S = mujoco.mjtSensor
_Point = namedtuple("_Point", "x y z")
_DIST, _DIR, _ORIGIN, _POINT, _NORMAL, _DEPTH = range(6)  # bits of a rangefinder's outputs
_LIGHTEST = 1e-15  # kg: mjMINVAL


def _rangefinders(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Rays along the z axes of sites, past the geoms of their bodies."""
    mj = model.mj
    rows = np.array(objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors]))
    bodies = mj.site_bodyid[mj.sensor_objid[sensors]]
    data = mj.sensor_intprm[sensors, 0]

    def read(view: SensorView) -> Tensor:
        parts: list[Tensor] = [torch.empty(0)] * len(sensors)
        for body in np.unique(bodies):
            mine = np.flatnonzero(bodies == body)
            which = view.quantities.ids(("rays", tuple(sensors[mine])), rows[mine])
            origin, along = view.frames.pos[:, which], view.frames.mat[:, which, :, 2]
            distance, normal = view.scene.cast_rays(view.quantities, int(body), origin, along)
            for k, sensor in enumerate(mine):
                parts[sensor] = _ray_data(
                    int(data[sensor]), distance[:, k, None], along[:, k], origin[:, k], normal[:, k]
                )
        return torch.cat(parts, 1)

    return read


def _ray_data(bits: int, distance: Tensor, along: Tensor, origin: Tensor, normal: Tensor) -> Tensor:
    """Return a rangefinder's data of a ray (n, ...); a ray that hits nothing has distance -1, and zeros."""
    hit = (distance >= 0.0).to(distance.dtype)
    said = {
        _DIST: distance,
        _DIR: along * hit,
        _ORIGIN: origin,
        _POINT: (origin + along * distance) * hit,
        _NORMAL: normal * hit,
        _DEPTH: distance,
    }
    return torch.cat([value for bit, value in said.items() if bits >> bit & 1], 1)


def _measured(what: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Model, Objects, np.ndarray], Read]:
    """Return sensors of the nearest pair: `what(distance (n,), nearest points (n, 6))` gives (n, width)."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        pairs = [geom_pairs_of(model.mj, int(s)) for s in sensors]
        cutoffs = model.mj.sensor_cutoff[sensors]

        def read(view: SensorView) -> Tensor:
            parts = []
            for mine, cutoff in zip(pairs, cutoffs, strict=True):
                like = view.quantities["xpos"]
                dist, points = like.new_full((len(like), 1), cutoff), like.new_zeros((len(like), 6))
                if len(mine):
                    found, places = view.scene.measure(view.quantities, mine, float(cutoff))
                    nearest = found.argmin(1, keepdim=True)
                    near = found.gather(1, nearest)
                    points = places.gather(1, nearest[..., None].expand(-1, -1, 6))[:, 0]
                    points = torch.where(near < dist, points, 0.0)
                    dist = torch.minimum(near, dist)
                parts.append(what(dist, points))
            return torch.cat(parts, 1)

        return read

    return prepare


def _direction(dist: Tensor, points: Tensor) -> Tensor:
    way = points[:, 3:] - points[:, :3]
    length = way.norm(dim=1, keepdim=True)
    return torch.where(length > 0.0, way / length.clamp(min=torch.finfo(way.dtype).tiny), 0.0)


def _insides(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """1 for objects whose origin is inside a site."""
    mj = model.mj
    rows = np.array(objects.numbers(mj.sensor_objtype[sensors], mj.sensor_objid[sensors]))
    sites = np.array(objects.numbers(np.full(len(sensors), SITE), mj.sensor_refid[sensors]))
    bodies = np.where(mj.sensor_objtype[sensors] == BODY, mj.sensor_objid[sensors], 0)
    hollow = (bodies > 0) & (mj.body_mass[bodies] < _LIGHTEST) & (mj.body_subtreemass[bodies] >= _LIGHTEST)
    kinds = mj.site_type[mj.sensor_refid[sensors]]

    def read(view: SensorView) -> Tensor:
        quantities, key = view.quantities, ("insides", tuple(sensors))
        where = view.frames.pos[:, quantities.ids((key, "rows"), rows)]
        if hollow.any():
            swap = quantities.constant((key, "hollow"), lambda: quantities.tensor(hollow)[:, None] > 0.5)
            where = torch.where(swap, quantities["subtree_com"][:, quantities.ids((key, "bodies"), bodies)], where)
        zones = quantities.ids((key, "sites"), sites)
        local = view.frames.turned(where - view.frames.pos[:, zones], zones)
        sizes = quantities.of_model("site_size")[:, quantities.ids((key, "sizes"), mj.sensor_refid[sensors])]
        inside = [
            INSIDES[int(kind)](_Point(*local[:, k].T), _Point(*sizes[:, k].T), torch.clamp)
            for k, kind in enumerate(kinds)
        ]
        return torch.stack(inside, 1).to(where.dtype)

    return read


_POSES = ("geom_xpos", "geom_xmat")
_APART = ("xpos", "xquat", "root_offset")
READERS: dict[mujoco.mjtSensor, Reader] = {
    _S.mjSENS_RANGEFINDER: Reader(_POSES, _rangefinders),
    _S.mjSENS_GEOMDIST: Reader(_APART, _measured(lambda dist, points: dist)),
    _S.mjSENS_GEOMNORMAL: Reader(_APART, _measured(_direction)),
    _S.mjSENS_GEOMFROMTO: Reader(_APART, _measured(lambda dist, points: points)),
    _S.mjSENS_INSIDESITE: Reader(("subtree_com",), _insides),
}
"""By the type of sensor."""
