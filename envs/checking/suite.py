"""`check_vector_env`: all checks of vector environments, one after another, and their report."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gymnasium.vector import VectorEnv

from . import life, modes, resets, results, seeding, spaces
from .outcomes import Check, Failed, NotApplicable, Noted
from .report import FAILED, NOT_APPLICABLE, NOTED, PASSED, NonconformanceError, Report, Result
from .source import source_of
from .subject import Subject

CHECKS: tuple[Check, ...] = (
    *spaces.CHECKS,
    *results.CHECKS,
    *seeding.CHECKS,
    *modes.CHECKS,
    *resets.CHECKS,
    *life.CHECKS,
)
"""All checks in the order in which they run; a check needs only earlier ones."""


def check_vector_env(
    envs: VectorEnv | str | Callable[..., VectorEnv],
    *,
    num_envs: int = 3,
    raise_on_failure: bool = True,
    skip: Sequence[str] = (),
    steps: int = 64,
    **options: Any,
) -> Report:
    """Check that vector environments follow Gymnasium's documentation: any project's, on any simulator.

    An id or a function lets all be checked: it is made in each autoreset mode, with a short time limit, pictures, and
    to be closed. Given environments are checked as far as they can be; they are reset and stepped, and stay open.

    Args:
        envs: an id of Gymnasium's registry; a function that makes environments, with the arguments `autoreset_mode`,
            `max_episode_steps` and `render_mode` as far as it takes them; or vector environments.
        num_envs: how many environments an id, or a function that takes `num_envs`, makes.
        raise_on_failure: True: raise an error if a check fails.
        skip: names of checks to leave out.
        steps: how many steps a rollout takes; episodes have to end in it.
        options: for `gymnasium.make_vec` or the function, such as vectorization_mode="async".

    Returns:
        The results, which print as a table; `report.failures` has the failed ones.

    Raises:
        NonconformanceError: a check failed; the message is the report.
        TypeError: `envs` is of another type.
        ValueError: there is no check of a name in `skip`.
    """
    known = [check.name for check in CHECKS]
    if unknown := [name for name in skip if name not in known]:
        raise ValueError(f"skip: there is no check {unknown[0]!r}; there are {', '.join(known)}")
    if steps < 8:
        raise ValueError(f"steps={steps}: at least 8, as episodes have to end in them")
    source = source_of(envs, {"num_envs": num_envs, **options})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subject, results = Subject(source, steps), dict[str, Result]()
            for check in CHECKS:
                results[check.name] = _result(check, subject, results, check.name in skip)
    finally:
        source.close()
    report = Report(source.name, tuple(results.values()))
    if raise_on_failure and report.failures:
        raise NonconformanceError(report)
    return report


def _result(check: Check, subject: Subject, found: dict[str, Result], skipped: bool) -> Result:
    """Return the result of a check, given the earlier results."""

    def ended(status: str, seen: str, do: str = "") -> Result:
        return Result(check.name, check.requires, check.because, status, seen, do)

    if skipped:
        return ended(NOT_APPLICABLE, "skipped")
    for name in check.needs:
        if found[name].status != PASSED:
            return ended(NOT_APPLICABLE, f"needs {name!r}, which did not pass")
    try:
        return ended(PASSED, check.run(subject) or "")
    except Failed as failure:
        return ended(FAILED, failure.seen, failure.do)
    except Noted as note:
        return ended(NOTED, str(note))
    except NotApplicable as reason:
        return ended(NOT_APPLICABLE, str(reason))
    except Exception as error:
        return ended(
            FAILED, f"{type(error).__name__}: {str(error)[:200]}", "see why this error is raised where it should not be"
        )
