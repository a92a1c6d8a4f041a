"""The command line of the benchmarks: `tumble bench NAME [options]`. One row here for each benchmark.

Benchmarks are imported when they are chosen, so that help is quick and a child process measures only itself.
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..physics.machine.children import python_command
from ..physics.machine.cores import usable_cores
from ..physics.machine.libraries import let_idle_threads_sleep
from ..physics.machine.waiting import Waiting, importing, show_what_is_waited_for
from . import history
from .results import BenchmarkResult, Unavailable, conditions, save

GPU_PARTS = ("device", "start", "physics", "envs", "matter", "learn", "peer")
QUIET = 0.05
"""Share of the cores' time that others may use while speeds are measured."""
UNTOLD = 10.0
"""Seconds after which a benchmark is reported to be at work."""
COMPARED = ("Ant", "HalfCheetah", "Humanoid", "Hopper")
SCENES = (
    *(
        "boxes-30",
        "spheres-27",
        "spheres-64",
        "capsules-27",
        "bin-boxes-27",
        "bin-boxes-64",
        "bin-hulls-27",
        "bin-rings-27",
    ),
    *("arm-hulls", "quadruped-boxes", "hand-tendons", "biped-closed", "arm-welded", "pyramid-55"),
    *("humanoids-3", "humanoids-10", "chain-100", "quadruped-rough", "quadruped-rough-2000", "humanoid-rough"),
)
SINGLE = (
    *("Hopper", "Walker2d", "Ant", "Humanoid", "HalfCheetah", "Swimmer", "HumanoidStandup"),
    *("Pusher", "Reacher", "InvertedPendulum", "InvertedDoublePendulum"),
)
TASKS = (
    *("QuadrupedFlat", "QuadrupedRough", "QuadrupedStairs", "QuadrupedGetUp", "BipedFlat", "BipedRough"),
    *("ArmReach", "ArmPush", "ArmPickCube", "ArmStackCubes", "ArmOpenDrawer", "ArmPegInHole"),
    *("HandReorientCube", "Pour", "Scoop", "Knead", "DroneHover", "DroneWaypoints"),
    *("CartPoleBalance", "CartPoleSwingUp", "PendulumSwingUp", "AcrobotSwingUp", "FingerSpin", "BallInCup"),
    *("PointMass", "ReacherHard", "WalkerWalk", "WalkerRun", "CheetahRun", "FishSwim"),
)
_ROBOTICS = (
    "FetchReach-v4",
    "FetchPush-v4",
    "FetchSlide-v4",
    "FetchPickAndPlace-v4",
    "PointMaze_UMaze-v3",
    "AdroitHandDoor-v1",
    "AdroitHandHammer-v1",
    "AdroitHandPen-v1",
    "AdroitHandRelocate-v1",
    "HandReach-v3",
    "HandManipulateBlock-v1",
    "HandManipulateEgg-v1",
    "HandManipulatePen-v1",
    "FrankaKitchen-v1",
)
_METAWORLD = (
    "reach",
    "push",
    "pick-place",
    "door-open",
    "drawer-open",
    "drawer-close",
    "button-press-topdown",
    "peg-insert-side",
    "window-open",
    "window-close",
)
_MYO = (
    "HandReachRandom",
    "HandPoseRandom",
    "HandKeyTurnRandom",
    "HandObjHoldRandom",
    "HandPenTwirlRandom",
    "ElbowPose1D6MRandom",
    "LegStandRandom",
    "LegWalk",
)
OF_SUITES = (
    "dm_control",
    *(f"gymnasium_robotics/{name}" for name in _ROBOTICS),
    *(f"metaworld/{name}-v3" for name in _METAWORLD),
    *(f"myosuite/myo{name}-v0" for name in _MYO),
)
SOAKED = ("Humanoid", "arm-hulls", "quadruped-boxes")
OF_SOLVERS = (
    *(f"chain-{n}" for n in (14, 30, 60, 100, 200, 400)),
    *(f"ants-{n}" for n in (1, 4, 8, 16, 28)),
    *(f"humanoids-{n}" for n in (1, 3, 10, 16)),
    *(f"spheres-{n}" for n in (4, 8, 16, 27, 64)),
    *(f"boxes-{n}" for n in (4, 8, 16, 27, 64)),
)


class Benchmark(NamedTuple):
    """One subcommand: a module whose `run` takes the options of `defaults` and returns a `BenchmarkResult`."""

    help: str
    module: str
    defaults: dict[str, Any]


BENCHMARKS = {
    "physics": Benchmark(
        "physics steps against mujoco.rollout",
        "physics",
        {"models": COMPARED, "num_envs": 1024, "steps": 50, "rounds": 5, "threads": usable_cores()},
    ),
    "scenes": Benchmark(
        "physics steps of piles, several robots in one file and a long chain, against mujoco.rollout",
        "scenes",
        {"models": SCENES, "num_envs": 128, "steps": 20, "rounds": 5, "threads": usable_cores()},
    ),
    "envs": Benchmark(
        "environment steps against envpool and Gymnasium's SyncVectorEnv",
        "envs",
        {"models": COMPARED, "num_envs": 1024, "steps": 20, "rounds": 5, "threads": usable_cores()},
    ),
    "single": Benchmark(
        "one environment against Gymnasium's own",
        "single",
        {
            "models": SINGLE,
            "steps": 500,
            "rounds": 5,
        },
    ),
    "tasks": Benchmark(
        "environment steps of Tumble's own tasks; the physics of their robots against mujoco.rollout",
        "tasks",
        {"models": TASKS, "num_envs": 1024, "steps": 20, "rounds": 5, "threads": usable_cores()},
    ),
    "suites": Benchmark(
        "environment steps of other projects' suites, beside EnvPool's",
        "suites",
        {"models": OF_SUITES, "num_envs": 256, "steps": 20, "rounds": 3, "envpool": ""},
    ),
    "learn": Benchmark(
        "environment steps while PPO learns, beside Stable-Baselines3's own vector environments",
        "learning",
        {"models": ("Ant", "HalfCheetah", "Hopper"), "rounds": 3, "threads": usable_cores()},
    ),
    "duels": Benchmark(
        "seconds of training to a score, beside Stable-Baselines3 and a single file of torch",
        "duels",
        {"models": ("HalfCheetah", "Ant"), "limit": 300.0, "threads": 1, "seed": 0},
    ),
    "update": Benchmark(
        "minibatches of PPO in compiled code, beside LeanPPO and a core's peak", "update", {"rounds": 5}
    ),
    "processes": Benchmark(
        "one run by two processes of this machine beside one; clusters simulated",
        "processes",
        {"models": ("QuadrupedFlat", "BipedRough", "ArmPickCube", "HandReorientCube"), "rounds": 3},
    ),
    "pictures": Benchmark(
        "frames a second beside mujoco.Renderer and mj_multiRay",
        "pictures",
        {
            "models": ("ant", "humanoid", "humanoid of meshes"),
            "num_envs": 256,
            "rounds": 5,
            "threads": usable_cores(),
        },
    ),
    "paths": Benchmark(
        "million paths a second of path tracing beside mitsuba",
        "path_tracing",
        {"models": ("box", "arm", "quadruped"), "rounds": 5, "mitsuba": None},
    ),
    "start": Benchmark(
        "seconds from the shell to the first step, with an empty and with a filled cache of machine code; peak memory",
        "start",
        {
            "models": ("Humanoid",),
            "batches": (1, 1024, 4096),
            "precisions": ("32", "64"),
            "rounds": 5,
            "before": None,
        },
    ),
    "lanes": Benchmark(
        "the vocabulary of lanes against one lane and numpy; kinematics to solve on a humanoid",
        "lanes",
        {"widths": (1, 4, 8, 16), "precisions": ("32", "64"), "rounds": 5},
    ),
    "setters": Benchmark(
        "setters and getters of entities: a few columns of a few environments",
        "setters",
        {"num_envs": 4096, "rounds": 5},
    ),
    "managers": Benchmark(
        "a vector step of a task with an observer, randomization, a difficulty, rays and sensors: CPU time",
        "managers",
        {"num_envs": 64, "steps": 50, "rounds": 5},
    ),
    "profile": Benchmark(
        "a physics step, stage by stage",
        "stages",
        {"models": COMPARED, "num_envs": 1024, "rounds": 5},
    ),
    "broad_phase": Benchmark(
        "how the time to find near geoms grows with their number, against MuJoCo's",
        "broad_phase",
        {"geoms": (10, 30, 100, 200, 300, 500, 1000, 2000), "num_envs": 32, "steps": 4, "rounds": 7},
    ),
    "static_geoms": Benchmark(
        "how the time of a robot's step grows with the boxes of its terrain, against a plane and MuJoCo",
        "static_geoms",
        {
            "models": ("quadruped", "humanoid"),
            "geoms": (100, 1000, 5000, 20000),
            "num_envs": 128,
            "steps": 20,
            "rounds": 7,
        },
    ),
    "ik": Benchmark(
        "inverse kinematics of an arm against numpy on MuJoCo's kinematics, and mink where it is installed",
        "inverse",
        {"targets": 10_000, "peer_targets": 200, "rounds": 3, "threads": usable_cores()},
    ),
    "gradients": Benchmark(
        "derivatives of steps against plain steps, mjd_transitionFD, and MJX on JAX where a Python has it",
        "gradients",
        {"models": ("Hopper", "Ant", "Humanoid"), "num_envs": 256, "rounds": 7, "mjx": ""},
    ),
    "matter": Benchmark(
        "particles of liquids, solids, sand and snow against Taichi's example, and Genesis where a Python has it",
        "matter",
        {"rounds": 5, "genesis": ""},
    ),
    "solvers": Benchmark(
        "conjugate gradients against Newton's method, from 14 to 400 dofs",
        "solvers",
        {"models": OF_SOLVERS, "num_envs": 64, "steps": 20, "rounds": 5},
    ),
    "soak": Benchmark(
        "a long run under controls that jump from end to end: whether something breaks or grows (Linux)",
        "soak",
        {"models": SOAKED, "num_envs": 256, "env_steps": 2_000_000, "threads": 1},
    ),
    "fuzz": Benchmark(
        "damaged models, meshes, scenes and run folders: crashes, hangs, and undocumented failures",
        "fuzz",
        {"kinds": ("mjcf", "urdf", "mesh", "scene", "run"), "cases": 300, "runs": 100, "first": 0, "seed": 0},
    ),
    "gpu": Benchmark(
        "a GPU: steps of physics, environments and training over batch sizes, starts, memory, MuJoCo Warp",
        "gpu",
        {
            "models": ("Ant", "Humanoid"),
            "batches": tuple(4**k for k in range(9)),
            "steps": 50,
            "rounds": 3,
            "device": "cuda",
            "parts": GPU_PARTS,
            "limit": 540.0,
        },
    ),
}
EVERYWHERE = [name for name in BENCHMARKS if name not in ("soak", "fuzz", "gpu", "duels")]
"""The benchmarks of `all`: speed, on any machine."""
OPTIONS: dict[str, dict[str, Any]] = {
    "models": {"nargs": "+", "help": "models or tasks"},
    "num_envs": {"type": int, "help": "environments in a batch"},
    "env_steps": {"type": int, "help": "environment steps of each model, of all environments together"},
    "kinds": {"nargs": "+", "help": "the kinds of files to damage"},
    "cases": {"type": int, "help": "damaged files of each kind but run folders"},
    "mjx": {"help": "a Python that has JAX and mujoco-mjx, such as ~/mjx/bin/python; without it they are left out"},
    "envpool": {"help": "a Python that has EnvPool, such as ~/envpool/bin/python; without it it is left out"},
    "genesis": {"help": "a Python that has Genesis, such as ~/genesis/bin/python; without it it is left out"},
    "runs": {"type": int, "help": "damaged run folders"},
    "first": {"type": int, "help": "the number of the first case"},
    "seed": {"type": int, "help": "of all damage; of learners"},
    "geoms": {"type": int, "nargs": "+", "help": "numbers of geoms"},
    "targets": {"type": int, "help": "poses to be reached"},
    "peer_targets": {"type": int, "help": "poses to be reached by peers, which take one after the other"},
    "batches": {"type": int, "nargs": "+", "help": "numbers of environments"},
    "steps": {"type": int, "help": "steps of one timed stretch"},
    "rounds": {"type": int, "help": "timed rounds, of which medians are taken"},
    "threads": {"type": int, "help": "threads of the comparison on several threads"},
    "widths": {"type": int, "nargs": "+", "help": "lanes"},
    "precisions": {"nargs": "+", "choices": ("32", "64"), "help": "bits of a number"},
    "device": {"choices": ("cuda", "cpu"), "help": "cpu: the GPU driver on the processor, to try the benchmark out"},
    "parts": {"nargs": "+", "choices": GPU_PARTS, "help": "the parts to measure"},
    "mitsuba": {"help": "a Python that has mitsuba, if this one has not"},
    "before": {"help": "folder of a checkout of another version of Tumble, to take turns with"},
    "limit": {"type": float, "help": "seconds after which nothing more begins; of duels: CPU seconds of a side"},
}


def main(args: list[str]) -> int:
    """Run the command of the arguments; prints tables, and help if there is nothing to run. Returns the exit code."""
    parser = make_parser()
    if not args:
        parser.print_help()
        return 0
    options = vars(parser.parse_args(args))
    name, path = options.pop("name"), options.pop("json", None)
    if name == "all":
        return run_all(path, options["only"], options["rounds"])
    if name == "history":
        return show_history(**options)
    with importing(f"the benchmark {name}"):
        module = importlib.import_module(f".{BENCHMARKS[name].module}", __package__)
    before = conditions(args_without_path(args))
    busy = before["machine"]["busy before"]
    if busy is not None and busy > QUIET:
        print(f"note: other processes keep this machine {busy:.0%} busy; the figures will not hold\n", flush=True)
    try:
        with Waiting(f"measuring: {BENCHMARKS[name].help}", patience=UNTOLD):
            for result in _results(module.run(**options)):
                record = {**before, "options": options, **result.record()}
                if path is not None:
                    save(path, record)
    except Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(result.text(), flush=True)
    if path is not None:
        for warning in history.add(path.parent, record):
            print(warning, flush=True)
    return 0


def _results(found: BenchmarkResult | Iterator[BenchmarkResult]) -> Iterator[BenchmarkResult]:
    """A benchmark's result; from one that takes long, its result so far, again and again."""
    if isinstance(found, BenchmarkResult):
        yield found
    else:
        yield from found


def make_parser() -> argparse.ArgumentParser:
    """The parser with a subcommand for each benchmark, and `all`."""
    parser = argparse.ArgumentParser(
        prog="tumble bench",
        description="Measure speed. Both sides of a comparison take turns in one process; figures are medians. "
        "The machine should do nothing else meanwhile.",
    )
    commands = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, row in BENCHMARKS.items():
        command = commands.add_parser(name, help=row.help, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        for option, default in row.defaults.items():
            command.add_argument(f"--{option.replace('_', '-')}", default=default, **OPTIONS[option])
        _add_json(command)
    every = commands.add_parser("all", help="all of these but duels, soak, fuzz and gpu, each in a separate process")
    every.add_argument("--only", nargs="+", choices=list(BENCHMARKS), default=EVERYWHERE, help="some of them")
    every.add_argument("--rounds", type=int, help="timed rounds of each")
    _add_json(every)
    past = commands.add_parser("history", help="the last change of each recorded quantity; a picture of them all")
    past.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; default: all")
    past.add_argument("--file", type=Path, default=history.RESULTS / history.FILE, help="the history")
    past.add_argument("--plot", type=Path, metavar="FILE.png", help="also draw it")
    return parser


def show_history(names: list[str], file: Path, plot: Path | None) -> int:
    """Print the last change of each quantity in a history of benchmarks, and warnings; draw it if `plot` is given."""
    try:
        print(history.compare(names, file, plot).text())
    except Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def run_all(path: Path | None, names: list[str], rounds: int | None) -> int:
    """Run benchmarks one after the other, each in a fresh process; one that fails does not stop the others."""
    records, failed = {}, []
    for name in names:
        print(f"\n## {name}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "result.json"
            command = [name, *(["--rounds", str(rounds)] if rounds else [])]
            shown = f"from {show_what_is_waited_for.__module__} import show_what_is_waited_for as show; show()"
            program = f"import sys; {shown}; from {__name__} import main; sys.exit(main(sys.argv[1:]))"
            code = subprocess.call(python_command(program, *command, "--json", str(part)))
            if code == 0:
                records[name] = json.loads(part.read_text(encoding="utf-8"))
            else:
                failed.append(name)
                print(f"{name} failed with exit code {code}", flush=True)
    if path is not None:
        save(path, records)
    return 1 if failed else 0


def args_without_path(args: list[str]) -> list[str]:
    """Return the arguments without the place of the JSON file."""
    kept, skip = [], False
    for arg in args:
        if skip or arg.startswith("--json="):
            skip = False
        elif arg == "--json":
            skip = True
        else:
            kept.append(arg)
    return kept


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", type=Path, metavar="FILE", help="also write everything measured to FILE")


if __name__ == "__main__":
    let_idle_threads_sleep()
    sys.exit(main(sys.argv[1:]))
