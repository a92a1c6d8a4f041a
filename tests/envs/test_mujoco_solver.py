"""MuJoCo in the place of a solver: what is read, numbers of the model, faults, saved states, and what is refused."""

import copy
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import Start, StepResult, Task
from tumble.envs.faults import CONTACTS_FULL, NON_FINITE
from tumble.envs.in_mujoco import stepping
from tumble.envs.in_mujoco.readout import KNOWN
from tumble.envs.in_mujoco.solver import MujocoSolver
from tumble.envs.in_mujoco.warned import heard
from tumble.physics import Model, RigidSolver

from .own_tasks import Held, Pointer, Pushed
from .test_randomised import Varied

XML = """
<mujoco model="walker">
  <option timestep="0.004" tolerance="1e-12" iterations="100" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <camera name="watch" pos="0 -3 1" mode="targetbody" target="trunk"/>
    <body name="goal" mocap="true" pos="1 0 0.5"><geom size="0.1" contype="0" conaffinity="0"/></body>
    <body name="trunk" pos="0 0 0.32">
      <freejoint/>
      <geom name="box" type="box" size="0.2 0.1 0.05" mass="3"/>
      <site name="tip" pos="0.2 0 0"/>
      <body name="left" pos="0.15 0.1 0">
        <joint name="left" axis="0 1 0" range="-60 60" damping="0.3" stiffness="2" armature="0.01"/>
        <geom name="left" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/>
      </body>
      <body name="right" pos="-0.15 -0.1 0">
        <joint name="right" axis="0 1 0" range="-60 60" damping="0.3" frictionloss="0.1" armature="0.01"/>
        <geom name="right" type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.03" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both" stiffness="1" damping="0.1">
      <joint joint="left" coef="1"/><joint joint="right" coef="-2"/>
    </fixed>
  </tendon>
  <equality><joint joint1="left" joint2="right" active="false"/></equality>
  <actuator>
    <motor joint="left" gear="5" ctrlrange="-1 1" ctrllimited="true"/>
    <general joint="right" gear="2" dyntype="filter" dynprm="0.05" gainprm="3" biastype="affine" biasprm="0 -1 -0.1"/>
    <motor tendon="both" gear="1"/>
  </actuator>
  <sensor>
    <accelerometer site="tip"/><gyro site="tip"/><jointpos joint="left"/><framepos objtype="site" objname="tip"/>
  </sensor>
</mujoco>
"""
APART = ("solver_niter", "qacc_warmstart", "qfrc_fluid", "qfrc_gravcomp")
COMPARED = [name for name in KNOWN if name not in APART]
"""All but a count and a guess, which differ on the way to the same solution, and forces that have no cause here."""
INTEGRATORS = ("implicitfast", pytest.param("Euler", marks=pytest.mark.slow), "RK4")


def pair(integrator: str, n: int = 2) -> tuple[RigidSolver, MujocoSolver]:
    """Both solvers of one model."""
    model = Model.from_mjcf(XML.format(integrator=integrator))
    return RigidSolver(model, n), MujocoSolver(model, n)


def error(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the size of the number, absolute below 1."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape
    return float((np.abs(ours - theirs) / (1 + np.abs(theirs))).max(initial=0))


def drive(solvers: Any, steps: int, n: int = 2) -> None:
    """Push and steer them alike, in steps of 3."""
    rng = np.random.default_rng(0)
    for _ in range(steps):
        given = {
            "ctrl": rng.uniform(-1, 1, (n, 3)),
            "xfrc_applied": 0.3 * rng.normal(size=(n, 5, 6)),
            "mocap_pos": rng.normal(size=(n, 1, 3)),
            "eq_active": rng.random((n, 1)) < 0.2,
        }
        for solver in solvers:
            solver.set_inputs(**given)
            solver.step(3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_quantity_is_the_same(integrator, double_precision):
    """After steps those of the last evaluation, with RK4 of its last stage; after `forward` those of the state."""
    solvers = ours, theirs = pair(integrator)
    rng = np.random.default_rng(1)
    qpos = theirs.qpos.numpy() + 0.05 * rng.normal(size=(2, 9))
    for solver in solvers:
        solver.reset(qpos=qpos)
    drive(solvers, 12)
    for moment in ("step", "forward", "set_state"):
        if moment == "forward":
            for solver in solvers:
                solver.forward()
        elif moment == "set_state":
            for solver in solvers:
                solver.set_state(qvel=np.ones((2, 8)))
        found, wanted = theirs.get_many(COMPARED), {name: ours.get(name) for name in COMPARED}
        for name in COMPARED:
            assert error(found[name], wanted[name]) < 1e-6, (moment, name)
    assert found["cacc"].abs().max() > 1 and found["eval_qvel"].shape == (2, 8)
    assert theirs.get("solver_niter").shape == ours.get("solver_niter").shape == (2, 1)
    for name in ("qpos", "xpos", "cacc"):
        np.testing.assert_array_equal(theirs.get(name, [1]), found[name][1:])


NUMBERS = {
    "body_mass": 0.2,
    "body_inertia": 0.02,
    "body_ipos": 0.02,
    "geom_pos": 0.02,
    "geom_size": 0.2,
    "geom_friction": 0.2,
    "dof_damping": 0.5,
    "dof_armature": 0.5,
    "jnt_stiffness": 0.5,
    "gravity": 0.2,
    "actuator_gainprm": 0.3,
}
"""Numbers of the model and the share by which they are changed, or, of places, the way in metres."""


def drawn(model: Model, n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Numbers for n environments."""
    rng, found = np.random.default_rng(seed), {}
    for name, share in NUMBERS.items():
        own = np.array(getattr(model.mj.opt if name == "gravity" else model.mj, name))
        noise = share * rng.uniform(-1, 1, (n, *own.shape))
        found[name] = own + noise * (own.reshape(own.shape[0], -1).any(1).reshape(-1, *[1] * (own.ndim - 1)) > 0)
        if not name.endswith("pos"):
            found[name] = own * (1 + noise)
    found["body_ipos"][:, :2], found["geom_pos"][:, :2] = model.mj.body_ipos[:2], model.mj.geom_pos[:2]
    return found


def test_numbers_of_environments_own(double_precision):
    """What follows from them follows as in Tumble, at a reset and in the middle of an episode; others keep theirs."""
    solvers = ours, theirs = pair("implicitfast", 3)
    given = drawn(theirs.model, 2)
    for solver in solvers:
        solver.update_parameters(given, [0, 2])
        solver.reset()
    drive(solvers, 6, 3)
    assert error(theirs.coordinates(), ours.coordinates()) < 1e-7
    for name in ("body_subtreemass", "dof_invweight0", "body_invweight0", "geom_rbound", *NUMBERS):
        assert error(theirs.get_parameters(name), ours.get_parameters(name)) < 1e-9, name
    assert [bool(world.names) for world in theirs.worlds] == [True, False, True]
    assert theirs.worlds[1].model.body_mass[2] == theirs.model.mj.body_mass[2] == 3.0
    before = theirs.get("xpos"), theirs.coordinates(), theirs.time
    for solver in solvers:
        solver.update_parameters({"body_mass": given["body_mass"] * 1.3}, [1, 2])
    assert error(theirs.get("qM"), ours.get("qM")) < 1e-9
    for mine, kept in zip((theirs.get("xpos"), theirs.coordinates(), theirs.time), before, strict=True):
        np.testing.assert_array_equal(mine, kept)
    drive(solvers, 3, 3)
    assert error(theirs.coordinates(), ours.coordinates()) < 1e-7


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_threads_change_no_bit(monkeypatch, integrator):
    """With RK4, steps note where each evaluation was, by a callback of the whole process."""
    monkeypatch.setattr(stepping, "_FEWEST", 1)
    model = Model.from_mjcf(XML.format(integrator=integrator))
    controls = np.random.default_rng(3).uniform(-1, 1, (20, 9, model.mj.nu))
    ends = []
    for threads in (1, 2, 9):
        solver = MujocoSolver(model, 9, outputs=("cfrc_ext",))
        solver.threads = threads
        solver.update_parameters({"body_mass": model.mj.body_mass * 1.5}, [4])
        for control in controls:
            solver.step(3, control)
        ends.append({**solver.state_dict(), **solver.get_many(("xpos", "sensordata", "cfrc_ext"))})
    for name, end in ends[0].items():
        assert all(torch.equal(end, other[name]) for other in ends[1:]), name
    assert len(torch.unique(ends[0]["states"], dim=0)) == 9


def test_numbers_that_cannot_be_are_refused():
    solver = pair("implicitfast")[1]
    with pytest.raises(ValueError, match=r"body_mass\[1\] of environment 1 is -4"):
        solver.update_parameters({"body_mass": -solver.model.mj.body_mass}, [1])
    with pytest.raises(KeyError, match="no parameter is named 'mass'"):
        solver.update_parameters({"mass": 1.0})
    with pytest.raises(ValueError, match=r"xfrc_applied: expected shape \(2, 5, 6\)"):
        solver.set_inputs(xfrc_applied=np.zeros((2, 5)))
    with pytest.raises(ValueError, match=r"qpos: expected shape \(2, 9\)"):
        solver.reset(qpos=np.zeros((2, 8)))
    with pytest.raises(IndexError):
        solver.forward([2])
    solver.close()
    with pytest.raises(RuntimeError, match="closed"):
        solver.step()


@pytest.mark.parametrize("part", ["qvel", "xfrc_applied", "mocap_pos", "ctrl"])
def test_a_number_that_is_not_finite_stops_its_environment(part, capfd):
    """It stands at its last finite state until it is reset; the others have the bits that they have without it."""
    theirs, calm = pair("implicitfast", 3)[1], pair("implicitfast", 3)[1]
    for solver in (theirs, calm):
        solver.step(5)
    bad = theirs.get(part).numpy()[1]
    bad[...] = np.nan
    if part == "qvel":
        theirs.set_state(qvel=bad[None], envs_idx=[1])
    else:
        theirs.set_inputs([1], **{part: bad})
    before = theirs.coordinates()
    for solver in (theirs, calm):
        solver.step(4)
    assert theirs.any_fault and theirs.faults.tolist() == [0, NON_FINITE, 0]
    np.testing.assert_array_equal(theirs.coordinates()[1], before[1])
    np.testing.assert_array_equal(theirs.coordinates()[::2], calm.coordinates()[::2])
    theirs.reset([1])
    theirs.step(5)
    assert not theirs.any_fault and torch.isfinite(theirs.coordinates()).all()
    assert "Nan" not in "".join(capfd.readouterr()), "MuJoCo prints nothing"


def test_a_state_that_diverges_is_held_where_it_was_finite():
    """In the middle of several physics steps; MuJoCo alone would begin anew from qpos0."""
    theirs = pair("Euler")[1]
    theirs.set_state(qvel=np.full((1, 8), 1e9), envs_idx=[0])
    theirs.step(50)
    assert theirs.faults.tolist() == [NON_FINITE, 0]
    assert torch.isfinite(theirs.coordinates()).all() and theirs.coordinates()[0].abs().max() > 1e3
    held = theirs.coordinates()[0]
    theirs.step(3)
    np.testing.assert_array_equal(theirs.coordinates()[0], held)


class Broken(Pushed):
    """A task whose push is not finite in one environment, in its third step."""

    def step(self, state, action):
        """Push environment 2 too hard."""
        result = super().step(state, action)
        push = result.inputs["xfrc_applied"].copy()
        push[2:3, self.puck] = np.where(state.memory["steps"][2:3, None] == 5, np.nan, 0)
        return result._replace(inputs=result.inputs | {"xfrc_applied": push})


def test_a_task_is_told_of_faults():
    """As in Tumble: the episode ends, nothing that is not finite is seen, and the next one is sound."""
    envs = tumble.make_vec(Broken, 4, simulator="mujoco", edge=1e9, output="numpy", autoreset_mode="DISABLED")
    envs.reset(seed=0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(8):
            observation, _, terminated, _, info = envs.step(np.zeros((4, 1)))
            assert np.isfinite(observation).all()
            if terminated.any():
                assert terminated.tolist() == [False, False, True, False] and info["fault"].tolist() == [0, 0, 1, 0]
                envs.reset(options={"reset_mask": terminated})
    assert [str(warning.message)[:14] for warning in seen if warning.category is RuntimeWarning] == ["environment 2,"]
    envs.close()


def test_contacts_without_room_are_a_fault():
    """MuJoCo's memory for them is what the file says."""
    balls = '<body pos="{} {} 0.09"><freejoint/><geom size="0.1"/></body>'
    grid = "".join(balls.format(0.2 * (k // 9), 0.2 * (k % 9)) for k in range(81))
    model = Model.from_mjcf(
        f'<mujoco><size memory="60K"/><worldbody><geom type="plane" size="9 9 1"/>{grid}</worldbody></mujoco>'
    )
    solver = MujocoSolver(model, 1)
    solver.step()
    assert solver.faults.tolist() == [CONTACTS_FULL]


class Spun(Varied):
    """Hoppers with numbers of their own, of which quantities of the last evaluation are seen."""

    reads = ("cacc", "eval_qvel", "subtree_angmom", "sensordata")

    def observation(self, state):
        """Coordinates and the quantities."""
        parts = [self.xp.reshape(part, (len(state.qpos), -1)) for part in state.fields.values()]
        return self.xp.concat([state.coordinates, *parts], axis=1)


@pytest.mark.parametrize("task", [Spun, Pointer, Pushed, Held])
def test_a_saved_state_goes_on_to_the_bit(task, tmp_path):
    """With numbers of environments' own, noise, memory and episodes that end; into environments that are elsewhere."""
    one, other = (tumble.make_vec(task, 3, simulator="mujoco", max_episode_steps=9, output="numpy") for _ in range(2))
    for envs, seed, steps in ((one, 0, 7), (other, 9, 12)):
        envs.reset(seed=seed)
        envs.action_space.seed(seed)
        for _ in range(steps):
            envs.step(envs.action_space.sample())
    torch.save(one.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    twin = copy.deepcopy(one)
    np.testing.assert_array_equal(twin.unwrapped.solver.coordinates(), one.unwrapped.solver.coordinates())
    twin.close()
    for name in one.unwrapped.task.reads:
        np.testing.assert_array_equal(one.unwrapped.solver.get(name), other.unwrapped.solver.get(name))
    for _ in range(12):
        action = one.action_space.sample()
        for mine, theirs in zip(one.step(action)[:4], other.step(action)[:4], strict=True):
            for part in mine if isinstance(mine, dict) else [None]:
                np.testing.assert_array_equal(*(value if part is None else value[part] for value in (mine, theirs)))
    one.close()
    other.close()


def test_one_state_is_copied_into_many_environments():
    """As planning wants it: those that are named go on alike, the others stay as they are."""
    theirs = pair("RK4", 3)[1]
    theirs.update_parameters({"body_mass": theirs.model.mj.body_mass * 2}, [1])
    theirs.set_inputs([1], ctrl=np.ones((1, 3)))
    theirs.step(7)
    kept, before = theirs.coordinates(), theirs.edits
    theirs.load_state_dict(theirs.state_dict([1]), [0, 1])
    assert theirs.edits == before + 1
    np.testing.assert_array_equal(theirs.coordinates(), kept[[1, 1, 2]])
    theirs.step(7)
    for name in ("qpos", "cacc", "eval_qpos"):
        np.testing.assert_array_equal(theirs.get(name)[0], theirs.get(name)[1])
    assert theirs.get_parameters("body_mass")[:, 2].tolist() == [6.0, 6.0, 3.0]
    with pytest.raises(ValueError, match=r"saved state in MuJoCo: .* saved as \(2,"):
        theirs.load_state_dict(theirs.state_dict([0, 1]))


def test_a_state_of_the_other_simulator_is_refused():
    ours, theirs = (tumble.make_vec(Held, 2, simulator=simulator) for simulator in ("tumble", "mujoco"))
    for envs in (ours, theirs):
        envs.reset(seed=0)
    with pytest.raises(ValueError, match="saved state in MuJoCo: its part 'states' is missing"):
        theirs.load_state_dict(ours.state_dict())
    with pytest.raises(ValueError, match="no state_dict of a RigidSolver has"):
        ours.load_state_dict(theirs.state_dict())
    ours.close()
    theirs.close()


def test_a_state_that_is_set_from_outside_gets_memory_and_inputs_anew():
    envs = tumble.make_vec(Pushed, 3, simulator="mujoco", output="numpy", gust=0.0).unwrapped
    envs.reset(seed=0)
    before = envs.solver.get("qfrc_applied").numpy()
    place = np.array([[0.2, -0.1]])
    envs.solver.set_state(qpos=place, envs_idx=[1])
    envs.step(np.zeros((3, 1)))
    np.testing.assert_array_equal(envs.solver.get("qfrc_applied")[1], 10 * place[0])
    np.testing.assert_array_equal(envs.solver.get("qfrc_applied")[::2], before[::2])
    envs.close()


class Asking(Task):
    """Asks for a quantity that Tumble alone has."""

    xml_file = "pointer.xml"
    reads = ("xpos", "con_dist")

    def reset(self, noise):
        """At rest."""
        return Start(self.init_qpos, np.zeros(self.model.nv))

    def observation(self, state):
        """All there is."""
        return state.coordinates

    def step(self, state, action):
        """Nothing."""
        return StepResult(state.coordinates, {"reward": 0 * state.qpos[:, 0]})


BALLS = """<mujoco>
  <custom><text name="deadband_joints" data="hinge"/><numeric name="deadband_width" data="0.1"/>
  <numeric name="deadband_stiffness" data="5"/></custom>
  <worldbody><body><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody>
</mujoco>"""


def test_what_mujoco_lacks_is_refused_in_a_sentence():
    with pytest.raises(NotImplementedError, match="the quantity 'con_dist' is Tumble's own, MuJoCo does not have it"):
        tumble.make_vec(Asking, 2, simulator="mujoco")
    with pytest.raises(NotImplementedError, match="MuJoCo lacks features of this model: springs of joints"):
        MujocoSolver(Model.from_mjcf(BALLS), 1)
    ball = '<body><freejoint/><geom size="1"/></body>'
    overlapping = f"<mujoco><worldbody>{ball}{ball}</worldbody></mujoco>"
    with pytest.raises(NotImplementedError, match="matter that another solver moves pushes bodies"):
        MujocoSolver(Model.from_mjcf(overlapping, matter=True), 1)
    with pytest.raises(NotImplementedError, match="ignore_reference_overlaps"):
        MujocoSolver(Model.from_mjcf(overlapping, ignore_reference_overlaps=True), 1)
    with pytest.raises(ValueError, match="simulator='bullet': there is tumble and mujoco"):
        tumble.make_vec("Hopper", 2, simulator="bullet")


def test_other_warnings_of_mujoco_are_passed_on_once():
    """Whenever they are given, and handlers of the user's own are left as they were."""
    mine: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(mine.append)
    try:
        with pytest.warns(RuntimeWarning, match="MuJoCo: The floor is lava") as told:
            for when in (1, 2):
                with heard():
                    mujoco.get_mju_user_warning()(f"The floor is lava. Time = {when}.")
                    mujoco.get_mju_user_warning()(f"Nan, Inf or huge value in QACC at DOF 0. Time = {when}.")
        assert len(told) == 1 and not mine
        mujoco.get_mju_user_warning()("mine again")
        assert mine == ["mine again"]
    finally:
        mujoco.set_mju_user_warning(before)
    theirs = pair("RK4")[1]
    theirs.get("cacc")
    theirs.step()
    assert mujoco.get_mjcb_control() is None
