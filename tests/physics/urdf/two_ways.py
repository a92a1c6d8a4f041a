"""Random robots, each written as URDF and, by other code and other conventions, as MJCF.

The MJCF has every fixed link as a body of its own, Euler angles for MuJoCo to read, and equalities of its own.
Nothing here calls the code that is tested.
"""

from dataclasses import dataclass, field

import numpy as np

KINDS = ("revolute", "continuous", "prismatic", "fixed")


@dataclass
class Part:
    """A link and the joint above it."""

    name: str
    parent: int
    kind: str
    pos: np.ndarray
    rpy: np.ndarray
    axis: np.ndarray
    limits: tuple[float, float]
    damping: float
    effort: float
    mass: float
    com: np.ndarray
    com_rpy: np.ndarray
    moments: np.ndarray
    radius: float
    mimic: tuple[int, float, float] | None = None


@dataclass
class Robot:
    parts: list[Part] = field(default_factory=list)
    floats: bool = True


def random_robot(rng: np.random.Generator, links: int, floats: bool, mimics: bool = False) -> Robot:
    robot = Robot(floats=floats)
    for i in range(links):
        kind = str(rng.choice(KINDS)) if i else "root"
        shape = rng.uniform(0.05, 0.2, 3) ** 2  # half axes of an ellipsoid, squared
        mass = rng.uniform(0.2, 2.0)
        part = Part(
            name=f"link{i}",
            parent=int(rng.integers(max(0, i - 3), i)) if i else -1,
            kind=kind,
            pos=rng.uniform(-0.3, 0.3, 3),
            rpy=rng.uniform(-3.0, 3.0, 3),
            axis=rng.normal(size=3),
            limits=(float(rng.uniform(-1.0, -0.3)), float(rng.uniform(0.3, 1.0))),
            damping=float(rng.uniform(0.0, 0.4)),
            effort=float(rng.uniform(1.0, 20.0)),
            mass=mass,
            com=rng.uniform(-0.1, 0.1, 3),
            com_rpy=rng.uniform(-3.0, 3.0, 3),
            moments=mass / 5 * (shape.sum() - shape),
            radius=float(rng.uniform(0.01, 0.03)),
        )
        robot.parts.append(part)
    scalars = [i for i, part in enumerate(robot.parts) if part.kind in KINDS[:3]]
    if mimics and len(scalars) > 1:
        robot.parts[scalars[-1]].mimic = (scalars[0], float(rng.uniform(-1.0, 1.0)), float(rng.uniform(-0.2, 0.2)))
    return robot


def words(numbers) -> str:
    return " ".join(repr(float(x)) for x in np.atleast_1d(numbers))


def urdf(robot: Robot) -> str:
    lines = ['<robot name="random">']
    for part in robot.parts:
        i = part.moments
        lines.append(
            f'<link name="{part.name}"><inertial><origin xyz="{words(part.com)}" rpy="{words(part.com_rpy)}"/>'
            f'<mass value="{part.mass!r}"/><inertia ixx="{words(i[0])}" iyy="{words(i[1])}" izz="{words(i[2])}" '
            f'ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="{words(part.com)}"/><geometry>'
            f'<sphere radius="{part.radius!r}"/></geometry></collision></link>'
        )
    for part in robot.parts[1:]:
        mimic = ""
        if part.mimic:
            other, multiplier, offset = part.mimic
            mimic = f'<mimic joint="joint_{robot.parts[other].name}" multiplier="{multiplier!r}" offset="{offset!r}"/>'
        bounds = "" if part.kind == "continuous" else f'lower="{part.limits[0]!r}" upper="{part.limits[1]!r}"'
        lines.append(
            f'<joint name="joint_{part.name}" type="{part.kind}"><origin xyz="{words(part.pos)}" '
            f'rpy="{words(part.rpy)}"/><parent link="{robot.parts[part.parent].name}"/><child link="{part.name}"/>'
            f'<axis xyz="{words(part.axis)}"/><limit {bounds} '
            f'effort="{part.effort!r}" velocity="2"/><dynamics damping="{part.damping!r}"/>{mimic}</joint>'
        )
    return "\n".join([*lines, "</robot>"])


def mjcf(robot: Robot) -> str:
    equalities = "".join(
        f'<joint joint1="joint_{part.name}" joint2="joint_{robot.parts[part.mimic[0]].name}" '
        f'polycoef="{part.mimic[2]!r} {part.mimic[1]!r} 0 0 0"/>'
        for part in robot.parts
        if part.mimic
    )
    return (
        '<mujoco><compiler angle="radian" eulerseq="XYZ" autolimits="true"/>'
        f"<worldbody>{_body(robot, 0)}</worldbody><equality>{equalities}</equality></mujoco>"
    )


def _body(robot: Robot, index: int) -> str:
    part = robot.parts[index]
    place = f'pos="{words(part.pos)}" euler="{words(part.rpy)}"' if index else ""
    joint = "<freejoint/>" if robot.floats and not index else ""
    if part.kind in KINDS[:3]:
        kind = "slide" if part.kind == "prismatic" else "hinge"
        bounds = "" if part.kind == "continuous" else f'range="{words(part.limits)}"'
        joint = (
            f'<joint name="joint_{part.name}" type="{kind}" axis="{words(part.axis)}" damping="{part.damping!r}" '
            f'actuatorfrcrange="{-part.effort!r} {part.effort!r}" {bounds}/>'
        )
    below = "".join(_body(robot, i) for i, other in enumerate(robot.parts) if other.parent == index)
    return (
        f'<body name="{part.name}" {place}>{joint}<inertial pos="{words(part.com)}" euler="{words(part.com_rpy)}" '
        f'mass="{part.mass!r}" diaginertia="{words(part.moments)}"/>'
        f'<geom type="sphere" size="{part.radius!r}" pos="{words(part.com)}"/>{below}</body>'
    )
