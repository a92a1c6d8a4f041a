"""The GPU driver on an emulated GPU: it computes what a processor does, and asks the host for nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tumble.benchmarks.models import load
from tumble.benchmarks.scenes import CAPSULE, pile, shake
from tumble.physics import Model, RigidSolver

from ..physics.starts import run_with
from .emulation import Emulation, why_not

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("afterwards"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

ROOT = Path(__file__).parents[2]
NUM_ENVS, STEPS, SUBSTEPS = 6, 25, 2
DOUBLE = 1e-12
"""Of a step in double precision: the same operations, but for fused multiplications and sums."""
SINGLE_QPOS, SINGLE_QVEL = 1e-6, 1e-4
"""Of a step in single precision, where a GPU also divides approximately and flushes denormals: each number, relative to
itself where it is larger than one."""

ARGUMENTS = 512  # bytes: the addresses and shapes of a kernel's arrays

SHAPES = """<mujoco><asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .15 .1 .15 .1"/></asset><worldbody>
  <geom type="box" size="1 1 .1" pos="0 0 -.1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .12 .08"/></body>
  <body pos=".05 .02 .3" euler="3 5 8"><freejoint/><geom type="cylinder" size=".09 .1"/></body>
  <body pos=".5 0 .1" euler="10 20 30"><freejoint/><geom type="mesh" mesh="wedge"/></body>
  <body pos=".52 .02 .4" euler="30 20 30"><freejoint/><geom type="ellipsoid" size=".08 .1 .12"/></body>
</worldbody></mujoco>"""
RINGS = """<mujoco><asset><mesh name="ring" builtin="supertorus" params="24 .3 1 1" scale=".1 .1 .1"/></asset>
<option gravity="0 0 0"/><worldbody>
  <geom type="sdf" mesh="ring" euler="10 20 30"/>
  <body pos=".08 0 .05" euler="80 0 0"><freejoint/><geom type="sdf" mesh="ring"/></body>
  <body pos="-.08 .02 0"><freejoint/><geom type="box" size=".03 .05 .02"/></body>
</worldbody></mujoco>"""
"""Without weight nothing lies on mirror images of points, between which rounding would choose."""
HILLS = """<mujoco><asset><hfield name="hills" nrow="5" ncol="6" size=".5 .5 .08 .1"
  elevation="1 3 2 5 1 4  2 6 1 2 7 3  5 1 4 2 1 6  3 2 7 1 5 2  1 4 2 6 3 1"/></asset><worldbody>
  <geom type="hfield" hfield="hills"/>
  <body pos="-.3 -.2 .17"><freejoint/><geom size=".08"/></body>
  <body pos="0 .1 .17" euler="80 10 0"><freejoint/><geom type="capsule" size=".05 .1"/></body>
  <body pos=".25 -.1 .17" euler="5 10 20"><freejoint/><geom type="box" size=".1 .07 .04"/></body>
</worldbody></mujoco>"""
MODELS = {
    "ant": lambda: load("Ant"),
    "humanoid": lambda: load("Humanoid"),
    "capsules": lambda: Model.from_mjspec(
        pile(CAPSULE, [0.06, 0.05, 0], 8), solver="cg", tolerance=1e-14, iterations=300
    ),  # at their default tolerance, conjugate gradients end where rounding has led them
    "hills": lambda: Model.from_mjcf(HILLS),  # a height field
    "rings": lambda: Model.from_mjcf(RINGS),  # distance fields
    "shapes": lambda: Model.from_mjcf(SHAPES),  # closed forms of boxes, and GJK with EPA
}
PROGRAM = """
import sys, torch
sys.path.insert(0, sys.argv.pop(1))
from tests.cuda.test_solver import MODELS, NUM_ENVS, SUBSTEPS
from tumble.physics import RigidSolver
from tumble.physics.machine.runtime import init_columns
name, precision, folder = sys.argv[1:]
init_columns(arch="cuda", precision=precision)
solver = RigidSolver(MODELS[name](), NUM_ENVS, ("xpos",))
print("made", flush=True)
found = []
for before, ctrl, _ in torch.load(f"{folder}/steps.pt"):
    solver.load_state_dict(before)
    solver.ctrl = ctrl
    solver.step(SUBSTEPS)
    found.append((solver.state_dict(), solver.get("xpos"), solver.coordinates()))
torch.save(found, f"{folder}/found.pt")
"""


def reference_steps(name, precision):
    """States before each of some steps, the controls, and where a processor gets: (qpos, qvel) and xpos."""
    run_with(precision)
    solver = RigidSolver(MODELS[name](), NUM_ENVS, ("xpos",))
    rng, found = np.random.default_rng(0), []
    shake(solver)
    solver.step(50)
    for _ in range(STEPS):
        before, ctrl = solver.state_dict(), torch.as_tensor(rng.uniform(-1, 1, (NUM_ENVS, solver.model.mj.nu)))
        solver.ctrl = ctrl
        solver.step(SUBSTEPS)
        found.append((before, ctrl, (solver.coordinates(), solver.get("xpos"))))
    return found, solver.model.mj.nq


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("ant", "64"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("capsules", "64"), ("humanoid", "32"), ("shapes", "64"), ("rings", "64"), ("hills", "64"))
        ),
    ],
)
def test_a_step_is_that_of_a_processor(name, precision, tmp_path):
    """From the same states; and a step copies, allocates and waits for nothing but the kernel's few arguments."""
    steps, nq = reference_steps(name, precision)
    torch.save(steps, tmp_path / "steps.pt")
    done = Emulation(tmp_path).run(PROGRAM, ROOT, name, precision, tmp_path)
    worst_qpos = worst_qvel = 0.0
    for (_, _, (coordinates, xpos)), (_, found_xpos, found) in zip(
        steps, torch.load(tmp_path / "found.pt"), strict=True
    ):
        error = (found - coordinates).abs() / coordinates.abs().clamp(min=1.0)
        worst_qpos = max(worst_qpos, float(error[:, :nq].max()), float((found_xpos - xpos).abs().max()))
        worst_qvel = max(worst_qvel, float(error[:, nq:].max()))
    print(f"{name} {precision}: qpos {worst_qpos:.1e}, qvel {worst_qvel:.1e}")
    assert worst_qpos < (DOUBLE if precision == "64" else SINGLE_QPOS)
    assert worst_qvel < (DOUBLE if precision == "64" else SINGLE_QVEL)
    ours = [i for i, call in enumerate(done.log) if call["kind"] == "launch" and call["kernel"].startswith("run_")]
    between = done.log[ours[0] : ours[-1] + 1]
    launches = [call for call in between if call["kind"] == "launch"]
    launched = 1 + STEPS  # the first time for nothing: Taichi loads the code
    assert len(launches) == len(ours) == 2 * launched and {call["stream"] for call in launches} == {0}
    assert not [call for call in between if call["kind"] == "synchronize"]
    copies = [call for call in between if call["kind"] == "copy"]
    assert all(copy["direction"] == "HtoD" and copy["bytes"] <= ARGUMENTS for copy in copies)
    assert len(copies) < launched
