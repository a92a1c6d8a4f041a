"""A worker of a launch, in LLVM IR: it takes one item after the other, from those that no other worker has taken yet.

Taichi makes plain additions of atomic ones where it sees no loop that threads share, so the counter is not its affair.
While a worker is at it, denormal results are zero, as they are in Taichi's own threads: bit 15 of MXCSR (Intel 64
Architectures Developer's Manual, volume 1, section 10.2.3.3). They take a processor a hundred cycles each, and a result
must not depend on the thread that computes it.
"""

from .ir import ENTRY

TAKEN, COUNT, ITEM = 32, 40, 48
"""Bytes from the start of a context to the addresses of three integers, behind what Taichi knows of it: how many items
are taken, how many there are, and where to write which one is taken."""
BEFORE = -1
"""Item that every worker takes before all others: what it has to prepare."""
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
    """The module whose entry works on one item, with an entry that works on items until none is left."""
    return text.replace(f"@{ENTRY}(", f"@{ENTRY}_item(", 1) + _WORKER
