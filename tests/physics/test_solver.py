"""RigidSolver as a user meets it: copies, writes, errors, isolation, the same bits in any batch."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.state.fields import QUANTITIES
from tumble.physics.solver.readout.derived import DERIVED
from tumble.physics.solver.readout.fields_table import fields_markdown

from ..test_architecture import ROOT
from ..widths import WIDTH

HOPPER = str(ROOT / "assets" / "hopper.xml")


@pytest.fixture(scope="module")
def model():
    tumble.init(precision="32")
    return Model.from_mjcf(HOPPER)


def wandering(model, num_envs, steps=60, rows=None):
    """Coordinates after random controls that depend on the environment's number alone."""
    solver = RigidSolver(model, num_envs)
    rows = range(num_envs) if rows is None else rows
    controls = np.stack([np.random.default_rng(row).uniform(-1, 1, (steps, model.mj.nu)) for row in rows])
    for k in range(steps):
        solver.ctrl = torch.as_tensor(controls[:, k])
        solver.step(2)
    return torch.cat([solver.qpos, solver.qvel], 1)


def test_batch_size_and_place_do_not_matter(model):
    """Bitwise: the lanes of a tile never meet, whatever their width."""
    alone = torch.cat([wandering(model, 1, rows=[i]) for i in (0, 5, 30)])
    small, large = wandering(model, 7), wandering(model, 64)
    turned = wandering(model, 64, rows=list(reversed(range(64))))
    assert torch.equal(alone[:2], small[[0, 5]])
    assert torch.equal(alone, large[[0, 5, 30]])
    assert torch.equal(small, large[:7])
    assert torch.equal(large, turned.flip(0))


@pytest.mark.parametrize("num_envs", [1, 7, 16, 40])
def test_coordinates_are_copies(model, num_envs):
    """Positions and velocities side by side; the next step does not write to them."""
    solver = RigidSolver(model, num_envs)
    solver.step()
    together = solver.coordinates()
    before = torch.cat([solver.qpos, solver.qvel], 1)
    assert torch.equal(together, before)
    solver.step()
    assert torch.equal(together, before) and not torch.equal(solver.coordinates(), before)


@pytest.mark.parametrize("num_envs", [1, 7, 32])
def test_any_fault(model, num_envs):
    """True while an environment has one; spare lanes of the last tile do not count."""
    solver = RigidSolver(model, num_envs)
    solver.step()
    assert not solver.any_fault
    solver.set_state(qvel=torch.full((1, model.mj.nv), torch.nan), envs_idx=[num_envs - 1])
    solver.step()
    assert solver.any_fault and solver.faults[-1] == 1
    solver.reset([num_envs - 1])
    assert not solver.any_fault


def test_threads_do_not_matter():
    results = []
    for threads in (1, 2):
        tumble.init(precision="32", threads=threads, lanes=4)  # kernels are compiled for a number of threads
        results.append(wandering(Model.from_mjcf(HOPPER), 100))
    tumble.init(precision="32")
    assert torch.equal(*results)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e30])
@pytest.mark.parametrize("where", ["qpos", "qvel", "ctrl"])
def test_a_bad_number_stays_in_its_environment(model, bad, where):
    sound, hurt = RigidSolver(model, 40), RigidSolver(model, 40)
    control = torch.full((40, 3), 0.1)
    for solver in (sound, hurt):
        solver.ctrl = control
        solver.step(5)
    before = hurt.qpos
    if where == "ctrl":
        broken = control.clone()
        broken[17, 1] = bad
        hurt.ctrl = broken
    else:
        value = getattr(hurt, where)[[17]]
        value[0, 2] = bad
        hurt.set_state(**{where: value}, envs_idx=[17])
        sound.set_state(**{where: getattr(sound, where)[[17]]}, envs_idx=[17])
    for solver in (sound, hurt):
        solver.step(20)
    others = torch.arange(40) != 17
    assert torch.equal(hurt.qpos[others], sound.qpos[others])
    assert torch.equal(hurt.qvel[others], sound.qvel[others])
    assert hurt.faults.nonzero().flatten().tolist() == [17]
    assert torch.isfinite(hurt.qpos).all()
    if where == "ctrl":
        assert torch.equal(hurt.qpos[17], before[17])
    hurt.reset([17])
    hurt.ctrl = control
    fresh = RigidSolver(model, 1, lanes=WIDTH)
    fresh.ctrl = control[:1]
    for solver in (hurt, fresh):
        solver.step(10)
    assert hurt.faults.sum() == 0
    assert torch.equal(hurt.qpos[17], fresh.qpos[0])


@pytest.mark.parametrize("precision", ["32", pytest.param("64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_what_diverges_by_itself_stops_where_it_was_last_finite(precision, integrator):
    """A spring far too stiff for its step; the middle stages of RK4 throw it much farther than the step does."""
    tumble.init(precision=precision)
    spring = """<mujoco><option timestep="0.01"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/></body></worldbody><actuator><position joint="x" kp="1e9"/></actuator></mujoco>"""
    solver = RigidSolver(Model.from_mjcf(spring, integrator=integrator), 20)
    qpos = torch.zeros(20, 1)
    qpos[3] = 1.0
    solver.set_state(qpos, torch.zeros(20, 1))
    held = None
    for _ in range(40):
        before = solver.qpos[3], solver.qvel[3]
        solver.step()
        if solver.faults[3]:
            held = before if held is None else held
            assert torch.equal(solver.qpos[3], held[0])
            assert torch.equal(solver.qvel[3], held[1])
            assert torch.isfinite(solver.get("xpos")).all()
            assert torch.isfinite(solver.get("qacc")[:3]).all()
    assert held is not None
    assert solver.faults.nonzero().flatten().tolist() == [3]
    assert not solver.qpos[[0, 1, 2, 4, 19]].any()
    tumble.init(precision="32")


def test_properties_are_copies(model):
    solver = RigidSolver(model, 3)
    qpos = solver.qpos
    qpos[:] = 7
    assert solver.qpos.max() < 7
    solver.step()
    assert (qpos == 7).all()


def test_state_dict_continues_to_the_bit(model):
    one, two = RigidSolver(model, 20), RigidSolver(model, 20)
    one.ctrl = torch.full((20, 3), 0.3)
    one.step(30)
    two.load_state_dict(one.state_dict())
    one.step(30)
    two.step(30)
    assert torch.equal(one.qpos, two.qpos)
    assert torch.equal(one.time, two.time)


def test_partial_forward_updates_those_alone(model):
    solver = RigidSolver(model, 20, outputs=("xpos",))
    solver.step(3)
    before = solver.get("xpos")
    solver.set_state(qpos=solver.qpos + 0.25, qvel=solver.qvel)
    solver.forward([3, 18])
    after = solver.get("xpos")
    changed = (after != before).flatten(1).any(1)
    assert changed.nonzero().flatten().tolist() == [3, 18]


def test_errors_say_what_to_do(model):
    solver = RigidSolver(model, 4)
    with pytest.raises(ValueError, match=r"qpos: expected shape \(4, 6\), got \(4, 5\)"):
        solver.set_state(qpos=torch.zeros(4, 5))
    with pytest.raises(IndexError, match="no environment 9"):
        solver.set_state(qpos=torch.zeros(1, 6), envs_idx=[9])
    with pytest.raises(KeyError, match="did you mean xpos"):
        solver.get("xpoz")
    with pytest.raises(ValueError, match="n=0: it must be at least 1"):
        solver.step(0)
    with pytest.raises(ValueError, match="num_envs=0: it must be at least 1"):
        RigidSolver(model, 0)


def test_a_solver_of_an_earlier_runtime_says_so():
    solver = RigidSolver(Model.from_mjcf(HOPPER), 2)
    tumble.init(precision="32")
    with pytest.raises(RuntimeError, match=r"earlier tumble\.init"):
        solver.step()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": "tpu"}, "device='tpu'"),
        ({"precision": "16"}, "precision='16'"),
        ({"lanes": 3}, "lanes=3"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_init_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        tumble.init(**arguments)


def test_the_table_of_fields_is_up_to_date():
    assert (ROOT / "docs" / "reference" / "fields.md").read_text(encoding="utf-8") == fields_markdown()


@pytest.mark.parametrize("num_envs", [1, 5])
def test_everything_can_be_asked_for_even_of_a_model_that_has_little(num_envs):
    """No actuator, no contact, no limit, no camera: such quantities are empty, with the batch in front."""
    tumble.init(precision="32")
    pendulum = '<mujoco><worldbody><body><joint/><geom size=".1" pos="0 0 1"/></body></worldbody></mujoco>'
    solver = RigidSolver(Model.from_mjmodel(mujoco.MjModel.from_xml_string(pendulum)), num_envs)
    solver.step()
    empty = {name for name in [f.name for f in QUANTITIES] + list(DERIVED) if len_of(solver, name, num_envs) == 0}
    assert {"ctrl", "actuator_force", "eval_rest", "con_pos", "block_jar", "cam_xmat"} <= empty
    assert not {"qpos", "xmat", "qM", "cvel", "qacc"} & empty


def len_of(solver: RigidSolver, name: str, num_envs: int) -> int:
    """How many items a quantity has."""
    value = solver.get(name)
    assert len(value) == num_envs, name
    return value.shape[1]


@pytest.mark.parametrize(("precision", "tolerance", "count"), [("32", 1e-8, 1), ("32", 1e-6, 0), ("64", 1e-8, 0)])
def test_a_tolerance_beyond_single_precision_is_noted(precision, tolerance, count):
    tumble.init(precision=precision)
    model = Model.from_mjcf("<mujoco><worldbody/></mujoco>", tolerance=tolerance)
    notes = RigidSolver(model, num_envs=2).notes
    assert len(notes) == count
    assert all("tolerance 1e-08" in note and "1e-06" in note for note in notes)


def test_no_iterations_are_taken_as_one_and_noted():
    tumble.init(precision="32")
    xml = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    solver = RigidSolver(Model.from_mjcf(xml, iterations=0), num_envs=2)
    assert sum("iterations 0" in note for note in solver.notes) == 1
    solver.step()
    assert solver.get("qacc")[:, 2].tolist() == pytest.approx([-9.81, -9.81])


@pytest.mark.parametrize("rows", [None, [4, 1]])
def test_several_quantities_at_once(model, rows):
    """State, outputs and what is derived or not delivered: each is what `get` gives."""
    solver = RigidSolver(model, 6, outputs=("cvel", "xipos", "qM"))
    solver.set_state(qvel=np.random.default_rng(0).normal(size=(6, model.mj.nv)))
    solver.step(3)
    names = ("qvel", "cvel", "qM", "xipos", "xmat", "cinert")
    seen = solver.get_many(names, rows)
    assert set(seen) == set(names)
    assert all(torch.equal(seen[name], solver.get(name, rows)) for name in names)
    before = seen["cvel"].clone()
    solver.step()
    assert torch.equal(seen["cvel"], before) and not torch.equal(solver.get("cvel", rows), before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int32])
def test_controls_of_any_type(model, dtype):
    """Numbers are brought to the solver's precision; what is too large for it becomes infinite."""
    solver = RigidSolver(model, 2)
    solver.ctrl = torch.tensor([[1, -2, 0], [3, 0, 5]], dtype=dtype).requires_grad_(dtype.is_floating_point)
    assert torch.equal(solver.ctrl, torch.tensor([[1.0, -2.0, 0.0], [3.0, 0.0, 5.0]]))
    solver.ctrl = np.array([1e300, 0.0, -1e300])
    assert torch.equal(solver.ctrl[0], torch.tensor([torch.inf, 0.0, -torch.inf]))
