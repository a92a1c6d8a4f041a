"""TaskSetEnv: the environments of several tasks as one vector environment, a batch for each task."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..arguments import whole
from ..arrays import namespace, zeros_like_rows
from ..batch.actions import ActionCheck
from ..batch.reset_options import KNOWN, require_known
from ..batch.seeds import spread_seeds
from ..gym.episodes import refuse_finished
from ..gym.pictures import METADATA
from ..gym.vector_env import SimVectorEnv
from .goals import draw_goals
from .names import is_multi_task

_SHOWN = 16  # environments that are pictured at most
_MADE_HERE = ("_actions", "_pool")  # what a copy makes for itself


class TaskSetEnv(VectorEnv):
    """Environments of a set of Meta-World's tasks, which step together: `tumble.make_vec("metaworld/MT10")`.

    Each task has a separate batch, in `groups`; their environments stand one group after the other, in the set's
    order. Observations, rewards and infos are those of `SimVectorEnv`, side by side, and so are autoreset modes,
    seeds, `reset_mask`, `elapsed_steps`, faults, saved states and copies. Environments of the same seed have the same
    bits as in a `SimVectorEnv` of their task.

    The set's goals are those that Meta-World draws for `seed`: 50 for each task. In multi-task sets (MT) every episode
    draws one of them, and observations have it; in sets for meta-learning (ML) the goal is hidden, the environments of
    a task share its goals out among them, and one keeps its goal until `sample_tasks`. As in Meta-World, a success ends
    the episodes of tasks to test on (`terminate_on_success`).

    Attributes:
        groups (list[SimVectorEnv]): the environments of each task.
        task_names (list[str]): the tasks, such as "reach-v3".
        goals (dict[str, numpy.ndarray]): the goals by the tasks' names, (50, numbers) each.
        task_of_env (numpy.ndarray): for each environment the number of its task, (num_envs,) int64.

    Args:
        name: MT1, MT10, MT25, MT50, ML1, ML10, ML25 or ML45.
        num_envs: how many environments, as many for each task; 1: one for each.
        env_name: the task of MT1 and ML1.
        split: "train", or of the ML sets "test".
        seed: of the goals; None draws others every time.
        use_one_hot: True: observations end with a number for each task, 1 for the environment's own.
        total_tasks_per_cls: only the first so many goals of each task; None: all.
        threads: how many groups step at the same time; the results are the same.
        options: of every group: options of `SimVectorEnv` and of the tasks.

    Raises:
        ValueError, TypeError: an argument is wrong; the message says what is allowed.
    """

    metadata = METADATA | {"render_modes": ["rgb_array", "depth_array"]}

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        *,
        env_name: str | None = None,
        split: str = "train",
        seed: int | None = None,
        use_one_hot: bool = False,
        total_tasks_per_cls: int | None = None,
        threads: int = 1,
        max_episode_steps: int | None = 500,
        **options: Any,
    ) -> None:
        """Make the environments; the arguments are described above."""
        if options.get("render_mode") == "human":
            raise ValueError("render_mode='human': a set has pictures of all its tasks; use 'rgb_array'")
        if "goals" in options:
            raise ValueError("goals: a set draws them itself, by seed; a task such as metaworld/push-v3 takes them")
        goals = draw_goals(name, seed, split, env_name)
        limit = None if total_tasks_per_cls is None else whole("total_tasks_per_cls", total_tasks_per_cls)
        self.goals = {task: starts[:limit] for task, starts in goals.items()}
        self.task_names, count = list(goals), len(goals)
        num_envs = count if num_envs == 1 else whole("num_envs", num_envs)
        if num_envs % count:
            raise ValueError(f"num_envs={num_envs}: {name} has {count} tasks with as many environments each")
        self.num_envs, self._each, self._threads = num_envs, num_envs // count, whole("threads", threads)
        by_set: dict[str, Any] = {"max_episode_steps": max_episode_steps, "terminate_on_success": split == "test"}
        if not is_multi_task(name):
            by_set |= {"goal_visible": False, "goal_choice": "turn", "goals_apart": True}
        options = by_set | options
        self.groups = [
            SimVectorEnv(f"metaworld/{task}", self._each, goals=starts, **options)
            for task, starts in self.goals.items()
        ]
        self.task_of_env = np.repeat(np.arange(count), self._each)
        self._describe(count if use_one_hot else 0)

    def _describe(self, tasks: int) -> None:
        """Set the attributes that Gymnasium's tools read; `tasks` are the numbers of the one-hot code."""
        first, boxes = self.groups[0], [cast("Box", group.single_observation_space) for group in self.groups]
        low, high = np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)
        code = np.zeros(tasks, low.dtype)
        bounds = np.concatenate((low, code)), np.concatenate((high, code + 1))
        self.single_observation_space = Box(*bounds, dtype=low.dtype)
        self.single_action_space = first.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**first.metadata, "render_modes": self.metadata["render_modes"]}
        self.render_mode, self._tasks = first.render_mode, tasks
        self.device = first.device

    # -- resets and steps ---------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes; arguments and results as in `SimVectorEnv.reset`."""
        require_known(options, KNOWN, "vector environments")
        seeds = spread_seeds(seed, self.num_envs)
        for key, value in (options or {}).items():
            if tuple(np.shape(value)) != (self.num_envs,):
                raise ValueError(f"options[{key!r}] must have shape ({self.num_envs},), got {tuple(np.shape(value))}")
        if seeds[0] is not None:
            super().reset(seed=seeds[0])
        parts = []
        for group, rows in self._rows():
            own = None if options is None else {key: value[rows] for key, value in options.items()}
            parts.append(group.reset(seed=seeds[rows], options=own))
        observations, infos = zip(*parts, strict=True)
        return self._coded(observations), self._merge(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment; arguments and results as in `SimVectorEnv.step`."""
        waiting = self._waiting()
        checked = self._checker().many(actions, ignored=waiting)
        results = self._each_group(lambda group, rows: group.step(checked[rows]))
        observations, *flags, infos = zip(*results, strict=True)
        return self._coded(observations), *(joined(parts) for parts in flags), self._merge(infos)

    def sample_tasks(self, *, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes with the next goal of each environment, for meta-learning; as `reset` otherwise.

        Where goals are drawn at random, every `reset` does it.
        """
        for group in self.groups:
            memory = group.batch._memory.arrays
            if "turn" in memory and group.episodes.observation is not None:
                memory["turn"] = memory["turn"] + 1
        return self.reset(options=options)

    def _waiting(self) -> Any:
        """Return which environments are reset instead of moved in the next step, (num_envs,) bool; None: none is.

        Raises:
            ResetNeeded: some may not be stepped; nothing has moved.
        """
        episodes = [group.episodes for group in self.groups]
        for each in episodes:
            each.require_open()
        if any(each.observation is None for each in episodes):
            raise ResetNeeded("call reset() before the first step()")
        mode = self.autoreset_mode
        if mode is AutoresetMode.SAME_STEP or not any(each.ended for each in episodes):
            return None
        done = joined([each.done for each in episodes])
        if mode is AutoresetMode.DISABLED:
            refuse_finished(done)
        return done

    def _checker(self) -> ActionCheck:
        """Return the check of all environments' actions."""
        if not hasattr(self, "_actions"):
            self._actions = ActionCheck(self.num_envs, self.single_action_space, self.groups[0].batch.kind)
        return self._actions

    def _rows(self) -> Iterator[tuple[SimVectorEnv, slice]]:
        """Return each group with the places of its environments."""
        for number, group in enumerate(self.groups):
            yield group, slice(number * self._each, (number + 1) * self._each)

    def _each_group(self, act: Callable[[SimVectorEnv, slice], Any]) -> list[Any]:
        """Return the results of a function of each group and its places, in turn or in threads."""
        if self._threads == 1:
            return [act(group, rows) for group, rows in self._rows()]
        if not hasattr(self, "_pool"):
            self._pool = ThreadPoolExecutor(self._threads)
        return list(self._pool.map(lambda pair: act(*pair), self._rows()))

    def _coded(self, observations: Sequence[Any]) -> Any:
        """Return the observations of all groups side by side, with the code of their tasks."""
        return joined([self._with_code(part, number) for number, part in enumerate(observations)])

    def _with_code(self, observation: Any, number: int) -> Any:
        """Return the observations of a group, (n, 39), with the code of its task behind."""
        if not self._tasks:
            return observation
        xp = namespace(observation)
        code = xp.zeros((len(observation), self._tasks), dtype=observation.dtype, device=observation.device)
        code[:, number] = 1
        return xp.concat((observation, code), axis=1)

    def _merge(self, infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the infos of all groups as one."""
        info = _merged(infos, self._each)
        if self._tasks and "final_obs" in info:
            parts = [info["final_obs"][rows] for _, rows in self._rows()]
            coded = self._coded(parts)
            info["final_obs"] = coded * info["_final_obs"][:, None]
        return info

    # -- attributes of all environments -------------------------------------------------------------------------------

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """The mode of all groups."""
        return self.groups[0].episodes.autoreset_mode

    @property
    def max_episode_steps(self) -> int | None:
        """After how many steps an episode is truncated; None: never."""
        return self.groups[0].episodes.max_steps

    @property
    def episode_lengths(self) -> Any:
        """Steps of the time limit that the running episodes have taken, (num_envs,) int64."""
        return joined([group.episode_lengths for group in self.groups])

    @episode_lengths.setter
    def episode_lengths(self, steps: Any) -> None:
        for group, rows in self._rows():
            group.episode_lengths = steps[rows]

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # of each, like SyncVectorEnv
        """The seed of every environment."""
        return tuple(seed for group in self.groups for seed in group.episodes.seeds)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method, or read an attribute, of every environment: `SimVectorEnv.call`."""
        return tuple(value for group in self.groups for value in group.call(name, *args, **kwargs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every environment."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of all environments: one value, or a list with one for each, equal within a task."""
        listed = isinstance(values, list | tuple)
        if listed and len(values) != self.num_envs:
            raise ValueError(f"set_attr({name!r}): {len(values)} values for {self.num_envs} environments")
        for group, rows in self._rows():
            group.set_attr(name, values[rows] if listed else values)

    def render(self) -> tuple[Any, ...] | None:
        """Return pictures of the first environments, one of each task, 16 at most."""
        if self.render_mode is None:
            return self.groups[0].render()
        shown: list[Any] = []
        for group in self.groups[:_SHOWN]:
            group.pictures.render_envs = [0]
            shown += group.render() or ()
        return tuple(shown)

    # -- saved states and copies --------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the future depends on, by the tasks' names: as `SimVectorEnv.state_dict` each."""
        return {task: group.state_dict() for task, group in zip(self.task_names, self.groups, strict=True)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` of environments made with the same arguments left off.

        Raises:
            ValueError: the state is of other tasks, or does not fit one of them.
        """
        if list(state) != self.task_names:
            raise ValueError(f"the state is of the tasks {list(state)}; here are {self.task_names}")
        for task, group in zip(self.task_names, self.groups, strict=True):
            group.load_state_dict(state[task])

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of."""
        return {name: value for name, value in vars(self).items() if name not in _MADE_HERE}

    def close_extras(self, **kwargs: Any) -> None:
        """Give the memory of all solvers back."""
        for group in self.groups:
            group.close()
        if hasattr(self, "_pool"):
            self._pool.shutdown()


def joined(parts: Sequence[Any]) -> Any:
    """Return arrays (n, ...) one after the other, (sum of n, ...)."""
    return namespace(parts[0]).concat(list(parts))


def _merged(infos: Sequence[Mapping[str, Any]], each: int) -> dict[str, Any]:
    """Return the infos of groups of `each` environments as one, with zeros for a group that lacks a key."""
    keys = dict.fromkeys(key for info in infos for key in info)
    return {key: _merged_key([info.get(key) for info in infos], each) for key in keys}


def _merged_key(values: Sequence[Any], each: int) -> Any:
    """Return the values of one key; None stands for a group that does not have it."""
    example = next(value for value in values if value is not None)
    if isinstance(example, Mapping):
        return _merged([{} if value is None else value for value in values], each)
    return joined([zeros_like_rows(example, each) if value is None else value for value in values])
