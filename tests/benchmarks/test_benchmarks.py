"""Each benchmark measures what it says it does."""

import mujoco
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.benchmarks import learning, path_tracing, stages, tasks, throughput
from tumble.benchmarks.inside import kernel_of, launcher, parts_of
from tumble.benchmarks.lanes import Words, numpy_result, random_operands
from tumble.benchmarks.main import BENCHMARKS
from tumble.benchmarks.managers import Hop
from tumble.benchmarks.managers import run as run_managed
from tumble.benchmarks.models import load, scatter
from tumble.benchmarks.operations import OPERATIONS, numpy_tree_factor
from tumble.benchmarks.pictures_job import MESHES, Poses, _row
from tumble.benchmarks.pictures_job import load as load_pictured
from tumble.benchmarks.setters import calls
from tumble.benchmarks.setters import run as run_setters
from tumble.benchmarks.solvers import KINDS, build
from tumble.envs.registry import TASKS, V5
from tumble.physics import RigidSolver
from tumble.physics.machine.runtime import init

# -- The operations that are timed compute what their names say, in lanes as in numpy


@pytest.fixture(scope="module")
def humanoid():
    return load("Humanoid")


@pytest.mark.parametrize("width", [1, 8])
def test_lanes_agree_with_numpy(runtime, humanoid, width):
    operands = random_operands(humanoid, np.float32)
    words = Words(runtime, humanoid, width, operands)
    for number in range(len(OPERATIONS)):
        words.check(number, numpy_result(number, operands, humanoid))


def test_a_wrong_result_is_noticed(runtime, humanoid):
    operands = random_operands(humanoid, np.float32)
    words = Words(runtime, humanoid, 8, operands)
    with pytest.raises(AssertionError, match="rotate and shift a point, W = 8, 32 bits: differs from numpy by"):
        words.check(0, numpy_result(0, operands, humanoid) * 1.01)


def test_numpy_tree_factor_multiplies_out(humanoid):
    matrix = random_operands(humanoid, np.float64)["matrix"][..., 0]
    factored = numpy_tree_factor(matrix[..., None], humanoid.dof_paths())[..., 0]
    lower = np.tril(factored, -1) + np.eye(len(matrix))
    product = lower.T @ np.diag(np.diag(factored)) @ lower
    np.testing.assert_allclose(np.tril(product), np.tril(matrix), atol=1e-12)


# -- The benchmark of training: every side trains, in this process, and the table compares them


@pytest.fixture
def one_process(monkeypatch):
    """Sides run here, small, and not in children; the processes of `SubprocVecEnv` would start this one again."""

    def train(task, side, threads):
        job = {"device": "host", "learner_device": "cpu", "n_steps": 4, "batch_size": 8, "rounds": 1}
        kind = {"subproc": "dummy"}.get(side.vector_env, side.vector_env)
        what = throughput.ThroughputJob(task, **job, num_envs=2, learner=side.learner, vector_env=kind, threads=threads)
        return throughput.measure(what)["steps/s"]

    monkeypatch.setattr(learning, "_train", train)


@pytest.mark.usefixtures("one_process")
def test_every_side_trains():
    result = learning.run(["Hopper"], rounds=1, threads=1)
    rows = result.tables[0].rows
    assert [row["environments"] for row in rows] == [side.environments for side in learning.SIDES]
    assert rows[0]["ratio"] == 1 and all(row["steps/s"] > 0 for row in rows)
    for row in rows[1:]:
        assert row["ratio"] == pytest.approx(rows[0]["steps/s"] / row["steps/s"])


@pytest.mark.slow
def test_processes_train():
    """The side of `SubprocVecEnv` trains in one process, and each of its environments is in another."""
    assert learning._train("Hopper", learning.SIDES[-1], 1) > 0


@pytest.mark.slow
def test_a_side_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"(?s)Nowhere, Tumble:.*no packaged ppo configuration"):
        learning._train("Nowhere", learning.SIDES[0], 1)


# -- The task with managers that is timed: it has what it is to have, and a run gives its figures


def test_the_task_has_seven_dofs_three_sensors_and_nine_rays():
    mj = Hop().load_model().mj
    assert (mj.nv, mj.nu, mj.nsensor) == (7, 4, 3)
    assert len(Hop.rays["ground"].points) == 9


@pytest.mark.slow
def test_a_run_times_steps_in_which_episodes_end():
    result = run_managed(16, 40, 1)
    (row,), (verdict,) = result.tables[0].rows, result.verdicts
    assert row["episodes that end in it"] > 0 and row["CPU ms a partial reset"] > 0
    assert row["environment steps a CPU second"] == pytest.approx(16e3 / verdict.value)


# -- The benchmark of path tracing: its figures are of the sides that they name


def test_paths_are_counted_beside_those_of_the_peer(tmp_path, monkeypatch):
    """The peer here is a program that says half a million."""
    monkeypatch.setattr(path_tracing, "SIZE", 16)
    peer = tmp_path / "peer"
    peer.write_text("#!/bin/sh\necho '{\"busy\": 0.5}'\n", encoding="utf-8")
    peer.chmod(0o700)
    result = path_tracing.run(("box",), 1, str(peer))
    (row,) = result.tables[0].rows
    assert row["mitsuba"] == 0.5 and row["ratio"] == pytest.approx(2 * row["million paths/s"])
    # 0.1580 by mitsuba, of larger pictures
    assert row["geoms"] == 9 and row["mean light"] == pytest.approx(0.158, abs=0.02)
    assert [verdict.target for verdict in result.verdicts] == [path_tracing.FASTER]


# -- The benchmark of pictures: its models, and its figures


def test_a_model_of_meshes_looks_as_the_one_of_capsules():
    """The meshes stand for all geoms, in the same places and as large, with about a thousand triangles each."""
    plain, meshes = load_pictured("ant"), load_pictured(f"ant {MESHES}")
    solids = plain.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    assert (meshes.geom_type[solids] == mujoco.mjtGeom.mjGEOM_MESH).all() and meshes.nmesh == solids.sum()
    assert (meshes.mesh_facenum > 500).all() and (meshes.mesh_facenum < 2000).all()
    both = [mujoco.MjData(each) for each in (plain, meshes)]
    for model, data in zip((plain, meshes), both, strict=True):
        mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(both[1].geom_xpos[solids], both[0].geom_xpos[solids], atol=1e-3)
    boxes = [np.sort(model.geom_aabb[solids, 3:], axis=1) for model in (plain, meshes)]
    np.testing.assert_allclose(boxes[1], boxes[0], rtol=0.02)


def test_figures_are_of_the_sides_that_they_name():
    row = _row("ant", Poses(load_pictured("ant"), 2), 16, 1, 1)
    assert row["size"] == "16 x 16" and row["threads"] == 1
    assert row["depth ratio"] == pytest.approx(row["depth + geoms/s"] / row["mj_multiRay/s"])
    if row["mujoco.Renderer/s"] is not None:  # where OpenGL runs
        assert row["ratio"] == pytest.approx(row["colour + depth/s"] / row["mujoco.Renderer/s"])
    assert {"colour", "depth", "rays"} <= set(row["spread"])


# -- The calls that are timed write what their names say, all of them the same numbers


def test_the_calls_write_what_they_say_and_nothing_else():
    init(precision="32")
    scene = gs.Scene()
    ant = scene.add_entity(gs.morphs.MJCF(file="ant.xml"), name="ant")
    scene.build(n_envs=6)
    values, envs, dofs = torch.tensor([[0.1, 0.2, 0.3]] * 2), np.array([1, 4]), [6, 8, 10]
    for name, call in calls(ant, dofs).items():
        scene.reset()
        before = scene.rigid_solver.qpos, scene.rigid_solver.qvel, ant.get_dofs_kp()
        call(values, envs)
        after = scene.rigid_solver.qpos, scene.rigid_solver.qvel, ant.get_dofs_kp()
        changed = [(new != old).nonzero().tolist() for new, old in zip(after, before, strict=True)]
        own = {
            "set_dofs_position": (0, 1),
            "set_dofs_velocity": (1, 0),
            "set_dofs_kp": (2, 0),
            "state.set of whole rows": (0, 0),
        }
        for which, places in enumerate(changed):
            part, shift = own.get(name, (None, 0))
            assert places == ([[env, dof + shift] for env in envs for dof in dofs] if which == part else []), name
        if name == "control_dofs_position":
            found = scene.rigid_solver.joints.get_targets(dofs, envs)
            assert torch.equal(found["target"], values) and (found["mode"] == 3).all()


@pytest.mark.slow
def test_a_run_has_a_row_for_every_call():
    (table,) = run_setters(64, 1).tables
    assert len(table.rows) == 6 and all(row["some us"] > 0 for row in table.rows)


# -- The comparison of solvers: what it names is there, from 14 to 400 dofs


def test_its_models_span_the_dofs_that_the_choice_is_about():
    names = BENCHMARKS["solvers"].defaults["models"]
    dofs = {name: build(name).compile().nv for name in names}
    assert min(dofs.values()) == 14 and 380 <= max(dofs.values()) <= 400
    assert {name.rpartition("-")[0] for name in names} == set(KINDS)
    assert len([n for n in dofs.values() if 20 < n < 200]) > 5


@pytest.mark.parametrize("name", ["chain", "worms-3", "ants-none", "ants-0"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=r"no model .* chain-8"):
        build(name)


# -- The profile takes apart the very step that users run


@pytest.mark.slow
def test_all_stages_together_are_a_step(runtime):
    """Compiles the engine once more: what takes the step apart breaks whenever the step changes."""
    solver = RigidSolver(load("Hopper"), 8, lanes=1)
    scatter(solver, steps=60)
    parts = parts_of(solver)
    last = torch.tensor([len(stages.NAMES) - 1], dtype=torch.int32)
    kernel = kernel_of(parts, stages.make_kernel)
    launcher(kernel, parts, parts.ints, parts.reals, parts.memory, parts.counters, parts.call, last)()
    solver.step()
    assert torch.equal(parts.memory, parts_of(solver).memory)


# -- The benchmark of tasks: every task is in it, and it measures environments and physics


def test_every_task_is_measured():
    """All tasks but Gymnasium's, which another benchmark has, tasks with pictures, and variants of goals."""
    own = [name for name in TASKS if name not in V5 and not name.endswith(("Goal", "Pixels"))]
    assert sorted(own) == sorted(BENCHMARKS["tasks"].defaults["models"])


def test_a_task_and_the_physics_of_its_robot():
    """Both sides of the physics meet the same contacts and rows."""
    result = tasks.run(["DroneHover"], num_envs=16, steps=8, rounds=1, threads=1)
    speed, physics, work = result.tables
    assert speed.rows[0]["one thread"] > 0 and physics.rows[0]["ratio"] > 0
    ours, theirs = work.rows
    assert ours["rows"] == theirs["rows"] and ours["faults"] == theirs["faults"] == 0
