"""Stages: the functions that a step is made of, each with the code and the quantities that it needs.

A stage is a function of (model, work). A GPU's kernel has the code of all its stages; on a CPU each stage is machine
code of its own, which all models share that ask for the same features in it (`drivers/programs.py`).
"""

from collections.abc import Callable
from typing import Any

from ..model.features import Features

STAGES: dict[str, "Stage"] = {}
"""All stages that have been declared, by their names."""
TURN = "turn"
"""Name of what calls them: it takes tiles of environments through their turns (`drivers/turn.py`)."""


class Stage:
    """A function of (model, work) that kernels call.

    Args:
        function: the function, decorated by `ti.func`.
        when: of the features of a kernel, whether it has this stage; None: every kernel has it.

    Attributes:
        name: the function's.
    """

    _is_wrapped_kernel = True  # a kernel calls it while it is traced

    def __init__(self, function: Callable[[Any, Any], None], when: Callable[[Features], bool] | None) -> None:
        self.name: str = function.__name__
        self.__doc__ = function.__doc__
        self.function, self.when = function, when
        assert self.name not in STAGES or STAGES[self.name].function.__module__ == function.__module__, self.name
        STAGES[self.name] = self

    def wanted(self, has: Features) -> bool:
        """Whether a kernel with these features has the stage."""
        return self.when is None or self.when(has)

    def __call__(self, model: Any, work: Any) -> None:
        """Put the stage's code into the kernel that is being traced, or a call of it where it is compiled apart."""
        if self.wanted(model.has):
            if work.call_stage is None:
                self.function(model, work)
            else:
                work.call_stage(self)


def stage(when: Callable[[Features], bool] | None = None) -> Callable[[Callable[[Any, Any], None]], Stage]:
    """Declare a function of (model, work), decorated by `ti.func`, as a stage."""
    return lambda function: Stage(function, when)
