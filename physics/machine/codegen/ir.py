"""Editing of Taichi's optimised LLVM IR as text, so that a kernel becomes a separate module in an object file.

A kernel of Taichi is a function of a context (`RuntimeContext` in taichi/program/context.h). The context holds a
pointer to the arguments, one to the runtime with the roots of the fields, a thread number, and a pointer to the buffer
for results. No kernel of the solver returns anything, so here the last pointer holds the address of a table of
functions instead: `emit_call` lets a kernel call one of them with its context.
"""

import re

ENTRY = "tumble_entry"
"""Name of the function that `stand_alone` makes of a kernel."""
RESULT_OFFSET = 24
"""Bytes from the start of a context to the pointer to its results."""
_MARK = 0x7A11 << 48
"""Added to a function's number to form an address that no program has; `_through_table` finds it in the text."""


def emit_call(number: int) -> None:
    """Emit, into the kernel that is being traced, a call of function `number` of the context's table.

    The number is an argument too, because Taichi recognises kernels that it has compiled before by arguments, not by
    addresses.
    """
    from taichi._lib import core
    from taichi.lang import impl
    from taichi.lang.expr import Expr, make_expr_group

    runtime, nothing, argument = impl.get_runtime(), make_expr_group([]), make_expr_group(Expr(number))
    place = core.DebugInfo(runtime.get_current_src_info())
    runtime.compiling_callable.ast_builder().insert_external_func_call(
        _MARK + number, "", "", "", argument, nothing, place
    )


def stand_alone(text: str) -> str:
    """Return the module of a kernel with one task, with the task named ENTRY and calls made through the table.

    Raises:
        ValueError: the kernel has several tasks, or a parallel loop, which only Taichi's own threads could run.
    """
    tasks = re.findall(r"^define (?!internal)[^@\n]*@(\w+)\(ptr [^)]*(%[\w.]+)\)", text, re.MULTILINE)
    if len(tasks) != 1:
        raise ValueError(f"a stage is one task of a kernel, without a parallel loop; this one has {tasks}")
    name, context = tasks[0]
    return re.sub(rf"@{name}\b", f"@{ENTRY}", _through_table(text, context))


def _through_table(text: str, context: str) -> str:
    """Replace calls of marked addresses by calls through the table of the entry's context."""
    # each call loads the function's address from the table, and passes the kernel's own context
    calls = 0

    def through_table(match: re.Match[str]) -> str:
        nonlocal calls
        number, calls = int(match[1]) - _MARK, calls + 1
        at, table, place, function = (f"%call{calls}.{part}" for part in ("at", "table", "place", "function"))
        return (
            f"{at} = getelementptr i8, ptr {context}, i64 {RESULT_OFFSET}\n"
            f"  {table} = load ptr, ptr {at}, align 8\n"
            f"  {place} = getelementptr ptr, ptr {table}, i64 {number}\n"
            f"  {function} = load ptr, ptr {place}, align 8\n"
            f"  call void {function}(ptr {context})"
        )

    return re.sub(r"(?:tail )?call void inttoptr \(i64 (\d+) to ptr\)\([^)]*\)(?: #\d+)?", through_table, text)
