"""Million paths a second of one core: the Cornell box, beside mitsuba's scalar variant where there is one, and robots.

tumble bench paths --mitsuba /path/to/a/python/that/has/mitsuba
"""

import importlib.util
import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import mujoco

from ..physics.machine.children import module_command
from .mitsuba_box import DEPTH
from .path_box import BOX, CAMERA, PLAIN
from .results import BenchmarkResult, Table, Verdict

FASTER = 5.0
"""Times the paths a second of mitsuba's scalar variant that path tracing is to have."""
SIZE, SAMPLES = 256, 16
COLUMNS = {
    "model": "",
    "geoms": "d",
    "million paths/s": ".2f",
    "of the clock": ".2f",
    "mitsuba": ".2f",
    "ratio": ".2f",
    "mean light": ".4f",
}
_ROBOTS: dict[str, tuple[str, dict[str, Any]]] = {
    "arm": ("arm_stack_three.xml", {"distance": 1.6, "azimuth": 146, "elevation": -17, "lookat": (0.27, 0.02, 0.31)}),
    "quadruped": ("quadruped.xml", {"distance": 1.5, "azimuth": 140, "elevation": -8, "lookat": (0, 0, 0.2)}),
}


def run(models: Sequence[str], rounds: int, mitsuba: str | None = None) -> BenchmarkResult:
    """Trace paths of models on one thread.

    Args:
        models: "box", "arm" or "quadruped".
        rounds: turns, of which medians are taken.
        mitsuba: a Python that has mitsuba; None: this one, if it has it.
    """
    from ..physics.machine.runtime import init

    init(precision="32", threads=1)
    peer = _mitsuba_command(mitsuba)
    title = (
        f"Million paths for a second of one core, at {SIZE} x {SIZE} pixels with {SAMPLES} samples, up to {DEPTH - 1} "
        f"scatterings, medians of {rounds} turns; mitsuba is its scalar variant"
    )
    result = BenchmarkResult([Table(title, COLUMNS)])
    for model in models:
        row = _measured(model, rounds, peer if model == "box" else None)
        result.tables[0].rows.append(row)
        if row["ratio"] is not None:
            result.verdicts.append(Verdict(f"{model}: paths over mitsuba's", row["ratio"], FASTER))
    if peer is None:
        result.notes.append("mitsuba is not installed: pip install mitsuba, or name a Python that has it (--mitsuba)")
    return result


def _measured(model: str, rounds: int, peer: list[str] | None) -> dict[str, Any]:
    """Return the row of a model."""
    from .pictures_job import Poses

    source = Poses(_model(model), 1)
    film = _tracer(model, source.model).expose(source, samples=1)
    paths = SIZE * SIZE * SAMPLES / 1e6
    turns: list[Any] = []
    for _ in range(rounds):
        clock, busy = time.perf_counter(), time.process_time()
        film.add(SAMPLES)
        turns.append((paths / (time.process_time() - busy), paths / (time.perf_counter() - clock), _of_mitsuba(peer)))
    own, of_clock, others = zip(*turns, strict=True)
    other = None if peer is None else median(others)
    return {
        "model": model,
        "geoms": int(source.model.mj.ngeom),
        "million paths/s": median(own),
        "of the clock": median(of_clock),
        "mitsuba": other,
        "ratio": median(own) / other if other else None,
        "mean light": float(film.light.mean()),
    }


def _model(name: str) -> mujoco.MjModel:
    """Return a model by its name."""
    from .. import assets

    if name == "box":
        return mujoco.MjModel.from_xml_string(BOX)
    return mujoco.MjModel.from_xml_path(str(assets.find(_ROBOTS[name][0])))


def _tracer(name: str, model: Any) -> Any:
    """Return the path tracer of a model."""
    from ..physics.rendering import Camera, Look, PathTracer

    settings: dict[str, Any] = {"bounces": DEPTH - 1, "denoise": False, "progress": False}
    if name == "box":
        settings |= {"environment": (0, 0, 0), "clamp": 0.0, "look": Look(**PLAIN), "camera": Camera(**CAMERA)}
    else:
        settings |= {"camera": Camera(**_ROBOTS[name][1], fovy=36)}
    return PathTracer(model, SIZE, SIZE, **settings)


def _mitsuba_command(python: str | None) -> list[str] | None:
    """Return the command of the program for mitsuba, in a named Python or this one; None if it cannot be run."""
    if python is not None:
        return [python, str(Path(__file__).with_name("mitsuba_box.py")), "speed"]
    return module_command(f"{__package__}.mitsuba_box", "speed") if importlib.util.find_spec("mitsuba") else None


def _of_mitsuba(command: list[str] | None) -> float | None:
    """Return million paths for a second of one core in mitsuba's box, in a separate process; None without it."""
    if command is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["busy"])
