"""Taichi's way from Python source to its own code, made quicker: half a second of every start, and nothing else."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quick_tracing() -> Iterator[None]:
    """While a kernel is traced, let the place of an expression be its file and line alone, and collect no garbage.

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
