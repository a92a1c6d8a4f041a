"""Taichi in the process that compiles: it is started for one precision, and asked for the code of kernels."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from taichi.lang import impl

from ..process.compiler import start_taichi
from ..process.tracing import quick_tracing


def start_to_compile(real: str, **more: Any) -> None:
    """Start Taichi with numbers in kernels of this type, "f32" or "f64", and with further arguments of `ti.init`."""
    start_taichi("cpu", real, 1, offline_cache=False, print_kernel_llvm_ir_optimized=True, **more)


def optimised(kernel: Any, arguments: Sequence[Any]) -> str:
    """The text of a kernel's code as Taichi has optimised it, which it writes to the working directory.

    Args:
        kernel: the decorated function.
        arguments: those of some call of it, for their types.
    """
    for path in Path().glob("*.ll"):
        path.unlink()
    program = impl.get_runtime().prog
    with warnings.catch_warnings(), quick_tracing():
        warnings.filterwarnings("ignore", message=".*Calling non-taichi function", category=SyntaxWarning)
        primal = kernel._primal
        traced = primal.compiled_kernels[primal.ensure_compiled(*arguments)]
        compiled = program.compile_kernel(program.config(), program.get_device_caps(), traced)
    for path in Path().glob("*.ll"):
        _texts[id(compiled)] = compiled, path.read_text()
    return _texts[id(compiled)][1]


_texts: dict[int, tuple[Any, str]] = {}
"""Of all that was compiled: of two kernels with the same code Taichi compiles the first alone, and writes one file."""
