"""The arguments `randomize`, `observe` and `delay` of environments: objects, or tables of numbers as TOML has them.

envs = tumble.make_vec("Ant", 64, randomize=[dr.friction(0.4, 1.0), Push(speed=(0, 1))], delay=Latency(action=1))
envs = tumble.make_vec("Ant", 64, randomize={"friction": [0.4, 1.0], "push": {"speed": [0, 1]}}, delay={"action": 1})
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NamedTuple

from ...physics.model.parameters import PARAMETERS
from ..nearest import nearest
from . import randomize as dr
from .latency import Latency
from .observing import Term, require_term
from .pushes import Push, Wrench
from .randomization import Term as Randomized
from .randomize import Randomize
from .scatter import Scatter

MAKERS: dict[str, Callable[..., Randomized]] = {
    **{
        name: getattr(dr, name)
        for name in (
            *("mass", "com", "inertia", "friction", "kp", "kv", "motor_strength", "effort_limit", "damping"),
            *("armature", "friction_loss", "stiffness", "reference", "gravity"),
        )
    },
    "push": Push,
    "wrench": Wrench,
    "scatter": Scatter,
}
"""Functions and classes of terms by the names that tables use, which may be any of `PARAMETERS` too."""


class ManagerOptions(NamedTuple):
    """The managers that a batch runs around the methods of a task.

    Attributes:
        randomize: terms that draw numbers of the model, pushes and wrenches.
        observe: terms of observations by the keys of `ObservedParts`.
        delay: of actions and observations; None: none.
    """

    randomize: tuple[Randomized, ...] = ()
    observe: Mapping[str, Term] = {}
    delay: Latency | None = None

    @classmethod
    def of(cls, randomize: Any = None, observe: Any = None, delay: Any = None) -> "ManagerOptions":
        """Return managers from objects, or from tables as TOML has them; None and False are no managers.

        Args:
            randomize: terms, or a table of them by name: `{"friction": [0.4, 1.0], "mass": {"low": 0.9, "high": 1.1}}`.
            observe: a `Term` for the whole observation, or terms by `ObservedParts`' keys; tables in place of terms.
            delay: a `Latency`, or a table with its values.

        Raises:
            ValueError, TypeError: a name, a field or a value is wrong; the message names it, and the nearest ones.
        """
        return cls(_randomize(randomize), _observe(observe), _delay(delay))

    @property
    def drawn_once(self) -> list[Randomize]:
        """The terms whose numbers an environment keeps over its episodes."""
        return [term for term in self.randomize if isinstance(term, Randomize) and term.when == "start"]


def _randomize(given: Any) -> tuple[Randomized, ...]:
    """Return terms of randomization from what a user gave."""
    if given is None or given is False:
        return ()
    if isinstance(given, Mapping):
        return tuple(term for name, value in given.items() for term in _terms(name, value))
    terms = (given,) if isinstance(given, Randomized) else given
    if isinstance(terms, str) or not isinstance(terms, Sequence):
        raise TypeError(f"randomize={given!r}: give terms, as in [dr.friction(0.4, 1.0)], or a table of them by name")
    for term in terms:
        if not isinstance(term, Randomized):
            raise TypeError(
                f"randomize: {term!r} is no term; there are Randomize, the functions of dr, Push, Wrench, Scatter"
            )
    return tuple(terms)


def _terms(name: str, value: Any) -> Iterator[Randomized]:
    """Make the terms of an entry of a table: a pair (low, high), a table, or a list of tables; False: no term."""
    where = f"randomize.{name}"
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], Mapping):
        for k, one in enumerate(value):
            yield _term(f"{where}[{k}]", name, one)
    elif value is not False:
        yield _term(where, name, value)


def _term(where: str, name: str, value: Any) -> Randomized:
    """Make one term from a pair (low, high) or a table; its field `term` names it if the entry's name does not."""
    known = [*MAKERS, *PARAMETERS]
    table = dict(value) if isinstance(value, Mapping) else None
    kind = table.pop("term", name) if table is not None else name
    if kind not in known:
        raise ValueError(f"{where}: no term is called {kind!r}; there {nearest(str(kind), known)}")
    maker = MAKERS.get(kind) or (lambda low, high, **more: Randomize(kind, low, high, **more))
    ranged = kind not in _EXAMPLES
    if table is None:
        if not ranged or not _fits("pair", value):
            example = "[0.8, 1.2] or { low = 0.8, high = 1.2 }" if ranged else f"{{ {_EXAMPLES[kind]} }}"
            raise ValueError(f"{where}: {value!r}: write {example}")
        table = dict(zip(("low", "high"), value, strict=True))
    allowed = {name for name in inspect.signature(maker).parameters if name not in ("options", "more")}
    if kind not in ("push", "wrench", "scatter"):
        allowed |= {field.name for field in fields(Randomize)} - {"parameter", "_"}
        allowed -= {"low", "high"} if not ranged else set()
    _check_fields(where, table, sorted(allowed))
    if ranged and (missing := [end for end in ("low", "high") if end not in table]):
        verb = "is" if len(missing) == 1 else "are"
        raise ValueError(f"{where}: {' and '.join(missing)} {verb} missing: it draws from low to high")
    try:
        return maker(**{field: _tupled(number) for field, number in table.items()})
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def _observe(given: Any) -> dict[str, Term]:
    """Return terms of observations by key from what a user gave."""
    if given is None or given is False:
        return {}
    if isinstance(given, Term):
        found: dict[str, Any] = {"": given}
    elif not isinstance(given, Mapping):
        raise TypeError(
            f"observe={given!r}: give a Term, or terms by parts of the observation, as in {{'0:3': Term()}}"
        )
    elif given and not any(isinstance(value, Mapping | Term) for value in given.values()):
        found = {"": given}
    else:
        found = dict(given)
    terms = {}
    for key, value in found.items():
        where = f"observe.{key}" if key else "observe"
        if isinstance(value, Mapping):
            _check_fields(where, value, [field.name for field in fields(Term) if field.name != "_"])
            value = Term(**{field: _tupled(number) for field, number in value.items()})
        require_term(where, value)
        terms[key] = value
    return terms


def _delay(given: Any) -> Latency | None:
    """Return delays from what a user gave."""
    if given is None or given is False:
        return None
    if isinstance(given, Mapping):
        _check_fields("delay", given, [field.name for field in fields(Latency) if field.name != "_"])
        return Latency(**{field: _tupled(value) for field, value in given.items()})
    if not isinstance(given, Latency):
        raise TypeError(f"delay={given!r}: give a Latency, or a table, as in {{'action': [0, 2]}}")
    return given


def _tupled(value: Any) -> Any:
    """Return a value with tuples in place of lists."""
    return tuple(map(_tupled, value)) if isinstance(value, list | tuple) else value


def _check_fields(where: str, table: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Refuse fields of a table that are unknown, or have values of another kind.

    Raises:
        ValueError: the message has the place of the field, and the nearest fields or the kind of value.
    """
    for field, value in table.items():
        if field not in allowed:
            raise ValueError(f"{where}: there is no {field!r}; there {nearest(str(field), allowed)}")
        kinds = _KINDS[field]
        if not any(_fits(kind, value) for kind in kinds):
            raise ValueError(f"{where}.{field} is {value!r}; it must be {' or '.join(_WORDS[kind] for kind in kinds)}")


def _fits(kind: str, value: Any) -> bool:
    """Return True for a value of a kind, a key of `_WORDS`."""
    if kind == "number":
        return isinstance(value, Real) and not isinstance(value, bool) and value == value
    if kind == "whole":
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind in ("word", "flag"):
        return isinstance(value, str if kind == "word" else bool)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return False
    items = list(value)
    if kind in ("pair", "numbers", "wholes"):
        item = "whole" if kind == "wholes" else "number"
        return (len(items) == 2 or kind != "pair") and all(_fits(item, number) for number in items)
    if kind == "words":
        return bool(items) and all(isinstance(word, str) for word in items)
    return len(items) == 2 and all(_fits("number", end) or _fits("numbers", end) for end in items)


_WORDS = {
    "number": "a number",
    "whole": "a whole number",
    "word": "a string",
    "flag": "true or false",
    "pair": "a pair of numbers [low, high]",
    "numbers": "a list of numbers",
    "wholes": "a list of whole numbers",
    "words": "a list of strings",
    "pairs": "a pair of numbers or lists [low, high]",
}
"""The kinds of values of tables, in words."""
_KINDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("low", "high", "noise", "bias", "scale"), ("number", "numbers")),
    **dict.fromkeys(("operation", "distribution", "kind", "name", "unit", "joint"), ("word",)),
    **dict.fromkeys(("bodies", "geoms", "joints", "actuators", "tendons"), ("word", "words")),
    **dict.fromkeys(("alpha", "d", "s", "t", "x", "y", "z", "roll", "pitch", "yaw", "speed"), ("pair",)),
    **dict.fromkeys(("clip", "duration", "position", "velocity"), ("pair",)),
    **dict.fromkeys(("force", "torque"), ("pair", "pairs")),
    **dict.fromkeys(("action", "observation"), ("number", "pair")),
    "when": ("word", "pair"),
    "axes": ("whole", "wholes"),
    "shared": ("flag",),
    "delay": ("wholes",),
    "hold": ("number",),
    "history": ("whole",),
}
"""The kinds of values that each field may have."""
_EXAMPLES = {
    "push": "speed = [0.0, 0.5]",
    "wrench": 'bodies = "trunk", force = [-30.0, 30.0]',
    "inertia": "alpha = [-0.1, 0.1]",
    "scatter": "position = [-0.1, 0.1]",
}
