"""Cameras: pose and field of view.

A camera frame has x to the right, y up and looks along -z, as MuJoCo's do. Four kinds: one of the model's cameras (its
pose is the solver's ``cam_xpos``, ``cam_xmat``), a free camera that stays or follows a body, one that is mounted
(`mounted.py`), and one whose poses a function gives.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.arguments import as_real, real_array
from ...machine.scalars import as_count, as_whole
from ..names import nearest
from ..reading import SceneReading
from .frustum import Frustum, Intrinsics, fovy_frustum, model_frustum
from .mounted import MountedCamera, MountedView, check_mounted


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A free camera: it looks at a point from a distance and a direction.

    With `trackbodyid` it follows the centre of mass of that body and everything below it, at once and without
    smoothing; a `lookat` given besides fixes the height it looks at, so that the picture does not bob. Without either
    it follows the first body that can move. `trackbodyid=-1` stays where it is. The fields and their meaning are as in
    Gymnasium's `default_camera_config` and MuJoCo's `mjvCamera`; the model gives the others.
    """

    distance: float | None = None  # m, from the point looked at; None: far enough to see all that moves
    azimuth: float | None = None  # degrees; 0 looks along +x, 90 along +y
    elevation: float | None = None  # degrees; -90 looks straight down
    lookat: Sequence[float] | None = None  # (3,) m, world
    trackbodyid: int | str | None = None  # body id or name; -1: none
    fovy: float | None = None  # degrees from the lower to the upper edge; metres if orthographic
    orthographic: bool | None = None
    intrinsics: Intrinsics | None = None  # in place of fovy

    @classmethod
    def from_config(cls, config: Mapping) -> "Camera":
        """From Gymnasium's `default_camera_config`; an unknown key is an error that names its nearest neighbours."""
        known = {field.name for field in fields(cls)}
        for key in config:
            if key not in known:
                raise ValueError(f"camera config has no field {key!r}{nearest(key, known)}")
        return cls(**config)


@dataclass(eq=False)
class PosedCamera:
    """A camera whose poses are given by a function, such as one that follows the entity of a scene.

    Attributes:
        fovy: degrees from the lower to the upper edge, one or (num_envs,); or intrinsics.
        distance: typical distance to the looked-at point, m.
        poses: (number of environments) -> positions (n, 3) m and camera-to-world rotations (n, 3, 3), on the solver's
            device.
    """

    fovy: Any
    distance: float
    poses: Callable[[int], tuple[torch.Tensor, torch.Tensor]]


class FilledCamera(NamedTuple):
    """A free camera with nothing left open but, while it follows a body, the point it looks at."""

    distance: float
    azimuth: float
    elevation: float
    lookat: Sequence[float] | None
    fovy: float
    orthographic: bool


MOST_PIXELS = 2**26
"""Pixels of a picture: eight times a screen of 3840 x 2160, and less than a gigabyte of working memory."""


def require_pixels(width: Any, height: Any) -> None:
    """Refuse the size of a picture that is no whole number of pixels, or more of them than memory may be asked for.

    Raises:
        ValueError: with the size.
    """
    if as_count("width", width) * as_count("height", height) > MOST_PIXELS:
        raise ValueError(f"width={width}, height={height}: a picture can have {MOST_PIXELS:,} pixels at most")


def check_camera(mj: mujoco.MjModel, camera: Any) -> None:
    """Refuse a camera that cannot be bound to a model, without the work of binding it.

    Raises:
        ValueError, TypeError: as in `BatchRenderer`.
    """
    if isinstance(camera, PosedCamera):
        return
    if isinstance(camera, MountedCamera):
        check_mounted(mj, camera)
        return
    if _model_camera(mj, camera) >= 0:
        return
    free = _free_camera(camera)
    _tracked_body(mj, free)
    _require_numbers(free)


def view_of(mj: mujoco.MjModel, camera: Any, aspect: float) -> "BoundCamera | MountedView":
    """Bind a camera (see BatchRenderer) to a model; `aspect` is width / height of the picture."""
    return MountedView(mj, camera, aspect) if isinstance(camera, MountedCamera) else BoundCamera(mj, camera, aspect)


class BoundCamera:
    """A camera bound to a model: poses for every environment, and the field of view."""

    def __init__(self, mj: mujoco.MjModel, camera: "int | str | Camera | PosedCamera | Mapping | None", aspect: float):
        """Bind `camera` (see BatchRenderer) to a model; `aspect` is width / height of the picture."""
        self._posed: PosedCamera | None = None
        self._aspect = aspect
        if isinstance(camera, PosedCamera):
            self._posed, self.model_camera, self._body = camera, -1, -1
            self.typical_distance = camera.distance
            return
        self.model_camera = _model_camera(mj, camera)
        if self.model_camera >= 0:
            self._body = -1
            self._frustum = model_frustum(mj, self.model_camera, aspect)
            self.typical_distance = _model_distance(mj, self.model_camera)
            return
        free = _free_camera(camera)
        _require_numbers(free)
        self._body = _tracked_body(mj, free)
        self.camera = _filled(mj, free, self._body)
        self._frustum = fovy_frustum(self.camera.fovy, aspect, self.camera.orthographic)
        if free.intrinsics is not None:
            self._frustum = free.intrinsics.frustum
        self.typical_distance = self.camera.distance  # m to the looked-at point
        self._rotation = _look_along(self.camera.azimuth, self.camera.elevation)
        self._on_device: dict[tuple[torch.device, torch.dtype], Any] = {}

    @property
    def frustum(self) -> Frustum:
        """The field of view now, of all environments if it differs between them."""
        if self._posed is None:
            return self._frustum
        given = self._posed.fovy
        return given.frustum if isinstance(given, Intrinsics) else fovy_frustum(given, self._aspect)

    @property
    def follows(self) -> bool:
        """True if it moves with something of an environment."""
        return self._body >= 0 or self.model_camera >= 0

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields of a solver that `poses` takes."""
        if self.model_camera >= 0:
            return "cam_xpos", "cam_xmat"
        return ("subtree_com",) if self._body >= 0 else ()

    def poses(self, reading: SceneReading) -> tuple[torch.Tensor, ...]:
        """Positions (n, 3) and camera-to-world rotations (n, 3, 3) in environments whose fields `reads` were read."""
        fields, count = reading.fields, reading.count
        if self._posed is not None:
            return self._posed.poses(count)
        if self.model_camera >= 0:
            position, rotation = (fields[name][:, self.model_camera] for name in self.reads)
            return position, rotation.reshape(-1, 3, 3)
        target, rotation = self._constants(reading.device, reading.dtype)
        if self._body >= 0:
            target = fields["subtree_com"][:, self._body].clone()
            if self.camera.lookat is not None:
                target[:, 2] = float(self.camera.lookat[2])
        position = target + self.camera.distance * rotation[:, 2]
        return position.expand(count, 3), rotation.expand(count, 3, 3)

    def _constants(self, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """The point looked at (3,), 0 where it moves, and the rotation (3, 3), brought to the solver's device once."""
        if (device, dtype) not in self._on_device:
            lookat = np.zeros(3) if self._body >= 0 else np.asarray(self.camera.lookat)
            both = (torch.as_tensor(array, dtype=dtype, device=device) for array in (lookat, self._rotation))
            self._on_device[device, dtype] = tuple(both)
        return self._on_device[device, dtype]


def _model_camera(mj: mujoco.MjModel, camera: "int | str | Camera | Mapping | None") -> int:
    """Id of the model's camera that is meant, -1 for a free one."""
    names = [mj.camera(i).name for i in range(mj.ncam)]
    if isinstance(camera, str):
        if camera not in names:
            raise ValueError(f"the model has no camera {camera!r}{nearest(camera, set(filter(None, names)))}")
        return names.index(camera)
    if isinstance(camera, int | np.integer) and not isinstance(camera, bool):
        if not -1 <= camera < mj.ncam:
            raise ValueError(f"the model has {mj.ncam} cameras: id {camera} must be -1 (free) to {mj.ncam - 1}")
        return int(camera)
    if camera is None or isinstance(camera, Camera | Mapping):
        return -1
    raise TypeError(
        "camera must be None, a name, an id, a Camera, a MountedCamera, or a dict of a Camera's fields, not "
        f"{type(camera).__name__}"
    )


def _free_camera(camera: "int | str | Camera | Mapping | None") -> Camera:
    """The free camera that the argument means, with its missing fields filled in."""
    return camera if isinstance(camera, Camera) else Camera.from_config(camera if isinstance(camera, Mapping) else {})


def _require_numbers(camera: Camera) -> None:
    """Refuse numbers of a free camera that no camera has.

    Raises:
        ValueError: with the field.
    """
    for name in ("distance", "azimuth", "elevation", "fovy"):
        value = getattr(camera, name)
        if value is None:
            continue
        number = as_real(f"camera {name}", value)
        if not math.isfinite(number) or (number <= 0 and name in ("distance", "fovy")):
            unit = "metres" if name == "distance" else "degrees"
            kind = "positive" if name in ("distance", "fovy") else "finite"
            raise ValueError(f"camera {name} must be a {kind} number of {unit}, not {value}")
    if camera.intrinsics is not None and (camera.fovy is not None or camera.orthographic):
        raise ValueError("camera: give fovy or intrinsics, not both; an orthographic camera has none")
    if camera.intrinsics is not None and not isinstance(camera.intrinsics, Intrinsics):
        raise TypeError(f"camera intrinsics: expected Intrinsics, not {type(camera.intrinsics).__name__}")
    if camera.lookat is not None:
        place = real_array("camera lookat", camera.lookat)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ValueError(f"camera lookat must be three numbers, not {camera.lookat!r}")


def as_positive(name: str, value: Any) -> float:
    """Return a finite number above 0.

    Raises:
        ValueError, TypeError: the argument is invalid; the message has its name.
    """
    number = as_real(name, value)
    if not math.isfinite(number) or number <= 0:
        raise ValueError(f"{name} must be a positive number, not {value}")
    return number


def _model_distance(mj: mujoco.MjModel, camera: int) -> float:
    """Distance (m) of a model's camera from the model's centre in the reference pose."""
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)
    mujoco.mj_camlight(mj, data)
    return float(np.linalg.norm(data.cam_xpos[camera] - mj.stat.center))


def _tracked_body(mj: mujoco.MjModel, camera: Camera) -> int:
    """Id of the body that a free camera follows, -1 for none."""
    body = camera.trackbodyid
    if body is None:
        moving = _moving_bodies(mj)
        return int(moving[0]) if camera.lookat is None and len(moving) else -1
    if isinstance(body, str):
        names = [mj.body(i).name for i in range(mj.nbody)]
        if body not in names:
            raise ValueError(f"trackbodyid: the model has no body {body!r}{nearest(body, set(filter(None, names)))}")
        return names.index(body)
    body = as_whole("trackbodyid", body)
    if not -1 <= body < mj.nbody:
        raise ValueError(f"trackbodyid: the model has {mj.nbody} bodies: {body} must be -1 (none) to {mj.nbody - 1}")
    return int(body)


def _filled(mj: mujoco.MjModel, camera: Camera, body: int) -> FilledCamera:
    """The camera with every open field taken from the model."""
    vis, stat = mj.vis.global_, mj.stat
    distance = camera.distance
    fovy = camera.fovy if camera.fovy is not None else float(vis.fovy)
    if distance is None:
        distance = _framing_distance(mj, fovy) if body >= 0 else 1.5 * stat.extent
    lookat = camera.lookat
    if lookat is None and body < 0:
        lookat = tuple(stat.center)
    return FilledCamera(
        distance=float(distance),
        azimuth=float(vis.azimuth if camera.azimuth is None else camera.azimuth),
        elevation=float(vis.elevation if camera.elevation is None else camera.elevation),
        lookat=lookat,
        fovy=fovy,
        orthographic=bool(vis.orthographic) if camera.orthographic is None else camera.orthographic,
    )


def _moving_bodies(mj: mujoco.MjModel) -> np.ndarray:
    """Ids of bodies that are not welded to the world."""
    return np.flatnonzero(mj.body_weldid != 0)


def _framing_distance(mj: mujoco.MjModel, fovy: float) -> float:
    """Distance (m) from which everything that moves fills about two thirds of the picture, in the reference pose."""
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    geoms = [g for g in range(mj.ngeom) if mj.body_weldid[mj.geom_bodyid[g]] != 0 and mj.geom_rbound[g] > 0]
    if not geoms:
        return 1.5 * mj.stat.extent
    low = (data.geom_xpos[geoms] - mj.geom_rbound[geoms, None]).min(axis=0)
    high = (data.geom_xpos[geoms] + mj.geom_rbound[geoms, None]).max(axis=0)
    return float(0.75 * np.linalg.norm(high - low) / math.tan(math.radians(fovy) / 2) / math.sqrt(2))


def _look_along(azimuth: float, elevation: float) -> np.ndarray:
    """Camera-to-world rotation (3, 3): columns right, up, backward."""
    a, e = math.radians(azimuth), math.radians(elevation)
    forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    right = np.array([math.sin(a), -math.cos(a), 0.0])
    up = np.array([-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)])
    return np.stack([right, up, -forward], axis=1)
