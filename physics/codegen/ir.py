"""Taichi's optimised LLVM IR as text, made fit to stand alone in an object file.

A kernel of Taichi is a function of a context (`RuntimeContext` in taichi/program/context.h): a pointer to its
arguments, one to the runtime, which has the roots of the fields, a thread's number, and a pointer to room for results.
No kernel of the solver returns anything, so the last one points to a table of functions here: `emit_call` has a kernel
call one of them with its own context.
"""

import re
from typing import Any

from .elf import load_object

ENTRY = "tumble_entry"
"""Name of the function that `stand_alone` makes of the kernel."""
RESULT_OFFSET = 24
"""Bytes from the start of a context to the pointer to results."""
_MARK = 0x7A11 << 48
"""Added to the number of a function: an address that no program has, so that the text can be searched for it."""


def emit_call(number: int) -> None:
    """Put a call of function `number` of the context's table into the kernel that is being traced."""
    from taichi._lib import core
    from taichi.lang import impl
    from taichi.lang.expr import make_expr_group

    runtime, nothing = impl.get_runtime(), make_expr_group([])
    place = core.DebugInfo(runtime.get_current_src_info())
    runtime.compiling_callable.ast_builder().insert_external_func_call(
        _MARK + number, "", "", "", nothing, nothing, place
    )


def stand_alone(text: str) -> str:
    """The module of one kernel with one task: that is named ENTRY, and calls go through the context's table.

    Raises:
        ValueError: the module has not the one task; its loops would have to be shared among threads by Taichi.
    """
    tasks = re.findall(r"^define (?!internal)[^@\n]*@(\w+)\(ptr [^)]*(%[\w.]+)\)", text, re.MULTILINE)
    if len(tasks) != 1:
        raise ValueError(f"a stage is one task of a kernel, without a parallel loop; this one has {tasks}")
    name, context = tasks[0]
    return re.sub(rf"@{name}\b", f"@{ENTRY}", _through_table(text, context))


def _through_table(text: str, context: str) -> str:
    """Turn calls of marked addresses into calls through the table of the entry's context."""
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

    return re.sub(r"(?:tail )?call void inttoptr \(i64 (\d+) to ptr\)\(\)(?: #\d+)?", through_table, text)


def machine_code(text: str) -> bytes:
    """An object file for this processor of a module's text."""
    from .llvm import llvm, target_machine

    module = llvm().parse_assembly(text)
    module.verify()
    code: Any = target_machine().emit_object(module)
    return bytes(code)


def load(code: bytes, *more: str) -> list[int]:
    """Load an object file of `machine_code` into this process, for ever; addresses of ENTRY and of more functions."""
    functions = load_object(code)
    return [functions[name] for name in (ENTRY, *more)]
