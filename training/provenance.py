"""The provenance of a run, `run.json`: versions, commit, machine, precision, command, date, resumes."""

import datetime
import json
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

from .. import __version__
from ..physics.machine.cores import usable_cores
from ..physics.machine.disk import read_regular
from ..physics.machine.machine import commit, installed_versions, processor_name
from .checkpoint import write_text_atomically
from .learning.learner import Learner
from .runs import Run

RECORD = "run.json"
PACKAGES = ("gymnasium", "llvmlite", "mujoco-core", "numpy", "sb3-contrib", "stable-baselines3", "taichi", "torch")
ROOT = Path(__file__).resolve().parents[1]
OWN_PROGRAMS = (ROOT / "__main__.py", ROOT / "training" / "cli.py")


def provenance(learner: Learner) -> dict[str, Any]:
    """Return the provenance of a run that starts now.

    `commit` is the commit of Tumble's sources, with "-dirty" if files were changed since; None if they are no clone.
    The solver's values are None if another simulator steps.
    """
    config = learner.config
    runtime = getattr(getattr(learner.bridge.envs.unwrapped, "solver", None), "runtime", None)
    solver = {name: getattr(runtime, name, None) for name in ("device", "precision", "lanes", "threads")}
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": command_line(),
        "seed": config.seed,
        "versions": {"tumble": __version__} | installed_versions(PACKAGES),
        "commit": commit(),
        "machine": {"system": platform.platform(), "processor": processor_name(), "cores": usable_cores()},
        "solver": solver,
        "learner": {"device": config.device, "threads": config.threads},
        "processes": learner.group.size,
    }


def command_line() -> str:
    """Return the command that runs, as a shell takes it; "python" for a program without a file.

    `tumble train --seeds` starts a process for each seed, whose arguments are "-c" and a command of `tumble`.
    """
    program, *arguments = sys.argv or [""]
    by_name = Path(program).name in ("tumble", "tumble.exe") or Path(program).resolve() in OWN_PROGRAMS
    if by_name or (program == "-c" and arguments[:1] == ["train"]):
        program = "tumble"
    elif program in ("", "-c"):
        program = "python"
    return shlex.join([program, *arguments])


def write_record(run: Run, learner: Learner, resumed_at: int | None) -> None:
    """Write `run.json`: a new file if training begins, else with one more entry of `resumes`, with its step."""
    path, now = run.folder / RECORD, provenance(learner)
    record = now | {"resumes": []}
    if resumed_at is not None:
        record = read_record(run) or {"resumes": []}  # runs of earlier versions have none
        record["resumes"].append({"step": resumed_at} | now)
    write_text_atomically(path, json.dumps(record, indent=2) + "\n")


def read_record(run: Run) -> dict[str, Any]:
    """Return the content of `run.json`; {} if it is missing or damaged."""
    try:
        record = json.loads(read_regular(run.folder / RECORD))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and isinstance(record.get("resumes"), list) else {}
