"""Matter beside Genesis' on its CPU backend and Taichi's own example, on one thread: particle-substeps a second.

A block of each material falls and lies; figures are of a core's time. `mpm3d` is Taichi's example of a liquid, as it is
in its package; Genesis runs in a Python that has it.
"""

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..physics.machine.runtime import init
from ..soft import Elastic, ElastoPlastic, Liquid, Matter, MPMSolver, Sand, Snow
from ..soft.mpm.materials import MatterMaterial
from .results import BenchmarkResult, Table, Verdict
from .timing import take_turns

DENSITY, SUBSTEPS = 32, 50
MATERIALS: dict[str, MatterMaterial] = {
    "liquid": Liquid(E=1e5),
    "neo-Hookean": Elastic(E=1e5, model="neohooken"),
    "corotated": Elastic(E=1e5),
    "von Mises": ElastoPlastic(E=1e5),
    "sand": Sand(E=1e5),
    "snow": Snow(E=1e5),
}
BARS = {"liquid": 7.0, "neo-Hookean": 6.0, "corotated": 3.5, "von Mises": 3.5, "sand": 3.5, "snow": 3.5}
"""The least million particle-substeps a second of a core with AVX2."""
SIDES = {504: 6, 2_000: 10, 8_000: 16, 30_000: 25}
"""Particles along the sides of blocks, about a cube, by their number."""
PEER = Path(__file__).with_name("matter_peer.py")


def run(rounds: int, genesis: str) -> BenchmarkResult:
    """Compare.

    Args:
        rounds: of which medians are taken.
        genesis: a Python with Genesis; "": none.
    """
    init(threads=1)
    torch.set_num_threads(1)
    columns = {"material": "", "particles": "d", "environments": "d", "M/s": ".2f"}
    result = BenchmarkResult([Table("Million particle-substeps a second of a core", columns)])
    rows = result.tables[0].rows
    cases = [*((name, 2_000) for name in MATERIALS), *(("liquid", count) for count in SIDES if count != 2_000)]
    for name, count in cases:
        num_envs = max(1, 8_000 // count)
        sample = take_turns({"ours": _falling(MATERIALS[name], count, num_envs)}, rounds)["ours"]
        particles = _particles(count)
        rate = particles * num_envs * SUBSTEPS / sample.median / 1e6
        rows.append({"material": name, "particles": particles, "environments": num_envs, "M/s": rate})
        if count == 2_000:
            result.verdicts.append(Verdict(f"{name}: M/s", rate, BARS[name]))
    liquids = [row["M/s"] for row in rows if row["material"] == "liquid"]
    result.verdicts.append(Verdict("liquid, slowest over fastest size", min(liquids) / max(liquids), 0.75))
    for peer, python in (("mpm3d", sys.executable), ("genesis", genesis)):
        if python:
            found = _peer(peer, python, rounds)
            rows.append({"material": f"liquid, by {peer}", "environments": 1, **found})
            times = next(row["M/s"] for row in rows if row["particles"] > 7_000) / found["M/s"]
            result.verdicts.append(Verdict(f"liquid, times {peer}", times, 10.0))
    return result


def _particles(count: int) -> int:
    """Return the number of particles of a block of about `count`."""
    side = SIDES[count]
    return side * side * round(count / side**2)


def _falling(material: MatterMaterial, count: int, num_envs: int) -> Callable[[], float]:
    """Return a function that takes substeps of a block in each environment; it returns the processor's seconds."""
    dx, side = 1 / DENSITY, SIDES[count]
    axes = [0.1 + (np.arange(n) + 0.5) * dx / 2 for n in (side, side, round(count / side**2))]
    positions = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    matter = Matter("block", material, positions, (dx / 2) ** 3)
    dt = 0.4 * dx / math.sqrt(material.stiffness / material.rho)
    solver = MPMSolver([matter], num_envs, (0, 0, 0), (1, 1, 1), DENSITY, dt)
    solver.step(round(0.2 / dt))

    def seconds() -> float:
        began = time.process_time()
        solver.step(SUBSTEPS)
        return time.process_time() - began

    return seconds


def _peer(peer: str, python: str, rounds: int) -> dict[str, Any]:
    """Return the figures of another engine, which runs in a process."""
    answer = subprocess.run([python, str(PEER), peer, str(rounds)], check=True, capture_output=True, text=True).stdout
    found = json.loads(answer.splitlines()[-1])
    rates = [found["particles"] * found["substeps"] / seconds / 1e6 for seconds in found["seconds"]]
    return {"particles": found["particles"], "M/s": float(np.median(rates)), "first step s": found["first"]}
