"""Shapes from files: meshes, MJCF, URDF, drones."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ...physics.machine.scalars import as_names
from ..checks import lengths, mask, numbers
from ..model.finding import find
from ..records import put, put_numbers, record
from .morph import ALL_BITS, Morph

DRONES = ("CF2X", "CF2P", "RACE")


@record
class FileMorph(Morph):
    """A shape from a file.

    Attributes:
        file: its path; one that is not found is looked for in the folders of the environment variable TUMBLE_ASSETS,
            then among `tumble.assets`; or the name of a robot, such as "menagerie:unitree_g1" (`tumble.robots`).
        scale: metres in the file's unit of length.
        convexify: whether meshes touch as convex shapes (None: yes); False: as they are, by distance fields.
        decompose_object_error_threshold: how much larger than a mesh its hull may be, as a share of its volume, before
            an object without joints is taken apart into convex pieces.
        decompose_robot_error_threshold: the same for entities with joints.
        coacd_options: options of `coacd.run_coacd`, by name.
    """

    file: Any = ""
    scale: Any = 1.0
    convexify: bool | None = None
    decompose_object_error_threshold: float = 0.15
    decompose_robot_error_threshold: float = float("inf")
    coacd_options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Raise if the file has no name, or the scale is invalid; errors as in `Morph`."""
        super().__post_init__()
        owner = type(self).__name__
        if not isinstance(self.file, str | os.PathLike) or not os.fspath(self.file):
            raise ValueError(f"{owner}: file={self.file!r}: expected the path of a file")
        put(self, file=os.fspath(self.file))
        thresholds = ("decompose_object_error_threshold", "decompose_robot_error_threshold")
        put_numbers(self, *thresholds, least=0.0, infinite=True)
        self._check_scale()

    @property
    def path(self) -> Path:
        """The path of the file, once it is found.

        Raises:
            ModelLoadError: there is no such file.
        """
        return find(self.file, is_robot=not isinstance(self, Mesh))

    def _check_scale(self) -> None:
        put_numbers(self, "scale", above=0.0)


@record
class Mesh(FileMorph):
    """A body from a file of triangles: obj, stl, glb, gltf, ply, off or dae.

    Attributes:
        scale: metres in the file's unit of length, or three of them, along x, y and z.
        fixed: whether it stands still.
        contype, conaffinity: as of `Primitive`.
        file_meshes_are_zup: whether z points up in the file; None: as its format has it (glTF: y, others: z).
    """

    fixed: bool = False
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
    file_meshes_are_zup: bool | None = None
    NAME: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        """Raise if masks are invalid; errors as in `FileMorph`."""
        super().__post_init__()
        put(self, contype=mask("Mesh", "contype", self.contype))
        put(self, conaffinity=mask("Mesh", "conaffinity", self.conaffinity))

    def _check_scale(self) -> None:
        each = [self.scale] * 3 if isinstance(self.scale, int | float) else self.scale
        put(self, scale=lengths("Mesh", "scale", each, 3))


@record
class MJCF(FileMorph):
    """The bodies of an MJCF file, with its joints, actuators, tendons, equalities and sensors.

    Attributes:
        pos, euler, quat: moves all that is in the file; None: it stays where the file has it.
        default_armature: armature of joints that the file gives none, kg m2 or kg; None: as in the file.
        exclude_ground_plane: whether planes of the file's world are left out.
    """

    pos: Any = None
    decompose_object_error_threshold: float = float("inf")
    default_armature: float | None = None
    exclude_ground_plane: bool = False
    NAME: ClassVar[str] = "mjcf"

    def __post_init__(self) -> None:
        """Raise if the armature is invalid; errors as in `FileMorph`."""
        super().__post_init__()
        put_numbers(self, "default_armature", least=0.0)


@record
class URDF(FileMorph):
    """The links of a URDF file.

    Attributes:
        fixed: whether its root stands still; else it floats.
        merge_fixed_links: whether links that fixed joints hold together become one; their frames remain as sites.
        links_to_keep: names of links that stay separate links all the same.
        default_armature: armature of all joints, kg m2 or kg; None: 0.
        balance_inertia: whether a link whose inertia no body can have gets the mean of its moments; else an error.
        prioritize_urdf_material: whether colours of the URDF take precedence over its mesh files'.
        packages: folders of packages by name, or folders in which packages lie; ROS_PACKAGE_PATH counts as well.
    """

    fixed: bool = False
    merge_fixed_links: bool = True
    links_to_keep: Any = ()
    default_armature: float | None = None
    balance_inertia: bool = False
    prioritize_urdf_material: bool = False
    packages: Any = None
    NAME: ClassVar[str] = "urdf"

    def __post_init__(self) -> None:
        """Raise if the armature or names are invalid; errors as in `FileMorph`."""
        super().__post_init__()
        put_numbers(self, "default_armature", least=0.0)
        put(self, links_to_keep=as_names(f"{type(self).__name__}: links_to_keep", self.links_to_keep))


@record
class Drone(URDF):
    """A drone from a URDF file, whose propellers are links; or from an MJCF file, whose propellers are sites.

    Of an MJCF file, such as Tumble's own `drone.xml`, the tree of the body is read whose sites motors push. Each of
    these motors is a propeller: the signs of its torques are the spins, and `<numeric name="kf">` its force, N/rpm2.

    Attributes:
        model: "CF2X", "CF2P" or "RACE": how the propellers turn.
        propellers_link_name: names of the propellers' links in a URDF file, which stay separate links.
        propellers_spin: in a URDF file: 1 for a propeller that turns against the clock seen from above, -1 for one
            with it.
    """

    model: str = "CF2X"
    propellers_link_name: Any = ("prop0_link", "prop1_link", "prop2_link", "prop3_link")
    propellers_spin: Any = (-1, 1, -1, 1)
    NAME: ClassVar[str] = "drone"

    def __post_init__(self) -> None:
        """Raise if the model or spins are invalid; errors as in `URDF`."""
        super().__post_init__()
        if self.model not in DRONES:
            raise ValueError(f"Drone: model={self.model!r}: it is one of {', '.join(DRONES)}")
        names = as_names("Drone: propellers_link_name", self.propellers_link_name)
        spins = numbers("Drone", "propellers_spin", self.propellers_spin, len(names))
        if not all(spin in (1, -1) for spin in spins):
            raise ValueError(f"Drone: propellers_spin={self.propellers_spin!r}: each is 1 or -1")
        put(self, propellers_link_name=names, propellers_spin=tuple(int(spin) for spin in spins))
        put(self, links_to_keep=tuple(dict.fromkeys((*self.links_to_keep, *names))))
