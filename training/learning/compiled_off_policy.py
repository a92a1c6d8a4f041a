"""Stable-Baselines3's SAC and TD3 whose updates are compiled code, chosen by `learner = "compiled"`.

The models, their files, callbacks, replay buffers and loggers stay those of Stable-Baselines3, and so does collecting.
All gradient steps of an iteration are one call, without Python (`training/compiled/q_update.py`). What is learned is
what Stable-Baselines3's classes learn, to rounding, but for the noise of updates, which are hashes of the seed and the
number of the update.

Of several processes each keeps the transitions of its environments, and computes the rows of minibatches that it has.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.type_aliases import RolloutReturn
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from ...envs.task.observations import each, parts_of
from ..compiled.code import learning_pool
from ..compiled.draws import draw_key
from ..compiled.q_updates import (
    GradientSteps,
    Normalization,
    Optimizers,
    Parts,
    QNetworks,
    QSettings,
    QUpdates,
    Transitions,
)
from ..distributed import ProcessGroup, group_of
from .obstacles import WithReason, are_rows
from .shares import gather_episodes


class _CompiledUpdates(WithReason, OffPolicyAlgorithm):
    """The common part of both algorithms; what compiled code cannot do goes on as in Stable-Baselines3."""

    policy: Any
    replay_buffer: Any
    _updates: QUpdates | None = None
    _updates_rows = 0
    _ended: list[tuple[int, dict[str, Any]]] | None = None

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_updates", "_ended"]

    @property
    def group(self) -> ProcessGroup:
        """The processes that train together."""
        return group_of(self.env)

    # -- what the algorithms differ in -------------------------------------------------------------------------------

    def _actor_layers(self) -> Sequence[Any]:
        """Return the actor's layers; the last has no activation."""
        raise NotImplementedError

    def _networks(self) -> QNetworks:
        """Return all networks."""
        raise NotImplementedError

    def _critics(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the layers of each critic, and of its target."""
        return self.policy.critic.q_networks, self.policy.critic_target.q_networks

    def _optimizers(self) -> Optimizers:
        """Return all optimizers."""
        return Optimizers(self.policy.critic.optimizer, self.policy.actor.optimizer)

    def _settings(self) -> QSettings:
        """Return the numbers of the losses."""
        raise NotImplementedError

    def _learning(self, updates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether the actor learns, and whether targets follow, in the updates of these numbers, from 0 on."""
        raise NotImplementedError

    def _log(self, figures: dict[str, float], moved: bool) -> None:
        """Log what Stable-Baselines3 logs."""
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        if moved:
            self.logger.record("train/actor_loss", figures["actor_loss"])
        self.logger.record("train/critic_loss", figures["critic_loss"])

    # -- what is compiled --------------------------------------------------------------------------------------------

    def _obstacles(self) -> Iterable[tuple[str, bool]]:
        """Return reasons, and whether each applies."""
        policy, buffer = self.policy, self.replay_buffer
        yield "its noise depends on the state (gSDE)", self.use_sde
        extractors = [policy.actor.features_extractor, policy.critic.features_extractor]
        yield "observations are not rows of numbers", not are_rows(self.observation_space, extractors)
        modules = [layer for network in (self._networks().critics) for layer in network]
        for layer in self._actor_layers():
            modules += layer if isinstance(layer, tuple) else [layer]
        yield from self._obstacles_to_networks(modules, [one for one in self._optimizers() if one])
        kind = type(buffer)
        yield f"transitions come from a {kind.__name__}", kind not in (ReplayBuffer, DictReplayBuffer)
        yield "observations share memory with those that follow", self.optimize_memory_usage
        arrays = [*parts_of(buffer.observations).values(), buffer.actions]
        yield "the numbers of transitions are not float32", any(array.dtype != np.float32 for array in arrays)
        normalizer = type(self._vec_normalize_env)
        yield f"the normaliser is a {normalizer.__name__}", normalizer not in (VecNormalize, type(None))

    def _seen(self, network: Any) -> Parts:
        """Return names and widths of the parts of observations that the actor or a critic sees."""
        extractor, buffer = network.features_extractor, self.replay_buffer
        parts = parts_of(buffer.observations)
        return [(name, int(np.prod(parts[name].shape[2:]))) for name in getattr(extractor, "extractors", parts)]

    def _prepared(self, batch_size: int) -> QUpdates:
        """Return the networks in panels."""
        if self._updates is None or self._updates_rows != batch_size:
            parts = self._seen(self.policy.actor), self._seen(self.policy.critic)
            numbers, rows = self.replay_buffer.action_dim, batch_size // self.group.size
            with self.group.long_work():  # it compiles
                self._updates = QUpdates(self._networks(), *parts, numbers, rows, learning_pool())
            self._updates_rows = batch_size
        return self._updates

    # -- collecting, with other processes ----------------------------------------------------------------------------

    def collect_rollouts(  # type: ignore[override]
        self, env: VecEnv, log_interval: int | None = None, **options: Any
    ) -> RolloutReturn:
        """Take steps of all environments; see Stable-Baselines3's method. Episodes are counted after it."""
        group, before = self.group, self._episode_num
        if group.size == 1:
            return super().collect_rollouts(env, log_interval=log_interval, **options)
        self._ended = []
        rollout = super().collect_rollouts(env, **options)
        ended, self._ended = self._ended, None
        self._episode_num = before + int(group.sums(self._episode_num - before)[0])
        if self._episode_num > before:
            self._update_info_buffer(gather_episodes(ended, env.unwrapped))
        if log_interval is not None and self._episode_num // log_interval > before // log_interval:
            self.dump_logs()
        return rollout._replace(episode_timesteps=rollout.episode_timesteps * group.size)

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: np.ndarray | None = None) -> None:
        """Take in the infos of episodes; in a rollout of several processes keep them for its end."""
        if self._ended is None:
            super()._update_info_buffer(infos, dones)
        else:
            self._ended += [(self.num_timesteps, info) for info in infos if info]

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw actions as Stable-Baselines3 does for the environments of all processes, and return this process' rows.

        So each environment gets the noise that it has in one process. Observations of the others are not known, and do
        not matter. Their steps are counted here.
        """
        group, seen = self.group, self._last_obs
        if group.size == 1:
            return super()._sample_action(learning_starts, action_noise, n_envs)
        self._last_obs = each(lambda part: np.concatenate([part] * group.size), seen)
        drawn = super()._sample_action(learning_starts, action_noise, n_envs * group.size)
        self._last_obs = seen
        self.num_timesteps += n_envs * (group.size - 1)
        actions, stored = (np.split(one, group.size)[group.rank] for one in drawn)
        return actions, stored

    # -- learning ----------------------------------------------------------------------------------------------------

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        """Update the networks from the replay buffer."""
        if self.reason():
            super().train(gradient_steps, batch_size)
            return
        optimizers, updates = self._optimizers(), self._prepared(batch_size)
        self._update_learning_rate([one for one in optimizers if one])
        updates.read(optimizers)
        steps = self._gradient_steps(gradient_steps, batch_size)
        add = self.group.add if self.group.size > 1 else None
        figures = updates.run(self._replay(), steps, optimizers, self._settings(), add)
        updates.write(optimizers)
        self._n_updates += gradient_steps
        self._log(figures, bool(steps.moves.any()))

    def _gradient_steps(self, count: int, batch_size: int) -> GradientSteps:
        """Draw minibatches as Stable-Baselines3's buffer does: from numpy's generator, times and then environments.

        The environments are those of all processes, whose generators draw the same numbers.
        """
        buffer, group = self.replay_buffer, self.group
        filled, n = buffer.size(), buffer.n_envs
        times, envs = np.zeros((2, count, batch_size), np.int64)
        for k in range(count):
            times[k] = np.random.randint(0, filled, size=batch_size)
            envs[k] = np.random.randint(0, n * group.size, size=batch_size)
        mine = envs // n == group.rank
        updates = self._n_updates + np.arange(count)
        keys = [[draw_key(self.seed, 2 * int(k)), draw_key(self.seed, 2 * int(k) + 1)] for k in updates]
        moves, follows = self._learning(updates)
        return GradientSteps(
            index=(times * n + envs % n)[mine],
            order=np.broadcast_to(np.arange(batch_size), mine.shape)[mine],
            starts=np.cumsum([0, *mine.sum(1)]),
            size=batch_size,
            keys=np.array(keys, np.int64),
            moves=moves.astype(np.int64),
            follows=follows.astype(np.int64),
        )

    def _replay(self) -> Transitions:
        """Return the replay buffer's arrays, and how `VecNormalize` normalises what is drawn from them."""
        buffer, env = self.replay_buffer, self._vec_normalize_env
        normalizations: dict[str | None, Normalization] = {}
        if env is not None and env.norm_obs:
            statistics = env.obs_rms if isinstance(env.obs_rms, dict) else {"": env.obs_rms}
            for name, one in statistics.items():
                mean, variance = (np.array(x, np.float64).ravel() for x in (one.mean, one.var))
                normalizations[name] = Normalization(mean, variance, env.epsilon, env.clip_obs)
        if env is not None and env.norm_reward:
            zero, variance = np.zeros(1), np.array(env.ret_rms.var)
            normalizations[None] = Normalization(zero, variance, env.epsilon, env.clip_reward)
        return Transitions(
            now={name: _transitions(part) for name, part in parts_of(buffer.observations).items()},
            later={name: _transitions(part) for name, part in parts_of(buffer.next_observations).items()},
            actions=buffer.actions,
            rewards=buffer.rewards,
            ends=buffer.dones,
            timeouts=buffer.timeouts,
            normalizations=normalizations,
        )


def _transitions(array: np.ndarray) -> np.ndarray:
    """Return a view of an array of a replay buffer (times, envs, ...) with a row for each transition."""
    return array.reshape(array.shape[0] * array.shape[1], -1)


class CompiledSAC(_CompiledUpdates, SAC):
    """Soft actor-critic."""

    def _actor_layers(self) -> Sequence[Any]:
        return [*self.actor.latent_pi, (self.actor.mu, self.actor.log_std)]

    def _networks(self) -> QNetworks:
        critics, targets = self._critics()
        learned = self.log_ent_coef if self.ent_coef_optimizer else None
        return QNetworks(self._actor_layers(), critics, targets, log_temperature=learned)

    def _optimizers(self) -> Optimizers:
        return super()._optimizers()._replace(temperature=self.ent_coef_optimizer)

    def _settings(self) -> QSettings:
        temperature = 0.0 if self.ent_coef_optimizer else float(self.ent_coef_tensor)
        return QSettings(self.gamma, self.tau, temperature, float(self.target_entropy))

    def _learning(self, updates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(len(updates)), np.arange(len(updates)) % self.target_update_interval == 0

    def _log(self, figures: dict[str, float], moved: bool) -> None:
        super()._log(figures, moved)
        self.logger.record("train/ent_coef", figures["temperature"])
        if self.ent_coef_optimizer:
            self.logger.record("train/ent_coef_loss", figures["temperature_loss"])


class CompiledTD3(_CompiledUpdates, TD3):
    """Twin delayed deep deterministic policy gradient."""

    def _actor_layers(self) -> Sequence[Any]:
        return list(self.actor.mu)[:-1]  # the last module is tanh

    def _networks(self) -> QNetworks:
        critics, targets = self._critics()
        return QNetworks(self._actor_layers(), critics, targets, list(self.actor_target.mu)[:-1])

    def _settings(self) -> QSettings:
        smoothing = {"smoothing": self.target_policy_noise, "smoothing_limit": self.target_noise_clip}
        return QSettings(self.gamma, self.tau, **smoothing)

    def _learning(self, updates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moves = (updates + 1) % self.policy_delay == 0
        return moves, moves
