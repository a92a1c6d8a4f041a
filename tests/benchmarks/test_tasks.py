"""The benchmark of tasks: every task is in it, and it measures environments and physics."""

from tumble.benchmarks import tasks
from tumble.benchmarks.main import BENCHMARKS
from tumble.envs.registry import TASKS, V5


def test_every_task_is_measured():
    """But Gymnasium's, which have a benchmark of their own, pictures, and variants of goals."""
    own = [name for name in TASKS if name not in V5 and not name.endswith(("Goal", "Pixels"))]
    assert sorted(own) == sorted(BENCHMARKS["tasks"].defaults["models"])


def test_a_task_and_the_physics_of_its_robot():
    """Both sides of the physics meet the same contacts and rows."""
    result = tasks.run(["DroneHover"], num_envs=16, steps=8, rounds=1, threads=1)
    speed, physics, work = result.tables
    assert speed.rows[0]["one thread"] > 0 and physics.rows[0]["ratio"] > 0
    ours, theirs = work.rows
    assert ours["rows"] == theirs["rows"] and ours["faults"] == theirs["faults"] == 0
