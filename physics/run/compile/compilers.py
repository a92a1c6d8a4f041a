"""Machine code of the solver's units: from the store, or compiled in separate processes if it is missing there."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from ...machine.children import python_command
from ...machine.codegen.keys import key_of
from ...machine.codegen.store import shared_store
from ...machine.cores import usable_cores
from ...machine.disk import work_folder
from ...machine.libraries import NO_GREETING, load_mujoco, taichi_home_variables
from ...machine.waiting import Waiting
from ...model.features import Features

_UNITS_OF_PROCESS = 4
"""Units per compiling process: fewer are not worth another process, which takes a second to start."""
_QUOTED = 2000
"""The most characters of a process's output that an error quotes."""
_FIRST = f"from {load_mujoco.__module__} import load_mujoco; load_mujoco()"
WHAT = "the solver for this model"
"""The name, in log messages, of what is compiled."""
_MODULE = __name__.replace("compilers", "compile_process")


class Plan(NamedTuple):
    """The units of a program.

    Attributes:
        units: key of each unit's machine code, by its name; units that take longest to compile come first.
        numbers: position of every stage in the table of functions.
    """

    units: dict[str, str]
    numbers: dict[str, int]


def units_of_program(width: int, precision: str, features: Features, **entries: Any) -> tuple[Plan, dict[str, bytes]]:
    """Return the units for a lane width, a precision and features, and their machine code by name.

    Further entries of the jobs name another compiler than that of plain units (`compile_process`), and what it needs.
    """
    store, job = shared_store(), _job(width, precision, features) | entries
    key, plan = _stored_plan(job)
    code = stored(plan.units) if plan else {}
    if plan is None or len(code) < len(plan.units):
        with Compilation(job, entries.get("what", WHAT)) as compilation:
            plan = plan or compilation.plan()
            code = stored(plan.units)
            code |= compilation.compile({name: key for name, key in plan.units.items() if name not in code})
        store.save(key, json.dumps(plan._asdict()).encode())
    return plan, code


def is_compiled(width: int, precision: str, features: Features) -> bool:
    """Return True if the store has all units for a lane width, a precision and features."""
    _, plan = _stored_plan(_job(width, precision, features))
    return plan is not None and all(map(shared_store().has, plan.units.values()))


def _job(width: int, precision: str, features: Features) -> dict[str, Any]:
    return {"width": width, "precision": precision, "features": asdict(features)}


def _stored_plan(job: dict[str, Any]) -> tuple[str, Plan | None]:
    """Return the key of a program's plan, and the plan if it is in the store."""
    stored = shared_store().load(key := key_of("program", job))
    return key, Plan(**json.loads(stored)) if stored else None


def stored(keys: Mapping[str, str]) -> dict[str, bytes]:
    """Return the machine code that is in the store, by name; `keys` are those of the names."""
    store = shared_store()
    found = {name: store.load(key) for name, key in keys.items()}
    return {name: code for name, code in found.items() if code is not None}


class Compilation:
    """Processes that compile the parts of one thing; they end with the `with` block. The wait is logged.

    Args:
        job: entries that all jobs have in common.
        what: the name of the thing in log messages.
    """

    def __init__(self, job: dict[str, Any], what: str = WHAT) -> None:
        self._job = job
        self._parts, self._ready = 0, 0
        self._processes: list[_Process] = []
        self._stack = ExitStack()
        self._wait = Waiting(f"compiling {what}", self._progress, once=True)

    def __enter__(self) -> "Compilation":
        self._stack.enter_context(self._wait)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _progress(self) -> str:
        return f" ({self._ready} of {self._parts} parts)" if self._parts else ""

    def plan(self) -> Plan:
        """Ask a process for the plan of a program."""
        answer, _ = self._process(0).answer({**self._job, "do": "plan"})
        return Plan(answer["units"], answer["numbers"])

    def _process(self, number: int) -> "_Process":
        while len(self._processes) <= number:
            self._processes.append(self._stack.enter_context(_started()))
        return self._processes[number]

    def compile(self, keys: Mapping[str, str]) -> dict[str, bytes]:
        """Compile parts; store each under its key as soon as it is ready; return the machine code by name."""
        store, code = shared_store(), {}
        jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[str, bytes | Exception]] = queue.SimpleQueue()
        for name in keys:
            jobs.put(name)

        def work(process: _Process) -> None:
            name = ""
            try:
                while True:
                    name = jobs.get_nowait()
                    made = store.load(keys[name])  # another program may have compiled it meanwhile
                    done.put((name, made or process.answer({**self._job, "do": "compile", "unit": name})[1]))
            except queue.Empty:
                pass
            except Exception as error:
                done.put((name, error))

        workers = max(1, min(usable_cores(), len(keys) // _UNITS_OF_PROCESS))
        for number in range(workers if keys else 0):
            threading.Thread(target=work, args=(self._process(number),), daemon=True).start()
        self._parts, self._ready = len(keys), 0
        for _ in keys:
            name, made = done.get()
            if isinstance(made, Exception):
                raise made
            store.save(keys[name], made)
            code[name] = made
            self._ready += 1
        return code


class _Process:
    """A compiling process, which does one job after the other."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: Any) -> None:
        self._process, self._errors = process, errors

    def answer(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Send a job to the process; return its answer and machine code.

        Raises:
            RuntimeError: the job failed; the message quotes the process.
        """
        answer, code = self._said(json.dumps(job).encode() + b"\n"), b""
        if "error" not in answer:
            assert self._process.stdout is not None
            code = self._process.stdout.read(answer["length"])
            if len(code) < answer["length"]:
                answer = {"error": self._last_words()}
        if "error" in answer:
            raise RuntimeError(f"compiling {job.get('unit', 'the solver')} failed:\n{answer['error']}")
        return answer, code

    def _said(self, job: bytes) -> dict[str, Any]:
        """Send a job and read the line of the answer; return {"error": ...} if the process does not answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(job)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            return {"error": self._last_words()}
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not {"error", "length"} & answer.keys():
            return {"error": f"the process that compiles wrote {line[:_QUOTED]!r}, which is no answer"}
        return answer

    def _last_words(self) -> str:
        """Return the message about a process that has ended, with the end of its output."""
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace")[-_QUOTED:]
        ended = f"the process that compiles ended with code {self._process.wait()}"
        kept = "Units that were compiled before are kept, and the next start goes on from there"
        return f"{ended} (below 0: by a signal, for example if memory is short). {kept}. It wrote:\n{words}"


@contextmanager
def _started() -> Iterator[_Process]:
    """Start a compiling process with this process's module search path; end it when the context ends.

    Paths are absolute, as the process works in a temporary folder. It gets a new process group, to which a
    terminal does not send Ctrl-C, and Ctrl-C is blocked in it: this process decides what an interrupt means.

    Raises:
        RuntimeError: the process cannot be started.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("TI_")}
    environment = own | NO_GREETING | taichi_home_variables()
    command = python_command(f"{_FIRST}; from {_MODULE} import main; main()")
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as errors, work_folder() as folder:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process is not yet in its group
        try:
            started = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=errors, env=environment, process_group=0, cwd=folder
            )
        except OSError as error:
            raise RuntimeError(f"sys.executable, which is to compile the solver, cannot be started: {error}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with started as process:
            try:
                yield _Process(process, errors)
            finally:
                process.kill()
                process.wait()  # `with` would not wait after an interrupt
                if process.stdin:
                    with suppress(OSError):  # the buffer may hold a job that the process did not live to read
                        process.stdin.close()
