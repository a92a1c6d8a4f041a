"""The learner: environments, normaliser and Stable-Baselines3 algorithm of one configuration, saved and restored whole.

Restoring rebuilds everything from the configuration and then loads numbers only (`weights_only=True`): a checkpoint
of unknown origin cannot run code.
"""

import json
import logging
import os
import random
import warnings
import zipfile
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise, VectorizedActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv, VecNormalize, VecTransposeImage

from ...envs.task.observations import each, parts_of
from ...physics.machine.disk import check_archive, check_arrays, own_folder
from ...physics.machine.runtime import ensure_runtime_near
from ...physics.solver.user.state_file import read_tensors
from ..checkpoint import CheckpointError, unusable
from ..compiled.draws import draw_key
from ..config import OFF_POLICY, NormalizeConfig, RunConfig
from ..distributed import SINGLE_PROCESS, ProcessGroup, group_of, moments_of
from ..errors import TumbleUserError, explain
from ..sb3_bridge import TumbleVecEnv
from ..spaces import boxes, check_spaces, normalized_parts, pictures
from ..tasks import make_vec
from .asymmetric import seen_parts
from .compiled_off_policy import CompiledSAC, CompiledTD3
from .compiled_ppo import CompiledPPO
from .lean_ppo import LeanPPO
from .networks import LSTM_OPTIONS, algorithm_class, policy_class, require_library

MODEL_FILE, STATE_FILE, BUFFER_FILE = "model.zip", "state.pt", "replay_buffer.npz"
OTHER_STATE, OTHER_BUFFER = "state-{}.pt", "replay_buffer-{}.npz"
OWN = ("last_obs", "last_original_obs", "last_episode_starts", "bridge")
"""The entries that differ between processes in the result of `state_dict`, beside the returns of the normaliser."""
logger = logging.getLogger("tumble")


class DeviceError(TumbleUserError, ValueError):
    """A device that is not there; the message says which are."""


class Learner:
    """A Stable-Baselines3 algorithm with its environments, complete enough to continue to the last bit.

    Attributes:
        config: The configuration that it was built from.
        bridge: The environments as SB3 sees them.
        normalizer: `VecNormalize` around the bridge.
        model: The SB3 algorithm.
    """

    def __init__(self, config: RunConfig, envs: VectorEnv | None = None, group: ProcessGroup = SINGLE_PROCESS) -> None:
        """Build from a configuration, and give torch the configuration's threads, process-wide.

        Args:
            config: The run's configuration.
            envs: Replaces the environments that the configuration describes (for tests).
            group: The processes that train together.

        Raises:
            TaskError: The task does not exist or cannot be made.
            SpaceError: The algorithm cannot learn from such observations or with such actions.
            DeviceError: The device is not there.
            LibraryError: The algorithm is in a library that is not installed.
        """
        check_device(config.device)
        require_library(config.algo)
        torch.set_num_threads(config.threads)
        self.config, self.group = config, group
        envs = envs if envs is not None else make_envs(config)
        check_spaces(envs.single_observation_space, envs.single_action_space, config.algo)
        self.bridge = TumbleVecEnv(envs, group)
        if group.size > 1 and hasattr(envs.unwrapped, "batch"):
            envs.unwrapped.batch.whole = group.rank * envs.num_envs, group.size * envs.num_envs
        self.normalizer = make_normalizer(self.bridge, config.normalize, gamma=getattr(config, config.algo).gamma)
        self.model = make_model(config, self.normalizer)
        if group.size > 1:
            require_shareable(self.model, config, group)
            self.model.policy.load_state_dict(group.broadcast(_on_host(dict(self.model.policy.state_dict()))))

    def save(self, folder: Path, state: dict[str, Any] | None = None, others: Sequence[dict[str, Any]] = ()) -> None:
        """Write everything into an empty folder, between two iterations.

        Args:
            folder: Where to.
            state: The result of `state_dict` at the beginning of the present iteration, if one is under way.
            others: The results of `own_state` in other processes.
        """
        self.save_policy(folder, state)
        for rank, other in enumerate(others, 1):
            torch.save(other, folder / OTHER_STATE.format(rank))
        if isinstance(self.model, OffPolicyAlgorithm):
            save_replay_buffer(self.model, folder / BUFFER_FILE)
            for rank in range(1, len(others) + 1):
                name = OTHER_BUFFER.format(rank)
                os.replace(folder.parent / name, folder / name)

    def save_policy(self, folder: Path, state: dict[str, Any] | None = None) -> None:
        """Write all but the replay buffer: enough to act, not to go on; `state` as in `save`."""
        self.model.save(folder / MODEL_FILE)
        torch.save(_on_host(self.state_dict() if state is None else state), folder / STATE_FILE)

    def own_state(self) -> dict[str, Any]:
        """Return the part of `state_dict` that differs between processes: that of the environments."""
        state = self.state_dict()
        own = {name: state[name] for name in OWN}
        return own | {"normalizer_returns": state["normalizer"]["returns"]}

    def other_states(self, folder: Path) -> list[dict[str, Any]]:
        """Return in process 0 the own states of the other processes, once all have the same weights and statistics.

        The others write their replay buffers into `folder`, from which `save` moves them into a folder inside of it.

        Raises:
            GroupError: They have not.
            CheckpointError: A replay buffer could not be written; raised in process 0.
        """
        if self.group.size == 1:
            return []
        moments = [self.normalizer.ret_rms, *parts_of(getattr(self.normalizer, "obs_rms", {})).values()]
        statistics = [torch.from_numpy(np.ravel(x)) for one in moments for x in (one.mean, one.var)]
        weights = [weights.detach().cpu().double().flatten() for weights in self.model.policy.parameters()]
        self.group.require_equal(f"weights at step {self.model.num_timesteps:,}", torch.cat([*weights, *statistics]))
        failure = ""
        if isinstance(self.model, OffPolicyAlgorithm) and self.group.rank:
            try:
                with self.group.long_work():
                    save_replay_buffer(self.model, own_folder(folder) / OTHER_BUFFER.format(self.group.rank))
            except OSError as error:
                failure = f"process {self.group.rank} could not write its replay buffer: {explain(error)}"
        states = self.group.gather((_on_host(self.own_state()), failure))
        for _, failure in states:
            if failure:
                raise CheckpointError(f"{failure}. The checkpoints before are intact: go on from them with --resume")
        return [state for state, _ in states[1:]]

    def is_finite(self) -> bool:
        """Say whether all weights are numbers."""
        return all(bool(torch.isfinite(weights).all()) for weights in self.model.policy.parameters())

    def load(self, folder: Path) -> None:
        """Restore the files of `save`; training then goes on as if nothing had happened.

        Raises:
            CheckpointError: A file cannot be read, or holds something else. Nothing in it is run as code.
        """
        with unusable(folder, "it cannot be loaded"):
            check_model(folder / MODEL_FILE)
            self.model.set_parameters(str(folder / MODEL_FILE), device=self.config.device)
            state = read_tensors(folder / STATE_FILE, self.config.device)
            processes, rank = state.get("processes", 1), self.group.rank
            if processes == self.group.size and rank:
                other = read_tensors(folder / OTHER_STATE.format(rank), self.config.device)
                state["normalizer"]["returns"] = other.pop("normalizer_returns")
                state |= other
            self.load_state_dict(state)
            if processes != self.group.size:
                self._begin_episodes(processes)
            if isinstance(self.model, OffPolicyAlgorithm):
                names = [BUFFER_FILE, *map(OTHER_BUFFER.format, range(1, processes))]
                load_replay_buffer(self.model, [folder / name for name in names], self.group)

    def _begin_episodes(self, before: int) -> None:
        """Begin other episodes at the first step: the states are of another number of environments."""
        self.model._last_obs = None
        self.bridge.seed(draw_key(self.config.seed, self.model.num_timesteps) % 2**62)
        if self.config.stagger:
            stagger(self.bridge)
        if self.group.rank == 0:
            now, n = self.group.size, self.bridge.num_envs
            logger.warning(
                "the run had %d process%s and has %d now: weights, statistics%s and steps go on, and %d instead of %d "
                "environments begin new episodes",
                *(before, "" if before == 1 else "es", now),
                *(", replay buffers" if isinstance(self.model, OffPolicyAlgorithm) else "", now * n, before * n),
            )

    def state_dict(self) -> dict[str, Any]:
        """Return the state that SB3's file lacks: counters, last observations, statistics, environments, generators."""
        model = self.model
        return {
            "num_timesteps": model.num_timesteps,
            "processes": self.group.size,
            "n_updates": model._n_updates,
            "episode_num": model._episode_num,
            "last_obs": each(_tensor, model._last_obs),
            "last_original_obs": each(_tensor, model._last_original_obs),
            "last_episode_starts": _tensor(model._last_episode_starts),
            "episode_infos": list(model.ep_info_buffer or ()),
            "variables": {name: getattr(model, name).detach() for name in model._get_torch_save_params()[1]},
            "normalizer": normalizer_state(self.normalizer),
            "bridge": self.bridge.state_dict(),
            "memory": memory(model),
            "generators": generator_state(model),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        model = self.model
        model.num_timesteps = state["num_timesteps"]
        model._n_updates = state["n_updates"]
        model._episode_num = state["episode_num"]
        model._last_obs = each(_array, state["last_obs"])
        model._last_original_obs = each(_array, state["last_original_obs"])
        model._last_episode_starts = _array(state["last_episode_starts"])
        model.ep_info_buffer = deque(state["episode_infos"], maxlen=model._stats_window_size)
        model.ep_success_buffer = deque(maxlen=model._stats_window_size)
        for name, value in state["variables"].items():  # SAC's entropy coefficient
            getattr(model, name).data.copy_(value)
        load_memory(model, state.get("memory", []))
        load_normalizer_state(self.normalizer, state["normalizer"])
        self.bridge.load_state_dict(state["bridge"])
        load_generator_state(model, state["generators"])  # last: building the model drew from the generators


def check_device(device: str) -> None:
    """Refuse a device that torch does not know or that this machine lacks.

    Raises:
        DeviceError: The device is not there, or torch cannot learn on it.
    """
    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise DeviceError(f"device {device!r}: there is cpu, and cuda where torch finds a GPU") from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device {device!r}: torch finds no GPU on this machine; use --device cpu")
    if kind not in ("cpu", "cuda"):
        raise DeviceError(f"device {device!r}: learning runs on cpu or cuda")


def require_shareable(model: BaseAlgorithm, config: RunConfig, group: ProcessGroup) -> None:
    """Refuse a run that several processes cannot train together.

    Raises:
        DeviceError: They cannot; the message says why.
    """
    reason = ""
    learner = getattr(getattr(config, config.algo), "learner", None)
    if not isinstance(model, CompiledPPO | CompiledSAC | CompiledTD3):
        reason = f'{config.algo}.learner is "{learner}"' if learner else f"the algorithm is {config.algo}"
    elif not (isinstance(model, CompiledPPO) and model.device.type == "cuda" and model._is_plain()):
        reason = model.reason()
    if reason:
        raise DeviceError(
            f"{group.size} processes train one run by PPO, SAC or TD3 whose updates are compiled "
            f"(--set {config.algo if learner else 'ppo'}.learner=compiled), and here {reason}; start it in one process"
        )


def make_envs(config: RunConfig, **changes: Any) -> VectorEnv:
    """Make the vector environment that a configuration describes; `changes` override `make_vec`'s arguments.

    The solver lies where the configuration's device is, unless something has placed it before. Its results stay
    there until the bridge brings it to Stable-Baselines3, all of a step at once.
    """
    place_solver(config.device)
    options = {"num_envs": config.num_envs, "autoreset_mode": AutoresetMode.SAME_STEP}
    return make_vec(config.task, **(config.environment() | options | changes))


def place_solver(device: str) -> None:
    """Start Taichi on the device of a run, if it has not been started yet.

    Raises:
        DeviceError: It cannot be started there.
    """
    try:
        ensure_runtime_near(device)
    except ValueError as error:
        raise DeviceError(str(error)) from None


def stagger(bridge: TumbleVecEnv) -> None:
    """Cut the first episodes at evenly spread steps of the time limit.

    If episodes end only by the time limit, all environments would otherwise start together for ever: the learner
    would see the beginning of episodes in one iteration of many, and forget it in the others.
    """
    envs: Any = bridge.envs.unwrapped
    limit, n, group = envs.max_episode_steps, envs.num_envs, bridge.group
    if limit is not None:
        numbers = range(group.rank * n, group.rank * n + n)
        bridge.set_options({"elapsed_steps": [i * limit // (n * group.size) for i in numbers]})


def make_normalizer(bridge: TumbleVecEnv, config: NormalizeConfig, gamma: float) -> VecNormalize:
    """Wrap the bridge in SB3's running normaliser, which keeps pictures and the parts that `config` leaves out."""
    space = bridge.observation_space
    venv: VecEnv = VecTransposeImage(bridge) if pictures(space) else bridge
    parts = normalized_parts(space)
    normalizer = VecNormalize(
        venv,
        norm_obs=config.observations and bool(parts),
        norm_obs_keys=None if parts in ([], [""]) else parts,
        norm_reward=config.rewards,
        clip_obs=config.clip_observations,
        clip_reward=config.clip_rewards,
        gamma=gamma,
    )
    if (group := group_of(bridge)).size > 1:
        normalizer.ret_rms = SharedMeanStd(group, normalizer.ret_rms)
        if normalizer.norm_obs:
            normalizer.obs_rms = each(partial(SharedMeanStd, group), normalizer.obs_rms)
    return normalizer


class SharedMeanStd(RunningMeanStd):
    """SB3's mean and variance of the rows of all processes."""

    def __init__(self, group: ProcessGroup, source: RunningMeanStd) -> None:
        super().__init__(shape=source.mean.shape)
        self._group = group

    def update(self, arr: np.ndarray) -> None:
        """Take in rows (n, ...)."""
        moments = self._group.merged(moments_of(torch.from_numpy(arr).reshape(len(arr), -1)))
        count, mean, squares = (column.view(self.mean.shape).numpy() for column in moments.unbind(1))
        rows = count.flat[0]
        self.update_from_moments(mean, squares / rows, rows)


def make_model(config: RunConfig, venv: VecNormalize) -> BaseAlgorithm:
    """Make the algorithm with fresh weights drawn under the configuration's seed."""
    common: dict[str, Any] = {"seed": config.seed, "device": config.device, "verbose": 0}
    group = group_of(venv)
    # so that each environment counts in the mean of episodes
    common["stats_window_size"] = max(100, venv.num_envs * group.size)
    seen = seen_parts(list(boxes(venv.observation_space)), config.policy)
    policy: Any
    policy, common["policy_kwargs"] = policy_class(config, venv.observation_space, seen)
    options = asdict(getattr(config, config.algo))
    if config.algo not in OFF_POLICY:
        for name in ("learning_rate", "clip_range"):
            start, end = options[name], options.pop(f"{name}_end")
            options[name] = start if end is None else LinearSchedule(start, end, end_fraction=1.0)
        options["batch_size"] = min(options["batch_size"], options["n_steps"] * venv.num_envs * group.size)
        for name in LSTM_OPTIONS:
            options.pop(name, None)
        kind: Any = algorithm_class(config.algo)
        kind = {"lean": LeanPPO, "compiled": CompiledPPO}.get(options.pop("learner", "sb3"), kind)
        desired_kl = options.pop("desired_kl", 0.0)
        with warnings.catch_warnings():
            if group.size > 1:  # it speaks of the rows of one process
                warnings.filterwarnings("ignore", "You have specified a mini-batch size")
            model = kind(policy, venv, **options, **common)
        if isinstance(model, CompiledPPO):
            model.desired_kl = desired_kl
        return model
    compiled = options.pop("learner") == "compiled"
    options["buffer_size"] //= group.size
    if config.algo == "sac":
        return (CompiledSAC if compiled else SAC)(policy, venv, **options, **common)
    size: Any = venv.action_space.shape
    noise: ActionNoise = NormalActionNoise(np.zeros(size), np.full(size, options.pop("action_noise")))
    if group.size > 1:
        noise = VectorizedActionNoise(noise, group.size * venv.num_envs)
    return (CompiledTD3 if compiled else TD3)(policy, venv, action_noise=noise, **options, **common)


def normalizer_state(normalizer: VecNormalize) -> dict[str, Any]:
    """Return the running statistics as tensors."""
    state: dict[str, Any] = {"returns": _tensor(normalizer.returns), "rewards": _moments(normalizer.ret_rms)}
    if normalizer.norm_obs:
        state["observations"] = each(_moments, normalizer.obs_rms)
    return state


def load_normalizer_state(normalizer: VecNormalize, state: dict[str, Any]) -> None:
    """Restore the running statistics."""
    normalizer.returns = _array(state["returns"])
    _load_moments(normalizer.ret_rms, state["rewards"])
    if normalizer.norm_obs:
        if isinstance(normalizer.obs_rms, dict):
            for name, statistics in normalizer.obs_rms.items():
                _load_moments(statistics, state["observations"][name])
        else:
            _load_moments(normalizer.obs_rms, state["observations"])


def memory(model: BaseAlgorithm) -> list[torch.Tensor]:
    """Return the LSTM states that the next rollout begins with: hidden and cell, of actor and critic; [] without."""
    return [state for network in getattr(model, "_last_lstm_states", ()) for state in network]


def load_memory(model: Any, states: list[torch.Tensor]) -> None:
    """Restore a result of `memory`."""
    if states:
        a, b, c, d = (state.to(model.device) for state in states)
        model._last_lstm_states = type(model._last_lstm_states)((a, b), (c, d))


def generator_state(model: BaseAlgorithm) -> dict[str, Any]:
    """Return the states of every random generator that training draws from."""
    twister: Any = np.random.get_state(
        legacy=True
    )  # (name, 624 words, position, and a Gaussian kept for the next call)
    kind, keys, position, has_gauss, gauss = twister
    return {
        "python": json.dumps(random.getstate()),
        "numpy": [str(kind), torch.from_numpy(keys.astype(np.int64)), position, has_gauss, gauss],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "action_space": json.dumps(model.action_space.np_random.bit_generator.state),
    }


def load_generator_state(model: BaseAlgorithm, state: dict[str, Any]) -> None:
    """Restore the generators."""
    version, internal, gauss_next = json.loads(state["python"])
    random.setstate((version, tuple(internal), gauss_next))
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, keys.cpu().numpy().astype(np.uint32), position, has_gauss, gauss))
    torch.set_rng_state(state["torch"].cpu())
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([one.cpu() for one in state["cuda"]])
    model.action_space.np_random.bit_generator.state = json.loads(state["action_space"])


def check_model(path: Path) -> None:
    """Refuse SB3's file if it, or a file of torch's in it, declares more than it has; errors: `check_archive`'s."""
    check_archive(path)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".pth"):
                with archive.open(name) as file:
                    check_archive(file)


def save_replay_buffer(model: OffPolicyAlgorithm, path: Path) -> None:
    """Write the filled part of the replay buffer."""
    buffer = model.replay_buffer
    assert buffer is not None
    used = buffer.buffer_size if buffer.full else buffer.pos
    arrays = {name: array[:used] for name, array in buffer_arrays(model).items()}
    with path.open("wb") as file:
        np.savez(file, pos=buffer.pos, full=buffer.full, **arrays)  # type: ignore[arg-type]


def load_replay_buffer(model: OffPolicyAlgorithm, paths: Sequence[Path], group: ProcessGroup) -> None:
    """Restore the replay buffer of this process from those of all; their sizes must be the configured one.

    Those of another number of processes are dealt out: the newest transitions, to as many environments as there are.
    """
    buffer, arrays = model.replay_buffer, buffer_arrays(model)
    assert buffer is not None
    if len(paths) == group.size:
        path = paths[group.rank]
        check_arrays(path)
        with np.load(path, allow_pickle=False) as stored:
            for name, array in arrays.items():
                values = stored[name]
                array[: len(values)] = values
            buffer.pos, buffer.full = int(stored["pos"]), bool(stored["full"])
        return
    n, filled = buffer.n_envs, 0
    for name, array in arrays.items():
        together = np.concatenate([_in_order(path, name) for path in paths], 1)
        filled = min(together.shape[0] * together.shape[1] // (n * group.size), buffer.buffer_size)
        rows = together.reshape(-1, *array.shape[2:])[-filled * n * group.size :] if filled else together[:0]
        array[:filled] = rows.reshape(filled, group.size, *array.shape[1:])[:, group.rank]
    buffer.pos, buffer.full = filled % buffer.buffer_size, filled == buffer.buffer_size


def _in_order(path: Path, name: str) -> np.ndarray:
    """Return an array of a file of `save_replay_buffer` (times, environments, ...), the oldest time first."""
    check_arrays(path)
    with np.load(path, allow_pickle=False) as stored:
        return np.roll(stored[name], -int(stored["pos"]), 0)


def buffer_arrays(model: OffPolicyAlgorithm) -> dict[str, np.ndarray]:
    """Return the arrays of the replay buffer by name; that of an observation's part is called "observations:part"."""
    names = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
    arrays = {}
    for name in names:
        for part, array in parts_of(getattr(model.replay_buffer, name)).items():
            arrays[f"{name}:{part}" if part else name] = array
    return arrays


def _moments(statistics: Any) -> dict[str, Any]:
    """Return SB3's running mean, variance and count."""
    return {"mean": _tensor(statistics.mean), "var": _tensor(statistics.var), "count": float(statistics.count)}


def _load_moments(statistics: Any, state: dict[str, Any]) -> None:
    statistics.mean, statistics.var, statistics.count = _array(state["mean"]), _array(state["var"]), state["count"]


def _on_host(state: Any) -> Any:
    """Return a state whose tensors lie on the processor, so that it can be read on a machine without a GPU."""
    if isinstance(state, dict):
        return {name: _on_host(value) for name, value in state.items()}
    if isinstance(state, list):
        return [_on_host(value) for value in state]
    return state.cpu() if isinstance(state, torch.Tensor) else state


def _tensor(array: Any) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(np.array(array))


def _array(tensor: torch.Tensor | None) -> Any:
    return None if tensor is None else tensor.cpu().numpy()
