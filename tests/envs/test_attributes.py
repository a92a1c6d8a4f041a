"""`call`, `get_attr` and `set_attr` against SyncVectorEnv over single environments; episode lengths."""

import copy

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble import assets
from tumble.envs import CameraView, RayScan, ResetResult, Start, StepResult, Task
from tumble.scene import Scene, morphs, surfaces

OPTIONS = {"max_episode_steps": 4, "healthy_reward": 2.0, "width": 16, "height": 12}


@pytest.fixture
def envs():
    """Three hoppers."""
    made = tumble.make_vec("Hopper", 3, render_mode="rgb_array", **OPTIONS)
    made.reset(seed=5)
    yield made
    made.close()


@pytest.fixture
def sync():
    """Gymnasium's three hoppers."""
    made = gymnasium.make_vec("tumble/Hopper-v0", 3, vectorization_mode="sync", render_mode="rgb_array", **OPTIONS)
    made.reset(seed=5)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["observation_space", "action_space", "np_random_seed", "render_mode"])
def test_attributes_are_those_of_the_single_environments(envs, sync, name):
    """A tuple with one for each."""
    wanted = sync.get_attr(name)
    assert envs.get_attr(name) == envs.call(name) == wanted and type(wanted) is tuple


def test_pictures_are_those_of_the_single_environments(envs, sync):
    """Skrl asks for them by `call("render")`."""
    for mine, theirs in zip(envs.call("render"), sync.call("render"), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_pictures_of_some():
    """None stands for environments that are not in `render_envs`, and for all without a render mode, with a warning."""
    few = tumble.make_vec("Hopper", 3, render_mode="rgb_array", render_envs=[2, 0], **OPTIONS)
    few.reset(seed=5)
    pictures = few.call("render")
    assert pictures[1] is None
    np.testing.assert_array_equal(pictures[2], few.render()[0])
    np.testing.assert_array_equal(pictures[0], few.render()[1])
    few.close()
    blind = tumble.make_vec("Hopper", 3)
    blind.reset(seed=5)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert blind.call("render") == (None, None, None)
    blind.close()


def test_names_are_looked_up_outside_in(envs):
    """On the environments, then on the task, then on the solver; methods are called."""
    assert envs.get_attr("num_envs") == (3, 3, 3)
    assert envs.get_attr("healthy_reward") == (2.0, 2.0, 2.0)
    assert envs.get_attr("model") == (envs.task.model,) * 3  # the solver has one too, of another kind
    assert [tuple(qpos.shape) for qpos in envs.get_attr("qpos")] == [(3, 6)] * 3
    positions = envs.call("get", "xpos")
    assert len(positions) == 3 and positions[0] is positions[2] and torch.equal(positions[0], envs.solver.get("xpos"))
    for ask in (envs.get_attr, envs.call):
        with pytest.raises(AttributeError, match="neither SimVectorEnv nor its task Hopper nor its solver has 'wings'"):
            ask("wings")
    for name in ("reset", "step"):
        with pytest.raises(ValueError, match=f"use {name}\\(\\) itself"):
            envs.call(name)


@pytest.mark.parametrize("values", [5.0, [5.0] * 3, (5.0, 5, np.float64(5))], ids=["one", "list", "tuple"])
def test_options_of_the_task_can_be_set(envs, values):
    """They count from the next step on."""
    envs.set_attr("healthy_reward", values)
    assert envs.get_attr("healthy_reward") == (5.0, 5.0, 5.0)
    info = envs.step(torch.zeros(3, 3))[4]
    assert (info["reward_survive"] == 5).all()


def test_the_task_learns_its_model_again(envs):
    """Options that it had put into its tables count too; wrong ones are refused as when a task is made."""
    assert not envs.step(torch.zeros(3, 3))[2].any()
    envs.set_attr("healthy_z_range", [(5.0, 6.0)] * 3)
    assert envs.step(torch.zeros(3, 3))[2].all()
    with pytest.raises(TypeError, match="Hopper: healthy_reward must be a number"):
        envs.set_attr("healthy_reward", "much")
    with pytest.raises(ValueError, match="frame_skip is 0"):
        envs.set_attr("frame_skip", 0)
    assert envs.task.frame_skip == 4
    with pytest.raises(ValueError, match="it is read when environments are made; make new ones"):
        envs.set_attr("xml_file", "ant.xml")


class Remembering(Task):
    """A pendulum on a cart that remembers places, and may show, or turn into actions, other numbers of them."""

    xml_file: str = "inverted_pendulum.xml"
    drawn: int = 1
    places: int = 2
    shown: int = 1
    force: float = 3.0
    gain: float = 1.0

    @property
    def action_space(self):
        """A force."""
        return gymnasium.spaces.Box(-self.force, self.force, (1,), np.float32)

    def reset(self, noise):
        """Remember as many draws as an option says."""
        qpos = self.init_qpos + 0.01 * noise.uniform(-1, 1, self.model.nq)
        return Start(qpos, 0 * qpos, {"draws": noise.uniform(0, 1, self.drawn)})

    def begin(self, state):
        """Remember as many places as another says."""
        places = self.xp.stack([state.qpos[:, 0]] * self.places, axis=1)
        return ResetResult(self.observation(state), memory={"places": places})

    def observation(self, state):
        """As many angles as a third says."""
        return self.xp.concat([state.qpos[:, 1:]] * self.shown, axis=1)

    def step(self, state, action):
        """Remember the newest place."""
        places = self.xp.concat((state.memory["places"][:, 1:], state.qpos[:, :1]), axis=1)
        reward = self.gain * (places * self.array([1.0] * self.places)).sum(1)
        return StepResult(self.observation(state), {"reward": reward}, memory={"places": places})


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("drawn", 2, r"the memory 'draws' is then \(2,\) in each environment, and was \(1,\)"),
        ("places", 3, r"the memory 'places' is then \(3,\) in each environment, and was \(2,\)"),
        ("shown", 2, r"the observation has shape \(1, 2\); needed is an array of shape \(1, 1\)"),
        ("force", 2.0, r"the action_space is then Box\(-2.0, 2.0.*, and was Box\(-3.0, 3.0"),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_options_that_make_other_environments_are_refused(option, value, words, count):
    """By name, before anything is changed; the environments go on as others to which nobody did this."""
    envs, others = tumble.make_vec(Remembering, count), tumble.make_vec(Remembering, count)
    for made in (envs, others):
        made.reset(seed=0)
        made.step(torch.ones(count, 1))
    with pytest.raises(ValueError, match=rf"set_attr\('{option}'\): .*{words}.*make new environments with {option}="):
        envs.set_attr(option, value)
    assert getattr(envs.task, option) == getattr(others.task, option)
    for made in (envs, others):
        made.set_attr("gain", 2.0)
    for _ in range(3):
        for mine, theirs in zip(
            envs.step(torch.ones(count, 1))[:4], others.step(torch.ones(count, 1))[:4], strict=True
        ):
            assert torch.equal(mine, theirs)
    assert torch.equal(envs.reset()[0], others.reset()[0])
    envs.close()
    others.close()


class Coloured(Remembering):
    """One of two sizes of a ball, a picture and a ray beside the pendulum, by options; nothing else reads these."""

    tint: tuple = (1.0, 0.0, 0.0, 1.0)
    sizes: tuple = (0.1, 0.2)
    reach: float = 2.0
    width: int = 4
    listed: tuple = ("xpos",)

    def build_scene(self):
        """A pendulum of a file, and the ball of two sizes."""
        scene = Scene()
        scene.add_entity(morphs.MJCF(file=str(assets.find(self.xml_file))), name="pendulum")
        balls = [morphs.Sphere(radius=radius, pos=(0, 3, 1), fixed=True) for radius in self.sizes]
        scene.add_entity(balls, surface=surfaces.Plastic(color=self.tint), name="ball")
        return scene

    @property
    def reads(self):
        """As many quantities as an option names."""
        return self.listed

    @property
    def cameras(self):
        """As wide as an option says."""
        return {"front": CameraView(self.width, 4)}

    @property
    def rays(self):
        """As far as an option says; their points are arrays."""
        return {"ahead": RayScan(body="pendulum/cart", points=np.zeros((2, 3)), reach=self.reach)}


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("ReacherHard", {"target_size": 0.05}),
        (Coloured, {"tint": (0.0, 1.0, 0.0, 1.0), "sizes": (0.1, 0.3), "reach": 1.0, "width": 8, "listed": ("xquat",)}),
    ],
)
def test_options_of_the_model_and_of_what_is_read_are_refused(task, changes):
    """Else they would do nothing; equal values and other options are taken."""
    envs = tumble.make_vec(task, 2, simulator="mujoco")
    for option, value in changes.items():
        before = getattr(envs.task, option)
        words = rf"set_attr\('{option}'\): the task's .*make new environments with {option}="
        with pytest.raises(ValueError, match=words):
            envs.set_attr(option, [value, value])
        assert getattr(envs.task, option) == before
        envs.set_attr(option, [before, before])
    envs.set_attr("frame_skip", 7)
    twin = copy.deepcopy(envs)
    for made in (envs, twin):
        assert made.task.frame_skip == 7 and made.metadata["render_fps"] == round(1 / made.task.dt)
    twin.close()
    envs.close()


class OfAnySize(Coloured):
    """A ball whose size no option decides: it is drawn each time that the model is loaded."""

    def build_scene(self):
        """The pendulum, and a ball of any size."""
        scene = Scene()
        scene.add_entity(morphs.MJCF(file=str(assets.find(self.xml_file))), name="pendulum")
        scene.add_entity(morphs.Sphere(radius=np.random.default_rng().uniform(0.1, 0.2), fixed=True), name="ball")
        return scene


def test_options_of_a_task_that_draws_its_model_are_taken():
    """The model differs whenever it is loaded, which says nothing of the option."""
    envs = tumble.make_vec(OfAnySize, 2, simulator="mujoco")
    envs.set_attr("gain", 3.0)
    assert envs.task.gain == 3.0
    envs.close()


def test_other_attributes_can_be_set(envs, sync):
    """Of the environments, of the solver, and new ones, as Gymnasium has it."""
    for made in (envs, sync):
        made.set_attr("note", "mine")
        assert made.get_attr("note") == ("mine",) * 3
    envs.set_attr("ctrl", [torch.ones(3, 3)] * 3)
    assert (envs.solver.ctrl == 1).all()
    envs.set_attr("render_envs", torch.tensor([1]))
    assert len(envs.render()) == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0], "2 values for 3 environments"),
        ((), "0 values for 3 environments"),
        ([1.0, 1.0, 3.0], r"environment 2 is to have 3\.0, environment 0 1\.0; all share one object"),
        ([torch.zeros(2), torch.zeros(2), torch.ones(2)], "environment 2 is to have"),
        ([np.zeros(2), np.zeros(3), np.zeros(2)], "environment 1 is to have"),
    ],
)
def test_different_values_are_refused(envs, values, words):
    """The batch has one object for all."""
    with pytest.raises(ValueError, match=words):
        envs.set_attr("healthy_reward", values)
    assert envs.get_attr("healthy_reward") == (2.0,) * 3


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("mode", gymnasium.vector.AutoresetMode)
def test_episode_lengths(mode, output):
    """Steps since the reset, counted here by hand; a copy, of the output's kind."""
    envs = tumble.make_vec("Hopper", 3, autoreset_mode=mode, output=output, max_episode_steps=4)
    envs.reset(seed=0)
    wanted = np.zeros(3, np.int64)
    for step in range(9):
        lengths = envs.episode_lengths
        assert lengths.dtype in (torch.int64, np.int64) and isinstance(lengths, torch.Tensor) == (output == "torch")
        np.testing.assert_array_equal(lengths, wanted)
        lengths[:] = 77
        if step == 2:
            envs.reset(options={"reset_mask": np.array([False, True, False])})
            wanted[1] = 0
        finished = wanted == 4  # under NEXT_STEP
        done = envs.step(np.zeros((3, 3)))[3]
        wanted = np.where(finished, 0, wanted + 1)
        np.testing.assert_array_equal(done, wanted == 4)
        if mode.name == "SAME_STEP":
            wanted[wanted == 4] = 0
        if mode.name == "DISABLED" and wanted.max() == 4:
            envs.reset(options={"reset_mask": done})
            wanted[wanted == 4] = 0
    assert envs.get_attr("episode_lengths") == tuple(wanted)
    envs.close()


def test_episode_lengths_can_be_set(envs):
    """As rsl_rl does, which spreads the first ends of episodes; they are the environments' own then."""
    steps = torch.tensor([3, 0, 1])
    envs.episode_lengths = steps
    steps[:] = 0
    cut = [envs.step(torch.zeros(3, 3))[3].tolist() for _ in range(4)]
    assert cut == [[True, False, False], [False, False, False], [False, False, True], [False, True, False]]
    with pytest.raises(ValueError, match=r"episode_lengths of environment 1 is 4; .* below max_episode_steps, 4"):
        envs.episode_lengths = [0, 4, 0]
    with pytest.raises(TypeError, match="episode_lengths must be integers"):
        envs.episode_lengths = [0.5, 1, 1]
