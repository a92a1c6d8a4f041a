"""Compiled functions for launches, and processes that launch: `work.py stress 2 100`, `work.py leave daemon`."""

import ctypes
import random
import sys
import threading
import time
from functools import cache

from tumble.physics.machine.codegen.llvm import load, machine_code
from tumble.physics.machine.codegen.pool import Pool, shared_pool

SOURCE = """
; 0 a sum, 1 what to add to it, 2 how long to take, 3 how often it was called, 4 anything, 5 how many have come,
; 6 how many to wait for, 7 whether they came
%Context = type { ptr, i64, i64, i64, i64, ptr, i64, i64 }

; Take a while, then add a number to a sum, and count the call.
define void @add(ptr %context) {
entry:
  %at.sum = getelementptr %Context, ptr %context, i32 0, i32 0
  %at.value = getelementptr %Context, ptr %context, i32 0, i32 1
  %at.rounds = getelementptr %Context, ptr %context, i32 0, i32 2
  %at.calls = getelementptr %Context, ptr %context, i32 0, i32 3
  %at.rest = getelementptr %Context, ptr %context, i32 0, i32 4
  %sum = load ptr, ptr %at.sum
  %value = load i64, ptr %at.value
  %rounds = load i64, ptr %at.rounds
  br label %round
round:
  %k = phi i64 [0, %entry], [%k1, %round]
  %x = phi i64 [%value, %entry], [%x2, %round]
  %x1 = mul i64 %x, 6364136223846793005
  %x2 = add i64 %x1, 1442695040888963407
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %rounds
  br i1 %more, label %round, label %end
end:
  store i64 %x2, ptr %at.rest
  %calls = load i64, ptr %at.calls
  %calls1 = add i64 %calls, 1
  store i64 %calls1, ptr %at.calls
  %was = atomicrmw add ptr %sum, i64 %value monotonic
  ret void
}

; Wait until enough calls have begun, but not for ever.
define void @meet(ptr %context) {
entry:
  %at.arrived = getelementptr %Context, ptr %context, i32 0, i32 5
  %at.awaited = getelementptr %Context, ptr %context, i32 0, i32 6
  %at.met = getelementptr %Context, ptr %context, i32 0, i32 7
  %arrived = load ptr, ptr %at.arrived
  %awaited = load i64, ptr %at.awaited
  %was = atomicrmw add ptr %arrived, i64 1 seq_cst
  br label %look
look:
  %k = phi i64 [0, %entry], [%k1, %again]
  %now = load atomic i64, ptr %arrived seq_cst, align 8
  %all = icmp uge i64 %now, %awaited
  br i1 %all, label %met, label %again
again:
  %k1 = add i64 %k, 1
  %patient = icmp ult i64 %k1, 2000000000
  br i1 %patient, label %look, label %end
met:
  store i64 1, ptr %at.met
  br label %end
end:
  ret void
}
"""


class Context(ctypes.Structure):
    """`%Context`."""

    _fields_ = (
        ("sum", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("value", "rounds", "calls", "rest")),
        ("arrived", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("awaited", "met")),
    )


@cache
def address(name):
    """Address of a function of `SOURCE`."""
    return load(machine_code(SOURCE), name)[0]


@cache
def rounds_a_second():
    """How many rounds of `add` this machine does in a second, more or less."""
    job = Job(Pool(1), 1, rounds=2_000_000)
    return max(2_000_000 / timed(job.launch) for _ in range(3))


def timed(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


class Job:
    """A launch of `add` or `meet` with some contexts."""

    def __init__(self, pool, count, rounds=1, function="add"):
        self.sum, self.arrived = ctypes.c_int64(0), ctypes.c_int64(0)
        self.contexts = (Context * count)()
        for k, context in enumerate(self.contexts):
            context.sum, context.value, context.rounds = ctypes.addressof(self.sum), 1 + k * k, rounds
            context.arrived, context.awaited = ctypes.addressof(self.arrived), count
        self.launch = pool.bind(address(function), [ctypes.addressof(context) for context in self.contexts])
        self.launches = 0

    def run(self):
        """Launch; every context must have been called once more when that returns."""
        self.launches += 1
        self.launch()
        assert self.sum.value == self.launches * sum(context.value for context in self.contexts)
        assert [context.calls for context in self.contexts] == [self.launches] * len(self.contexts)


def all_meet(pool, count):
    """Whether a pool does so many tasks at the same time."""
    job = Job(pool, count, function="meet")
    job.launch()
    return all(context.met for context in job.contexts)


def stress(threads, launches):
    """Launch with random numbers of contexts, lengths of tasks and pauses."""
    chance, pool = random.Random(threads), Pool(threads)
    jobs = [Job(pool, count) for count in range(1, 9)]
    for _ in range(launches):
        job = chance.choice(jobs)
        for context in job.contexts:
            context.rounds = chance.choice((1, 1, 100, 1_000, chance.randrange(1, 30_000)))
        job.run()
        if chance.random() < 0.2:
            time.sleep(chance.random() * 200e-6)
    pool.stop()
    assert all_locks_are_held(pool), "a thread was woken that did not sleep, or one did not take notice"


def all_locks_are_held(pool):
    """Whether every release of a lock of a pool has had its acquisition; its helpers must have ended."""
    acquire = ctypes.pythonapi.PyThread_acquire_lock
    return not any(acquire(slot.lock, 0) for slot in (pool._shared.caller, *pool._slots))


def leave(how):
    """End the process in the middle of something."""
    pool = shared_pool(3)
    Job(pool, 5).run()
    if how == "daemon":
        job = Job(pool, 3, rounds=20_000)

        def launch_for_ever():
            while True:
                job.launch()

        threading.Thread(target=launch_for_ever, daemon=True).start()
        while job.contexts[0].calls < 10:
            time.sleep(0.001)
    elif how == "late":  # a launch after the helpers have ended
        import atexit

        from tumble.physics.machine.codegen import pool as module

        atexit.unregister(module._state.stop)
        atexit.register(Job(pool, 5).run)
        atexit.register(module._state.stop)
    print("leaving", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "stress":
        stress(int(sys.argv[2]), int(sys.argv[3]))
    else:
        leave(sys.argv[2])
