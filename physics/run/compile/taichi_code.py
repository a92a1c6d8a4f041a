"""Kernels compiled by Taichi. In the compiling process it is started for one precision, and gives optimised code."""

import gc
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from taichi.lang import impl

from ...machine.compiler import start_taichi


def start_to_compile(real: str, **more: Any) -> None:
    """Start Taichi with numbers in kernels of this type, "f32" or "f64", and with further arguments of `ti.init`."""
    start_taichi("cpu", real, 1, offline_cache=False, print_kernel_llvm_ir_optimized=True, **more)


def optimised(kernel: Any, arguments: Sequence[Any]) -> str:
    """Return the text of a kernel's optimised LLVM IR, which Taichi writes to the working directory.

    Args:
        kernel: the decorated function.
        arguments: arguments of any call of it, for their types.
    """
    for path in Path().glob("*.ll"):
        path.unlink()
    _, code = compiled(kernel, arguments)
    for path in Path().glob("*.ll"):
        _texts[id(code)] = code, path.read_text()
    return _texts[id(code)][1]


def compiled(kernel: Any, arguments: Sequence[Any]) -> tuple[Any, Any]:
    """Return the trace of a kernel, from which launch contexts are made, and its machine code.

    Args:
        kernel: the decorated function.
        arguments: arguments of any call of it, for their types.
    """
    program = impl.get_runtime().prog
    with warnings.catch_warnings(), quick_tracing():
        warnings.filterwarnings("ignore", message=".*Calling non-taichi function", category=SyntaxWarning)
        primal = kernel._primal
        traced = primal.compiled_kernels[primal.ensure_compiled(*arguments)]
        return traced, program.compile_kernel(program.config(), program.get_device_caps(), traced)


_texts: dict[int, tuple[Any, str]] = {}
"""The texts of all compiled kernels: of two kernels with the same code Taichi compiles one, and writes one file."""


@contextmanager
def quick_tracing() -> Iterator[None]:
    """While a kernel is traced, reduce the place of an expression to its file and line, and collect no garbage.

    Taichi notes the place of each of some twenty thousand expressions, in case one of them fails, and underlines it in
    a quotation of the source wrapped to 80 columns. The expressions all live until the kernel is compiled, so there is
    no garbage to be found among them.
    """
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    whole, collects = ASTTransformerContext.get_pos_info, gc.isenabled()
    ASTTransformerContext.get_pos_info = _position
    gc.disable()
    try:
        yield
    finally:
        ASTTransformerContext.get_pos_info = whole
        if collects:
            gc.enable()


def _position(context: Any, node: Any) -> str:
    return f'File "{context.file}", line {node.lineno + context.lineno_offset}, in {context.func.func.__name__}:\n'
