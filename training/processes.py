"""The processes that a launcher such as torchrun started, joined to a group by torch.distributed.

A launcher says by RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT which process this is and where process 0
(or the launcher) keeps a store of keys and values. There each process describes itself and writes signs of life, and
the first fault is kept: all processes end with a sentence that names the culprit. A culprit is a process that failed,
ended, gives no sign of life, or hangs while others wait for it.
"""

import hashlib
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from .. import __version__
from ..physics.machine.cores import usable_cores
from .config import RunConfig
from .distributed import SINGLE_PROCESS, ProcessGroup
from .errors import TumbleUserError, explain
from .shared_sums import SharedSums, is_possible, make_memory
from .task_errors import describe, is_the_tasks

BEAT, SILENCE = 2.0, 30.0
"""Seconds between two signs of life, and without one, or without progress, until a process is a culprit."""
PATIENCE = 600.0
"""The same where a process is busy: in the first iteration, which compiles, in evaluations and checkpoints."""
JOINING, LAST = 300.0, 10.0
"""Seconds in which all processes must come, and in which a process may end by itself after a fault."""
DONE, FIRST_BEAT = "done", (0, 0, True, PATIENCE)
"""Signs of life: the last one, and the first: number, progress, whether the process waits for others, its patience."""


class GroupError(TumbleUserError, RuntimeError):
    """A process of the group that has ended, hangs, or differs from the others; the message names it."""


@contextmanager
def joined(config: RunConfig) -> Iterator[ProcessGroup]:
    """Be one of the processes of the run inside of the block; a group of one without a launcher.

    Raises:
        GroupError: Another process failed, hangs, or has other versions or another configuration.
    """
    if not (size := launched()):
        yield SINGLE_PROCESS
        return
    rank, local = _number("RANK"), _number("LOCAL_RANK", 0)
    beside = _number("LOCAL_WORLD_SIZE", 1)
    os.environ.setdefault("TUMBLE_THREADS", str(max(1, usable_cores() // beside)))
    if config.device == "cuda":
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        os.environ["CUDA_VISIBLE_DEVICES"] = visible.split(",")[local] if visible else str(local)
    group: Processes | None = None
    ending = threading.Event()
    with _interrupted_by_sigterm(unless=ending):
        try:
            group = Processes(rank, size, config)
            group.connect(config.device)
            yield group
        except BaseException as error:
            ending.set()
            if isinstance(error, KeyboardInterrupt) and group is not None and (fault := group.fault()):
                error = GroupError(fault)  # a launcher interrupts all as soon as one has ended
            if not isinstance(error, GroupError):
                said = group is not None and group.fail(_sentence(error))
                if said and isinstance(error, Exception):
                    raise SystemExit(2) from None
                raise
            if group is not None:
                group.leave()
            if not _prints(f"{error}"):
                raise SystemExit(2) from None
            raise error from None
        else:
            ending.set()
            group.close()


@contextmanager
def _interrupted_by_sigterm(unless: threading.Event) -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, and ignore it once an event is set, so that errors are still printed."""

    def interrupt(number: int, frame: Any) -> None:
        if not unless.is_set():
            raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # in another thread than the main one signals stay as they are
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def launched() -> int:
    """Return the number of processes that a launcher started; 0 without a launcher, or if it started one."""
    size = _number("WORLD_SIZE", 1)
    return size if size > 1 else 0


def leads() -> bool:
    """Say whether this is the process that writes and prints: the only one, or the first of several."""
    return not launched() or _number("RANK") == 0


def _number(name: str, default: int | None = None) -> int:
    text = os.environ.get(name, "")
    if text.isdecimal():
        return int(text)
    if default is None or text:
        raise GroupError(f"{name} is {text!r}, and WORLD_SIZE is more than 1: a launcher such as torchrun sets both")
    return default


def _prints(sentence: str) -> bool:
    """Return whether this process prints a fault: the culprit, and the first of each machine; the next for a dead one.

    A process that fails leaves the sentence "process 0 on HOST: ...", and prints it itself.
    """
    rank, local = _number("RANK"), _number("LOCAL_RANK", 0)
    first_is_dead = re.match(rf"process {rank - local} on [^\s:]+[ ,]", sentence)
    return not local or f"process {rank} on" in sentence or (local == 1 and bool(first_is_dead))


def _sentence(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "was interrupted"
    if isinstance(error, TumbleUserError):
        return str(error)
    if isinstance(error, OSError) and not is_the_tasks(error):
        return explain(error)
    return describe(error) if is_the_tasks(error) else f"{type(error).__name__}: {f'{error}'.partition(chr(10))[0]}"


class Processes(ProcessGroup):
    """The group of torch.distributed: gloo on processors, nccl on GPUs."""

    def __init__(self, rank: int, size: int, config: RunConfig) -> None:
        self.rank, self.size = rank, size
        self._waits_since = 0.0  # the time in seconds when the present exchange began; 0 between exchanges
        self._sums: SharedSums | None = None
        self._store = KeyValueStore(rank, size)
        self._heartbeat = Heartbeat(self._store, meet(self._store, config), self)

    def connect(self, device: str) -> None:
        """Connect the processes, once all are there; exchanges are possible from then on."""
        backend = "cpu:gloo,cuda:nccl" if device == "cuda" else "gloo"
        store, endless = dist.PrefixStore("torch", self._store.store), timedelta(days=1)
        with self._exchange():
            dist.init_process_group(backend, store=store, rank=self.rank, world_size=self.size, timeout=endless)
        if self._heartbeat.all_are_here() and is_possible():
            self._share_memory()

    def _share_memory(self) -> None:
        """Add up numbers in memory from now on, not by messages, if all processes can map it."""
        descriptor, mine = make_memory(self.size) if self.rank == 0 else (-1, "")
        path = self.broadcast(mine)
        try:
            memory = SharedSums(path, self.rank, self.size, self._heartbeat.check)
        except OSError:
            memory = None
        (mapped,) = self.sums(memory is not None)
        if self.rank == 0:
            os.close(descriptor)
        self._sums = memory if mapped == self.size else None

    def add(self, numbers: Tensor) -> None:
        """Replace numbers by their sum over all processes; all get the same bits."""
        with self._exchange():
            if self._sums is not None and numbers.device.type == "cpu":
                self._sums.add(numbers)
            else:
                dist.all_reduce(numbers)

    def gather(self, mine: Any) -> list[Any]:
        """Return in process 0 the objects that all processes have given, in their order; [] in others."""
        given: list[Any] = [None] * self.size
        with self._exchange():
            dist.gather_object(mine, given if self.rank == 0 else None)
        return given if self.rank == 0 else []

    def broadcast(self, mine: Any) -> Any:
        """Return the object that process 0 gives."""
        given = [mine]
        with self._exchange():
            dist.broadcast_object_list(given)
        return given[0]

    def require_equal(self, what: str, numbers: Tensor) -> None:
        """Refuse to go on if numbers differ between processes.

        Raises:
            GroupError: They do; the message names the processes.
        """
        digest = hashlib.sha256(numbers.detach().cpu().numpy().tobytes()).digest()
        digests = self.gathered(torch.frombuffer(bytearray(digest), dtype=torch.uint8).to(torch.int64))
        others = [self._heartbeat.name(rank) for rank in range(self.size) if not torch.equal(digests[rank], digests[0])]
        if others:
            raise GroupError(
                f"{', '.join(others)}: {what} differ from those of process 0; resume from the last checkpoint"
            )

    def waited(self) -> float:
        """Return for how many seconds this process has waited in the present exchange; 0 without one."""
        since = self._waits_since
        return time.monotonic() - since if since else 0.0

    def fault(self) -> str:
        """Return the sentence about the culprit if there is one by now, else ""."""
        return self._heartbeat.fault()

    def fail(self, sentence: str) -> bool:
        """Tell the other processes why this one ends; return whether another one has ended for the same reason."""
        return self._heartbeat.fail(sentence)

    def close(self) -> None:
        """Leave the group; process 0, which keeps the store, leaves last."""
        self._heartbeat.close()
        with suppress(RuntimeError):
            dist.destroy_process_group()

    def leave(self) -> None:
        """Leave the group after another process has failed."""
        self._heartbeat.stop()

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """Turn an error of a call to other processes into the sentence about the culprit."""
        self.progress += 1
        self._waits_since = time.monotonic()
        try:
            yield
        except RuntimeError as error:
            raise GroupError(self._heartbeat.culprit(error)) from None
        finally:
            self._waits_since = 0.0


class KeyValueStore:
    """JSON values of all processes by their names, kept by process 0 or by the launcher.

    Attributes:
        store: of torch.distributed.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        address, port = os.environ.get("MASTER_ADDR", ""), _number("MASTER_PORT")
        keeps = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        try:
            if not keeps:
                _wait_for_port(address, port)
            limit = timedelta(seconds=JOINING)
            store = dist.TCPStore(address, port, size, is_master=keeps, timeout=limit, wait_for_workers=False)
        except (RuntimeError, OSError) as error:
            reason = f"{error}".partition("\n")[0]
            raise GroupError(f"process {rank} cannot reach process 0 at {address}:{port}: {reason}") from None
        self.store = dist.PrefixStore(f"tumble/{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}", store)

    def set(self, name: str, value: Any) -> None:
        """Set a value of this process."""
        self.store.set(f"{name}/{self.rank}", json.dumps(value))

    def get_all(self, name: str) -> list[Any]:
        """Return the values of all processes, which have set them."""
        return [json.loads(value) for value in self.store.multi_get([f"{name}/{rank}" for rank in range(self.size)])]

    def wait_for(self, name: str, seconds: float) -> list[int]:
        """Wait until all processes have set a value; return the numbers of those that are late."""
        until = time.monotonic() + seconds
        while missing := [rank for rank in range(self.size) if not self.store.check([f"{name}/{rank}"])]:
            if time.monotonic() >= until:
                break
            with suppress(RuntimeError):  # a short wait: signals are handled after it
                self.store.wait([f"{name}/{missing[0]}"], timedelta(seconds=0.5))
        return missing

    def keep_first(self, name: str, value: Any) -> Any:
        """Set a value of the whole group unless it has one; return the one that it has then."""
        return json.loads(self.store.compare_set(name, "", json.dumps(value)))

    def of_group(self, name: str) -> Any:
        """Return a value of the whole group; None if no process has set it."""
        return json.loads(self.store.get(name)) if self.store.check([name]) else None


def _wait_for_port(address: str, port: int) -> None:
    """Wait until the store can be reached, in short attempts: signals are handled between them."""
    until = time.monotonic() + JOINING
    while True:
        try:
            socket.create_connection((address, port), 1.0).close()
        except OSError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.1)
        else:
            return


def meet(store: KeyValueStore, config: RunConfig) -> list[dict[str, Any]]:
    """Wait for all processes, and return how each describes itself.

    Raises:
        GroupError: One has not come, or has another version or configuration.
    """
    mine = {"host": socket.gethostname(), "process table": _process_table(), "pid": os.getpid()}
    mine |= {"tumble": __version__, "torch": torch.__version__, "configuration": config.to_toml()}
    try:
        store.set("beat", FIRST_BEAT)
        store.set("process", mine)
        missing = store.wait_for("process", JOINING)
        if missing:
            raise GroupError(f"after {JOINING:.0f} s process {', '.join(map(str, missing))} has not come")
        everyone = store.get_all("process")
        store.set("process read", True)
    except GroupError:
        raise
    except RuntimeError:
        raise GroupError("process 0, which keeps the group's store, has ended before all processes came") from None
    first = everyone[0]
    for rank, one in enumerate(everyone):
        for what in ("tumble", "torch", "configuration"):
            if one[what] != first[what]:
                with suppress(RuntimeError):
                    store.wait_for("process read", LAST)
                theirs, firsts = _difference(one[what], first[what])
                raise GroupError(
                    f"process {rank} on {one['host']} has another {what} than process 0 on {first['host']}: "
                    f"{theirs!r}, not {firsts!r}; all processes need the same"
                )
    for one in everyone:
        one["here"] = all(one[name] == mine[name] for name in ("host", "process table"))
    return everyone


class Heartbeat:
    """A thread that writes signs of life of this process, and looks for a culprit among the others.

    Attributes:
        sentence: names the culprit, because of which all processes end; "" while all are well.
    """

    def __init__(self, store: KeyValueStore, members: list[dict[str, Any]], group: Processes) -> None:
        self.sentence = ""
        self._store, self._members, self._group = store, members, group
        self._others = [rank for rank in range(store.size) if rank != store.rank]
        self._seen: dict[tuple[int, str], tuple[Any, float]] = {}  # values of other processes, and since when
        self._count, self._beat_at, self._is_cut_off = 0, time.monotonic(), False
        self._has_culprit, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tumble-heartbeat", daemon=True)
        self._thread.start()

    def name(self, rank: int) -> str:
        """Return a process' number and machine."""
        return f"process {rank} on {self._members[rank]['host']}"

    def all_are_here(self) -> bool:
        """Say whether all processes run on this machine."""
        return all(one["here"] for one in self._members)

    def check(self) -> None:
        """Raise an error if there is a culprit."""
        if self.sentence:
            raise GroupError(self.sentence)

    def fail(self, sentence: str) -> bool:
        """Keep the reason why this process ends, and wait until the others have read it; see `Processes.fail`."""
        self.stop()
        mine = f"{self.name(self._store.rank)}: {sentence}"

        def tell() -> str:
            first = self._store.keep_first("fault", mine)
            self._store.set("fault read", True)
            self._store.wait_for("fault read", LAST)
            return str(first)

        first = _within(LAST + BEAT, tell) or mine
        return first != mine and first.endswith(f": {sentence}")

    def fault(self) -> str:
        """Return the sentence about the culprit if there is one by now, else ""."""
        if not self.sentence and _within(BEAT, self._find_culprit) == "":
            return ""
        self._has_culprit.wait(SILENCE + 3 * BEAT)
        return self.sentence

    def culprit(self, error: RuntimeError) -> str:
        """Return the sentence about the culprit of an error of a call to others."""
        self._is_cut_off = True
        self._has_culprit.wait(SILENCE + 3 * BEAT)
        return self.sentence or f"the connection to another process is lost: {f'{error}'.partition(chr(10))[0]}"

    def close(self) -> None:
        """Say that this process is done; process 0, which keeps the store, waits for the others."""
        self.stop()

        def finish() -> None:
            self._store.set("beat", DONE)
            self._store.set("done", True)
            if self._store.rank == 0:
                self._store.wait_for("done", SILENCE)

        _within(SILENCE + BEAT, finish)

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join(BEAT)

    def _run(self) -> None:
        """Give signs of life and look for a culprit, until there is one."""
        while not self._stopping.wait(BEAT):
            culprit = _within(SILENCE, self._beat)
            if culprit is None:
                culprit = self._end_of(0) or f"{self.name(0)}, which keeps the group's store, cannot be reached"
            if culprit and not self._stopping.is_set():
                self._end(culprit)
                return

    def _beat(self) -> str:
        """Give a sign of life; return the sentence about a culprit, "" if all are well."""
        group, self._count, now = self._group, self._count + 1, time.monotonic()
        if now - self._beat_at > SILENCE / 2:  # this process was stopped, and others may have been, too
            self._seen.clear()
        self._beat_at = now
        patience = PATIENCE if group.busy else SILENCE
        self._store.set("beat", (self._count, group.progress, group.waited() > 0, patience))
        return self._find_culprit()

    def _find_culprit(self) -> str:
        """Return the sentence about a process that failed, ended or hangs; "" if all are well."""
        if fault := self._store.of_group("fault"):
            self._store.set("fault read", True)
            return str(fault)
        beats = self._store.get_all("beat")
        return next((fault for rank in self._others if (fault := self._fault_of(rank, beats[rank]))), "")

    def _fault_of(self, rank: int, beat: Any) -> str:
        """Return the sentence about a process if it has ended or hangs, judging by its last sign of life."""
        if beat == DONE:
            return ""
        if ended := self._end_of(rank):
            return ended
        _, progress, waits, patience = beat
        name, state = self.name(rank), self._state(rank)
        silent = self._unchanged(rank, "beat", beat)
        limit = SILENCE if state == "T" else patience
        if silent > (min(limit, 5 * BEAT) if self._is_cut_off and limit == SILENCE else limit):
            stopped = ", as it is stopped" if state == "T" else ""
            return f"{name} has given no sign of life for {silent:.0f} s{stopped}"
        idle = min(self._unchanged(rank, "progress", progress), self._group.waited())
        if waits and idle > 2 * PATIENCE:
            return f"{name} has waited {idle:.0f} s in an exchange that does not end"
        return f"{name} hangs: others have waited {idle:.0f} s for it" if idle > patience and not waits else ""

    def _state(self, rank: int) -> str:
        """Return the state of a process, see `_state_of`; "?" if it is on another machine."""
        one = self._members[rank]
        return _state_of(one["pid"]) if one["here"] else "?"

    def _end_of(self, rank: int) -> str:
        """Return the sentence about a process of this machine that has ended; "" if it has not."""
        gone = self._state(rank) == "gone"
        return f"{self.name(rank)} has ended without a word; it may have been killed" if gone else ""

    def _unchanged(self, rank: int, what: str, value: Any) -> float:
        """Return for how many seconds a value of another process has not changed."""
        now = time.monotonic()
        before, since = self._seen.get((rank, what), (None, now))
        if value != before:
            since = now
        self._seen[rank, what] = value, since
        return now - since

    def _end(self, sentence: str) -> None:
        """End this process with a sentence: by itself, or else from here, as a call to a hanging process never ends."""
        first = _within(BEAT, lambda: self._store.keep_first("fault", sentence)) or sentence
        self.sentence = f"{first}. All processes end; go on from the last checkpoint with --resume"
        if self._store.rank == 0:
            time.sleep(2 * BEAT)  # so that the others read it: the store may end with this process
        self._has_culprit.set()
        if not self._stopping.wait(LAST):
            if _prints(self.sentence):
                print(f"error: {self.sentence}", file=sys.stderr, flush=True)
            os._exit(2)


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """Call a function of the store in another thread; return its result, None if it fails or if the store hangs."""
    results: list[Any] = []

    def work() -> None:
        with suppress(RuntimeError):
            results.append(call())

    thread = threading.Thread(target=work, name="tumble-store", daemon=True)
    thread.start()
    thread.join(seconds)
    return results[0] if results else None


def _process_table() -> str:
    """Return a name of the table in which this process has its number: containers of a machine have their own."""
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""


def _state_of(pid: int) -> str:
    """Return "gone" for a process of this machine that has ended, "T" for a stopped one, else another word."""
    try:
        word = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone" if Path("/proc/self").exists() else "?"
    return "gone" if word in "ZX" else word


def _difference(one: str, other: str) -> tuple[str, str]:
    """Return the first lines in which two texts differ."""
    pairs = zip([*one.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    return next((a, b) for a, b in pairs if a != b)
