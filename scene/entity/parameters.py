"""Per-environment parameters of dofs, links and geoms."""

import numpy as np
import torch

from ...physics.base.rotations import matrix_to_quat, quat_to_matrix
from ..checks import Indices, Numbers
from ..friction import Friction, WithFriction
from ..world import Envs, World
from .index import EntityIndex


class EntityParameters(WithFriction):
    """Masses, inertia, friction, springs and dampers.

    Numbers are the file's until they are set, and last beyond resets. The first setter that gives some of
    several environments other numbers compiles, or loads, a kernel with per-environment parameters; numbers for all of
    them, and numbers of a single environment, need none. Setters of masses run MuJoCo's `mj_setConst` for each of the
    environments named.
    """

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    # dofs

    def set_dofs_stiffness(self, stiffness: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set the stiffness of joints' springs, (n, k) or (k,) N/m or N m/rad; the dofs of a joint share one.

        Raises:
            ValueError: dofs of one free or ball joint are given several.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        values = world.doubles("stiffness", stiffness, envs, len(dofs))
        joints, first, where = np.unique(world.model.mj.dof_jntid[dofs], return_index=True, return_inverse=True)
        if (values[:, first][:, where] != values).any():
            raise ValueError(
                f"stiffness: dofs of one joint of entity '{self._index.name}' have one spring: give all the same"
            )
        world.solver.parameters.set_items(envs, jnt_stiffness=(joints, values[:, first]))

    def set_dofs_damping(self, damping: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set the damping of dofs, (n, k) or (k,) N s/m or N m s/rad."""
        self._set("dof_damping", "damping", damping, self._index.dofs_in(dofs_idx_local, envs_idx))

    def set_dofs_armature(self, armature: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set the inertia of dofs' rotors, (n, k) or (k,) kg or kg m2."""
        self._set("dof_armature", "armature", armature, self._index.dofs_in(dofs_idx_local, envs_idx))

    def set_dofs_frictionloss(
        self, frictionloss: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Set the dry friction of dofs, (n, k) or (k,) N or N m.

        Raises:
            ValueError: a dof has none in its file: without a constraint for it, it can have none later.
        """
        self._set("dof_frictionloss", "frictionloss", frictionloss, self._index.dofs_in(dofs_idx_local, envs_idx))

    def set_dofs_limit(
        self, lower: Numbers, upper: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Set the limits of hinges and slides, (n, k) or (k,) rad or m each.

        Raises:
            ValueError: a dof has no limits in its file, or a lower limit is above its upper one.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        mj, joints = world.model.mj, world.model.mj.dof_jntid[dofs]
        free = dofs[~(world.coordinates.scalar[dofs] & np.asarray(mj.jnt_limited, bool)[joints])]
        if len(free):
            raise ValueError(
                f"set_dofs_limit: dof {free[0] - self._index.start('dof')} of entity '{self._index.name}' has no "
                "limits in its file: without a constraint for them, it can have none later"
            )
        bounds = [world.doubles(n, v, envs, len(dofs)) for n, v in (("lower", lower), ("upper", upper))]
        world.solver.parameters.set_items(envs, jnt_range=(joints, np.stack(bounds, -1)))

    def get_dofs_limit(
        self, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return lower and upper limits of dofs, (n, k) rad or m each; infinite where a dof has no limit."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        mj, joints = world.model.mj, world.model.mj.dof_jntid[dofs]
        lower, upper = world.parameter("jnt_range", envs)[:, joints].unbind(-1)
        held = world.coordinates.scalar[dofs] & np.asarray(mj.jnt_limited, bool)[joints]
        there = torch.as_tensor(held, device=lower.device)
        bounds = torch.where(there, lower, -torch.inf), torch.where(there, upper, torch.inf)
        return world.out(bounds[0]), world.out(bounds[1])

    def get_dofs_stiffness(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the stiffness of the springs of dofs' joints, (n, k) N/m or N m/rad."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return self._get("jnt_stiffness", (world, envs, world.model.mj.dof_jntid[dofs]))

    def get_dofs_damping(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the damping of dofs, (n, k) N s/m or N m s/rad."""
        return self._get("dof_damping", self._index.dofs_in(dofs_idx_local, envs_idx))

    def get_dofs_armature(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the inertia of dofs' rotors, (n, k) kg or kg m2."""
        return self._get("dof_armature", self._index.dofs_in(dofs_idx_local, envs_idx))

    def get_dofs_frictionloss(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the dry friction of dofs, (n, k) N or N m."""
        return self._get("dof_frictionloss", self._index.dofs_in(dofs_idx_local, envs_idx))

    def get_dofs_invweight(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the inverse inertia of dofs at the reference pose, (n, k) 1/kg or 1/(kg m2): dof_invweight0."""
        return self._get("dof_invweight0", self._index.dofs_in(dofs_idx_local, envs_idx))

    def _get(self, parameter: str, place: tuple[World, Envs, np.ndarray]) -> torch.Tensor:
        """Return numbers of the model, (n, k, ...), of environments and items (k,)."""
        world, envs, items = place
        return world.out(world.parameter(parameter, envs)[:, items])

    def _set(
        self, parameter: str, name: str, values: Numbers, place: tuple[World, Envs, np.ndarray], *shape: int
    ) -> None:
        """Set numbers of the model, (n, k, *shape), of environments and items (k,)."""
        world, envs, items = place
        numbers = world.doubles(name, values, envs, len(items), *shape)
        world.solver.parameters.set_items(envs, **{parameter: (items, numbers)})

    # links

    def get_links_mass(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return masses of links, (n, k) kg."""
        return self._get("body_mass", self._index.bodies_in(links_idx_local, envs_idx))

    def get_links_COM(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return centres of mass of links in their frames, (n, k, 3) m."""
        return self._get("body_ipos", self._index.bodies_in(links_idx_local, envs_idx))

    def get_links_inertia(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) kg m2."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        diagonal, quat = (world.solver.get_parameters(n, envs)[:, bodies] for n in ("body_inertia", "body_iquat"))
        axes = quat_to_matrix(quat.numpy())
        full = (axes * diagonal.numpy()[..., None, :]) @ np.swapaxes(axes, -1, -2)
        return world.out(torch.as_tensor(full, dtype=world.solver.dtype, device=world.solver.device))

    def get_links_invweight(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return inverse weights of links at the reference pose, (n, k, 2) 1/kg and 1/(kg m2): body_invweight0."""
        return self._get("body_invweight0", self._index.bodies_in(links_idx_local, envs_idx))

    def set_links_mass(self, mass: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set masses of links, (n, k) or (k,) kg; inertia stays: `set_mass` scales both."""
        self._set("body_mass", "mass", mass, self._index.bodies_in(links_idx_local, envs_idx))

    def set_links_COM(self, com: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set centres of mass of links in their frames, (n, k, 3) or (k, 3) m."""
        self._set("body_ipos", "com", com, self._index.bodies_in(links_idx_local, envs_idx), 3)

    def set_mass_shift(self, mass_shift: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set masses of links to their values at `build` plus shifts, (n, k) or (k,) kg."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        shift = world.doubles("mass_shift", mass_shift, envs, len(bodies))
        world.solver.parameters.set_items(envs, body_mass=(bodies, world.built("body_mass", envs)[:, bodies] + shift))

    def set_COM_shift(self, com_shift: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set centres of mass of links to their values at `build` plus shifts, (n, k, 3) or (k, 3) m."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        shift = world.doubles("com_shift", com_shift, envs, len(bodies), 3)
        world.solver.parameters.set_items(envs, body_ipos=(bodies, world.built("body_ipos", envs)[:, bodies] + shift))

    def set_links_inertia(self, inertia: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) or (k, 3, 3) kg m2.

        Raises:
            ValueError: a matrix is not symmetric and positive, or one of its principal moments is above the sum of the
                others, as no body's is.
        """
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        matrices = world.doubles("inertia", inertia, envs, len(bodies), 3, 3)
        moments, quats = principal_axes(f"inertia of entity '{self._index.name}'", matrices)
        world.solver.parameters.set_items(envs, body_inertia=(bodies, moments), body_iquat=(bodies, quats))

    def get_mass(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the mass of the entity, (n,) kg."""
        world, envs = self._index.envs(envs_idx)
        return world.out(world.parameter("body_mass", envs)[:, self._index.bodies(None)].sum(-1))

    def set_mass(self, mass: Numbers, envs_idx: Indices = None) -> None:
        """Set the mass of the entity, (n,) or one number, kg: the masses and inertia of its links are scaled."""
        world, envs = self._index.envs(envs_idx)
        bodies, numbers = self._index.bodies(None), world.solver.parameters
        new_mass = world.doubles("mass", mass, envs)
        masses, inertia = (numbers.get(n, envs).numpy()[:, bodies] for n in ("body_mass", "body_inertia"))
        ratio = new_mass / masses.sum(-1)
        numbers.set_items(
            envs,
            body_mass=(bodies, masses * ratio[:, None]),
            body_inertia=(bodies, inertia * ratio[:, None, None]),
        )

    # friction

    def set_friction_ratio(
        self, friction_ratio: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Multiply the sliding friction of links' geoms, (n, k) or (k,), as `set_friction` or the file sets it."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        ratios = world.doubles("friction_ratio", friction_ratio, envs, len(bodies))
        if (ratios < 0).any():
            raise ValueError("friction_ratio: it must not be negative")
        owner = world.model.mj.geom_bodyid
        geoms = np.flatnonzero(np.isin(owner, bodies))
        place = {int(body): k for k, body in enumerate(bodies)}
        world.friction.set_ratio(geoms, ratios[:, [place[int(owner[geom])] for geom in geoms]], envs)

    def _frictional(self) -> tuple[Friction, np.ndarray]:
        return self._index.world.friction, self._index.geoms()


_TOLERANCE = 1e-6
"""Share of the largest moment by which a matrix may miss its symmetry or the triangle inequality: single precision."""


def principal_axes(owner: str, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal moments (..., 3), the largest first, and orientations of their axes (..., 4), w first.

    Raises:
        ValueError: a matrix (..., 3, 3) is not symmetric and positive, or one of its moments is above the sum of the
            others.
    """
    if not np.isfinite(inertia).all():
        raise ValueError(f"{owner}: it must be finite")
    size = np.abs(inertia).max((-1, -2), keepdims=True)
    if (np.abs(inertia - np.swapaxes(inertia, -1, -2)) > _TOLERANCE * size).any():
        raise ValueError(f"{owner}: a matrix is not symmetric")
    moments, axes = np.linalg.eigh((inertia + np.swapaxes(inertia, -1, -2)) / 2)
    moments, axes = moments[..., ::-1], axes[..., ::-1]
    if (moments[..., 2] <= 0).any():
        raise ValueError(f"{owner}: a matrix is not positive: its principal moments must be above 0")
    if (moments[..., 0] > (moments[..., 1] + moments[..., 2]) * (1 + _TOLERANCE)).any():
        raise ValueError(f"{owner}: a principal moment is above the sum of the others, as no body's is")
    axes = axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)[..., None, None]
    return moments, matrix_to_quat(axes)
