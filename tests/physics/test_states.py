"""Keyframes and state vectors as in MuJoCo; a file from which another process goes on to the last bit."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

from ..widths import WIDTH
from .starts import run_in_columns
from .test_inputs import COUNT, INPUTS, XML, apply, states

KEYS = """<keyframe>
<key name="home" time="0.4" qpos="1 2 3 1 0 0 0 0.3 1 0 0 0" mpos="1 2 3 4 5 6" mquat="0 1 0 0 1 0 0 0"/>
<key time="2" qvel="1 0 0 0 0 0 0.5 0 0 0"/>
</keyframe></mujoco>"""
SPECS = [mujoco.mjtState.mjSTATE_INTEGRATION, mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.mjtState.mjSTATE_USER]


@pytest.fixture
def model():
    return Model.from_mjcf(XML.replace("</mujoco>", KEYS))


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["lanes", "columns"])
def solver(model, request):
    if request.param:
        run_in_columns(precision="64")
    else:
        tumble.init(precision="64")
    return RigidSolver(model, COUNT)


def moved(solver: RigidSolver) -> None:
    """Somewhere on the way, with inputs of every kind."""
    apply(solver, states(solver.model.mj))
    solver.step(7)


@pytest.mark.parametrize("spec", SPECS)
def test_state_vectors_are_mujocos(solver, spec):
    mj, spec = solver.model.mj, int(spec)
    moved(solver)
    found = solver.mj_state(spec)
    assert found.shape == (COUNT, mujoco.mj_stateSize(mj, spec)) and found.dtype == torch.float64
    data, expected = mujoco.MjData(mj), np.zeros(found.shape[1])
    data.time = 7 * mj.opt.timestep
    for name in ("qpos", "qvel", "qacc_warmstart", "ctrl", *INPUTS):
        getattr(data, name)[:] = getattr(solver, name)[5].numpy()
    mujoco.mj_getState(mj, data, expected, spec)
    assert np.array_equal(found[5].numpy(), expected) and np.count_nonzero(expected) > 20
    other = RigidSolver(solver.model, COUNT)
    other.set_mj_state(found, spec)
    assert torch.equal(other.mj_state(spec), found)
    other.reset()
    other.set_mj_state(found[[5, 2]], spec, envs_idx=[1, 4])
    assert torch.equal(other.mj_state(spec, [1, 4]), found[[5, 2]])
    assert torch.equal(other.mj_state(spec, [0])[0, : mj.nq], RigidSolver(solver.model, 2).mj_state(spec)[0, : mj.nq])


def test_a_state_goes_on_from_where_it_was(solver):
    moved(solver)
    state = solver.mj_state()
    solver.step(5)
    other = RigidSolver(solver.model, COUNT)
    other.set_mj_state(state)
    other.step(5)
    assert torch.equal(other.mj_state(), solver.mj_state())


@pytest.mark.parametrize("key", [0, 1, "home"])
def test_keyframes_are_mujocos(solver, key):
    mj, data = solver.model.mj, mujoco.MjData(solver.model.mj)
    mujoco.mj_resetDataKeyframe(mj, data, 0 if key == "home" else key)
    mujoco.mj_forward(mj, data)
    moved(solver)
    before = solver.mj_state()
    solver.reset_to_keyframe(key, [3])
    assert solver.time[3] == pytest.approx(data.time)
    for name in ("qpos", "qvel", "ctrl", "mocap_pos", "mocap_quat", "xfrc_applied"):
        assert np.array_equal(getattr(solver, name)[3].numpy(), getattr(data, name)), name
    assert np.allclose(solver.get("xpos")[3].numpy(), data.xpos, atol=1e-14)
    others = np.arange(COUNT) != 3
    assert torch.equal(solver.mj_state()[others], before[others])


def test_another_process_goes_on_from_a_file(model, tmp_path):
    tumble.init(precision="64")
    solver, file = RigidSolver(model, COUNT), tmp_path / "state.pt"
    moved(solver)
    solver.save(file)
    program = f"""
import torch, tumble
from tumble.physics import Model, RigidSolver
tumble.init(precision="64", lanes={WIDTH})
solver = RigidSolver(Model.from_mjcf({XML.replace("</mujoco>", KEYS)!r}), {COUNT})
solver.load({str(file)!r})
solver.step(9)
solver.save({str(tmp_path / "later.pt")!r})
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    solver.step(9)
    later = torch.load(tmp_path / "later.pt", weights_only=True)["state"]
    for name, numbers in solver.state_dict().items():
        assert torch.equal(later[name], numbers), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["later.pt", "state.pt"]


def test_mistakes_are_named(model, tmp_path):
    tumble.init(precision="64")
    solver = RigidSolver(model, 3)
    with pytest.raises(KeyError, match="no keyframe is named 'away'; there are: home, #1"):
        solver.reset_to_keyframe("away")
    with pytest.raises(IndexError, match="keyframe 2 does not exist: the model has 2"):
        solver.reset_to_keyframe(2)
    with pytest.raises(ValueError, match=r"state of spec 2: expected shape \(3, 12\), got \(3, 11\)"):
        solver.set_mj_state(np.zeros((3, 11)), 2)
    with pytest.raises(ValueError, match="spec 65536 is no sum"):
        solver.mj_state(1 << 16)
    with pytest.raises(FileNotFoundError):
        solver.load(tmp_path / "none.pt")
    file = tmp_path / "state.pt"
    solver.save(file)
    with pytest.raises(ValueError, match=r"state\.pt: memory: saved as"):
        RigidSolver(model, 4).load(file)
    with pytest.raises(ValueError, match=r"state\.pt: saved from another model"):
        RigidSolver(Model.from_mjcf(XML.replace('size=".04 .2"', 'size=".05 .2"')), 3).load(file)
    for damaged in (file.read_bytes()[:200], b"abc", b"\xffu"):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"state\.pt: not a file that RigidSolver.save wrote"):
            solver.load(file)
