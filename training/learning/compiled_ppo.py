"""Stable-Baselines3's PPO whose rollouts and updates are compiled code, chosen by `learner = "compiled"`.

The model, its files, callbacks, schedules and loggers stay those of Stable-Baselines3, and `VecNormalize` keeps its
statistics. A rollout calls the environments with tensors; the rest of it and the whole update run without Python
(`training/compiled`). What is learned is what `LeanPPO` learns, to rounding, but for the draws of actions, which are
hashes of the seed and the step.
"""

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.distributions import (
    CategoricalDistribution,
    DiagGaussianDistribution,
    MultiCategoricalDistribution,
)
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from ...envs.task.observations import parts_of
from ..compiled.code import learning_pool
from ..compiled.draws import draw_key
from ..compiled.minibatches import Minibatches, PPOSettings, RowColumns, Shared
from ..compiled.ppo_loss import ADVANTAGE
from ..compiled.rollout_memory import ObservationPart, RolloutMemory, Statistics
from ..compiled.rollouts import EPSILON
from ..sb3_bridge import TumbleVecEnv
from .lean_ppo import COLUMNS, LeanPPO
from .obstacles import WithReason
from .shares import Shares, draw_shares, gather_episodes
from .tensor_rollouts import TensorRollouts

DISTRIBUTIONS = (DiagGaussianDistribution, CategoricalDistribution, MultiCategoricalDistribution)
Memory = RolloutMemory | TensorRollouts


class CompiledPPO(WithReason, LeanPPO):
    """PPO for observations that are rows of numbers; what compiled code cannot do goes on as in `LeanPPO`.

    Attributes:
        desired_kl: the KL divergence of a minibatch that steers the learning rate, see `PPOConfig`; 0: the rate follows
            its schedule.
    """

    desired_kl = 0.0
    _networks: Minibatches | None = None
    _memory: Memory | None = None
    _collected = False

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_networks", "_memory"]

    # -- what is compiled --------------------------------------------------------------------------------------------

    def _obstacles(self) -> Iterable[tuple[str, bool]]:
        """Return reasons, and whether each applies."""
        yield from self._obstacles_to_rows()
        extractor = self.policy.mlp_extractor
        hidden = [*getattr(extractor, "policy_net", []), *getattr(extractor, "value_net", [])]
        yield from self._obstacles_to_networks(hidden, [self.policy.optimizer])

    def _obstacles_to_rows(self) -> list[tuple[str, bool]]:
        """Return reasons why rollouts are not rows of tensors, and whether each applies."""
        distribution = type(self.policy.action_dist)
        return [
            ("its noise depends on the state (gSDE)", self.use_sde),
            ("observations are not rows of numbers", not self._is_rows()),
            (f"actions are drawn from {distribution.__name__}", distribution not in DISTRIBUTIONS),
        ]

    def _prepared(self) -> Minibatches:
        """Return the networks in panels."""
        if self._networks is None:
            policy, extractor, options = self.policy, self.policy.mlp_extractor, self._options()
            self._networks = Minibatches(
                [*extractor.policy_net, policy.action_net],
                [*extractor.value_net, policy.value_net],
                None if options else policy.log_std,
                options,
                min(self.batch_size, self.n_steps * self.n_envs * self.group.size),
                learning_pool(),
            )
        return self._networks

    def _options(self) -> list[int]:
        """Return the numbers of options of choices; [] if actions are numbers."""
        space = self.action_space
        if isinstance(space, gym.spaces.Discrete):
            return [int(space.n)]
        return [int(n) for n in space.nvec] if isinstance(space, gym.spaces.MultiDiscrete) else []

    def _layout(self) -> tuple[list[ObservationPart], RowColumns]:
        """Return where the parts of an observation are in a row: what the actor sees, and then what the critic sees."""
        space = self.observation_space
        if not isinstance(space, gym.spaces.Dict):
            width = int(np.prod(space.shape or ()))
            return [ObservationPart("", width, (0,))], RowColumns(0, 0, width)
        widths = {name: int(np.prod(box.shape or ())) for name, box in space.spaces.items()}
        actor, critic = (tuple(one.extractors) for one in self._extractors())
        seen = [actor] if actor == critic else [actor, critic]
        places: dict[str, list[int]] = {}
        column, starts = 0, []
        for names in seen:
            starts.append(column)
            for name in names:
                places.setdefault(name, []).append(column)
                column += widths[name]
        parts = [ObservationPart(name, widths[name], tuple(columns)) for name, columns in places.items()]
        return parts, RowColumns(starts[0], starts[-1], column)

    # -- collecting --------------------------------------------------------------------------------------------------

    def collect_rollouts(self, env: VecEnv, callback: BaseCallback, rollout_buffer: Any, n_rollout_steps: int) -> bool:
        """Fill the rollout buffer with steps of all environments; see Stable-Baselines3's method."""
        self._collected = False
        if not self._collects(env):
            return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)
        bridge: Any = env.venv  # type: ignore[attr-defined]
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        if not self.reason():
            self._prepared().read(self.policy.optimizer)
        memory, counts = self._begin_rollout(env, bridge, n_rollout_steps)
        discrete = not isinstance(self.action_space, gym.spaces.Box)
        ended: list[tuple[int, dict[str, Any]]] = []
        alone = self.group.size == 1
        for step in range(n_rollout_steps):
            taken = memory.act(step, self._key())
            actions = taken.reshape(-1).long() if discrete and taken.shape[1] == 1 else taken
            observations, rewards, terminated, truncated = bridge.step_tensors(actions.long() if discrete else actions)
            rewards, parts = rewards.to(memory.rows.dtype).contiguous(), _rows(observations, memory.rows.dtype)
            terminated, truncated = terminated.contiguous(), truncated.contiguous()
            infos: list[dict[str, Any]] = []
            if memory.record(step, parts, rewards, terminated, truncated) or "final_obs" in bridge.info:
                infos = self._end_episodes(memory, bridge, step, terminated, truncated, parts)
            self.num_timesteps += self.n_envs * self.group.size
            callback.update_locals({"infos": infos, "self": self, "env": env})
            if not callback.on_step():
                _give_back(counts)
                return False
            if alone:
                self._update_info_buffer(infos)
            else:
                ended += [(step, info) for info in infos if info]
        memory.finish()
        _give_back(counts)
        if isinstance(memory, TensorRollouts):
            ended = [(n_rollout_steps, info) for info in bridge.episodes_of(memory.ends.cpu().numpy())]
        if ended or not alone:
            self._update_info_buffer(gather_episodes(ended, bridge))
        self._last_obs = self._as_observation(memory, n_rollout_steps)
        self._last_episode_starts = memory.starts[n_rollout_steps].cpu().numpy().astype(bool)
        self._fill(rollout_buffer, memory)
        self._collected = True
        callback.update_locals({"infos": [], "self": self, "env": env})
        callback.on_rollout_end()
        return True

    def _key(self) -> int:
        """Return the key of this step's draws: a hash of the seed and of the steps taken."""
        return draw_key(self.seed, self.num_timesteps)

    def _collects(self, env: Any) -> bool:
        """Return whether rollouts are rows of tensors: `VecNormalize` around the bridge, on the learner's device."""
        return (
            not any(applies for _, applies in self._obstacles_to_rows())
            and (not self.reason() or self.device.type != "cpu")
            and type(env) is VecNormalize
            and isinstance(env.venv, TumbleVecEnv)
            and env.venv.returns.device.type == self.device.type
            and env.epsilon == EPSILON
        )

    def _begin_rollout(self, env: Any, bridge: TumbleVecEnv, steps: int) -> tuple[Memory, list[Any]]:
        """Return the memory, ready for the first step, and the statistics beside SB3's objects that keep them."""
        if self._memory is None or (self._memory.envs, self._memory.steps) != (self.n_envs, steps):
            parts, columns = self._layout()
            space: Any = self.action_space
            low, high = (space.low, space.high) if isinstance(space, gym.spaces.Box) else (0, 0)
            sizes = (self.n_envs, steps, parts, columns)
            if self.reason():
                self._memory = TensorRollouts(*sizes, self.policy, self._options(), low, high, self.group)
            else:
                self._memory = RolloutMemory(*sizes, self._prepared(), low, high, learning_pool(), self.group)
        memory, last = self._memory, parts_of(self._last_obs)
        counts, statistics = [], {}
        for part in memory.parts:
            source = _statistics_source(env, part.name)
            statistics[part.name] = _statistics(source, part.width, env.training, env.clip_obs)
            counts.append((statistics[part.name], source))
        rewards = _statistics(env.ret_rms, 1, env.training, env.clip_reward, env.norm_reward)
        counts.append((rewards, env.ret_rms))
        episodes = {"returns": env.returns, "sums": bridge.returns, "lengths": bridge.lengths}
        starts = np.asarray(self._last_episode_starts)
        memory.begin(last, starts, statistics, rewards, episodes, self.gamma, self.gae_lambda)
        return memory, [(one, source) for one, source in counts if source is not None]

    def _end_episodes(
        self, memory: Memory, bridge: TumbleVecEnv, step: int, terminated: Any, truncated: Any, now: Any
    ) -> list[dict[str, Any]]:
        """Add values of last observations to rewards, and return the step's infos."""
        info = bridge.info
        final = _rows(info["final_obs"], memory.rows.dtype) if "final_obs" in info else now
        if isinstance(memory, TensorRollouts):
            memory.bootstrap(step, final, truncated & ~terminated, self.gamma)
            return []
        done, cut = (terminated | truncated).numpy(), (truncated & ~terminated).numpy()
        if cut.any():
            memory.bootstrap(step, final, cut, self.gamma)
        else:
            memory.normalize(final)
        fault = info.get("final_info", {}).get("fault")
        faults = np.zeros(len(done)) if fault is None else torch.as_tensor(fault).numpy()
        last = memory.observations(memory.steps + 1)
        infos = bridge.infos_of(done, cut, bridge.returns.numpy(), bridge.lengths.numpy(), faults, last.get("", last))
        bridge.returns[done] = 0
        bridge.lengths[done] = 0
        return infos

    def _as_observation(self, memory: Memory, block: int) -> Any:
        """Return a copy of a block's observations as SB3 keeps them."""
        last = {name: view.copy() for name, view in memory.observations(block).items()}
        return last.get("", last)

    def _fill(self, buffer: Any, memory: Memory) -> None:
        """Make the buffer's arrays views of the memory; observations and actions stay on a GPU."""
        steps, after = memory.steps, memory.columns.actions + memory.numbers
        if isinstance(memory, RolloutMemory):
            views = {part.name: memory.view(part)[:steps] for part in memory.parts}
            buffer.observations = views.get("", views)
            buffer.actions = memory.rows[:steps, :, memory.columns.actions : after].numpy()
        rows = memory.rows[:steps, :, after:].cpu().numpy()
        buffer.log_probs, buffer.advantages, buffer.returns, buffer.values = (rows[:, :, k] for k in range(4))
        buffer.rewards, buffer.episode_starts = memory.rewards.cpu().numpy(), memory.starts[:steps].cpu().numpy()
        buffer.pos, buffer.full = steps, True

    # -- learning ----------------------------------------------------------------------------------------------------

    def train(self) -> None:
        """Update the policy from the rollout buffer."""
        if self.reason():
            super().train()
            return
        self.policy.set_training_mode(True)
        networks, optimizer = self._prepared(), self.policy.optimizer
        if not self.desired_kl:
            self._update_learning_rate(optimizer)
        rollout, columns, order = self._rollout()
        networks.read(optimizer)
        group = optimizer.param_groups[0]
        progress = self._current_progress_remaining
        clip_range_vf: Any = self.clip_range_vf
        settings = PPOSettings(
            clip_range=self.clip_range(progress),  # type: ignore[operator]
            clip_range_vf=None if clip_range_vf is None else clip_range_vf(progress),
            rate=group["lr"],
            epsilon=group["eps"],
            normalize=self.normalize_advantage,
            vf_coef=self.vf_coef,
            ent_coef=self.ent_coef,
            max_grad_norm=self.max_grad_norm,
            target_kl=self.target_kl,
            desired_kl=self.desired_kl,
        )
        shares = draw_shares(len(order), self.batch_size, self.n_epochs, self.group)
        batches, shared = [order[rows] for rows in shares.rows], None
        if self.group.size > 1:
            advantages = rollout[:, columns.actions + networks.numbers + ADVANTAGE]
            shared = _shared(shares, advantages[order], self.normalize_advantage)
        report = networks.run(rollout, columns, batches, settings, shared)
        networks.write(optimizer)
        if self.desired_kl:
            group["lr"] = report.rate
            self.logger.record("train/learning_rate", report.rate)
        epochs = -(-(report.done + report.stopped) * self.n_epochs // len(batches))
        self._n_updates += epochs
        self._log(report.figures, settings)

    def _columns(self) -> list[torch.Tensor]:
        """Return the columns of the rollout on the learner's device; see `LeanPPO`."""
        memory = self._memory
        if not self._collected or not isinstance(memory, TensorRollouts):
            return super()._columns()
        columns, rows = memory.columns, memory.rows[: memory.steps].transpose(0, 1).flatten(0, 1)
        widths = [columns.critic, columns.actions - columns.critic] if columns.critic else [columns.actions]
        return list(rows[:, :-1].split([*widths, memory.numbers, 1, 1, 1], 1))

    def _rollout(self) -> tuple[torch.Tensor, RowColumns, torch.Tensor]:
        """Return the rollout's rows, where things are in them, and the rows in the order of SB3's buffer."""
        envs, steps = self.n_envs, self.n_steps
        if self._collected and self._memory is not None:
            rows = self._memory.rows.flatten(0, 1)
            # SB3's buffer goes through the steps of one environment after another
            order = torch.arange(steps * envs).view(steps, envs).t().flatten()
            return rows, self._memory.columns, order
        buffer: Any = self.rollout_buffer
        seen = self._observations()
        names = (*COLUMNS, "values")
        parts = [*seen, *(torch.as_tensor(buffer.swap_and_flatten(getattr(buffer, name))) for name in names)]
        width = sum(part.shape[1] for part in seen)
        rows = torch.cat([part.flatten(1).float() for part in parts], dim=1).contiguous()
        return rows, RowColumns(0, 0 if len(seen) == 1 else seen[0].shape[1], width), torch.arange(len(rows))

    def _log(self, figures: dict[str, float], settings: PPOSettings) -> None:
        """Log what PPO logs."""
        means = torch.tensor([figures[name] for name in ("policy_loss", "value_loss", "kl", "clipped")])
        self._record(means, settings.clip_range, figures["entropy"])


def _rows(observations: Any, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Return the parts of an observation as rows without gaps."""
    return {name: part.flatten(1).to(dtype).contiguous() for name, part in parts_of(observations).items()}


def _shared(shares: Shares, advantages: torch.Tensor, normalize: bool) -> Shared:
    """Return what a compiled update needs of other processes; advantages are of this process' rows (rows,)."""
    scales, alone = torch.tensor([[0.0, 1.0]]).repeat(len(shares.sizes), 1), shares.sizes < 2
    if normalize:
        mean, deviation = shares.advantages(advantages).unbind(1)
        several = torch.from_numpy(~alone)
        scales = torch.where(several[:, None], torch.stack([mean, 1 / (deviation + 1e-8)], 1).float(), scales)
    return Shared(shares.sizes, scales.numpy(), shares.group.add, shares.group.rank == 0)


def _statistics_source(env: Any, name: str) -> Any:
    """Return SB3's statistics of a part; None if it is not normalised."""
    if not env.norm_obs:
        return None
    return env.obs_rms.get(name) if isinstance(env.obs_rms, dict) else env.obs_rms


def _give_back(counts: list[tuple[Statistics, Any]]) -> None:
    """Copy the numbers of rows to SB3's statistics, which share the other arrays."""
    for statistics, source in counts:
        source.count = float(statistics.count[0])


def _statistics(source: Any, width: int, learns: bool, limit: float, normalizes: bool = True) -> Statistics:
    """Return SB3's statistics as arrays that SB3's object then shares."""
    if source is None:
        return Statistics(np.zeros(width), np.ones(width), np.zeros(1), False, False, limit)
    shape = np.shape(source.mean)
    mean, variance = np.array(source.mean, np.float64).reshape(width), np.array(source.var, np.float64).reshape(width)
    source.mean, source.var = mean.reshape(shape), variance.reshape(shape)
    return Statistics(mean, variance, np.array([source.count], np.float64), normalizes, learns, limit)
