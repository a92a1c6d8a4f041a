"""Fields of view: by an angle, by MuJoCo's sensors, or by intrinsics as OpenCV has them. Environments may differ."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.arguments import CheckedEnvs, real_array
from ...machine.scalars import as_count


class Frustum(NamedTuple):
    """The field of view: a rectangle at unit distance (at any distance, in metres, if orthographic).

    Its edges are numbers, or tensors (n,) if fields of view differ between environments.
    """

    left: Any
    right: Any
    bottom: Any
    top: Any
    orthographic: bool

    @property
    def is_shared(self) -> bool:
        """True if all environments have the same."""
        return not isinstance(self.left, torch.Tensor)

    def of(self, envs: CheckedEnvs | None, num_envs: int, device: torch.device) -> "Frustum":
        """Return the frusta of environments of a solver, on its device.

        Raises:
            ValueError: there are as many fields of view as another number of environments.
        """
        if self.is_shared:
            return self
        if len(self.left) != num_envs:
            raise ValueError(f"camera: {len(self.left)} fields of view, and the solver has {num_envs} environments")
        left, right, bottom, top = (
            edge.to(device) if envs is None else edge.to(device)[envs.index] for edge in self[:4]
        )
        return Frustum(left, right, bottom, top, self.orthographic)

    @property
    def first(self) -> "Frustum":
        """The first of several, in numbers."""
        if self.is_shared:
            return self
        left, right, bottom, top = (float(edge[0]) for edge in self[:4])
        return Frustum(left, right, bottom, top, self.orthographic)

    def columns(self) -> tuple[Any, ...]:
        """Left, right, bottom and top: numbers, or (n, 1)."""
        return tuple(edge if self.is_shared else edge[:, None] for edge in self[:4])

    def table(self, device: torch.device) -> torch.Tensor:
        """Return all five numbers, (n, 5) float32, or (1, 5) if they are shared."""
        if self.is_shared:
            return torch.tensor([self], dtype=torch.float32, device=device)
        rows = torch.stack([*self[:4], torch.full_like(self.left, float(self.orthographic))], dim=-1)
        return rows.to(device, torch.float32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Intrinsics:
    """A camera's field of view as OpenCV has it, in pixels of a picture of `width` by `height`.

    The middle of the picture's upper left pixel is (0, 0), as in `cv2.projectPoints` and `cv2.calibrateCamera`; so a
    camera that looks through the middle has cx = (width - 1) / 2. A picture of another size shows the same view.

    Attributes:
        fx, fy: focal lengths, pixels; one each, or (num_envs,).
        cx, cy: where the optical axis is seen, pixels; one each, or (num_envs,).
        width, height: pixels of the picture.

    Raises:
        ValueError: with the number, if no camera has it.
    """

    fx: Any
    fy: Any
    cx: Any
    cy: Any
    width: int
    height: int

    def __post_init__(self) -> None:
        """Refuse numbers that no camera has."""
        as_count("Intrinsics: width", self.width), as_count("Intrinsics: height", self.height)
        for name in ("fx", "fy", "cx", "cy"):
            given = real_array(f"Intrinsics: {name}", getattr(self, name))
            bad = ~np.isfinite(given) | ((given <= 0) if name in ("fx", "fy") else np.zeros(given.shape, bool))
            if given.ndim > 1 or bad.any():
                kind = "positive" if name in ("fx", "fy") else "finite"
                raise ValueError(f"Intrinsics: {name} must be {kind} pixels, one number or one each environment")

    @classmethod
    def of_matrix(cls, matrix: Any, width: int, height: int) -> "Intrinsics":
        """Return the intrinsics of OpenCV's camera matrix K, (3, 3) or (num_envs, 3, 3).

        Raises:
            ValueError: for another shape, or a matrix that is not that of a camera without skew.
        """
        given = real_array("Intrinsics: matrix", matrix)
        if given.shape[-2:] != (3, 3) or given.ndim > 3:
            raise ValueError(f"Intrinsics: matrix: expected shape (3, 3) or (num_envs, 3, 3), got {given.shape}")
        rest = given[..., [0, 1, 2, 2, 2], [1, 0, 0, 1, 2]] - np.array([0.0, 0, 0, 0, 1])
        if np.abs(rest).max(initial=0.0) > 1e-9:
            raise ValueError("Intrinsics: matrix must be [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]; skew is not drawn")
        fx, fy, cx, cy = (given[..., i, j] for i, j in ((0, 0), (1, 1), (0, 2), (1, 2)))
        return cls(fx=fx, fy=fy, cx=cx, cy=cy, width=width, height=height)

    @property
    def matrix(self) -> np.ndarray:
        """OpenCV's camera matrix K, (3, 3) or (num_envs, 3, 3)."""
        fx, fy, cx, cy = np.broadcast_arrays(*(np.asarray(x, float) for x in (self.fx, self.fy, self.cx, self.cy)))
        found = np.zeros((*fx.shape, 3, 3))
        found[..., 0, 0], found[..., 1, 1], found[..., 0, 2], found[..., 1, 2], found[..., 2, 2] = fx, fy, cx, cy, 1.0
        return found

    @property
    def frustum(self) -> Frustum:
        """The same as a field of view: the edges of the picture lie half a pixel beyond the middles of its pixels."""
        fx, fy, cx, cy = np.broadcast_arrays(*(np.asarray(x, float) for x in (self.fx, self.fy, self.cx, self.cy)))
        across = -(cx + 0.5) / fx, (self.width - 0.5 - cx) / fx
        along = -(self.height - 0.5 - cy) / fy, (cy + 0.5) / fy
        left, right, bottom, top = (
            float(edge) if edge.ndim == 0 else torch.from_numpy(edge) for edge in (*across, *along)
        )
        return Frustum(left, right, bottom, top, False)


def intrinsics_of(frustum: Frustum, width: int, height: int) -> Intrinsics:
    """Return the intrinsics of a picture's field of view.

    Raises:
        ValueError: it is orthographic.
    """
    if frustum.orthographic:
        raise ValueError("an orthographic camera has no intrinsics")
    left, right, bottom, top = (np.asarray(e.cpu() if isinstance(e, torch.Tensor) else e, float) for e in frustum[:4])
    fx, fy = width / (right - left), height / (top - bottom)
    return Intrinsics(fx=fx, fy=fy, cx=-left * fx - 0.5, cy=top * fy - 0.5, width=width, height=height)


def fovy_frustum(fovy: Any, aspect: float, orthographic: bool = False) -> Frustum:
    """Return a field of view about the optical axis.

    Args:
        fovy: degrees from the lower to the upper edge (metres if orthographic): a number, or (num_envs,).
        aspect: width over height.
        orthographic: True: all rays are parallel.

    Raises:
        ValueError: an angle is not between 0 and 180 degrees.
    """
    if np.ndim(fovy) == 0 and not isinstance(fovy, torch.Tensor):
        return symmetric_frustum(float(fovy), aspect, orthographic)
    angle = torch.as_tensor(real_array("camera fovy", fovy), dtype=torch.float64)
    if angle.ndim > 1 or not bool(((angle > 0) & (angle < 180)).all()):
        raise ValueError("camera fovy: expected degrees above 0 and below 180, one number or one each environment")
    top = torch.tan(torch.deg2rad(angle) / 2)
    if angle.ndim == 0:
        return symmetric_frustum(float(angle), aspect, orthographic)
    return Frustum(-top * aspect, top * aspect, -top, top, False)


def symmetric_frustum(fovy: float, aspect: float, orthographic: bool) -> Frustum:
    """Return the field of view of one angle (degrees; metres if orthographic)."""
    top = fovy / 2 if orthographic else math.tan(math.radians(fovy) / 2)
    return Frustum(-top * aspect, top * aspect, -top, top, orthographic)


def model_frustum(mj: mujoco.MjModel, camera: int, aspect: float) -> Frustum:
    """Frustum of a model's camera: from fovy, or from its sensor and intrinsics (fx, fy, cx, cy in metres)."""
    orthographic = mj.cam_projection[camera] == mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC
    width, height = mj.cam_sensorsize[camera]
    if orthographic or height <= 0:
        return symmetric_frustum(float(mj.cam_fovy[camera]), aspect, bool(orthographic))
    fx, fy, cx, cy = (float(x) for x in mj.cam_intrinsic[camera])
    half_width, half_height = float(width) / 2, float(height) / 2
    left, right = -(half_width - cx) / fx, (half_width + cx) / fx
    return Frustum(left, right, -(half_height + cy) / fy, (half_height - cy) / fy, False)


def pixel_rays(frustum: Frustum, width: int, height: int, device: torch.device | None = None) -> torch.Tensor:
    """Rays through the pixels' middles in the camera's frame, with -1 along its z axis.

    They are (height, width, 3), or (n, height, width, 3) if fields of view differ between environments.
    """
    kind: Any = {"dtype": torch.float32, "device": device}
    if frustum.is_shared:
        x = torch.linspace(frustum.left, frustum.right, 2 * width + 1, **kind)[1::2]
        y = torch.linspace(frustum.top, frustum.bottom, 2 * height + 1, **kind)[1::2]
        up, right = torch.meshgrid(y, x, indexing="ij")
        return torch.stack([right, up, torch.full_like(up, -1.0)], dim=-1)
    left, right, bottom, top = (edge.to(device, torch.float32) for edge in frustum.columns())
    x = left + (right - left) * (torch.arange(width, **kind) + 0.5) / width
    y = top + (bottom - top) * (torch.arange(height, **kind) + 0.5) / height
    shape = len(left), height, width
    parts = x[:, None, :].expand(shape), y[:, :, None].expand(shape), torch.full(shape, -1.0, **kind)
    return torch.stack(parts, dim=-1)


def project(
    frustum: Frustum, size: tuple[int, int], points: torch.Tensor, eye: torch.Tensor, view: torch.Tensor
) -> torch.Tensor:
    """Return where points are seen, (n, k, 2): pixels right and down from the upper left corner; nan behind the eye.

    Args:
        frustum: of the camera, or of each of n environments.
        size: width and height of the picture, pixels.
        points: (n, k, 3) m, world.
        eye: positions of the camera, (n, 3) m.
        view: camera-to-world rotations, (n, 3, 3).
    """
    seen = torch.einsum("nij,nki->nkj", view, points - eye[:, None])
    ahead = -seen[..., 2]
    scale = torch.ones_like(ahead) if frustum.orthographic else 1.0 / ahead
    left, right, bottom, top = frustum.columns()
    x = (seen[..., 0] * scale - left) / (right - left) * size[0]
    y = (top - seen[..., 1] * scale) / (top - bottom) * size[1]
    return torch.where((ahead > 0)[..., None], torch.stack([x, y], dim=-1), torch.nan)
