"""A drone: its propellers push along their axes, and turn the body against their own turning."""

from collections.abc import Mapping
from functools import cached_property
from xml.etree import ElementTree

import numpy as np
import torch

from ...physics.base.flat_names import flat_names
from ..checks import Numbers
from ..compat.names import GENESIS_NAMES
from ..model.drone_file import Propellers, is_mjcf, propellers_at_sites
from ..morphs import Drone
from .entity import RigidEntity

COEFFICIENTS: Mapping[str, tuple[float, float]] = {
    "CF2X": (3.16e-10, 7.94e-12),
    "CF2P": (3.16e-10, 7.94e-12),
    "RACE": (8.47e-9, 2.13e-11),
}
"""Force, N/rpm2, and torque, N m/rpm2, of a propeller of models whose file has no `<properties kf="" km="">`.

J. Panerati et al., "Learning to Fly: a Gym Environment with PyBullet Physics for Reinforcement Learning of Multi-agent
Quadcopter Control", IROS 2021, and the files that come with it."""


@flat_names(**GENESIS_NAMES["DroneEntity"])
class DroneEntity(RigidEntity):
    """A drone; all methods of rigid entities work as they do there.

    A propeller that turns at a speed w, in rounds a minute, pushes with KF w^2 along the z axis of its link, or of its
    site, and turns it about that axis with KM w^2 times its spin, the other way for the model "RACE".
    """

    morph: Drone

    @property
    def model(self) -> str:
        """The model of its morph."""
        return self.morph.model

    @property
    def KF(self) -> float:
        """Force of a propeller, N/rpm2: of the file, or of the model."""
        return self._propellers.force

    @property
    def KM(self) -> float:
        """Torque of a propeller, N m/rpm2: of the file, or of the model."""
        return self._propellers.torque

    @cached_property
    def _propellers(self) -> Propellers:
        usual = COEFFICIENTS[self.model]
        if is_mjcf(self.morph):
            return propellers_at_sites(self.world.model.mj, self.name, usual)
        told = ElementTree.parse(self.morph.path).getroot().find("properties")
        if told is not None:
            usual = float(told.get("kf", usual[0])), float(told.get("km", usual[1]))
        bodies = np.array([self.get_link(name).body for name in self.morph.propellers_link_name])
        turning = tuple(-spin if self.model == "RACE" else spin for spin in self.morph.propellers_spin)
        return Propellers(bodies, None, turning, *usual)

    @property
    def n_propellers(self) -> int:
        """Number of propellers."""
        return len(self._propellers.spins)

    @property
    def propellers_idx(self) -> list[int]:
        """Numbers of the propellers' links in the scene; of an MJCF file, of the links that have their sites."""
        return (self._propellers.bodies - 1).tolist()

    @property
    def propellers_spin(self) -> tuple[int, ...]:
        """The spin of each propeller, 1 or -1."""
        return self._propellers.spins if is_mjcf(self.morph) else self.morph.propellers_spin

    def set_propellers_rpm(self, propellers_rpm: Numbers) -> None:
        """Set propeller speeds for the next step; without a call they push no more. The last call before it counts.

        Args:
            propellers_rpm: (n, n_propellers) or (n_propellers,), rounds a minute, not below 0.

        Raises:
            ValueError: for a wrong shape, and for what is below 0 or not finite.
        """
        world = self.world
        rpm = world.tensor("propellers_rpm", propellers_rpm, None, self.n_propellers)
        if bool((rpm < 0).any()):
            raise ValueError("propellers_rpm: a speed is below 0; the spin of a propeller is in its morph")
        all_of = self._propellers
        spin = torch.tensor(all_of.spins, dtype=rpm.dtype, device=rpm.device)
        force, torque = all_of.force * rpm.square(), all_of.torque * rpm.square() * spin
        if all_of.sites is None:
            axes = world.get("xmat")[:, all_of.bodies].reshape(world.count, -1, 3, 3)[..., 2]
            world.drive(self.idx, all_of.bodies, torch.cat([force[..., None] * axes, torque[..., None] * axes], dim=-1))
            return
        axes = world.get("site_xmat")[:, all_of.sites].reshape(world.count, -1, 3, 3)[..., 2]
        arms = world.get("site_xpos")[:, all_of.sites] - world.get("xipos")[:, all_of.bodies]
        push = force[..., None] * axes
        wrenches = torch.cat([push, torque[..., None] * axes + torch.linalg.cross(arms, push)], dim=-1)
        bodies, owner = np.unique(all_of.bodies, return_inverse=True)
        summed = wrenches.new_zeros(world.count, len(bodies), 6)
        world.drive(self.idx, bodies, summed.index_add(1, torch.as_tensor(owner, device=rpm.device), wrenches))
