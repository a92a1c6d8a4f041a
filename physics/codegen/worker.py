"""The loop of a worker, in LLVM IR: a thread takes items from a counter that all workers share.

The counter is incremented here, because Taichi compiles an atomic addition outside its own parallel loops as a plain
one. While a worker runs, denormal results are flushed to zero, as in Taichi's own threads: bit 15 of MXCSR (Intel 64
Architectures Developer's Manual, volume 1, section 10.2.3.3). Denormals take a processor about a hundred cycles each,
and a result must not depend on the thread that computes it.
"""

from .ir import ENTRY

TAKEN, COUNT, ITEM = 32, 40, 48
"""Byte offsets, in a context, of the addresses of three integers, after Taichi's own members: the number of items
taken, the number of items, and the item that this worker runs."""
BEFORE = -1
"""Item number with which every worker calls the entry first, to prepare its scratch."""
_WORKER = f"""
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @{ENTRY}(ptr %context) {{
begin:
  %before = alloca i32
  %within = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  %state = load i32, ptr %before
  %flushing = or i32 %state, 32768
  store i32 %flushing, ptr %within
  call void @llvm.x86.sse.ldmxcsr(ptr %within)
  %taken.place = getelementptr i8, ptr %context, i64 {TAKEN}
  %taken = load ptr, ptr %taken.place
  %count.place = getelementptr i8, ptr %context, i64 {COUNT}
  %count = load ptr, ptr %count.place
  %item.place = getelementptr i8, ptr %context, i64 {ITEM}
  %item = load ptr, ptr %item.place
  br label %work

work:                                             ; on an item
  %at = phi i32 [ {BEFORE}, %begin ], [ %next, %take ]
  store i32 %at, ptr %item
  call void @{ENTRY}_item(ptr %context)
  br label %take

take:                                             ; another item, if there is one
  %next = atomicrmw add ptr %taken, i32 1 seq_cst
  %all = load i32, ptr %count
  %more = icmp slt i32 %next, %all
  br i1 %more, label %work, label %end

end:
  call void @llvm.x86.sse.ldmxcsr(ptr %before)
  ret void
}}
"""


def of_workers(text: str) -> str:
    """Return the module with its entry, which runs one item, wrapped in one that runs items until all are taken."""
    return text.replace(f"@{ENTRY}(", f"@{ENTRY}_item(", 1) + _WORKER
