"""The names that a stage may access while it is traced: all names in its code and in the functions that it calls.

Names are read from the functions' code objects: attributes, global names, and words in strings. That gives rather too
many than too few. Views with only these attributes leave a third of the code to compile. If a name were missing,
tracing would end with an AttributeError, so an error here cannot pass unnoticed.
"""

from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ...base.hooks import Hook
from ...base.stage import Stage

_PACKAGE = __name__.split(".")[0]


class Reach(NamedTuple):
    """The names and stages that a function may access.

    Attributes:
        names: all names in its code.
        stages: stages that it may call, in no order.
    """

    names: frozenset[str]
    stages: frozenset[Stage]


def reach_of(*functions: Callable[..., Any]) -> Reach:
    """Return the names in the code of functions and of all that they call in this package, except in other stages."""
    walk = _Walk()
    for function in functions:
        walk.visit(function)
    return Reach(frozenset(walk.names), frozenset(walk.stages))


class _Walk:
    """The search of functions and of the globals, closures, classes and containers that they name."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.stages: set[Stage] = set()
        self._seen: set[int] = set()

    def visit(self, value: Any) -> None:
        """Record the names that a value may bring into a kernel."""
        if isinstance(value, str):
            self.names.add(value)
        elif id(value) not in self._seen:
            self._seen.add(id(value))
            if isinstance(value, Stage):
                self.stages.add(value)
                self.visit(value.when)
            elif isinstance(value, Hook):
                self._visit_all(value.entries)
            elif isinstance(value, dict):
                self._visit_all((*value.keys(), *value.values()))
            elif isinstance(value, (tuple, list, set, frozenset)):
                self._visit_all(value)
            elif isinstance(value, (type, FunctionType)) and _is_ours(value):
                self._visit_class(value) if isinstance(value, type) else self._visit_function(value)

    def _visit_all(self, values: Any) -> None:
        """Visit each of several values."""
        for value in values:
            self.visit(value)

    def _visit_class(self, value: type) -> None:
        """Visit the methods, properties and strings of a class and of its bases in this package."""
        for base in value.__mro__:
            if _is_ours(base):
                self._visit_all(member for member in vars(base).values() if isinstance(member, (FunctionType, str)))
                wrapped = (getattr(member, "__func__", getattr(member, "fget", None)) for member in vars(base).values())
                self._visit_all(function for function in wrapped if function is not None)

    def _visit_function(self, function: FunctionType) -> None:
        """Visit the code of a function, without its decorators, and the values of its closure."""
        while hasattr(function, "__wrapped__"):  # a decorated one, such as by `ti.func`
            function = function.__wrapped__
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._visit_all(cell.cell_contents for cell in cells.values())
        self._visit_code(function.__code__, function.__globals__)

    def _visit_code(self, code: CodeType, known: dict[str, Any]) -> None:
        """Record the names in a code object, and visit its constants and the globals `known` that it names."""
        self.names.update(code.co_names)
        modules = [known[name] for name in code.co_names if isinstance(known.get(name), ModuleType)]
        for name in code.co_names:
            self.visit(known.get(name))
            for module in modules:
                if _is_ours(module):
                    self.visit(getattr(module, name, None))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._visit_code(constant, known)
            else:
                self.visit(constant)


def _is_ours(value: Any) -> bool:
    """Return True for a module, class or function of this package."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    return name.split(".")[0] == _PACKAGE
