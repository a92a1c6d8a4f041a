"""Vector environments in numpy for the tests of the checker: one that does all as Gymnasium says, and broken ones."""

from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

MODES = AutoresetMode


class Walkers(VectorEnv):
    """Random walks on a line between -1 and 1, each with a generator of its own, cut short by a time limit.

    Actions: 0 goes left, 1 goes right. Observation: place and last step. The reward is the place; the walk ends beyond
    0.9. Infos: "place" in every step, "started" where an episode begins.
    """

    def __init__(
        self,
        num_envs: int = 3,
        max_episode_steps: int = 12,
        autoreset_mode: AutoresetMode = MODES.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        """Set spaces and metadata."""
        self.num_envs, self.limit, self.mode, self.render_mode = (
            num_envs,
            max_episode_steps,
            autoreset_mode,
            render_mode,
        )
        self.single_observation_space = Box(-1.0, 1.0, (2,), np.float32)
        self.single_action_space = Discrete(2)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"render_modes": ["rgb_array"], "autoreset_mode": autoreset_mode}
        self.generators: list[np.random.Generator] = [np.random.default_rng() for _ in range(num_envs)]
        self.place, self.moved = np.zeros(num_envs), np.zeros(num_envs)
        self.taken, self.finished = np.zeros(num_envs, int), np.zeros(num_envs, bool)

    # the pieces, which broken ones replace

    def seeds(self, seed: Any) -> list[int | None]:
        """Spread a seed."""
        if seed is None:
            return [None] * self.num_envs
        return [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)

    def begin(self, rows: np.ndarray) -> None:
        """Begin episodes where `rows` (num_envs,) is True."""
        for env in np.flatnonzero(rows):
            self.place[env] = self.generators[env].uniform(-0.3, 0.3)
        self.moved[rows], self.taken[rows], self.finished[rows] = 0.0, 0, False

    def observe(self) -> np.ndarray:
        """Place and last step."""
        return np.stack((self.place, self.moved), axis=1).astype(np.float32)

    def walk(self, actions: np.ndarray, rows: np.ndarray) -> None:
        """Move where `rows` is True."""
        for env in np.flatnonzero(rows):
            self.moved[env] = (0.1 if actions[env] else -0.1) + self.generators[env].uniform(-0.05, 0.05)
            self.place[env] = np.clip(self.place[env] + self.moved[env], -1, 1)
            self.taken[env] += 1

    def late(self) -> np.ndarray:
        """True where the time is up."""
        return self.taken >= self.limit

    def tell(self, values: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, Any]:
        """An info of some environments."""
        if not rows.any():
            return {}
        told = {name: np.where(rows, value, 0) for name, value in values.items()}
        return told | {f"_{name}": rows.copy() for name in values}

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Tell of the ends, as SAME_STEP does."""
        return {"final_obs": observation, "_final_obs": done.copy(), "final_info": info, "_final_info": done.copy()}

    def mask_of(self, options: Any) -> np.ndarray:
        """Return the mask of a reset."""
        return (options or {}).get("reset_mask", np.ones(self.num_envs, bool))

    # Gymnasium's face

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict]:
        """Begin."""
        if self.closed:
            raise ClosedEnvironmentError("closed")
        mask = self.mask_of(options)
        for env, single in enumerate(self.seeds(seed)):
            if single is not None and mask[env]:
                self.generators[env] = np.random.default_rng(single)
        self.begin(mask)
        return self.observe(), self.tell({"started": np.ones(self.num_envs)}, mask)

    def step(self, actions: np.ndarray) -> tuple[Any, Any, Any, Any, dict]:
        """Walk, end, and reset as the mode says."""
        if self.closed:
            raise ClosedEnvironmentError("closed")
        waiting = self.finished & (self.mode is MODES.NEXT_STEP)
        self.walk(actions, ~waiting)
        terminated, truncated = (self.place > 0.9) & ~waiting, self.late() & ~waiting
        reward = np.where(waiting, 0.0, self.place)
        done = terminated | truncated
        if self.mode is MODES.SAME_STEP:
            goes_on, last = ~done, self.observe()
            info = self.tell({"place": self.place.copy()}, goes_on)
            final = self.final(last, self.tell({"place": self.place.copy()}, done), done) if done.any() else {}
            self.begin(done)
            info |= self.tell({"started": np.ones(self.num_envs)}, done) | final
        else:
            info = self.tell({"place": self.place.copy()}, ~waiting)
            self.begin(waiting)
            info |= self.tell({"started": np.ones(self.num_envs)}, waiting)
            self.finished = done.copy()
        return self.observe(), reward, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...]:
        """A picture each."""
        return tuple(np.zeros((4, 6, 3), np.uint8) for _ in range(self.num_envs))


BROKEN: dict[str, tuple[str, type[Walkers]]] = {}
"""By what is wrong: the check that finds it, and the environments."""


def broken(wrong: str, check: str) -> Any:
    """List a class of broken environments."""

    def listed(kind: type[Walkers]) -> type[Walkers]:
        BROKEN[wrong] = check, kind
        return kind

    return listed


class Stepped(Walkers):
    """Changes what a step returns by `change`."""

    def step(self, actions: np.ndarray) -> Any:
        """Walk, and change."""
        return self.change(*super().step(actions))

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Change nothing."""
        return observation, reward, terminated, truncated, info


@broken("the number of environments is a float", "attributes")
class FloatingNumber(Walkers):
    """3.0 of them."""

    def __init__(self, **options: Any) -> None:
        """Say so afterwards."""
        super().__init__(**options)
        self.num_envs = float(self.num_envs)  # type: ignore[assignment]


@broken("the observation space is that of one environment", "batched observation space")
class SingleObservations(Walkers):
    """Not batched."""

    def __init__(self, **options: Any) -> None:
        """Say so."""
        super().__init__(**options)
        self.observation_space = self.single_observation_space


@broken("the action space has one environment too few", "batched action space")
class FewerActions(Walkers):
    """Batched otherwise; a step takes actions of all."""

    def __init__(self, **options: Any) -> None:
        """Say so."""
        super().__init__(**options)
        self.action_space = batch_space(self.single_action_space, self.num_envs - 1)


@broken("the mode is a string", "autoreset mode")
class NamedMode(Walkers):
    """The value, not the member."""

    def __init__(self, **options: Any) -> None:
        """Say so."""
        super().__init__(**options)
        self.metadata["autoreset_mode"] = self.mode.value


@broken("the metadata says NEXT_STEP in every mode", "final observations")
class OneMode(Walkers):
    """The class's metadata, not the instance's; two checks of the mode see it."""

    def __init__(self, **options: Any) -> None:
        """Say so."""
        super().__init__(**options)
        self.metadata["autoreset_mode"] = MODES.NEXT_STEP


SHARED: dict[str, Any] = {"render_modes": ["rgb_array"]}


@broken("instances write into the metadata of their class", "own metadata")
class SharedMetadata(Walkers):
    """The last that is made decides."""

    def __init__(self, **options: Any) -> None:
        """Say so in all of them."""
        super().__init__(**options)
        self.metadata = SHARED
        self.metadata["autoreset_mode"] = self.mode


@broken("instances that know two modes write into the metadata of their class", "own metadata")
class SharedMetadataOfTwoModes(SharedMetadata):
    """As AtariVectorEnv of ale-py: others, which are made later in the first mode, state that one again."""

    def __init__(self, autoreset_mode: Any = MODES.NEXT_STEP, **options: Any) -> None:
        """Refuse the third mode."""
        if autoreset_mode is MODES.DISABLED:
            raise ValueError("there are two modes")
        super().__init__(autoreset_mode=autoreset_mode, **options)


@broken("a render mode is not listed", "render modes")
class UnlistedMode(Walkers):
    """An empty list, and a mode."""

    def __init__(self, **options: Any) -> None:
        """Say so."""
        super().__init__(**options | {"render_mode": "rgb_array"})
        self.metadata["render_modes"] = []


@broken("a step returns four things", "reset and step")
class OldStep(Walkers):
    """The step of Gym 0.21."""

    def step(self, actions: np.ndarray) -> Any:
        """One flag."""
        observation, reward, terminated, truncated, info = super().step(actions)
        return observation, reward, terminated | truncated, info


@broken("samples of the action space raise an error", "reset and step")
class Picky(Walkers):
    """Wants lists."""

    def step(self, actions: Any) -> Any:
        """Refuse arrays."""
        if not isinstance(actions, list):
            raise TypeError("actions must be a list")
        return super().step(actions)


@broken("observations are float64 where the space is float32", "observation form")
class DoubleObservations(Walkers):
    """Twice as wide."""

    def observe(self) -> np.ndarray:
        """In double."""
        return super().observe().astype(np.float64)


@broken("the first observation has another shape", "observation form")
class FlatObservations(Walkers):
    """Flat after a reset."""

    def reset(self, **arguments: Any) -> Any:
        """Flatten."""
        observation, info = super().reset(**arguments)
        return observation.reshape(-1), info


@broken("an observation leaves the space", "observations inside")
class Outside(Walkers):
    """Sees further than it says."""

    def observe(self) -> np.ndarray:
        """Shift the second number out."""
        observation = super().observe()
        observation[:, 1] += 2 * (self.taken == 5)
        return observation


@broken("rewards are whole numbers", "rewards")
class WholeRewards(Stepped):
    """int64."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Round."""
        return observation, np.round(reward).astype(int), terminated, truncated, info


@broken("a reward is NaN", "rewards")
class NanRewards(Stepped):
    """NaN in the sixth step of an episode."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Divide by zero."""
        return observation, np.where(self.taken == 6, np.nan, reward), terminated, truncated, info


@broken("flags are floats", "flags")
class FloatingFlags(Stepped):
    """0.0 and 1.0."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Convert."""
        return observation, reward, terminated.astype(float), truncated, info


@broken("an info has no mask", "infos")
class Unmasked(Stepped):
    """A number alone."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Add one."""
        return observation, reward, terminated, truncated, info | {"speed": np.zeros(self.num_envs)}


@broken("a final info has no mask", "infos")
class UnmaskedFinal(Walkers):
    """Only there."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Drop it."""
        return super().final(observation, {"place": info["place"]}, done)


@broken("an info has one number for all", "infos")
class ListedInfos(Stepped):
    """One value for all, under a key."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Add a single number for all."""
        return observation, reward, terminated, truncated, info | {"n": 3, "_n": np.ones(self.num_envs, bool)}


@broken("the observation array is used again", "fresh arrays")
class Reused(Walkers):
    """One buffer for all steps."""

    def observe(self) -> np.ndarray:
        """Write into it."""
        if not hasattr(self, "buffer"):
            self.buffer = np.zeros((self.num_envs, 2), np.float32)
        self.buffer[:] = super().observe()
        return self.buffer

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Which is right here."""
        return super().final(observation.copy(), info, done)


@broken("the array of final observations is used again", "fresh arrays")
class ReusedFinal(Walkers):
    """One buffer for all ends."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Write into it."""
        if not hasattr(self, "buffer"):
            self.buffer = np.zeros_like(observation)
        self.buffer[:] = observation
        return super().final(self.buffer, info, done)


@broken("the resets of SAME_STEP draw from the machine", "same seed")
class UnseededEnds(Stepped):
    """The next episode begins anywhere."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Shift what has begun."""
        begun = (terminated | truncated) & (self.mode is MODES.SAME_STEP)
        self.place += np.random.default_rng().uniform(-0.1, 0.1, self.num_envs) * begun
        return self.observe(), reward, terminated, truncated, info


@broken("steps draw from a generator that no seed reaches", "same seed")
class Unseeded(Walkers):
    """Entropy of the machine."""

    def walk(self, actions: np.ndarray, rows: np.ndarray) -> None:
        """Move, and a little more."""
        super().walk(actions, rows)
        self.place = np.clip(self.place + np.random.default_rng().uniform(-0.01, 0.01, self.num_envs) * rows, -1, 1)


@broken("all environments get the same seed", "different environments")
class OneSeed(Walkers):
    """Not seed + i; a list is its first number."""

    def seeds(self, seed: Any) -> list[int | None]:
        """The same for all."""
        if seed is not None and not isinstance(seed, int):
            raise TypeError("no lists")
        return [seed] * self.num_envs


@broken("seeds are those of the place, not of the list", "list of seeds")
class FirstOfTheList(Walkers):
    """A list counts by its smallest number."""

    def seeds(self, seed: Any) -> list[int | None]:
        """From the smallest on."""
        return super().seeds(seed if seed is None or isinstance(seed, int) else min(seed))


@broken("a reset without a seed draws from the machine", "reset goes on")
class Forgetful(Walkers):
    """Seeds itself anew."""

    def seeds(self, seed: Any) -> list[int | None]:
        """Entropy where there is no seed."""
        if seed is None:
            return np.random.SeedSequence().generate_state(self.num_envs).tolist()
        return super().seeds(seed)


@broken("a reset without a seed repeats the last one", "reset goes on")
class Repeating(Walkers):
    """Seeds itself as before."""

    last: Any = None

    def seeds(self, seed: Any) -> list[int | None]:
        """The seeds before, if they are of all."""
        self.last = seed if seed is not None else self.last
        return super().seeds(self.last)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Leave partial resets alone."""
        if options and "reset_mask" in options:
            kept, self.last = self.last, None
            result = super().reset(seed=seed, options=options)
            self.last = kept
            return result
        return super().reset(seed=seed, options=options)


@broken("the step that resets has a reward", "next step")
class PaidResets(Stepped):
    """1 where an episode begins under NEXT_STEP."""

    def change(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Pay."""
        begun = (self.taken == 0) & (self.mode is MODES.NEXT_STEP)
        return observation, np.where(begun, 1.0, reward), terminated, truncated, info


@broken("the step that resets acts too", "ignored actions")
class HastyResets(Walkers):
    """The first step of an episode is made in the step that resets."""

    def step(self, actions: np.ndarray) -> Any:
        """Step where it was reset."""
        waiting = self.finished & (self.mode is MODES.NEXT_STEP)
        result = super().step(actions)
        self.moved[waiting] = np.where(actions, 0.02, -0.02)[waiting]
        return (self.observe(), *result[1:])


@broken("the reset comes a step late", "next step")
class LateResets(Walkers):
    """A step in which nothing happens stands between an end and its reset under NEXT_STEP."""

    held = np.zeros(3, bool)

    def begin(self, rows: np.ndarray) -> None:
        """Begin where nothing is held back."""
        super().begin(rows & ~self.held)

    def step(self, actions: np.ndarray) -> Any:
        """Hold back what has just ended."""
        self.held = self.finished & ~self.held & (self.mode is MODES.NEXT_STEP)
        result = super().step(actions)
        self.finished |= self.held
        return result

    def reset(self, **arguments: Any) -> Any:
        """Hold nothing back."""
        self.held = np.zeros(3, bool)
        return super().reset(**arguments)


@broken("there is no final observation", "final observations")
class NoFinal(Walkers):
    """Only infos."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Leave it out."""
        return {"final_info": info, "_final_info": done.copy()}


@broken("final observations go by their old name", "final observations")
class OldName(Walkers):
    """The names of Gymnasium 0.29."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """Rename."""
        told = super().final(observation, info, done)
        told["final_observation"], told["_final_observation"] = told.pop("final_obs"), told.pop("_final_obs")
        return told


@broken("the mask of final observations is that of truncations", "final observations")
class CutMask(Walkers):
    """Terminations are forgotten."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """The wrong mask."""
        return super().final(observation, info, done) | {"_final_obs": self.late() & done & (self.place < 0)}


@broken("final infos lack their mask's exactness", "final infos")
class WideMask(Walkers):
    """True everywhere."""

    def final(self, observation: np.ndarray, info: dict[str, Any], done: np.ndarray) -> dict[str, Any]:
        """The wrong mask."""
        return super().final(observation, info, done) | {"_final_info": np.ones(self.num_envs, bool)}


@broken("the last observation is returned where the next episode's is due", "same step")
class LastAgain(Walkers):
    """Reset once more than was asked for."""

    def step(self, actions: np.ndarray) -> Any:
        """Return the final observation."""
        observation, *rest, info = super().step(actions)
        if "final_obs" in info:
            observation[info["_final_obs"]] = info["final_obs"][info["_final_obs"]]
        return (observation, *rest, info)


@broken("the final observation is the next episode's first", "modes agree")
class FinalIsNext(Walkers):
    """Taken after the reset; and what a step returns is one of yet another episode."""

    def step(self, actions: np.ndarray) -> Any:
        """Take it late."""
        observation, *rest, info = super().step(actions)
        if "final_obs" in info:
            info["final_obs"] = observation.copy()
            observation[info["_final_obs"], 1] = 0.5
        return (observation, *rest, info)


@broken("under DISABLED a finished environment is not reset", "disabled")
class StaysFinished(Walkers):
    """The mask of finished ones resets counters alone; they walk on from there."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Only the time."""
        mask = (options or {}).get("reset_mask")
        if mask is None or not (mask <= self.finished).all():
            return super().reset(seed=seed, options=options)
        self.taken[mask], self.finished[mask] = 0, False
        return self.observe(), {}


@broken("a partial reset resets all", "partial reset")
class WholeResets(Walkers):
    """The mask is ignored, unless it is of finished environments."""

    def mask_of(self, options: Any) -> np.ndarray:
        """Everywhere."""
        mask = super().mask_of(options)
        return mask if (mask <= self.finished).all() else np.ones(self.num_envs, bool)


@broken("a partial reset disturbs what others draw", "partial reset")
class Disturbing(Walkers):
    """A number is drawn in all environments, when running ones are reset."""

    def begin(self, rows: np.ndarray) -> None:
        """Draw everywhere."""
        if not rows.all() and not (rows <= self.finished).all() and self.mode is not MODES.SAME_STEP:
            for generator in self.generators:
                generator.uniform()
        super().begin(rows)


@broken("actions reach the next environment", "own actions")
class NextOne(Walkers):
    """Rolls them by one."""

    def walk(self, actions, rows):
        """Roll."""
        super().walk(np.roll(actions, 1), rows)


@broken("two actions are exchanged", "own actions")
class Exchanged(Walkers):
    """Environments 0 and 2, which a single comparison of every other one does not part."""

    def walk(self, actions, rows):
        """Exchange."""
        super().walk(np.asarray(actions)[[2, 1, 0]], rows)


@broken("one action moves all", "own actions")
class OneForAll(Walkers):
    """That of environment 0."""

    def walk(self, actions, rows):
        """Repeat."""
        super().walk(np.repeat(actions[:1], self.num_envs), rows)


@broken("the time limit comes a step late", "time limit")
class LateLimit(Walkers):
    """13 steps for 12."""

    def late(self) -> np.ndarray:
        """Off by one."""
        return self.taken > self.limit


@broken("pictures are floats", "render")
class FloatPictures(Walkers):
    """0 to 1."""

    def render(self) -> tuple[np.ndarray, ...]:
        """In floats."""
        return tuple(np.zeros((4, 6, 3)) for _ in range(self.num_envs))


@broken("one picture shows all", "render")
class OnePicture(Walkers):
    """Side by side."""

    def render(self) -> Any:
        """An array with no axis of environments."""
        return np.zeros((4, 18, 3), np.uint8)


@broken("closing leaves closed False", "close")
class NeverClosed(Walkers):
    """Overrides close."""

    def close(self, **kwargs: Any) -> None:
        """Nothing."""


@broken("closing twice raises an error", "close")
class ClosedOnce(Walkers):
    """Frees twice."""

    def close(self, **kwargs: Any) -> None:
        """Raise."""
        if self.closed:
            raise RuntimeError("freed twice")
        self.closed = True
