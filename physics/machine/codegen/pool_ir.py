"""The code by which threads share the tasks of a launch, in LLVM IR: without the GIL, in a fraction of a microsecond.

One 64-bit word of the pool holds the launch number (upper half) and the number of its tasks not yet taken (lower half).
A thread takes a task by a compare-and-swap that decrements the lower half. So each task is taken once, a slow thread
cannot take a task of a later launch, and a late thread finds none. The caller takes tasks like the others, and waits
only for tasks that other threads have begun.

A thread without a task announces that it sleeps, checks once more for tasks, and then acquires a lock that is already
held. The launching thread changes the word first and reads the announcements afterwards; so either the sleeper sees the
tasks, or the launcher sees the announcement. To wake a thread is to clear its announcement and to release its lock: one
release per announcement, and one acquisition per release.

If another thread's launch is running, or the pool has no helpers (after a fork, at the end of the process), the caller
runs all tasks.
"""

from .llvm import architecture

_PAUSE = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32 1)"}
"""The instruction that lets a core rest while its thread waits, by architecture."""
_LOOKS = 1000
"""Checks before a thread sleeps, of a caller for the end of the last tasks, and of a helper for the next launch: 15 to
50 microseconds, as a pause takes 40 to 140 cycles. Threads mostly finish at about the same time, launches follow each
other, and sleeping and waking takes longer. (200 checks were measured too: an update of two networks of 64-64 on two
cores then takes 96 to 105 microseconds instead of 81 to 85; 4,000 are not better.)"""

_TYPES = """
; Every number that several threads write has cache lines of its own: 128 bytes, as processors fetch lines in pairs.
%Apart = type { i64, [120 x i8] }

; where a thread sleeps: whether it does (1 or 0), the lock it waits for, the pool
%Slot = type { i64, ptr, ptr, [104 x i8] }

; 0 the word, 1 tasks not finished, 2 1 while a launch runs, 3 the launch, 4 number of helpers,
; 5 1 if they shall end, 6 number of those that have not ended, 7 padding, 8 slot of the caller, 9 slots of the helpers
%Pool = type { %Apart, %Apart, %Apart, ptr, i64, i64, i64, [96 x i8], %Slot, [0 x %Slot] }

; 0 its pool, 1 the function, 2 its contexts, 3 how many they are
%Launch = type { ptr, ptr, ptr, i64 }

declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)
"""

_SLEEP = """
; Announce that the thread of a slot sleeps. It must look for work once more, then @rest or @rise.
define internal void @lie_down(ptr %slot) {
  %was = atomicrmw xchg ptr %slot, i64 1 seq_cst
  ret void
}

; Sleep until another thread wakes this slot.
define internal void @rest(ptr %slot) {
  %at = getelementptr %Slot, ptr %slot, i32 0, i32 1
  %lock = load ptr, ptr %at
  %ok = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  ret void
}

; Do not sleep after all. A thread that has woken the slot in the meantime releases its lock, so acquire it.
define internal void @rise(ptr %slot) {
  %pair = cmpxchg ptr %slot, i64 1, i64 0 seq_cst seq_cst
  %unseen = extractvalue { i64, i1 } %pair, 1
  br i1 %unseen, label %end, label %woken
woken:
  call void @rest(ptr %slot)
  br label %end
end:
  ret void
}

; Wake the thread of a slot, if it sleeps.
define internal void @wake(ptr %slot) {
  %asleep = load atomic i64, ptr %slot seq_cst, align 8
  %sleeps = icmp eq i64 %asleep, 1
  br i1 %sleeps, label %try, label %end
try:
  %pair = cmpxchg ptr %slot, i64 1, i64 0 seq_cst seq_cst
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %release, label %end
release:
  %at = getelementptr %Slot, ptr %slot, i32 0, i32 1
  %lock = load ptr, ptr %at
  call void @PyThread_release_lock(ptr %lock)
  br label %end
end:
  ret void
}

; Wake the first helpers of a pool.
define internal void @wake_helpers(ptr %pool, i64 %count) {
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %one]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %slot = getelementptr %Pool, ptr %pool, i32 0, i32 9, i64 %k
  call void @wake(ptr %slot)
  %k1 = add i64 %k, 1
  br label %next
end:
  ret void
}
"""

_WORK = """
; Take a task: return its number, or -1 if none is left.
define internal i64 @take(ptr %word) {
entry:
  br label %look
look:
  %now = load atomic i64, ptr %word seq_cst, align 8
  %left = and i64 %now, 4294967295
  %none = icmp eq i64 %left, 0
  br i1 %none, label %nothing, label %try
try:
  %fewer = sub i64 %now, 1
  %pair = cmpxchg ptr %word, i64 %now, i64 %fewer seq_cst seq_cst
  %taken = extractvalue { i64, i1 } %pair, 1
  br i1 %taken, label %mine, label %look
mine:
  %task = sub i64 %left, 1
  ret i64 %task
nothing:
  ret i64 -1
}

define internal void @call_one(ptr %launch, i64 %task) {
  %at.function = getelementptr %Launch, ptr %launch, i32 0, i32 1
  %at.contexts = getelementptr %Launch, ptr %launch, i32 0, i32 2
  %function = load ptr, ptr %at.function
  %contexts = load ptr, ptr %at.contexts
  %at = getelementptr ptr, ptr %contexts, i64 %task
  %context = load ptr, ptr %at
  call void %function(ptr %context)
  ret void
}

; Do tasks until none is left. A launch is read only by a thread that has a task of it: it cannot end before.
define internal void @work(ptr %pool) {
entry:
  %unfinished = getelementptr %Pool, ptr %pool, i32 0, i32 1
  %at.launch = getelementptr %Pool, ptr %pool, i32 0, i32 3
  %caller = getelementptr %Pool, ptr %pool, i32 0, i32 8
  br label %next
next:
  %task = call i64 @take(ptr %pool)
  %none = icmp eq i64 %task, -1
  br i1 %none, label %end, label %do
do:
  %launch = load ptr, ptr %at.launch
  call void @call_one(ptr %launch, i64 %task)
  %before = atomicrmw sub ptr %unfinished, i64 1 seq_cst
  %last = icmp eq i64 %before, 1
  br i1 %last, label %tell, label %next
tell:
  call void @wake(ptr %caller)
  br label %next
end:
  ret void
}

; Return when all tasks are finished. A helper that reports the end of an earlier launch late may wake this caller
; needlessly, so it looks again.
define internal void @wait_for_others(ptr %pool) {
entry:
  %unfinished = getelementptr %Pool, ptr %pool, i32 0, i32 1
  %caller = getelementptr %Pool, ptr %pool, i32 0, i32 8
  br label %look
look:
  %looks = phi i64 [0, %entry], [%looks1, %again]
  %now = load atomic i64, ptr %unfinished seq_cst, align 8
  %all = icmp eq i64 %now, 0
  br i1 %all, label %end, label %again
again:
  PAUSE
  %looks1 = add i64 %looks, 1
  %patient = icmp ult i64 %looks1, LOOKS
  br i1 %patient, label %look, label %lie
lie:
  call void @lie_down(ptr %caller)
  %later = load atomic i64, ptr %unfinished seq_cst, align 8
  %done = icmp eq i64 %later, 0
  br i1 %done, label %stay, label %sleep
sleep:
  call void @rest(ptr %caller)
  br label %lie
stay:
  call void @rise(ptr %caller)
  br label %end
end:
  ret void
}
"""

_LAUNCH = """
; Call the function with every context; return when all have finished.
define void @launch(ptr %launch) {
entry:
  %at.pool = getelementptr %Launch, ptr %launch, i32 0, i32 0
  %at.count = getelementptr %Launch, ptr %launch, i32 0, i32 3
  %pool = load ptr, ptr %at.pool
  %count = load i64, ptr %at.count
  %at.helpers = getelementptr %Pool, ptr %pool, i32 0, i32 4
  %helpers = load atomic i64, ptr %at.helpers seq_cst, align 8
  %any = icmp ne i64 %helpers, 0
  br i1 %any, label %ask, label %alone
ask:
  %busy = getelementptr %Pool, ptr %pool, i32 0, i32 2
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %free = extractvalue { i64, i1 } %pair, 1
  br i1 %free, label %together, label %alone
together:
  %unfinished = getelementptr %Pool, ptr %pool, i32 0, i32 1
  %at.launch = getelementptr %Pool, ptr %pool, i32 0, i32 3
  store ptr %launch, ptr %at.launch
  store atomic i64 %count, ptr %unfinished seq_cst, align 8
  %begin = add i64 %count, 4294967296                ; the next launch number, and its tasks; the last launch has none
  %was = atomicrmw add ptr %pool, i64 %begin seq_cst
  %others = sub i64 %count, 1
  %fewer = icmp ult i64 %others, %helpers
  %wanted = select i1 %fewer, i64 %others, i64 %helpers
  call void @wake_helpers(ptr %pool, i64 %wanted)
  call void @work(ptr %pool)
  call void @wait_for_others(ptr %pool)
  store atomic i64 0, ptr %busy seq_cst, align 8
  ret void
alone:
  %task = phi i64 [0, %entry], [0, %ask], [%task1, %one]
  %more = icmp ult i64 %task, %count
  br i1 %more, label %one, label %end
one:
  call void @call_one(ptr %launch, i64 %task)
  %task1 = add i64 %task, 1
  br label %alone
end:
  ret void
}
"""

_HELPER = """
; Run a helper from its start to the end of the pool: whenever the launch number is new, it takes tasks. It looks for
; the next launch before it sleeps, as one often follows soon.
define void @helper(ptr %slot) {
entry:
  %at.pool = getelementptr %Slot, ptr %slot, i32 0, i32 2
  %pool = load ptr, ptr %at.pool
  %stopping = getelementptr %Pool, ptr %pool, i32 0, i32 5
  %alive = getelementptr %Pool, ptr %pool, i32 0, i32 6
  br label %lie
look:
  %done = phi i64 [%launched, %work], [%done, %again]
  %looks = phi i64 [0, %work], [%looks1, %again]
  %now = load atomic i64, ptr %pool seq_cst, align 8
  %next = lshr i64 %now, 32
  %soon = icmp ne i64 %next, %done
  br i1 %soon, label %join, label %again
again:
  PAUSE
  %looks1 = add i64 %looks, 1
  %patient = icmp ult i64 %looks1, LOOKS
  br i1 %patient, label %look, label %lie
lie:
  %seen = phi i64 [0, %entry], [%seen, %sleep], [%done, %again]
  call void @lie_down(ptr %slot)
  %word = load atomic i64, ptr %pool seq_cst, align 8
  %number = lshr i64 %word, 32
  %new = icmp ne i64 %number, %seen
  br i1 %new, label %get_up, label %sleep
sleep:
  call void @rest(ptr %slot)
  br label %lie
get_up:
  call void @rise(ptr %slot)
  br label %join
join:
  %launched = phi i64 [%next, %look], [%number, %get_up]
  %stop = load atomic i64, ptr %stopping seq_cst, align 8
  %stops = icmp ne i64 %stop, 0
  br i1 %stops, label %end, label %work
work:
  call void @work(ptr %pool)
  br label %look
end:
  %was = atomicrmw sub ptr %alive, i64 1 seq_cst
  ret void
}

; End all helpers. A running launch continues: its caller takes the tasks that they leave.
define void @stop(ptr %pool) {
  %stopping = getelementptr %Pool, ptr %pool, i32 0, i32 5
  store atomic i64 1, ptr %stopping seq_cst, align 8
  %was = atomicrmw add ptr %pool, i64 4294967296 seq_cst
  %at.helpers = getelementptr %Pool, ptr %pool, i32 0, i32 4
  %helpers = atomicrmw xchg ptr %at.helpers, i64 0 seq_cst
  call void @wake_helpers(ptr %pool, i64 %helpers)
  ret void
}
"""


def source() -> str:
    """Return the pool's code as LLVM IR: the functions `launch`, `helper` and `stop`."""
    pause = _PAUSE.get(architecture())
    declared = "" if pause is None else f"declare void {pause.replace('i32 1', 'i32')}\n"
    text = _SLEEP + _WORK + _LAUNCH + _HELPER
    text = text.replace("PAUSE", "" if pause is None else f"call void {pause}").replace("LOOKS", str(_LOOKS))
    return _TYPES + declared + text
