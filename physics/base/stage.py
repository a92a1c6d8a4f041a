"""Stages: the functions that a step consists of, each with the features and the fields that it needs.

A stage is a function of (model, work). On a GPU one kernel contains the code of all its stages. On a CPU each stage is
compiled separately, and shared by all models that have the same features as far as the stage reads them
(`run/programs.py`).

A stage declares which fields of the workspace it loads and stores, in any kernel that has it; a test traces all stages
and compares. Fields of the model are not declared.
"""

from collections.abc import Callable
from typing import Any

from .hooks import Hook
from .math import func

Names = str | tuple[str, ...]
"""Names of fields, separated by spaces; `slip_*` stands for all that begin so. Long lists are several strings."""
STAGES: dict[str, "Stage"] = {}
"""All declared stages of a step, by their names."""
TURN = "turn"
"""The name of the unit that calls the stages: it takes a tile through a launch (`drivers.tile_pass`)."""


class Stage:
    """A function of (model, work) that kernels call.

    Args:
        function: the function, decorated by `func`.
        when: returns True if a kernel with given features has this stage; None: every kernel has it.
        reads: fields that it loads.
        writes: fields that it stores.
        updates: fields that it loads and stores.
        hooks: hooks whose entries it calls; their declarations are added to its own.
        registry: the stages of which it is one, by name; None: STAGES, those of a step.

    Attributes:
        name: the name of the function.
        declared: `reads`, `writes` and `updates` as they were given; `state.declared` finds the fields.
    """

    _is_wrapped_kernel = True  # a kernel calls it while it is traced

    def __init__(
        self,
        function: Callable[[Any, Any], None],
        when: Callable[[Any], bool] | None,
        reads: Names = "",
        writes: Names = "",
        updates: Names = "",
        hooks: tuple[Hook, ...] = (),
        registry: "dict[str, Stage] | None" = None,
    ) -> None:
        registry = STAGES if registry is None else registry
        self.name: str = function.__name__
        self.__doc__ = function.__doc__
        self.function, self.when, self.hooks = function, when, hooks
        self.declared = reads, writes, updates
        assert self.name not in registry or registry[self.name].function.__module__ == function.__module__, self.name
        registry[self.name] = self

    def wanted(self, has: Any) -> bool:
        """Return True if a kernel with these features has the stage."""
        return self.when is None or self.when(has)

    def __call__(self, model: Any, work: Any) -> None:
        """Emit the stage's code into the kernel that is being traced, or a call of it if it is compiled as a unit."""
        if self.wanted(model.has):
            if work.call_stage is None:
                self.function(model, work)
            else:
                work.call_stage(self)


def stage(
    when: Callable[[Any], bool] | None = None,
    *,
    reads: Names = "",
    writes: Names = "",
    updates: Names = "",
    hooks: tuple[Hook, ...] = (),
    registry: dict[str, Stage] | None = None,
) -> Callable[[Callable[[Any, Any], None]], Stage]:
    """Declare a function of (model, work) as a stage, for kernels to call; see `Stage` for the arguments."""
    return lambda function: Stage(func(function), when, reads, writes, updates, hooks, registry)


def piece(*, reads: Names = "", writes: Names = "", updates: Names = "") -> Callable[[Callable[..., Any]], Any]:
    """Declare a function for a hook, with the fields that it adds to the calling stages' declarations."""

    def declare(function: Callable[..., Any]) -> Any:
        inlined = func(function)
        vars(inlined)["declared"] = reads, writes, updates
        return inlined

    return declare
