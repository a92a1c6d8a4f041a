"""The pose of a camera in every environment: set, attached to a link, or following an entity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...physics.base.rotations import quat_to_matrix
from ...physics.machine.normal_mode import in_normal_mode
from ..checks import Indices, Numbers, Rows, number, numbers
from ..entity.entity import RigidEntity
from ..entity.index import LinkIndex
from ..errors import SceneOrderError
from ..poses import look_at, quat_of_mat
from ..world import World


@in_normal_mode
class CameraPose:
    """The poses of a camera, camera-to-world transforms (4, 4): x right, y up, looking along -z.

    Args:
        pos: where it stands at first, (3,) m.
        lookat: the point that it looks at, (3,) m.
        up: direction that is up in the picture, (3,).
    """

    def __init__(self, pos: Numbers, lookat: Numbers, up: Numbers) -> None:
        place, aim, over = (
            np.array(numbers("add_camera", name, vector, 3))
            for name, vector in zip(("pos", "lookat", "up"), (pos, lookat, up), strict=True)
        )
        self._first = look_at(place, aim, over)
        self._up = over
        self._distance = float(np.linalg.norm(aim - place))
        self._world: World | None = None
        self._closed = False
        self._pose = torch.zeros(0)  # (envs, 4, 4)
        self._distances = torch.zeros(0)  # (envs,) m to the point looked at
        self._link: LinkIndex | None = None
        self._offset = torch.zeros(0)
        self._followed: RigidEntity | None = None
        self._follows: dict[str, Any] = {}

    def place(self, world: World) -> None:
        """Take its place in a built scene."""
        self._world = world
        first = torch.as_tensor(self._first, dtype=world.solver.dtype, device=world.solver.device)
        self._pose = first.repeat(world.count, 1, 1)
        self._distances = self._pose.new_full((world.count,), self._distance)

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self._world is not None

    def close(self) -> None:
        """Forget the scene."""
        self._world, self._closed = None, True

    def _built(self) -> World:
        if self._world is None:
            reason = "the scene is closed; make a new one" if self._closed else "call scene.build() first"
            raise SceneOrderError(f"camera: {reason}")
        return self._world

    def set_pose(
        self,
        transform: Numbers | None = None,
        pos: Numbers | None = None,
        lookat: Numbers | None = None,
        up: Numbers | None = None,
        envs_idx: Indices = None,
    ) -> None:
        """Put it somewhere else.

        Args:
            transform: the whole pose, (4, 4) or (n, 4, 4); else the next arguments.
            pos: position, (3,) or (n, 3) m; None: as it is.
            lookat: the point looked at, (3,) or (n, 3) m; None: as it is.
            up: direction that is up in the picture, (3,) or (n, 3).
            envs_idx: in n environments; None: in all.

        Raises:
            ValueError: nothing is given, a shape is wrong, or a number is not finite.
        """
        self._built()
        index = self._index(envs_idx)
        if transform is not None:
            matrices = torch.as_tensor(np.asarray(transform, float)).to(self._pose)
            if matrices.shape[-2:] != (4, 4) or matrices.ndim > 3:
                raise ValueError(f"transform: expected (4, 4) or (n, 4, 4), got {tuple(matrices.shape)}")
            _require_finite("transform", matrices)
            self._pose[index] = matrices
            return
        if pos is None and lookat is None and up is None:
            raise ValueError("set_pose: give a transform, or pos, lookat or up")
        count = len(self._pose[index])
        aim = self._rows("lookat", lookat, self._aim(index))
        place = self._rows("pos", pos, self._pose[index][:, :3, 3])
        over = self._rows("up", up, torch.as_tensor(self._up).to(self._pose).expand(count, 3))
        poses = [look_at(*(part[k].cpu().numpy() for part in (place, aim, over))) for k in range(count)]
        self._pose[index] = torch.as_tensor(np.array(poses)).to(self._pose)
        self._distances[index] = (aim - place).norm(dim=-1)
        if up is not None and np.ndim(up) == 1:
            self._up = np.asarray(up, float)

    def _index(self, envs_idx: Indices) -> Rows:
        envs = self._built().envs(envs_idx)
        if envs is None:
            return slice(None)
        return torch.as_tensor(envs.index, device=self._pose.device)

    def _rows(self, name: str, given: Numbers | None, now: torch.Tensor) -> torch.Tensor:
        if given is None:
            return now
        rows = torch.as_tensor(given if isinstance(given, torch.Tensor) else np.asarray(given, float)).to(now)
        if rows.shape not in (now.shape, (3,)):
            raise ValueError(f"{name}: expected shape {tuple(now.shape)} or (3,), got {tuple(rows.shape)}")
        _require_finite(name, rows)
        return rows.expand_as(now)

    def _aim(self, index: Rows) -> torch.Tensor:
        pose = self._pose[index]
        return pose[:, :3, 3] - self._distances[index, None] * pose[:, :3, 2]

    def attach(self, rigid_link: LinkIndex, offset_T: Numbers) -> None:
        """Fix it to a link: it moves along, with the pose (4, 4) in the link's frame."""
        if not hasattr(rigid_link, "body"):
            raise TypeError(f"attach: rigid_link={rigid_link!r}: expected a link of the scene: entity.get_link(name)")
        offset = np.asarray(offset_T, float)
        if offset.shape != (4, 4):
            raise ValueError(f"offset_T: expected a pose (4, 4), got shape {offset.shape}")
        self._link, self._offset, self._followed = rigid_link, torch.as_tensor(offset), None

    def detach(self) -> None:
        """Detach it; it stays where it is."""
        self._link = None

    def move_to_attach(self) -> None:
        """Move it along with its link; `render` calls this."""
        if self._link is None:
            raise ValueError("move_to_attach: the camera is attached to no link; call attach first")
        self._move()

    @torch.no_grad()
    def follow_entity(
        self,
        entity: RigidEntity,
        fixed_axis: Sequence[float | None] = (None, None, None),
        smoothing: float | None = None,
        fix_orientation: bool = False,
    ) -> None:
        """Move along with the position of an entity, at the distance that it has now, and look at it.

        Args:
            entity: the entity.
            fixed_axis: coordinates that stay, (3,) m, None for coordinates that follow.
            smoothing: share of the former position that remains at every picture, from 0 to 1; None: 0.
            fix_orientation: whether the direction of view stays; else the camera looks at the entity.

        Raises:
            TypeError: this is no entity.
            ValueError: an argument is impossible.
        """
        if not hasattr(entity, "base_link"):
            raise TypeError(f"follow_entity: entity={entity!r}: expected an entity of the scene")
        if smoothing is not None:
            smoothing = number("follow_entity", "smoothing", smoothing, least=0.0, most=1.0)
        self._follows = {
            "fixed": tuple(fixed_axis),
            "smoothing": smoothing,
            "keeps": bool(fix_orientation),
            "offset": None,
        }
        self._followed, self._link = entity, None
        if self._world is not None:
            self._follows["offset"] = self._pose[:, :3, 3] - self._world.get("xpos")[:, entity.base_link.body]

    def unfollow_entity(self) -> None:
        """Stop following; it stays where it is."""
        self._followed = None

    def update_following(self) -> None:
        """Move it along with its entity; `render` calls this."""
        if self._followed is None:
            raise ValueError("update_following: the camera follows no entity; call follow_entity first")
        self._move()

    @torch.no_grad()
    def _move(self) -> None:
        """Move with the link or entity that it is attached to or follows."""
        world = self._built()
        if self._link is not None:
            pos, quat = (world.get(name)[:, self._link.body] for name in ("xpos", "xquat"))
            link = torch.eye(4, dtype=pos.dtype, device=pos.device).repeat(len(pos), 1, 1)
            link[:, :3, :3], link[:, :3, 3] = quat_to_matrix(quat), pos
            self._pose = link @ self._offset.to(link)
        elif self._followed is not None:
            self._follow(world.get("xpos")[:, self._followed.base_link.body])

    def _follow(self, target: torch.Tensor) -> None:
        """Follow an entity that is at positions (n, 3) m."""
        how = self._follows
        if how["offset"] is None:
            how["offset"] = self._pose[:, :3, 3] - target
        place = target + how["offset"]
        if how["smoothing"]:
            place = how["smoothing"] * self._pose[:, :3, 3] + (1.0 - how["smoothing"]) * place
        for axis, value in enumerate(how["fixed"]):
            if value is not None:
                place[:, axis] = float(value)
        if how["keeps"]:
            self._pose[:, :3, 3] = place
            return
        poses = [look_at(a, b, self._up) for a, b in zip(place.cpu().numpy(), target.cpu().numpy(), strict=True)]
        self._pose = torch.as_tensor(np.array(poses)).to(place)
        self._distances = (target - place).norm(dim=-1)

    # numbers

    def get_transform(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its poses, (n, 4, 4); (4, 4) without a batch."""
        return self._built().out(self._pose[self._index(envs_idx)])

    def get_pos(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its positions, (n, 3) m; (3,) without a batch."""
        return self.get_transform(envs_idx)[..., :3, 3]

    def get_quat(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its orientations, (n, 4), w first; (4,) without a batch."""
        return quat_of_mat(self.get_transform(envs_idx)[..., :3, :3])

    def get_up(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the directions that are up in its pictures, (n, 3); (3,) without a batch."""
        return self.get_transform(envs_idx)[..., :3, 1]

    def get_lookat(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the points looked at, (n, 3) m; (3,) without a batch."""
        return self._built().out(self._aim(self._index(envs_idx)))


def _require_finite(name: str, given: torch.Tensor) -> None:
    if not bool(given.isfinite().all()):
        raise ValueError(f"set_pose: {name}: its numbers must be finite")
