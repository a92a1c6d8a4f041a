"""The function `urdf_spec`: a URDF file as an MjSpec, which brings all along that it needs."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from .build import PLANAR, Builder
from .faults import UrdfReport, nearest
from .groups import Rules, groups_of
from .meshes import Meshes
from .packages import Finder, Packages, as_packages
from .read import read_robot
from .robot import FARTHEST, WORLD, Joint, Link, Mimic, Pose, Robot, Shape
from .vocabulary import note_unknown
from .xml_tree import read_root

KINDS = ("motor", "position", "velocity")
Actuators = str | Mapping[str, str] | None
"""One kind for all joints, or kinds by the name of the joint."""


def check_actuators(actuators: Actuators) -> None:
    """Refuse an unknown kind of actuator.

    Raises:
        ValueError: with the nearest kind.
    """
    kinds = actuators.values() if isinstance(actuators, Mapping) else [] if actuators is None else [actuators]
    for kind in kinds:
        if kind not in KINDS:
            hint = nearest(str(kind), KINDS)
            raise ValueError(f"actuators={kind!r}: expected None, {', '.join(map(repr, KINDS))}, or a mapping{hint}")


def add_followers(spec: mujoco.MjSpec, followers: Mapping[str, Mimic]) -> None:
    """Add for each joint that follows another the equality position = offset + multiplier * that of the other.

    MuJoCo's equality is of the differences to the reference, which obeys the offset already.
    """
    for name, mimic in followers.items():
        equality = spec.add_equality(name=f"{name}_mimic", type=mujoco.mjtEq.mjEQ_JOINT)
        equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
        equality.name1, equality.name2 = name, mimic.joint
        equality.data[:5] = (0.0, mimic.multiplier, 0.0, 0.0, 0.0)


def add_actuators(
    spec: mujoco.MjSpec,
    robot: Robot,
    followers: Mapping[str, Mimic],
    actuators: Actuators,
    gains: tuple[float, float],
    report: UrdfReport,
) -> None:
    """Add an actuator for each joint that drives itself, of the joint's name.

    Args:
        spec: with the joints.
        robot: whose joints they are.
        followers: joints that get no actuator.
        actuators: the kind that the user asked for.
        gains: kp (N m/rad or N/m) and kv (N m s/rad or N s/m) of position and velocity servos.
        report: names the file.

    Raises:
        ValueError: a joint that a mapping names does not exist, or has no position of one number.
    """
    driven = [joint for joint in robot.joints.values() if joint.kind not in ("fixed", "floating", "spherical")]
    if actuators is None:
        return
    if isinstance(actuators, Mapping):
        known = {joint.name for joint in driven}
        for name in actuators:
            if name not in known:
                word = "is no joint that can be driven" if name in robot.joints else "is no joint"
                raise ValueError(f"{report.label}: actuators: '{name}' {word}{nearest(name, known)}")
        wanted = [(joint, actuators[joint.name]) for joint in driven if joint.name in actuators]
    else:
        wanted = [(joint, actuators) for joint in driven if joint.name not in followers]
    for joint, kind in wanted:
        ends = PLANAR if joint.kind == "planar" else ("",)
        for end in ends:
            _add_actuator(spec, joint, joint.name + end, kind, gains)


def _add_actuator(spec: mujoco.MjSpec, joint: Joint, name: str, kind: str, gains: tuple[float, float]) -> None:
    """Add one actuator: its force within the joint's effort, its control within the joint's limits."""
    actuator = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    bounds: tuple[float, float] | None
    if kind == "motor":
        actuator.set_to_motor()
        bounds = (-joint.effort, joint.effort) if joint.effort else None
    elif kind == "position":
        actuator.set_to_position(kp=gains[0], kv=gains[1])
        bounds = joint.limits
    else:
        actuator.set_to_velocity(kv=gains[1])
        bounds = (-joint.velocity, joint.velocity) if joint.velocity else None
    limited = mujoco.mjtLimited
    actuator.ctrllimited = limited.mjLIMITED_TRUE if bounds else limited.mjLIMITED_FALSE
    actuator.ctrlrange = bounds or (0.0, 0.0)
    actuator.forcelimited = limited.mjLIMITED_TRUE if joint.effort else limited.mjLIMITED_FALSE
    actuator.forcerange = (-joint.effort, joint.effort)


@dataclass(frozen=True)
class UrdfOptions:
    """The arguments of `urdf_spec`, checked.

    Attributes:
        packages: folders of packages by name, {"panda_description": "/opt/panda_description"}; or a folder, or several,
            in which packages lie.
        fixed: hold the root in the world; else it floats, if it has mass and is not named "world".
        merge_fixed_links: fuse links that fixed joints hold together into one body; their frames stay as sites.
        links_to_keep: links that stay separate bodies all the same.
        balance_inertia: give a link whose inertia no body can have the mean of its moments, as MuJoCo does; with none
            at all, that of a water sphere of its mass.
        least_mass: mass (kg) of a link that moves and has none, as a ball of water; 0: such a link is an error.
        density: of the collision shapes of a body of which no link has an <inertial>, kg/m^3.
        actuators: "motor", "position" or "velocity" for every joint that follows no other, or a mapping from names of
            joints to these; None: none.
        kp, kv: gains of position and velocity actuators, in N m/rad (N/m) and N m s/rad (N s/m).
        default_armature: of every dof except free joints', kg m^2 (kg).
        scale: of all lengths; masses get its third power, and moments of inertia its fifth.
        visuals, collisions: read the visual and the collision shapes.
        prioritize_urdf_material: colours of the URDF file take precedence over its mesh files'.
        missing: "error", or "skip": collision shapes whose mesh files are missing are left out, with a warning, as
            visual ones always are.
        folder: where file names start if the URDF is a string; of a file it is the file's.
    """

    packages: Packages = None
    fixed: bool = False
    merge_fixed_links: bool = True
    links_to_keep: tuple[str, ...] = ()
    balance_inertia: bool = False
    least_mass: float = 0.0
    density: float = 1000.0
    actuators: Actuators = None
    kp: float = 100.0
    kv: float = 10.0
    default_armature: float = 0.0
    scale: float = 1.0
    visuals: bool = True
    collisions: bool = True
    prioritize_urdf_material: bool = False
    missing: str = "error"
    folder: str | os.PathLike | None = None
    found: list[tuple[str, Path]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_actuators(self.actuators)
        if isinstance(self.links_to_keep, str):
            raise ValueError(f"links_to_keep={self.links_to_keep!r}: expected names, such as ({self.links_to_keep!r},)")
        for name, least in (("least_mass", 0.0), ("density", 0.0), ("default_armature", 0.0), ("kp", 0.0), ("kv", 0.0)):
            _require(name, getattr(self, name), least)
        _require("scale", self.scale, 0.0)
        if self.scale == 0.0:
            raise ValueError("scale=0: it must be above 0")
        if self.missing not in ("error", "skip"):
            raise ValueError(
                f"missing={self.missing!r}: expected 'error' or 'skip'{nearest(str(self.missing), ('error', 'skip'))}"
            )
        object.__setattr__(self, "found", as_packages(self.packages))


@dataclass(frozen=True, eq=False)
class UrdfModel:
    """A URDF file as a spec, the report of notes about it, and its meshes, which know their lines."""

    spec: mujoco.MjSpec
    report: UrdfReport
    meshes: Meshes


def urdf_spec(path_or_xml: str | os.PathLike, **options: Any) -> mujoco.MjSpec:
    """Return a URDF file, or a string of URDF, as an MjSpec, which can be compiled, changed, or attached to another.

    Links become bodies, or sites where a fixed joint has fused them into the body of their parent: `link_frame` finds
    both by the link's name. Joints, with the names of the file: hinges, slides, balls; a planar joint `j` becomes two
    slides `j_TX`, `j_TY` and a hinge `j_RZ`; a floating one a free joint, whose position is the world's. Effort limits
    become `actfrcrange`; velocity limits, which MuJoCo does not have, are kept for `velocity_limits`; mimic joints
    become equalities of joints, `NAME_mimic`. Visual shapes are geoms of group 2, collision shapes of group 3 (of group
    0 in a body in which nothing else is seen). Links do not touch the base if a joint joins them to it.

    The reference (`qpos0`, where resets start) is 0, except for joints whose limits leave out 0, which begin in the
    middle of them, and for mimic joints, which begin where the joints that they follow put them.

    Args:
        path_or_xml: path of the file, or the XML itself, which begins with "<".
        **options: fields of `UrdfOptions`: packages, fixed, merge_fixed_links, links_to_keep, balance_inertia,
            least_mass, density, actuators, kp, kv, default_armature, scale, visuals, collisions,
            prioritize_urdf_material, missing, folder.

    Raises:
        UrdfError: the file is missing or broken, mesh files of collision shapes are missing (all are named), or it
            describes no mechanism; with the line. Errors that concern only looks are warnings: the part is left out or
            grey.
        ValueError: an option has an impossible value.
        TypeError: an option is unknown.

    Warns:
        UrdfWarning: once, with everything in the file that is not read, and why, by line.
    """
    read = read_urdf(path_or_xml, urdf_options(options))
    read.report.warn(stacklevel=2)
    return read.spec


def urdf_options(options: dict[str, Any]) -> UrdfOptions:
    """Return options by their names, checked.

    Raises:
        TypeError: for an unknown name, with the nearest.
    """
    known = [name for name, each in UrdfOptions.__dataclass_fields__.items() if each.init]
    for name in options:
        if name not in known:
            raise TypeError(f"urdf_spec has no option '{name}'{nearest(name, known)}")
    if "links_to_keep" in options and not isinstance(options["links_to_keep"], str):
        options = options | {"links_to_keep": tuple(options["links_to_keep"])}
    return UrdfOptions(**options)


def read_urdf(path_or_xml: str | os.PathLike, options: UrdfOptions) -> UrdfModel:
    """Read a URDF file as `urdf_spec` does, without its warnings."""
    root, report, path = read_root(path_or_xml)
    note_unknown(root, report)
    robot = read_robot(root, report)
    find_root(robot, report)
    followers = drivers(scaled(robot, options.scale), report)
    for name in options.links_to_keep:
        if name not in robot.links:
            raise report.fault(0, f"links_to_keep: there is no link '{name}'{nearest(name, robot.links)}")
    for link in robot.links.values():
        link.visuals = link.visuals if options.visuals else []
        link.collisions = link.collisions if options.collisions else []
    folder = path.parent if path is not None else Path(options.folder or ".")
    finder = Finder(folder, options.found, robot.meshdir, robot.strippath)
    textures = _find_files(robot, finder, report, options.missing == "skip")

    spec = mujoco.MjSpec()
    spec.modelname = robot.name or "robot"
    spec.compiler.degree = False
    meshes = Meshes(spec, report, options.prioritize_urdf_material)
    meshes.textures = textures
    rules = Rules(
        options.fixed,
        options.merge_fixed_links,
        options.links_to_keep,
        options.balance_inertia or robot.balance,
        options.least_mass,
    )
    groups = groups_of(robot, rules, report)
    start = reference(robot, followers, report)
    builder = Builder(spec, meshes, report, options.default_armature, options.density, start)
    builder.add(groups)
    meshes.read()
    builder.show()
    add_followers(spec, followers)
    add_actuators(spec, robot, followers, options.actuators, (options.kp, options.kv), report)
    return UrdfModel(spec, report, meshes)


def _find_files(robot: Robot, finder: Finder, report: UrdfReport, skip: bool) -> dict[str, Path]:
    """Find all meshes; return the paths of textures by their names. All files that are missing are in one error."""
    textures: dict[str, Path] = {}
    for link in robot.links.values():
        for shape in [*link.visuals, *link.collisions]:
            if shape.kind == "mesh":
                shape.path = finder.find(shape.file, shape.line)
    missing = {*finder.missing}
    touched = {shape.file for link in robot.links.values() for shape in link.collisions} & missing
    for link in robot.links.values():
        for look in [shape.look for shape in link.visuals if shape.look is not None]:
            if look.texture and look.texture not in textures and look.texture not in finder.missing:
                path = finder.find(look.texture, look.line)
                if path is not None:
                    textures[look.texture] = path
    for package, folder in finder.guessed.items():
        report.note(0, f"package '{package}' is found nowhere; its files are taken from {folder}")
    for folder, name in finder.above.items():
        report.note(0, f"'{name}' does not lie where the URDF file is; such paths are counted from {folder}")
    if finder.missing:
        _report_missing(finder, report, set() if skip else touched)
        _leave_out(robot, missing)
    return textures


def _report_missing(finder: Finder, report: UrdfReport, needed: set[str]) -> None:
    """Note the files that are missing, or refuse to go on where some are `needed`."""
    missing = finder.missing
    listed = ", ".join(f"'{name}' (line {lines[0]})" for name, lines in missing.items())
    count = f"{len(missing)} file{'s' * (len(missing) != 1)}"
    hint = ""
    if any("://" in name for name in missing):
        hint = "; say where packages are by packages={'NAME': FOLDER}, or by ROS_PACKAGE_PATH"
    if needed:
        raise report.fault(0, f"{count} missing: {listed}{hint}, or pass missing='skip' to leave the shapes out")
    report.note(0, f"{count} missing, whose shapes or textures are left out: {listed}{hint}")


def _leave_out(robot: Robot, missing: set[str]) -> None:
    def there(shapes: list[Shape]) -> list[Shape]:
        return [shape for shape in shapes if shape.kind != "mesh" or shape.file not in missing]

    for link in robot.links.values():
        _keep(link, there(link.visuals), there(link.collisions))


def _keep(link: Link, visuals: list[Shape], collisions: list[Shape]) -> None:
    link.visuals, link.collisions = visuals, collisions


def _require(name: str, value: Any, least: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
        raise ValueError(f"{name}={value!r}: expected a number of {least:g} or more")


def scaled(robot: Robot, scale: float) -> Robot:
    """Return a robot with all lengths times `scale`; the robot that is passed is changed."""
    if scale == 1.0:
        return robot
    for link in robot.links.values():
        for shape in [*link.visuals, *link.collisions]:
            _scale_shape(shape, scale)
        if link.inertial is not None:
            link.inertial = replace(
                link.inertial,
                mass=link.inertial.mass * scale**3,
                pose=_scaled(link.inertial.pose, scale),
                inertia=link.inertial.inertia * scale**5,
            )
    for joint in robot.joints.values():
        _scale_joint(joint, scale, robot)
    return robot


def _scaled(pose: Pose, scale: float) -> Pose:
    return Pose(pose.rotation, pose.position * scale)


def _scale_shape(shape: Shape, scale: float) -> None:
    shape.pose = _scaled(shape.pose, scale)
    if shape.kind != "plane":
        shape.size = np.asarray(shape.size) * scale


def _scale_joint(joint: Joint, scale: float, robot: Robot) -> None:
    """Scale places and, of slides, positions and speeds; of joints that follow others, as both of them are scaled."""
    joint.pose = _scaled(joint.pose, scale)
    own = _of_position(joint, scale)
    if joint.limits is not None:
        joint.limits = (joint.limits[0] * own, joint.limits[1] * own)
    joint.velocity *= own
    if joint.mimic is not None:
        other = robot.joints.get(joint.mimic.joint)
        ratio = own / (_of_position(other, scale) if other is not None else 1.0)
        mimic = joint.mimic
        joint.mimic = Mimic(mimic.joint, mimic.multiplier * ratio, mimic.offset * own, mimic.line)


def _of_position(joint: Joint, scale: float) -> float:
    return scale if joint.kind == "prismatic" else 1.0


def find_root(robot: Robot, report: UrdfReport) -> None:
    """Set the root of a robot.

    Raises:
        UrdfError: a link has two parents, links are in a circle, or there are several roots.
    """
    parents: dict[str, Joint] = {}
    for joint in robot.joints.values():
        other = parents.setdefault(joint.child, joint)
        if other is not joint:
            raise report.fault(
                joint.line,
                f"link '{joint.child}' has two parents: '{other.parent}' by joint '{other.name}' in line {other.line}, "
                f"and '{joint.parent}' by joint '{joint.name}'; URDF has no loops",
            )
    roots = [name for name in robot.links if name not in parents]
    if len(roots) > 1:
        named = ", ".join(f"'{name}' (line {robot.links[name].line})" for name in roots[:6])
        more = f" and {len(roots) - 6} more" if len(roots) > 6 else ""
        raise report.fault(0, f"{len(roots)} links have no parent, and a robot has one root: {named}{more}")
    reached = set(roots)
    children: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint.child)
    pending = list(roots)
    while pending:
        pending += children.get(pending.pop(), [])
        reached |= {*pending}
    lost = [name for name in robot.links if name not in reached]
    if lost:
        raise report.fault(robot.links[lost[0]].line, f"links are in a circle: {_circle(lost[0], parents)}")
    robot.root = roots[0]
    if WORLD in robot.links and robot.root != WORLD:
        raise report.fault(robot.links[WORLD].line, f"a link '{WORLD}' is the world, and cannot have a parent")


def _circle(start: str, parents: dict[str, Joint]) -> str:
    """Return the names in the circle that the ancestors of a link run into."""
    path = [start]
    while parents[path[-1]].parent not in path:
        path.append(parents[path[-1]].parent)
    first = path.index(parents[path[-1]].parent)
    circle = [*path[first:], path[first]]
    return " -> ".join(reversed(circle)) if len(circle) < 12 else f"{len(circle) - 1} of them, '{start}' among them"


def drivers(robot: Robot, report: UrdfReport) -> dict[str, Mimic]:
    """Return for each joint that follows another its leader in the end: a joint that follows none.

    Offsets and multipliers along a chain are multiplied out.

    Raises:
        UrdfError: a joint follows itself, one that does not exist, or one that does not move.
    """
    found: dict[str, Mimic] = {}
    for joint in robot.joints.values():
        if joint.mimic is None:
            continue
        seen, last, multiplier, offset = [joint.name], joint, 1.0, 0.0
        while last.mimic is not None:
            mimic = last.mimic
            if mimic.joint not in robot.joints:
                hint = nearest(mimic.joint, robot.joints)
                raise report.fault(
                    mimic.line, f"joint '{last.name}' follows '{mimic.joint}', and there is no such joint{hint}"
                )
            if mimic.joint in seen:
                circle = " -> ".join([*seen[seen.index(mimic.joint) :], mimic.joint])
                raise report.fault(mimic.line, f"joints follow each other in a circle: {circle}")
            offset, multiplier = offset + multiplier * mimic.offset, multiplier * mimic.multiplier
            last = robot.joints[mimic.joint]
            seen.append(last.name)
        if last.kind not in ("revolute", "continuous", "prismatic"):
            raise report.fault(
                joint.mimic.line,
                f"joint '{joint.name}' follows '{last.name}', which is {last.kind} and has no position of one number",
            )
        found[joint.name] = Mimic(last.name, multiplier, offset, joint.mimic.line)
    return found


def reference(robot: Robot, followers: Mapping[str, Mimic], report: UrdfReport) -> dict[str, float]:
    """Return the start positions of hinges and slides (rad or m), by name, for joints that do not begin at 0.

    A joint begins at 0 if its limits, and the limits of the joints that follow it, include 0; else in the middle of the
    allowed range, or at its finite end. Joints that follow others begin where these put them.
    """
    found: dict[str, float] = {}
    for joint in robot.joints.values():
        if joint.name in followers:
            continue
        mine = {name: mimic for name, mimic in followers.items() if mimic.joint == joint.name}
        start = _start(joint, [(robot.joints[name], mimic) for name, mimic in mine.items()], report)
        found[joint.name] = start
        found |= {name: mimic.offset + mimic.multiplier * start for name, mimic in mine.items()}
    return {name: start for name, start in found.items() if start != 0.0}


def _start(joint: Joint, followers: list[tuple[Joint, Mimic]], report: UrdfReport) -> float:
    """Return where a joint begins that follows none."""
    own = low, high = joint.limits or (-math.inf, math.inf)
    for other, mimic in followers:
        if other.limits is not None and mimic.multiplier != 0.0:
            ends = sorted((end - mimic.offset) / mimic.multiplier for end in other.limits)
            low, high = max(low, ends[0]), min(high, ends[1])
    if low > high:
        names = ", ".join(f"'{other.name}'" for other, _ in followers)
        report.note(joint.line, f"joint '{joint.name}' has no position within its limits and those of {names}")
        low, high = own
    if low <= 0.0 <= high:
        return 0.0
    if abs(low) < FARTHEST and abs(high) < FARTHEST:
        return (low + high) / 2
    return low if low > 0.0 else high
