"""Cameras that are mounted on bodies, or stand in the world, with a pose and a field of view of each environment's own.

`mode` is MuJoCo's (mj_camlight): how the camera follows its body, or looks at another.
"""

from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.arguments import real_array
from ...base.rotations import matrix_to_quat, quat_mul, quat_to_matrix
from ...machine.scalars import as_whole
from ..names import nearest
from ..reading import SceneReading
from .frustum import Frustum, Intrinsics, fovy_frustum

MODES = ("fixed", "track", "trackcom", "targetbody", "targetbodycom")


@dataclass(frozen=True, kw_only=True, eq=False)
class MountedCamera:
    """A camera on a body, or in the world.

    Numbers are one for all environments, or (num_envs, ...): a pose and a field of view for each. Tensors are read at
    every picture, so that they can be changed in place, as when environments are reset.

    Attributes:
        body: name or id of the body that it is mounted on; None: it stands in the world.
        pos: position in the body's frame, (3,) or (num_envs, 3) m.
        quat: orientation in the body's frame, w first, (4,) or (num_envs, 4): x right, y up, looking along -z.
        lookat: in place of `quat`: the point that it looks at, in the body's frame, (3,) or (num_envs, 3) m.
        up: with `lookat`: direction that is up in the picture, (3,).
        mode: "fixed": it moves with the body; "track": it keeps its distance from the body, and its orientation, as
            they are in the reference pose, in the world's axes; "trackcom": the same from the centre of mass of the
            body and all below it; "targetbody", "targetbodycom": it moves with the body, and looks at `target`, or its
            centre of mass. As MuJoCo's cameras do.
        target: name or id of the body that it looks at.
        fovy: degrees from the lower to the upper edge, one or (num_envs,); None: the model's.
        intrinsics: in place of `fovy`.
    """

    body: int | str | None = None
    pos: Any = (0.0, 0.0, 0.0)
    quat: Any = None
    lookat: Any = None
    up: Any = (0.0, 0.0, 1.0)
    mode: str = "fixed"
    target: int | str | None = None
    fovy: Any = None
    intrinsics: Intrinsics | None = None

    def randomized(
        self, num_envs: int, *, pos: float = 0.0, angle: float = 0.0, fovy: float = 0.0, seed: int | None = None
    ) -> "MountedCamera":
        """Return a camera with numbers for each environment, evenly spread about this one's.

        Args:
            num_envs: number of environments.
            pos: m by which each coordinate of the position differs at most.
            angle: degrees by which it is turned at most, about any axis.
            fovy: degrees by which the field of view differs at most.
            seed: of the random numbers.
        """
        random = torch.Generator().manual_seed(seed) if seed is not None else torch.Generator()
        if seed is None:
            random.seed()

        def spread(*shape: int) -> torch.Tensor:
            return 2.0 * torch.rand(shape, generator=random, dtype=torch.float64) - 1.0

        place = _rows("pos", self.pos, 3).expand(num_envs, 3) + pos * spread(num_envs, 3)
        axis = torch.nn.functional.normalize(torch.randn(num_envs, 3, generator=random, dtype=torch.float64), dim=-1)
        half = 0.5 * np.radians(angle) * spread(num_envs, 1)
        own = _quaternions(self).expand(num_envs, 4)
        turned = quat_mul(own, torch.cat([half.cos(), half.sin() * axis], dim=-1))
        opening = self.fovy
        if fovy:
            if self.fovy is None:
                raise ValueError("camera fovy: give the camera one, about which the environments' are spread")
            opening = torch.as_tensor(self.fovy, dtype=torch.float64) + fovy * spread(num_envs)
        return replace(self, pos=place, quat=turned, lookat=None, fovy=opening)


class MountedView:
    """A mounted camera of a model: poses and fields of view of all environments; see `camera.View`."""

    model_camera = -1

    def __init__(self, mj: mujoco.MjModel, camera: MountedCamera, aspect: float) -> None:
        """Bind the camera to a model; `aspect` is width / height of the picture."""
        check_mounted(mj, camera)
        self._camera, self._aspect, self._model_fovy = camera, aspect, float(mj.vis.global_.fovy)
        self._body, self._target = (_body(mj, part, getattr(camera, part)) for part in ("body", "target"))
        self.typical_distance = _distance(camera, float(mj.stat.extent))
        data = mujoco.MjData(mj)
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_comPos(mj, data)
        body = max(self._body, 0)
        self._turn0 = torch.from_numpy(data.xmat[body].reshape(3, 3).copy())
        self._com0 = torch.from_numpy(data.xpos[body] - data.subtree_com[body])

    @property
    def follows(self) -> bool:
        """True if it moves with something of an environment."""
        return self._body > 0 or self._target >= 0

    @property
    def frustum(self) -> Frustum:
        """The field of view now, of all environments if it differs between them."""
        if self._camera.intrinsics is not None:
            return self._camera.intrinsics.frustum
        opening = self._model_fovy if self._camera.fovy is None else self._camera.fovy
        return fovy_frustum(opening, self._aspect)

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields of a solver that `poses` takes."""
        mode, names = self._camera.mode, []
        if self._body >= 0:
            names += ["subtree_com"] if mode == "trackcom" else ["xpos", "xquat"]
        if mode == "targetbody":
            names.append("xpos")
        if mode == "targetbodycom":
            names.append("subtree_com")
        return tuple(dict.fromkeys(names))

    def poses(self, reading: SceneReading) -> tuple[torch.Tensor, torch.Tensor]:
        """Positions (n, 3) and camera-to-world rotations (n, 3, 3) in environments whose fields `reads` were read."""
        camera, mode, fields = self._camera, self._camera.mode, reading.fields

        def own(name: str, rows: torch.Tensor) -> torch.Tensor:
            rows, of = rows.to(reading.device, reading.dtype), reading.num_envs
            if len(rows) == 1:
                return rows.expand(reading.count, -1)
            if len(rows) != of:
                raise ValueError(f"camera {name}: {len(rows)} rows, and the solver has {of} environments")
            return rows if reading.envs is None else rows[reading.envs.index]

        place = own("pos", _rows("pos", camera.pos, 3))
        turn = quat_to_matrix(own("quat", _quaternions(camera)))
        if mode in ("track", "trackcom"):
            at_first = self._turn0.to(place)
            place, turn = place @ at_first.T, at_first @ turn
            moved = fields["xpos" if mode == "track" else "subtree_com"][:, max(self._body, 0)]
            return moved + place + (self._com0.to(place) if mode == "trackcom" else 0.0), turn
        if self._body >= 0:
            body = quat_to_matrix(fields["xquat"][:, self._body])
            place = fields["xpos"][:, self._body] + (body @ place[..., None])[..., 0]
            turn = body @ turn
        if mode != "fixed":
            aim = fields["xpos" if mode == "targetbody" else "subtree_com"][:, self._target]
            turn = looking(place - aim, place.new_tensor([0.0, 0.0, 1.0]))
        return place, turn


def check_mounted(mj: mujoco.MjModel, camera: MountedCamera) -> None:
    """Refuse a mounted camera that cannot be bound to a model.

    Raises:
        ValueError: an unknown body or mode, or numbers that no camera has.
    """
    if camera.mode not in MODES:
        raise ValueError(f"camera mode={camera.mode!r}{nearest(str(camera.mode), set(MODES))}")
    if camera.mode.startswith("target") != (camera.target is not None):
        raise ValueError(f"camera mode={camera.mode!r}, target={camera.target!r}: modes 'target...' have a target")
    if camera.mode.startswith("track") and camera.body is None:
        raise ValueError(f"camera mode={camera.mode!r}: it needs a body that it follows")
    if camera.fovy is not None and camera.intrinsics is not None:
        raise ValueError("camera: give fovy or intrinsics, not both")
    if camera.quat is not None and camera.lookat is not None:
        raise ValueError("camera: give quat or lookat, not both")
    for part in ("body", "target"):
        _body(mj, part, getattr(camera, part))
    _rows("pos", camera.pos, 3), _quaternions(camera)
    if camera.fovy is not None:
        fovy_frustum(torch.as_tensor(real_array("camera fovy", camera.fovy)), 1.0)


def looking(backward: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return camera-to-world rotations (n, 3, 3) whose z axes are along `backward` (n, 3), and y axes near `up`.

    Looking along `up`, a camera's x is the world's y.
    """
    z = torch.nn.functional.normalize(backward, dim=-1)
    x = torch.linalg.cross(up.expand_as(z), z)
    x = torch.where(x.norm(dim=-1, keepdim=True) < 1e-9, x.new_tensor([0.0, 1.0, 0.0]), x)
    x = torch.nn.functional.normalize(x, dim=-1)
    return torch.stack([x, torch.linalg.cross(z, x), z], dim=-1)


def _body(mj: mujoco.MjModel, part: str, given: int | str | None) -> int:
    """Id of a body, -1 for none."""
    if given is None:
        return -1
    if isinstance(given, str):
        names = [mj.body(i).name for i in range(mj.nbody)]
        if given not in names:
            raise ValueError(
                f"camera {part}: the model has no body {given!r}{nearest(given, set(filter(None, names)))}"
            )
        return names.index(given)
    number = as_whole(f"camera {part}", given)
    if not 0 <= number < mj.nbody:
        raise ValueError(f"camera {part}: the model has {mj.nbody} bodies: {number} must be 0 to {mj.nbody - 1}")
    return number


def _rows(name: str, given: Any, width: int) -> torch.Tensor:
    """Return numbers of a camera as (1, width) or (num_envs, width)."""
    if isinstance(given, torch.Tensor) and given.is_cuda:
        rows = given
    else:
        numbers = real_array(f"camera {name}", given)
        if not np.isfinite(numbers).all():
            raise ValueError(f"camera {name}: expected finite numbers, not {given!r}")
        rows = torch.as_tensor(numbers, dtype=torch.float64)
    if rows.ndim > 2 or rows.shape[-1:] != (width,):
        raise ValueError(f"camera {name}: expected shape ({width},) or (num_envs, {width}), got {tuple(rows.shape)}")
    return rows.reshape(-1, width)


def _quaternions(camera: MountedCamera) -> torch.Tensor:
    """Return its orientations in the body's frame, (1, 4) or (num_envs, 4)."""
    if camera.lookat is not None:
        backward = _rows("pos", camera.pos, 3) - _rows("lookat", camera.lookat, 3)
        if not bool((backward.norm(dim=-1) > 0).all()):
            raise ValueError("camera lookat: it must not be where the camera is")
        return matrix_to_quat(looking(backward, _rows("up", camera.up, 3)[0]))
    given = (1.0, 0.0, 0.0, 0.0) if camera.quat is None else camera.quat
    rows = _rows("quat", given, 4)
    if not rows.is_cuda and not bool((rows.norm(dim=-1) > 0).all()):
        raise ValueError("camera quat: all zeros are no orientation")
    return torch.nn.functional.normalize(rows, dim=-1)


def _distance(camera: MountedCamera, extent: float) -> float:
    """Return the typical distance to the visible scene, m."""
    if camera.lookat is None:
        return 1.5 * extent
    away = _rows("pos", camera.pos, 3) - _rows("lookat", camera.lookat, 3)
    return float(away.norm(dim=-1).mean())
