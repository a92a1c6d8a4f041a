"""URDF: read and checked here, written as an MjSpec, compiled by MuJoCo.

    xml_tree -> vocabulary, read -> robot -> groups -> build -> MjSpec
                              packages, meshes, inertia, spec

A file becomes a tree of elements that know their lines (`xml_tree`), which is held against the words that URDF has
(`vocabulary`) and read into the links and joints of a `Robot` (`read`, `robot`). Links that fixed joints hold together
are one *group* and move as one body (`groups`); `build` writes the bodies. Files are found by `packages`.

Lengths are in m, masses in kg, angles in rad. A pose is a rotation (3, 3) and a position (3,) in the frame of its
parent. Every fault of a file is a `UrdfError` of one sentence, with the file and the line.
"""

from .faults import UrdfError, UrdfWarning
from .lookup import link_frame, velocity_limits
from .spec import urdf_spec

__all__ = ["UrdfError", "UrdfWarning", "link_frame", "urdf_spec", "velocity_limits"]
