"""Levels and origins: which sub-terrain each environment is on, and how it moves to harder and easier ones.

Rows of a terrain are levels, columns are types. Environments are dealt out among types by the proportions of kinds, and
each keeps its type. Where an episode ended decides the next level.
"""

import math

import numpy as np

from ...terrain import Terrain, share_out
from ..arrays import Array, namespace, row_norm
from .noise import Noise
from .task import Last, Start, Task


class TerrainLevels:
    """The level, type and origin of every environment, in the task's memory.

    Make one in `bind`, and ask it in `reset_after`:

        def bind(self):
            self.levels = TerrainLevels(TERRAIN, self, command="command")

        def reset_after(self, last, noise):
            return self.levels.begin(self.reset(noise), last, noise)

    The rule: an environment that came farther from its origin than half of its sub-terrain goes up a level; one that
    came less far than half of the distance that its command asked for goes down. Above the last level a random one is
    drawn; no level is below the first. An environment that took no step stays, and a new or newly seeded one begins at
    a random level. is below the first. An environment that took no step stays, and a new or newly seeded one begins at
    a random level.

    Args:
        terrain: the terrain.
        task: a bound task, whose arrays are computed with.
        max_init_level: the highest level to begin at; None: any.
        episode_length_s: seconds of a whole episode.
        command: name of the memory (n, 2 or more) with the commanded velocity along x and y, m/s, or the one speed that
            is asked of all, m/s.
        curriculum: whether levels follow from episodes; else level and type are drawn for each episode.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        terrain: Terrain,
        task: Task,
        *,
        max_init_level: int | None = 5,
        episode_length_s: float = 20.0,
        command: str | float = 0.0,
        curriculum: bool = True,
    ) -> None:
        whole = max_init_level is None or isinstance(max_init_level, int | np.integer)
        if not whole or (max_init_level is not None and max_init_level < 0):
            raise ValueError(f"max_init_level={max_init_level!r}: it must be 0 or more, whole, or None for any level")
        if not 0.0 < episode_length_s < math.inf:
            raise ValueError(f"episode_length_s={episode_length_s}: it must be above zero, and finite")
        if not isinstance(command, str) and not 0.0 <= command < math.inf:
            raise ValueError(f"command={command}: a speed is not below zero, and finite")
        self._terrain, self._half = terrain, 0.5 * terrain.sub_size[0]
        self._rows, self._cols = terrain.kinds.shape
        self._first_rows = self._rows if max_init_level is None else min(max_init_level + 1, self._rows)
        self._origins = task.array(terrain.origins.reshape(-1, 3))
        self._patches = {name: task.array(patches) for name, patches in terrain.flat_patches.items()}
        self._command, self._length, self._curriculum = command, episode_length_s, curriculum
        self._dealt: dict[int, Array] = {}

    def begin(self, start: Start, last: Last, noise: Noise, patches: str | None = None) -> Start:
        """Return starts at the environments' next origins, with these in their memory.

        Memory has `terrain_levels` and `terrain_types`, the row and column (n,) int64, and `env_origins` (n, 3) m.

        Args:
            start: of n episodes, in coordinates whose first three are a place relative to the origin, m.
            last: the episodes before.
            noise: of the episodes.
            patches: name of the terrain's flat patches; starts are then relative to one of them, drawn for each. The
                origin stays the sub-terrain's.

        Raises:
            KeyError: the terrain has no such patches, or the task no memory by the command's name.
        """
        levels, types = self._next(last, noise)
        xp, place = namespace(levels), levels * self._cols + types
        origins = xp.take(self._origins, place, axis=0)
        begun = origins if patches is None else self._drawn_patches(patches, levels, types, noise)
        qpos = xp.broadcast_to(start.qpos, (len(levels), start.qpos.shape[-1]))
        qpos = xp.concat((qpos[:, :3] + xp.astype(begun, qpos.dtype), qpos[:, 3:]), axis=1)
        memory = {"terrain_levels": levels, "terrain_types": types, "env_origins": origins}
        return start._replace(qpos=qpos, memory={**start.memory, **memory})

    def _next(self, last: Last, noise: Noise) -> tuple[Array, Array]:
        """Return the rows and columns of n environments, (n,) int64 each."""
        first = noise.integers(0, self._first_rows, 1)[:, 0]
        any_row = noise.integers(0, self._rows, 1)[:, 0]
        any_col = noise.integers(0, self._cols, 1)[:, 0]
        if not self._curriculum:
            return any_row, any_col
        dealt = self._dealt_out(last, any_col)
        if not last.memory:
            return first, dealt
        xp = namespace(first)
        levels = last.memory["terrain_levels"] + self._change(last)
        levels = xp.where(levels < 0, 0, xp.where(levels >= self._rows, any_row, levels))
        return xp.where(last.fresh, first, levels), xp.where(last.fresh, dealt, last.memory["terrain_types"])

    def _change(self, last: Last) -> Array:
        """Return 1 for environments that go up, -1 for environments that go down, 0 for others, (n,) int64."""
        xp = namespace(last.qpos)
        came = row_norm(last.qpos[:, :2] - last.memory["env_origins"][:, :2])
        speed = row_norm(last.memory[self._command][:, :2]) if isinstance(self._command, str) else self._command
        up = came > self._half
        down = ~(came >= 0.5 * self._length * speed) & ~up  # a place that is not a number counts as no way
        return xp.where(last.steps > 0, xp.astype(up, xp.int64) - xp.astype(down, xp.int64), 0)

    def _dealt_out(self, last: Last, any_col: Array) -> Array:
        """Return the column of each environment, (n,) int64; drawn if there are fewer environments than kinds."""
        first, count = last.whole or (0, last.num_envs)
        if count < len(self._terrain.proportions):
            return any_col
        xp = namespace(any_col)
        if count not in self._dealt:
            self._dealt[count] = xp.asarray(deal_out(self._terrain, count), device=any_col.device)
        return xp.take(self._dealt[count], first + last.envs, axis=0)

    def _drawn_patches(self, name: str, levels: Array, types: Array, noise: Noise) -> Array:
        """Return one flat patch of each environment's sub-terrain, (n, 3) m."""
        if name not in self._patches:
            raise KeyError(f"the terrain has no flat patches {name!r}; there is {', '.join(self._patches) or 'none'}")
        patches, xp = self._patches[name], namespace(levels)
        count = patches.shape[2]
        place = (levels * self._cols + types) * count + noise.integers(0, count, 1)[:, 0]
        return xp.take(xp.reshape(patches, (-1, 3)), place, axis=0)


def deal_out(terrain: Terrain, num_envs: int) -> np.ndarray:
    """Return the column of each environment, (num_envs,) int64, by the proportions of kinds.

    Each kind gets at least one environment and the rest by the largest remainders; environments of a kind are spread
    evenly over its columns. On a terrain whose columns have no kinds (no curriculum) all are spread evenly over all
    columns.

    Raises:
        ValueError: there are fewer environments than kinds.
    """
    kinds = terrain.kinds
    if (kinds != kinds[0]).any() or {*kinds[0].tolist()} != {*terrain.proportions}:
        return np.arange(num_envs) * kinds.shape[1] // num_envs
    columns = []
    shares = share_out(list(terrain.proportions.values()), num_envs)
    for name, count in zip(terrain.proportions, shares, strict=True):
        own = np.flatnonzero(kinds[0] == name)
        columns.append(own[np.arange(count) * len(own) // count])
    return np.concatenate(columns).astype(np.int64)
