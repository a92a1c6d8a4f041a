"""Checks of the autoreset modes: the result of a step that ends an episode, and of the step after it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from .outcomes import Failed, NotApplicable, check
from .results import misfit, outside
from .rollouts import RecordedStep, Rollout
from .subject import SEED, Subject, require_ends, sampled
from .trees import difference, environments, row, shown, with_rows

_MODES = "farama.org/Vector-Autoreset-Mode"
_RUNS = ("reset and step", "autoreset mode", "flags")


def _ended(subject: Subject, mode: AutoresetMode) -> Rollout:
    """Return a rollout in a mode in which episodes ended.

    Raises:
        NotApplicable: there are no environments in that mode, or no episode ended.
        Failed: they do not run.
    """
    subject.in_mode(mode)
    try:
        rollout = subject.rollout(mode)
    except (Failed, NotApplicable):
        raise
    except Exception as error:
        raise Failed(
            f"under {mode.name}: {type(error).__name__}: {str(error)[:200]}",
            "let reset and step run in this mode, or refuse to be made with it",
        ) from error
    require_ends(rollout)
    return rollout


def _ends(rollout: Rollout) -> Iterator[tuple[int, RecordedStep]]:
    """Go through the steps in which an episode ended, with their numbers."""
    return ((number, step) for number, step in enumerate(rollout.steps) if step.done.any())


@check(
    "own metadata",
    requires="environments that are made in another mode leave the metadata of others as it is",
    because="VectorEnv.metadata is a dict of the class; SyncVectorEnv copies it before it sets the mode of an instance",
    needs=_RUNS,
)
def own_metadata(subject: Subject) -> str:
    """Compare the metadata before and after others were made."""
    made = []
    for mode in AutoresetMode:
        if mode is not subject.mode:
            try:
                subject.in_mode(mode)
                made.append(mode.name)
            except (NotApplicable, Failed):
                continue
    if not made:
        raise NotApplicable("they cannot be made in another mode")
    for now in subject.restated - {subject.mode}:
        before = subject.mode.name if subject.mode else None
        raise Failed(
            f"the environments stated {before}, and {now.name if now else None} after others were made with it",
            "copy the metadata in the constructor: self.metadata = {**self.metadata, 'autoreset_mode': mode}",
        )
    return f"made in {' and '.join(made)}"


@check(
    "next step",
    requires="under NEXT_STEP the step after an end resets that environment: its reward is 0 and both flags are False",
    because=f"{_MODES}: the environment is reset in the next step, whose action is ignored; SyncVectorEnv returns "
    "reward 0 and no flags there",
    needs=_RUNS,
)
def next_step(subject: Subject) -> str:
    """Look at the steps after ends."""
    rollout, last, again = _ended(subject, AutoresetMode.NEXT_STEP), None, list[bool]()
    for number, step in enumerate(rollout.steps):
        if last is not None:
            again += [_same(step.observation, last, env) for env in np.flatnonzero(step.waiting).tolist()]
        last = step.observation
        for name, values in (("reward", step.reward), ("flag", step.done)):
            if step.waiting.any() and (wrong := step.waiting & (values != 0)).any():
                raise Failed(
                    f"step {number} resets {environments(wrong)}, and its {name} is {shown(values[wrong][0])}",
                    "return reward 0 and False flags where a step resets instead of stepping",
                )
        if "final_obs" in step.info:
            raise Failed(
                f"the info of step {number} has 'final_obs'",
                "leave it out: under NEXT_STEP the observation where an episode ends is its last one",
            )
    if again and all(again) and rollout.changes:
        raise Failed(
            f"in all {len(again)} steps after an end the observation is the last one of the episode that ended",
            "reset in the step after an end, and return the first observation of the next episode there",
        )
    return f"{rollout.ends} ends"


def _same(one: Any, other: Any, env: int) -> bool:
    """Return True if two observations of an environment are the same."""
    return difference(row(one, env), row(other, env)) is None


@check(
    "ignored actions",
    requires="under NEXT_STEP the action for an environment that is being reset changes nothing",
    because=f"{_MODES}: the action of the step that resets is ignored",
    needs=(*_RUNS, "same seed", "next step"),
)
def ignored_actions(subject: Subject) -> str:
    """Play again with another action there."""
    rollout, envs = _ended(subject, AutoresetMode.NEXT_STEP), subject.in_mode(AutoresetMode.NEXT_STEP)
    number = next((k for k, step in enumerate(rollout.steps) if step.waiting.any()), None)
    if number is None:
        raise NotApplicable("the only end was in the last step")
    waiting, actions = rollout.steps[number].waiting, subject.actions[number]
    for other in sampled(envs, 10, SEED + 1):
        changed = with_rows(actions, other, waiting)
        if difference(actions, changed) is not None:
            break
    again = subject.replay(envs, [*subject.actions[:number], changed])
    if differs := difference(rollout.steps[number].said, again.steps[number].said):
        raise Failed(
            f"in step {number}, which resets {environments(waiting)}, another action of theirs changes the result: "
            f"{differs}",
            "reset instead of stepping, and ignore the action",
        )
    return f"step {number}, {environments(waiting)}"


@check(
    "same step",
    requires="under SAME_STEP the step that ends an episode returns the first observation of the next one",
    because=f"{_MODES}: the environment is reset in the same step, and the last observation is in info['final_obs']",
    needs=(*_RUNS, "final observations"),
)
def same_step(subject: Subject) -> str:
    """Compare with the final observations."""
    rollout = _ended(subject, AutoresetMode.SAME_STEP)
    for _, step in _ends(rollout):
        for env in np.flatnonzero(step.done).tolist():
            if difference(row(step.observation, env), _final(step.info["final_obs"], env)) is not None:
                return f"{rollout.ends} ends"
    if not rollout.changes:
        return f"{rollout.ends} ends, with observations that never change"
    raise Failed(
        f"in all {rollout.ends} ends the observation is the final one",
        "reset within the step, and return the observation of that reset",
    )


@check(
    "final observations",
    requires="under SAME_STEP info['final_obs'] has the last observations, in the observation space, and the mask "
    "'_final_obs' is True exactly where an episode ended",
    because=f"{_MODES}: the last observation is in info['final_obs']; VectorEnv._add_info adds its mask",
    needs=(*_RUNS, "observation form"),
)
def final_observations(subject: Subject) -> str:
    """Look at every end."""
    rollout = _ended(subject, AutoresetMode.SAME_STEP)
    space = subject.in_mode(AutoresetMode.SAME_STEP).single_observation_space
    for number, step in enumerate(rollout.steps):
        _require_final(step, number, "final_obs")
        for env in np.flatnonzero(step.done).tolist():
            last = _final(step.info["final_obs"], env)
            if wrong := misfit(space, last) or outside(space, last):
                raise Failed(
                    f"info['final_obs'] of environment {env} in step {number}: {wrong}",
                    "return the last observation there, as single_observation_space says",
                )
    return f"{rollout.ends} ends"


@check(
    "final infos",
    requires="under SAME_STEP info['final_info'] has the infos of the last steps, and the mask '_final_info' is True "
    "exactly where an episode ended",
    because=f"{_MODES}: the last info is in info['final_info']; VectorEnv._add_info adds its mask",
    needs=_RUNS,
)
def final_infos(subject: Subject) -> str:
    """Look at every end."""
    rollout = _ended(subject, AutoresetMode.SAME_STEP)
    for number, step in enumerate(rollout.steps):
        _require_final(step, number, "final_info")
        for key, mask in step.info.get("final_info", {}).items():
            if str(key).startswith("_") and isinstance(mask, np.ndarray) and (mask & ~step.done).any():
                raise Failed(
                    f"info['final_info'][{key!r}] of step {number} is True in {environments(mask & ~step.done)}, whose "
                    "episode goes on",
                    "set masks of final infos only where an episode ended",
                )
    return f"{rollout.ends} ends"


def _require_final(step: RecordedStep, number: int, key: str) -> None:
    """Refuse an info whose final values or their mask do not fit the ends of a step."""
    mask = step.info.get(f"_{key}")
    if not step.done.any():
        if mask is not None and np.any(mask):
            raise Failed(f"info['_{key}'] of step {number} is True, and no episode ended", "set it where one ended")
        return
    if missing := [name for name in (key, f"_{key}") if name not in step.info]:
        raise Failed(
            f"in step {number} {environments(step.done)} ended, and the info has no {' and no '.join(missing)}; it has "
            f"{sorted(map(str, step.info))[:8]}",
            f"return info[{key!r}] and info['_{key}'] where an episode ends",
        )
    if not np.array_equal(mask, step.done):
        raise Failed(
            f"info['_{key}'] of step {number} is {shown(mask)}; where an episode ended it is {shown(step.done)}",
            "set the mask exactly where terminations | truncations is True",
        )


def _final(final: Any, env: int) -> Any:
    """Return the final observation of an environment: of an array of objects, or of dense arrays."""
    return row(final, int(env))


@check(
    "disabled",
    requires="under DISABLED reset(options={'reset_mask': ...}) resets finished environments where the mask is True, "
    "and step goes on then",
    because=f"{_MODES}: nothing is reset by itself; SyncVectorEnv.reset takes options['reset_mask']",
    needs=(*_RUNS, "observation form"),
)
def disabled(subject: Subject) -> str:
    """Look at the observations that the resets returned."""
    rollout = _ended(subject, AutoresetMode.DISABLED)
    same: dict[int, int] = {}  # environment -> step, for environments whose observation no reset has changed
    changed: set[int] = set()
    for number, step in _ends(rollout):
        assert step.after is not None
        for env in range(subject.envs.num_envs):
            moved = difference(row(step.observation, env), row(step.after[0], env))
            if step.done[env]:
                if moved is None:
                    same[env] = number
                else:
                    changed.add(env)
            elif moved is not None:
                raise Failed(
                    f"the reset of {environments(step.done)} after step {number} returned another observation of "
                    f"environment {env}, which it was to leave: {moved}",
                    "reset only where the mask is True, and return the last observations elsewhere",
                )
    if rollout.changes and (never := sorted(same.keys() - changed)):
        raise Failed(
            f"no reset changed the observation of environment {never[0]}, as in step {same[never[0]]}",
            "begin an episode where the mask is True, and return its first observation",
        )
    return f"{rollout.ends} ends"


@check(
    "modes agree",
    requires="with the same seed and actions, the first episode of each environment is the same in all modes",
    because=f"{_MODES}: modes differ in when an environment is reset, not in what happens before",
    needs=(*_RUNS, "same seed", "observation form"),
)
def modes_agree(subject: Subject) -> str:
    """Compare the first episodes under each pair of modes."""
    rollouts: dict[str, Rollout] = {}
    for mode in AutoresetMode:
        try:
            rollout = _ended(subject, mode)
        except (NotApplicable, Failed):
            continue
        if mode is not AutoresetMode.SAME_STEP or all("final_obs" in step.info for _, step in _ends(rollout)):
            rollouts[mode.name] = rollout
    if len(rollouts) < 2:
        raise NotApplicable(f"there are environments in {len(rollouts)} of the modes")
    (first, one), *others = rollouts.items()
    for name, other in others:
        going = np.ones(subject.envs.num_envs, bool)
        for number, (mine, theirs) in enumerate(zip(one.steps, other.steps, strict=True)):
            for env in np.flatnonzero(going).tolist():
                if wrong := difference(_results_of(mine, env, one.mode), _results_of(theirs, env, other.mode)):
                    raise Failed(
                        f"step {number} of environment {env} differs under {first} and {name}: {wrong}",
                        "end the episode with the same observation, reward and flags, and reset after that",
                    )
            going &= ~mine.done
    return " and ".join(rollouts)


def _results_of(step: RecordedStep, env: int, mode: AutoresetMode | None) -> Any:
    """Return a step's results for an environment, with the last observation if its episode ended."""
    observation = row(step.observation, env)
    if step.done[env] and mode is AutoresetMode.SAME_STEP and "final_obs" in step.info:
        observation = _final(step.info["final_obs"], env)
    if isinstance(observation, tuple):
        observation = dict(enumerate(observation))
    return {
        "observation": observation,
        "reward": step.reward[env],
        "flags": [step.terminated[env], step.truncated[env]],
    }


CHECKS = (own_metadata, next_step, ignored_actions, final_observations, final_infos, same_step, disabled, modes_agree)
