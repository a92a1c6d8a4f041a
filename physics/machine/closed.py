"""A solver that can be used no more: every attribute raises an error that says so, by name.

A solver changes its class when it is closed, and when Taichi is restarted. So open solvers pay nothing:
no method of theirs has to ask whether it still may. At the end of the process it does so for the sake of daemon
threads: the interpreter ends a thread that comes back to it then, and torch aborts the process if that is in a call of
torch's.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from inspect import getattr_static
from typing import Any

_ARRIVAL = 0.05
"""Seconds for daemon threads to finish their present call."""


def invalidate(solver: Any, error: type[Exception], why: str, keeps: tuple[str, ...] = ()) -> None:
    """Make every public method and property of a solver raise `error` from now on.

    Args:
        solver: any object of a class without slots; `isinstance` goes on to hold.
        error: the type of the exception.
        why: the rest of the message, after the name of the method.
        keeps: methods that go on to work.
    """
    _replace_members(solver, (error, why), keeps, partial(_refusal, error=error, why=why))


def stop_daemons(solvers: Sequence[Any], besides: str) -> None:
    """At the end of the process, have daemon threads stop for ever where they next use one of these solvers.

    Args:
        solvers: whose public methods and properties stop them.
        besides: name of a daemon thread that uses none.
    """
    if any(thread.daemon and thread.name != besides for thread in threading.enumerate()):
        for solver in solvers:
            _replace_members(solver, ("daemons",), (), _stopping)
        time.sleep(_ARRIVAL)


def stop_if_daemon() -> None:
    """Stop for ever if this is a daemon thread."""
    if threading.current_thread().daemon:
        threading.Event().wait()


_made: dict[tuple, type] = {}


def _replace_members(solver: Any, what: tuple, keeps: tuple[str, ...], replaced: Callable[[str, Any], Any]) -> None:
    """Give a solver a class made for `what`, once, that has `replaced(name, member)` for its public members."""
    kind = getattr(solver, "_living", type(solver))
    key = (kind, *what, keeps)
    if key not in _made:
        members = {name: getattr_static(kind, name) for name in dir(kind) if name[0] != "_" and name not in keeps}
        others = {
            name: replaced(f"{kind.__name__}.{name}", member)
            for name, member in members.items()
            if callable(member) or isinstance(member, property)
        }
        _made[key] = type(kind.__name__, (kind,), {"__module__": kind.__module__, "_living": kind, **others})
    solver.__class__ = _made[key]


def _refusal(name: str, member: Any, error: type[Exception], why: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise error(f"{name}: {why}")

    return property(refuse, refuse) if isinstance(member, property) else refuse


def _stopping(_: str, member: Any) -> Any:
    if isinstance(member, property):
        return property(*(function and _stopping("", function) for function in (member.fget, member.fset)))

    def use(*arguments: Any, **options: Any) -> Any:
        stop_if_daemon()
        return member(*arguments, **options)

    return use
