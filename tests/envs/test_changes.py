"""What a step changes of its environments: velocities, as a push does, and numbers of the model."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs import SingleEnv, StepResult, TaskState
from tumble.envs.arrays import host
from tumble.envs.v5.hopper import Hopper

NUM_ENVS, LIMIT, STEPS = 5, 12, 30


class Kicked(Hopper):
    """Kicked along x in some steps, and observed after it; the damping changes in others.

    All numbers are the environments' own that `test_randomised.py` has, so that both use one kernel.
    """

    terminate_when_unhealthy: bool = False
    kick: float = 0.5  # m/s
    vary: bool = True
    begun: int = 0

    def own(self, name: str, share):
        """A number of the model, times a share (n, 1)."""
        number = self.model.opt.gravity if name == "gravity" else getattr(self.model, name)
        number = self.xp.asarray(number.copy())
        return number * self.xp.reshape(share, (-1, *[1] * number.ndim))

    def reset(self, noise):
        """The model's own numbers again."""
        start = super().reset(noise)
        if not self.vary:
            return start
        share = noise.uniform(1, 1, 1)
        names = ("body_mass", "dof_damping", "gravity", "actuator_gear")
        return start._replace(parameters={name: self.own(name, share) for name in names})

    def begin(self, state):
        """Count the calls."""
        self.begun += 1
        return super().begin(state)

    def step(self, state: TaskState, action) -> StepResult:
        """One environment in four is kicked, one in five gets other damping."""
        result = super().step(state, action)
        kicked = state.noise.uniform(0, 1, 1) < 0.25
        qvel = state.qvel + self.array(kicked) * self.array([self.kick, 0, 0, 0, 0, 0])
        state = state._replace(qvel=qvel, coordinates=self.xp.concat((state.qpos, qvel), axis=1))
        result = result._replace(observation=self.observation(state), qvel=qvel)
        if not self.vary:
            return result
        share, changed = state.noise.uniform(1, 3, 1), state.noise.uniform(0, 1, 1)[:, 0] < 0.2
        return result._replace(parameters={"dof_damping": self.own("dof_damping", share)}, parameters_mask=changed)


def drawn(steps: int = STEPS, num_envs: int = NUM_ENVS) -> np.ndarray:
    """Actions (steps, num_envs, 3)."""
    return np.random.default_rng(0).uniform(-0.3, 0.3, (steps, num_envs, 3)).astype(np.float32)


def make(task=Kicked, mode="SAME_STEP", n=NUM_ENVS, **options):
    return tumble.make_vec(task, n, max_episode_steps=LIMIT, autoreset_mode=mode, output="numpy", **options)


def test_a_kick_is_the_velocity_that_the_next_step_begins_with():
    """The kicked go on as from a state that was set so; the others as without kicks, to the last bit."""
    kicked, plain = make(vary=False), make(vary=False, kick=0.0)
    kicked.reset(seed=3), plain.reset(seed=3)
    seen = 0
    for action in drawn(LIMIT - 1):
        qpos, qvel = plain.solver.qpos.numpy(), plain.solver.qvel.numpy()
        np.testing.assert_array_equal(kicked.solver.qpos.numpy(), qpos)
        np.testing.assert_array_equal(kicked.solver.qvel.numpy(), qvel)
        observed, before = kicked.step(action)[0], plain.step(action)[0]
        rows = np.flatnonzero((observed != before).any(1))
        np.testing.assert_array_equal(observed[:, :5], before[:, :5])
        np.testing.assert_array_equal(observed[rows, 5], before[rows, 5] + np.float32(0.5))
        np.testing.assert_array_equal(observed[:, 6:], before[:, 6:])
        np.testing.assert_array_equal(kicked.solver.qvel.numpy(), observed[:, 5:])
        plain.solver.set_state(qvel=observed[rows, 5:], envs_idx=rows)
        plain.batch._edits, plain.batch._coordinates = plain.solver.edits, plain.batch._view.coordinates()
        seen += len(rows)
    assert 5 < seen < 0.6 * NUM_ENVS * LIMIT
    assert kicked.task.begun == plain.task.begun == 2  # a kick is no change from outside
    kicked.close(), plain.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_numbers_change_where_the_mask_says_and_last(mode):
    class Watched(Kicked):
        def step(self, state, action):
            self.said = super().step(state, action)
            return self.said

    envs = make(Watched, mode)
    envs.reset(seed=1)
    own, changes = envs.task.model.dof_damping, 0
    expected, ended = np.repeat(own[None], NUM_ENVS, axis=0), np.zeros(NUM_ENVS, bool)
    for action in drawn():
        if mode is AutoresetMode.DISABLED and ended.any():
            envs.reset(options={"reset_mask": ended})
            expected[ended] = own
        _, _, terminated, truncated, _ = envs.step(action)
        mask = envs.task.said.parameters_mask
        changes += mask.sum()
        expected[mask] = envs.task.said.parameters["dof_damping"][mask]
        if mode is AutoresetMode.NEXT_STEP:
            expected[ended] = own
        ended = terminated | truncated
        if mode is AutoresetMode.SAME_STEP:
            expected[ended] = own
        np.testing.assert_array_equal(envs.solver.get_parameters("dof_damping").numpy(), expected)
    assert changes > 10
    envs.close()


def test_one_environment_replays_that_of_a_batch():
    envs = make()
    envs.reset(seed=5)
    actions = drawn()
    together = [envs.step(action)[0] for action in actions]
    for k in (0, 4):
        env = SingleEnv(Kicked)
        env.reset(seed=5 + k)
        steps = 0
        for action, expected in zip(actions, together, strict=True):
            found, _, terminated, truncated, _ = env.step(action[k])
            steps += 1
            if terminated or truncated or steps == LIMIT:
                steps, (found, _) = 0, env.reset()
            np.testing.assert_array_equal(found, expected[k])
        env.close()
    envs.close()


def test_torch_agrees():
    class InTorch(Kicked):
        array_library = "torch"

    found = []
    for task in (Kicked, InTorch):
        envs = make(task)
        envs.reset(seed=5)
        found.append([envs.step(action)[0] for action in drawn(LIMIT)])
        envs.close()
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)


def test_a_saved_state_goes_on():
    envs, other = make(), make()
    envs.reset(seed=2), other.reset(seed=77)
    actions = drawn()
    for action in actions[:7]:
        envs.step(action)
    other.load_state_dict(envs.state_dict())
    for action in actions[7:]:
        np.testing.assert_array_equal(envs.step(action)[0], other.step(action)[0])
    envs.close(), other.close()


class Wrong(Hopper):
    """Returns what it is told to."""

    what: str = ""

    def step(self, state, action):
        """As told."""
        wrong = {
            "qvel": {"qvel": state.qvel[:1]},
            "mask": {"parameters": {"dof_damping": host(state.qvel)}, "parameters_mask": state.qvel[:, 0]},
            "rows": {"parameters": {"dof_damping": np.ones(6)}, "parameters_mask": state.qvel[:, 0] > 0},
            "name": {"parameters": {"dof_dampign": np.ones((NUM_ENVS, 6))}},
            "number": {"parameters": {"dof_damping": np.full((NUM_ENVS, 6), -1.0)}},
        }
        return super().step(state, action)._replace(**wrong[self.what])


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("qvel", ValueError, r"Wrong.step: qvel has shape \(1, 6\); needed is an array of shape \(5, 6\)"),
        ("mask", ValueError, r"Wrong.step: parameters_mask has shape \(5,\); needed is .* \(5,\), of bool"),
        ("rows", ValueError, r"Wrong.step: parameters 'dof_damping' has shape \(6,\)"),
        ("name", KeyError, "Wrong.step: parameters: .*did you mean dof_damping"),
        ("number", ValueError, r"Wrong.step: parameters: dof_damping\[0\] of environment 0 is -1"),
    ],
)
def test_wrong_changes_are_refused(what, error, message):
    envs = make(Wrong, what=what)
    envs.reset(seed=0)
    with pytest.raises(error, match=message):
        envs.step(drawn(1)[0])
    envs.close()
