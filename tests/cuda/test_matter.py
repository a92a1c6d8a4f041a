"""Matter on an emulated GPU, and with its tensors on another device than the processor."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tumble.soft import MPMSolver

from ..physics.starts import run_in_columns, run_with
from ..soft.test_gpu_launch import CLOSE, DENSITY, DT, MATERIALS, block, scatter, touch, two_geoms
from .emulation import Emulation, why_not
from .far_device import NAME, waits
from .ptxas import ptxas_report

ROOT = Path(__file__).parents[2]
STEPS = 20
ARGUMENTS = 512  # bytes: the addresses and shapes of a kernel's arrays, and its numbers
PROGRAM = """
import sys, torch
sys.path.insert(0, sys.argv.pop(1))
from tests.cuda.test_matter import life
from tumble.physics.machine.runtime import init_columns
init_columns(arch="cuda")
torch.save(life(), sys.argv[1])
"""


def life():
    """Return what becomes of some particles of two materials at a static box and a ball that recoils."""
    matters = [
        block(MATERIALS["liquid"], (0.4, 0.45, 0.2), n=5),
        block(MATERIALS["sand"], (0.55, 0.45, 0.22), n=4),
    ]
    solver = MPMSolver(matters, 2, (0, 0, 0), (1, 1, 1), DENSITY, DT)
    scatter(solver)
    touched = touch(solver, two_geoms())
    solver.set("vel", 1e5, envs_idx=[1])
    solver.step(STEPS)
    solver.step(1)
    found = {name: solver.get(name, [0]) for name in ("pos", "vel", "C", "strain", "volume")}
    return found | {"wrenches": touched.wrenches[:1].clone(), "faults": solver.faults}


@pytest.mark.long
@pytest.mark.usefixtures("afterwards")
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_matter_is_a_processors_but_for_rounding(tmp_path):
    """And its launches copy nothing but arguments, and wait for nothing; the faulty environment stops there, too.

    All kernels fit into a GPU's registers, if NVIDIA's assembler is there to say so.
    """
    run_with("32")
    expected = life()
    done = Emulation(tmp_path).run(PROGRAM, ROOT, tmp_path / "found.pt")
    found = torch.load(tmp_path / "found.pt")
    assert found["faults"].tolist() == expected["faults"].tolist() == [0, 1]
    assert found["wrenches"].abs().max() > 1e-3
    for name, close in CLOSE.items():
        error = float((found[name] - expected[name]).abs().max() / expected[name].abs().max())
        print(f"{name} {error:.1e}")
        assert error <= close, name
    ours = [
        i for i, call in enumerate(done.log) if call["kind"] == "launch" and call["kernel"].startswith("from_grid_")
    ]
    between = done.log[ours[2] : ours[-3]]  # both kernels of the second substep, by which all are compiled, to the last
    assert {call["stream"] for call in between if call["kind"] == "launch"} == {0}
    assert not [call for call in between if call["kind"] == "synchronize"]
    copies = [call for call in between if call["kind"] == "copy"]
    assert all(copy["direction"] == "HtoD" and copy["bytes"] <= ARGUMENTS for copy in copies)
    for module in done.modules[1:]:  # the first one is Taichi's
        usages = ptxas_report(module, 90) or {}
        assert not any(usage.spill_stores for usage in usages.values()), usages


def test_matter_on_another_device_has_the_bits_of_the_processor(far):
    """And steps wait for nothing."""
    found = []
    for device in ("cpu", NAME):
        run_in_columns(device=device)
        found.append({name: x.cpu() for name, x in life().items()})
    assert all(torch.equal(one, found[1][name]) for name, one in found[0].items())
    solver = MPMSolver([block(MATERIALS["liquid"], (0.4, 0.4, 0.2), n=4)], 2, (0, 0, 0), (1, 1, 1), DENSITY, DT)
    touch(solver, two_geoms())
    solver.step(1)
    waits.clear()
    for _ in range(3):
        solver.step(2)
    assert not waits and solver.pos.device.type == NAME and np.isfinite(solver.pos.cpu().numpy()).all()
