"""Train DroneHover by SHAC and by the packaged PPO; draw and print when they reach which returns.

Runs are kept in the folder `shac_beside_ppo` and not repeated. One thread each, one after the other.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

HERE, RUNS = Path(__file__).resolve().parent, Path("shac_beside_ppo")
RETURNS = (100, 130, 136, 138)
"""Returns whose times are printed."""

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
parser.add_argument("--quick", action="store_true", help="a few steps, to try the program")
asked = parser.parse_args()

PPO = ["tumble", "train", "DroneHover", "--option", "rotor_drag=false", "--no-progress"]
STEPS = {"PPO, as packaged": 1_507_328, "PPO, four times the steps": 6_029_312}


def command(name: str, seed: int, folder: Path) -> list[str]:
    """The command that trains one run."""
    if name == "SHAC":
        updates = ["--updates", "2", "--evaluate-every", "1"] if asked.quick else []
        return [sys.executable, str(HERE / "shac.py"), "--seed", str(seed), *updates]
    steps = 16_384 if asked.quick else STEPS[name]
    settings = (f"seed={seed}", f"total_steps={steps}", f"evaluation.every_steps={steps // 15}")
    return [*PPO, "--out", str(folder), *(word for setting in settings for word in ("--set", setting))]


def curve(name: str, seed: int) -> np.ndarray:
    """The learning curve of a run, (evaluations, 2): seconds of the processor and mean return."""
    folder = RUNS / f"{name} {seed}"
    lines = folder / "evaluations.jsonl"
    if not lines.exists():
        folder.parent.mkdir(exist_ok=True)
        one_thread = os.environ | {"TUMBLE_THREADS": "1"}
        done = subprocess.run(command(name, seed, folder), env=one_thread, check=True, stdout=subprocess.PIPE)
        if name == "SHAC":
            folder.mkdir()
            lines.write_bytes(done.stdout)
    return np.array([(row["cpu_seconds"], row["mean"]) for row in map(json.loads, lines.open())])


def reached(seconds: np.ndarray, means: np.ndarray, wanted: float) -> str:
    """The seconds after which a return is first reached, or a dash."""
    there = means >= wanted
    return f"{seconds[there.argmax()]:.1f}" if there.any() else "-"


figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for name, color in zip(("SHAC", *STEPS), ("C0", "C1", "C2"), strict=True):
    curves = [curve(name, seed) for seed in asked.seeds]
    for number, (seconds, means) in enumerate(each.T for each in curves):
        axes.plot(seconds, means, color=color, label=None if number else name)
    for wanted in RETURNS:
        print(f"{name}, {wanted}:", *(reached(*each.T, wanted) for each in curves))
    ends = [each[-1] for each in curves]
    print(f"{name}, at the end:", *(f"{mean:.1f} after {seconds:.0f} s" for seconds, mean in ends), flush=True)
axes.set(title="DroneHover without drag of rotors", xlabel="seconds of one core", ylabel="return", ylim=(0, 145))
axes.grid(alpha=0.3)
axes.legend(loc="lower right")
figure.savefig("shac.png", dpi=90)
