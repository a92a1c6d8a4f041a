"""MyoSuite's tasks by their ids: each with its class in this folder and its options, in four conditions of muscles."""

import math
from collections.abc import Iterator
from typing import Any

from ..row import Row

HAND, ELBOW, FINGER = (
    "myosuite:envs/myo/assets/hand",
    "myosuite:envs/myo/assets/elbow",
    "myosuite:simhive/myo_sim/finger",
)
POSED_HAND = f"{HAND}/myohand_pose.xml"

TIPS = {
    "THtip": (-0.165, -0.537, 1.495),
    "IFtip": (-0.151, -0.547, 1.455),
    "MFtip": (-0.146, -0.547, 1.447),
    "RFtip": (-0.148, -0.543, 1.445),
    "LFtip": (-0.148, -0.528, 1.434),
}
"""Targets of the fingertips, m."""

THUMB_BOX = (-0.020, -0.040, -0.040), (0.040, 0.020, 0.040)
FINGER_BOX = (-0.040, -0.020, -0.010), (0.040, 0.020, 0.010)
"""Boxes of targets around them, m."""

FIST = (
    0, 0, 0, -0.0904, 0.0824475, -0.681555, -0.514888, 0, -0.013964, -0.0458132, 0, 0.67553, -0.020944, 0.76979,
    0.65982, 0, 0, 0, 0, 0.479155, -0.099484, 0.95831, 0,
)  # fmt: skip
"""The pose of myoHandPoseFixed, rad."""

_CURLED, _STRAIGHT = (1.44532, -0.204204, 1.46103, 1.44532), (0.306345, -0.010472, 0.400605, 0.133535)
_LITTLE_CURLED, _LITTLE_BENT = (1.48459, -0.2618, 1.47674, 1.48459), (0.432025, -0.068068, 0.18852, 0.149245)
_LITTLE_STRAIGHT = (0.21994, -0.068068, 0.274925, 0.01571)
_RING_HALF = (0.667675, -0.020944, 0, 0.06284)
_POINTING, _MIDDLE = (0.010473, 0.128305, 0.111722), (0.510575, 0, 0.37704, 0.117825)
NUMERALS = (
    (0.5624, 0.28272, -0.75573, -1.309, 1.30045, -0.006982, 1.45492, 0.998897, 1.26466, 0, 1.40604, 0.227795,
     1.07614, -0.020944, 1.46103, 0.06284, 0.83263, -0.14399, 1.571, 1.38248),
    (0.0248, 0.04536, -0.7854, -1.309, 0.366605, 0.010473, 0.269258, 0.111722, 1.48459, 0, 1.45318, 1.44532,
     *_CURLED, *_LITTLE_CURLED),
    (0.0248, 0.04536, -0.7854, -1.13447, 0.514973, *_POINTING, *_MIDDLE, *_CURLED, *_LITTLE_CURLED),
    (0.3384, 0.25305, 0.01569, -0.0262045, 0.645885, *_POINTING, *_MIDDLE,
     1.571, -0.036652, 1.52387, 1.45318, 1.40604, -0.068068, 1.39033, 1.571),
    (0.6392, -0.147495, -0.7854, -1.309, 0.637158, *_POINTING, *_MIDDLE, *_STRAIGHT, *_LITTLE_STRAIGHT),
    (0.3384, 0.25305, 0.01569, -0.0262045, 0.645885, *_POINTING, *_MIDDLE, *_STRAIGHT, *_LITTLE_STRAIGHT),
    (0.6392, -0.147495, -0.7854, -1.309, 0.637158, *_POINTING, *_MIDDLE, *_STRAIGHT, 1.1861, -0.2618, 1.35891, 1.48459),
    (0.524, 0.01569, -0.7854, -1.309, 0.645885, -0.006982, *_POINTING[1:], *_MIDDLE,
     1.28036, -0.115192, 1.52387, 1.45318, *_LITTLE_BENT),
    (0.428, 0.22338, -0.7854, -1.309, 0.645885, -0.006982, 0.128305, 0.194636, 1.39033, 0, 1.08399, 0.573415,
     *_RING_HALF, *_LITTLE_BENT),
    (0.5624, 0.28272, -0.75573, -1.309, 1.30045, -0.006982, 1.45492, 0.998897, 0.39275, 0, 0.18852, 0.227795,
     *_RING_HALF, *_LITTLE_BENT),
)  # fmt: skip
"""The numerals 0 to 9 of the American Sign Language, 20 joints of the fingers, rad; the wrist's three are at 0."""


def _box(place: tuple, box: tuple = ((0, 0, 0), (0, 0, 0))) -> tuple:
    """Return the corners of a box that lies around a place."""
    return tuple(tuple(a + b for a, b in zip(place, corner, strict=True)) for corner in box)


def _reach(xml_file: str, targets: dict[str, tuple], **options: Any) -> dict[str, Any]:
    return {"xml_file": xml_file, "targets": tuple(targets.items()), **options}


def _pose(xml_file: str, low: tuple, high: tuple = (), **options: Any) -> dict[str, Any]:
    return {"xml_file": xml_file, "low": low, "high": high or low, **options}


def _numeral(angles: tuple) -> tuple:
    return (0.0, 0.0, 0.0, *angles)


_ANY_NUMERAL = tuple(_numeral(tuple(pick(joint) for joint in zip(*NUMERALS, strict=True))) for pick in (min, max))
_FINGER_REACH = {"fixed": {"IFtip": _box((0.2, 0.05, 0.2))}, "random": {"IFtip": ((0.1, -0.1, 0.1), (0.27, 0.1, 0.3))}}
_FINGER_POSE = {"fixed": ((0, 0, 0.75, 0.75),), "random": ((-0.2, -0.4, 0.1, 0.1), (0.2, 1, 1, 1))}
_ELBOW, _EXO = f"{ELBOW}/myoelbow_1dof6muscles.xml", f"{ELBOW}/myoelbow_1dof6muscles_1dofexo.xml"
_MOTORS, _MUSCLES = f"{FINGER}/motorfinger_v0.xml", f"{FINGER}/myofinger_v0.xml"
_TORSO = {"xml_file": "myosuite:simhive/myo_sim/torso/myotorso.xml", "low": (0,) * 18, "high": (0,) * 18}
_BACK = {**_TORSO, "near": 0.25, "far": math.pi, "frame_skip": 5}
_EXOSUIT = "myosuite:simhive/myo_sim/torso/myotorso_exosuit.xml"
_ARM: dict[str, Any] = {"near": 0.175, "anywhere": True}

TASKS: dict[str, tuple[str, str, int, dict[str, Any]]] = {
    # id: module, class, steps of an episode, options
    "motorFingerReachFixed": ("reach", "MyoReach", 200, _reach(_MOTORS, _FINGER_REACH["fixed"], frame_skip=5)),
    "motorFingerReachRandom": ("reach", "MyoReach", 200, _reach(_MOTORS, _FINGER_REACH["random"], frame_skip=5)),
    "myoFingerReachFixed": ("reach", "MyoReach", 100, _reach(_MUSCLES, _FINGER_REACH["fixed"])),
    "myoFingerReachRandom": ("reach", "MyoReach", 100, _reach(_MUSCLES, _FINGER_REACH["random"])),
    "motorFingerPoseFixed": ("pose", "MyoPose", 200, _pose(_MOTORS, *_FINGER_POSE["fixed"], frame_skip=5)),
    "motorFingerPoseRandom": ("pose", "MyoPose", 200, _pose(_MOTORS, *_FINGER_POSE["random"], frame_skip=5)),
    "myoFingerPoseFixed": ("pose", "MyoPose", 100, _pose(_MUSCLES, *_FINGER_POSE["fixed"])),
    "myoFingerPoseRandom": ("pose", "MyoPose", 100, _pose(_MUSCLES, *_FINGER_POSE["random"])),
    "myoElbowPose1D6MFixed": ("pose", "MyoPose", 100, _pose(_ELBOW, (2,), **_ARM)),
    "myoElbowPose1D6MRandom": ("pose", "MyoPose", 100, _pose(_ELBOW, (0,), (2.27,), **_ARM)),
    "myoElbowPose1D6MExoFixed": ("pose", "MyoPose", 100, _pose(_EXO, (2,), **_ARM, effort=5.0)),
    "myoElbowPose1D6MExoRandom": (
        "pose", "MyoPose", 100, _pose(_EXO, (0,), (2.27,), **_ARM, effort=5.0, load=(0.1, 2.0))
    ),
    "myoHandPoseFixed": ("pose", "MyoPose", 100, _pose(POSED_HAND, FIST, near=0.7)),
    **{
        f"myoHandPose{k}Fixed": ("pose", "MyoPose", 100, _pose(POSED_HAND, _numeral(NUMERALS[k]), near=0.7))
        for k in range(10)
    },
    "myoHandPoseRandom": ("pose", "MyoPose", 100, _pose(POSED_HAND, *_ANY_NUMERAL, near=0.7, anywhere=True)),
    "myoHandReachFixed": (
        "reach", "MyoReach", 100, _reach(POSED_HAND, {tip: _box(place) for tip, place in TIPS.items()}, far=0.044)
    ),
    "myoHandReachRandom": (
        "reach", "MyoReach", 100,
        _reach(
            POSED_HAND,
            {tip: _box(place, THUMB_BOX if tip == "THtip" else FINGER_BOX) for tip, place in TIPS.items()},
            far=0.034,
        ),
    ),
    "myoHandKeyTurnFixed": ("key_turn", "MyoKeyTurn", 200, {}),
    "myoHandKeyTurnRandom": (
        "key_turn", "MyoKeyTurn", 200, {"goal": 2 * math.pi, "turned": math.pi / 2, "moved": 0.01}
    ),
    "myoHandObjHoldFixed": ("obj_hold", "MyoObjHold", 75, {}),
    "myoHandObjHoldRandom": ("obj_hold", "MyoObjHold", 75, {"moved": 0.03}),
    "myoHandPenTwirlFixed": ("pen_twirl", "MyoPenTwirl", 50, {}),
    "myoHandPenTwirlRandom": ("pen_twirl", "MyoPenTwirl", 50, {"turned": 1.0}),
    "myoTorsoPoseFixed": ("pose", "MyoPose", 200, _BACK),
    "myoTorsoExoPoseFixed": ("pose", "MyoPose", 200, {**_BACK, "xml_file": _EXOSUIT}),
    "myoLegStandRandom": (
        "legs", "MyoLegStand", 150, {"targets": (("pelvis", ((-0.05, -0.05, 0), (0.05, 0.05, 0))),)}
    ),
    "myoLegWalk": ("legs", "MyoLegWalk", 1000, {}),
    "myoLegRoughTerrainWalk": ("legs", "MyoLegTerrainWalk", 1000, {"terrain": "rough"}),
    "myoLegHillyTerrainWalk": ("legs", "MyoLegTerrainWalk", 1000, {"terrain": "hilly"}),
    "myoLegStairTerrainWalk": ("legs", "MyoLegTerrainWalk", 1000, {"terrain": "stairs"}),
}  # fmt: skip
"""The tasks with healthy muscles."""

CONDITIONS = {"Sarc": "sarcopenia", "Fati": "fatigue", "Reaf": "reafferentation"}


def _rows() -> Iterator[tuple[str, Row]]:
    """Yield the tasks' rows by their ids, those of weak, tired and rerouted muscles behind each."""
    for name, (module, kind, steps, options) in TASKS.items():
        yield f"myosuite/{name}-v0", Row(f"myo.{module}", steps, kind=kind, options=options)
        for word, condition in CONDITIONS.items():
            if name.startswith("myoHand" if word == "Reaf" else "myo"):
                own = {**options, "condition": condition}
                yield f"myosuite/myo{word}{name[3:]}-v0", Row(f"myo.{module}", steps, kind=kind, options=own)


ROWS: dict[str, Row] = dict(_rows())
