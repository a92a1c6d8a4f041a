"""Kernels are traced quickly, and what fails while they are traced still says where."""

import gc
import inspect

import pytest
import taichi as ti
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

from tumble.physics.machine.runtime import init
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.run.compile.taichi_code import quick_tracing


def test_what_quick_tracing_changes_is_put_back_even_after_an_error():
    before = ASTTransformerContext.get_pos_info, gc.isenabled()
    with pytest.raises(ZeroDivisionError), quick_tracing():
        assert ASTTransformerContext.get_pos_info is not before[0]
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert (ASTTransformerContext.get_pos_info, gc.isenabled()) == before


def test_garbage_stays_uncollected_where_it_was():
    gc.disable()
    try:
        with quick_tracing():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_in_a_kernel_names_file_line_and_function():
    init()

    @ti.kernel
    def faulty() -> ti.i32:
        return no_such_name  # noqa: F821

    with pytest.raises(ti.TaichiCompilationError) as raised, quick_tracing():
        in_taichis_thread(faulty)
    line = inspect.getsourcelines(faulty)[1] + 2
    assert f'File "{__file__}", line {line}, in faulty' in str(raised.value)
