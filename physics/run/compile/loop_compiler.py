"""Compilation of kernels over tensors into machine code, in the compiling process (`loop_programs`)."""

import gc
from importlib import import_module
from typing import Any

import numpy as np

from ...machine.codegen.llvm import machine_code
from ...machine.codegen.loops import arguments_type, loop_stands_alone
from ...machine.codegen.vectors import OPAQUE_POINTERS
from ...machine.compiler import ask
from .taichi_code import optimised, start_to_compile

_NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u8": np.uint8}


class LoopCompiler:
    """Taichi, started for kernels whose real literals have one type.

    Vectors are split into scalars, Taichi's default: they are vectors of space, with three numbers.
    """

    def __init__(self, literals: str) -> None:
        gc.disable()  # a tenth of the time; the process ends after a few kernels
        ask(OPAQUE_POINTERS)
        start_to_compile(literals)
        self._literals = literals

    def answer(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Compile a kernel; return an empty answer and the machine code."""
        home, function, *arguments = job["kernels"][job["unit"]]
        kernel = getattr(import_module(home), function)(*arguments)
        annotations = [argument.annotation for argument in kernel._primal.arguments]
        text = optimised(kernel, [self._sample(annotation) for annotation in annotations])
        module = loop_stands_alone(text)
        if arguments_type(annotations) not in text:  # from which addresses of arguments are computed
            raise ValueError(f"{function}: Taichi lays its arguments out otherwise than {arguments_type(annotations)}")
        return {}, machine_code(module)

    def _sample(self, annotation: Any) -> Any:
        """Return an argument of the least size, from which Taichi reads its type."""
        if hasattr(annotation, "ndim"):
            return np.zeros((1,) * annotation.ndim, _NUMPY[str(annotation.dtype)])
        if str(annotation) not in ("i32", self._literals):
            raise ValueError(f"a number among the arguments is an i32 or has the literals' type, not {annotation}")
        return 0 if str(annotation) == "i32" else 0.0
