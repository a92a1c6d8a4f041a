"""Many cases of one test: a loop whose failures pytest reports by the names of their cases."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import Any


def cases(names: str, values: Iterable[Any], label: Callable[[Any], str] | None = None) -> Callable:
    """Call a test once for each value of some arguments, as `pytest.mark.parametrize` does, but as one test.

    A case that fails is reported with its name, and the others run (`subtests` of pytest). All cases have the same
    fixtures. Several decorators make all combinations.

    Args:
        names: names of the arguments, separated by commas.
        values: their values; a tuple for each case if there are several names.
        label: makes the name of a case from its value; by default its text.
    """
    keys = [name.strip() for name in names.split(",")]

    def decorate(function: Callable) -> Callable:
        one = [
            ((label or text_of)(value), dict(zip(keys, value if len(keys) > 1 else (value,), strict=True)))
            for value in values
        ]
        test, others = getattr(function, "all_cases", (function, [[]]))
        combined = [[*case, new] for new, case in itertools.product(one, others)]

        @functools.wraps(test)
        def every_case(*arguments: Any, subtests: Any, **fixtures: Any) -> None:
            for case in combined:
                with subtests.test(", ".join(name for name, _ in reversed(case))):
                    test(*arguments, **fixtures, **{key: part[key] for _, part in case for key in part})

        given = {key for _, part in combined[0] for key in part}
        kept = [p for p in inspect.signature(test).parameters.values() if p.name not in given]
        room = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        every_case.__signature__ = inspect.Signature([*kept, room])  # type: ignore[attr-defined]
        every_case.all_cases = test, combined  # type: ignore[attr-defined]
        return every_case

    return decorate


def text_of(value: Any) -> str:
    """Return a name for a case: the text of its value, or names of functions and types."""
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(str(getattr(part, "__name__", part)) for part in parts)[:80]
