"""HumanoidBench's tasks without hands by their ids: each with its class in this folder and its options."""

from typing import Any

from ..row import Row


def _row(module: str, kind: str, task: str, **options: Any) -> Row:
    """Return the row of a task, on the model of its name."""
    own = {"xml_file": f"humanoid_bench:envs/h1_pos_{task}.xml", **options}
    return Row(f"humanoid_bench.{module}", 1000, kind=kind, options=own)


ROWS: dict[str, Row] = {
    f"humanoid_bench/h1-{task}-v0": _row(module, kind, task, **options)
    for task, module, kind, options in (
        ("stand", "walking", "HumanoidWalk", {"speed": 0.0}),
        ("walk", "walking", "HumanoidWalk", {"speed": 1.0}),
        ("run", "walking", "HumanoidWalk", {"speed": 5.0}),
        ("hurdle", "walking", "HumanoidHurdle", {}),
        ("crawl", "walking", "HumanoidCrawl", {}),
        ("stair", "walking", "HumanoidClimb", {}),
        ("slide", "walking", "HumanoidClimb", {}),
        ("pole", "walking", "HumanoidPole", {}),
        ("reach", "places", "HumanoidReach", {}),
        ("sit_simple", "places", "HumanoidSit", {}),
        ("sit_hard", "places", "HumanoidSit", {"anywhere": True}),
        ("balance_simple", "places", "HumanoidBalance", {}),
        ("balance_hard", "places", "HumanoidBalance", {}),
        ("maze", "places", "HumanoidMaze", {}),
    )
}
