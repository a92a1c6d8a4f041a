"""Scenes whose parts are linked by more than joints: a hand of tendons, a biped of closed legs, a welded gripper.

In the reference pose all body frames of the biped and of the arm stand upright, so that points are given in the world's
frame; hinges are at 0 there.
"""

from collections.abc import Sequence

import mujoco
import numpy as np

BOX, CAPSULE, CYLINDER, PLANE, SPHERE = (
    getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "CAPSULE", "CYLINDER", "PLANE", "SPHERE")
)
JOINT, TENDON = mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_TENDON
AHEAD, SIDE, UP = np.eye(3)

# -- the hand: metres and rad
BONES = (0.045, 0.03, 0.025)
CURL = (1.0, 1.4, 0.9)  # of a finger's hinges in the reference pose: around the bar
KNUCKLES = (-0.04, -0.016, 0.016, 0.04)  # to the side, of the four fingers
THUMB_BONES = (0.05, 0.03, 0.025)
THUMB = (1.4, -1.3, -0.5)  # up from the palm, and over the bar
BONE, BAR = 0.007, 0.018  # radii
LOOP = 0.012  # of a tendon, from the axis of a bone
# -- the biped: metres ahead and up from the hip, in the plane of a leg
KNEE, ANKLE = np.array([0.17, 0, -0.31]), np.array([0, 0, -0.62])
KNEE_LEVER, HEEL_LEVER = np.array([-0.06, 0, 0]), np.array([-0.07, 0, 0])
TOE, HEEL = np.array([0.12, 0, -0.04]), np.array([-0.08, 0, -0.04])
# -- the arm: how long each link is (m), how far it is turned from upright (rad), whether its hinge turns about itself
ARM = ((0.3, 0, 1), (0.2, 0.4, 0), (0.2, 0.4, 1), (0.2, 1.7, 0), (0.2, 1.7, 1), (0.06, np.pi, 0), (0.06, np.pi, 1))


def _empty(timestep: float) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = timestep
    spec.compiler.degree = False
    spec.worldbody.add_geom(name="floor", type=PLANE, size=[5, 5, 0.1])
    return spec


def _hinge(
    body: mujoco.MjsBody, name: str, axis: Sequence[float] | np.ndarray, damping: float, armature: float
) -> mujoco.MjsJoint:
    return body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, damping=damping, armature=armature)


def _servo(
    spec: mujoco.MjSpec, target: str, kind: mujoco.mjtTrn, kp: float, low: float, high: float
) -> mujoco.MjsActuator:
    """A position actuator on the joint or tendon of that name."""
    actuator = spec.add_actuator(name=target, target=target, trntype=kind)
    actuator.set_to_position(kp=kp)
    actuator.ctrllimited, actuator.ctrlrange = 1, [low, high]
    return actuator


def _capsule(body: mujoco.MjsBody, radius: float, start: np.ndarray, end: np.ndarray, mass: float) -> mujoco.MjsGeom:
    return body.add_geom(type=CAPSULE, size=[radius, 0, 0], fromto=[*start, *end], mass=mass)


# -- a hand ------------------------------------------------------------------------------------------------------------


def hand(timestep: float) -> mujoco.MjSpec:
    """A palm on a wrist, four fingers and a thumb around a bar; elliptic cones.

    Every finger has a flexor, a tendon through loops on its bones that a motor pulls; an extensor over its joints'
    backs, a spring; and its last two hinges hang together by a fixed tendon with a servo.
    """
    spec = _empty(timestep)
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    palm = spec.worldbody.add_body(name="palm", pos=[0, 0, 0.3])
    for name, axis in (("wrist", SIDE), ("wrist_side", UP)):
        _hinge(palm, name, axis, 0.5, 0.01)
        _servo(spec, name, JOINT, 20, -0.1, 0.1)
    for side in KNUCKLES:
        _capsule(palm, BONE, np.array([0, side / 2, 0]), np.array([0.09, side, 0]), 0.05)
    for k, side in enumerate(KNUCKLES):
        _finger(spec, palm, f"finger{k}", np.array([0.09, side, 0]), 1, BONES, CURL)
    thumb = palm.add_body(name="thumb", pos=[0.035, 0, 0])
    _hinge(thumb, "thumb_side", AHEAD, 0.02, 2e-4)
    _servo(spec, "thumb_side", JOINT, 1, -0.05, 0.05)
    thumb.add_geom(type=SPHERE, size=[BONE, 0, 0], mass=0.01)
    _finger(spec, thumb, "thumb_", np.zeros(3), -1, THUMB_BONES, THUMB)
    bar = spec.worldbody.add_body(name="bar", pos=[0.07, 0, 0.3 + BAR + BONE])
    bar.add_freejoint()
    _capsule(bar, BAR, -0.06 * SIDE, 0.06 * SIDE, 0.15)
    return spec


def _finger(
    spec: mujoco.MjSpec,
    palm: mujoco.MjsBody,
    name: str,
    pos: np.ndarray,
    inside: int,
    bones: Sequence[float],
    angles: Sequence[float],
) -> None:
    """Three bones, whose hinges are at `angles` about -y in the reference pose, and their tendons.

    `inside` is 1 if the bones' z axes point to the object that the finger holds, else -1.
    """
    flexor, extensor, coupling = (spec.add_tendon(name=f"{name}_{kind}") for kind in ("flexor", "extensor", "coupling"))
    loop = LOOP * inside * UP
    palm.add_site(name=f"{name}_in", pos=pos - (0.03 * AHEAD if inside > 0 else 0 * AHEAD) + loop)
    palm.add_site(name=f"{name}_back", pos=pos - 0.02 * AHEAD - loop)
    flexor.wrap_site(f"{name}_in")
    extensor.wrap_site(f"{name}_back")
    body = palm
    for k, (length, angle) in enumerate(zip(bones, angles, strict=True)):
        part = f"{name}{k}"
        body = _bone(body, part, pos, length, angle, inside)
        body.geoms[0].condim = 4 if k == 2 else 3  # finger tips
        body.add_geom(  # the extensor runs over it
            name=f"{part}_pulley",
            type=SPHERE if k == 1 else CYLINDER,
            size=[0.009, 0.004, 0],
            zaxis=SIDE,
            contype=0,
            conaffinity=0,
            mass=0,
        )
        flexor.wrap_site(f"{part}_in")
        extensor.wrap_geom(f"{part}_pulley", f"{part}_over")
        extensor.wrap_site(f"{part}_back")
        pos = length * AHEAD
    extensor.stiffness[0], extensor.damping[0], extensor.springlength = 100, 1, [0.05, 0.05]
    motor = spec.add_actuator(name=flexor.name, target=flexor.name, trntype=TENDON)
    motor.set_to_motor()
    motor.gear[0], motor.ctrllimited, motor.ctrlrange = -10, 1, [0.5, 1]  # N: it pulls
    coupling.wrap_joint(f"{name}1", 1)
    coupling.wrap_joint(f"{name}2", 1)
    rest = angles[1] + angles[2]
    _servo(spec, coupling.name, TENDON, 0.3, *sorted((rest, rest + 0.5 * inside)))


def _bone(palm: mujoco.MjsBody, name: str, pos: np.ndarray, length: float, angle: float, inside: int) -> mujoco.MjsBody:
    """A capsule along x on a hinge, with loops for tendons on both of its sides."""
    body = palm.add_body(name=name, pos=pos)
    mujoco.mju_axisAngle2Quat(quat := np.zeros(4), -SIDE, angle)
    body.quat = quat
    joint = _hinge(body, name, -SIDE, 0.02, 2e-4)
    joint.ref = angle
    joint.limited, joint.range = 1, sorted((angle - inside * 0.9, angle + inside * 0.6))
    _capsule(body, BONE, 0 * AHEAD, length * AHEAD, 0.01)
    loop = LOOP * inside * UP
    body.add_site(name=f"{name}_in", pos=0.7 * length * AHEAD + loop)
    body.add_site(name=f"{name}_back", pos=0.7 * length * AHEAD - loop)
    body.add_site(name=f"{name}_over", pos=-2 * loop)  # the side on which a tendon passes the hinge
    return body


# -- a biped -----------------------------------------------------------------------------------------------------------


def biped(timestep: float) -> mujoco.MjSpec:
    """Legs whose knees and ankles are driven through rods: each leg has two four-bar linkages, closed by connects."""
    spec = _empty(timestep)
    trunk = spec.worldbody.add_body(name="trunk", pos=[0, 0, 0.7])
    trunk.add_freejoint()
    _capsule(trunk, 0.09, -0.08 * SIDE + 0.1 * UP + 0.04 * AHEAD, 0.08 * SIDE + 0.1 * UP + 0.04 * AHEAD, 10)
    for name, side in (("left", 1), ("right", -1)):
        _leg(spec, trunk, name, side)
    for geom in spec.geoms:  # all of them touch only the floor
        floor = geom.type == PLANE
        geom.contype, geom.conaffinity = int(floor), int(not floor)
    return spec


def _leg(spec: mujoco.MjSpec, trunk: mujoco.MjsBody, name: str, side: int) -> None:
    hip = trunk.add_body(name=f"{name}_hip", pos=0.1 * side * SIDE)
    for joint, axis in (("turn", UP), ("roll", AHEAD)):
        _driven(spec, hip, f"{name}_{joint}", axis, 600)
    hip.add_geom(type=SPHERE, size=[0.05, 0, 0], mass=1)
    thigh = hip.add_body(name=f"{name}_thigh")
    _driven(spec, thigh, f"{name}_pitch", SIDE, 600)
    _capsule(thigh, 0.04, np.zeros(3), KNEE, 2)
    shin = thigh.add_body(name=f"{name}_shin", pos=KNEE)
    _hinge(shin, f"{name}_knee", SIDE, 0.1, 0.01)
    _capsule(shin, 0.03, np.zeros(3), ANKLE - KNEE, 1)
    foot = shin.add_body(name=f"{name}_foot", pos=ANKLE - KNEE)
    _hinge(foot, f"{name}_ankle", SIDE, 0.1, 0.01)
    for edge in (-0.03, 0.03):
        _capsule(foot, 0.015, HEEL + edge * SIDE, TOE + edge * SIDE, 0.2)
    _linkage(spec, thigh, shin, f"{name}_knee", KNEE, KNEE_LEVER)
    _linkage(spec, shin, foot, f"{name}_ankle", ANKLE - KNEE, HEEL_LEVER)


def _driven(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, axis: np.ndarray, kp: float) -> None:
    _hinge(body, name, axis, 10, 0.1)
    _servo(spec, name, JOINT, kp, -0.05, 0.05)


def _linkage(
    spec: mujoco.MjSpec, upper: mujoco.MjsBody, lower: mujoco.MjsBody, name: str, joint: np.ndarray, lever: np.ndarray
) -> None:
    """A driven crank at the upper end of `upper`, and a rod from it to the lever of `lower`, which turns at `joint`."""
    crank = upper.add_body(name=f"{name}_crank")
    _driven(spec, crank, f"{name}_crank", SIDE, 600)
    _capsule(crank, 0.01, np.zeros(3), lever, 0.2)
    rod = crank.add_body(name=f"{name}_rod", pos=lever)
    _hinge(rod, f"{name}_rod", SIDE, 0.02, 0.001)
    _capsule(rod, 0.008, np.zeros(3), joint, 0.2)
    _capsule(lower, 0.01, np.zeros(3), lever, 0.1)
    _equality(spec, mujoco.mjtEq.mjEQ_CONNECT, rod.name, lower.name).data[:3] = joint


def _equality(spec: mujoco.MjSpec, kind: mujoco.mjtEq, first: str, second: str) -> mujoco.MjsEquality:
    joints = kind == mujoco.mjtEq.mjEQ_JOINT
    of = mujoco.mjtObj.mjOBJ_JOINT if joints else mujoco.mjtObj.mjOBJ_BODY
    equality = spec.add_equality(type=kind, name1=first, name2=second, objtype=of)
    equality.data[:] = 0
    equality.data[10] = 1  # of a weld: how much a radian counts, in metres
    return equality


# -- an arm ------------------------------------------------------------------------------------------------------------


def gripper_arm(timestep: float) -> mujoco.MjSpec:
    """Seven hinges with servos; a gripper is welded to the last link, and its two fingers hold a box in the air."""
    spec = _empty(timestep)
    body, at, place = spec.worldbody, np.zeros(3), np.zeros(3)
    for i, (length, tilt, about_itself) in enumerate(ARM):
        body = body.add_body(name=f"link{i}", pos=at)
        along = np.array([np.sin(tilt), 0, np.cos(tilt)])
        _hinge(body, f"joint{i}", along if about_itself else SIDE, 20, 0.1)
        _servo(spec, f"joint{i}", JOINT, 500 - 50 * i, -0.05, 0.05)
        at = length * along
        place = place + at
        _capsule(body, 0.05 - 0.004 * i, np.zeros(3), at, 3 - 0.4 * i)
    _gripper(spec, place)
    _equality(spec, mujoco.mjtEq.mjEQ_WELD, body.name, "gripper")
    for geom in spec.geoms:  # links touch nothing: servos keep them apart
        if geom.type == CAPSULE:
            geom.contype = geom.conaffinity = 0
    return spec


def _gripper(spec: mujoco.MjSpec, pos: np.ndarray) -> None:
    """Add a body with two sliding fingers, one of which is driven, and a box of 4 cm between them."""
    gripper = spec.worldbody.add_body(name="gripper", pos=pos)
    gripper.add_freejoint()
    gripper.add_geom(type=BOX, size=[0.02, 0.06, 0.02], pos=-0.02 * UP, mass=0.4)
    for name, side in (("left", 1), ("right", -1)):
        finger = gripper.add_body(name=name, pos=0.028 * side * SIDE - 0.07 * UP)
        slide = finger.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=side * SIDE, damping=20, armature=0.1
        )
        slide.limited, slide.range = 1, [-0.028, 0.03]
        finger.add_geom(type=BOX, size=[0.012, 0.008, 0.03], mass=0.1)
    _equality(spec, mujoco.mjtEq.mjEQ_JOINT, "right", "left").data[:5] = [0, 1, 0, 0, 0]
    _servo(spec, "left", JOINT, 2000, -0.02, -0.01)
    box = spec.worldbody.add_body(name="box", pos=pos - 0.085 * UP)
    box.add_freejoint()
    box.add_geom(type=BOX, size=[0.02, 0.02, 0.02], mass=0.2)
