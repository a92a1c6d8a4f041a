"""Gymnasium-Robotics' tasks by their ids there: each with its class in this folder and its options."""

from ..row import Row

DENSE = {"reward_type": "dense"}


def _both(name: str, version: int, steps: int, module: str, kind: str, **options: object) -> dict[str, Row]:
    """Return the rows of a task with sparse and with dense rewards."""
    return {
        f"gymnasium_robotics/{name}{suffix}-v{version}": Row(
            f"robotics.{module}", steps, kind=kind, options=options | reward, alias=f"{name}{suffix}".replace("_", "")
        )
        for suffix, reward in (("", {}), ("Dense", DENSE))
    }


FETCH: dict[str, Row] = {}
for _name in ("FetchReach", "FetchPush", "FetchSlide", "FetchPickAndPlace"):
    FETCH |= _both(_name, 4, 50, "fetch", _name)

MAZES: dict[str, Row] = {}
for _map, _steps, _ant_steps in (("UMaze", 300, 700), ("Open", 300, 700), ("Medium", 600, 1000), ("Large", 800, 1000)):
    for _kind in ("",) if _map == "UMaze" else ("", "_Diverse_G", "_Diverse_GR"):
        MAZES |= _both(f"PointMaze_{_map}{_kind}", 3, _steps, "maze", "PointMaze", maze_map=f"{_map}{_kind}")
        MAZES |= _both(f"AntMaze_{_map}{_kind}", 5, _ant_steps, "maze", "AntMaze", maze_map=f"{_map}{_kind}")

ADROIT = {
    f"gymnasium_robotics/{name}{suffix}-v1": Row(
        "robotics.adroit", 200, kind=name, options={"reward_type": suffix.lower() or "dense"}, alias=f"{name}{suffix}"
    )
    for name in ("AdroitHandDoor", "AdroitHandHammer", "AdroitHandPen", "AdroitHandRelocate")
    for suffix in ("", "Sparse")
}

HAND = _both("HandReach", 3, 50, "hand", "HandReach")
_TOUCH = {"": "off", "_BooleanTouchSensors": "boolean", "_ContinuousTouchSensors": "sensordata"}
_TURNS = {
    "HandManipulateBlock": {"RotateZ": "z", "RotateParallel": "parallel", "RotateXYZ": "xyz"},
    "HandManipulateEgg": {"Rotate": "xyz"},
    "HandManipulatePen": {"Rotate": "xyz"},
}
for _kind, _turns in _TURNS.items():
    for _sensors, _touch in _TOUCH.items():
        for _turn, _rotation in _turns.items():
            _goal = {"target_position": "ignore", "target_rotation": _rotation, "touch": _touch}
            HAND |= _both(f"{_kind}{_turn}{_sensors}", 1, 100, "hand", _kind, **_goal)
        HAND |= _both(f"{_kind}{_sensors}", 1, 100, "hand", _kind, touch=_touch)
    HAND |= _both(f"{_kind}Full", 1, 100, "hand", _kind)

KITCHEN = {
    "gymnasium_robotics/FrankaKitchen-v1": Row("robotics.kitchen", 280, kind="FrankaKitchen", alias="FrankaKitchen")
}

ROWS = FETCH | MAZES | ADROIT | HAND | KITCHEN
