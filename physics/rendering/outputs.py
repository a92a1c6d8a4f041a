"""The outputs of pictures: one row of `OUTPUTS` each, a function of the rays' findings.

The kernel gives depth and the row of the table that each pixel sees; colours, and the guides (true normal and albedo),
if an output asks for them. All else is made of these in torch, on the device. An output is added by a function and its
row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from .cameras.frustum import Frustum, pixel_rays
from .names import nearest


class DrawnPoses(NamedTuple):
    """The places of the drawn geoms and the camera, in the solver's precision."""

    centre: torch.Tensor  # (n, rows, 3)
    turn: torch.Tensor  # (n, rows, 9)
    eye: torch.Tensor  # (n, 3)
    view: torch.Tensor  # (n, 3, 3) camera to world
    particles: torch.Tensor  # (n, p, 3): the centers of all groups' particles


@dataclass(frozen=True, eq=False)
class PixelFindings:
    """The findings of the rays of n pictures; row 0 is the top.

    Attributes:
        depth: (n, height, width) m along the optical axis, inf for the sky.
        row: (n, height, width) int32, row of the render model, or the number of rows and that of a particle; -1 for the
            sky.
        guides: (n, height, width, 6) true normal in the world, albedo in linear light; empty unless asked for.
        rgb: (n, height, width, 3) uint8; empty unless asked for.
        ids: for each of "geom", "body", "entity" its numbers by row, then by particle, with that of the sky at the end.
        frustum: of the camera, or of each of its n environments.
        poses: of geoms and camera.
        before: the same at an earlier moment, if the caller gave one.
    """

    depth: torch.Tensor
    row: torch.Tensor
    guides: torch.Tensor
    rgb: torch.Tensor
    ids: dict[str, torch.Tensor]
    frustum: Frustum
    poses: DrawnPoses
    before: DrawnPoses | None

    def rays(self) -> torch.Tensor:
        """Rays through the pixels' middles in the camera's frame, see `pixel_rays`."""
        return pixel_rays(self.frustum, self.depth.shape[2], self.depth.shape[1], self.depth.device)


class Output(NamedTuple):
    """One thing that a picture can show."""

    make: Callable[[PixelFindings], torch.Tensor]
    colour: bool = False  # needs rgb
    guided: bool = False  # needs the guides
    before: bool = False  # needs an earlier moment
    what: str = ""  # for the documentation: dtype, shape after (n, height, width), and meaning


def _ids(found: PixelFindings, of: str) -> torch.Tensor:
    return found.ids[of][found.row.long()]


def _seen(found: PixelFindings) -> torch.Tensor:
    return found.row >= 0


def _from_eye(found: PixelFindings) -> torch.Tensor:
    """Points that pixels see, (n, height, width, 3) m from the eye along the camera's axes; 0 for the sky."""
    rays, depth = found.rays(), torch.where(_seen(found), found.depth, 0.0)[..., None]
    if found.frustum.orthographic:
        flat = torch.cat([rays[..., :2], torch.zeros_like(rays[..., :1])], dim=-1)
        return torch.where(_seen(found)[..., None], flat - depth * rays.new_tensor([0.0, 0.0, 1.0]), 0.0)
    return depth * rays


def _distance(found: PixelFindings) -> torch.Tensor:
    length = 1.0 if found.frustum.orthographic else found.rays().norm(dim=-1)
    return found.depth * length


def _points(found: PixelFindings) -> torch.Tensor:
    points = torch.einsum("nij,nhwj->nhwi", found.poses.view.to(torch.float32), _from_eye(found))
    points = points + found.poses.eye.to(torch.float32)[:, None, None]
    return torch.where(_seen(found)[..., None], points, torch.inf)


def _normals(found: PixelFindings) -> torch.Tensor:
    return found.guides[..., :3]


def _camera_normals(found: PixelFindings) -> torch.Tensor:
    return torch.einsum("nij,nhwi->nhwj", found.poses.view.to(torch.float32), found.guides[..., :3])


def _albedo(found: PixelFindings) -> torch.Tensor:
    return (255.0 * found.guides[..., 3:].clamp(0.0, 1.0).sqrt() + 0.5).to(torch.uint8)


def _all_poses(poses: DrawnPoses) -> DrawnPoses:
    """Return poses whose rows are followed by the particles, which do not turn."""
    count = poses.particles.shape[1]
    if not count:
        return poses
    still = torch.eye(3).to(poses.turn).reshape(9).expand(len(poses.turn), count, 9)
    centre, turn = torch.cat([poses.centre, poses.particles], dim=1), torch.cat([poses.turn, still], dim=1)
    return poses._replace(centre=centre, turn=turn)


def _motion(found: PixelFindings) -> torch.Tensor:
    """Pixels (right, down) by which the surface at a pixel has moved; 0 for the sky."""
    if found.before is None:
        raise ValueError('the output "motion" needs an earlier moment: before=renderer.moment(solver)')
    now, then = _all_poses(found.poses), _all_poses(found.before)
    n, height, width = found.row.shape
    index = found.row.clamp(min=0).long().reshape(n, -1, 1)
    world = torch.einsum("nij,nhwj->nhwi", now.view, _from_eye(found).to(now.view.dtype)).reshape(n, -1, 3)

    def of(table: torch.Tensor) -> torch.Tensor:
        return table.gather(1, index.expand(-1, -1, table.shape[-1]))

    # fixed in the geom: its place then, from the eye then
    local = torch.einsum(
        "npij,npi->npj", of(now.turn).unflatten(-1, (3, 3)), world - (of(now.centre) - now.eye[:, None])
    )
    back = of(then.centre) - then.eye[:, None]
    back = back + torch.einsum("npij,npj->npi", of(then.turn).unflatten(-1, (3, 3)), local)
    seen = torch.einsum("nij,npi->npj", then.view, back)
    frustum, scale = found.frustum, torch.ones_like(seen[..., 2])
    if not frustum.orthographic:
        scale = 1.0 / (-seen[..., 2]).clamp(min=1e-6)
    left, right, bottom, top = frustum.columns()
    x = (seen[..., 0] * scale - left) / (right - left) * width
    y = (top - seen[..., 1] * scale) / (top - bottom) * height
    was = torch.stack([x, y], dim=-1).reshape(n, height, width, 2)
    row, column = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    middle = torch.stack([column, row], dim=-1).to(was) + 0.5
    return torch.where(_seen(found)[..., None], middle - was, 0.0).to(torch.float32)


OUTPUTS: dict[str, Output] = {
    "rgb": Output(lambda found: found.rgb, colour=True, what="uint8, 3: colour"),
    "depth": Output(lambda found: found.depth, what="float32: metres along the optical axis, inf for the sky"),
    "distance": Output(_distance, what="float32: metres along the ray, inf for the sky"),
    "segmentation": Output(lambda found: _ids(found, "geom"), what="int32: geom, -1 for the sky"),
    "body": Output(lambda found: _ids(found, "body"), what="int32: body of the geom, -1 for the sky"),
    "entity": Output(lambda found: _ids(found, "entity"), what="int32: entity of the geom, -1 for the sky"),
    "normals": Output(_normals, guided=True, what="float32, 3: unit normals in the world, 0 for the sky"),
    "camera_normals": Output(_camera_normals, guided=True, what="float32, 3: the same in the camera's frame"),
    "albedo": Output(_albedo, guided=True, what="uint8, 3: colour of the surface without light, 0 for the sky"),
    "points": Output(_points, what="float32, 3: metres in the world, inf for the sky"),
    "motion": Output(_motion, before=True, what="float32, 2: pixels right and down since `before`, 0 for the sky"),
}
"""The outputs by name, which `BatchRenderer.draw` takes."""


def needs_of(outputs: Mapping[str, Output]) -> dict[str, bool]:
    """Return the inputs that outputs need: colours, guides, and depth and rows, which no overlay changes."""
    found = outputs.values()
    return {
        "colour": any(o.colour for o in found),
        "guided": any(o.guided for o in found),
        "measured": any(not o.colour for o in found),
    }


def outputs_named(names: Sequence[str]) -> dict[str, Output]:
    """Return outputs by name.

    Raises:
        TypeError: a text instead of a sequence of them.
        ValueError: an unknown output, with the nearest ones; or none at all.
    """
    if isinstance(names, str):
        raise TypeError(f"outputs: needed is a sequence of names, such as [{names!r}], not a text")
    for name in names:
        if name not in OUTPUTS:
            raise ValueError(f"there is no output {name!r}{nearest(name, set(OUTPUTS))}")
    if not names:
        raise ValueError(f"outputs: name at least one of {', '.join(OUTPUTS)}")
    return {name: OUTPUTS[name] for name in names}
