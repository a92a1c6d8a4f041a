"""Ends of episodes, steps of feet and curricula, against plain counts."""

import math

import mujoco
import numpy as np
import pytest

import tumble
from tumble.envs import (
    BodyContact,
    Difficulty,
    FeetAirTime,
    JointLimits,
    SensorAbove,
    Stages,
    StepCount,
    out_of_bounds,
    tilted,
    too_low,
)
from tumble.envs.managers.frames import quat_from_euler

from ...cases import cases
from .robot import NUMPY, STRICT, TORCH, Robot, bound, in_numpy, state_of
from .test_randomization import ends

KINDS = pytest.mark.parametrize("kind", [NUMPY, TORCH, STRICT], ids=["numpy", "torch", "strict"])


# -- ends -------------------------------------------------------------------------------------------------------------


def test_leaning_too_far_too_low_and_out_of_bounds():
    roll = np.array([0.0, 0.4, -0.6, 0.6, 3.1, np.nan])
    assert tilted(quat_from_euler(roll, 0 * roll, 2 + 0 * roll), 0.5).tolist() == [False, False, True, True, True, True]
    assert too_low(np.array([0.3, 0.1, np.nan]), 0.2).tolist() == [False, True, True]
    places = np.array([[0.0, 0.0], [2.1, 0.0], [0.0, -1.1], [np.nan, 0.0], [2.0, 1.0]])
    assert out_of_bounds(places, np.array([-2, -1]), np.array([2, 1])).tolist() == [False, True, True, True, False]
    assert out_of_bounds(places, -2.0, 2.0).tolist() == [False, True, False, True, False]


class Feeling(Robot):
    """The robot with forces."""

    reads = ("cfrc_ext",)


def test_bodies_that_touch_something_feel_mujocos_forces():
    """Contact forces of a robot that lies on the floor are found on the bodies that lie there, and on no others."""
    envs = tumble.make_vec(Feeling, 2, max_episode_steps=None, output="numpy")
    envs.reset(seed=0)
    for _ in range(200):
        envs.step(np.zeros((2, 3), np.float32))
    batch = envs.batch
    state = batch._view.look(batch._memory.arrays, batch.streams.present(np.arange(2)))
    every = BodyContact(batch.task, None, 0.5)
    mj = batch.task.model
    for env in range(2):
        seen = envs.solver.inspect(env)
        touched = {mj.body(b).name for b in np.flatnonzero(every.each(state)[env])}
        assert touched == {mj.body(mj.geom_bodyid[g]).name for g in np.unique(seen["contact_geom"])} - {"world"}
        np.testing.assert_allclose(every.forces(state)[env], np.linalg.norm(seen["cfrc_ext"][:, 3:], axis=1), rtol=1e-4)
    assert BodyContact(batch.task, ["left_foot", "left", "right"], 1.0)(state).all()
    assert not BodyContact(batch.task, ".*", 2 * mj.body_mass.sum() * 9.81)(state).any()
    envs.close()


@KINDS
def test_contacts_by_bodies_and_by_sensors(kind):
    xml = """<mujoco><worldbody><body name="a"><joint name="slide" type="slide"/><geom size="1"/><site name="s"/></body>
    <body name="b"><geom size="1"/></body></worldbody><sensor><touch name="foot" site="s"/><framepos name="place"
    objtype="site" objname="s"/><touch name="hand" site="s"/></sensor></mujoco>"""

    class Sensing(Feeling):
        reads = ("cfrc_ext", "sensordata")

    task = Sensing().bound(mujoco.MjModel.from_xml_string(xml), kind)
    forces = np.zeros((3, 3, 6))
    forces[0, 1, 3:], forces[1, 2, 3:], forces[2, 1, :3] = [3, 0, 4], [0.5, 0, 0], [9, 9, 9]  # the last are torques
    data = np.array([[0.0, 1, 2, 2, 5], [3, 0, 0, 0, 0.5], [0, 0, 0, 0, 0]])
    state = state_of(task, {}, qpos=np.zeros((3, 1)), cfrc_ext=forces, sensordata=data)
    np.testing.assert_array_equal(np.asarray(BodyContact(task, ["a", "b"], 1.0)(state)), [True, False, False])
    np.testing.assert_allclose(np.asarray(BodyContact(task, ["a", "b"]).forces(state)), [[5, 0], [0, 0.5], [0, 0]])
    np.testing.assert_array_equal(np.asarray(SensorAbove(task, ["foot", "hand"], 2.0)(state)), [True, True, False])
    np.testing.assert_allclose(np.asarray(SensorAbove(task, None).readings(state)), [[0, 3, 5], [3, 0, 0.5], [0, 0, 0]])


@KINDS
def test_joints_beyond_their_limits(kind):
    task = bound(kind)  # three hinges, -1 to 1
    qpos = np.zeros((4, task.model.nq))
    qpos[1, 7], qpos[2, 8], qpos[3, 7:] = 0.95, -1.2, [0.95, -0.95, 2.0]
    state = state_of(task, {}, qpos=qpos)
    np.testing.assert_array_equal(np.asarray(JointLimits(task)(state)), [False, False, True, True])
    soft = JointLimits(task, share=0.9)
    np.testing.assert_array_equal(np.asarray(soft(state)), [False, True, True, True])
    np.testing.assert_allclose(np.asarray(soft.excess(state)), [0, 0.05, 0.3, 1.2], atol=1e-6)
    left = JointLimits(task, "left_.*", 0.9)
    np.testing.assert_allclose(np.asarray(left.excess(state)), [0, 0.05, 0.3, 0.1], atol=1e-6)


# -- feet -------------------------------------------------------------------------------------------------------------


@KINDS
def test_feet_are_timed_as_by_a_plain_count(kind):
    task, rng = bound(kind), np.random.default_rng(0)
    feet = FeetAirTime(task, 2)
    contacts = rng.uniform(size=(80, 3, 2)) < 0.5
    contacts[20:40] = np.repeat(contacts[20:40:5], 5, axis=0)
    heights = rng.uniform(0, 0.2, (80, 3, 2))
    memory = feet.begin(kind.numbers(np.zeros((3, 5))))
    plain = {(env, foot): {"before": True, "air": 0, "ground": 0, "last": 0, "peak": 0.0, "last_peak": 0.0}
             for env in range(3) for foot in range(2)}  # fmt: skip
    for step in range(80):
        contact = kind.xp.asarray(contacts[step])
        memory = feet.update(state_of(task, memory, step), contact, kind.numbers(heights[step])).memory
        found = in_numpy(memory)
        for (env, foot), one in plain.items():
            touches = contacts[step, env, foot]
            landed = touches and not one["before"]
            if landed:
                one["last"], one["last_peak"] = one["air"], one["peak"]
            one["air"], one["ground"] = (0, one["ground"] + 1) if touches else (one["air"] + 1, 0)
            one["peak"] = 0.0 if touches else max(one["peak"], heights[step, env, foot])
            one["before"] = touches
            read = {name: value[env, foot] for name, value in found.items()}
            assert read["feet_contact"] == touches and read["feet_touchdown"] == landed
            times = ("air", "feet_air_time"), ("ground", "feet_contact_time"), ("last", "feet_last_air_time")
            for mine, name in times:
                assert math.isclose(read[name], 0.02 * one[mine], abs_tol=1e-5), name
            assert math.isclose(read["feet_peak"], one["peak"], abs_tol=1e-6)
            assert math.isclose(read["feet_last_peak"], one["last_peak"], abs_tol=1e-6)
    without = feet.update(state_of(task, memory, 80), contact).memory
    assert "feet_peak" in without


# -- curricula --------------------------------------------------------------------------------------------------------


@KINDS
def test_stages_hold_from_their_step_on(kind):
    stages = Stages({0: (0.0, 1.0), 10: (2.0, 3.0), 25: (4.0, 7.0)})
    found = np.asarray(stages.at(kind.xp.asarray([0, 9, 10, 24, 25, 1000])))
    np.testing.assert_array_equal(found, [(0, 1), (0, 1), (2, 3), (2, 3), (4, 7), (4, 7)])
    np.testing.assert_array_equal(np.asarray(Stages({0: 1, 3: 2}).at(kind.xp.asarray([2, 3]))), [1, 2])


def test_steps_are_counted_over_episodes_until_a_seed():
    class Counted(Robot):
        def bind(self):
            self.count = StepCount()

        def reset_after(self, last, noise):
            return self.reset(noise)._replace(memory=self.count.begin(last))

        def step(self, state, action):
            state = self.count.step(state)
            return super().step(state, action)._replace(memory=state.memory)

    envs = tumble.make_vec(Counted, 2, max_episode_steps=3, autoreset_mode="SAME_STEP", output="numpy")
    envs.reset(seed=0)
    for step in range(1, 9):
        envs.step(np.zeros((2, 3), np.float32))
        assert envs.batch.state_dict()["memory"]["step_count"].tolist() == [step, step]
    envs.reset()
    assert envs.batch.state_dict()["memory"]["step_count"].tolist() == [8, 8]
    envs.reset(seed=[5, None])
    assert envs.batch.state_dict()["memory"]["step_count"].tolist() == [0, 8]
    envs.close()


@KINDS
def test_difficulty_follows_success(kind):
    """Against the rule in plain numbers, for environments that always, never and sometimes succeed, and one unmoved."""
    task = bound(kind)
    difficulty = Difficulty(task, up=0.8, down=0.3, rate=0.25, change=0.1, first=0.2)
    memory = difficulty.begin(ends(4, kind=kind), None)
    plain, average = np.full(4, 0.2), np.full(4, 0.55)
    rng = np.random.default_rng(1)
    for _ in range(60):
        success = np.array([True, False, rng.uniform() < 0.5, True])
        last = ends(4, memory, kind=kind)._replace(steps=kind.xp.asarray(np.array([5, 5, 5, 0])))
        memory = difficulty.begin(last, kind.xp.asarray(success))
        for env in range(3):
            average[env] += 0.25 * (success[env] - average[env])
            change = 0.1 * ((average[env] > 0.8) - float(average[env] < 0.3))
            plain[env] = min(max(plain[env] + change, 0.0), 1.0)
            average[env] = 0.55 if change else average[env]
        np.testing.assert_allclose(np.asarray(memory["difficulty"]), plain, atol=1e-5)
        np.testing.assert_allclose(np.asarray(memory["difficulty_average"]), average, atol=1e-5)
    assert plain.tolist()[:2] == [1.0, 0.0] and plain[3] == 0.2
    anew = difficulty.begin(ends(4, memory, fresh=True, kind=kind), kind.xp.asarray(success))
    np.testing.assert_allclose(np.asarray(anew["difficulty"]), 0.2, rtol=1e-6)


@KINDS
def test_bounds_may_be_lists(kind):
    places = kind.numbers(np.array([[0.0, 0.0], [2.1, 0.0], [0.0, np.nan]]))
    assert np.asarray(out_of_bounds(places, [-2.0, -1.0], (2, 1))).tolist() == [False, True, True]
    assert np.asarray(out_of_bounds(places, -1, 2.5)).tolist() == [False, False, True]


def test_a_success_that_is_not_a_number_is_none():
    difficulty = Difficulty(bound(), rate=0.5, first=0.5)
    memory = difficulty.begin(ends(2), None)
    memory = difficulty.begin(ends(2, memory), np.array([np.nan, 0.0]))
    np.testing.assert_array_equal(memory["difficulty_average"][0], memory["difficulty_average"][1])


def test_no_body_leans_by_more_than_half_a_turn():
    quat = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0.6, 0.8, 0, 0], [np.nan, 0, 0, 0]])
    for angle in (math.pi, 4.0, math.inf):
        assert tilted(quat, angle).tolist() == [False, False, False, True]


@cases(
    "make, message",
    [
        (lambda task: Stages({5: 1.0}), r"begin at the steps \[5\]: list them in order, the first at 0"),
        (lambda task: Stages({0: 1.0, 9: 2.0, 4: 3.0}), "list them in order"),
        (lambda task: Stages({0: 1.0, 9: (2.0, 3.0)}), r"the one from step 9 has shape \(2,\)"),
        (lambda task: Difficulty(task, up=0.2, down=0.5), "down=0.5 is above up=0.2"),
        (lambda task: Difficulty(task, rate=1.5), "rate=1.5: it must be between 0 and 1"),
        (lambda task: BodyContact(task, "trunk"), "BodyContact: it needs 'cfrc_ext' in the reads of Robot"),
        (lambda task: SensorAbove(task, "foot"), "SensorAbove: it needs 'sensordata' in the reads of Robot"),
        (lambda task: BodyContact(bound(NUMPY, Feeling), "head"), "BodyContact: bodies='head': the model has none"),
        (lambda task: JointLimits(task, share=-0.9), "JointLimits: share=-0.9: it must be above 0"),
        (
            lambda task: JointLimits(task, "root"),
            "JointLimits: joints='root': no joint is a hinge or slide with a limit",
        ),
    ],
)
def test_impossible_numbers_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make(bound())
