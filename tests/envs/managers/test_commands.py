"""Commands: drawn from their ranges, anew when their time is over, in every batch and library with the same bits."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from tumble.envs import Last, PoseCommand, Stages, VelocityCommand
from tumble.envs.managers import frames

from ...cases import cases
from .robot import NUMPY, STRICT, TORCH, bound, in_numpy, noise_of, state_of

N = 4000


def followed(command, task, memory, steps, **given):
    """Memory after each of some steps."""
    found = []
    for step in range(steps):
        memory = command.update(state_of(task, memory, step, **given)).memory
        found.append(in_numpy(memory))
    return found


def uniform(numbers, low, high):
    assert low <= numbers.min() and numbers.max() <= high
    return stats.kstest(numbers, stats.uniform(low, high - low).cdf).pvalue > 1e-3


def test_commands_are_drawn_evenly_from_their_ranges():
    command = VelocityCommand(
        bound(), lin_vel_x=(-1, 2), lin_vel_y=(-0.5, 0.5), ang_vel_z=(0, 3), standing=0.2, resampling_time=(1, 3)
    )
    begun = command.begin(noise_of(N))
    later = followed(command, bound(), begun, 150)[-1]
    for memory in (begun, later):
        moving = memory["command"][~memory["command_stands"]]
        assert abs(len(moving) / N - 0.8) < 0.03
        assert (memory["command"][memory["command_stands"]] == 0).all()
        assert uniform(moving[:, 0], -1, 2) and uniform(moving[:, 1], -0.5, 0.5) and uniform(moving[:, 2], 0, 3)
        assert abs(np.corrcoef(moving.T) - np.eye(3)).max() < 5 / math.sqrt(N)
    assert uniform(begun["command_steps"] + np.random.default_rng(0).uniform(-0.5, 0.5, N), 49.5, 150.5)
    assert (begun["command"] != later["command"]).any(1).mean() > 0.9


def test_a_command_lasts_its_time_and_no_step_longer():
    task = bound()  # 0.02 s a step
    command = VelocityCommand(task, resampling_time=(0.1, 0.1), standing=0.0)
    memory = command.begin(noise_of(5))
    found = [in_numpy(memory), *followed(command, task, memory, 12)]
    changed = [(now["command"] != before["command"]).any(1) for before, now in itertools.pairwise(found)]
    assert [step for step, rows in enumerate(changed, 1) if rows.any()] == [5, 10]
    assert changed[4].all() and changed[9].all()


def test_a_command_may_last_for_ever():
    task = bound()
    for command in (VelocityCommand(task, resampling_time=(np.inf, np.inf)), PoseCommand(task, position=((0, 1),) * 3)):
        first = command.begin(noise_of(4))
        state = command.update(state_of(task, first, 1))
        np.testing.assert_array_equal(state.memory[command.name], first[command.name])


def test_environments_come_due_at_their_own_times():
    task = bound()
    command = VelocityCommand(task, resampling_time=(0.04, 0.4))
    memory = command.begin(noise_of(50))
    for step in range(60):
        before, memory = in_numpy(memory), command.update(state_of(task, memory, step)).memory
        due, now = before["command_steps"] == 1, in_numpy(memory)
        np.testing.assert_array_equal(now["command"][~due], before["command"][~due])
        np.testing.assert_array_equal(now["command_steps"][~due], before["command_steps"][~due] - 1)
        assert (now["command_steps"][due] >= 2).all() and (now["command_steps"][due] <= 20).all()


def test_headings_turn_the_robot():
    """By the error of the heading over its shorter side, times the stiffness, within the range."""
    task = bound()
    command = VelocityCommand(task, ang_vel_z=(-0.7, 0.9), heading=(-3, 3), heading_stiffness=0.8, standing=0.3)
    memory = command.begin(noise_of(N))
    yaw = np.random.default_rng(1).uniform(-math.pi, math.pi, N)
    qpos = np.tile(task.model.qpos0, (N, 1))
    qpos[:, 3:7] = frames.quat_from_yaw(yaw)
    found = in_numpy(command.update(state_of(task, memory, qpos=qpos)).memory)
    given = in_numpy(command.update(state_of(task, memory), np.float32(yaw)).memory)
    difference = found["command_heading"] - yaw
    error = np.arctan2(np.sin(difference), np.cos(difference))
    expected = np.where(found["command_stands"], 0, np.clip(0.8 * error, -0.7, 0.9))
    np.testing.assert_allclose(found["command"][:, 2], expected, atol=3e-6)
    np.testing.assert_allclose(given["command"][:, 2], expected, atol=3e-6)
    aimed = in_numpy(command.aim(state_of(task, memory, qpos=qpos)).memory)
    np.testing.assert_array_equal(aimed["command"], found["command"])
    assert (aimed["command_steps"] == found["command_steps"] + 1).all()


def test_a_share_of_commands_has_a_heading():
    task = bound()
    command = VelocityCommand(task, heading=(-3, 3), heading_share=0.3, standing=0.0)
    memory = command.begin(noise_of(N))
    found = in_numpy(command.update(state_of(task, memory)).memory)
    turned = found["command"][:, 2] != in_numpy(memory)["command"][:, 2]
    assert abs(turned.mean() - 0.3) < 0.03
    np.testing.assert_array_equal(found["command_turns"], turned)


def ends(n, memory, fresh=False):
    return Last(np.arange(n), n, np.full(n, fresh), np.ones(n, int), None, None, memory)


def test_ranges_widen_by_stages():
    """Counted are steps over all episodes, until an environment is seeded anew."""
    task = bound()
    command = VelocityCommand(
        task, lin_vel_x=Stages({0: (0, 1), 10: (5, 6)}), standing=0.0, resampling_time=(0.02, 0.02)
    )
    memory = command.begin(noise_of(40), ends(40, {}))
    first = followed(command, task, memory, 12)
    seen = [(low["command"][:, 0].min(), low["command"][:, 0].max()) for low in first]
    assert min(seen[:9])[0] >= 0 and max(high for _, high in seen[:9]) <= 1 and min(seen[9:])[0] >= 5
    kept = command.begin(noise_of(40), ends(40, first[-1]))
    assert kept["command"][:, 0].min() >= 5 and (kept["command_count"] == 12).all()
    anew = command.begin(noise_of(40), ends(40, first[-1], fresh=True))
    assert anew["command"][:, 0].max() <= 1 and (anew["command_count"] == 0).all()


def goals(task):
    return PoseCommand(
        task, position=((0.3, 0.6), (-0.2, 0.2), (0.1, 0.5)), yaw=(-3, 3), pitch=(0.2, 1.2), resampling_time=(0.1, 0.2)
    )


def test_goals_lie_in_their_box_and_turn_by_their_angles():
    memory = goals(bound()).begin(noise_of(N))
    place, quat = memory["goal"][:, :3], memory["goal"][:, 3:].astype(float)
    assert uniform(place[:, 0], 0.3, 0.6) and uniform(place[:, 1], -0.2, 0.2) and uniform(place[:, 2], 0.1, 0.5)
    assert uniform(frames.yaw_of(quat), -3, 3)
    down = frames.quat_rotate(quat, np.array([[1.0, 0, 0]]))[:, 2]
    assert uniform(np.arcsin(-down), 0.2 - 1e-6, 1.2 + 1e-6)


def test_any_orientation():
    """The image of an axis is even on the sphere, and its angle has the density of the rotation group."""
    command = PoseCommand(bound(), position=((0, 0),) * 3, any_orientation=True)
    quat = command.begin(noise_of(N))["goal"][:, 3:].astype(float)
    np.testing.assert_allclose(np.linalg.norm(quat, axis=1), 1, atol=1e-6)
    for axis in np.eye(3):
        for k in range(3):
            assert uniform(frames.quat_rotate(quat, axis[None])[:, k], -1.0001, 1.0001)
    angle = 2 * np.arccos(np.clip(abs(quat[:, 0]), 0, 1))
    assert stats.kstest(angle, lambda a: (a - np.sin(a)) / math.pi).pvalue > 1e-3


def test_a_goal_that_is_reached_is_followed_by_another():
    task = bound()
    command = PoseCommand(task, position=((0, 1),) * 3)
    memory = command.begin(noise_of(6))
    reached = np.arange(6) % 2 == 0
    after = command.update(state_of(task, memory), reached).memory
    np.testing.assert_array_equal((after["goal"] != np.float32(memory["goal"])).any(1), reached)
    assert followed(command, task, memory, 100)[-1]["goal"].tolist() == np.float32(memory["goal"]).tolist()


MAKERS = {
    "velocity": lambda task: VelocityCommand(task, resampling_time=(0.04, 0.3), standing=0.2),
    "heading": lambda task: VelocityCommand(task, resampling_time=(0.04, 0.3), heading=(-3, 3), heading_share=0.5),
    "pose": goals,
}


@pytest.mark.parametrize("kind", [TORCH, STRICT], ids=["torch", "strict"])
@pytest.mark.parametrize("name", MAKERS)
def test_bits_are_the_same_in_every_library(name, kind):
    found = []
    for each in (NUMPY, kind):
        task = bound(each)
        command = MAKERS[name](task)
        memory = command.begin(noise_of(20, kind=each))
        found.append(followed(command, task, memory, 25))
    for one, other in zip(*found, strict=True):
        for part in one:
            np.testing.assert_array_equal(one[part], other[part], part)


@pytest.mark.parametrize("name", MAKERS)
def test_an_environment_alone_has_the_same_bits(name):
    task = bound()
    command = MAKERS[name](task)
    together = followed(command, task, command.begin(noise_of(9)), 25)
    for k in (0, 8):
        alone = followed(command, task, command.begin(noise_of(1, first=k)), 25, first=k)
        for one, all_ in zip(alone, together, strict=True):
            for part in one:
                np.testing.assert_array_equal(one[part][0], all_[part][k], part)


def test_draws_that_follow_are_the_same_whether_any_was_due():
    """Draws of a task after those of a command do not depend on the neighbors."""
    task = bound()
    command = VelocityCommand(task, resampling_time=(0.04, 0.3))
    memory = command.begin(noise_of(9))
    for step in range(20):
        state = state_of(task, memory, step)
        memory = command.update(state).memory
        expected = noise_of(9, step + 1)
        expected.uniform(0, 1, 7)
        np.testing.assert_array_equal(state.noise.normal(3), expected.normal(3))


@cases(
    "make, message",
    [
        (lambda task: VelocityCommand(task, lin_vel_x=(1, -1)), r"lin_vel_x=\(1, -1\): it must be a pair"),
        (lambda task: VelocityCommand(task, heading=(1, -1)), "heading="),
        (lambda task: VelocityCommand(task, heading=Stages({0: (0, 1)})), "heading=.*it must be a pair"),
        (lambda task: VelocityCommand(task, lin_vel_y=(0, np.inf)), r"lin_vel_y=\(0, inf\): .* of finite numbers"),
        (lambda task: VelocityCommand(task, resampling_time=(-2, -1)), "resampling_time=.*seconds must be above 0"),
        (lambda task: VelocityCommand(task, standing=1.2), "standing=1.2: a share is between"),
        (lambda task: VelocityCommand(task, ang_vel_z=Stages({0: (0, 1), 5: (2, 1)})), "ang_vel_z="),
        (lambda task: VelocityCommand(task, ang_vel_z=Stages({0: (0, 1)})).begin(noise_of(2)), "need begin"),
        (lambda task: PoseCommand(task, position=((0, 1),)), "a pair .* for each of x, y and z"),
        (lambda task: PoseCommand(task, position=0.5), "position=0.5: it has a pair .* for each of x, y and z"),
        (lambda task: PoseCommand(task, position=((0, 1),) * 3, yaw=(0, "1")), "yaw=.*it must be a pair"),
        (lambda task: PoseCommand(task, position=((0, 1), (1, 0), (0, 1))), r"position\[1\]"),
    ],
)
def test_impossible_commands_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make(bound())
