"""The base class of tasks: starts of episodes, observations, rewards and ends.

A task is a class of pure batched functions: it knows a model, but no solver, no episode and no batch size. n
environments come first in every shape. `docs/your_own_task.md` writes one from nothing; `hopper.py` is a short one.
"""

import copy
import inspect
import math
import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, dataclass_transform

import gymnasium
import mujoco
import numpy as np

from ... import assets
from ..arrays import Array, ArrayKind
from .noise import Noise
from .scans import RayScan
from .scene_entities import SceneEntity, require_scene, scene_entity

if TYPE_CHECKING:
    from ...physics import Model
    from ...scene import Scene
    from ...scene.model.variants import Variants
    from .matter import TaskMatter

_BOUND = ("model", "xp", "_kind", "dt", "init_qpos", "particles", "_varied")

Observation = Array | dict[str, Array]
"""One array (n, ...), or several by name where the observation space is a `Dict`."""


class TaskState(NamedTuple):
    """The state of n environments, as a task sees it after a step or a reset.

    After a step `fields` are those of its last evaluation, before the final integration, as MuJoCo leaves them; after a
    reset they belong to the new state. `reset` and `begin` of one episode draw from the same `noise`, and so
    does everything within one step.
    """

    coordinates: Array  # (n, nq + nv), qpos and qvel side by side
    qpos: Array  # (n, nq) m, rad, quaternions w first; a part of `coordinates`, as is qvel
    qvel: Array  # (n, nv) m/s, rad/s
    fields: Mapping[str, Array]  # the derived quantities in `Task.reads`, by MuJoCo's names: (n, items[, components])
    images: Mapping[str, Array]  # pictures by the cameras in `Task.cameras`: (n, height, width, 3) uint8
    memory: Mapping[str, Array]  # the task's memory, each (n, ...)
    noise: Noise  # random draws of this moment
    rays: Mapping[str, Array] = {}  # distances along the rays in `Task.rays`, each (n, k) or (n, frames, k) m
    present: Mapping[str, Array] = {}  # the derived quantities in `Task.reads_present`, as `fields` but of this state

    def remember(self, **memory: Array) -> "TaskState":
        """The same state with other memory: `state = state.remember(last_action=action)`."""
        return self._replace(memory={**self.memory, **memory})

    def with_fields(self, **replaced: Array) -> "TaskState":
        """The same state with other derived quantities."""
        return self._replace(fields={**self.fields, **replaced})


class Last(NamedTuple):
    """The ends of the episodes that n environments leave behind at a reset."""

    envs: Array  # (n,) int64, the environments' numbers in the batch
    num_envs: int  # of the whole batch
    fresh: Array  # (n,) bool: nothing is left behind, because the batch is new or the environment was seeded
    steps: Array  # (n,) int64, steps that the episode took
    qpos: Array  # (n, nq), where it ended
    qvel: Array  # (n, nv)
    memory: Mapping[str, Array]  # the task's memory of it, each (n, ...); empty in a new batch
    whole: tuple[int, int] | None = None  # if processes train together: first environment's number, number of all


class Start(NamedTuple):
    """The starts of n episodes."""

    qpos: Array  # (n, nq), or (nq,) for all
    qvel: Array  # (n, nv), or (nv,) for all
    memory: Mapping[str, Array] = {}  # each (n, ...): goals, commands, phases, ...
    parameters: Mapping[str, Any] = {}  # numbers of the model by MuJoCo's names, each (n, ...): `set_parameters`
    inputs: Mapping[str, Any] = {}  # inputs of the solver, see `inputs.py`; missing ones begin with the model's
    particles: Mapping[str, Any] = {}  # "pos", "vel", "active" of matter, see `matter.py`; missing ones are its own
    act: Array | None = None  # (n, na), activations of actuators that have a state; None: 0


class ResetResult(NamedTuple):
    """The observations and infos with which n episodes begin."""

    observation: Observation
    info: Mapping[str, Array] = {}  # each (n, ...)
    memory: Mapping[str, Array] = {}  # each (n, ...): memory that depends on the state; joins the memory of `reset`
    inputs: Mapping[str, Any] = {}  # inputs that depend on the state; they join the inputs of `reset`


class StepResult(NamedTuple):
    """The result of a step for n environments."""

    observation: Observation
    reward_terms: Mapping[str, Array]  # each (n,); the reward is their sum, and they join the info by their names
    terminated: Array | None = None  # (n,) bool: the episode ended, and nothing follows; None: in no environment
    info: Mapping[str, Array] = {}  # each (n, ...)
    memory: Mapping[str, Array] = {}  # each (n, ...): changed memory; names that are left out keep their values
    truncated: Array | None = None  # (n,) bool: the episode is cut short, as by the time limit; None: in no environment
    inputs: Mapping[str, Any] = {}  # inputs that act from the next step on; missing ones keep their values
    parameters: Mapping[str, Any] = {}  # numbers of the model from the next step on, each (n, ...), as in `Start`
    parameters_mask: Array | None = None  # (n,) bool: the environments whose numbers change; None: all
    qvel: Array | None = None  # (n, nv), velocities to go on with, as after a push; None: the state's
    qpos: Array | None = None  # (n, nq), positions to go on with, as of joints that are locked; None: the state's


class CameraView(NamedTuple):
    """A picture that is part of a task's state."""

    width: int = 64  # pixels
    height: int = 64
    camera: int | str | Mapping[str, Any] | None = None  # the model's, or a free one; None follows body 1
    sites: bool = False  # with the model's sites of groups 0 to 2, such as targets, which MuJoCo draws


@dataclass_transform(kw_only_default=True)
@dataclass(kw_only=True)
class Task(ABC):
    """The base class of all tasks.

    A subclass is a dataclass by itself: annotated fields with defaults are the options that users may set. It defines
    `reset`, `observation` and `step`, and names the model and its reads. A batch of environments works with
    a copy that is bound to the model: in the methods there are

    - `self.model`: the compiled `mujoco.MjModel`;
    - `self.dt`: seconds of an environment step; `self.init_qpos` (nq,): the reference position, float64;
    - `self.xp`: numpy, or torch in the names of the array API standard; `self.array(values)`: numbers as such an array;
    - `self.particles["water"]`: the particles of a matter, a slice, if the task has matter.
    """

    reads: ClassVar[Sequence[str]] = ()
    """Derived quantities wanted in `state.fields`, by MuJoCo's names (docs/reference/fields.md)."""
    reads_present: ClassVar[Sequence[str]] = ()
    """Derived quantities wanted in `state.present`: after a step those of its final state, as dm_control has them.

    They are computed where a method reads one, at the cost of a part of a physics step. In `sensordata` sensors of
    forces and accelerations keep the readings of the last evaluation.
    """
    cameras: ClassVar[Mapping[str, CameraView]] = {}
    """Pictures for `state.images`; each is drawn, in every environment, if a method reads it."""
    rays: ClassVar[Mapping[str, RayScan]] = {}
    """Rays wanted in `state.rays`: scans of the ground, distance sensors; each is cast where a method reads it."""
    camera: ClassVar[Mapping[str, Any]] = {}
    """The free camera of `render()`, by the fields of `tumble.physics.rendering.Camera`."""
    shows_sites: ClassVar[bool] = False
    """True: `render()` draws the model's sites of groups 0 to 2, such as targets, as MuJoCo does."""
    array_library: ClassVar[str | None] = None
    """"torch": arrays are torch tensors on a CPU too; None: numpy on a CPU, torch elsewhere."""
    control_each_substep: ClassVar[bool] = False
    """True: `control` is called at every physics step, not once in an environment step."""

    xml_file: str = ""
    frame_skip: int = 1
    default_camera_config: dict[str, Any] | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Make the subclass a dataclass; a plain `xml_file = "mine.xml"` is a new default too."""
        super().__init_subclass__(**arguments)
        options = cls.__dataclass_fields__.values()  # the bases'
        redefined = {option.name: option.type for option in options if option.name in cls.__dict__}
        cls.__annotations__ = redefined | inspect.get_annotations(cls)
        dataclass(kw_only=True)(cls)

    def __post_init__(self) -> None:
        """Convert options that are numbers or pairs of them to Python's types, so that every library rounds them alike.

        Raises:
            TypeError: an option whose default or annotation is a number or a pair of numbers is something else, or one
                whose annotation is `int` is not whole.
            ValueError: a number is NaN.
        """
        for option in fields(self):
            value, kind = getattr(self, option.name), kind_of(option)
            if kind is None:
                continue
            try:
                plain = PLAIN[kind](value)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{type(self).__name__}: {option.name} must be {kind}, got {value!r}") from error
            if any(math.isnan(number) for number in (plain if isinstance(plain, tuple) else (plain,))):
                raise ValueError(f"{type(self).__name__}: {option.name} is {value!r}; it must be {kind}, and not NaN")
            setattr(self, option.name, plain)

    # -- attributes and methods of a subclass -------------------------------------------------------------------------

    def bind(self) -> None:  # noqa: B027 - most tasks need no more than what `bound` gives
        """Look up the parts of `self.model` that the task needs, such as the number of a body. Called on a bound copy.

        Raises:
            ValueError: an option does not fit the model.
        """

    @abstractmethod
    def reset(self, noise: Noise) -> Start:
        """Draw the states in which n episodes start, and the task's first memory, such as a goal.

        Args:
            noise: of the n episodes; `noise.uniform(-1, 1, 3)` is (n, 3).
        """

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """Draw the starts of n episodes that follow others; by default `reset(noise)`, which does not read them.

        A task whose starts depend on how an environment did before, as curricula do, defines this too. Facts that an
        environment's next reset needs are in its memory. After `reset(seed=...)` everything is reset
        (`last.fresh`), so that the results depend only on the seed.
        """
        return self.reset(noise)

    def randomized_by(self) -> Sequence[Any]:
        """Return terms of randomization that belong to the task, such as `dr.friction(0.4, 1.0)`; the batch draws them.

        It is asked of a bound task. Draws come from the task's noise, after those of `reset` or `step`.
        """
        return ()

    def observation(self, state: TaskState) -> Observation:
        """Return the agent's observation, (n, ...) or several by name.

        Floating-point numbers are brought to the solver's precision; uint8 stays.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither observation(state) nor begin(state)")

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation of n episodes, in the state and with the memory that `reset` drew.

        Memory that follows from the state is made here: a first position, a history; and so are inputs. If a user
        changes a state through the solver, this method is called again, and only its memory and inputs are used.
        """
        return ResetResult(self.observation(state))

    @abstractmethod
    def step(self, state: TaskState, action: Array) -> StepResult:
        """Return the results of the step that led to this state: observation, reward terms, ends of episodes.

        An episode ends where `terminated` is True (a fall: its future is worth nothing), where `truncated` is True (out
        of the arena, a command fulfilled: learners add the value of the final observation), and at the time limit,
        which truncates too. Where an episode terminates and is truncated in one step, both flags are handed out, and
        learners treat it as terminated.

        A push is `qvel`: the next step begins with it, and an observation shows it if it is made of a state that has
        it. `fields` then still belong to the last evaluation. `qpos` is the same for positions.

        Args:
            state: after the step, with the memory from before it.
            action: (n, ...), as the agent gave it.
        """

    def control(self, state: TaskState, action: Array) -> Array:
        """Convert actions to controls of the actuators, (n, nu), which clamp them to their ranges.

        Args:
            state: before the step; at every physics step if `control_each_substep`.
            action: (n, ...).
        """
        return action

    def drive(self, state: TaskState, action: Array) -> Mapping[str, Array]:
        """Return inputs of the solver that follow from actions, as the mocap body that a gripper is welded to.

        They act in this step, and are kept as those of `step` are. Called before `control`, with the same arguments.
        """
        return {}

    @property
    def action_space(self) -> gymnasium.Space:
        """The space of one environment's actions: by default the ranges of the actuators' controls, float32.

        A `Box`, `Discrete`, `MultiDiscrete` or `MultiBinary`. A control without a range takes any number.
        """
        limited = self.model.actuator_ctrllimited.astype(bool)
        low = np.where(limited, self.model.actuator_ctrlrange[:, 0], -np.inf).astype(np.float32)
        high = np.where(limited, self.model.actuator_ctrlrange[:, 1], np.inf).astype(np.float32)
        return gymnasium.spaces.Box(low, high, dtype=np.float32)

    @property
    def observation_space(self) -> gymnasium.Space | None:
        """The space of one environment's observations, a `Box` or a `Dict` of them.

        None: any number, or any byte where the observation is uint8, in the shapes that `observation` has.
        """
        return None

    def build_scene(self) -> "Scene":
        """Return a scene instead of an `xml_file`: a `tumble.scene.Scene` with entities; nothing calls its `build`.

        Its entities are found by name: `self.scene_entity("cube")`. The actuators of their files act. An environment
        step is `frame_skip` physics steps, of `dt / substeps` of the scene each.
        """
        raise NotImplementedError(f"{type(self).__name__} gives no scene")

    def matter(self) -> "TaskMatter | None":
        """Return the liquid, sand or dough beside the model's bodies; None: nothing.

        It is asked before the task is bound to its model, and knows the options only. A task with a scene adds entities
        of `materials.MPM` to it instead.
        """
        return None

    def load_model(self, **options: Any) -> "Model":
        """Load the model: that of `build_scene`, or `xml_file`, looked for beside the task's module, then in Tumble.

        Args:
            options: override the file's, e.g. timestep=0.005; of a task with matter `matter=True` is among them.

        Raises:
            FileNotFoundError: no such file; the message says where it was looked for.
            ValueError: the task has neither a scene nor a file, or its scene is built.
        """
        from ...physics import Model

        if (scene := self._scene()) is not None:
            return scene.compile(actuators=True, **options)
        if not self.xml_file:
            raise ValueError(f"{type(self).__name__}: give it an xml_file, or define build_scene()")
        file = str(assets.find(self.model_file, self._folders()))
        if type(self).edit_spec is Task.edit_spec:
            return Model.from_mjcf(file, **options)
        spec = mujoco.MjSpec.from_file(file)
        self.edit_spec(spec)
        return Model.from_mjspec(spec, **options)

    @property
    def model_file(self) -> str:
        """The file that is loaded: `xml_file`, unless an option chooses another one."""
        return self.xml_file

    def edit_spec(self, spec: mujoco.MjSpec) -> None:  # noqa: B027 - most tasks change nothing
        """Change the model of the file before it is compiled."""

    # -- attributes and methods of every task -------------------------------------------------------------------------

    def bound(
        self,
        model: mujoco.MjModel,
        kind: ArrayKind,
        varied: Mapping[str, np.ndarray] | None = None,
        particles: Mapping[str, slice] | None = None,
    ) -> Self:
        """Return a copy that knows the model and the arrays to compute with; this one stays as it is.

        Args:
            model: of all environments.
            kind: of arrays.
            varied: numbers of the model that differ between environments from the beginning, by the shapes of their
                scene, (num_envs, ...) each; it may be filled later, when there is a solver.
            particles: those of each matter, by its name.

        Raises:
            ValueError: an option does not fit the model.
        """
        if self.frame_skip < 1:
            raise ValueError(f"frame_skip is {self.frame_skip}: an environment step needs at least one physics step")
        task = copy.deepcopy(self)
        task._learn(model, kind, {} if varied is None else varied, {} if particles is None else particles)
        task.bind()
        return task

    def _learn(
        self,
        model: mujoco.MjModel,
        kind: ArrayKind,
        varied: Mapping[str, np.ndarray],
        particles: Mapping[str, slice],
    ) -> None:
        self._varied, self.particles = varied, particles
        self.model, self._kind, self.xp = model, kind, kind.xp
        self.dt = float(model.opt.timestep) * self.frame_skip
        self.init_qpos = kind.xp.asarray(model.qpos0.copy(), dtype=kind.xp.float64, device=kind.device)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the results of `bound`: copies and pickles of a bound task must be bound again."""
        return {name: value for name, value in vars(self).items() if name not in _BOUND}

    def scene_entity(self, name: str) -> SceneEntity:
        """Return the places of an entity of the task's scene in states: columns of `qpos`, rows of `xpos`, and so on.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return scene_entity(self.model, name)

    def array(self, values: Any) -> Array:
        """Numbers as an array of the kind, precision and device that states have."""
        return self._kind.numbers(values)

    def doubles(self, values: Any) -> Array:
        """Numbers as an array in double precision, in which starts are drawn."""
        return self.xp.asarray(np.array(values, np.float64), device=self._kind.device)

    def indices(self, values: Any) -> Array:
        """Whole numbers as an array, such as places in other arrays."""
        return self.xp.asarray(np.array(values, np.int64), device=self._kind.device)

    def _scene(self) -> "Scene | None":
        """Return the task's scene, None if it has a file; errors as in `require_scene`."""
        if type(self).build_scene is Task.build_scene:
            return None
        return require_scene(self.build_scene(), type(self).__name__)

    def _folders(self) -> list[Path]:
        """List the folders of the modules of this class and its bases; for one typed at a prompt the present folder."""
        folders = []
        for kind in type(self).__mro__:
            if issubclass(kind, Task) and kind is not Task:
                file = getattr(sys.modules.get(kind.__module__), "__file__", None)
                folders.append(Path(file).parent if file else Path.cwd())
        return folders


class LoadedTask(NamedTuple):
    """The model of a task, and what its scene has beside it."""

    model: "Model"
    variants: "Sequence[Variants]" = ()  # entities whose shapes differ from environment to environment
    matter: "TaskMatter | None" = None


def load(task: Task, options: Mapping[str, Any]) -> LoadedTask:
    """Return the model of a task, with its matter.

    Raises:
        FileNotFoundError, ValueError, TypeError: as `Task.load_model` and `require_matter`.
    """
    scene = task._scene() if type(task).load_model is Task.load_model else None
    if scene is None:
        matter = _matter_of(task)
        return LoadedTask(_model_of(task, options if matter is None else {**options, "matter": True}), (), matter)
    if not scene.matter.entities:
        return LoadedTask(scene.compile(actuators=True, **options), scene.variants, _matter_of(task))
    from .scene_matter import matter_of_scene

    model = scene.compile(actuators=True, matter=True, **options)
    return LoadedTask(model, scene.variants, matter_of_scene(scene, model, type(task).__name__))


def _matter_of(task: Task) -> "TaskMatter | None":
    """Return what a task's `matter` does, after checks."""
    if type(task).matter is Task.matter:
        return None
    from .matter import require_matter

    found = task.matter()
    return None if found is None else require_matter(type(task).__name__, found)


def _model_of(task: Task, options: Mapping[str, Any]) -> "Model":
    """Return what a task's `load_model` does, after checks."""
    from ...physics import Model

    model = task.load_model(**options)
    if not isinstance(model, Model):
        kind = type(model).__name__
        raise TypeError(f"{type(task).__name__}.load_model returned {kind}; needed is a tumble.physics.Model")
    return model


def numbers_loaded(task: Task, options: Mapping[str, Any]) -> list[Any]:
    """Return all numbers of the model that a task loads; nothing if only `xml_file` decides which it is."""
    methods = "load_model", "model_file", "edit_spec", "build_scene", "matter"
    if all(getattr(type(task), name) is getattr(Task, name) for name in methods):
        return []
    model, variants, matter = load(replace(task), options)
    image = np.empty(mujoco.mj_sizeModel(model.mj), np.uint8)
    mujoco.mj_saveModel(model.mj, None, image)
    return [image, model.values, [(each.name, each.numbers, each.places) for each in variants], matter]


def options_of(kind: type[Task]) -> list[str]:
    """The names of a task's options: the arguments of its class."""
    return list(inspect.signature(kind).parameters)


PLAIN: dict[str, Callable[[Any], Any]] = {
    "a number": float,
    "a whole number": operator.index,
    "a pair of numbers (low, high)": lambda pair: _pair(*pair),
    "True or False": lambda flag: _flag(flag),
}
"""By the kind of an option, in words: a function that converts to Python's type, or raises TypeError or ValueError."""


def _pair(low: Any, high: Any) -> tuple[float, float]:
    return float(low), float(high)


def _flag(value: Any) -> bool:
    if isinstance(value, str) or value not in (0, 1):
        raise ValueError
    return bool(value)


def kind_of(option: Field) -> str | None:
    """Return the kind of number, a key of `PLAIN`, that an option holds by its default and annotation, or None."""
    default = option.default
    if option.type in (int, "int"):
        return "a whole number"
    if option.type in (bool, "bool"):
        return "True or False"
    if isinstance(default, float) or option.type in (float, "float"):
        return "a number"
    numbers = isinstance(default, tuple) and [isinstance(bound, float) for bound in default]
    named = str(option.type) == "tuple[float, float]"
    return "a pair of numbers (low, high)" if numbers == [True, True] or named else None
