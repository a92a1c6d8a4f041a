"""Vector environments in numpy for the tests of the checker: one that does all as Gymnasium says, and broken ones."""

from collections.abc import Callable
from functools import partial
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
        self.num_envs, self.limit = num_envs, max_episode_steps
        self.mode, self.render_mode = autoreset_mode, render_mode
        self.single_observation_space = Box(-1.0, 1.0, (2,), np.float32)
        self.single_action_space = Discrete(2)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"render_modes": ["rgb_array"], "autoreset_mode": autoreset_mode}
        self.generators: list[np.random.Generator] = [np.random.default_rng() for _ in range(num_envs)]
        self.place, self.moved = np.zeros(num_envs), np.zeros(num_envs)
        self.taken, self.finished, self.held = np.zeros(num_envs, int), *np.zeros((2, num_envs), bool)
        self.last: Any = None
        self.made()

    # the pieces, which broken ones replace

    def made(self) -> None:
        """End the initialisation."""

    def changed(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
        """Return the results of a step."""
        return observation, reward, terminated, truncated, info

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
        return self.changed(self.observe(), reward, terminated, truncated, info)

    def render(self) -> tuple[np.ndarray, ...]:
        """A picture each."""
        return tuple(np.zeros((4, 6, 3), np.uint8) for _ in range(self.num_envs))


BROKEN: dict[str, tuple[str, type[Walkers]]] = {}
"""By what is wrong: the check that finds it, and the environments."""


def broken(wrong: str, check: str, **methods: Callable) -> None:
    """List environments with other methods: each gets the environments, the right method and its arguments."""

    def other(name: str, method: Callable) -> Callable:
        right = getattr(Walkers, name)
        return lambda self, *arguments, **options: method(self, partial(right, self), *arguments, **options)

    BROKEN[wrong] = check, type("Broken", (Walkers,), {name: other(name, made) for name, made in methods.items()})


# -- attributes


def share(self, right):
    """Write into the metadata of all instances: the last that is made decides."""
    self.metadata = SHARED
    SHARED["autoreset_mode"] = self.mode


def know_two_modes(self, right, autoreset_mode=MODES.NEXT_STEP, **options):
    """Refuse the third mode."""
    if autoreset_mode is MODES.DISABLED:
        raise ValueError("there are two modes")
    right(autoreset_mode=autoreset_mode, **options)


SHARED: dict[str, Any] = {"render_modes": ["rgb_array"]}
broken(
    "the number of environments is a float",
    "attributes",
    made=lambda self, right: setattr(self, "num_envs", float(self.num_envs)),
)
broken(
    "the observation space is that of one environment",
    "batched observation space",
    made=lambda self, right: setattr(self, "observation_space", self.single_observation_space),
)
broken(
    "the action space has one environment too few",
    "batched action space",
    made=lambda self, right: setattr(self, "action_space", batch_space(self.single_action_space, self.num_envs - 1)),
)
broken(
    "the mode is a string",
    "autoreset mode",
    made=lambda self, right: self.metadata.update(autoreset_mode=self.mode.value),
)
broken(
    "the metadata says NEXT_STEP in every mode",
    "final observations",  # two checks of the mode see it
    made=lambda self, right: self.metadata.update(autoreset_mode=MODES.NEXT_STEP),
)
broken("instances write into the metadata of their class", "own metadata", made=share)
broken(
    "instances that know two modes write into the metadata of their class",  # as AtariVectorEnv of ale-py does
    "own metadata",
    __init__=know_two_modes,
    made=share,
)
broken(
    "a render mode is not listed",
    "render modes",
    __init__=lambda self, right, **options: right(**options | {"render_mode": "rgb_array"}),
    made=lambda self, right: self.metadata.update(render_modes=[]),
)

# -- the form of what is returned


def refuse_arrays(self, right, actions):
    """Refuse arrays."""
    if not isinstance(actions, list):
        raise TypeError("actions must be a list")
    return right(actions)


def flatten(self, right, **arguments):
    """Return a flat first observation."""
    observation, info = right(**arguments)
    return observation.reshape(-1), info


def in_one_buffer(self, array):
    """Write into the array that earlier calls have returned."""
    self.__dict__.setdefault("buffer", array.copy())[:] = array
    return self.buffer


broken("a step returns four things", "reset and step", changed=lambda self, right, o, r, te, tr, i: (o, r, te | tr, i))
broken("samples of the action space raise an error", "reset and step", step=refuse_arrays)
broken(
    "observations are float64 where the space is float32",
    "observation form",
    observe=lambda self, right: right().astype(np.float64),
)
broken("the first observation has another shape", "observation form", reset=flatten)
broken(
    "an observation leaves the space",
    "observations inside",
    observe=lambda self, right: right() + np.outer(self.taken == 5, np.float32([0, 2])),
)
broken(
    "rewards are whole numbers",
    "rewards",
    changed=lambda self, right, o, r, *others: (o, np.round(r).astype(int), *others),
)
broken(
    "a reward is NaN",
    "rewards",
    changed=lambda self, right, o, r, *others: (o, np.where(self.taken == 6, np.nan, r), *others),
)
broken("flags are floats", "flags", changed=lambda self, right, o, r, te, *others: (o, r, te.astype(float), *others))
broken(
    "an info has no mask",
    "infos",
    changed=lambda self, right, *others: (*others[:4], others[4] | {"speed": np.zeros(self.num_envs)}),
)
broken("a final info has no mask", "infos", final=lambda self, right, o, i, done: right(o, {"place": i["place"]}, done))
broken(
    "an info has one number for all",
    "infos",
    changed=lambda self, right, *others: (*others[:4], others[4] | {"n": 3, "_n": np.ones(self.num_envs, bool)}),
)
broken(
    "the observation array is used again",
    "fresh arrays",
    observe=lambda self, right: in_one_buffer(self, right()),
    final=lambda self, right, observation, *others: right(observation.copy(), *others),
)
broken(
    "the array of final observations is used again",
    "fresh arrays",
    final=lambda self, right, observation, *others: right(in_one_buffer(self, observation), *others),
)

# -- seeds


def shift_begun(self, right, observation, reward, terminated, truncated, info):
    """Shift what SAME_STEP has begun by a draw from the machine."""
    begun = (terminated | truncated) & (self.mode is MODES.SAME_STEP)
    self.place += np.random.default_rng().uniform(-0.1, 0.1, self.num_envs) * begun
    return self.observe(), reward, terminated, truncated, info


def walk_anywhere(self, right, actions, rows):
    """Move, and a little more by a draw from the machine."""
    right(actions, rows)
    self.place = np.clip(self.place + np.random.default_rng().uniform(-0.01, 0.01, self.num_envs) * rows, -1, 1)


def give_one_seed(self, right, seed):
    """Give all the same seed, and refuse lists."""
    if seed is not None and not isinstance(seed, int):
        raise TypeError("no lists")
    return [seed] * self.num_envs


def repeat_seeds(self, right, seed):
    """Reset with the seeds of the reset before, if no seeds are given."""
    self.last = seed if seed is not None else self.last
    return right(self.last)


def repeat_in_whole_resets(self, right, *, seed=None, options=None):
    """Leave partial resets alone."""
    partial_reset, kept = "reset_mask" in (options or {}), self.last
    self.last = None if partial_reset else kept
    result = right(seed=seed, options=options)
    self.last = kept if partial_reset else self.last
    return result


broken("the resets of SAME_STEP draw from the machine", "same seed", changed=shift_begun)
broken("steps draw from a generator that no seed reaches", "same seed", walk=walk_anywhere)
broken("all environments get the same seed", "different environments", seeds=give_one_seed)
broken(
    "seeds are those of the place, not of the list",
    "list of seeds",
    seeds=lambda self, right, seed: right(seed if seed is None or isinstance(seed, int) else min(seed)),
)
broken(
    "a reset without a seed draws from the machine",
    "reset goes on",
    seeds=lambda self, right, seed: right(
        np.random.SeedSequence().generate_state(3).tolist() if seed is None else seed
    ),
)
broken("a reset without a seed repeats the last one", "reset goes on", seeds=repeat_seeds, reset=repeat_in_whole_resets)

# -- ends and resets


def act_in_resets(self, right, actions):
    """Make the first step of an episode in the step that resets."""
    waiting = self.finished & (self.mode is MODES.NEXT_STEP)
    result = right(actions)
    self.moved[waiting] = np.where(actions, 0.02, -0.02)[waiting]
    return (self.observe(), *result[1:])


def hold_back(self, right, actions):
    """Let a step in which nothing happens stand between an end and its reset under NEXT_STEP."""
    self.held = self.finished & ~self.held & (self.mode is MODES.NEXT_STEP)
    result = right(actions)
    self.finished |= self.held
    return result


def hold_nothing_back(self, right, **arguments):
    """Reset those too that are held back."""
    self.held = np.zeros(self.num_envs, bool)
    return right(**arguments)


def return_the_last_again(self, right, observation, *others):
    """Return the final observation."""
    if "final_obs" in (info := others[-1]):
        observation[info["_final_obs"]] = info["final_obs"][info["_final_obs"]]
    return observation, *others


def take_the_final_late(self, right, observation, *others):
    """Take the final observation after the reset, and return one of yet another episode."""
    if "final_obs" in (info := others[-1]):
        info["final_obs"] = observation.copy()
        observation[info["_final_obs"], 1] = 0.5
    return observation, *others


def walk_on_from_there(self, right, *, seed=None, options=None):
    """Reset the counters of finished ones only."""
    mask = (options or {}).get("reset_mask")
    if mask is None or not (mask <= self.finished).all():
        return right(seed=seed, options=options)
    self.taken[mask], self.finished[mask] = 0, False
    return self.observe(), {}


def draw_everywhere(self, right, rows):
    """Draw a number in all environments if running ones are reset."""
    if not rows.all() and not (rows <= self.finished).all() and self.mode is not MODES.SAME_STEP:
        for generator in self.generators:
            generator.uniform()
    right(rows)


broken(
    "the step that resets has a reward",
    "next step",
    changed=lambda self, right, o, r, *others: (
        *(o, np.where((self.taken == 0) & (self.mode is MODES.NEXT_STEP), 1.0, r)),
        *others,
    ),
)
broken("the step that resets acts too", "ignored actions", step=act_in_resets)
broken(
    "the reset comes a step late",
    "next step",
    begin=lambda self, right, rows: right(rows & ~self.held),
    step=hold_back,
    reset=hold_nothing_back,
)
broken(
    "there is no final observation",
    "final observations",
    final=lambda self, right, o, info, done: {"final_info": info, "_final_info": done.copy()},
)
broken(
    "final observations go by their old name",  # that of Gymnasium 0.29
    "final observations",
    final=lambda self, right, *final: {n.replace("_obs", "_observation"): value for n, value in right(*final).items()},
)
broken(
    "the mask of final observations is that of truncations",
    "final observations",
    final=lambda self, right, o, info, done: (
        right(o, info, done) | {"_final_obs": self.late() & done & (self.place < 0)}
    ),
)
broken(
    "final infos lack their mask's exactness",
    "final infos",
    final=lambda self, right, *final: right(*final) | {"_final_info": np.ones(self.num_envs, bool)},
)
broken("the last observation is returned where the next episode's is due", "same step", changed=return_the_last_again)
broken("the final observation is the next episode's first", "modes agree", changed=take_the_final_late)
broken("under DISABLED a finished environment is not reset", "disabled", reset=walk_on_from_there)
broken(
    "a partial reset resets all",  # unless it is of finished environments
    "partial reset",
    mask_of=lambda self, right, options: right(options) | (right(options) > self.finished).any(),
)
broken("a partial reset disturbs what others draw", "partial reset", begin=draw_everywhere)

# -- actions, time, pictures, the end


def close_once(self, right, **options):
    """Raise the second time."""
    if self.closed:
        raise RuntimeError("freed twice")
    self.closed = True


broken(
    "actions reach the next environment",
    "own actions",
    walk=lambda self, right, actions, rows: right(np.roll(actions, 1), rows),
)
broken(
    "two actions are exchanged",  # 0 and 2, which a single comparison of every other environment does not part
    "own actions",
    walk=lambda self, right, actions, rows: right(np.asarray(actions)[[2, 1, 0]], rows),
)
broken(
    "one action moves all",
    "own actions",
    walk=lambda self, right, actions, rows: right(np.repeat(actions[:1], self.num_envs), rows),
)
broken("the time limit comes a step late", "time limit", late=lambda self, right: self.taken > self.limit)
broken("pictures are floats", "render", render=lambda self, right: tuple(np.zeros((3, 4, 6, 3))))
broken("one picture shows all", "render", render=lambda self, right: np.zeros((4, 18, 3), np.uint8))
broken("closing leaves closed False", "close", close=lambda self, right, **options: None)
broken("closing twice raises an error", "close", close=close_once)
