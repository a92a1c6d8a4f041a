"""Managers that a batch runs around any task: what they change, and what they leave to the last bit."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import Latency, Push, Scatter, Start, Task, Term, Wrench, dr
from tumble.envs.arrays import host

from ...cases import cases
from ..own_tasks import Pointer
from .robot import Robot

MANAGERS = {
    "randomize": [
        dr.mass(0.8, 1.2, when="start"),
        dr.friction(0.4, 1.0),
        dr.kp(0.9, 1.1, when=(0.05, 0.1)),
        Push(speed=(0.5, 1.0), when=(0.1, 0.2)),
        Wrench("left", force=(-20.0, 20.0), when=(0.1, 0.2), duration=(0.04, 0.08)),
        Scatter(position=(-0.1, 0.1)),
    ],
    "observe": {"0:3": Term(noise=0.1, bias=0.2), "7:": Term(history=2, delay=(0, 1))},
    "delay": Latency(action=(0, 2), observation=(0, 1), hold=0.7),
}
STEPS = 30


@pytest.fixture
def make():
    """Make vector environments of the robot that are closed in the end."""
    made = []

    def make(num_envs=5, task=Robot, **options):
        made.append(tumble.make_vec(task, num_envs, **({"output": "numpy", "max_episode_steps": 12} | options)))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def actions_of(envs, steps=STEPS, seed=0):
    """Random actions (steps, num_envs, nu), for each environment by its number."""
    size = envs.single_action_space.shape
    drawn = [np.random.default_rng([seed, env]).uniform(-1, 1, (steps, *size)) for env in range(envs.num_envs)]
    return np.stack(drawn, axis=1).astype(np.float32)


def played(envs, actions, seed=3):
    """Observations (steps + 1, num_envs, ...) and rewards (steps, num_envs) under actions, from a reset with a seed."""
    if seed is not None:
        seen, rewards = [envs.reset(seed=seed)[0]], []
    else:
        seen, rewards = [envs.episodes.observation], []
    for action in actions:
        observation, reward, *_ = envs.step(action)
        seen.append(observation)
        rewards.append(reward)
    return np.stack(seen), np.stack(rewards)


# -- what stays -------------------------------------------------------------------------------------------------------


def test_managers_that_change_nothing_leave_all_bits(make):
    """Draws come from another stream: the task's own starts stay, and so does everything after them."""
    plain = make()
    same = make(
        randomize=[dr.friction(0.7, 0.7, "left_shank", operation="scale", name="f"), Push(when=(0.1, 0.2))],
        observe=Term(noise=0.0),
        delay=Latency(),
    )
    same.task.model  # noqa: B018 - the model of the file has friction 1
    for one, other in zip(played(plain, actions_of(plain)), played(same, actions_of(plain)), strict=True):
        assert one[0].shape == other[0].shape
    assert (played(plain, actions_of(plain))[0][0] == played(same, actions_of(plain))[0][0]).all()


def test_noise_and_delay_leave_what_is_randomized(make):
    """Each kind of manager draws from a separate stream, so that a further manager changes no draws of the others."""
    terms = MANAGERS["randomize"][:2]
    one, other = make(randomize=terms), make(**{**MANAGERS, "randomize": terms})
    for envs in (one, other):
        played(envs, actions_of(envs))
    for name in ("body_mass", "geom_friction"):
        np.testing.assert_array_equal(*(host(envs.solver.get_parameters(name)) for envs in (one, other)))


@cases("num_envs", [1, 64])
def test_the_same_bits_in_every_batch(make, num_envs):
    five, many = make(5, **MANAGERS), make(num_envs, **MANAGERS)
    n = min(5, num_envs)
    for one, other in zip(played(five, actions_of(five)), played(many, actions_of(many)), strict=True):
        np.testing.assert_array_equal(one[:, :n], other[:, :n])


def test_a_single_environment_replays_one_of_a_batch(make):
    envs = make(3, max_episode_steps=None, **MANAGERS)
    env = tumble.make(Robot, **MANAGERS)
    seen, rewards = played(envs, actions_of(envs))
    first, _ = env.reset(seed=3 + 2)
    np.testing.assert_array_equal(first, seen[0, 2])
    for k, action in enumerate(actions_of(envs)):
        observation, reward, *_ = env.step(action[2])
        np.testing.assert_array_equal(observation, seen[k + 1, 2])
        assert reward == rewards[k, 2]
    assert env.observation_space == envs.single_observation_space
    env.close()


# -- what changes -----------------------------------------------------------------------------------------------------


def test_numbers_of_the_model_are_drawn_at_starts_resets_and_intervals(make):
    envs = make(64, **MANAGERS)
    envs.reset(seed=0)
    found = {name: [] for name in ("body_mass", "geom_friction", "actuator_gainprm")}
    for action in actions_of(envs, 14):  # the episodes end at step 12; an interval lasts 2 to 5 steps of 0.02 s
        for name, rows in found.items():
            rows.append(host(envs.solver.get_parameters(name)).reshape(64, -1).copy())
        envs.step(action)
    mass, friction, gain = (np.stack(rows) for rows in found.values())
    own = envs.task.model
    assert (mass == mass[0]).all() and abs(mass[0, :, 1:] / own.body_mass[1:] - 1).max() <= 0.2
    assert mass[0, :, 1].std() > 0.3
    assert (friction[:12] == friction[0]).all() and (friction[12] != friction[0]).any(axis=1).all()
    assert friction[0].reshape(64, -1, 3)[:, 0, 0].min() >= 0.4 and friction[0].reshape(64, -1, 3)[:, 0, 0].max() <= 1
    turned = (gain[1:12] != gain[:11]).any(axis=2)
    assert not turned[0].any() and 0.2 < turned[1:].mean() < 0.4 and turned.any(axis=0).all()


def test_a_push_acts_from_the_next_step_on(make):
    """The observation, the reward and the end are those of the task, in the state that physics reached."""
    envs = make(8, max_episode_steps=None, randomize=[Push(speed=(1.0, 1.0), when=(0.1, 0.1))])
    envs.reset(seed=0)
    for step, action in enumerate(actions_of(envs, 12), 1):
        observation, *_ = envs.step(action)
        speed = host(envs.solver.get("qvel"))[:, :2]
        kick = np.hypot(*(speed - observation[:, envs.task.model.nq :][:, :2]).T)
        np.testing.assert_allclose(kick, 1.0 if step % 5 == 0 else 0.0, atol=1e-6)


def test_starts_are_scattered(make):
    """Offsets of the joints that are named, within their ranges; the first observation and all else are the task's."""
    plain = make(64)
    envs = make(64, randomize=[Scatter("left_.*", position=(0.2, 2.0), velocity=(-1.0, 1.0))])
    before, after = (one.reset(seed=0)[0] for one in (plain, envs))
    moved = after - before
    columns = [7, 8, 10 + 6, 10 + 7]
    assert not np.delete(moved, columns, axis=1).any() and envs.task.model.nq == 10
    assert (after[:, 7:9] <= 1).all() and (after[:, 7:9] == 1).any() and (moved[:, 7:9] > 0.19).all()
    assert abs(moved[:, 16:]).max() <= 1 and moved[:, 16:18].std() > 0.4
    np.testing.assert_array_equal(host(envs.solver.get("qpos")), after[:, :10])
    with pytest.raises(ValueError, match="'root' is neither a hinge nor a slide"):
        make(2, randomize=[Scatter("root")])


def test_wrenches_begin_and_end(make):
    envs = make(8, max_episode_steps=None, randomize=[MANAGERS["randomize"][4]])
    envs.reset(seed=0)
    forces = []
    for action in actions_of(envs, 60):
        envs.step(action)
        forces.append(host(envs.solver.xfrc_applied).copy())
    acting = np.stack(forces)[:, :, envs.task.model.body("left").id, :3].any(axis=2)
    assert 0.2 < acting.mean() < 0.6 and not np.stack(forces)[:, :, 1].any()


def test_noise_bias_and_history_are_of_the_columns_that_are_named(make):
    plain = make(max_episode_steps=None)
    terms = {"0:3": Term(noise=0.1, bias=0.5), "3:7": Term(clip=(-0.2, 0.2), scale=2.0), "7": Term(history=3)}
    envs = make(max_episode_steps=None, observe=terms)
    exact, _ = played(plain, actions_of(plain))
    seen, _ = played(envs, actions_of(envs))
    off = seen[..., :3] - exact[..., :3]
    assert abs(off - off.mean(axis=0)).max() < 0.2 and 0.1 < abs(off.mean(axis=0)).max() < 0.5
    assert off.std(axis=0).min() > 0.03
    np.testing.assert_array_equal(seen[..., 3:7], 2 * np.clip(exact[..., 3:7], -0.2, 0.2))
    past = np.concatenate((exact[:1], exact[:1], exact))[..., 7]
    np.testing.assert_array_equal(seen[..., 7:10], np.stack((past[:-2], past[1:-1], past[2:]), axis=-1))
    np.testing.assert_array_equal(seen[..., 10:], exact[..., 8:])
    assert envs.single_observation_space.shape == (seen.shape[-1],)
    assert np.isinf(envs.single_observation_space.low[0]) and envs.single_observation_space.high[3] == pytest.approx(
        0.4
    )


def test_late_observations_are_those_of_before(make):
    plain, envs = make(max_episode_steps=None), make(max_episode_steps=None, delay={"observation": 2})
    exact, _ = played(plain, actions_of(plain))
    seen, _ = played(envs, actions_of(envs))
    np.testing.assert_array_equal(seen, np.concatenate((exact[:1], exact[:1], exact))[: len(exact)])


def test_late_actions_are_those_of_before(make):
    """The first action of an episode was given before it began, too: in the second episode as well."""
    plain, envs = make(), make(delay=Latency(action=0.04, unit="seconds"))  # two steps
    actions = actions_of(plain)
    late = np.concatenate([block[np.maximum(np.arange(len(block)) - 2, 0)] for block in np.split(actions, [12, 24])])
    for one, other in zip(played(plain, late), played(envs, actions), strict=True):
        np.testing.assert_array_equal(one, other)


def test_lags_differ_between_environments_and_are_kept(make):
    envs = make(64, max_episode_steps=None, delay=Latency(action=(0, 3)))
    plain = make(64, max_episode_steps=None)
    actions = actions_of(envs)
    seen, _ = played(envs, actions)
    shifted = [played(plain, actions[np.maximum(np.arange(STEPS) - lag, 0)])[0] for lag in range(4)]
    matches = np.stack([(seen == other).all(axis=(0, 2)) for other in shifted])
    assert (matches.sum(axis=0) == 1).all() and (matches.sum(axis=1) > 5).all()


def test_actions_that_are_no_numbers_of_controls_are_late_too(make):
    """A task with a discrete action, four parts of observations and a picture."""
    plain, envs = (make(3, Pointer, max_episode_steps=None, delay=delay) for delay in (None, {"action": 1}))
    actions = np.random.default_rng(0).integers(0, 9, (10, 3))
    late = np.concatenate((actions[:1], actions))[:10]
    first = [one.reset(seed=0)[0] for one in (plain, envs)]
    for action, acting in zip(actions, late, strict=True):
        theirs, mine = plain.step(acting)[0], envs.step(action)[0]
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
    pictures = make(3, Pointer, max_episode_steps=None, delay={"observation": 1}, observe={"arm[0:2]": Term(noise=0.1)})
    seen = [pictures.reset(seed=0)[0]] + [pictures.step(action)[0] for action in late]
    np.testing.assert_array_equal(seen[1]["picture"], first[0]["picture"])
    np.testing.assert_array_equal(seen[-1]["last_action"][:, 0], late[-2])


@cases("part, exact", [("policy", "critic")])
def test_a_critic_sees_everything_as_it_is(make, part, exact):
    envs = tumble.make_vec(
        "QuadrupedFlat", 4, output="numpy", asymmetric=True, observe=Term(noise=0.3), delay={"observation": 1}
    )
    plain = tumble.make_vec("QuadrupedFlat", 4, output="numpy", asymmetric=True)
    for _ in range(3):
        seen, clean = (one.reset(seed=0)[0] for one in (envs, plain))
    np.testing.assert_array_equal(seen[exact], clean[exact])
    assert 0.1 < abs(seen[part] - clean[part]).max() <= 0.3 + 1e-6
    envs.close(), plain.close()


# -- what goes on -----------------------------------------------------------------------------------------------------


def test_saved_and_copied_environments_go_on(make):
    envs, other = make(**MANAGERS), make(**MANAGERS)
    actions = actions_of(envs)
    played(envs, actions[:15])
    other.load_state_dict(envs.state_dict())
    twins = [other, copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    seen = played(envs, actions[15:], seed=None)
    for twin in twins:
        for mine, theirs in zip(seen, played(twin, actions[15:], seed=None), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(ValueError, match=r"memory"):
        make().load_state_dict(envs.state_dict())


def test_snapshots_branch(make):
    envs = make(**MANAGERS)
    actions = actions_of(envs)
    played(envs, actions[:7])
    envs.branch(2)
    same = np.repeat(actions[:, :1], 5, axis=1)
    seen, _ = played(envs, same, seed=None)
    np.testing.assert_array_equal(seen[1:], np.repeat(seen[1:, :1], 5, axis=1))


def test_in_mujoco_the_same_is_drawn(make):
    """Delays, noise and the draws of the model; physics differs by rounding, in single precision here."""
    ours, theirs = make(**MANAGERS), make(simulator="mujoco", **MANAGERS)
    actions = actions_of(ours, 8)
    one, other = played(ours, actions), played(theirs, actions)
    np.testing.assert_allclose(one[0][:3], other[0][:3], atol=2e-3)
    drawn = [
        {name: host(array) for name, array in envs.batch._memory.arrays.items() if name.startswith("randomize")}
        for envs in (ours, theirs)
    ]
    for name in drawn[0]:
        np.testing.assert_allclose(drawn[0][name], drawn[1][name], rtol=1e-6, atol=1e-5)


def test_gradients_go_through_late_actions_and_pushes():
    """The last of three actions acts after the last step: it moves nothing yet."""
    plain = tumble.make_vec(Robot, 2).differentiable()
    late = tumble.make_vec(Robot, 2, delay={"action": 1}, randomize=[Push(speed=(0.1, 0.1), when=(0.04, 0.04))])
    late = late.differentiable()
    found = []
    for envs in (plain, late):
        actions = torch.zeros((3, 2, 3), requires_grad=True)
        envs.reset(seed=0)
        for action in actions:
            observation, *_ = envs.step(action)
        observation.sum().backward()
        found.append((actions.grad != 0).any(dim=2).any(dim=1).tolist())
        assert actions.grad.isfinite().all()
    assert found == [[True, True, True], [True, True, False]]


def test_vector_environments_pass_the_checks(make):
    from tumble.envs.checking import check_vector_env

    check_vector_env(lambda **options: tumble.make_vec(Robot, 4, max_episode_steps=12, **MANAGERS, **options))


# -- other values later -----------------------------------------------------------------------------------------------


def test_other_managers_and_options_in_made_environments(make):
    envs = make(randomize={"friction": (0.4, 0.5)}, delay={"action": (0.0, 0.04), "unit": "seconds"})
    envs.reset(seed=0)
    envs.set_attr("randomize", {"friction": (0.8, 0.9)})
    assert (host(envs.solver.get_parameters("geom_friction"))[:, 0, 0] <= 0.5).all()
    envs.reset(seed=0)
    assert (host(envs.solver.get_parameters("geom_friction"))[:, 0, 0] >= 0.8).all()
    twin = pickle.loads(pickle.dumps(envs))
    assert twin.batch.managers.options == envs.batch.managers.options
    with pytest.raises(ValueError, match=r"memory 'randomize_0'.*make new environments"):
        envs.set_attr("randomize", {"mass": {"low": 0.9, "high": 1.1, "when": (1.0, 2.0)}})
    with pytest.raises(ValueError, match=r'draw at "start" are then others.*make new environments'):
        envs.set_attr("randomize", {"friction": (0.4, 0.5), "mass": {"low": 0.9, "high": 1.1, "when": "start"}})
    with pytest.raises(ValueError, match=r"set_attr\('observe'\): the memory 'observe_0:19_history'"):
        envs.set_attr("observe", {"history": 2})
    with pytest.raises(ValueError, match="there is friction"):
        envs.set_attr("randomize", {"frictoin": (0.4, 0.5)})
    with pytest.raises(ValueError, match="memory 'delay_action_late'"):
        envs.set_attr("frame_skip", 1)  # 0.04 s are then four steps
    played(envs, actions_of(envs))


# -- what tasks give, and mistakes ------------------------------------------------------------------------------------


class Owner(Robot):
    """A robot that randomizes its masses itself, and may have an option that is called as an argument is."""

    delay: float = 0.0
    own: bool = True
    when: str = "reset"

    def randomized_by(self):
        """Masses."""
        return [dr.mass(0.5, 0.6, when=self.when)] if self.own else []


def test_a_task_may_randomize_itself(make):
    envs = make(task=Owner, delay=0.5, randomize=[dr.friction(0.4, 0.5)])
    envs.reset(seed=0)
    assert envs.task.delay == 0.5 and envs.batch.managers.options.delay is None
    share = host(envs.solver.get_parameters("body_mass"))[:, 1:] / envs.task.model.body_mass[1:]
    assert share.min() > 0.49 and share.max() < 0.61
    assert (host(envs.solver.get_parameters("geom_friction"))[..., 0] <= 0.5).all()
    envs.set_attr("own", False)
    envs.reset(seed=1)

    both = make(task=Owner, randomize=[dr.mass(2.0, 2.0)])
    for _ in range(2):
        both.reset(seed=0)
        share = host(both.solver.get_parameters("body_mass"))[:, 1:] / both.task.model.body_mass[1:]
        assert share.min() > 0.99 and share.max() < 1.21
    with pytest.raises(ValueError, match=r"randomize: Owner draws body_.* itself, and not for each episode"):
        make(task=Owner, when="start", randomize=[dr.mass(2.0, 2.0)])


class Loaded(Robot):
    """A robot with a load of another mass in each episode."""

    def reset(self, noise) -> Start:
        """Masses by the episode's noise."""
        start, own = super().reset(noise), self.model.body_mass
        return start._replace(parameters={"body_mass": own * (1 + noise.uniform(0, 1, 1))})


@cases("when", ["reset", "start"])
def test_terms_change_numbers_that_a_task_gives(make, when):
    """They are scaled as the model's are, by what is drawn once for an environment in later episodes, too."""
    envs, plain = (make(16, Loaded, randomize=given) for given in ([dr.mass(2.0, 3.0, "trunk", when=when)], None))
    shares = []
    for episode in range(3):
        for one in (envs, plain):
            one.reset(seed=0 if episode == 0 else None)
        ours, theirs = (host(one.solver.get_parameters("body_mass")) for one in (envs, plain))
        np.testing.assert_array_equal(ours[:, 2:], theirs[:, 2:])
        shares.append(ours[:, 1] / theirs[:, 1])
    assert np.min(shares) >= 2 - 1e-9 and np.max(shares) <= 3 + 1e-9 and np.std(shares) > 0.1
    assert np.allclose(shares[0], shares[2]) == (when == "start")
    with pytest.raises(ValueError, match="randomize: Loaded: the task gives body_mass itself: draw for it at resets"):
        make(2, Loaded, randomize=[dr.mass(0.9, 1.1, when=(1.0, 2.0))])


def test_a_registered_task_may_have_them():
    """Calls override what it is registered with."""
    tumble.register(
        "me/Slippery-v0", Robot, max_episode_steps=5, randomize={"friction": [0.1, 0.2]}, delay={"action": 1}
    )
    try:
        envs = tumble.make_vec("me/Slippery-v0", 2, delay=False)
        envs.reset(seed=0)
        assert (envs.solver.get_parameters("geom_friction")[..., 0] <= 0.2).all()
        assert envs.batch.managers.options.delay is None
        envs.close()
    finally:
        gymnasium.registry.pop("me/Slippery-v0")


class Driven(Robot):
    """A robot that is pushed by its task."""

    def reset(self, noise) -> Start:
        """With forces."""
        start = super().reset(noise)
        forces = self.xp.zeros((len(start.qpos), self.model.nbody, 6))
        return start._replace(inputs={"xfrc_applied": forces}, memory={"drawn": start.qpos[:, :1]})


@cases(
    "task, options, error, message",
    [
        (
            Robot,
            {"randomize": [dr.friction(0.4, 1.0, "nose")]},
            ValueError,
            "randomize: Randomize.*geoms='nose': the model has none",
        ),
        (
            Robot,
            {"randomize": {"fricton": [0.4, 1.0]}},
            ValueError,
            "randomize.fricton: no term is called 'fricton'; there is friction",
        ),
        (
            Robot,
            {"randomize": {"friction": {"low": 0.4, "hig": 1.0}}},
            ValueError,
            "randomize.friction: there is no 'hig'; there is high",
        ),
        (Robot, {"randomize": {"friction": {"low": 0.4}}}, ValueError, "randomize.friction: high is missing"),
        (
            Robot,
            {"randomize": {"mass": {"low": "a", "high": 1}}},
            ValueError,
            "randomize.mass.low is 'a'; it must be a number",
        ),
        (Robot, {"randomize": {"push": [0.0, 0.5]}}, ValueError, r"randomize.push: .*write { speed = \[0.0, 0.5\] }"),
        (Robot, {"randomize": [3]}, TypeError, "randomize: 3 is no term"),
        (Robot, {"randomize": True}, TypeError, "randomize=True: give terms"),
        (
            Robot,
            {"observe": {"policy": Term()}},
            ValueError,
            "no part of the observation is called 'policy'.*one array",
        ),
        (Robot, {"observe": {"3:99": Term()}}, ValueError, r"observe\['3:99'\]: columns .* 0 to 18"),
        (Robot, {"observe": {"0:3": Term(), "2": Term()}}, ValueError, "both have column 2"),
        (Robot, {"observe": {"0:3": {"nois": 0.1}}}, ValueError, "observe.0:3: there is no 'nois'; there is noise"),
        (Robot, {"observe": Term(noise=(1.0, 2.0))}, ValueError, "observe: noise has 2 numbers, and the value 19"),
        (Robot, {"observe": 0.1}, TypeError, "observe=0.1: give a Term"),
        (Pointer, {"observe": {"picture": Term()}}, ValueError, r"observe\['picture'\]: the part has shape"),
        (Pointer, {"observe": {"0:2": Term()}}, ValueError, r"as in 'policy\[3:6\]'"),
        (Robot, {"delay": {"acton": 1}}, ValueError, "delay: there is no 'acton'; there is action"),
        (Robot, {"delay": {"action": 0.5}}, ValueError, "delay.action is 0.5; steps are whole"),
        (Robot, {"delay": 2}, TypeError, "delay=2: give a Latency"),
        (Driven, {"randomize": [Wrench("left")]}, ValueError, "Driven.reset drives xfrc_applied"),
        (Driven, {"randomize": [dr.mass(0.9, 1.1, name="drawn")]}, ValueError, "Driven has a memory 'drawn' too"),
    ],
)
def test_mistakes_are_one_sentence(task, options, error, message):
    with pytest.raises(error, match=message) as raised:
        tumble.make_vec(task, 2, **options)
    assert "\n" not in str(raised.value)


@cases("name", ["Hopper", "CartPoleBalance", "ArmReachGoal"])
def test_tasks_of_every_family_take_them(name):
    """Gymnasium makes them too; a task with goals keeps these exact."""
    managers = {
        "randomize": {"mass": [0.9, 1.1], "dof_damping": [0.5, 2.0]},
        "observe": {"noise": 0.01},
        "delay": {"action": 1},
    }
    envs = gymnasium.make_vec(f"tumble/{name}-v0", num_envs=4, **managers)
    observation, _ = envs.reset(seed=0)
    plain = gymnasium.make_vec(f"tumble/{name}-v0", num_envs=4)
    exact, _ = plain.reset(seed=0)
    for part in ("achieved_goal", "desired_goal") if isinstance(exact, dict) else ():
        assert (observation[part] == exact[part]).all()
    for _ in range(3):
        envs.step(envs.action_space.sample())
    assert isinstance(envs.unwrapped.task, Task)
    envs.close(), plain.close()
