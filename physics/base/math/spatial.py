"""Spatial vectors and rigid-body inertia about a shared reference point (Featherstone 2008, chapter 2)."""

from typing import Any

from .lanes import LaneValue, let, traced
from .vector import Sym3, Vec3


class SpatialMotion(LaneValue):
    """A spatial motion or force: rotational part first (angular velocity or torque), then the translational part."""

    def __init__(self, rot: Vec3, lin: Vec3) -> None:
        self.rot, self.lin = rot.copy(), lin.copy()

    def parts(self) -> tuple:
        """Return the components `rot` and `lin`."""
        return self.rot, self.lin

    def __add__(self, other: "SpatialMotion") -> "SpatialMotion":
        return SpatialMotion(self.rot + other.rot, self.lin + other.lin)

    def __sub__(self, other: "SpatialMotion") -> "SpatialMotion":
        return SpatialMotion(self.rot - other.rot, self.lin - other.lin)

    def __mul__(self, scale: Any) -> "SpatialMotion":
        return SpatialMotion(self.rot * scale, self.lin * scale)

    def dot(self, other: "SpatialMotion") -> Any:
        """Return the scalar product: the power (W) of a force along a motion."""
        return self.rot.dot(other.rot) + self.lin.dot(other.lin)


@traced
def parallel_axis(own: Sym3, arm: Vec3, mass: Any) -> Sym3:
    """Return the rotational inertia (kg m^2) about a point from which the centre of mass is `arm` (m) away.

    `own` is the inertia about the centre of mass, and `mass` is in kg (parallel axis theorem).
    """
    r = arm
    return own + Sym3(
        mass * (r.y * r.y + r.z * r.z),
        mass * (r.x * r.x + r.z * r.z),
        mass * (r.x * r.x + r.y * r.y),
        -(mass * r.x * r.y),
        -(mass * r.x * r.z),
        -(mass * r.y * r.z),
    )


class SpatialInertia(LaneValue):
    """Rigid-body inertia about a reference point: rotational inertia, mass times offset, mass (MuJoCo's cinert)."""

    def __init__(self, rot: Sym3, moment: Vec3, mass: Any) -> None:
        self.rot, self.moment, self.mass = rot.copy(), moment.copy(), let(mass)

    def parts(self) -> tuple:
        """Return the components `rot` (kg m^2), `moment` (kg m) and `mass` (kg)."""
        return self.rot, self.moment, self.mass

    @staticmethod
    def about(own: Sym3, offset: Vec3, mass: Any) -> "SpatialInertia":
        """Return the inertia of a body whose centre of mass is `offset` (m) from the reference point.

        `own` is the body's inertia (kg m^2) about its centre of mass, and `mass` is in kg.
        """
        return SpatialInertia(parallel_axis(own, offset, mass), offset * mass, mass)

    def times(self, v: SpatialMotion) -> SpatialMotion:
        """Return the momentum of the body for the velocity `v`, or the force for the acceleration `v`."""
        return SpatialMotion(
            self.rot.times(v.rot) + self.moment.cross(v.lin),
            v.lin * self.mass - self.moment.cross(v.rot),
        )
