"""Observations and actions that are noisy, biased, late and remembered, against plain lists for one environment."""

import mujoco
import numpy as np
import pytest
from scipy import stats

import tumble
from tumble.envs import DelayedAction, EncoderBias, Observer, ResetResult, StepResult, Term
from tumble.envs.managers.delays import Delay

from ...cases import cases
from .robot import NUMPY, STRICT, TORCH, Robot, bound, in_numpy, noise_of, state_of
from .test_randomization import ends

N, STEPS = 7, 30
QUANTITIES = np.random.default_rng(0).normal(size=(STEPS + 1, N, 5)).astype(np.float32)


def values_at(step, names=("gyro", "angles"), n=N, first=0, kind=NUMPY):
    gyro, angles = QUANTITIES[step, first : first + n, :3], QUANTITIES[step, first : first + n, 3:]
    return {name: kind.numbers(part) for name, part in zip(names, (gyro, angles), strict=True)}


def played(observer, task, n=N, first=0, steps=STEPS):
    """Observations and memories from the beginning on."""
    kind = task._kind
    noise = noise_of(n, 0, kind, first)
    memory, seen = observer.begin(values_at(0, n=n, first=first, kind=kind), noise)
    found = [(np.asarray(seen), in_numpy(memory))]
    for step in range(1, steps + 1):
        state = state_of(task, memory, step, first=first)
        state, seen = observer.step(state, values_at(step, n=n, first=first, kind=kind))
        memory = state.memory
        found.append((np.asarray(seen), in_numpy(memory)))
    return found


def test_plain_terms_are_clipped_scaled_and_put_side_by_side():
    task = bound()
    observer = Observer(task, gyro=Term(clip=(-0.5, 0.7), scale=0.25), angles=Term(scale=(2.0, 3.0)))
    for step, (seen, memory) in enumerate(played(observer, task)):
        gyro, angles = values_at(step).values()
        expected = np.concatenate((0.25 * np.clip(gyro, -0.5, 0.7), angles * [2, 3]), axis=1)
        np.testing.assert_allclose(seen, expected, rtol=1e-6)
        np.testing.assert_array_equal(observer.clean(values_at(step)), seen)
        assert memory == {}


def test_history_and_delay_are_those_of_lists():
    """Each environment's past in a list: back-filled, late by its lag, the last ones from the oldest on."""
    task = bound()
    observer = Observer(
        task, gyro=Term(scale=2.0, delay=(0, 3), hold=0.6, history=4), angles=Term(delay=(2, 2), history=3)
    )
    pasts = [([], [], [], []) for _ in range(N)]  # gyro, what came out of its delay, angles, likewise
    lags = []
    for step, (seen, memory) in enumerate(played(observer, task)):
        lags.append(memory["observer_gyro_lag"])
        for env, (gyro, gyro_out, angles, angles_out) in enumerate(pasts):
            now = {name: value[env] for name, value in values_at(step).items()}
            if step == 0:
                gyro += [2 * now["gyro"]] * 9
                angles += [now["angles"]] * 9
                gyro_out += [2 * now["gyro"]] * 9
                angles_out += [now["angles"]] * 9
            else:
                gyro.append(2 * now["gyro"])
                angles.append(now["angles"])
                gyro_out.append(gyro[-1 - lags[-1][env]])
                angles_out.append(angles[-3])
            np.testing.assert_array_equal(seen[env], np.concatenate((*gyro_out[-4:], *angles_out[-3:])))
    lags = np.array(lags)
    assert {*lags.ravel().tolist()} == {0, 1, 2, 3}
    changed = (lags[1:] != lags[:-1]).mean()
    assert abs(changed - 0.4 * 0.75) < 4 * np.sqrt(0.3 * 0.7 / lags.size)


def test_lags_are_even_and_held_for_an_episode():
    task = bound()
    memory, _ = Observer(task, a=Term(delay=(1, 4))).begin({"a": np.zeros((4000, 1), np.float32)}, noise_of(4000))
    counts = np.bincount(memory["observer_a_lag"], minlength=5)
    assert counts[0] == 0 and stats.chisquare(counts[1:]).pvalue > 1e-3
    observer = Observer(task, gyro=Term(delay=(0, 3)), angles=Term())
    lags = np.array([memory["observer_gyro_lag"] for _, memory in played(observer, task)])
    assert (lags == lags[0]).all() and lags[0].std() > 0


@pytest.mark.parametrize(
    ("distribution", "oracle"), [("uniform", stats.uniform(-0.3, 0.6)), ("normal", stats.norm(0, 0.3))]
)
def test_noise_and_bias(distribution, oracle):
    """Noise is another one at every step and for every number, bias the same for an episode."""
    task, n = bound(), 2000
    observer = Observer(task, a=Term(noise=0.3, distribution=distribution, bias=(0.0, 2.0), scale=10.0))
    value = {"a": np.ones((n, 2), np.float32)}
    memory, seen = observer.begin(value, noise_of(n))
    bias = memory["observer_a_bias"]
    assert not bias[:, 0].any() and stats.kstest(bias[:, 1], stats.uniform(-2, 4).cdf).pvalue > 1e-3
    noises = [seen / 10 - 1 - bias]
    for step in range(3):
        state, seen = observer.step(state_of(task, memory, step), value)
        memory = state.memory
        np.testing.assert_array_equal(memory["observer_a_bias"], np.float32(bias))
        noises.append(seen / 10 - 1 - bias)
    noises = np.concatenate(noises, axis=1)
    for column in noises.T:
        assert stats.kstest(column, oracle.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(noises.T) - np.eye(8)).max() < 5 / np.sqrt(n)
    np.testing.assert_array_equal(observer.clean(value), np.full((n, 2), 10.0))


def test_noise_comes_before_the_clip_and_the_clip_before_the_scale():
    observer = Observer(bound(), a=Term(noise=5.0, clip=(-1, 1), scale=3.0))
    _, seen = observer.begin({"a": np.zeros((500, 1), np.float32)}, noise_of(500))
    assert seen.max() == 3 and seen.min() == -3 and (abs(seen) < 3).mean() > 0.1


ALL = {
    "gyro": Term(noise=0.1, bias=0.2, clip=(-1, 1), scale=0.3, delay=(0, 2), hold=0.5, history=2),
    "angles": Term(noise=(0.1, 0.2), distribution="normal", delay=(1, 1)),
}


@pytest.mark.parametrize("kind", [TORCH, STRICT], ids=["torch", "strict"])
def test_bits_are_the_same_in_every_library(kind):
    here, there = (played(Observer(task, **ALL), task) for task in (bound(), bound(kind)))
    for (seen, memory), (other, others) in zip(here, there, strict=True):
        np.testing.assert_array_equal(seen, other)
        for name in memory:
            np.testing.assert_array_equal(memory[name], others[name], name)


def test_an_environment_alone_has_the_same_bits():
    task = bound()
    together = played(Observer(task, **ALL), task)
    for k in (0, N - 1):
        for (alone, _), (seen, _) in zip(played(Observer(task, **ALL), task, 1, k), together, strict=True):
            np.testing.assert_array_equal(alone[0], seen[k])


# -- actions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [1.0, 0.5])
@pytest.mark.parametrize(("least", "most"), [(0, 3), (2, 2), (0, 0)])
def test_late_actions_are_those_of_lists(least, most, hold):
    task = bound()
    delayed = DelayedAction(task, least, most, hold=hold)
    rest = np.full((N, 2), 0.5, np.float32)
    memory, pasts = delayed.begin(noise_of(N), rest), [[row] * 5 for row in rest]
    lags = []
    for step in range(STEPS):
        state = state_of(task, memory, step)
        lag = state.memory.get("action_delay_lag", np.full(N, least))
        lags.append(lag)
        action = QUANTITIES[step][:, 3:].astype(np.float64)  # in another precision
        acting = delayed.acting(state, action)
        for env, past in enumerate(pasts):
            past.append(np.float32(action[env]))
            np.testing.assert_array_equal(acting[env], past[-1 - lag[env]])
        memory = delayed.step(state, action).memory
    lags = np.array(lags)
    assert lags.min() == least and lags.max() == most
    assert (lags == lags[0]).all() == (hold == 1.0 or least == most)


class Late(Robot):
    """The robot with late actions, whose first is at once in its observation, and an encoder that is off."""

    def bind(self):
        """Two steps late."""
        self.delayed = DelayedAction(self, 2, 2)
        self.encoder = EncoderBias(self, 0.1, 0.2, when="start")
        self.observer = Observer(self, joints=Term(noise=0.01, history=2))

    def reset_after(self, last, noise):
        """With nothing given yet."""
        start = self.reset(noise)
        rest = 0 * start.qpos[:, :3]
        memory = self.delayed.begin(noise, rest) | self.encoder.begin(noise, last)
        return start._replace(memory=memory)

    def begin(self, state):
        """Return what the encoders read."""
        memory, seen = self.observer.begin({"joints": self.encoder.read(state)}, state.noise)
        return ResetResult(seen, memory=memory)

    def control(self, state, action):
        """Late, and short by the bias."""
        return self.encoder.targets(state, self.delayed.acting(state, action))

    def step(self, state, action):
        """Return what the encoders read."""
        state = self.delayed.step(state, action)
        state, seen = self.observer.step(state, {"joints": self.encoder.read(state)})
        return StepResult(seen, {"reward": 0 * state.qpos[:, 0]}, memory=state.memory)


def test_in_environments():
    """Controls of the solver are the action of two steps ago less the bias, for the servos but not for the motor."""
    envs = tumble.make_vec(Late, 3, max_episode_steps=12, autoreset_mode="SAME_STEP", output="numpy")
    seen, _ = envs.reset(seed=0)
    np.testing.assert_array_equal(seen[:, :3], seen[:, 3:])
    bias = envs.batch.state_dict()["memory"]["encoder_bias"].numpy()
    assert bias.min() >= 0.1 and bias.max() <= 0.2 and len({*bias.ravel()}) == 9
    given = [np.zeros((3, 3), np.float32)] * 2
    for step in range(30):
        given.append(np.random.default_rng(step).uniform(-0.3, 0.3, (3, 3)).astype(np.float32))
        seen, *_ = envs.step(given[-1])
        expected = given[-3] - np.concatenate((bias[:, :2], np.zeros((3, 1))), axis=1)
        if step % 12 == 11:  # another episode began
            given = [np.zeros((3, 3), np.float32)] * 2
        else:
            np.testing.assert_allclose(envs.solver.ctrl.numpy(), expected, atol=1e-7)
        joints = envs.solver.qpos.numpy()[:, 7:] + bias
        assert 0 < abs(seen[:, 3:] - joints).max() <= 0.0101
        np.testing.assert_array_equal(envs.batch.state_dict()["memory"]["encoder_bias"].numpy(), bias)
    envs.close()


def test_a_servo_whose_encoder_is_off_stops_short():
    """A joint whose reading is at its target is away from it by the bias."""
    task = bound()
    encoder = EncoderBias(task, 0.1, 0.1, joints="left_hip")
    state = state_of(task, encoder.begin(noise_of(4)))
    controls = task.array(np.full((4, 3), 0.3))
    np.testing.assert_allclose(encoder.targets(state, controls), [[0.2, 0.3, 0.3]] * 4, rtol=1e-6)
    np.testing.assert_allclose(encoder.read(state), [[0.1]] * 4, rtol=1e-6)


def test_a_servo_that_hangs_on_the_joint_in_its_parent_is_off_too():
    """The transmissions "joint" and "jointinparent" are the same for a hinge."""
    task = bound()
    task.model.actuator_trntype[0] = mujoco.mjtTrn.mjTRN_JOINTINPARENT
    encoder = EncoderBias(task, 0.1, 0.1, joints="left_hip")
    state = state_of(task, encoder.begin(noise_of(2)))
    np.testing.assert_allclose(encoder.targets(state, task.array(np.zeros((2, 3)))), [[-0.1, 0, 0]] * 2, rtol=1e-6)


def test_a_servo_whose_control_has_another_gain_is_off_by_its_share():
    """The control is off by half the bias: the force is 20 N m for a control of 1, and 10 N m for 1 rad."""
    task = bound()
    task.model.actuator_gainprm[0, 0], task.model.actuator_biasprm[0, 1] = 20.0, -10.0
    encoder = EncoderBias(task, 0.1, 0.1, joints="left_hip")
    state = state_of(task, encoder.begin(noise_of(2)))
    np.testing.assert_allclose(encoder.targets(state, task.array(np.ones((2, 3)))), [[0.95, 1, 1]] * 2, rtol=1e-6)


def test_a_servo_whose_control_is_a_velocity_keeps_it():
    """An `intvelocity` servo integrates its control: a bias taken off that would be a drift."""
    task = bound()
    task.model.actuator_dyntype[0] = mujoco.mjtDyn.mjDYN_INTEGRATOR
    encoder = EncoderBias(task, 0.1, 0.1, joints="left_hip")
    state = state_of(task, encoder.begin(noise_of(2)))
    np.testing.assert_array_equal(encoder.targets(state, task.array(np.ones((2, 3)))), np.ones((2, 3)))


def test_a_term_is_a_term():
    with pytest.raises(TypeError, match=r"Observer: gyro is 0.2; needed is a Term"):
        Observer(bound(), gyro=0.2)


def test_a_bias_of_the_start_is_kept_until_a_seed():
    encoder = EncoderBias(bound(), -1, 1, when="start")
    first = encoder.begin(noise_of(5), ends(5))
    kept = encoder.begin(noise_of(5, 1), ends(5, first))
    anew = encoder.begin(noise_of(5, 1), ends(5, first, fresh=True))
    np.testing.assert_array_equal(kept["encoder_bias"], first["encoder_bias"])
    assert (anew["encoder_bias"] != first["encoder_bias"]).all()


@cases(
    "make, message",
    [
        (lambda task: Observer(task), "there are no terms"),
        (lambda task: Observer(task, a=Term(noise=-1.0)), "Observer: a: noise=-1.0: it must be at least 0"),
        (lambda task: Observer(task, a=Term(distribution="gauss")), "Observer: a: distribution='gauss': there are"),
        (lambda task: Observer(task, a=Term(clip=(1, -1))), "Observer: a: clip="),
        (lambda task: Observer(task, a=Term(clip=1.0)), "Observer: a: clip=1.0: it must be a pair"),
        (lambda task: Observer(task, a=Term(history=0)), "Observer: a: history=0"),
        (lambda task: Observer(task, a=Term(history=1.5)), "Observer: a: history=1.5"),
        (lambda task: Observer(task, a=Term(scale=np.nan)), "Observer: a: scale=nan: it must be a finite number"),
        (lambda task: Observer(task, a=Term(delay=2)), "Observer: a: delay=2: it must be a pair of steps"),
        (lambda task: Observer(task, a=Term()).begin({"a": np.ones(2)}, noise_of(2)), r"a: its value has shape \(2,\)"),
        (
            lambda task: Observer(task, a=Term(scale=(1, 2))).begin({"a": np.ones((2, 1))}, noise_of(2)),
            "a: scale has 2 numbers, and the value 1",
        ),
        (lambda task: Observer(task, a=Term(delay=(2, 1))), r"Observer: a: delay=\(2, 1\)"),
        (lambda task: Observer(task, a=Term(delay=(1, 2), hold=2)), "Observer: a: hold=2"),
        (lambda task: Observer(task, a=Term()).clean({"b": 0}), r"values of \['b'\] were given; its terms are \['a'\]"),
        (lambda task: Delay(task, -1, 0), r"Delay: delay=\(-1, 0\)"),
        (lambda task: EncoderBias(task, 1, 0), "low=1 is above high=0"),
        (lambda task: DelayedAction(task, 0, 0.5), r"DelayedAction: delay=\(0, 0.5\): steps are whole"),
        (lambda task: EncoderBias(task, 0, 1, "root"), "EncoderBias: joints='root': no joint is a hinge or slide"),
        (lambda task: EncoderBias(task, 0, np.inf), "EncoderBias: .* of finite numbers"),
        (lambda task: EncoderBias(task, 0, 1, "knee"), "EncoderBias: joints='knee': the model has none"),
        (lambda task: EncoderBias(task, 0, 1, when="step"), "EncoderBias: when='step'"),
        (lambda task: EncoderBias(task, 0, 1, when="start").begin(noise_of(2)), "needs begin"),
    ],
)
def test_impossible_numbers_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make(bound())
