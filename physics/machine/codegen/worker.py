"""The loop of a worker, in LLVM IR: a thread takes items from a counter that all workers share.

The counter is incremented here, because outside of parallel loops Taichi compiles an atomic addition as a plain
one. While a worker runs, denormal results are flushed to zero, as in Taichi's own threads. Denormals take a processor
about a hundred cycles each, and a result must not depend on the thread that computes it.
"""

from .ir import ENTRY
from .llvm import architecture

TAKEN, COUNT, ITEM = 32, 40, 48
"""Byte offsets, in a context, of the addresses of three integers, after Taichi's own members: the number of items
taken, the number of items, and the item that this worker runs."""
BEFORE = -1
"""Item number with which every worker calls the entry first, to prepare its scratch."""
_FLUSH = {
    "x86_64": (
        """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)""",
        """
  %before = alloca i32
  %within = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  %state = load i32, ptr %before
  %flushing = or i32 %state, 32768
  store i32 %flushing, ptr %within
  call void @llvm.x86.sse.ldmxcsr(ptr %within)""",
        "call void @llvm.x86.sse.ldmxcsr(ptr %before)",
    ),
    "aarch64": (
        """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)""",
        """
  %before = call i64 @llvm.aarch64.get.fpcr()
  %flushing = or i64 %before, 16777216
  call void @llvm.aarch64.set.fpcr(i64 %flushing)""",
        "call void @llvm.aarch64.set.fpcr(i64 %before)",
    ),
}
"""By architecture: functions that read and set the mode of floating-point arithmetic, the code that flushes denormal
results to zero, and the code that restores the mode. The flag is bit 15 of MXCSR (Intel 64 Architectures Developer's
Manual, volume 1, section 10.2.3.3), or bit 24 of FPCR (Arm Architecture Reference Manual for A-profile)."""
_WORKER = f"""
define void @{ENTRY}(ptr %context) {{
begin:FLUSH
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
  RESTORE
  ret void
}}
"""


def of_workers(text: str) -> str:
    """Return the module with its entry, which runs one item, wrapped in one that runs items until all are taken."""
    declarations, flush, restore = _FLUSH[architecture()]
    worker = declarations + _WORKER.replace("FLUSH", flush).replace("RESTORE", restore)
    return text.replace(f"@{ENTRY}(", f"@{ENTRY}_item(", 1) + worker
