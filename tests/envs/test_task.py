"""A task as a class: its options, its copies, where its model lies, and errors that name the task and the remedy."""

import copy
import importlib
import pickle
import sys
from typing import ClassVar

import gymnasium
import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import LocomotionTask, ResetResult, SingleEnv, Start, StepResult, Task
from tumble.envs.arrays import ArrayKind
from tumble.envs.v5.ant import Ant
from tumble.physics import Model

from ..cases import cases
from .own_tasks import Held, Pointer

KIND = ArrayKind.of(torch.float32, "cpu")


# -- options ----------------------------------------------------------------------------------------------------------


class Options(Held):
    """Defaults of every sort: a new one for an inherited option without a type, a range, a number."""

    frame_skip = 2
    bounds: tuple[float, float] = (0.0, 1.0)
    widths: tuple[int, int] = (3, 4)
    name: str = "x"
    steady: bool = False


def test_a_subclass_is_a_dataclass_by_itself():
    """Annotated defaults are options, as are plain assignments to inherited ones; numbers become floats."""
    task = Options(stiffness=2, bounds=(1, 2))
    assert (task.frame_skip, task.xml_file, task.stiffness, task.bounds) == (2, "pointer.xml", 2.0, (1.0, 2.0))
    assert isinstance(task.stiffness, float) and isinstance(task.bounds[0], float)
    assert task.widths == (3, 4) and isinstance(task.widths[0], int)
    with pytest.raises(TypeError, match="Options: bounds must be a pair of numbers"):
        Options(bounds=1.0)
    with pytest.raises(TypeError, match=r"Options: stiffness must be a number, got 'much'"):
        Options(stiffness="much")
    assert Options(steady=1).steady is True and Options(steady=np.False_).steady is False
    for wrong in ("false", 2, None, (1, 0)):
        with pytest.raises(TypeError, match="Options: steady must be True or False, got "):
            Options(steady=wrong)


def test_a_class_with_an_initialiser_of_its_own():
    """It is called with the options, and they are known by its signature."""

    class Own(Held):
        def __init__(self, size: int = 3) -> None:
            super().__init__(stiffness=float(size))

    assert tumble.make_vec(Own, 1, size=5).unwrapped.task.stiffness == 5.0
    with pytest.raises(TypeError, match=r"Own got an unexpected keyword argument 'sise'; there is size"):
        tumble.make_vec(Own, 1, sise=5)


def test_options_reach_a_class_and_an_instance():
    """An instance keeps the rest of its own, and stays as it was."""
    mine = Pointer(reach=0.2)
    for task, wanted in ((Pointer, 0.35), (mine, 0.2)):
        envs = tumble.make_vec(task, 2, jitter=0.5, max_episode_steps=3)
        assert (envs.task.reach, envs.task.jitter, envs.max_episode_steps) == (wanted, 0.5, 3)
        envs.close()
        env = SingleEnv(task, jitter=0.5)
        assert env.task.jitter == 0.5
        env.close()
    assert mine.jitter == 0.01
    for task in (Pointer, mine):
        with pytest.raises(TypeError, match=r"Pointer got an unexpected keyword argument 'reech'; there is reach"):
            tumble.make_vec(task, 2, reech=1.0)


@pytest.mark.parametrize("wrong", [3, dict, np.zeros(2)])
def test_what_is_no_task_is_refused(wrong):
    """By `make_vec` and by `register`."""
    for use in (tumble.make_vec, lambda task: tumble.register("me/No-v0", task)):
        with pytest.raises(TypeError, match=r"is no task: needed is a name, or a class derived from tumble.envs.Task"):
            use(wrong)
    assert "me/No-v0" not in gymnasium.registry


def test_a_task_without_its_methods_is_refused():
    """Python names what is abstract; a task that shows nothing is told so."""

    class Nothing(Task):
        xml_file = "ant.xml"

    with pytest.raises(TypeError, match=r"abstract methods.*reset.*step"):
        tumble.make_vec(Nothing, 1)

    class Blind(Held):
        observation = Task.observation

    with pytest.raises(NotImplementedError, match="Blind defines neither observation"):
        tumble.make_vec(Blind, 1)


# -- copies -----------------------------------------------------------------------------------------------------------


class Listing(Held):
    """Writes to itself, as a careless task may."""

    def bind(self) -> None:
        """Count."""
        self.seen = [*getattr(self, "seen", []), self.model.nq]


def test_two_environments_of_one_object_do_not_see_each_other():
    """Nothing is written to the object; each environment has a copy of it."""
    task = Listing()
    before = dict(vars(task))
    one, other = tumble.make_vec(task, 2), tumble.make_vec(task, 3, model_options={"timestep": 0.001})
    assert vars(task) == before
    assert one.task is not other.task and one.task.seen == other.task.seen == [2]
    assert (one.task.dt, other.task.dt) == (0.025, 0.005)
    one.task.stiffness = 0.0
    assert other.task.stiffness == task.stiffness == 3.0
    again = tumble.make_vec(one.task, 1)  # a bound task is as good as another
    assert again.task.stiffness == 0.0
    for envs in (one, other, again):
        envs.close()


def test_a_single_environment_is_copied_and_pickled():
    """Made again from the class or the instance that it was made of."""
    for task in (Pointer, Pointer(reach=0.2)):
        env = SingleEnv(task, jitter=0.3)
        wanted = env.reset(seed=1)[0]
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            np.testing.assert_array_equal(twin.reset(seed=1)[0]["goal"], wanted["goal"])
            twin.close()
        env.close()


# -- models -----------------------------------------------------------------------------------------------------------


def test_the_model_is_looked_for_beside_the_module_and_then_among_tumbles():
    """A subclass in another folder finds its base's file too; a file of one's own goes before a packaged one."""

    class Subclass(Ant):
        """A packaged model, of a class that is defined here."""

    assert tumble.make_vec(Subclass, 1).task.model.nq == 15
    assert tumble.make_vec(Held, 1).task.model.nq == 2
    with pytest.raises(
        FileNotFoundError, match=r"no model file no\.xml in .*tests/envs or .*assets\. Packaged models: ant"
    ):
        tumble.make_vec(Held, 1, xml_file="no.xml")


def test_the_own_folder_goes_first(tmp_path, monkeypatch):
    """A file of the same name as a packaged one."""
    (tmp_path / "ant.xml").write_text("<mujoco><worldbody/></mujoco>")
    (tmp_path / "own_folder.py").write_text("from tumble.envs.v5.ant import Ant\n\nclass Mine(Ant):\n    '''Mine.'''\n")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert importlib.import_module("own_folder").Mine().load_model().mj.nq == 0
    finally:
        sys.modules.pop("own_folder", None)


def test_a_model_made_by_a_program():
    """`load_model` may be overridden."""

    class Made(Held):
        def load_model(self, **options) -> Model:
            spec = mujoco.MjSpec.from_file(str(Held()._folders()[0] / "pointer.xml"))
            spec.body("lower").pos[0] = 0.5
            return Model.from_mjspec(spec, **options)

    envs = tumble.make_vec(Made, 1, model_options={"timestep": 0.002})
    assert envs.task.model.body("lower").pos[0] == 0.5 and envs.task.model.opt.timestep == 0.002
    envs.close()


# -- wrong results ----------------------------------------------------------------------------------------------------


class Wrong(Held):
    """Does what it should but for one thing."""

    what: str = ""

    def reset(self, noise):
        """Start."""
        n = noise.uniform(0, 1, 1).shape[0]
        return {
            "qpos": Start(np.zeros((n, 3)), np.zeros(2)),
            "qvel": Start(np.zeros(2), np.zeros(n)),
            "tuple": (np.zeros(2), np.zeros(2)),
            "memory shape": Start(np.zeros(2), np.zeros(2), {"goal": np.zeros((n + 1, 2))}),
            "memory number": Start(np.zeros(2), np.zeros(2), {"goal": 0.0}),
            "not finite": Start(np.full(2, np.nan), np.zeros(2)),
            "memory none": Start(np.zeros(2), np.zeros(2), None),
            "input name": Start(np.zeros(2), np.zeros(2), inputs={"push": np.zeros(2)}),
            "input control": Start(np.zeros(2), np.zeros(2), inputs={"ctrl": np.zeros(2)}),
            "input mocap": Start(np.zeros(2), np.zeros(2), inputs={"mocap_pos": np.zeros((n, 1, 3))}),
        }.get(self.what, Start(np.zeros(2), np.zeros(2), {"goal": np.zeros((n, 2)), "count": np.zeros(n, int)}))

    def begin(self, state):
        """Observe."""
        return {
            "begin": self.observation(state),
            "begin info": ResetResult(state.qpos, {"place": 1.0}),
            "begin shape": ResetResult(state.qpos[:, 0]),
            "begin dtype": ResetResult(state.qpos > 0),
            "no blocks": ResetResult({}),
            "begin input": ResetResult(state.qpos, inputs={"qfrc_applied": state.qpos[:, :1]}),
            "field": ResetResult({} if self.what != "field" else state.fields["xpos"]),
        }.get(self.what, ResetResult({"a": state.qpos, "b": state.qvel}))

    @property
    def observation_space(self):
        """Two blocks."""
        box = gymnasium.spaces.Box(-9, 9, (2,), np.float32)
        return {"space": gymnasium.spaces.Discrete(3), "whole": gymnasium.spaces.Box(0, 9, (2,), np.int32)}.get(
            self.what, gymnasium.spaces.Dict(a=box, b=box)
        )

    def control(self, state, action):
        """Follow."""
        return action[:, :1] if self.what == "control" else super().control(state, action)

    def step(self, state, action):
        """Observe."""
        n, seen = len(state.qpos), {"a": state.qpos, "b": state.qvel}
        reward, ended = {"reward": state.qpos[:, 0]}, state.qpos[:, 0] > 9
        return {
            "none": None,
            "no terms": StepResult(seen, {}),
            "term shape": StepResult(seen, {"reward": state.qpos}),
            "term number": StepResult(seen, {"reward": 1.0}),
            "ended shape": StepResult(seen, reward, ended[:, None]),
            "ended dtype": StepResult(seen, reward, ended * 1.0),
            "cut shape": StepResult(seen, reward, truncated=ended[:1]),
            "cut dtype": StepResult(seen, reward, truncated=ended.astype(int)),
            "cut text": StepResult(seen, reward, truncated="yes"),
            "input shape": StepResult(seen, reward, inputs={"xfrc_applied": np.zeros((n, 6))}),
            "input text": StepResult(seen, reward, inputs={"qfrc_applied": "strong"}),
            "input complex": StepResult(seen, reward, inputs={"qfrc_applied": state.qpos * 1j}),
            "inputs": StepResult(seen, reward, inputs=np.zeros((n, 2))),
            "info": StepResult(seen, reward, ended, {"place": state.qpos[:1]}),
            "block": StepResult({"a": state.qpos}, reward),
            "one array": StepResult(state.qpos, reward),
            "width": StepResult({"a": state.qpos, "b": state.coordinates}, reward),
            "bytes": StepResult({"a": state.qpos, "b": state.qvel.astype(np.uint8)}, reward),
            "rows": StepResult({"a": state.qpos, "b": state.qvel[:1]}, reward),
            "unknown memory": StepResult(seen, reward, memory={"gaol": state.qpos}),
            "memory width": StepResult(seen, reward, memory={"goal": state.qpos[:, :1]}),
            "memory number in a step": StepResult(seen, reward, memory={"goal": 0.5}),
            "memory list": StepResult(seen, reward, memory=[state.qpos]),
            "terms array": StepResult(seen, state.qpos[:, 0]),
            "info none": StepResult(seen, reward, info=None),
            "memory dtype": StepResult(seen, reward, memory={"count": np.zeros(n)}),
            "unread": StepResult(seen, {"reward": state.fields["xpos"]} if self.what == "unread" else reward),
            "forgotten": StepResult(seen, {"reward": state.memory["gaol"]} if self.what == "forgotten" else reward),
        }.get(self.what, StepResult(seen, reward, ended))


MAKING = {
    "qpos": (ValueError, r"Wrong.reset: qpos has shape \(4, 3\); needed is \(4, 2\), \(episodes, model.nq\)"),
    "qvel": (ValueError, r"Wrong.reset: qvel has shape \(4,\); needed is \(4, 2\), \(episodes, model.nv\)"),
    "tuple": (
        TypeError,
        r"reset returned tuple; needed is tumble.envs.Start\(qpos, qvel, memory, parameters, inputs, particles, act\)",
    ),
    "memory shape": (
        ValueError,
        r"Wrong.reset: memory 'goal' has shape \(5, 2\); needed is an array of shape \(4, ...\)",
    ),
    "memory number": (ValueError, r"Wrong.reset: memory 'goal' is float; needed is an array"),
    "memory none": (TypeError, r"Wrong.reset: memory is NoneType; needed are arrays by name"),
    "input name": (KeyError, r"Wrong.reset: inputs: no input is named 'push'; there are mocap_pos, .*, eq_active\W*$"),
    "input control": (KeyError, r"no input is named 'ctrl'; there are .*; `control` returns the controls"),
    "input mocap": (
        ValueError,
        r"Wrong.reset: inputs 'mocap_pos' has shape \(4, 1, 3\); needed is \(4, 0, 3\), "
        r"\(environments, model.nmocap, 3\); the model has no mocap body; mark a child of the world with mocap=.true",
    ),
    "begin input": (
        ValueError,
        r"Wrong.begin: inputs 'qfrc_applied' has shape \(4, 1\); needed is \(4, 2\), \(environments, model.nv\)$",
    ),
    "begin": (TypeError, r"Wrong.begin returned ndarray; needed is tumble.envs.ResetResult"),
    "begin info": (ValueError, r"Wrong.begin: info 'place' is float; needed is an array of shape \(4, ...\)"),
    "begin shape": (ValueError, r"Wrong.begin: the observation has shape \(4,\); needed is .*environments in front"),
    "begin dtype": (TypeError, r"Wrong.begin: the observation has dtype bool; needed is floating point, or uint8"),
    "no blocks": (ValueError, r"Wrong.begin: the observation has no blocks; name at least one"),
    "not finite": (ValueError, r"Wrong.reset: qpos\[0, 0\] is nan: an environment can start only from finite numbers"),
    "field": (KeyError, r"Wrong asked for 'xpos', which is not there.*state.fields, name it in Wrong.reads"),
    "space": (TypeError, r"Wrong.observation_space: it is Discrete\(3\); needed is a Box, or a Dict of boxes"),
    "whole": (TypeError, r"Wrong.observation_space: it is Box.*needed is a Box.*floating-point numbers or uint8"),
}
STEPPING = {
    "control": (ValueError, r"Wrong.control: the result has shape \(4, 1\); needed is an array of shape \(4, 2\)"),
    "none": (TypeError, r"Wrong.step returned NoneType; needed is tumble.envs.StepResult\(observation, reward_terms"),
    "no terms": (ValueError, r"Wrong.step: reward_terms is empty; needed is at least one"),
    "term shape": (
        ValueError,
        r"Wrong.step: reward term 'reward' has shape \(4, 2\); needed is an array of shape \(4,\)",
    ),
    "term number": (ValueError, r"Wrong.step: reward term 'reward' is float; needed is an array of shape \(4,\)"),
    "ended shape": (ValueError, r"Wrong.step: terminated has shape \(4, 1\)"),
    "ended dtype": (TypeError, r"Wrong.step: terminated has dtype float64; needed is bool"),
    "cut shape": (ValueError, r"Wrong.step: truncated has shape \(1,\); needed is an array of shape \(4,\)"),
    "cut dtype": (TypeError, r"Wrong.step: truncated has dtype int64; needed is bool"),
    "cut text": (ValueError, r"Wrong.step: truncated is str; needed is an array of shape \(4,\)"),
    "input shape": (
        ValueError,
        r"step: inputs 'xfrc_applied' has shape \(4, 6\); needed is \(4, 3, 6\), \(environments, model.nbody, 6\)$",
    ),
    "input text": (TypeError, r"Wrong.step: inputs 'qfrc_applied' is no array of numbers: could not convert"),
    "input complex": (TypeError, r"Wrong.step: inputs 'qfrc_applied' has dtype complex64; needed are real numbers"),
    "inputs": (TypeError, r"Wrong.step: inputs is ndarray; needed is a mapping, \{\"xfrc_applied\": array\}"),
    "info": (ValueError, r"Wrong.step: info 'place' has shape \(1, 2\); needed is an array of shape \(4, ...\)"),
    "block": (ValueError, r"Wrong.step: the observation has the blocks \['a'\]; needed.*is the blocks \['a', 'b'\]"),
    "one array": (ValueError, r"Wrong.step: the observation has one array; needed.*is the blocks \['a', 'b'\]"),
    "width": (ValueError, r"Wrong.step: block 'b' of the observation has shape \(4, 4\); needed .* \(4, 2\)"),
    "bytes": (
        TypeError,
        r"Wrong.step: block 'b' of the observation has dtype uint8; the observation space has float32",
    ),
    "rows": (ValueError, r"Wrong.step: block 'b' of the observation has shape \(1, 2\)"),
    "unknown memory": (ValueError, r"Wrong.step: there is no memory 'gaol' to keep.*there is goal, count"),
    "memory width": (ValueError, r"Wrong.step: memory 'goal' has shape \(4, 1\); needed is \(4, 2\)"),
    "memory number in a step": (
        ValueError,
        r"Wrong.step: memory 'goal' is float; needed is an array of shape \(4, 2\)",
    ),
    "memory list": (TypeError, r"Wrong.step: memory is list; needed are arrays by name"),
    "terms array": (TypeError, r"Wrong.step: reward_terms is ndarray; needed are arrays by name"),
    "info none": (TypeError, r"Wrong.step: info is NoneType; needed are arrays by name"),
    "memory dtype": (TypeError, r"Wrong.step: memory 'count' has dtype float64; needed is int64"),
    "unread": (KeyError, r"Wrong asked for 'xpos'.*name it in Wrong.reads, which has \[\]"),
    "forgotten": (KeyError, r"Wrong asked for 'gaol'.*return it in the memory of Wrong.reset or begin"),
}


def test_numbers_by_their_annotations():
    """A default of 1 is a number too, and (0, 1) a pair where the annotation says so."""

    class Annotated(Held):
        reach: float = 1
        span: tuple[float, float] = (0, 1)
        size: tuple[int, int] = (64, 64)

    task = Annotated(reach=2)
    assert (task.reach, task.span, task.size) == (2.0, (0.0, 1.0), (64, 64))
    assert isinstance(task.reach, float) and isinstance(task.span[0], float) and isinstance(task.size[0], int)
    for wrong, message in (({"reach": "far"}, "reach must be a number"), ({"span": 2}, "span must be a pair")):
        with pytest.raises(TypeError, match=message):
            Annotated(**wrong)
    with pytest.raises(TypeError, match=r"frame_skip must be a whole number, got 2\.5"):
        type("Halved", (Held,), {"frame_skip": 2.5})()


def test_actions_that_are_no_controls_need_a_control():
    """Actions of other shapes than the controls are refused, also where there are as many environments as controls."""

    class Chosen(Held):
        action_space = gymnasium.spaces.Discrete(3)
        control = Task.control

    with pytest.raises(ValueError, match=r"action_space is Discrete\(3\), and controls have the shape \(2,\): define"):
        tumble.make_vec(Chosen, 2, simulator="mujoco")


def test_a_model_of_mujocos_is_no_model_of_tumbles():
    class Bare(Held):
        def load_model(self, **options):
            return super().load_model(**options).mj

    with pytest.raises(TypeError, match=r"Bare.load_model returned MjModel; needed is a tumble.physics.Model"):
        tumble.make_vec(Bare, 2, simulator="mujoco")


@cases("what", MAKING)
def test_wrong_from_the_beginning(what):
    """Told where the environments are made: the task, the method, and what was expected."""
    error, words = MAKING[what]
    with pytest.raises(error, match=words):
        tumble.make_vec(Wrong, 4, what=what)


@cases("what", STEPPING)
def test_wrong_in_a_step(what):
    """Told at the first step."""
    error, words = STEPPING[what]
    envs = tumble.make_vec(Wrong, 4, what=what)
    envs.reset(seed=0)
    with pytest.raises(error, match=words):
        envs.step(np.zeros((4, 2)))
    envs.close()


def test_nothing_wrong():
    """The same task without a mistake runs; memory that differs from reset to reset is told."""
    envs = tumble.make_vec(Wrong, 4)
    envs.reset(seed=0)
    envs.step(np.zeros((4, 2)))
    envs.task.what = "memory shape"
    with pytest.raises(ValueError, match="memory 'goal' has shape"):
        envs.reset()
    envs.task.reset = lambda noise: Start(np.zeros(2), np.zeros(2), {"goal": np.zeros((4, 2))})
    with pytest.raises(ValueError, match=r"Wrong.reset: memory \['count'\] is missing; the first reset had it"):
        envs.reset()
    envs.close()


@pytest.mark.parametrize(
    ("reads", "error", "words"),
    [
        (("xposs",), KeyError, r"Misread.reads: no quantity is named 'xposs'; did you mean xpos"),
        ("xpos", TypeError, r"Misread.reads is 'xpos'; needed is a sequence of names"),
    ],
)
def test_wrong_names_of_quantities(reads, error, words):
    """With the nearest ones."""

    class Misread(Held):
        pass

    Misread.reads = reads
    with pytest.raises(error, match=words):
        tumble.make_vec(Misread, 1)


def test_a_camera_that_is_not_there():
    """The renderer's own message, which names the cameras."""

    class Misled(Pointer):
        cameras: ClassVar = {"above": Pointer.cameras["above"]._replace(camera="below")}

    with pytest.raises(ValueError, match="below"):
        tumble.make_vec(Misled, 1)


def test_numpy_of_any_precision_is_welcome():
    """What a task computes in float64 arrives in the solver's precision, at 8 environments as at 20,000."""

    class Plain(LocomotionTask):
        """Written in numpy as one would."""

        xml_file = "half_cheetah.xml"

        def reset(self, noise):
            n = len(noise.uniform(0, 1, 1))
            return Start(np.zeros((n, 9)), np.zeros((n, 9)), {"goal": np.full((n, 1), 2.0)})

        def observation(self, state):
            return np.hstack([np.array([0.5]) * state.qpos, state.qvel, state.memory["goal"]])

        def step(self, state, action):
            closeness = np.exp(-np.linalg.norm(state.qpos - state.memory["goal"].astype(float), axis=1))
            return StepResult(self.observation(state), {"close": closeness, "up": np.array(state.qpos[:, 1] > 0)})

    for n in (8, 20_000):
        envs = tumble.make_vec(Plain, n)
        observation, _ = envs.reset(seed=0)
        assert observation.dtype == torch.float32
        observation, reward, *_, info = envs.step(torch.zeros(n, 6))
        assert observation.dtype == reward.dtype == info["close"].dtype == torch.float32
        envs.close()
