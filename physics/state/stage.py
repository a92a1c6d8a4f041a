"""Stages: the functions that a step is made of, each with the code and the quantities that it needs.

A stage is a function of (model, work). A GPU's kernel has the code of all its stages; on a CPU each stage is machine
code of its own, which all models share that ask for the same features in it (`drivers/programs.py`).

A stage declares which fields of the workspace it loads and stores, in any kernel that has it; a test traces all stages
and compares. Fields of the model are not declared, nor further digits (`state.fields.RESTS`), as they go with a field.
"""

from collections.abc import Callable
from fnmatch import filter as matching
from typing import Any

from ..math import func
from ..model.features import Features
from .fields import PARAMETERS, RESTS, SCRATCH, SCRATCH_INDICES

FIELDS = tuple(field.name for field in (*SCRATCH, *SCRATCH_INDICES) if field not in (*RESTS, *PARAMETERS))
"""Names that stages may declare."""
Names = str | tuple[str, ...]
"""Names of fields, separated by spaces; `slip_*` stands for all that begin so. Long lists are several strings."""
STAGES: dict[str, "Stage"] = {}
"""All stages that have been declared, by their names."""
TURN = "turn"
"""Name of what calls them: it takes tiles of environments through their turns (`drivers/turn.py`)."""


class Stage:
    """A function of (model, work) that kernels call.

    Args:
        function: the function, decorated by `func`.
        when: of the features of a kernel, whether it has this stage; None: every kernel has it.
        reads: fields that it loads.
        writes: fields that it stores.
        updates: fields that it loads and stores.

    Attributes:
        name: the function's.
        reads, writes: all fields that it loads, and all that it stores.
    """

    _is_wrapped_kernel = True  # a kernel calls it while it is traced

    def __init__(
        self,
        function: Callable[[Any, Any], None],
        when: Callable[[Features], bool] | None,
        reads: Names = "",
        writes: Names = "",
        updates: Names = "",
    ) -> None:
        self.name: str = function.__name__
        self.__doc__ = function.__doc__
        self.function, self.when, self.declared = function, when, (reads, writes, updates)
        both = fields_named(updates)
        self.reads, self.writes = fields_named(reads) | both, fields_named(writes) | both
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


def fields_named(names: Names) -> frozenset[str]:
    """The fields that a declaration names.

    Raises:
        ValueError: there is no such field.
    """
    words = (names if isinstance(names, str) else " ".join(names)).split()
    found = {word: [word] if word in FIELDS else matching(FIELDS, word) for word in words}
    for word, fields in found.items():
        if not fields:
            raise ValueError(f"a stage declares {word!r}, and the workspace has no field of this name")
    return frozenset().union(*found.values())


def stage(
    when: Callable[[Features], bool] | None = None, *, reads: Names = "", writes: Names = "", updates: Names = ""
) -> Callable[[Callable[[Any, Any], None]], Stage]:
    """Declare a function of (model, work) as a stage, for kernels to call; see `Stage` for the arguments."""
    return lambda function: Stage(func(function), when, reads, writes, updates)
