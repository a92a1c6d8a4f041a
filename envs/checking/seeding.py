"""Checks of seeds: the same ones give the same episodes, environments get different ones, and a reset goes on."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from .outcomes import Failed, NotApplicable, check
from .rollouts import Rollout
from .subject import OTHER_SEED, SEED, Subject
from .trees import as_numpy, difference, row, shown

_RESET = "Env.reset: a seed determines the random numbers of what follows"


@check(
    "same seed",
    requires="after reset(seed=s) the same actions give the same observations, rewards and flags, to the last bit",
    because=f"{_RESET}; Gymnasium's own check_env asks for deterministic steps after a seeded reset",
    needs=("reset and step",),
)
def same_seed(subject: Subject) -> str:
    """Play again, in the same environments and in others that were made alike."""
    first, *others = subject.rollouts_with_final()
    places: list[tuple[str, VectorEnv, Rollout]] = [("played again", subject.envs, first)]
    if subject.source.makes:
        places.append(("played in other environments that were made alike", subject.another(), first))
    for ending in others:
        places.append(("played again under SAME_STEP", subject.in_mode(AutoresetMode.SAME_STEP), ending))
    for where, envs, played in places:
        again = subject.replay(envs, subject.actions)
        if differs := difference(played.reset[0], again.reset[0]):
            raise Failed(f"reset(seed={SEED}), {where}, begins otherwise: {differs}", _SEED_DO)
        for number, (one, other) in enumerate(zip(played.steps, again.steps, strict=True)):
            if differs := difference(one.said, other.said):
                raise Failed(f"after reset(seed={SEED}), {where}, step {number} differs: {differs}", _SEED_DO)
    return f"{len(first.steps)} steps, {' and '.join(where for where, *_ in places)}"


_SEED_DO = "draw all random numbers from generators that reset(seed=...) seeds, and reset all state there"


@check(
    "different environments",
    requires="after reset(seed=s), s one number, environments draw different random numbers",
    because="SyncVectorEnv.reset: environment i gets seed + i; with the same seed in all of them a batch would hold "
    "copies of one episode",
    needs=("observation form", "same seed"),
)
def different_environments(subject: Subject) -> str:
    """Compare first observations."""
    envs = subject.envs
    if envs.num_envs < 2:
        raise NotApplicable("there is one environment")
    start, other = _start(envs, SEED), _start(envs, OTHER_SEED)
    if difference(start, other) is None:
        raise NotApplicable("the first observation depends on no seed")
    if all(difference(row(start, 0), row(start, env)) is None for env in range(1, envs.num_envs)):
        raise Failed(
            f"after reset(seed={SEED}) all {envs.num_envs} environments begin alike, with {shown(row(start, 0))}",
            "give environment i the seed s + i, or let all draw from one generator",
        )
    return "they begin differently"


@check(
    "list of seeds",
    requires="reset(seed=[s, s + 1, ...]) is reset(seed=s), and each environment follows its seed",
    because="SyncVectorEnv.reset and AsyncVectorEnv.reset: a number stands for [seed, seed + 1, ...], and a list gives "
    "each environment its seed",
    needs=("observation form", "same seed"),
)
def list_of_seeds(subject: Subject) -> str:
    """Compare a number, its list, and lists in which every other seed is another; environments may differ by place."""
    envs, count = subject.envs, subject.envs.num_envs
    start = _start(envs, SEED)
    try:
        listed = _start(envs, [SEED + i for i in range(count)])
    except Exception as error:
        words = str(error).strip().splitlines()
        raise NotApplicable(
            f"a list is refused ({type(error).__name__}: {words[0][:100] if words else ''}); VectorEnv.reset documents "
            "one number, lists are SyncVectorEnv's"
        ) from error
    if differs := difference(start, listed):
        raise Failed(
            f"reset(seed={SEED}) and reset(seed={[SEED + i for i in range(count)]}) begin otherwise: {differs}",
            "give environment i the seed s + i",
        )
    for seeded in range(min(count, 2)):
        seeds = [(SEED if env % 2 == seeded else OTHER_SEED) + env for env in range(count)]
        among_others = _start(envs, seeds)
        for env in range(seeded, count, 2):
            if differs := difference(row(among_others, env), row(start, env)):
                raise Failed(
                    f"environment {env} with seed {seeds[env]} begins otherwise if others have other seeds: {differs}",
                    "let each environment draw only from its seed",
                )
    return f"seeds {SEED} to {SEED + count - 1}"


@check(
    "reset goes on",
    requires="reset() without a seed goes on with the random numbers of the last seed: it begins other episodes, the "
    "same ones each time",
    because="Env.reset: without a seed a generator that is there already is not reset",
    needs=("observation form", "same seed"),
)
def reset_goes_on(subject: Subject) -> str:
    """Reset twice after a seed, twice."""
    envs = subject.envs
    if difference(_start(envs, SEED), _start(envs, OTHER_SEED)) is None:
        raise NotApplicable("the first observation depends on no seed")
    starts = []
    for _ in range(2):
        first = _start(envs, SEED)
        starts.append(_start(envs, None))
    if differs := difference(*starts):
        raise Failed(
            f"after reset(seed={SEED}), reset() began in two ways: {differs}",
            "let reset() without a seed draw on from the generators that the last seed made",
        )
    if difference(first, starts[0]) is None:
        raise Failed(
            f"after reset(seed={SEED}), reset() begins the same episodes again: {shown(row(first, 0))} in the first",
            "seed generators only where a seed is given",
        )
    return "other episodes, the same ones each time"


def _start(envs: VectorEnv, seed: Any) -> Any:
    """Reset with a seed; return the observations."""
    observation = as_numpy(envs.reset(seed=seed)[0])
    return {"": observation} if isinstance(observation, np.ndarray) else observation


CHECKS = (same_seed, different_environments, list_of_seeds, reset_goes_on)
