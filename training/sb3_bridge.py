"""The bridge to Stable-Baselines3: a Tumble vector environment seen as an SB3 `VecEnv`.

SB3 speaks numpy and one info dictionary an environment; Tumble speaks torch, or numpy if it is made so, and one
dictionary of arrays. The bridge keeps the cost of the difference at one device-to-host copy a step: everything SB3
reads is packed into one flat tensor, copied once, and cut into views. Only pictures, which are bytes, are copied by
themselves. Info dictionaries get contents only where an episode ended.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from ..envs.arguments import require_vector
from ..envs.gym.base_env import GOAL_METHODS
from ..envs.task.observations import each, parts_of
from ..physics.machine.normal_mode import normal_mode
from .distributed import SINGLE_PROCESS, ProcessGroup
from .spaces import ACTIONS, boxes

Observations = np.ndarray | dict[str, np.ndarray]


class TumbleVecEnv(VecEnv):
    """A Tumble vector environment under autoreset mode SAME_STEP, as Stable-Baselines3 wants it.

    If an episode ends, `infos[i]` holds the entries of SB3's own vector environments and its `Monitor`:
    `terminal_observation`, `TimeLimit.truncated` (truncated and not terminated) and `episode`: its undiscounted return
    `r`, its length `l` and the seconds `t` since the bridge was made; also `fault`, the bit mask of a simulation fault
    that ended it. Otherwise `infos[i]` is a new empty dictionary: SB3 writes into infos in places.
    A first episode that the reset option `elapsed_steps` shortens has no `episode`: its return is not one of the task.

    Attributes:
        envs: The vector environment.
        returns: Sums of rewards of the running episodes, float64 (num_envs,), on the environment's device.
        lengths: Steps of the running episodes, float64 (num_envs,).
        info: Of the last step, as the vector environment returned it.

    Args:
        envs: The vector environment; its observations (one tensor, or a dictionary of them), rewards and flags are
            torch tensors, or all of them numpy arrays.
        group: The processes that have parts of one batch of environments.

    Raises:
        TypeError: This is no vector environment.
        ValueError: The environment does not reset finished environments in the same step, or has spaces of other kinds.
    """

    def __init__(self, envs: VectorEnv, group: ProcessGroup = SINGLE_PROCESS) -> None:
        require_vector(envs, "TumbleVecEnv")
        mode = envs.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"Stable-Baselines3 needs autoreset_mode=AutoresetMode.SAME_STEP, this environment has {mode}: "
                'make it with gym.make_vec("tumble/Ant-v0", autoreset_mode="SameStep")'
            )
        observation_space, action_space = envs.single_observation_space, envs.single_action_space
        parts = boxes(observation_space).values()
        if not (all(isinstance(box, gym.spaces.Box) for box in parts) and isinstance(action_space, ACTIONS)):
            kinds = ", ".join(kind.__name__ for kind in ACTIONS)
            raise ValueError(
                f"the bridge carries observations in a Box or a Dict of boxes, and actions in a {kinds}; "
                f"got {observation_space} and {action_space}"
            )
        self.envs, self.group = envs, group
        self._started = time.perf_counter()
        super().__init__(envs.num_envs, observation_space, action_space)
        self._whole_actions = not isinstance(action_space, gym.spaces.Box)
        self._in_numpy = envs.metadata.get("torch") is False  # then wrappers want numpy actions, too
        self._actions: torch.Tensor | None = None
        self.returns = torch.zeros(0)  # (num_envs,) float64, of the running episodes, on the environment's device
        self.lengths = torch.zeros(0)
        self._shortened = np.zeros(envs.num_envs, dtype=bool)  # running episodes that `elapsed_steps` shortens
        self._ended = np.zeros(envs.num_envs, dtype=bool)  # environments that have ended a whole episode
        self.others_have_ended = True  # environments of other processes
        self.info: dict[str, Any] = {}  # of the last step, as the vector environment returned it

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed environments at the next reset: environment i of all processes' with the seed plus i."""
        return super().seed(None if seed is None else seed + self.group.rank * self.num_envs)

    # -- stepping ----------------------------------------------------------------------------------------------------

    @normal_mode
    def reset(self) -> Observations:
        """Reset every environment, with the seeds and options given since the last reset; arrays (num_envs, ...)."""
        seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        options = self._common_options()
        observations, _ = self.envs.reset(seed=seeds, options=options)  # type: ignore[arg-type]
        elapsed = (options or {}).get("elapsed_steps")
        self._shortened = np.zeros(self.num_envs, dtype=bool)
        if elapsed is not None:
            self._shortened |= torch.as_tensor(elapsed).cpu().numpy() > 0
        self._ended = np.zeros(self.num_envs, dtype=bool)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        observations = each(torch.as_tensor, observations)
        device = next(iter(parts_of(observations).values())).device
        self.returns = torch.zeros(self.num_envs, dtype=torch.float64, device=device)
        self.lengths = torch.zeros_like(self.returns)
        return each(lambda part: part.cpu().numpy().copy(), observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, (num_envs, ...), for `step_wait`; SB3 gives MultiBinary actions as floats."""
        self._actions = torch.as_tensor(actions)
        if self._whole_actions:
            self._actions = self._actions.to(torch.int64)

    def step_wait(self) -> tuple[Observations, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take the step: observations (num_envs, ...), rewards (num_envs,), dones (num_envs,), infos."""
        actions: Any = self._actions
        observations, rewards, terminated, truncated = self.step_tensors(actions)
        self.returns += rewards
        self.lengths += 1
        flags, observation, final = self._copy(observations, rewards, terminated, truncated, self.info)
        reward, ended, timed_out, returns, lengths, faults = flags
        done = (ended != 0) | (timed_out != 0)
        infos = self.infos_of(done, timed_out.astype(bool) & (ended == 0), returns, lengths, faults, final)
        if done.any():
            running = torch.logical_not(terminated | truncated)
            self.returns *= running
            self.lengths *= running
        return observation, reward.astype(np.float32, copy=False), done, infos

    def step_tensors(self, actions: Any) -> tuple[Any, ...]:
        """Take a step: observations, rewards, terminated, truncated as tensors; `info` is kept, nothing else."""
        *arrays, self.info = self.envs.step(actions.numpy() if self._in_numpy else actions)
        return tuple(each(torch.as_tensor, array) for array in arrays)

    def infos_of(
        self,
        done: np.ndarray,
        cut: np.ndarray,
        returns: np.ndarray,
        lengths: np.ndarray,
        faults: np.ndarray,
        final: Observations,
    ) -> list[dict[str, Any]]:
        """Return the infos of a step, with contents where an episode ended.

        Args:
            done: where one ended (num_envs,).
            cut: where only a time limit ended it.
            returns: the sums of rewards of the episodes.
            lengths: their steps.
            faults: the bit masks of faults that ended them.
            final: their last observations (num_envs, ...).
        """
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if not done.any():
            return infos
        now = round(time.perf_counter() - self._started, 6)
        for i in np.flatnonzero(done):
            infos[i] = {
                "terminal_observation": each(lambda part, i=i: part[i].copy(), final),
                "TimeLimit.truncated": bool(cut[i]),
            }
            if not self._shortened[i]:
                infos[i]["episode"] = {"r": float(returns[i]), "l": int(lengths[i]), "t": now}
            if faults[i]:
                infos[i]["fault"] = int(faults[i])
        self._ended |= done & ~self._shortened
        self._shortened &= ~done
        return infos

    def episodes_of(self, ends: np.ndarray) -> list[dict[str, Any]]:
        """Return infos of the episodes that ended in several steps.

        Args:
            ends: (steps, 4, num_envs): whether an episode ended, whether only a time limit ended it, its return, and
                its length.
        """
        nothing = np.zeros(self.num_envs)
        steps = [self.infos_of(end[0] > 0, end[1] > 0, end[2], end[3], nothing, {}) for end in ends if end[0].any()]
        return [info for infos in steps for info in infos if info]

    def _copy(
        self, observations: Any, rewards: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor, info: Any
    ) -> tuple[np.ndarray, Observations, Observations]:
        """Copy all of a step's results to the host.

        Returns:
            Six numbers an environment, (6, num_envs): reward, terminated, truncated, return, length, fault; the
            observations; and the final observations, empty where no episode ended. Counts and masks are small
            integers: exact in float32.
        """
        fault = info.get("final_info", {}).get("fault")  # of ended episodes; the others have begun a new one
        columns = [rewards, terminated, truncated, self.returns, self.lengths]
        columns.append(torch.zeros_like(rewards) if fault is None else torch.as_tensor(fault))
        tensors = {("flags", ""): torch.stack([column.to(rewards.dtype) for column in columns])}
        tensors |= {("now", name): part for name, part in parts_of(observations).items()}
        last = parts_of(info.get("final_obs", {}))
        tensors |= {("final", name): torch.as_tensor(part) for name, part in last.items()}
        arrays = copy_to_host(tensors)
        now, final = (
            {name: array for (of, name), array in arrays.items() if of == which} for which in ("now", "final")
        )
        if not isinstance(observations, dict):
            return arrays["flags", ""], now[""], final.get("", now[""])
        return arrays["flags", ""], now, final

    def all_have_ended(self) -> bool:
        """Return True if each environment has ended a whole episode since the reset.

        Before that the mean return of ended episodes is one of short episodes.
        """
        return bool(self._ended.all()) and self.others_have_ended

    # -- other methods of SB3's interface -----------------------------------------------------------------------------

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the vector environment, once for each of the chosen environments."""
        value = getattr(self.envs if hasattr(self.envs, attr_name) else self.envs.unwrapped, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the vector environment; it has one for all, so `indices` must name all."""
        self._require_all(indices, f"attribute {attr_name!r}")
        setattr(self.envs.unwrapped, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any):
        """Call a method of the vector environment, or else of its task, once; return the result for each of `indices`.

        A task's methods change nothing, so they may be asked by one environment for all: `HerReplayBuffer` does that
        with `compute_reward(achieved_goal, desired_goal, infos)`. The vector environment's own act on all at once.
        """
        owner: Any = self.envs
        asked_of_task = method_name in GOAL_METHODS or not hasattr(owner, method_name)
        if asked_of_task and hasattr(self.envs.unwrapped, "task"):
            owner = self.envs.unwrapped.task
        else:
            self._require_all(indices, f"method {method_name!r}")
        result = getattr(owner, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Say whether the vector environment is wrapped; SB3's `Monitor` counts as there, its statistics are given."""
        from stable_baselines3.common.monitor import Monitor

        layer: Any = self.envs
        is_wrapped = wrapper_class is Monitor
        while not is_wrapped and layer is not None:
            is_wrapped = isinstance(layer, wrapper_class)
            layer = getattr(layer, "env", None)
        return [is_wrapped for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return the rendered frames, (height, width, 3) bytes each, of the environments that are rendered."""
        frames: Any = self.envs.render()
        return list(frames) if frames is not None else []

    def _require_all(self, indices: VecEnvIndices, what: str) -> None:
        """Refuse a subset: the environments of a batch share one Python object."""
        if indices is not None and list(self._get_indices(indices)) != list(range(self.num_envs)):
            raise ValueError(f"{what} belongs to the whole batch; leave indices=None (got {indices!r})")

    def _common_options(self) -> dict[str, Any] | None:
        """Return the reset options; they are one dictionary for the batch."""
        if any(options != self._options[0] for options in self._options):
            warnings.warn("reset options differ between environments; those of environment 0 are used", stacklevel=3)
        return dict(self._options[0]) or None

    # -- resume ------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return all that a bit-exact continuation needs: the simulation and the running episodes' statistics."""
        simulation: Any = self.envs.unwrapped
        flags = {"shortened": torch.from_numpy(self._shortened.copy()), "ended": torch.from_numpy(self._ended.copy())}
        episodes = {"returns": self.returns.clone(), "lengths": self.lengths.clone()}
        return episodes | flags | {"envs": simulation.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`; no reset must follow."""
        simulation: Any = self.envs.unwrapped
        simulation.load_state_dict(state["envs"])
        where = getattr(simulation, "device", "cpu")  # of rewards
        self.returns, self.lengths = (state[name].to(where, copy=True) for name in ("returns", "lengths"))
        if "ended" in state:  # checkpoints of earlier versions lack them
            self._shortened, self._ended = (state[name].cpu().numpy().copy() for name in ("shortened", "ended"))


def copy_to_host(tensors: Mapping[Any, torch.Tensor]) -> dict[Any, np.ndarray]:
    """Copy tensors to arrays: all of the first one's type at once, as views of one array; others one by one."""
    dtype = next(iter(tensors.values())).dtype
    alike = [tensor for tensor in tensors.values() if tensor.dtype == dtype]
    packed, start, arrays = torch.cat([tensor.flatten() for tensor in alike]).cpu().numpy(), 0, {}
    for name, tensor in tensors.items():
        if tensor.dtype != dtype:
            arrays[name] = tensor.cpu().numpy()
            continue
        arrays[name] = packed[start : start + tensor.numel()].reshape(tensor.shape)
        start += tensor.numel()
    return arrays
