"""A torch device of our own: numbers that lie on it are not on the processor, as on a GPU, though they are.

Torch itself refuses to mix its tensors with the processor's, so what would fail on a GPU fails here. Every operation
is the processor's, on the tensor inside (`raw`). `waits` notes what a GPU would have to be waited for: a number that
Python asks for, a copy from or to the processor, a shape that depends on numbers.
"""

import functools
from typing import Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "far"
waits: list[str] = []
"""Operations for which a GPU would have to be waited for, since the list was cleared."""
_WAITING = ("aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal")
_DIRECT = (
    *(
        "alias",
        "detach",
        "diagonal",
        "expand",
        "permute",
        "select.int",
        "slice.Tensor",
        "split.Tensor",
        "split_with_sizes",
    ),
    *("squeeze", "squeeze.dim", "t", "transpose.int", "unbind.int", "unsqueeze", "view", "_unsafe_view", "unfold"),
    *("arange", "arange.start", "arange.start_step"),
)
"""Operations that torch would do by strides, which only the tensor inside has, or by growing an empty tensor."""
_libraries: list[torch.library.Library] = []


class Far(torch.Tensor):
    """A tensor on the device.

    Attributes:
        raw: the tensor on the processor that has its numbers.
    """

    raw: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # else what comes back to the processor is a `Far`, too

    @staticmethod
    def of(raw: torch.Tensor) -> "Far":
        """The tensor whose numbers are those of `raw`."""
        tensor = torch._C._acc.create_empty_tensor(tuple(raw.shape), raw.dtype)
        tensor.__class__ = Far
        tensor.raw = raw
        return tensor


def near(value: Any) -> Any:
    """What an operation of the processor takes in the place of an argument."""
    if isinstance(value, Far):
        return value.raw
    if isinstance(value, torch.device) and value.type == NAME:
        return torch.device("cpu")
    return value


def _operate(operation: Any, *arguments: Any, **options: Any) -> Any:
    """Any operation, done by the processor."""
    name = operation.name()
    if name in _WAITING or (name == "aten::index.Tensor" and _has_mask(arguments[1])):
        waits.append(name)
    if name == "aten::_copy_from":
        source, target = arguments[:2]
        if not (isinstance(source, Far) and isinstance(target, Far)):
            waits.append(name)
        near(target).copy_(near(source))
        return target
    if name == "aten::view":  # torch thinks that there are no gaps; a GPU would have copied
        operation = torch.ops.aten.reshape.default
    given = {id(value.raw): value for value in (*arguments, *options.values()) if isinstance(value, Far)}
    numbers = zip(arguments, operation._schema.arguments, strict=False)
    arguments = tuple(_scalar(a) if isinstance(a, (int, float)) and _is_tensor(s) else a for a, s in numbers)
    result = operation(*tree_map(near, arguments), **tree_map(near, options))

    def far(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or isinstance(value, Far):
            return value
        if id(value) not in given:
            return Far.of(value)
        if given[id(value)].shape != value.shape:  # torch begins with an empty result, which then grows
            given[id(value)].data = Far.of(value)
        return given[id(value)]

    return tree_map(far, result)


def _scalar(number: float) -> torch.Tensor:
    """A number as a tensor that has all of its digits; of no dimension, it changes no result's precision."""
    return torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else None)


def _is_tensor(argument: Any) -> bool:
    """Whether a schema says so; torch gives Python's numbers there too."""
    return str(argument.type) in ("Tensor", "Optional[Tensor]")


def _has_mask(indices: Any) -> bool:
    return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in indices)


def register() -> torch.device:
    """Make the device known to torch, once in a process."""
    if not _libraries:
        _setup_privateuseone_for_python_backend(NAME)
        everything, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
        everything.fallback(_operate, "PrivateUse1")
        for name in _DIRECT:
            operation = torch.ops.aten
            for part in name.split(".") if "." in name else (name, "default"):
                operation = getattr(operation, part)
            aten.impl(name, functools.partial(_operate, operation), "PrivateUse1")
        _libraries.extend((everything, aten))
    return torch.device(NAME, 0)
