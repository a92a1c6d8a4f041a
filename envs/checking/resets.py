"""Checks of partial resets, of actions and of time limits: environments do not depend on each other."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from .outcomes import Failed, NotApplicable, Noted, check
from .subject import SEED, Subject, sampled
from .trees import as_numpy, difference, environments, row, with_rows


@check(
    "partial reset",
    requires="reset(options={'reset_mask': mask}) leaves the environments where the mask is False as they were: they "
    "return their last observations, and go on as if there had been no reset",
    because="SyncVectorEnv.reset: environments are reset where options['reset_mask'] is True, under DISABLED the way "
    "to reset finished ones",
    needs=("reset and step", "observation form", "same seed"),
)
def partial_reset(subject: Subject) -> str:
    """Play with and without a reset of some."""
    envs, count = _of_a_mode_with_masks(subject), subject.envs.num_envs
    if count < 2:
        raise NotApplicable("there is one environment")
    mask = np.arange(count) % 2 == 0
    for steps in (6, 3):
        plain = subject.replay(envs, subject.actions[:steps])
        if not any(step.done.any() for step in plain.steps):
            break
    else:
        raise NotApplicable(f"an episode ends within {steps} steps")
    at = steps // 2
    returned: list[Any] = []

    def reset_some(number: int) -> None:
        if number == at:
            try:
                returned.append(as_numpy(envs.reset(options={"reset_mask": mask.copy()})[0]))
            except Exception as error:
                raise _Refused(error) from error

    try:
        other = subject.replay(envs, subject.actions[:steps], before_step=reset_some)
    except _Refused as refused:
        error = refused.__cause__
        if subject.mode is AutoresetMode.DISABLED:
            raise Failed(f"it raised {type(error).__name__}: {str(error)[:150]}", _DO) from refused
        words = f"{type(error).__name__}: {str(error)[:100]}"
        raise NotApplicable(f"a reset_mask is refused ({words}), which Gymnasium asks for under DISABLED") from refused
    _compare(subject, plain.steps[at - 1].observation, returned[0], mask)
    for number in range(at, steps):
        for env in np.flatnonzero(~mask).tolist():
            mine, theirs = plain.steps[number], other.steps[number]
            if differs := difference(_results_of(mine, env), _results_of(theirs, env)):
                raise Failed(
                    f"environment {env}, which the mask leaves, goes on otherwise in step {number}: {differs}", _DO
                )
    return f"{environments(mask)} of {count}"


_DO = "reset state, generators and counters only where options['reset_mask'] is True"


class _Refused(Exception):
    """A reset with a mask raised an error, which is the cause."""


def _of_a_mode_with_masks(subject: Subject) -> VectorEnv:
    """Return environments with autoreset DISABLED if that is supported, else the environments in their own mode."""
    try:
        return subject.in_mode(AutoresetMode.DISABLED)
    except (NotApplicable, Failed):
        return subject.envs


def _compare(subject: Subject, before: Any, after: Any, mask: np.ndarray) -> None:
    """Compare the observations before a partial reset with the ones that it returned."""
    left = [env for env in np.flatnonzero(~mask).tolist() if difference(row(before, env), row(after, env)) is not None]
    if not left:
        moved = (difference(row(before, env), row(after, env)) for env in np.flatnonzero(mask).tolist())
        if subject.rollout().changes and not any(moved):
            raise Failed(f"it did not reset {environments(mask)}: their observations are the last ones", _DO)
        return
    everywhere = len(left) == (~mask).sum()
    if everywhere and not _has_disabled(subject):
        raise Noted("reset ignores options['reset_mask'] and resets all; Gymnasium asks for masks only under DISABLED")
    differs = difference(row(before, left[0]), row(after, left[0]))
    raise Failed(f"environment {left[0]}, where the mask is False, returned another observation: {differs}", _DO)


def _has_disabled(subject: Subject) -> bool:
    try:
        return subject.in_mode(AutoresetMode.DISABLED) is not None
    except (NotApplicable, Failed):
        return False


def _results_of(step: Any, env: int) -> Any:
    observation = row(step.observation, env)
    observation = dict(enumerate(observation)) if isinstance(observation, tuple) else observation
    return {"observation": observation, "reward": row(step.reward, env), "flags": [row(step.done, env)]}


@check(
    "own actions",
    requires="the action of an environment changes what this environment returns, and no other one",
    because="VectorEnv.step: row i of the batched actions is the action of environment i",
    needs=("reset and step", "observation form", "rewards", "flags", "same seed"),
)
def own_actions(subject: Subject) -> str:
    """Replay with other actions in some environments, chosen so that any two environments differ in one replay."""
    envs, count, steps = subject.envs, subject.envs.num_envs, 6
    if count < 2:
        raise NotApplicable("there is one environment")
    plain, others, seen = subject.replay(envs, subject.actions[:steps]), sampled(envs, steps, SEED + 1), False
    for bit in range((count - 1).bit_length()):
        for changed in ((np.arange(count) >> bit) % 2 == k for k in range(2)):
            actions = [with_rows(mine, other, changed) for mine, other in zip(subject.actions, others, strict=False)]
            again = subject.replay(envs, actions)
            for number, (one, other) in enumerate(zip(plain.steps, again.steps, strict=True)):
                ended = one.done | other.done  # a reset may draw from a generator that all share
                for env in np.flatnonzero(~ended).tolist():
                    differs = difference(_results_of(one, env), _results_of(other, env))
                    if differs and not changed[env]:
                        raise Failed(
                            f"other actions of {environments(changed)} change environment {env} in step {number}: "
                            f"{differs}",
                            "give environment i row i of the actions",
                        )
                    seen = seen or differs is not None
                if ended.any():
                    break
    if not seen:
        raise NotApplicable(f"no action changes a result within {len(plain.steps)} steps, or before an episode ends")
    return f"{count} environments, {len(plain.steps)} steps"


@check(
    "time limit",
    requires="an episode of max_episode_steps steps is over: truncated, or terminated in that step; and none is longer",
    because="EnvSpec.max_episode_steps: the number of steps an episode can take before truncation",
    needs=("reset and step", "flags", "autoreset mode"),
)
def time_limit(subject: Subject) -> str:
    """Count the steps of every episode, in every mode that was played."""
    limits, reached = set[int](), 0
    for rollout in subject.all_rollouts():
        if rollout.limit is None or rollout.limit > len(rollout.steps):
            continue
        limits.add(rollout.limit)
        taken = np.zeros(subject.envs.num_envs, int)
        for number, step in enumerate(rollout.steps):
            moved = ~step.waiting if rollout.mode is AutoresetMode.NEXT_STEP else np.ones_like(step.waiting)
            taken += moved
            late = moved & (taken >= rollout.limit)
            reached += int(late.sum())
            if (wrong := late & ~step.done).any():
                name = rollout.mode.name if rollout.mode else "no mode"
                raise Failed(
                    f"under {name}, {environments(wrong)} took {taken[wrong][0]} steps by step {number} and goes on; "
                    f"max_episode_steps is {rollout.limit}",
                    "truncate an episode in the step that is its max_episode_steps-th, counted from its reset",
                )
            taken[step.done] = 0
    if not reached:
        raise NotApplicable(
            "no episode was as long as its time limit"
            if limits
            else "the time limit is not known, or longer than the rollout; a function may take max_episode_steps"
        )
    return f"{reached} episodes of {limits.pop()} steps"


CHECKS = (partial_reset, own_actions, time_limit)
