"""Kernels with one loop that threads share: Taichi's optimised LLVM IR of them, made fit to stand alone (`ir`).

Taichi makes several tasks of such a kernel. Serial ones compute the range of the loop and store it among the runtime's
temporaries; the last one cuts the range into blocks and hands them to the runtime's pool of threads (`parallel_for`;
LLVMRuntime and cpu_parallel_range_for in taichi/runtime/llvm/runtime_module/runtime.cpp). Here serial tasks are one
function. The last task is another one, which every thread calls: where the pool was there is a counter, from which
each call takes the numbers of blocks until there are no more.
"""

import re
from collections.abc import Sequence
from typing import Any

from .ir import ENTRY

BEFORE = "tumble_before"
"""Name of the function that is called once before the threads call ENTRY."""
COUNTER_OFFSET, TEMPORARIES_OFFSET, RUNTIME_BYTES = 8280, 32872, 32880
"""Bytes from the start of LLVMRuntime to its pointer to the pool of threads, here to the counter, and to its pointer to
the temporaries; room for as much of it as code reads."""
_POOL, _TEMPORARIES = 9, 14
"""Places of these pointers among LLVMRuntime's members."""
TEMPORARIES_BYTES = 1 << 20
"""Room for temporaries in Taichi (taichi_global_tmp_buffer_size)."""
_TYPES = {"i32": "i32", "f32": "float", "f64": "double"}
"""Names of types of numbers, in Taichi and in LLVM."""
_LAUNCH = r"call void %[\w.]+(?=\([^()]*@cpu_parallel_range_for_task\))"
"""The call by which the last task hands its blocks to the pool of threads."""
_TASK = r"^define (?!internal)[^@\n]*@(\w+_kernel_(\d+)_(\w+))\("
"""The first line of a task: its name, number and kind."""

_SHARE = """
; Do blocks of a loop whose numbers nobody else has taken from the counter.
define internal void @tumble_share(ptr %counter, i32 %blocks, i32 %threads, ptr %loop, ptr %do_block) {
entry:
  br label %next
next:
  %block = atomicrmw add ptr %counter, i32 1 monotonic
  %more = icmp slt i32 %block, %blocks
  br i1 %more, label %do, label %end
do:
  call void %do_block(ptr %loop, i32 0, i32 %block)
  br label %next
end:
  ret void
}
"""


def loop_stands_alone(text: str) -> str:
    """The module of a kernel whose last task is its one parallel loop, with the functions BEFORE and ENTRY.

    Raises:
        ValueError: the kernel has other tasks, or Taichi's runtime is another one than the known.
    """
    tasks = sorted((int(m[2]), m[3], m[1]) for m in re.finditer(_TASK, text, re.MULTILINE))
    kinds = [kind for _, kind, _ in tasks]
    if kinds[-1:] != ["range_for"] or set(kinds[:-1]) - {"serial"}:
        raise ValueError(f"a kernel over tensors is one loop, with serial tasks before it; this one has {kinds}")
    _check_runtime(text)
    text, calls = re.subn(_LAUNCH, "call void @tumble_share", text)
    if calls != 1:
        raise ValueError(f"the loop of a kernel over tensors is shared at one place; here are {calls}")
    *serial, loop = (f"  call void @{name}(ptr %context)\n" for *_, name in tasks)
    return text + _SHARE + _function(BEFORE, serial) + _function(ENTRY, [loop])


def _function(name: str, calls: list[str]) -> str:
    return f"\ndefine void @{name}(ptr %context) {{\n{''.join(calls)}  ret void\n}}\n"


def _check_runtime(text: str) -> None:
    """Raise ValueError unless the pointers of LLVMRuntime that are used here lie where they are expected."""
    from .llvm import llvm, target_machine

    types = "\n".join(re.findall(r"^%struct\.\S+ = type .*$", text, re.MULTILINE))
    module = llvm().parse_assembly(f"{types}\n@runtime = external global %struct.LLVMRuntime")
    runtime, data = module.get_global_variable("runtime").global_value_type, target_machine().target_data
    offsets = tuple(data.get_element_offset(runtime, place) for place in (_POOL, _TEMPORARIES))
    if offsets != (COUNTER_OFFSET, TEMPORARIES_OFFSET):
        raise ValueError(f"Taichi's runtime has its pool of threads and its temporaries elsewhere: at {offsets}")


def arguments_type(annotations: Sequence[Any]) -> str:
    """The type, in LLVM, of the arguments that a kernel has by its annotations, as `Layout` lays them out.

    Arrays are structures of a shape and an address.
    """
    return f"{{ {', '.join(_argument_type(annotation) for annotation in annotations)} }}"


def _argument_type(annotation: Any) -> str:
    if hasattr(annotation, "ndim"):
        return f"{{ {{ {', '.join(['i32'] * annotation.ndim)} }}, ptr }}"
    return _TYPES[str(annotation)]
