"""The GPU driver on a GPU: the numbers of a processor and of MuJoCo, in both precisions.

    python -m tests.cuda.on_device --json parity.json

Every model and precision is a process of its own with a time limit, as an error leaves a GPU's context useless; what
fails is a row with its error. `--device cpu` runs the same in the driver's columns on the processor, `emulated` under
`python -m tests.cuda.emulation FOLDER python -m tests.cuda.on_device --device emulated`. Exit status 1 if anything
is beyond its tolerance or failed.

1. Steps, each from the state that a processor with one lane was in: qpos and qvel against that processor's.
2. Every field of an evaluation, and a step by each integrator, against MuJoCo: tests/physics/parity.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .test_solver import DOUBLE, SINGLE_QPOS, SINGLE_QVEL

ROOT = Path(__file__).parents[2]
MODELS = (
    "gymnasium ant",
    "gymnasium humanoid",
    "free_bodies",
    "limits_ball",
    "actuators",
    "capsules",  # in a bin, by conjugate gradients: against the processor alone
    "condim_6",
    "impedance",  # of mixed precision in 32 bits
)
"""One after another, so that each new kernel is compiled once: plain, ball joints, conjugate gradients, hulls."""
NUM_ENVS, SUBSTEPS, SETTLING = 256, 2, 50
LIMITS = {"64": {"qpos": DOUBLE, "qvel": DOUBLE}, "32": {"qpos": SINGLE_QPOS, "qvel": SINGLE_QVEL}}
"""As in the emulation, for each number, relative to itself where it is larger than one."""
LONGEST = 300.0
"""Seconds that a process may take: one that hangs leaves time to the others."""
BEYOND = 0.01
"""Share of the environments' steps that may be beyond them: at the edge of a contact a rounding decides."""


def main() -> int:
    """Command line; see the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu", "emulated"), default="cuda")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS, metavar="MODEL")
    parser.add_argument("--precisions", nargs="+", default=("32", "64"), choices=("32", "64"))
    parser.add_argument("--states", type=int, default=200, help="of each model, against MuJoCo")
    parser.add_argument("--steps", type=int, default=25, help=f"of {NUM_ENVS} environments, against the processor")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side; most of their time is compiling")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds after which nothing more begins")
    parser.add_argument("--json", type=Path, help="also write all rows to this file, after each model")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.child:
        print(json.dumps(prove(wanted.models[0], wanted.precisions[0], wanted.device, wanted.states, wanted.steps)))
        return 0
    if wanted.device == "cuda" and not torch.cuda.is_available():
        print("error: torch finds no GPU; --device cpu tries this out on the processor", file=sys.stderr)
        return 2
    return _prove_all(wanted)


def _prove_all(wanted: argparse.Namespace) -> int:
    """Every model in every precision; prints and saves as it goes."""
    rows: list[dict[str, Any]] = []
    until = time.monotonic() + wanted.limit
    names, precisions = zip(*itertools.product(wanted.models, wanted.precisions), strict=True)
    with ThreadPoolExecutor(wanted.jobs) as pool:
        for row in pool.map(lambda *proof: _child(*proof, wanted, until), names, precisions):
            rows.append(row)
            print(_text(row), flush=True)
            if wanted.json:
                wanted.json.parent.mkdir(parents=True, exist_ok=True)
                wanted.json.write_text(json.dumps({"device": wanted.device, "rows": rows}, indent=1) + "\n")
    bad = [f"{row['model']} {row['precision']}" for row in rows if row.get("error") or row["wrong"]]
    print(f"{len(rows)} proofs, {len(bad)} failed: {', '.join(bad) or 'none'}")
    return 1 if bad else 0


def _child(name: str, precision: str, wanted: argparse.Namespace, until: float) -> dict[str, Any]:
    """The row of a model, or why there is none."""
    head, seconds = {"model": name, "precision": precision, "wrong": []}, min(LONGEST, until - time.monotonic())
    if seconds <= 0:
        return {**head, "error": "left out: the time of this run is over"}
    command = [sys.executable, "-m", __spec__.name, "--child", "--device", wanted.device, "--models", name]
    command += ["--precisions", precision, "--states", str(wanted.states), "--steps", str(wanted.steps)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {**head, "error": f"took more than {seconds:.0f} s"}
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
        return {**head, "error": lines[-1][:300]}
    return json.loads(done.stdout.splitlines()[-1])


def prove(name: str, precision: str, device: str, states: int, steps: int) -> dict[str, Any]:
    """Both comparisons for one model, in this process."""
    begun = time.perf_counter()
    row: dict[str, Any] = {"model": name, "precision": precision, "wrong": []}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "steps.pt")
        torch.save(processor_steps(name, precision, steps), kept)
        begin(device, precision)
        compare_with_processor(row, name, torch.load(kept), LIMITS[precision])
    if name != "capsules":
        compare_with_mujoco(row, name, precision, states)
    row["seconds"] = round(time.perf_counter() - begun, 1)
    return row


def begin(device: str, precision: str) -> None:
    """Start Taichi for the GPU driver."""
    import tumble
    from tumble.physics.machine.runtime import init_columns

    if device == "cuda":
        tumble.init("cuda", precision=precision)
    else:
        init_columns(arch="cuda" if device == "emulated" else "cpu", precision=precision)


def make_solver(name: str) -> Any:
    """A solver of a model by its name."""
    from tumble.physics import Model, RigidSolver

    from ..physics.parity.catalogue import load
    from .test_solver import MODELS as OWN

    model = OWN[name]() if name in OWN else Model.from_mjmodel(load(name))
    return RigidSolver(model, NUM_ENVS)


def processor_steps(name: str, precision: str, steps: int) -> list[tuple[Any, ...]]:
    """States before each of some steps, the controls, and where one lane of a processor gets."""
    import tumble
    from tumble.benchmarks.scenes import shake

    tumble.init(precision=precision, lanes=1)
    solver = make_solver(name)
    rng, found = np.random.default_rng(0), []
    shake(solver)
    solver.step(SETTLING)
    for _ in range(steps):
        before, ctrl = solver.state_dict(), torch.as_tensor(rng.uniform(-1, 1, (NUM_ENVS, solver.model.mj.nu)))
        solver.ctrl = ctrl
        solver.step(SUBSTEPS)
        found.append((before, ctrl, solver.coordinates()))
    return found


def compare_with_processor(
    row: dict[str, Any], name: str, steps: list[tuple[Any, ...]], limits: dict[str, float]
) -> None:
    """Take the same steps here; put the distribution of errors into the row, and what is beyond its limit."""
    solver = make_solver(name)
    nq = solver.model.mj.nq
    errors: dict[str, list[np.ndarray]] = {"qpos": [], "qvel": []}
    faults = 0
    for before, ctrl, reached in steps:
        solver.load_state_dict(before)
        solver.ctrl = ctrl.to(solver.device)
        solver.step(SUBSTEPS)
        found, reached = solver.coordinates().cpu().double(), reached.double()
        error = ((found - reached).abs() / reached.abs().clamp(min=1.0)).nan_to_num(nan=torch.inf)
        for part, columns in (("qpos", error[:, :nq]), ("qvel", error[:, nq:])):
            errors[part].append(columns.amax(1).numpy())
        faults += int((solver.faults != 0).sum())
    row["processor"] = {"steps": len(steps) * NUM_ENVS, "faults": faults}
    for part, found in errors.items():
        every = np.concatenate(found)
        middle, high, most = (float(np.quantile(every, q, method="higher")) for q in (0.5, 0.99, 1.0))
        beyond = float(np.mean(every > limits[part]))
        row["processor"][part] = {"median": middle, "99 %": high, "largest": most, "beyond": beyond}
        if beyond > BEYOND:
            row["wrong"].append(f"{part}: {beyond:.1%} beyond {limits[part]:.0e}")
    solver.close()


def compare_with_mujoco(row: dict[str, Any], name: str, precision: str, states: int) -> None:
    """The parity suite's comparison, in the runtime that there is."""
    from ..physics.parity.catalogue import load
    from ..physics.parity.report import columns
    from ..physics.parity.run import run_parity
    from ..physics.parity.subjects import Tumble

    report = run_parity(name, load(name), Tumble, precision, states)
    row["MuJoCo"] = {"states": states, "constrained": report.active, **columns(report)}
    row["wrong"] += [f"{field}: {error:.1e} in state {state}" for field, (error, state) in report.failures.items()]


def _text(row: dict[str, Any]) -> str:
    """A row in words."""
    title = f"{row['model']}, {row['precision']} bits"
    if row.get("error"):
        return f"ERROR {title}: {row['error']}"
    lines = [f"{'WRONG' if row['wrong'] else 'ok   '} {title}, {row['seconds']} s"]
    for part in ("qpos", "qvel"):
        figures = row["processor"][part]
        lines.append(f"      {part} against a processor: " + ", ".join(f"{k} {v:.1e}" for k, v in figures.items()))
    if "MuJoCo" in row:
        errors = {k: v for k, v in row["MuJoCo"].items() if k not in ("states", "constrained")}
        lines.append("      against MuJoCo: " + ", ".join(f"{k} {v:.0e}" for k, v in errors.items()))
    return "\n".join([*lines, *(f"      {what}" for what in row["wrong"])])


if __name__ == "__main__":
    sys.exit(main())
