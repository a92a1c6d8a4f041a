"""Drawing into the pictures of a scene: lines, arrows, frames, spheres, boxes, meshes, paths."""

from collections.abc import Sequence

import mujoco
import numpy as np
import torch
from trimesh import Trimesh

from ..checks import Numbers, number
from ..entity.entity import RigidEntity
from ..pictures import debug
from ..pictures.camera import Camera
from ..pictures.debug import RED, DebugObject
from .contents import SceneContents


class SceneDrawing:
    """The shapes that are drawn into the pictures of a scene's cameras besides its entities. It touches nothing.

    Each call returns its object; `clear_debug_object` removes it. Colours are red, green, blue and opacity, from
    0 to 1; places are in the world's frame, the same in all environments, m.
    """

    def __init__(self, contents: SceneContents) -> None:
        self._contents = contents

    @property
    def debug_objects(self) -> list[DebugObject]:
        """All that is drawn."""
        return list(self._contents.drawn)

    def _draw(self, drawn: DebugObject) -> DebugObject:
        self._contents.drawn.append(drawn)
        return drawn

    def draw_debug_line(self, start: Numbers, end: Numbers, radius: float = 0.002, color: Numbers = RED) -> DebugObject:
        """Draw a line between two points (3,)."""
        return self._draw(debug.capsules(start, end, radius, color))

    def draw_debug_arrow(
        self, pos: Numbers, vec: Numbers = (0, 0, 1), radius: float = 0.01, color: Numbers = RED
    ) -> DebugObject:
        """Draw an arrow from a point (3,) along a vector (3,)."""
        return self._draw(debug.arrow(pos, vec, radius, color))

    def draw_debug_frame(
        self,
        T: Numbers,
        axis_length: float = 1.0,
        origin_size: float = 0.015,
        axis_radius: float = 0.01,
        color: Numbers | None = None,
    ) -> DebugObject:
        """Draw the axes of a pose (4, 4): x in red, y in green, z in blue, or all in one colour."""
        return self._draw(debug.frame(T, axis_length, origin_size, axis_radius, color))

    def draw_debug_frames(
        self,
        Ts: Sequence[Numbers] | np.ndarray | torch.Tensor,
        axis_length: float = 1.0,
        origin_size: float = 0.015,
        axis_radius: float = 0.01,
        color: Numbers | None = None,
    ) -> list[DebugObject]:
        """Draw the axes of poses (n, 4, 4)."""
        return [self.draw_debug_frame(T, axis_length, origin_size, axis_radius, color) for T in Ts]

    def draw_debug_sphere(self, pos: Numbers, radius: float = 0.01, color: Numbers = RED) -> DebugObject:
        """Draw a sphere at a point (3,)."""
        return self._draw(debug.spheres(pos, radius, color))

    def draw_debug_spheres(self, poss: Numbers, radius: float = 0.01, color: Numbers = RED) -> DebugObject:
        """Draw spheres at points (n, 3)."""
        return self._draw(debug.spheres(poss, radius, color))

    def draw_debug_points(self, poss: Numbers, colors: Numbers = RED) -> DebugObject:
        """Draw points (n, 3) in one colour or in colours (n, 4)."""
        return self._draw(debug.spheres(poss, 0.005, colors))

    def draw_debug_box(
        self,
        bounds: Numbers,
        color: Numbers = (1.0, 0.0, 0.0, 1.0),
        wireframe: bool = True,
        wireframe_radius: float = 0.0015,
    ) -> DebugObject:
        """Draw a box by its lower and upper corner (2, 3), as its edges or solid."""
        return self._draw(debug.box(bounds, color, wireframe, wireframe_radius))

    def draw_debug_mesh(self, mesh: Trimesh, pos: Numbers = (0.0, 0.0, 0.0), T: Numbers | None = None) -> DebugObject:
        """Draw the edges of a `trimesh.Trimesh`.

        Args:
            mesh: the mesh.
            pos: where it is put, (3,).
            T: its pose (4, 4), in place of `pos`.
        """
        points, edges = np.asarray(mesh.vertices, float), np.asarray(mesh.edges_unique)
        size = float(np.ptp(points, axis=0).max())
        drawn = debug.capsules(points[edges[:, 0]], points[edges[:, 1]], 0.003 * size, RED)
        if T is None:
            drawn.pose[:3, 3] = np.asarray(pos, float)
        else:
            drawn.pose = np.array(T, float)
        return self._draw(drawn)

    def draw_debug_trajectory(
        self, poss: Numbers, radius: float = 0.002, color: Numbers = (1.0, 0.5, 0.0, 0.8)
    ) -> DebugObject:
        """Draw a line through points (n, 3)."""
        return self._draw(debug.chain(poss, radius, color))

    @torch.no_grad()
    def draw_debug_path(
        self, qposs: Numbers, entity: RigidEntity, link_idx: int = -1, density: float = 0.3, frame_scaling: float = 1.0
    ) -> list[DebugObject]:
        """Draw the axes of a link along a path of `plan_path`; all else is where it is now, in the first environment.

        Args:
            qposs: coordinates of the entity, (waypoints, n_qs), or (waypoints, n, n_qs), of which the first are drawn.
            entity: the entity.
            link_idx: number of its link, -1: the last.
            density: share of the waypoints that are drawn.
            frame_scaling: factor of the axes, which are 0.1 m long.

        Raises:
            ValueError: for a wrong shape, or an invalid density.
        """
        path = np.asarray(qposs.cpu() if isinstance(qposs, torch.Tensor) else qposs, float)
        path = path[:, 0] if path.ndim == 3 else path
        if path.ndim != 2 or path.shape[1] != entity.n_qs:
            raise ValueError(f"qposs: expected shape (waypoints, {entity.n_qs}), got {np.shape(qposs)}")
        share = number("draw_debug_path", "density", density, above=0.0, most=1.0)
        world, body = entity.world, entity.links[link_idx].body
        mjm = world.model.editable()
        data = mujoco.MjData(mjm)
        data.qpos[:] = world.get("qpos")[0].cpu().numpy()
        drawn = []
        for row in np.linspace(0, len(path) - 1, max(2, round(share * len(path)))).round().astype(int):
            data.qpos[entity.q_start : entity.q_end] = path[row]
            mujoco.mj_kinematics(mjm, data)
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
            drawn.append(self.draw_debug_frame(pose, 0.1 * frame_scaling, 0.015 * frame_scaling, 0.004 * frame_scaling))
        return drawn

    def draw_debug_frustum(self, camera: Camera, color: Numbers = (1.0, 1.0, 1.0, 0.3)) -> DebugObject:
        """Draw the view of a camera of the scene, up to a metre away, as edges."""
        return self._draw(debug.frustum(camera, color))

    def update_debug_objects(
        self, objs: Sequence[DebugObject], poses: Sequence[Numbers] | np.ndarray | torch.Tensor
    ) -> None:
        """Move a drawn object to poses (n, 4, 4), which replace its former ones."""
        for drawn, pose in zip(objs, poses, strict=True):
            moved = np.array(pose, float)
            if moved.shape != (4, 4):
                raise ValueError(f"poses: expected (n, 4, 4), got {moved.shape} among them")
            drawn.pose = moved

    def clear_debug_object(self, obj: DebugObject | Sequence[DebugObject]) -> None:
        """Remove objects that a call has drawn.

        Raises:
            ValueError: it is not drawn.
        """
        for drawn in obj if isinstance(obj, list | tuple) else [obj]:
            if not any(drawn is each for each in self._contents.drawn):
                raise ValueError(f"clear_debug_object: {drawn!r:.60} is not drawn, or was taken away")
            self._contents.drawn = [each for each in self._contents.drawn if each is not drawn]

    def clear_debug_objects(self) -> None:
        """Take away all that is drawn."""
        self._contents.drawn.clear()
