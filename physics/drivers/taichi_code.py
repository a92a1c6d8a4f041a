"""Taichi in the compiling process: started for one precision, it gives the optimised code of kernels."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import taichi as ti
from taichi.lang import impl

from ..process.compiler import NO_RUNTIME_UNROLLING, NO_STRENGTH_REDUCTION, SHORT_ROTATIONS, ask
from ..process.libraries import NO_NEWS, a_home, variables
from ..process.tracing import quick_tracing


def start_taichi(dtype: Any, **more: Any) -> None:
    """Start Taichi with this type of real literals, and with further arguments of `ti.init`."""
    for setting in (NO_STRENGTH_REDUCTION, NO_RUNTIME_UNROLLING, SHORT_ROTATIONS):
        ask(setting)
    with variables(NO_NEWS | a_home()):
        ti.init(
            arch=ti.cpu,
            default_fp=dtype,
            cpu_max_num_threads=1,
            log_level=ti.ERROR,
            offline_cache=False,
            fast_math=False,  # results must not depend on the width of the lanes
            advanced_optimization=False,
            cfg_optimization=False,  # five times shorter compilation, no slower code
            make_cpu_multithreading_loop=False,
            print_kernel_llvm_ir_optimized=True,
            **more,
        )


def optimised(kernel: Any, arguments: Sequence[Any]) -> str:
    """Return the text of a kernel's optimised LLVM IR, which Taichi writes to the working directory.

    Args:
        kernel: the decorated function.
        arguments: arguments of any call of it, for their types.
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
"""The texts of all compiled kernels: of two kernels with the same code Taichi compiles one, and writes one file."""
