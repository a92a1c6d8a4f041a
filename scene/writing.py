"""Setters of an entity's state: they write the columns and environments that are named, and no others."""

from typing import Any

import numpy as np
import torch

from .access import EntityAccess


class Writing(EntityAccess):
    """Setters of states. With `zero_velocity` the whole entity stops in the environments that are named."""

    joints: list
    _quats: list[int] | None = None

    def set_pos(
        self,
        pos: Any,
        envs_idx: Any = None,
        *,
        zero_velocity: bool = True,
        relative: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Put its first link to a position.

        A link that is not free must be fixed: it is mounted elsewhere then, as environments have numbers of their own
        (`RigidSolver.set_parameters`), which takes longer and lasts beyond a reset.

        Args:
            pos: (n, 3) or (3,) m.
            envs_idx: which environments.
            zero_velocity: whether the entity stops.
            relative: False: `pos` is where the environments are drawn.
            skip_forward: changes nothing.

        Raises:
            ValueError: the first link has joints and is not free, or is attached to another entity.
        """
        world, envs = self._place(envs_idx)
        given = world.entries("pos", pos, envs, 3)
        if not relative:
            offsets = world.offsets if envs is None else world.offsets[torch.as_tensor(envs.index)]
            given = torch.as_tensor(given, device=offsets.device) - offsets
        self._write_base("set_pos", "pos", given, slice(0, 3), envs, zero_velocity)

    def set_quat(
        self,
        quat: Any,
        envs_idx: Any = None,
        *,
        zero_velocity: bool = True,
        relative: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Turn its first link to a quaternion (n, 4) or (4,), w first, of any length but 0, as `set_pos` moves it."""
        world, envs = self._place(envs_idx)
        given = torch.as_tensor(world.entries("quat", quat, envs, 4))
        self._require_turn("quat", given, np.arange(3, 7), 3)
        self._write_base("set_quat", "quat", given / given.norm(dim=-1, keepdim=True), slice(3, 7), envs, zero_velocity)

    def set_qpos(
        self,
        qpos: Any,
        qs_idx_local: Any = None,
        envs_idx: Any = None,
        *,
        zero_velocity: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Write its coordinates, (n, k) or (k,) m or rad; a quaternion may have any length but 0."""
        world, envs = self._place(envs_idx)
        columns = self._qs(qs_idx_local)
        given = world.entries("qpos", qpos, envs, len(columns))
        for first in self._quaternions():
            self._require_turn("qpos", given, columns, first)
        self._write(columns, given, envs, zero_velocity)

    def set_dofs_position(
        self,
        position: Any,
        dofs_idx_local: Any = None,
        envs_idx: Any = None,
        *,
        zero_velocity: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Write positions of dofs, (n, k) or (k,) m or rad, which `get_dofs_position` describes."""
        world, envs = self._place(envs_idx)
        dofs = self._dofs(dofs_idx_local)
        given = world.entries("position", position, envs, len(dofs))
        columns = world.coordinates.column[dofs]
        if (columns < 0).any():
            full = torch.as_tensor(given, device=world.solver.device).expand(world.how_many(envs), len(dofs))
            columns, given = world.coordinates.entries(world.solver.state, dofs, full, envs)
        self._write(columns, given, envs, zero_velocity)

    def set_dofs_velocity(
        self, velocity: Any = None, dofs_idx_local: Any = None, envs_idx: Any = None, *, skip_forward: bool = False
    ) -> None:
        """Write velocities of dofs, (n, k) or (k,) m/s or rad/s; None: zero."""
        world, envs = self._place(envs_idx)
        dofs = self._dofs(dofs_idx_local)
        given = world.entries("velocity", 0.0 if velocity is None else velocity, envs, len(dofs))
        world.solver.state.set_columns(envs, qvel=(dofs, given))

    def zero_all_dofs_velocity(self, envs_idx: Any = None, *, skip_forward: bool = False) -> None:
        """Stop the entity."""
        self.set_dofs_velocity(0.0, None, envs_idx)

    def _quaternions(self) -> list[int]:
        """Return where quaternions begin among the coordinates of the scene."""
        if self._quats is None:
            begins = {"free": 3, "ball": 0}
            self._quats = [joint.q_start + begins[joint.type] for joint in self.joints if joint.type in begins]
        return self._quats

    def _require_turn(self, name: str, given: Any, columns: np.ndarray, first: int) -> None:
        """Refuse numbers (n, k), (k,) or () of columns (k,) that make a quaternion, which begins at `first`, zero."""
        places = [np.flatnonzero(columns == first + k)[-1:] for k in range(4)]
        if all(len(place) for place in places):
            numbers = torch.as_tensor(given)
            parts = numbers[..., np.concatenate(places)] if numbers.ndim else numbers[None]
            if not bool((parts.norm(dim=-1) > 0).all()):
                raise ValueError(f"{name}: a quaternion of entity '{self.name}' has no length")

    def _write(self, columns: np.ndarray, values: Any, envs: Any, zero_velocity: bool) -> None:
        """Write numbers of qpos."""
        parts: dict[str, tuple[Any, Any]] = {"qpos": (columns, values)}
        if zero_velocity and self.n_dofs:
            parts["qvel"] = (np.arange(self._start("dof"), self._end("dof")), 0.0)
        self.world.solver.state.set_columns(envs, **parts)

    def _write_base(self, call: str, what: str, values: Any, columns: slice, envs: Any, zero_velocity: bool) -> None:
        if self.is_free:
            places = self._start("q") + np.arange(columns.start, columns.stop)
            self._write(places, values, envs, zero_velocity)
            return
        world, base = self.world, self._start("link") + 1
        parent = int(world.model.mj.body_parentid[base])
        if world.model.mj.body_jntnum[base] or parent:
            why = f"is attached to '{world.model.mj.body(parent).name}'" if parent else "has joints, and is not free"
            raise ValueError(f"{call}: the first link of entity '{self.name}' {why}: it cannot be put anywhere")
        world.solver.parameters.set_items(envs, **{f"body_{what}": ([base], self._rows(values))})
        if zero_velocity and self.n_dofs:
            self.zero_all_dofs_velocity(None if envs is None else envs.index)

    @staticmethod
    def _rows(values: Any) -> np.ndarray:
        """Return numbers (n, k) or (k,) as (n, 1, k) or (1, k), in double precision."""
        rows = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values, np.float64)
        return rows[..., None, :] if rows.ndim else rows
