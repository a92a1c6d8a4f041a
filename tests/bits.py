"""SHA-256 of what tasks, models and scenes compute: the judge of changes that must keep all bits.

    python -m tests.bits --save before.json             # in the state before
    python -m tests.bits --compare before.json          # after: prints what differs, and exits with 1 if something does

Every task takes random actions, every model of `tests/models` random controls, and every scene of the benchmarks its
start: 200 steps, in four environments, in both precisions. Each entry is hashed in a process for one precision. A name
or a part of one limits the run: `python -m tests.bits --only Ant`.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch

import tumble
from tumble.benchmarks.models import SETTINGS, random_controls
from tumble.benchmarks.scenes import SCENES, shake
from tumble.envs.registry import TASKS
from tumble.physics import Model, RigidSolver

from .models.purpose import MODELS
from .widths import WIDTH

STEPS, ENVS = 200, 4
PRECISIONS = "32", "64"


def entries() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of everything that is hashed, and the function that hashes it."""
    for name in sorted(f"tumble/{task}-v0" for task in TASKS):  # those of suites need packages
        yield name, partial(hash_of_task, name)
    for purpose in MODELS:
        yield f"model {purpose.name}", partial(_hash_of_file, str(purpose.path), purpose.options)
    for name, scene in SCENES.items():
        yield f"scene {name}", partial(_hash_of_spec, scene)


def hash_of_task(name: str) -> str:
    """Return the hash of observations, rewards and ends of a task at random actions."""
    envs = tumble.make_vec(name, ENVS)
    digest = hashlib.sha256()
    observation, _ = envs.reset(seed=0)
    envs.action_space.seed(0)
    _add(digest, observation)
    for _ in range(STEPS):
        _add(digest, envs.step(envs.action_space.sample())[:4])
    _add(digest, envs.unwrapped.solver.coordinates())
    envs.close()
    return digest.hexdigest()


def _hash_of_file(path: str, options: dict[str, object]) -> str:
    return hash_of_solver(RigidSolver(Model.from_mjcf(path, **options), ENVS))


def _hash_of_spec(scene) -> str:
    solver = RigidSolver(Model.from_mjspec(scene.build(), **SETTINGS | {"solver": "auto"}), ENVS)
    if scene.begin is None and not solver.model.mj.nu:
        shake(solver)
    return hash_of_solver(solver)


def hash_of_solver(solver: RigidSolver) -> str:
    """Return the hash of coordinates, accelerations and sensors at random controls."""
    digest = hashlib.sha256()
    for controls in random_controls(solver.model, ENVS, STEPS, seed=0):
        if solver.model.mj.nu:
            solver.ctrl = controls
        solver.step()
        _add(digest, solver.coordinates())
    _add(digest, [solver.get("qacc"), solver.sensordata, solver.faults])
    return digest.hexdigest()


def _add(digest, value) -> None:
    """Add tensors and arrays, in collections too."""
    if isinstance(value, dict):
        value = [item for pair in sorted(value.items()) for item in pair[1:]]
    if isinstance(value, list | tuple):
        for item in value:
            _add(digest, item)
    else:
        digest.update(torch.as_tensor(value).cpu().contiguous().numpy().tobytes())


def hash_all(precision: str, only: str, path: Path) -> None:
    """Write the hash, or the error, of every entry whose name has `only` in it, in one precision."""
    tumble.init(precision=precision, lanes=WIDTH)
    hashes = {}
    for name, function in entries():
        if only in name:
            try:
                hashes[f"{name}, {precision}"] = function()
            except Exception as error:  # one that stays the same is a result too
                hashes[f"{name}, {precision}"] = f"{type(error).__name__}: {error}".splitlines()[0]
            print(name, precision, hashes[f"{name}, {precision}"][:60], flush=True)
            path.write_text(json.dumps(hashes, indent=1) + "\n")


def main() -> int:
    """Hash everything, and save or compare it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the hashes")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with hashes that were saved")
    parser.add_argument("--only", default="", metavar="TEXT", help="entries whose names have this text in them")
    parser.add_argument("--precision", choices=PRECISIONS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.precision:
        hash_all(given.precision, given.only, given.save)
        return 0
    hashes = {}
    with tempfile.TemporaryDirectory() as folder:
        for precision in PRECISIONS:
            path = Path(folder) / f"{precision}.json"
            command = [sys.executable, "-m", "tests.bits", "--precision", precision, "--only", given.only]
            subprocess.run([*command, "--save", path], check=True)
            hashes |= json.loads(path.read_text())
    if given.save:
        given.save.write_text(json.dumps(hashes, indent=1) + "\n")
    before = json.loads(given.compare.read_text()) if given.compare else {}
    differing = [name for name, value in hashes.items() if before.get(name, value) != value]
    compared = len(before.keys() & hashes.keys())
    print(f"{len(hashes)} entries, {compared} compared, {len(differing)} differ", *differing, sep="\n")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
