"""Masses and moments of inertia: which a body can have, how they are balanced, and how they add up."""

from dataclasses import dataclass, field

import numpy as np

from .robot import Inertial, Pose

ROUNDING = 1e-6
"""Part of the largest moment by which an inequality may fail: files have about six digits of a flat plate's moments."""
_MARGIN = 1e-14
_WATER = 1000.0
LEAST = 1e-15
"""MuJoCo's least mass (kg) and moment of inertia (kg m^2) of a body that moves."""


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass (kg), its centre (3,) (m) and its inertia (3, 3) (kg m^2) about the centre, all in the axes of one frame."""

    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def seen_from(self, pose: Pose) -> "Mass":
        """Return this mass, which is given in the frame that `pose` puts, in the frame in which `pose` is given."""
        turned = pose.rotation @ self.inertia @ pose.rotation.T
        return Mass(self.mass, pose.rotation @ self.center + pose.position, (turned + turned.T) / 2)

    def __add__(self, other: "Mass") -> "Mass":
        """Return the mass of both together: moments about the common centre, by Steiner's theorem."""
        total = self.mass + other.mass
        if total <= 0.0:
            return Mass(0.0, self.center, self.inertia + other.inertia)
        center = (self.mass * self.center + other.mass * other.center) / total
        inertia = np.zeros((3, 3))
        for part in (self, other):
            arm = part.center - center
            inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return Mass(total, center, inertia)


def mass_of(inertial: Inertial, balance: bool) -> Mass:
    """Return the mass of a link in its frame; with `balance`, with an inertia that a body can have."""
    inertia = inertial.inertia
    if balance and inertial.mass > 0.0 and impossible(inertia):
        inertia = np.eye(3) * _mean(inertial.mass, inertia)
    return Mass(inertial.mass, inertia=inertia).seen_from(inertial.pose)


def _mean(mass: float, inertia: np.ndarray) -> float:
    """Return the mean moment, as MuJoCo balances; that of a water sphere of the same mass if it is zero or invalid."""
    mean = float(inertia.trace()) / 3
    return mean if mean > LEAST else ball_moment(mass)


def ball_moment(mass: float) -> float:
    """Return the moment of inertia of a ball of water of this mass about its centre."""
    return 0.4 * mass * (3 * mass / (4 * np.pi * _WATER)) ** (2 / 3)


def impossible(inertia: np.ndarray) -> str:
    """Return the inequality that an inertia (3, 3) about the centre of mass violates, with numbers; "" if none."""
    moments = np.linalg.eigvalsh(inertia)
    small, middle, large = moments
    room = max(ROUNDING * max(abs(small), abs(large)), LEAST)
    if small < -room:
        return f"its moments of inertia {_words(moments)} are not all positive"
    if small + middle < large - room:
        return f"its moments of inertia {_words(moments)} violate A + B >= C: {small + middle:.6g} < {large:.6g} kg m^2"
    return ""


def _words(moments: np.ndarray) -> str:
    return ", ".join(f"{moment:.6g}" for moment in moments)


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the moments (3,) of an inertia, as MuJoCo takes them, and its axes (3, 3) as a rotation.

    What rounding, in the file or here, has taken from the sum of the lesser moments is added to all. A thin rod, with
    moment about its axis, gets as much as rounding may be: `ROUNDING` of the largest.
    """
    if not np.any(inertia - np.diag(np.diag(inertia))):
        moments, axes = np.diag(inertia).copy(), np.eye(3)
    else:
        moments, axes = np.linalg.eigh(inertia)
        axes = axes * np.sign(np.linalg.det(axes))
    small, middle, large = np.sort(moments)
    lacking = large - (small + middle)
    if lacking > -_MARGIN * large:
        moments = moments + max(lacking, 0.0) + 2 * _MARGIN * large
    if moments.min() < LEAST < large:
        moments = moments + max(ROUNDING * large, 2 * LEAST)
    return moments, axes
