"""Drawings over the bodies, on request: contacts with their forces, frames of bodies, and the mouse's spring.

They are as large as MuJoCo's viewer draws them: `visual/scale` of the model, times the mean size of its bodies.
"""

from typing import Any

import mujoco
import numpy as np

from .perturbation import Perturbation
from .stage import ShownBodies

CONTACT, FORCE, SPRING = (240, 150, 40), (215, 60, 60), (70, 190, 90)


class LiveOverlays:
    """Contacts, forces and frames of the environments that are shown.

    Attributes:
        contacts, forces, frames: True for the overlays that are shown.
    """

    def __init__(self, server: Any, solver: Any, mj: mujoco.MjModel) -> None:
        self._server, self._solver, self._mj = server, solver, mj
        self.contacts = self.forces = self.frames = False
        size = self._size = float(mj.stat.meansize if mj.stat.meansize > 0 else 0.1)  # m
        self._contact = size * np.array([mj.vis.scale.contactwidth, mj.vis.scale.contactheight], float)
        self._shaft = 0.5 * size * float(mj.vis.scale.forcewidth)
        self._axis = size * np.array([mj.vis.scale.framelength, 0.5 * mj.vis.scale.framewidth], float)
        weight = float(mj.body_mass.sum()) * max(float(np.linalg.norm(mj.opt.gravity)), 1.0)
        self._length = 2.5 * size / max(weight, 1e-9)  # m for a newton
        self._arrows: dict[str, Any] = {}
        self._axes: Any = None

    def update(self, stage: ShownBodies, spring: Perturbation) -> None:
        """Draw the requested overlays at the solver's present state."""
        points, forces = self._contact_arrows(stage) if self.contacts or self.forces else (None, None)
        self._draw("contacts", points if self.contacts else None, CONTACT, self._contact[0], head=(1.0, 0.01))
        self._draw("forces", forces if self.forces else None, FORCE, self._shaft)
        line = None
        if spring.line is not None and spring.env in stage.shown:
            line = (spring.line + stage.offsets[stage.shown.index(spring.env)])[None]
        self._draw("spring", line, SPRING, self._shaft)
        self._draw_frames(stage)

    def _contact_arrows(self, stage: ShownBodies) -> tuple[np.ndarray, np.ndarray]:
        """Short arrows along the normals of contacts and arrows of their forces, (k, 2, 3) each."""
        found = self._solver.contacts
        mask = found.mask[stage.shown].cpu().numpy()
        which = np.nonzero(mask)[0]
        pos, frame, force = (
            getattr(found, name)[stage.shown].double().cpu().numpy()[mask] for name in ("pos", "frame", "force")
        )
        start = pos + stage.offsets[which]
        across = frame[:, 0] * self._contact[1]
        pull = np.einsum("kij,ki->kj", frame, force[:, :3]) * self._length
        return np.stack([start - across, start + across], axis=1), np.stack([start, start + pull], axis=1)

    def _draw(
        self,
        name: str,
        points: np.ndarray | None,
        color: tuple[int, int, int],
        radius: float,
        head: tuple[float, float] = (1.8, 3.0),
    ) -> None:
        """Draw arrows (k, 2, 3), whose heads have a radius and a length in radii of the shaft; None: no more."""
        handle = self._arrows.get(name)
        if points is None or not len(points):
            if handle is not None:
                handle.visible = False
            return
        if handle is None:
            wide, long = head[0] * radius, head[1] * radius
            self._arrows[name] = self._server.scene.add_arrows(
                f"/overlay/{name}", points, color, shaft_radius=radius, head_radius=wide, head_length=long
            )
            return
        handle.points = points.astype(np.float32)
        handle.visible = True

    def _draw_frames(self, stage: ShownBodies) -> None:
        if not self.frames:
            if self._axes is not None:
                self._axes.remove()
                self._axes = None
            return
        found = self._solver.get_many(("xpos", "xquat"), stage.shown)
        pos = (found["xpos"].double().cpu().numpy() + stage.offsets[:, None])[:, 1:].reshape(-1, 3)
        quat = found["xquat"].double().cpu().numpy()[:, 1:].reshape(-1, 4)
        if self._axes is None or len(self._axes.batched_positions) != len(pos):
            if self._axes is not None:
                self._axes.remove()
            length, radius = map(float, self._axis)
            self._axes = self._server.scene.add_batched_axes(
                "/overlay/frames", quat, pos, axes_length=length, axes_radius=radius
            )
        self._axes.batched_positions, self._axes.batched_wxyzs = pos.astype(np.float32), quat.astype(np.float32)
