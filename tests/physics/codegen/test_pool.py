"""Threads of a launch: every task is done once, whoever does it, and whatever else goes on in the process."""

import ctypes
import faulthandler
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from tumble.physics.machine.codegen import pool as module
from tumble.physics.machine.codegen.llvm import llvm, load, machine_code, target_machine
from tumble.physics.machine.codegen.pool import Pool, shared_pool
from tumble.physics.machine.codegen.pool_ir import source

from .work import Job, all_meet, rounds_a_second, timed

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on this system")
needs_linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are listed on Linux")
PROGRAM = Path(__file__).with_name("work.py")
LAST_LOOK = """
import atexit
atexit.register(lambda: print(pool._shared.helpers, pool._shared.alive))
from tumble.physics.machine.codegen.pool import shared_pool
pool = shared_pool(4)
print(pool._shared.helpers, pool._shared.alive)
"""


@pytest.fixture(autouse=True)
def no_deadlock():
    """End the process, and say where it was, when a test takes two minutes: Python cannot interrupt a launch."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def run_program(*arguments, seconds=120):
    """Run `work.py`; a deadlock ends with an error after so many seconds."""
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=seconds)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_another_thread(action):
    """Begin an action; its `result()` waits for it and raises what it raised."""
    future = Future()

    def act():
        try:
            future.set_result(action())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=act).start()
    return future


def test_structures_are_those_of_the_compiled_code():
    """Every field that Python names lies where the compiled code has it."""
    code, layout = llvm().parse_assembly(source()), target_machine().target_data
    for name, here in (("Slot", module._Slot), ("Pool", module._Shared), ("Launch", module._Launch)):
        there = code.get_struct_type(name)
        assert layout.get_abi_size(there) == ctypes.sizeof(here)
        places = [layout.get_element_offset(there, k) for k in range(len(here._fields_))]
        assert places == [getattr(here, field).offset for field, _ in here._fields_]


def test_numbers_of_threads_have_cache_lines_of_their_own():
    shared = module._Shared
    places = [getattr(shared, name).offset for name in ("word", "unfinished", "busy", "launch", "caller")]
    assert all(b - a >= 128 for a, b in itertools.pairwise(places))
    assert Pool(3)._at % 128 == 0
    assert ctypes.sizeof(module._Slot) == 128


@pytest.mark.parametrize(
    "steps", ["wake", "lie_down rise", "lie_down wake rise", "lie_down wake rest", "lie_down wake wake rest"]
)
def test_every_release_of_a_lock_is_acquired(steps):
    """Whatever one thread does between two steps of another; a lock that is free would wake its thread for nothing."""
    slot = Pool(1)._shared.caller
    for step in steps.split():
        visible_code(step)(ctypes.addressof(slot))
    assert slot.asleep == 0
    assert not ctypes.pythonapi.PyThread_acquire_lock(slot.lock, 0)


@cache
def visible_code(name):
    """A function of the pool that has no name outside."""
    return module._FUNCTION(*load(machine_code(source().replace("define internal", "define")), name))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("contexts", [1, 2, 3, 17])
def test_every_context_is_called_once(threads, contexts):
    job = Job(shared_pool(threads), contexts)
    for _ in range(200):
        job.run()


def test_a_launch_without_contexts_is_refused():
    with pytest.raises(ValueError, match="without contexts"):
        shared_pool(2).bind(1, [])


@pytest.mark.parametrize("threads", [2, 4])
def test_helpers_work_beside_the_caller(threads):
    """As many tasks as threads wait for each other; first while helpers wake up, then after a rest."""
    pool = shared_pool(threads)
    assert all_meet(pool, threads)
    time.sleep(0.05)
    assert all_meet(pool, threads)


def test_a_pool_for_each_number_of_threads():
    assert shared_pool(2) is shared_pool(2)
    assert shared_pool(2) is not shared_pool(3)
    assert shared_pool(3).threads == 3


def test_threads_that_ask_at_once_get_one_pool(monkeypatch):
    class SlowPool(Pool):
        def __init__(self, threads):
            time.sleep(0.05)
            super().__init__(threads)

    monkeypatch.setattr(module, "Pool", SlowPool)
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(shared_pool, [6] * 4))) == 1


@pytest.mark.parametrize("threads", [2, 4])
def test_20_000_launches_of_all_kinds(threads):
    """Random numbers of contexts, lengths of tasks and pauses; the sums are looked at after each."""
    run_program("stress", str(threads), "20000")


def test_launches_from_several_python_threads():
    """One has the pool, the others work alone; all their sums are right."""
    pool = shared_pool(3)

    def launch_often(count):
        job = Job(pool, count, rounds=2_000)
        for _ in range(1_500):
            job.run()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(launch_often, (1, 2, 3, 7)))


def test_a_busy_pool_holds_nobody_up():
    """A launch beside a long one of another thread is done before it, and Python's lock is free meanwhile."""
    pool = shared_pool(2)
    long, short = Job(pool, 2, rounds=int(0.5 * rounds_a_second())), Job(pool, 4)
    other = in_another_thread(long.run)
    while not pool._shared.busy.value:
        time.sleep(0.001)
    for _ in range(20):
        short.run()
    assert pool._shared.busy.value
    other.result()
    assert not pool._shared.busy.value
    assert all_meet(pool, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_an_interrupt_comes_when_the_launch_ends():
    pool = shared_pool(2)
    job = Job(pool, 2, rounds=int(0.3 * rounds_a_second()))
    job.run()
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):  # mostly in the first; on a busy machine the timer may be late
            job.launch()
    first, second = (context.calls for context in job.contexts)
    assert first == second >= 2, "a launch was not whole"
    assert all_meet(pool, 2)


def test_nothing_runs_while_nothing_is_launched():
    pool = shared_pool(4)
    for _ in range(100):
        Job(pool, 4, rounds=1_000).run()
    time.sleep(0.02)

    def work_in_a_rest():
        begin = time.process_time()
        time.sleep(0.3)
        return time.process_time() - begin

    assert min(work_in_a_rest() for _ in range(3)) < 0.003


@needs_linux
def test_helpers_end_and_take_no_signals():
    def threads():
        return {int(name) for name in os.listdir("/proc/self/task")}

    before = threads()
    pool = Pool(4)
    helpers = threads() - before
    assert len(helpers) == 3
    assert all_meet(pool, 4)  # all have begun: before, the system blocks every signal for them
    for helper in helpers:
        status = Path(f"/proc/self/task/{helper}/status").read_text()
        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
        assert blocked >> (signal.SIGINT - 1) & 1
        assert not blocked >> (signal.SIGSEGV - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    pool.stop()
    assert pool._shared.alive == 0
    until = time.monotonic() + 5
    while threads() & helpers and time.monotonic() < until:
        time.sleep(0.001)  # a thread that has said goodbye is gone a little later
    assert not threads() & helpers
    Job(pool, 5).run()
    pool.stop()


def test_a_pool_may_be_stopped_while_it_works():
    """The caller does what helpers leave, and no task is lost."""
    for _ in range(30):
        pool = Pool(4)
        job = Job(pool, 40, rounds=20_000)
        other = in_another_thread(job.run)
        pool.stop()
        other.result()
        job.run()


@needs_linux
def test_a_system_that_grants_no_threads(monkeypatch):
    """The caller does all that helpers would have done."""
    monkeypatch.setattr(module, "_start_threads", lambda slots: 0)
    Job(Pool(4), 7).run()


def in_a_child(action):
    """Whether an action returns True in a forked process, within half a minute."""
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            os._exit(0 if action() is True else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@needs_fork
def test_a_forked_child():
    """It goes on alone with pools that it knows, and makes new ones; both processes end them without waiting."""
    pool = shared_pool(2)
    job = Job(pool, 5)
    job.run()

    def child():
        job.run()
        new = shared_pool(2)
        alone = timed(pool.stop) < 0.5 and not pool._shared.helpers
        return alone and new is not pool and all_meet(new, 2) and timed(module._state.stop) < 0.5

    assert in_a_child(child)
    job.run()
    assert all_meet(pool, 2)


@needs_fork
def test_a_child_forked_during_a_launch():
    """Another thread has the pool, and the lock of the table of pools; neither thread is in the child."""
    pool = shared_pool(2)
    long, job = Job(pool, 2, rounds=int(0.4 * rounds_a_second())), Job(pool, 5)
    other = in_another_thread(long.run)
    while not pool._shared.busy.value:
        time.sleep(0.001)

    def child():
        job.run()
        return not pool._shared.busy.value and all_meet(shared_pool(2), 2)

    with module._state.lock:
        assert in_a_child(child)
    other.result()
    assert all_meet(pool, 2)


def test_helpers_end_before_the_interpreter_does():
    """What was registered before the pool came is called after its end."""
    done = subprocess.run([sys.executable, "-c", LAST_LOOK], capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["3", "3", "0", "0"], "")


@pytest.mark.parametrize("how", ["idle", "daemon", "late"])
def test_the_end_of_a_process(how):
    """No crash and no waiting: with helpers asleep, while a daemon thread launches, and for a launch after the end."""
    for _ in range(5):
        assert run_program("leave", how, seconds=30) == "leaving\n"
