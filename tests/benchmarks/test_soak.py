"""The soak: what it counts, and that it sees what it is there for."""

import torch

from tumble.benchmarks import soak
from tumble.benchmarks.main import BENCHMARKS
from tumble.benchmarks.scenes import SCENES
from tumble.physics import Model, RigidSolver

XML = """<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody>
<actuator><motor joint="0"/></actuator></mujoco>""".replace("<joint/>", '<joint name="0"/>')


def made(num_envs, also=lambda number, solver: None):
    solver = RigidSolver(Model.from_mjcf(XML), num_envs)

    def step(number, controls):
        solver.ctrl = controls
        solver.step()
        also(number, solver)
        return [solver.qpos], 1

    return soak.Batch(solver, torch.tensor([-1.0]), torch.tensor([1.0]), step)


def test_what_is_well_counts_as_well():
    row = soak.soak("wheel", made(20), made(16), 80)
    again = soak.soak("wheel", made(20), made(16), 80)
    assert row["environment steps"] == 1600 and row["resets"] == 80
    assert all(row[what] == 0 for what in ("not finite", "faulty", "contacts full", "bits that differ"))
    assert row["descriptors more"] == row["threads more"] == 0 and len(row["readings"]) == soak.CHECKPOINTS
    assert row["sha256 of states"] == again["sha256 of states"]


def test_what_breaks_is_counted(tmp_path):
    """An environment that depends on what others do, one that stops, and a file that stays open."""
    files = []

    def break_it(number, solver):
        if number == 30:
            solver.set_state(qvel=solver.qvel[:1] + 1e-6, envs_idx=[3])
            solver.set_state(qvel=[[torch.nan]], envs_idx=[19])
        files.append((tmp_path / f"{number}").open("w"))

    row = soak.soak("wheel", made(20, break_it), made(16), 80)
    assert row["bits that differ"] > 0 and row["faulty"] > 0
    assert row["descriptors more"] == 80 - 20 - 2 or row["descriptors more"] > 50
    for file in files:
        file.close()


def test_controls_are_at_the_ends_of_their_range():
    seen = []
    soak.soak("wheel", made(20, lambda number, solver: seen.append(solver.ctrl)), made(16), 80)
    controls = torch.stack(seen)
    assert (controls.abs() == 1.0).all()
    assert 0.05 < (controls[1:] != controls[:-1]).double().mean() < 0.2


def test_rows_do_not_depend_on_how_many_follow():
    for width in (1, 2, 5, 7):
        rows = [soak._rows(3, count, width, "flips") for count in (16, 20, 1000)]
        assert torch.equal(rows[0], rows[1][:16]) and torch.equal(rows[0], rows[2][:16])


def test_its_models_are_there():
    """Tasks and scenes; in one of them robots with meshes have numbers of their own."""
    chosen = BENCHMARKS["soak"].defaults["models"]
    assert "Humanoid" in chosen and set(chosen) - {"Humanoid"} <= set(SCENES)
    mj = SCENES["arm-hulls"].build().compile()
    assert mj.nmesh > 0 and mj.nu > 0 and "arm-hulls" in chosen
