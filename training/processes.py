"""The processes that a launcher such as torchrun started, joined to a group by torch.distributed.

A launcher says by RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT which process this is and where process 0
keeps a table of words. There each process says what it is, gives signs of life, and leaves a last sentence if it fails:
the others then end with that sentence. A process without signs of life ends all, too.
"""

import hashlib
import json
import os
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
from .errors import TumbleUserError
from .task_errors import describe, is_the_tasks

BEAT, SILENCE = 2.0, 30.0
"""Seconds between two signs of life, and without one until a process counts as hanging."""
PATIENCE = 600.0
"""The same before the first iteration and in evaluations: a compilation may keep a process from giving signs."""
JOINING, LAST = timedelta(seconds=300), 10.0
"""The time in which all processes must come, and the seconds in which a process may end by itself."""
DONE = "done"


class GroupError(TumbleUserError, RuntimeError):
    """A process of the group that has ended, hangs, or is another than the others; the message names it."""


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
    try:
        group = Processes(rank, size, config)
        yield group
    except GroupError as error:
        if group is not None:
            group.leave()
        if local and f"process {rank} on" not in str(error):  # the first process of each machine says it
            raise SystemExit(2) from None
        raise
    except BaseException as error:
        if group is not None:
            group.fail(_sentence(error))
        raise
    else:
        group.close()


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


def _sentence(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "was interrupted"
    if isinstance(error, TumbleUserError):
        return str(error)
    return describe(error) if is_the_tasks(error) else f"{type(error).__name__}: {f'{error}'.partition(chr(10))[0]}"


class Processes(ProcessGroup):
    """The group of torch.distributed: gloo on processors, nccl on GPUs."""

    def __init__(self, rank: int, size: int, config: RunConfig) -> None:
        self.rank, self.size = rank, size
        self._table = WordTable(rank, size)
        self._watch = Watch(self._table, config, lambda: self.busy)
        backend = "cpu:gloo,cuda:nccl" if config.device == "cuda" else "gloo"
        store = dist.PrefixStore("torch", self._table.store)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timedelta(days=1))

    def add(self, numbers: Tensor) -> None:
        """Replace numbers by their sum over all processes; all get the same bits."""
        with self._calling():
            dist.all_reduce(numbers)

    def gather(self, mine: Any) -> list[Any]:
        """Return in process 0 the objects that all processes have given, in their order; [] in others."""
        given: list[Any] = [None] * self.size
        with self._calling():
            dist.gather_object(mine, given if self.rank == 0 else None)
        return given if self.rank == 0 else []

    def broadcast(self, mine: Any) -> Any:
        """Return the object that process 0 gives."""
        given = [mine]
        with self._calling():
            dist.broadcast_object_list(given)
        return given[0]

    def require_equal(self, what: str, numbers: Tensor) -> None:
        """Refuse to go on if numbers differ between processes.

        Raises:
            GroupError: They do; the message names the processes.
        """
        digest = hashlib.sha256(numbers.detach().cpu().numpy().tobytes()).digest()
        words = self.gathered(torch.frombuffer(bytearray(digest), dtype=torch.uint8).to(torch.int64))
        others = [self._watch.name(rank) for rank in range(self.size) if not torch.equal(words[rank], words[0])]
        if others:
            raise GroupError(
                f"{', '.join(others)}: {what} differ from those of process 0; resume from the last checkpoint"
            )

    def fail(self, sentence: str) -> None:
        """Leave a last sentence for the other processes."""
        self._watch.fail(sentence)

    def close(self) -> None:
        """Leave the group; process 0, which keeps the table, leaves last."""
        self._watch.close()
        with suppress(RuntimeError):
            dist.destroy_process_group()

    def leave(self) -> None:
        """Look for the others no longer, after one has failed."""
        self._watch.stop()

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Turn an error of a call to other processes into a sentence about the one to blame."""
        try:
            yield
        except RuntimeError as error:
            if isinstance(error, GroupError):
                raise
            raise GroupError(self._watch.explain(error)) from None


class WordTable:
    """The words that processes tell each other, kept by process 0 or by the launcher.

    Attributes:
        store: of torch.distributed.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        address, port = os.environ.get("MASTER_ADDR", ""), _number("MASTER_PORT")
        kept = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        try:
            store = dist.TCPStore(address, port, size, is_master=kept, timeout=JOINING, wait_for_workers=False)
        except RuntimeError as error:
            reason = f"{error}".partition("\n")[0]
            raise GroupError(f"process {rank} cannot reach process 0 at {address}:{port}: {reason}") from None
        self.store = dist.PrefixStore(f"tumble/{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}", store)

    def tell(self, name: str, words: Any, rank: int | None = None) -> None:
        """Keep words of a process."""
        self.store.set(f"{name}/{self.rank if rank is None else rank}", json.dumps(words))

    def read(self, name: str, rank: int) -> Any:
        """Return the words that a process has kept under a name; None if it has kept nothing yet."""
        key = f"{name}/{rank}"
        return json.loads(self.store.get(key)) if self.store.check([key]) else None


class Watch:
    """A thread that gives signs of life of this process and looks for those of the others.

    Attributes:
        sentence: the reason why all processes end; "" if all are well.
    """

    def __init__(self, table: WordTable, config: RunConfig, is_busy: Callable[[], bool]) -> None:
        self.sentence, self._is_busy = "", is_busy
        self._table, self._found, self._closing = table, threading.Event(), threading.Event()
        self._seen: dict[int, tuple[Any, float]] = {}  # the last sign of life of each other process, and its time
        self._mine = {"host": socket.gethostname(), "pid": os.getpid(), "torch": torch.__version__}
        self._mine |= {"tumble": __version__, "configuration": config.to_toml()}
        table.tell("process", self._mine)
        self._others = self._meet()
        self._thread = threading.Thread(target=self._run, name="tumble-group", daemon=True)
        self._thread.start()

    def _meet(self) -> list[dict[str, Any]]:
        """Wait for all processes, and return what each says of itself; refuse other versions and configurations."""
        table, keys = self._table, [f"process/{rank}" for rank in range(self._table.size)]
        try:
            table.store.wait(keys, JOINING)
        except RuntimeError:
            with suppress(RuntimeError):
                missing = [str(rank) for rank, key in enumerate(keys) if not table.store.check([key])]
                raise GroupError(f"after {JOINING.seconds} s process {', '.join(missing)} has not come") from None
            raise GroupError(f"process {table.rank} has lost process 0, which keeps the group's table") from None
        everyone = [table.read("process", rank) for rank in range(table.size)]
        table.tell("met", True)
        for rank, one in enumerate(everyone):
            for what in ("tumble", "torch", "configuration"):
                if one[what] != everyone[0][what]:
                    self._wait_for("met")
                    mine, first = _difference(one[what], everyone[0][what])
                    raise GroupError(
                        f"process {rank} on {one['host']} has another {what} than process 0 on {everyone[0]['host']}: "
                        f"{mine!r}, not {first!r}"
                    )
        for one in everyone:
            one["here"] = one["host"] == self._mine["host"] and _state(one["pid"]) != "gone"
        return everyone

    def name(self, rank: int) -> str:
        """Return a process' number and machine."""
        return f"process {rank} on {self._others[rank]['host']}"

    def fail(self, sentence: str) -> None:
        """Leave the last sentence of this process, and wait until the others have read it."""
        with suppress(RuntimeError):
            self.stop()
            self._table.tell("fault", f"{self.name(self._table.rank)}: {sentence}")
            self._wait_for("read", LAST)

    def explain(self, error: RuntimeError) -> str:
        """Return the sentence about the process to blame for an error of a call to others."""
        self._found.wait(SILENCE + 3 * BEAT)
        return self.sentence or f"the connection to another process is lost: {f'{error}'.partition(chr(10))[0]}"

    def close(self) -> None:
        """Say that this process is done; process 0, which keeps the table, waits for the others."""
        self.stop()
        with suppress(RuntimeError):
            self._table.tell("beat", DONE)
            if self._table.rank == 0:
                self._wait_for("beat", SILENCE, DONE)

    def stop(self) -> None:
        """End the thread."""
        self._closing.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(BEAT)

    def _wait_for(self, name: str, seconds: float = LAST, words: Any = True) -> None:
        """Wait until all processes have said these words, or time is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if all(
                self._table.read(name, rank) == words for rank in range(self._table.size) if rank != self._table.rank
            ):
                return
            time.sleep(0.1)

    def _run(self) -> None:
        count = 0
        while not self._closing.wait(BEAT):
            count += 1
            try:
                self._table.tell("beat", [count, PATIENCE if self._is_busy() else SILENCE])
                culprit = self._look()
            except RuntimeError:
                culprit = self.name(0) + ", which keeps the group's table, cannot be reached"
            if culprit and not self._closing.is_set():
                self._end(culprit)
                return

    def _look(self) -> str:
        """Return the sentence about a process that failed, ended or hangs; "" if all are well."""
        now = time.monotonic()
        others = [rank for rank in range(self._table.size) if rank != self._table.rank]
        for rank in others:
            if fault := self._table.read("fault", rank):
                self._table.tell("read", True)
                return str(fault)
        for rank in others:
            beat = self._table.read("beat", rank)
            if beat == DONE:
                continue
            before, since = self._seen.get(rank, (None, now))
            if beat != before or rank not in self._seen:
                self._seen[rank] = (beat, now)
                continue
            one = self._others[rank]
            state = _state(one["pid"]) if one["here"] else "?"
            if state == "gone":
                return f"{self.name(rank)} has ended without a word; it may have been killed"
            patience = beat[1] if beat and state != "T" else SILENCE
            if now - since > patience:
                stopped = ", as it is stopped" if state == "T" else ""
                return f"{self.name(rank)} has given no sign of life for {now - since:.0f} s{stopped}"
        return ""

    def _end(self, sentence: str) -> None:
        """End this process with a sentence: by itself, or else from here, as a call to a hanging process never ends."""
        with suppress(RuntimeError):
            self._table.tell("fault", sentence)
        if self._table.rank == 0:
            time.sleep(2 * BEAT)  # so that the others read it: the table may end with this process
        self.sentence = f"{sentence}. All processes end; go on from the last checkpoint with --resume"
        self._found.set()
        if not self._closing.wait(LAST):
            print(f"error: {self.sentence}", file=sys.stderr, flush=True)
            os._exit(2)


def _state(pid: int) -> str:
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
