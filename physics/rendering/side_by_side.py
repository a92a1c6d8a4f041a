"""Several environments side by side in one picture: their geoms are moved apart, into one world."""

from collections.abc import Sequence

import mujoco
import numpy as np
import torch

from ..base.arguments import real_array
from ..machine.scalars import as_count
from .cameras.frustum import Frustum
from .outputs import DrawnPoses
from .particles.tables import joined
from .shown.appearance import BY_ENV, TREE
from .shown.render_model import ALWAYS, BOUND, RenderModel

MOST_LISTED = 2**28
"""Numbers in the lists of geoms that the tiles of a picture may see: a gigabyte."""
_OF_ROWS = ("kind", "paint", "rows", "lie")
_IDS = ("geom", "body", "entity")
Tables = dict[str, torch.Tensor]


def side_by_side(
    count: int, spacing: Sequence[float], per_row: int | None = None, center: bool = True, name: str = "env_spacing"
) -> np.ndarray:
    """Return where environments are put side by side in rows along x, (count, 3) m.

    Args:
        count: number of environments.
        spacing: distances along x and y, m.
        per_row: how many stand along x; None: about as many as along y.
        center: whether the middle of all is at the origin; else the first environment is.
        name: of `spacing` in errors.

    Raises:
        ValueError: the spacing is not two finite numbers.
    """
    apart = real_array(name, spacing)
    if apart.shape != (2,) or not np.isfinite(apart).all():
        raise ValueError(f"{name}={spacing!r}: expected two distances, along x and y, in metres")
    columns = int(np.ceil(np.sqrt(count))) if per_row is None else as_count("n_envs_per_row", per_row)
    number = np.arange(count)
    places = np.stack([number % columns * apart[0], number // columns * apart[1], np.zeros(count)], axis=1)
    return places - (places.max(0) + places.min(0)) / 2 if center and count else places


class Crowd:
    """The rows of several environments as rows of one.

    Planes that belong to the world are there once; what else belongs to it is there once for each place.

    Args:
        mj: the model.
        drawn: its drawn parts.
        offsets: where environments are put, (n, 3) m.

    Attributes:
        of_model: the row of the model that each row is a copy of.
    """

    def __init__(self, mj: mujoco.MjModel, drawn: RenderModel, offsets: torch.Tensor) -> None:
        self.offsets = offsets
        count, rows, places = len(offsets), len(drawn.geom), offsets.cpu().numpy()
        of_world = np.append(mj.body_weldid[mj.geom_bodyid] == 0, False)
        still = of_world[np.where(drawn.geom < mj.ngeom, drawn.geom, -1)]  # groups of particles are no geoms
        kept = np.ones((count, rows), bool)
        _, first = np.unique(places, axis=0, return_index=True)
        again = ~np.isin(np.arange(count), first)
        is_plane = drawn.shape[:, BOUND] == np.float32(ALWAYS)
        kept[1:, still & is_plane] = False
        kept[np.ix_(again, np.flatnonzero(still))] = False
        index = np.flatnonzero(kept.reshape(-1))
        self._index = torch.as_tensor(index, device=offsets.device)
        self._row, self.of_model = torch.as_tensor(index % rows, device=offsets.device), index % rows
        self._env = torch.as_tensor(index // rows, dtype=torch.int32, device=offsets.device)
        solid = np.isin(index % rows, drawn.solids)
        self._solids = torch.as_tensor(np.flatnonzero(solid), dtype=torch.int32, device=offsets.device)
        self.rows = len(index)

    def poses(self, poses: DrawnPoses, eye: torch.Tensor, view: torch.Tensor) -> DrawnPoses:
        """Return the poses of all rows in one world, seen by one camera, (3,) m and (3, 3)."""
        centre = (poses.centre + self.offsets[:, None].to(poses.centre)).flatten(0, 1)[self._index]
        turn = poses.turn.flatten(0, 1)[self._index]
        return DrawnPoses(centre[None], turn[None], eye[None], view[None], poses.particles[:1])

    def tables(self, tables: Tables, more: Tables) -> Tables:
        """Return the tables of all rows."""
        tables = joined(tables | more)
        found = tables | {name: tables[name][self._row].contiguous() for name in _OF_ROWS}
        if "particle_trees" in more:  # a tree of each environment's own, in one world
            found["rows"][:, TREE] += self._env * found["rows"][:, BY_ENV]
            found["rows"][:, BY_ENV] = 0
        found["solids"] = self._solids
        shape = tables["shape"].expand(len(self.offsets), -1, -1).flatten(0, 1)
        found["shape"] = shape[self._index][None].contiguous()
        for name in _IDS:
            of_rows, others = tables[name].split([len(tables["kind"]), len(tables[name]) - len(tables["kind"])])
            found[name] = torch.cat([of_rows[self._row], others])
        for name in ("lights", "frustum"):  # of the first environment, through whose camera all are seen
            if name in more:
                found[name] = more[name][:1].contiguous()
        return found

    def require_room(self, tiles: int) -> None:
        """Refuse more rows than the lists of tiles have room for.

        Raises:
            ValueError: the message says what to do.
        """
        if tiles * (self.rows + 1) > MOST_LISTED:
            raise ValueError(
                f"{len(self.offsets)} environments with {self.rows} geoms are too many for one picture of this size: "
                "draw fewer by envs_idx, or a smaller picture"
            )


def framed(
    frustum: Frustum, eye: torch.Tensor, turn: torch.Tensor, offsets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the pose of a camera that sees environments side by side, (3,) m and (3, 3), from the poses in each.

    It looks at the middle of all, from so much farther away as they are wide.
    """
    middle = (eye + offsets.to(eye)).mean(dim=0)
    half = 0.5 * min(frustum.right - frustum.left, frustum.top - frustum.bottom)
    reach = float((offsets - offsets.mean(dim=0)).norm(dim=-1).max())
    farther = 0.0 if frustum.orthographic else 0.8 * reach / max(half, 1e-3)
    return middle + farther * turn[0][:, 2], turn[0]
