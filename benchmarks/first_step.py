"""A child process of `start`: makes environments, resets, steps once, and prints when it had done so, as JSON.

    python -m tumble.benchmarks.first_step TASK NUM_ENVS SINCE DRIVER

SINCE is the time (seconds since 1970) at which the parent started this process; DRIVER is that of the solver: cpu,
cuda, or columns, which is the GPU's on the processor.
"""

import json
import resource
import sys
import time


def main(task: str, num_envs: int, since: float, driver: str) -> dict[str, float]:
    """Seconds since `since` at which each part was done, and the peak memory (MiB) then."""
    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks[f"{name} s"] = time.time() - since
        marks[f"{name} MiB"] = peak_memory()

    import gymnasium

    from ..envs.gym import vector_env  # noqa: F401  # torch, Taichi, MuJoCo: the imports of making an environment

    mark("imports")
    if driver != "cpu":
        from .columns import begin

        begin("cuda" if driver == "cuda" else "cpu")
    identity = f"tumble/{task}-v0"
    envs = gymnasium.make(identity) if num_envs == 1 else gymnasium.make_vec(identity, num_envs=num_envs)
    mark("make")
    envs.reset(seed=0)
    mark("reset")
    envs.action_space.seed(0)
    envs.step(envs.action_space.sample())
    mark("first step")
    for _ in range(20):
        envs.step(envs.action_space.sample())
    mark("end")
    return marks


def peak_memory() -> float:
    """Largest resident memory of this process so far, MiB; Linux counts from the fork, so the parent must be small."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])))
