"""The environments of a check, made when they are first needed, and their rollouts, which checks share."""

import contextlib
import copy
from typing import Any

import gymnasium
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .outcomes import Failed, NotApplicable
from .rollouts import Rollout, mode_of, play
from .source import Source

SEED, OTHER_SEED = 7, 1007
SHORT = 12
"""The time limit that is asked of environments, so that episodes end soon."""
MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


class Subject:
    """The environments of a check.

    Attributes:
        source: makes them.
        steps: how many steps a rollout takes.
        envs: the environments as the source gives them.
        limit: the time limit that they have, as far as it is known.
        restated: the modes that `envs` stated whenever others had been made in another mode.
    """

    def __init__(self, source: Source, steps: int) -> None:
        self.source, self.steps = source, steps
        self._stated: dict[int, AutoresetMode | None] = {}  # by id, as others may share and change the metadata
        self.envs, self.limit = self._make()
        self.restated: set[AutoresetMode | None] = set()
        self._by_mode: dict[AutoresetMode, tuple[VectorEnv, int | None]] = {}
        self._rollouts: dict[AutoresetMode | None, Rollout] = {}
        self._actions: list[Any] = []

    def _make(self, **asked: Any) -> tuple[VectorEnv, int | None]:
        """Make environments, with a short time limit if that can be asked of them."""
        envs, limit = None, None
        if self.source.makes:
            with contextlib.suppress(NotApplicable):
                envs, limit = self.source.make(**asked, max_episode_steps=SHORT), SHORT
        if envs is None:
            envs = self.source.make(**asked)
            limit = getattr(envs.spec, "max_episode_steps", None)
        self._stated[id(envs)] = mode_of(envs)
        return envs, limit

    @property
    def mode(self) -> AutoresetMode | None:
        """The autoreset mode of `envs`, None if they state none."""
        return self.stated(self.envs)

    def stated(self, envs: VectorEnv) -> AutoresetMode | None:
        """Return the mode that environments stated when they were made, None if they stated none."""
        return self._stated[id(envs)]

    @property
    def observation_space(self) -> gymnasium.Space:
        """The space of batched observations; that of `batch_space` where the environments' own is no batch."""
        own, batched = self.envs.observation_space, batch_space(self.envs.single_observation_space, self.envs.num_envs)
        alike = type(own) is type(batched) and is_space_dtype_shape_equiv(own, batched)
        return own if alike else batched

    def in_mode(self, mode: AutoresetMode) -> VectorEnv:
        """Return environments in a mode.

        Raises:
            NotApplicable: there are none.
            Failed: the environments that were made with it state another.
        """
        if self.mode is mode:
            return self.envs
        if mode not in self._by_mode:
            self._by_mode[mode] = self._make(autoreset_mode=mode)
            self.restated.add(mode_of(self.envs))
        envs = self._by_mode[mode][0]
        if self.stated(envs) is not mode:
            stated = (envs.metadata or {}).get("autoreset_mode")
            raise Failed(
                f"made with autoreset_mode={mode.name}, their metadata says {stated!r}",
                "state the mode in which the environments work in metadata['autoreset_mode'] of each instance",
            )
        return envs

    def another(self) -> VectorEnv:
        """Make environments like `envs`, which a check may close.

        Raises:
            NotApplicable: environments were given.
        """
        return self._make()[0] if self.source.makes else self.source.make(max_episode_steps=SHORT)

    @property
    def actions(self) -> list[Any]:
        """Batched actions, the same in all rollouts."""
        if not self._actions:
            self._actions = sampled(self.envs, self.steps, SEED)
        return self._actions

    def rollout(self, mode: AutoresetMode | None = None) -> Rollout:
        """Return the rollout of environments in a mode, or of the source's environments."""
        mode = mode or self.mode
        if mode not in self._rollouts:
            envs = self.envs if mode is None else self.in_mode(mode)
            limit = self.limit if envs is self.envs else self._by_mode[envs_mode(mode)][1]
            self._rollouts[mode] = play(envs, self.actions, mode=self.stated(envs), seed=SEED, limit=limit)
        return self._rollouts[mode]

    def rollouts_with_final(self) -> list[Rollout]:
        """Return the rollout of the source's mode, and one under SAME_STEP, whose infos hold more, if supported."""
        rollouts = [self.rollout()]
        if self.mode is not AutoresetMode.SAME_STEP:
            with contextlib.suppress(Exception):  # checks of the modes report why
                rollouts.append(self.rollout(AutoresetMode.SAME_STEP))
        return rollouts

    def replay(self, envs: VectorEnv, actions: list[Any], seed: Any = SEED, **options: Any) -> Rollout:
        """Reset environments and step them under these actions."""
        return play(envs, actions, mode=self.stated(envs), seed=seed, **options)

    def all_rollouts(self) -> list[Rollout]:
        """Return the rollouts made so far."""
        self.rollout()
        return list(self._rollouts.values())


def envs_mode(mode: AutoresetMode | None) -> AutoresetMode:
    """Return a mode that is known to be one."""
    assert mode is not None
    return mode


def sampled(envs: VectorEnv, count: int, seed: int) -> list[Any]:
    """Sample batched actions; the environments' own space goes on as if nothing had been sampled.

    If that is no batch of the single action space, the actions are of the batch that `batch_space` makes.
    """
    space, batched = copy.deepcopy(envs.action_space), batch_space(envs.single_action_space, envs.num_envs)
    if space != batched:
        space = batched
    space.seed(seed)
    return [space.sample() for _ in range(count)]


def require_ends(rollout: Rollout) -> None:
    """Say that a check does not apply where no episode ended.

    Raises:
        NotApplicable: the message says what to do.
    """
    if not rollout.ends:
        raise NotApplicable(
            f"no episode ended in {len(rollout.steps)} steps: give an id, a function that takes max_episode_steps, or "
            "more steps"
        )
