"""Observations and rewards brought to unit size by running statistics."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import InvalidBound
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from ..arrays import Array, host, namespace, spread_mask
from ..task.observations import parts_of
from ..task.task import Observation
from .stateful import StatefulWrapper, Step, in_the_library_of


class RunningMoments:
    """Mean and variance of all rows seen so far, in double precision, in the library and on the device of the data.

    Batches are joined by Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for computing sample
    variances", 1979). At first the mean is 0 and the variance 1, and they weigh as much as `count` rows.

    Attributes:
        mean: of the rows, (...).
        var: of the rows, (...): mean squared distance from the mean.
        count: how many rows were seen, and the weight of the first mean and variance.
    """

    def __init__(self, shape: tuple[int, ...] = (), count: float = 1e-4) -> None:
        self.mean: Array = np.zeros(shape)
        self.var: Array = np.ones(shape)
        self.count = count

    def update(self, rows: Array) -> None:
        """Take in k rows (k, ...); k may be zero."""
        if len(rows) == 0:
            return
        xp = namespace(rows)
        rows = xp.astype(rows, xp.float64)
        self.move_to(rows)
        mean, var, added = xp.mean(rows, axis=0), xp.var(rows, axis=0, correction=0), len(rows)
        away, total = mean - self.mean, self.count + added
        spread = self.var * self.count + var * added + away * away * (self.count * added / total)
        self.mean, self.var = xp.asarray(self.mean + away * (added / total)), xp.asarray(spread / total)
        self.count = total

    def move_to(self, like: Array) -> None:
        """Bring mean and variance to the library and device of an array."""
        self.mean, self.var = in_the_library_of(self.mean, like), in_the_library_of(self.var, like)

    def state_dict(self) -> dict[str, Any]:
        """Return mean and variance as numpy arrays, and the count."""
        return {"mean": host(self.mean).copy(), "var": host(self.var).copy(), "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off.

        Raises:
            ValueError: the moments are of rows of another shape.
        """
        mean, var = np.array(state["mean"], np.float64), np.array(state["var"], np.float64)
        if mean.shape != np.shape(host(self.mean)):
            raise ValueError(f"the saved mean has shape {mean.shape}; needed is {tuple(self.mean.shape)}")
        self.mean, self.var, self.count = mean, var, float(state["count"])


class NormalizeObservation(StatefulWrapper):
    """Shifts and scales every number of the observations to mean 0 and variance 1, over all that were seen.

    As Gymnasium's wrapper of the same name, and beyond it: partial resets, and SAME_STEP, where the final observations
    of episodes are counted and normalised too. Statistics are kept in double precision. Observations keep their type.
    If an observation is several arrays by name, each has separate statistics; bytes, such as pictures, stay as they
    are.

    Attributes:
        update_running_mean: whether new observations change the statistics; False for evaluation.
        moments: the statistics of each part by its name; `obs_rms` is that of an observation that is one array.

    Args:
        env: the vector environments.
        epsilon: added to the variance before its root is taken.

    Raises:
        InvalidBound: epsilon is not above zero.
    """

    def __init__(self, env: VectorEnv, epsilon: float = 1e-8) -> None:
        """Begin with mean 0 and variance 1."""
        super().__init__(env)
        self.epsilon = _positive(epsilon)
        self.update_running_mean = True
        self.moments: dict[str, RunningMoments] = {}
        single = env.single_observation_space
        spaces: dict[str, Any] = dict(single.spaces) if isinstance(single, gymnasium.spaces.Dict) else {"": single}
        for name, space in spaces.items():
            if isinstance(space, Box) and space.dtype.kind == "f":
                self.moments[name] = RunningMoments(space.shape)
                spaces[name] = Box(-np.inf, np.inf, space.shape, space.dtype.type)
        self.single_observation_space = gymnasium.spaces.Dict(spaces) if "" not in spaces else spaces[""]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    @property
    def obs_rms(self) -> RunningMoments:
        """The statistics of an observation that is one array, by the name that they have in Gymnasium's wrapper."""
        return self.moments[""]

    def _began(self, observation: Observation, begun: Array) -> Observation:
        """Count the observations of the environments that were reset; the others' were counted before."""
        if self.update_running_mean:
            for name, part in parts_of(observation).items():
                if name in self.moments:
                    self.moments[name].update(part[begun])
        return self._normalised(observation)

    def _stepped(self, step: Step, begun: Array) -> Step:
        """Count and normalise the observations of all environments, and the final ones of episodes that ended."""
        info, final = step.info, parts_of(step.info.get("final_obs", {}))
        if self.update_running_mean:
            for name, part in parts_of(step.observation).items():
                if name in self.moments:
                    seen = [part, final[name][info["_final_obs"]]] if name in final else [part]
                    self.moments[name].update(namespace(part).concat(seen))
        if final:
            info = {**info, "final_obs": self._normalised(info["final_obs"], info["_final_obs"])}
        return step._replace(observation=self._normalised(step.observation), info=info)

    def _normalised(self, observation: Observation, among: Array | None = None) -> Observation:
        """Normalise all rows, or the rows where the mask `among` (num_envs,) is True; other rows become zero."""
        parts = {}
        for name, part in parts_of(observation).items():
            if name not in self.moments:
                parts[name] = part
                continue
            moments, xp = self.moments[name], namespace(part)
            moments.move_to(part)
            values = xp.astype((part - moments.mean) / xp.sqrt(moments.var + self.epsilon), part.dtype)
            parts[name] = values if among is None else xp.where(spread_mask(among, values), values, 0)
        return parts if isinstance(observation, dict) else parts[""]

    def state_dict(self) -> dict[str, Any]:
        """The statistics, as plain arrays."""
        return super().state_dict() | {"moments": {name: part.state_dict() for name, part in self.moments.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off.

        Raises:
            ValueError: the statistics are of other observations.
        """
        if state["moments"].keys() != self.moments.keys():
            raise ValueError(f"saved are statistics of {sorted(state['moments'])}; needed are {sorted(self.moments)}")
        for name, part in self.moments.items():
            part.load_state_dict(state["moments"][name])
        super().load_state_dict(state)


class NormalizeReward(StatefulWrapper):
    """Scales rewards so that the discounted return has variance 1, as Gymnasium's wrapper of the same name.

    The return R of every environment is discounted over its past: R = gamma R + r, and R = r in the step in which the
    task terminates. Under SAME_STEP it is zero again after every episode. Under NEXT_STEP, as in Gymnasium's wrapper,
    it goes on across truncations, and the step that resets an environment does not count. A `reset` puts it to zero in
    the environments that it resets, where Gymnasium's wrapper does so in all.

    Attributes:
        update_running_mean: whether new rewards change the statistics; False for evaluation.
        return_rms: the statistics of the discounted returns.
        accumulated_reward: the present discounted returns, (num_envs,).

    Args:
        env: the vector environments.
        gamma: the factor by which a return is discounted in each step.
        epsilon: added to the variance before its root is taken.

    Raises:
        InvalidBound: epsilon is not above zero, or gamma not from 0 to 1.
    """

    def __init__(self, env: VectorEnv, gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        """Begin with variance 1."""
        super().__init__(env)
        if not 0 <= gamma <= 1:
            raise InvalidBound(f"gamma={gamma}: it must be from 0 to 1")
        self.gamma, self.epsilon = gamma, _positive(epsilon)
        self.update_running_mean = True
        self.return_rms = RunningMoments()
        self.accumulated_reward: Array = np.zeros(self.num_envs)

    def _began(self, observation: Observation, begun: Array) -> Observation:
        """Put the returns to zero in the environments that were reset."""
        accumulated = in_the_library_of(self.accumulated_reward, begun)
        self.accumulated_reward = namespace(begun).where(begun, 0, accumulated)
        return observation

    def _stepped(self, step: Step, begun: Array) -> Step:
        """Count the discounted returns of the environments that moved, and scale the rewards of all."""
        xp = namespace(step.reward)
        reward, moved = xp.astype(step.reward, xp.float64), ~begun
        accumulated = in_the_library_of(self.accumulated_reward, reward)
        grown = accumulated * self.gamma * ~step.terminated + reward
        accumulated = xp.where(moved, grown, accumulated)
        if self.update_running_mean:
            self.return_rms.update(accumulated[moved])
        if self.resets_in_the_same_step:
            accumulated = xp.where(step.terminated | step.truncated, 0, accumulated)
        self.accumulated_reward = accumulated
        self.return_rms.move_to(reward)
        scaled = reward / xp.sqrt(self.return_rms.var + self.epsilon)
        return step._replace(reward=xp.astype(scaled, step.reward.dtype))

    def state_dict(self) -> dict[str, Any]:
        """The statistics and the present returns, as plain arrays."""
        accumulated = host(self.accumulated_reward).copy()
        return super().state_dict() | {"moments": self.return_rms.state_dict(), "accumulated": accumulated}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        super().load_state_dict(state)
        self.return_rms.load_state_dict(state["moments"])
        self.accumulated_reward = np.array(state["accumulated"])


def _positive(epsilon: float) -> float:
    """Refuse an epsilon with which a division by zero could happen.

    Raises:
        InvalidBound: not above zero.
    """
    if not epsilon > 0:
        raise InvalidBound(f"epsilon={epsilon}: it must be above zero")
    return epsilon
