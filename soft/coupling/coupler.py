"""Coupler: matter and rigid bodies push each other.

A rigid step is: read where the bodies are, let matter take its substeps against their geoms, and take the rigid step
under the impulses that matter gave. Within the substeps a body answers by the inverse inertia that it shows at its
centre of mass (Hu et al., 2018, section 5.3, have free bodies only), so that light bodies float. What a node loses its
body gets, so momentum is kept.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
import torch

from ...physics.base.shapes import SDF
from ...physics.files.geometry.compiled_mesh import faces_of, points_of
from ...physics.files.geometry.distance_field import distance_field
from ...physics.files.geometry.hull import hull_of
from ...physics.machine.scalars import as_count
from ...physics.solver.solver import NON_FINITE, RigidSolver
from ..mpm.batch import Touched
from ..mpm.contact.touching import KINDS
from ..mpm.kernels.layout import BODY, BODY_NUMBERS, GEOM, GEOM_NUMBERS, POSE, WRENCH
from ..mpm.solver import MPMSolver

THIN = 1.5
"""Cells: matter on both sides of a geom that is thinner passes through it."""
FRICTION, SOFTNESS = 0.1, 0.002
"""The friction of matter on geoms, and the distance (m) at which its contact fades, by default."""


class ThinGeomWarning(UserWarning):
    """A geom is so thin that matter passes through it."""


class Coupler:
    """A batch of rigid bodies and one of matter in the same environments.

    Args:
        rigid: its model is loaded with `matter=True`.
        matter: as many environments; its substep is a whole part of the rigid time step.
        geoms: ids of the geoms that matter touches; None: all that touch anything.
        friction, softness, restitution: of contact with each geom, or one for all: a coefficient, m, a share.

    Raises:
        ValueError: numbers of environments or time steps do not fit, or geoms cannot be touched.
    """

    def __init__(
        self,
        rigid: RigidSolver,
        matter: MPMSolver,
        geoms: Sequence[int] | None = None,
        friction: Any = FRICTION,
        softness: Any = SOFTNESS,
        restitution: Any = 0.0,
    ) -> None:
        if rigid.num_envs != matter.num_envs:
            raise ValueError(f"bodies have {rigid.num_envs} environments, matter {matter.num_envs}: expected as many")
        self.rigid, self.matter, mjm = rigid, matter, rigid.model.mj
        self.timestep = float(mjm.opt.timestep)
        self.substeps = round(self.timestep / matter.dt)
        if not self.substeps or abs(self.substeps * matter.dt - self.timestep) > 1e-6 * self.timestep:
            raise ValueError(
                f"a rigid time step of {self.timestep:g} s is no multiple of matter's {matter.dt:g} s: take a dt of "
                f"{self.timestep / max(1, round(self.timestep / matter.dt)):g} s"
            )
        chosen = np.flatnonzero(mjm.geom_contype | mjm.geom_conaffinity) if geoms is None else np.asarray(geoms, int)
        self.geoms = chosen.tolist()
        bodies = mjm.body_weldid[mjm.geom_bodyid[chosen]]
        self.bodies = sorted({int(b) for b in bodies if b})
        self._pushed = self.bodies or np.unique(mjm.dof_bodyid)[:1].tolist()  # a body by which environments are stopped
        given = {"friction": friction, "softness": softness, "restitution": restitution}
        numbers = {name: np.broadcast_to(np.asarray(x, np.float64), chosen.shape) for name, x in given.items()}
        self.notes = [note for g in self.geoms if (note := _thin(mjm, g, matter.dx))]
        if self.notes:
            more = f"; {len(self.notes) - 1} other geoms are too thin, too" if len(self.notes) > 1 else ""
            warnings.warn(self.notes[0] + more, ThinGeomWarning, stacklevel=2)
        self._touched = _touched(mjm, self.geoms, bodies, self.bodies, numbers, matter)
        matter.touch(self._touched)

    def step(self, n: int = 1, ctrl: Any = None) -> None:
        """Take n rigid steps, and the substeps of matter in each.

        An environment that one of the two solvers stops is stopped in both.

        Raises:
            ValueError: n is no whole number above 0, or controls have a wrong shape.
        """
        for k in range(as_count("n", n)):
            self._place()
            self.matter.step(self.substeps)
            if self._pushed:
                self._push()
            self.rigid.step(1, ctrl if k == 0 else None)

    def _push(self) -> None:
        """Push bodies by what matter gave them; stop environments that matter stopped."""
        wrench = self._touched.wrenches / self.timestep
        if not self.bodies:
            wrench = wrench.new_zeros(len(wrench), 1, WRENCH)
        wrench[self.matter.faults > 0] = torch.nan
        self.rigid.coupling.push(self._pushed, wrench.to(self.rigid.dtype))

    def _place(self) -> None:
        """Tell matter where the geoms are, and how their bodies move."""
        touched, coupling = self._touched, self.rigid.coupling
        if self.geoms:
            pos, mat = coupling.poses(self.geoms)
            touched.poses[..., :3], touched.poses[..., 3:] = pos, mat.flatten(-2)
        if self.bodies:
            bodies = coupling.bodies(self.bodies)
            for name, value in {
                "com": bodies.com,
                "velocity": bodies.velocity,
                "acceleration": bodies.acceleration,
                "root": bodies.root.flatten(-2),
            }.items():
                first = BODY_NUMBERS[name]
                touched.bodies[..., first : first + value.shape[-1]] = value
        self.matter.stop((self.rigid.faults & NON_FINITE) > 0)

    def reset(self, envs_idx: Any = None, **start: Any) -> None:
        """Reset both: matter to its first state, bodies as `RigidSolver.reset` does with the other arguments."""
        self.rigid.reset(envs_idx, **start)
        self.matter.reset(envs_idx)

    def state_dict(self, envs_idx: Any = None) -> dict[str, dict[str, torch.Tensor]]:
        """Return everything that the future depends on."""
        return {"rigid": self.rigid.state_dict(envs_idx), "matter": self.matter.state_dict(envs_idx)}

    def load_state_dict(self, state: Mapping[str, Mapping[str, torch.Tensor]], envs_idx: Any = None) -> None:
        """Restore a `state_dict`."""
        self.matter.load_state_dict(state["matter"], envs_idx)
        self.rigid.load_state_dict(dict(state["rigid"]), envs_idx)


def _touched(
    mjm: mujoco.MjModel,
    geoms: Sequence[int],
    bodies: np.ndarray,
    recoiling: Sequence[int],
    numbers: Mapping[str, np.ndarray],
    matter: MPMSolver,
) -> Touched:
    """Return the table of geoms, and tensors for their poses and bodies."""
    rows, kept, n = [], [], matter.num_envs
    for k, (g, body) in enumerate(zip(geoms, bodies.tolist(), strict=True)):
        shape = _shape(mjm, g)
        row = {name: [float(own[k])] for name, own in numbers.items()} | shape["numbers"]
        packed = np.concatenate([np.asarray(row[name], np.float32) for name in GEOM_NUMBERS]).astype(np.float32)
        values = np.ascontiguousarray(shape["values"], np.float32)
        kept += [packed, values]
        counts = dict(zip(("nx", "ny", "nz"), shape["counts"], strict=True))
        slot = recoiling.index(body) if body else -1
        rows.append(GEOM.pack(kind=KINDS.index(shape["kind"]), body=slot, numbers=packed, values=values, **counts))
    table = np.array(rows).reshape(-1, len(GEOM.fields))
    sizes = ((len(geoms), POSE), (len(recoiling), BODY), (len(recoiling), WRENCH))
    poses, bodies_at, wrenches = (torch.zeros(n, *size, device=matter.device) for size in sizes)
    return Touched(table, poses, bodies_at, wrenches, tuple(kept))


def _shape(mjm: mujoco.MjModel, g: int) -> dict[str, Any]:
    """Return kind, numbers and field of a geom."""
    kind = mujoco.mjtGeom(int(mjm.geom_type[g])).name.removeprefix("mjGEOM_").lower()
    size, far = mjm.geom_size[g], 1e4
    found: dict[str, Any] = {"kind": kind, "values": np.zeros(1), "counts": (0, 0, 0)}
    cell = np.ones(3)
    if kind == "plane":
        low, high = np.array([-far, -far, -far]), np.array([far, far, 0.0])
    elif kind == "hfield":
        low, high, cell = _ground(mjm, int(mjm.geom_dataid[g]), found)
    elif kind in ("mesh", "sdf"):
        low, high, cell = _mesh(mjm, g, found)
    else:
        half = {"sphere": [size[0]] * 3, "capsule": [size[0], size[0], size[0] + size[1]]}
        half["cylinder"] = [size[0], size[0], size[1]]
        high = np.asarray(half.get(kind, size))
        low = -high
    return found | {"numbers": {"size": size, "low": low, "high": high, "cell": cell}}


def _ground(mjm: mujoco.MjModel, number: int, found: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the heights of a height field; return its box, and the distances of its points."""
    rows, columns, first = (int(x[number]) for x in (mjm.hfield_nrow, mjm.hfield_ncol, mjm.hfield_adr))
    x, y, top, base = mjm.hfield_size[number]
    heights = mjm.hfield_data[first : first + rows * columns].reshape(rows, columns) * top
    found |= {"values": heights, "counts": (columns, rows, 1)}
    return np.array([-x, -y, -base]), np.array([x, y, top]), np.array([2 * x / (columns - 1), 2 * y / (rows - 1), 1.0])


def _mesh(mjm: mujoco.MjModel, g: int, found: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the distances of a mesh, of its hull unless the geom's type is `sdf`; return box and cell."""
    mesh = int(mjm.geom_dataid[g])
    vertices, faces = points_of(mjm, mesh), mjm.mesh_face[faces_of(mjm, mesh)]
    hull = hull_of(mjm, mesh) if int(mjm.geom_type[g]) != SDF else None
    if hull is not None:
        vertices, faces = hull.vert, hull.face
    field = distance_field(vertices, faces)
    found |= {"kind": "mesh", "values": field.values, "counts": field.values.shape}
    low = np.asarray(field.low)
    return low, low + field.cell * (np.array(field.values.shape) - 1), np.full(3, field.cell)


def _thin(mjm: mujoco.MjModel, g: int, dx: float) -> str:
    """Return a sentence about a geom that is too thin for cells of dx; "" for others."""
    kind, size = mujoco.mjtGeom(int(mjm.geom_type[g])), mjm.geom_size[g]
    extents = {
        mujoco.mjtGeom.mjGEOM_SPHERE: [size[0]],
        mujoco.mjtGeom.mjGEOM_CAPSULE: [size[0]],
        mujoco.mjtGeom.mjGEOM_CYLINDER: size[:2],
        mujoco.mjtGeom.mjGEOM_ELLIPSOID: size,
        mujoco.mjtGeom.mjGEOM_BOX: size,
    }.get(kind, mjm.geom_aabb[g, 3:] if kind in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF) else [dx])
    thickness = 2 * float(min(extents))
    if thickness >= THIN * dx:
        return ""
    own = mjm.geom(g).name
    name = f"geom '{own}'" if own else f"a geom of body '{mjm.body(mjm.geom_bodyid[g]).name}'"
    return (
        f"{name} is {thickness:.3g} m thick, less than {THIN} cells of matter ({THIN * dx:.3g} m): matter on "
        f"both sides of it passes through; make it thicker, or take a grid_density of at least {THIN / thickness:.0f}"
    )
