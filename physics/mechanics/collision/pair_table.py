"""The pairs of geom types that have a narrow phase: one row each, from which every other list is made.

The routine of a row is the function of its name in `collision.narrow_phase.ROUTINES`.
"""

from typing import NamedTuple

import mujoco
import numpy as np

TILTED = 5
"""The most contacts of a pair of convex shapes with tilts."""
SPREAD = 6
"""The most contacts of a pair whose contacts are chosen among candidates (`collision.candidates`)."""
CANDIDATES = 40
"""The most candidates at once."""
PRISMS = 50
"""The most contacts of a height field and a solid in MuJoCo (mjMAXCONPAIR)."""


class PairType(NamedTuple):
    """A row of the table.

    Attributes:
        type1: MuJoCo's name of the smaller geom type.
        type2: MuJoCo's name of the larger geom type.
        contacts: the most contacts that a pair can have.
        group: the optional code that its routine belongs to, one of `GROUPS`; "": every kernel has it.
        served: name of the routine if it serves several rows; "": only this pair has it.
    """

    type1: str
    type2: str
    contacts: int
    group: str = ""
    served: str = ""

    @property
    def routine(self) -> str:
        """The name of the function that finds the contacts."""
        return self.served or f"{self.type1}_{self.type2}".lower()

    def most_contacts(self, tilts: bool, prisms: bool) -> int:
        """Return the most contacts of a pair, with or without the contacts that `collision.tilts` adds.

        With `prisms` height fields have MuJoCo's contacts.
        """
        if self.group == "terrain":
            return PRISMS if prisms else self.contacts
        return max(self.contacts, TILTED) if tilts and self.served and self.type1 != "SPHERE" else self.contacts

    @property
    def types(self) -> tuple[int, int]:
        """The numbers of both types in MuJoCo."""
        first, second = (int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}")) for name in (self.type1, self.type2))
        return first, second


GROUPS = ("hulls", "solids", "convex", "terrain", "field_planes", "field_terrain", "fields")
"""Names of features: planes with shapes that have corners; cylinders and boxes with a closed form; all other convex
shapes; height fields; planes, height fields, and all other geoms with meshes that have distance fields."""

PAIR_TABLE = (
    PairType("PLANE", "SPHERE", 1),
    PairType("PLANE", "CAPSULE", 2),
    PairType("PLANE", "ELLIPSOID", 1, "hulls"),
    PairType("PLANE", "CYLINDER", 4, "hulls"),
    PairType("PLANE", "BOX", 4, "hulls"),
    PairType("PLANE", "MESH", 4, "hulls"),
    PairType("SPHERE", "SPHERE", 1),
    PairType("SPHERE", "CAPSULE", 1),
    PairType("CAPSULE", "CAPSULE", 2),
    PairType("SPHERE", "CYLINDER", 1, "solids"),
    PairType("SPHERE", "BOX", 1, "solids"),
    PairType("CAPSULE", "BOX", 2, "solids"),
    PairType("BOX", "BOX", 8, "solids"),
    PairType("SPHERE", "ELLIPSOID", 1, "convex", "convex_convex"),
    PairType("SPHERE", "MESH", 1, "convex", "convex_convex"),
    PairType("CAPSULE", "ELLIPSOID", 1, "convex", "convex_convex"),
    PairType("CAPSULE", "CYLINDER", 4, "convex", "convex_convex"),
    PairType("CAPSULE", "MESH", 4, "convex", "convex_convex"),
    PairType("ELLIPSOID", "ELLIPSOID", 1, "convex", "convex_convex"),
    PairType("ELLIPSOID", "CYLINDER", 1, "convex", "convex_convex"),
    PairType("ELLIPSOID", "BOX", 1, "convex", "convex_convex"),
    PairType("ELLIPSOID", "MESH", 1, "convex", "convex_convex"),
    PairType("CYLINDER", "CYLINDER", 4, "convex", "convex_convex"),
    PairType("CYLINDER", "BOX", 4, "convex", "convex_convex"),
    PairType("CYLINDER", "MESH", 4, "convex", "convex_convex"),
    PairType("BOX", "MESH", 4, "convex", "convex_convex"),
    PairType("MESH", "MESH", 4, "convex", "convex_convex"),
    *(
        PairType("HFIELD", solid, SPREAD, "terrain", "hfield_solid")
        for solid in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH")
    ),
    PairType("PLANE", "SDF", SPREAD, "field_planes", "plane_field"),
    PairType("HFIELD", "SDF", SPREAD, "field_terrain", "hfield_field"),
    *(
        PairType(solid, "SDF", SPREAD, "fields", "field_solid")
        for solid in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH", "SDF")
    ),
)

NO_ROW = len(PAIR_TABLE)
_ROW = np.full((int(mujoco.mjtGeom.mjNGEOMTYPES),) * 2, NO_ROW)
_ROW[tuple(np.transpose([row.types for row in PAIR_TABLE]))] = np.arange(len(PAIR_TABLE))


def rows_of(types1: np.ndarray, types2: np.ndarray) -> np.ndarray:
    """Return the row of the table for each pair of geom types (n,), the smaller type first; NO_ROW if missing."""
    return _ROW[types1, types2]
