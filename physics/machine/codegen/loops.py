"""Kernels with one parallel loop: Taichi's optimised LLVM IR, edited to become a separate module (compare `ir`).

Taichi makes several tasks of such a kernel. Serial tasks compute the range of the loop and store it among the runtime's
temporaries. The last task cuts the range into blocks and hands them to the runtime's thread pool (`parallel_for`;
LLVMRuntime and cpu_parallel_range_for in taichi/runtime/llvm/runtime_module/runtime.cpp). Here the serial tasks become
the function BEFORE, and the last task becomes ENTRY, which every thread calls. The pointer to the thread pool points to
a counter instead; each call takes block numbers from it until all blocks are taken.
"""

import re
from collections.abc import Sequence
from typing import Any

from .ir import ENTRY
from .llvm import llvm, target_machine

BEFORE = "tumble_before"
"""Name of the function that is called once, before the threads call ENTRY."""
COUNTER_OFFSET, TEMPORARIES_OFFSET, RUNTIME_BYTES = 8280, 32872, 32880
"""Bytes from the start of LLVMRuntime to the pointer to its thread pool (here the counter), and to the pointer to its
temporaries; size of the part of LLVMRuntime that the code reads."""
_POOL, _TEMPORARIES = 9, 14
"""Indices of these two pointers among LLVMRuntime's members."""
TEMPORARIES_BYTES = 1 << 20
"""Size of Taichi's buffer of temporaries (taichi_global_tmp_buffer_size)."""
_TYPES = {"i32": "i32", "f32": "float", "f64": "double"}
"""LLVM's names of Taichi's number types."""
_LAUNCH = r"call void %[\w.]+(?=\([^()]*@cpu_parallel_range_for_task\))"
"""The call by which the last task hands its blocks to the thread pool."""
_TASK = r"^define (?!internal)[^@\n]*@(\w+_kernel_(\d+)_(\w+))\("
"""The first line of a task: its name, number and kind."""

_SHARE = """
; Run the blocks of a loop whose numbers no other thread has taken from the counter.
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
    """Return the module of a kernel whose last task is its one parallel loop, with functions BEFORE and ENTRY added.

    Raises:
        ValueError: the kernel has other tasks, or the layout of Taichi's runtime is not the expected one.
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


def body_of(text: str) -> str:
    """Return the name of the function that does the work of a loop on one item.

    Raises:
        ValueError: there is no such function.
    """
    found = re.search(r"^define internal void @(function_body[.\w]*)\(", text, re.MULTILINE)
    if not found:
        raise ValueError("the loop of a kernel over tensors has no function for an item")
    return found[1]


def _function(name: str, calls: list[str]) -> str:
    return f"\ndefine void @{name}(ptr %context) {{\n{''.join(calls)}  ret void\n}}\n"


def _check_runtime(text: str) -> None:
    """Raise ValueError unless the two pointers of LLVMRuntime lie at the expected offsets."""
    types = "\n".join(re.findall(r"^%struct\.\S+ = type .*$", text, re.MULTILINE))
    module = llvm().parse_assembly(f"{types}\n@runtime = external global %struct.LLVMRuntime")
    runtime, data = module.get_global_variable("runtime").global_value_type, target_machine().target_data
    offsets = tuple(data.get_element_offset(runtime, place) for place in (_POOL, _TEMPORARIES))
    if offsets != (COUNTER_OFFSET, TEMPORARIES_OFFSET):
        raise ValueError(f"Taichi's runtime has its pool of threads and its temporaries elsewhere: at {offsets}")


def arguments_type(annotations: Sequence[Any]) -> str:
    """Return the LLVM type of the arguments of a kernel with these annotations, in the layout of `Layout`.

    An array is a structure of its shape and its address.
    """
    return f"{{ {', '.join(_argument_type(annotation) for annotation in annotations)} }}"


def _argument_type(annotation: Any) -> str:
    if hasattr(annotation, "ndim"):
        return f"{{ {{ {', '.join(['i32'] * annotation.ndim)} }}, ptr }}"
    return _TYPES[str(annotation)]
