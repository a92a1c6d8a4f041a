"""Gymnasium-Robotics' tasks by their ids there: each a class of this room and its options."""

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

ROWS = FETCH | MAZES | ADROIT
