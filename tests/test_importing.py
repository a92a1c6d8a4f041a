"""Importing Tumble changes nothing in the process; torch and Taichi are loaded as they are wanted, by any door."""

import json
import os
import subprocess
import sys

import pytest

LIGHT = "import tumble, tumble.envs, tumble.physics"
HEAVY = f"{LIGHT}; tumble.envs.SimVectorEnv; tumble.physics.RigidSolver; tumble.wrappers.NormalizeReward"
WATCHED = ("TI_SKIP_VERSION_CHECK", "ENABLE_TAICHI_HEADER_PRINT", "OMP_WAIT_POLICY", "OMP_DISPLAY_ENV")
CHANGES = """
import inspect, json, os, sys, warnings
import gymnasium, numpy

def modules():
    return {name: dict(vars(module)) for name, module in sys.modules.items() if not name.endswith("__")}

def hooks():
    return list(sys.meta_path), list(sys.path_hooks), list(sys.path), sys.excepthook, list(warnings.filters)

before, variables, hooked = modules(), dict(os.environ), hooks()
exec(sys.argv[1])
after = modules()
changed = [
    f"{name}.{key}"
    for name, attributes in before.items()
    for key in {*attributes, *after[name]}
    if attributes.get(key) is not after[name].get(key)
    and not (key not in attributes and inspect.ismodule(after[name][key]))  # a package has its modules
]
print(json.dumps([changed, variables == dict(os.environ), hooked == hooks()]))
"""


def run(program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh process, in whose environment nothing is said about torch or Taichi."""
    environment = {name: value for name, value in os.environ.items() if name not in WATCHED} | variables
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_importing_sets_no_variable_and_patches_nothing():
    assert json.loads(run(CHANGES, LIGHT).stdout) == [[], True, True]


def test_the_engine_leaves_the_environment_as_it_was():
    """Torch, Taichi and MuJoCo are in the process by then, and have patched what they want."""
    _, same_variables, _ = json.loads(run(CHANGES, HEAVY).stdout)
    assert same_variables


NO_SPINNING = "GOMP_SPINCOUNT = '0'"
"""OpenMP's word for threads that sleep as soon as they are idle; it names the policy PASSIVE if there is none, too."""
DOORS = {
    "make_vec": "tumble.make_vec('Hopper')",
    "gymnasium": "import gymnasium; gymnasium.make_vec('tumble/Hopper-v0')",
    "envs": "import tumble.envs; tumble.envs.Task",
    "physics": "from tumble.physics import Model",
    "rendering": "from tumble.physics.rendering import BatchRenderer",
    "wrappers": "from tumble.wrappers import NormalizeReward",
    "training": "from contextlib import ExitStack; from tumble.training import cli; stack = ExitStack(); "
    "stack.enter_context(cli.importing('all')); import tumble.training.train; stack.close()",
}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch has another OpenMP, which prints other words")
@pytest.mark.parametrize(
    "door", [door if door in ("make_vec", "training") else pytest.param(door, marks=pytest.mark.slow) for door in DOORS]
)
def test_torchs_idle_threads_sleep(door):
    """OpenMP prints its settings while it is loaded; nothing else is printed, and nothing is set afterwards."""
    program = f"import tumble; {DOORS[door]}; import os; print({{*{WATCHED}}} & {{*os.environ}})"
    done = run(program, OMP_DISPLAY_ENV="VERBOSE")
    assert NO_SPINNING in done.stderr
    assert done.stdout == "{'OMP_DISPLAY_ENV'}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_the_users_policy_holds():
    assert NO_SPINNING not in run("import torch", OMP_DISPLAY_ENV="VERBOSE").stderr
    done = run("import tumble.envs; tumble.envs.Task", OMP_DISPLAY_ENV="VERBOSE", OMP_WAIT_POLICY="ACTIVE")
    assert "OMP_WAIT_POLICY = 'ACTIVE'" in done.stderr and NO_SPINNING not in done.stderr
