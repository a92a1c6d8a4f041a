"""Physical numbers that environments may have of their own: of dofs, links and geoms."""

from typing import Any

import numpy as np
import torch

from .access import EntityAccess
from .friction import ROLLING, SLIDING, TORSIONAL
from .turns import axes_of_quats, principal_axes


class PhysicalNumbers(EntityAccess):
    """Masses, inertia, friction, springs and dampers.

    Numbers are those of the file until they are set, and last beyond resets. The first setter that gives some of
    several environments other numbers compiles, or loads, a kernel that has numbers by environment; numbers for all of
    them, and those of a single environment, need none. Setters of masses run MuJoCo's `mj_setConst` for each of the
    environments named.
    """

    # dofs

    def set_dofs_stiffness(self, stiffness: Any, dofs_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set the stiffness of joints' springs, (n, k) or (k,) N/m or N m/rad; the dofs of a joint share one.

        Raises:
            ValueError: dofs of one free or ball joint are given several.
        """
        world, envs = self._place(envs_idx)
        dofs = self._dofs(dofs_idx_local)
        values = world.doubles("stiffness", stiffness, envs, len(dofs))
        joints, first, where = np.unique(world.model.mj.dof_jntid[dofs], return_index=True, return_inverse=True)
        if (values[:, first][:, where] != values).any():
            raise ValueError(f"stiffness: dofs of one joint of entity '{self.name}' have one spring: give all the same")
        world.solver.parameters.set_items(envs, jnt_stiffness=(joints, values[:, first]))

    def set_dofs_damping(self, damping: Any, dofs_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set the damping of dofs, (n, k) or (k,) N s/m or N m s/rad."""
        self._set_dofs("dof_damping", "damping", damping, dofs_idx_local, envs_idx)

    def set_dofs_armature(self, armature: Any, dofs_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set the inertia of dofs' rotors, (n, k) or (k,) kg or kg m2."""
        self._set_dofs("dof_armature", "armature", armature, dofs_idx_local, envs_idx)

    def set_dofs_frictionloss(self, frictionloss: Any, dofs_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set the dry friction of dofs, (n, k) or (k,) N or N m.

        Raises:
            ValueError: a dof has none in its file: without a constraint for it, it can have none later.
        """
        self._set_dofs("dof_frictionloss", "frictionloss", frictionloss, dofs_idx_local, envs_idx)

    def set_dofs_limit(self, lower: Any, upper: Any, dofs_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set the limits of hinges and slides, (n, k) or (k,) rad or m each.

        Raises:
            ValueError: a dof has no limits in its file, or a lower limit is above its upper one.
        """
        world, envs = self._place(envs_idx)
        dofs, mj = self._dofs(dofs_idx_local), world.model.mj
        joints = mj.dof_jntid[dofs]
        free = dofs[~(world.coordinates.scalar[dofs] & np.asarray(mj.jnt_limited, bool)[joints])]
        if len(free):
            raise ValueError(
                f"set_dofs_limit: dof {free[0] - self._start('dof')} of entity '{self.name}' has no limits in its file:"
                " without a constraint for them, it can have none later"
            )
        bounds = [world.doubles(n, v, envs, len(dofs)) for n, v in (("lower", lower), ("upper", upper))]
        world.solver.parameters.set_items(envs, jnt_range=(joints, np.stack(bounds, -1)))

    def get_dofs_limit(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return lower and upper limits of dofs, (n, k) rad or m each; infinite where a dof has none of its own."""
        world, envs = self._place(envs_idx)
        dofs, mj = self._dofs(dofs_idx_local), world.model.mj
        joints = mj.dof_jntid[dofs]
        lower, upper = world.parameter("jnt_range", envs)[:, joints].unbind(-1)
        held = world.coordinates.scalar[dofs] & np.asarray(mj.jnt_limited, bool)[joints]
        there = torch.as_tensor(held, device=lower.device)
        bounds = torch.where(there, lower, -torch.inf), torch.where(there, upper, torch.inf)
        return world.out(bounds[0]), world.out(bounds[1])

    def get_dofs_stiffness(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the stiffness of the springs of dofs' joints, (n, k) N/m or N m/rad."""
        world, envs = self._place(envs_idx)
        joints = world.model.mj.dof_jntid[self._dofs(dofs_idx_local)]
        return world.out(world.parameter("jnt_stiffness", envs)[:, joints])

    def get_dofs_damping(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the damping of dofs, (n, k) N s/m or N m s/rad."""
        return self._get_dofs("dof_damping", dofs_idx_local, envs_idx)

    def get_dofs_armature(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the inertia of dofs' rotors, (n, k) kg or kg m2."""
        return self._get_dofs("dof_armature", dofs_idx_local, envs_idx)

    def get_dofs_frictionloss(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the dry friction of dofs, (n, k) N or N m."""
        return self._get_dofs("dof_frictionloss", dofs_idx_local, envs_idx)

    def get_dofs_invweight(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the inverse inertia of dofs at the reference pose, (n, k) 1/kg or 1/(kg m2): dof_invweight0."""
        return self._get_dofs("dof_invweight0", dofs_idx_local, envs_idx)

    def _set_dofs(self, parameter: str, name: str, values: Any, dofs_idx_local: Any, envs_idx: Any) -> None:
        world, envs = self._place(envs_idx)
        dofs = self._dofs(dofs_idx_local)
        world.solver.parameters.set_items(envs, **{parameter: (dofs, world.doubles(name, values, envs, len(dofs)))})

    def _get_dofs(self, parameter: str, dofs_idx_local: Any, envs_idx: Any) -> torch.Tensor:
        world, envs = self._place(envs_idx)
        return world.out(world.parameter(parameter, envs)[:, self._dofs(dofs_idx_local)])

    # links

    def get_links_mass(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return masses of links, (n, k) kg."""
        return self._get_links("body_mass", links_idx_local, envs_idx)

    def get_links_COM(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return centres of mass of links in their frames, (n, k, 3) m."""
        return self._get_links("body_ipos", links_idx_local, envs_idx)

    def get_links_inertia(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) kg m2."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        diagonal, quat = (world.solver.get_parameters(n, envs)[:, bodies] for n in ("body_inertia", "body_iquat"))
        axes = axes_of_quats(quat.numpy())
        full = (axes * diagonal.numpy()[..., None, :]) @ np.swapaxes(axes, -1, -2)
        return world.out(torch.as_tensor(full, dtype=world.solver.dtype, device=world.solver.device))

    def get_links_invweight(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return inverse weights of links at the reference pose, (n, k, 2) 1/kg and 1/(kg m2): body_invweight0."""
        return self._get_links("body_invweight0", links_idx_local, envs_idx)

    def set_links_mass(self, mass: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set masses of links, (n, k) or (k,) kg; inertia stays: `set_mass` scales both."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        world.solver.parameters.set_items(envs, body_mass=(bodies, world.doubles("mass", mass, envs, len(bodies))))

    get_links_inertial_mass, set_links_inertial_mass = get_links_mass, set_links_mass

    def set_links_COM(self, com: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set centres of mass of links in their frames, (n, k, 3) or (k, 3) m."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        world.solver.parameters.set_items(envs, body_ipos=(bodies, world.doubles("com", com, envs, len(bodies), 3)))

    def set_mass_shift(self, mass_shift: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set masses of links to those with which they were built plus shifts, (n, k) or (k,) kg: `set_links_mass`."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        shift = world.doubles("mass_shift", mass_shift, envs, len(bodies))
        world.solver.parameters.set_items(envs, body_mass=(bodies, world.built("body_mass", envs)[:, bodies] + shift))

    def set_COM_shift(self, com_shift: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set centres of mass of links to those of before `set_links_COM` plus shifts, (n, k, 3) or (k, 3) m."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        shift = world.doubles("com_shift", com_shift, envs, len(bodies), 3)
        world.solver.parameters.set_items(envs, body_ipos=(bodies, world.built("body_ipos", envs)[:, bodies] + shift))

    def set_links_inertia(self, inertia: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Set inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) or (k, 3, 3) kg m2.

        Raises:
            ValueError: a matrix is not symmetric and positive, or one of its principal moments is above the sum of the
                others, as no body's is.
        """
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        given = world.doubles("inertia", inertia, envs, len(bodies), 3, 3)
        moments, quats = principal_axes(f"inertia of entity '{self.name}'", given)
        world.solver.parameters.set_items(envs, body_inertia=(bodies, moments), body_iquat=(bodies, quats))

    def get_mass(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the mass of the entity, (n,) kg."""
        world, envs = self._place(envs_idx)
        return world.out(world.parameter("body_mass", envs)[:, self._bodies(None)].sum(-1))

    def set_mass(self, mass: Any, envs_idx: Any = None) -> None:
        """Set the mass of the entity, (n,) or one number, kg: the masses and inertia of its links are scaled."""
        world, envs = self._place(envs_idx)
        bodies, numbers = self._bodies(None), world.solver.parameters
        wanted = world.doubles("mass", mass, envs)
        masses, inertia = (numbers.get(n, envs).numpy()[:, bodies] for n in ("body_mass", "body_inertia"))
        ratio = wanted / masses.sum(-1)
        numbers.set_items(
            envs,
            body_mass=(bodies, masses * ratio[:, None]),
            body_inertia=(bodies, inertia * ratio[:, None, None]),
        )

    def _get_links(self, parameter: str, links_idx_local: Any, envs_idx: Any) -> torch.Tensor:
        world, envs = self._place(envs_idx)
        return world.out(world.parameter(parameter, envs)[:, self._bodies(links_idx_local)])

    # friction

    def set_friction_ratio(self, friction_ratio: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Multiply the sliding friction of links' geoms, (n, k) or (k,), from what `set_friction` or the file says."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        ratios = world.doubles("friction_ratio", friction_ratio, envs, len(bodies))
        if (ratios < 0).any():
            raise ValueError("friction_ratio: it must not be negative")
        owner = world.model.mj.geom_bodyid
        geoms = np.flatnonzero(np.isin(owner, bodies))
        place = {int(body): k for k, body in enumerate(bodies)}
        world.friction.set_ratio(geoms, ratios[:, [place[int(owner[geom])] for geom in geoms]], envs)

    def set_friction(self, friction: float) -> None:
        """Set the sliding friction coefficient of all its geoms, in all environments."""
        self._set_friction(self._geoms(), SLIDING, "friction", friction)

    def set_friction_torsional(self, friction_torsional: float) -> None:
        """Set the torsional friction coefficient of all its geoms, m, in all environments."""
        self._set_friction(self._geoms(), TORSIONAL, "friction_torsional", friction_torsional)

    def set_friction_rolling(self, friction_rolling: float) -> None:
        """Set the rolling friction coefficient of all its geoms, m, in all environments."""
        self._set_friction(self._geoms(), ROLLING, "friction_rolling", friction_rolling)

    def _set_friction(self, geoms: np.ndarray, place: int, name: str, value: Any) -> None:
        world = self.world
        found = float(world.doubles(name, value, None)[0])
        if not 0.0 <= found < np.inf:
            raise ValueError(f"{name}={value!r}: it must be finite and not negative")
        world.friction.set_base(geoms, place, found)
