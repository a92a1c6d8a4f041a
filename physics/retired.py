"""A solver that can be used no more: every attribute raises an error that says so, by name.

A solver changes its class when it is closed, and when Taichi is started anew under it. So those that live pay nothing:
no method of theirs has to ask whether it still may.
"""

from inspect import getattr_static
from typing import Any


def retire(solver: Any, error: type[Exception], why: str, keeps: tuple[str, ...] = ()) -> None:
    """Have every public method and property of a solver raise `error` from now on.

    Args:
        solver: any object of a class without slots; `isinstance` goes on to hold.
        error: what is raised.
        why: the rest of the message, after the name of the method.
        keeps: methods that go on to work.
    """
    key = (getattr(solver, "_living", type(solver)), error, why, keeps)
    if key not in _made:
        _made[key] = _retired(*key)
    solver.__class__ = _made[key]


_made: dict[tuple, type] = {}


def _retired(kind: type, error: type[Exception], why: str, keeps: tuple[str, ...]) -> type:
    members = {name: getattr_static(kind, name) for name in dir(kind) if not name.startswith("_") and name not in keeps}
    refusals = {
        name: _refusal(f"{kind.__name__}.{name}", member, error, why)
        for name, member in members.items()
        if callable(member) or isinstance(member, property)
    }
    return type(kind.__name__, (kind,), {"__module__": kind.__module__, "_living": kind, **refusals})


def _refusal(name: str, member: Any, error: type[Exception], why: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise error(f"{name}: {why}")

    return property(refuse, refuse) if isinstance(member, property) else refuse
