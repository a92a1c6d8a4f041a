"""Inverse kinematics and paths of an entity: `tumble.physics.planning` with the entity's coordinates and links."""

from collections.abc import Sequence
from typing import Any

import torch

from ...physics.solver.planning.chain import Target
from ...physics.solver.planning.inverse import inverse_kinematics
from ...physics.solver.planning.paths import plan_path
from ..checks import Indices, Numbers
from ..world import Envs
from .index import EntityIndex, HasIndex, LinkIndex, index_of

_OF_ONE_LINK = ("self", "link", "pos", "quat", "local_point", "return_error")
"""Arguments of `inverse_kinematics` that `inverse_kinematics_multilink` has in another form."""


class EntityPlanning:
    """Coordinates that bring links to poses, and ways between coordinates; nothing moves."""

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    @torch.no_grad()
    def inverse_kinematics(
        self,
        link: LinkIndex,
        pos: Numbers | None = None,
        quat: Numbers | None = None,
        local_point: Numbers | None = None,
        init_qpos: Numbers | None = None,
        respect_joint_limit: bool = True,
        max_samples: int = 50,
        max_solver_iters: int = 20,
        damping: float = 0.01,
        pos_tol: float = 0.0005,
        rot_tol: float = 0.005,
        pos_mask: Sequence[bool] = [True, True, True],  # as its users know it; it is not written to
        rot_mask: Sequence[bool] = [True, True, True],
        max_step_size: float = 0.5,
        seed: int | None = None,
        dofs_idx_local: Indices = None,
        return_error: bool = False,
        envs_idx: Indices = None,
    ) -> Any:
        """Return coordinates of the entity that bring a link to a pose, (n, n_qs), or near it.

        Args:
            link: a link that the entity's dofs move.
            pos: (n, 3) or (3,) m; None: none counts.
            quat: (n, 4) or (4,), w first; None: none counts.
            local_point: the point of the link that comes to `pos`, in its frame, (3,) m; None: its origin.
            init_qpos: where the search begins, (n, n_qs) or (n_qs,); None: the present state.
            respect_joint_limit: whether joints stay within their limits.
            max_samples: most attempts; the first begins at `init_qpos`, the others at random.
            max_solver_iters: most steps of an attempt.
            damping: of least squares.
            pos_tol: m at which an attempt ends.
            rot_tol: rad at which an attempt ends.
            pos_mask: axes of the world along which the position counts.
            rot_mask: axes of the link that are aligned.
            max_step_size: rad or m, the longest change of a dof in a step.
            seed: of the random numbers; None draws one.
            dofs_idx_local: dofs that may change, one at least of which moves the link; None: all.
            return_error: whether to return, too, the remaining displacement (m) and rotation vector (rad), (n, 6).
            envs_idx: which environments.

        Raises:
            TypeError: `link` is no link of the scene.
        """
        shared = {name: value for name, value in locals().items() if name not in _OF_ONE_LINK}
        many = self.inverse_kinematics_multilink
        qpos, error = many([link], [pos], [quat], [local_point], return_error=True, **shared)
        return (qpos, error[..., 0, :]) if return_error else qpos

    @torch.no_grad()
    def inverse_kinematics_multilink(
        self,
        links: Sequence[LinkIndex],
        poss: Sequence[Numbers | None] | None = None,
        quats: Sequence[Numbers | None] | None = None,
        local_points: Sequence[Numbers | None] | None = None,
        init_qpos: Numbers | None = None,
        respect_joint_limit: bool = True,
        max_samples: int = 50,
        max_solver_iters: int = 20,
        damping: float = 0.01,
        pos_tol: float = 0.0005,
        rot_tol: float = 0.005,
        pos_mask: Sequence[bool] = [True, True, True],
        rot_mask: Sequence[bool] = [True, True, True],
        max_step_size: float = 0.5,
        seed: int | None = None,
        dofs_idx_local: Indices = None,
        return_error: bool = False,
        envs_idx: Indices = None,
    ) -> Any:
        """Return coordinates of the entity that bring several links to poses at once, (n, n_qs), or near them.

        `poss`, `quats` and `local_points` have one entry for each of the m `links`, or None where it does not count;
        masks are for all links, and the error is (n, m, 6). All else as in `inverse_kinematics`.
        """
        world, envs = self._index.envs(envs_idx)
        each = {"poss": poss, "quats": quats, "local_points": local_points}
        for name, values in each.items():
            if values is not None and len(values) != len(links):
                raise ValueError(f"{name}: expected one for each of the {len(links)} links, got {len(values)}")
        for link in links:
            if not isinstance(link, LinkIndex) or not link.index.is_built or link.index.world is not world:
                raise TypeError(f"link={link!r}: expected a link of the scene: entity.get_link(name)")
        points = [None] * len(links) if local_points is None else local_points
        targets = [
            Target(body=world.model.mj.body(link.body).name, point=(0.0, 0.0, 0.0) if point is None else point)
            for link, point in zip(links, points, strict=True)
        ]
        solution = inverse_kinematics(
            *(world.solver, targets),
            poss if poss is not None and any(pos is not None for pos in poss) else None,
            quats if quats is not None and any(quat is not None for quat in quats) else None,
            pos_mask=pos_mask,
            rot_mask=rot_mask,
            dofs_idx=self._index.dofs(dofs_idx_local),
            init_qpos=self._in_scene("init_qpos", init_qpos, envs),
            envs_idx=None if envs is None else envs.index,
            respect_joint_limit=respect_joint_limit,
            max_samples=max_samples,
            max_solver_iters=max_solver_iters,
            damping=damping,
            pos_tol=pos_tol,
            rot_tol=rot_tol,
            max_step_size=max_step_size,
            seed=seed,
        )
        qpos, error = world.out(solution.qpos[:, self._index.all("q")]), world.out(solution.error)
        return (qpos, error) if return_error else qpos

    @torch.no_grad()
    def plan_path(
        self,
        qpos_goal: Numbers,
        qpos_start: Numbers | None = None,
        max_nodes: int = 2000,
        resolution: float = 0.05,
        timeout: float | None = None,
        max_retry: int = 1,
        smooth_path: bool = True,
        num_waypoints: int = 300,
        ignore_collision: bool = False,
        planner: str = "RRTConnect",
        envs_idx: Indices = None,
        return_valid_mask: bool = False,
        *,
        ee_link_name: str | None = None,
        with_entity: HasIndex | None = None,
        **kwargs: int | None,
    ) -> Any:
        """Return a path of the entity's hinges and slides on which nothing collides, (num_waypoints, n, n_qs).

        It goes from `qpos_start` (None: the present state) to `qpos_goal`, (n, n_qs) or (n_qs,). With
        `return_valid_mask` the environments that have a path are returned, too, (n,) bool; others stay. A free entity
        `with_entity` is carried by the link `ee_link_name` (None: the last), as it is held at the start. `kwargs` may
        have the `seed` of the random numbers; all else is as of `tumble.physics.planning.plan_path`.

        Raises:
            TypeError: for an unknown argument.
        """
        world, envs = self._index.envs(envs_idx)
        if unknown := kwargs.keys() - {"seed"}:
            raise TypeError(f"plan_path has no argument {sorted(unknown)[0]!r}")
        carried = []
        if with_entity is not None:
            carrier = self._index.links[-1] if ee_link_name is None else self._index.link(ee_link_name)
            carried = [(index_of("with_entity", with_entity).links[0].body, carrier.body)]
        dofs = self._index.dofs(None)
        plan = plan_path(
            *(
                world.solver,
                self._in_scene("qpos_goal", qpos_goal, envs),
                self._in_scene("qpos_start", qpos_start, envs),
            ),
            dofs_idx=dofs[world.coordinates.scalar[dofs]],
            max_nodes=max_nodes,
            resolution=resolution,
            timeout=timeout,
            max_retry=max_retry,
            smooth_path=smooth_path,
            num_waypoints=num_waypoints,
            ignore_collision=ignore_collision,
            planner=planner,
            carried=carried,
            seed=kwargs.get("seed"),
            envs_idx=None if envs is None else envs.index,
        )
        path = plan.qpos[:, :, self._index.all("q")].transpose(0, 1)
        path, valid = (path[:, 0] if world.n_envs == 0 else path), world.out(plan.valid)
        return (path, valid) if return_valid_mask else path

    def _in_scene(self, name: str, qpos: Numbers | None, envs: Envs) -> torch.Tensor | None:
        """Return coordinates of the scene (n, nq): the present ones, with the entity's from (n, n_qs) or (n_qs,)."""
        if qpos is None:
            return None
        world = self._index.world
        whole = world.get("qpos", envs)
        whole[:, self._index.all("q")] = world.tensor(name, qpos, envs, self._index.n_qs)
        return whole
