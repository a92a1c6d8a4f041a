"""Pictures a second: colour and depth beside `mujoco.Renderer`, depth and geoms beside `mj_multiRay`.

All sides draw the same poses, which are there before the clock starts. Each model and number of threads has a process
process, with as many cores as threads, in which the sides take turns.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from ..physics.machine.children import python_command
from ..physics.machine.cores import usable_cores
from .results import BenchmarkResult, Table, Verdict

SIZES = (64, 128)
FASTER = 3.0
"""Times the frames a second of a peer that pictures are to have."""
COLUMNS = {
    "model": "",
    "size": "",
    "threads": "d",
    "colour + depth/s": ",.0f",
    "mujoco.Renderer/s": ",.0f",
    "ratio": ".2f",
    "depth + geoms/s": ",.0f",
    "mj_multiRay/s": ",.0f",
    "depth ratio": ".2f",
}


def run(models: Sequence[str], num_envs: int, rounds: int, threads: int) -> BenchmarkResult:
    """Draw models by one thread and by several.

    Args:
        models: "ant", "humanoid" or "humanoid of meshes".
        num_envs: environments that Tumble draws in one call.
        rounds: turns, of which medians are taken.
        threads: of the comparison on several threads.
    """
    title = (
        f"Frames a second of {num_envs:,} environments in random poses, medians of {rounds} turns. mujoco.Renderer "
        "draws colour and then depth by OpenGL in software (EGL); mj_multiRay has a ray for each pixel, and no colour"
    )
    result = BenchmarkResult([Table(title, COLUMNS)])
    for model in models:
        for count in dict.fromkeys((1, min(threads, usable_cores()))):
            for row in _measured(model, num_envs, rounds, count):
                result.tables[0].rows.append(row)
                where = f"{model}, {row['size']}, {count} threads"
                if row["ratio"] is not None:
                    result.verdicts.append(Verdict(f"{where}: colour over mujoco.Renderer", row["ratio"], FASTER))
                result.verdicts.append(Verdict(f"{where}: depth over mj_multiRay", row["depth ratio"], FASTER))
    return result


def _measured(model: str, num_envs: int, rounds: int, threads: int) -> list[dict[str, Any]]:
    """Return the rows of a model for all sizes, by a process with so many cores."""
    job = {"model": model, "num_envs": num_envs, "rounds": rounds, "threads": threads, "sizes": SIZES}
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "LP_NUM_THREADS", "TUMBLE_THREADS")}
    env = {"MUJOCO_GL": "egl", **os.environ, **limits}
    program = f"from {__package__}.pictures_job import main; main()"
    command = python_command(program, json.dumps(job))
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise RuntimeError(f"{model}, {threads} threads: {done.stderr.strip()[-2000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found
