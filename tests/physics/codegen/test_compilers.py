"""Processes that compile, as they fail: clear errors, nothing is lost, and the next try works.

What is started here is `fake_compiler.py`; what it stands for is in `test_units.py` and `test_starts.py`.
"""

import json
import logging
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tumble.physics.machine import waiting
from tumble.physics.machine.codegen.keys import key_of
from tumble.physics.machine.codegen.store import Store
from tumble.physics.model.features import Features
from tumble.physics.run import programs
from tumble.physics.run.compile import compilers
from tumble.physics.run.compile.compilers import units_of_program

FEATURES = Features(*[False] * 6)
NAMES = ["turn", "advance", "collide", "limits", "rest"]
CODE = {name: name.encode() for name in NAMES}


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """Ask for a program, from processes that fail as they are told, one for all units."""
    monkeypatch.syspath_prepend(Path(__file__).parents[3])
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compilers, "_MODULE", "tests.physics.codegen.fake_compiler")
    monkeypatch.setattr(compilers, "usable_cores", lambda: 1)

    def asked(**how):
        monkeypatch.setenv("FAKE_COMPILER", json.dumps({"store": NAMES, **how}))
        return units_of_program(4, "32", FEATURES)

    return asked


def kept(tmp_path):
    store = Store(tmp_path / "cache")
    return [name for name in NAMES if store.load(key_of(name))]


def test_all_is_well(ask, tmp_path, monkeypatch):
    plan, code = ask()
    assert list(plan.units) == NAMES and code == CODE and kept(tmp_path) == NAMES
    monkeypatch.setattr(subprocess, "Popen", None)  # the second time nothing is started
    assert ask() == (plan, code)


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ("dies", "ended with code -9 .*Units that were compiled before are kept"),
        ("dies while it writes", "ended with code -9 .*Units that were compiled before are kept"),
        ("leaves", "(?s)ended with code 1 .*It wrote:\nthese are my last words"),
        ("says so", "no such thing"),
        ("rubbish", "wrote b'rubbish.n', which is no answer"),
        ("[1, 2]", "which is no answer"),
        ("{}", "which is no answer"),
    ],
)
@pytest.mark.parametrize("after", [0, 3])
def test_one_that_fails(ask, tmp_path, fails, says, after):
    """At the plan, and at the third unit: the two before stay, and the next try compiles the others."""
    with pytest.raises(RuntimeError, match=says) as caught:
        ask(fails=fails, after=after)
    assert f"compiling {NAMES[2] if after else 'the solver'} failed" in str(caught.value)
    assert kept(tmp_path) == NAMES[: max(0, after - 1)]
    assert ask()[1] == CODE and kept(tmp_path) == NAMES


def test_only_what_is_missing_is_compiled(ask):
    """Four jobs are allowed: the plan and three units; then two."""
    with pytest.raises(RuntimeError):
        ask(fails="dies", after=4)
    assert ask(fails="dies", after=3)[1] == CODE


def test_a_python_that_cannot_be_started(ask, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/no/such/python")
        with pytest.raises(RuntimeError, match=r"sys.executable, .* cannot be started: .*'/no/such/python'"):
            ask()
    assert ask()[1] == CODE


@pytest.mark.parametrize("name", ["executable", "frozen"])
def test_a_python_inside_another_program(monkeypatch, name):
    """There is none to compile with, so Taichi compiles all in this process."""
    if not programs.can_compile_apart():
        pytest.skip("units cannot be compiled here")
    with monkeypatch.context() as patched:
        patched.setattr(sys, name, {"executable": "", "frozen": True}[name], raising=False)
        assert not programs.can_compile_apart.__wrapped__()


def test_several_processes_one_of_which_dies(ask, tmp_path, monkeypatch):
    """Each dies at its third job."""
    monkeypatch.setattr(compilers, "usable_cores", lambda: 2)
    monkeypatch.setattr(compilers, "_UNITS_OF_PROCESS", 2)
    with pytest.raises(RuntimeError, match="ended with code -9"):
        ask(fails="dies", after=2)
    assert kept(tmp_path)
    assert ask()[1] == CODE


def test_a_job_that_finds_its_process_dead(ask):
    """The job stays in the pipe's buffer; closing the pipe does not hide what happened."""
    with pytest.raises(RuntimeError, match="ended with code -9"), compilers._started() as process:
        process._process.kill()
        process._process.wait()
        process.answer({"do": "plan"})


def test_no_process_stays(ask, monkeypatch):
    started, popen = [], subprocess.Popen

    def start(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(RuntimeError):
        ask(fails="rubbish", after=2)
    ask()
    assert len(started) == 2 and all(process.poll() is not None for process in started)


def in_a_process(tmp_path, first="", **how):
    """A process that asks for the program, after doing something else."""
    script = f"""
import signal, sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tumble.physics.run.compile import compilers
from tests.physics.codegen.test_compilers import FEATURES
compilers._MODULE, compilers.usable_cores = "tests.physics.codegen.fake_compiler", lambda: 1
{first}
print("begins", flush=True)
print(len(compilers.units_of_program(4, "32", FEATURES)[1]))
"""
    place = {**os.environ, "TUMBLE_CACHE": str(tmp_path / "cache")}
    place["FAKE_COMPILER"] = json.dumps({"store": NAMES, **how})
    command = [sys.executable, "-c", script]
    run = subprocess.Popen(command, env=place, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout.readline() == "begins\n"
    return run


def test_an_interrupt_is_not_meant_for_them(tmp_path):
    """A terminal sends it to all processes of a group; the one that uses the solver may go on all the same."""
    run = in_a_process(tmp_path, "signal.signal(signal.SIGINT, lambda *_: None)", seconds=0.1)
    while not select.select([run.stdout], [], [], 0.05)[0]:
        os.killpg(run.pid, signal.SIGINT)
    assert run.communicate()[0] == f"{len(NAMES)}\n"


def test_what_is_compiled_is_kept_at_once(tmp_path):
    """The process that waits is killed while the third unit is made: the two before are there."""
    run, until = in_a_process(tmp_path, seconds=1.0), time.monotonic() + 60.0
    while len(kept(tmp_path)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    run.kill()
    run.communicate()
    assert kept(tmp_path)[:2] == NAMES[:2] and len(kept(tmp_path)) < len(NAMES)


def test_what_another_process_has_compiled_meanwhile(tmp_path, ask, monkeypatch):
    """Two begin with nothing in the cache: what the first has made the second does not make again."""
    jobs, answer = [], compilers._Process.answer

    def answer_beside_another(process, job):
        jobs.append(job["do"])
        for name in NAMES if job["do"] == "compile" else ():
            Store(tmp_path / "cache").save(key_of(name), name.encode())
        return answer(process, job)

    monkeypatch.setattr(compilers._Process, "answer", answer_beside_another)
    assert ask()[1] == CODE and jobs == ["plan", "compile"]


# ---- what is told while it takes long


def patience(monkeypatch, seconds):
    monkeypatch.setattr(waiting, "PATIENCE", seconds)
    monkeypatch.setattr(waiting, "INTERVAL", seconds)


def test_a_compilation_is_told_again_and_again(ask, monkeypatch, caplog):
    """From the start of the first process on, before it is known which parts there are."""
    patience(monkeypatch, 0.1)
    with caplog.at_level(logging.INFO, logger="tumble"):
        ask(seconds=0.25, plan_seconds=1.0)
        said = [record.getMessage() for record in caplog.records]
        assert len(said) >= 3 and all(text.startswith("compiling the solver for this model, once: ") for text in said)
        assert "parts" not in said[0] and said[-2].endswith(f"of {len(NAMES)} parts)") and ": done after " in said[-1]
        caplog.clear()
        ask(seconds=0.25)  # all is there
        assert not caplog.records


def test_a_program_sees_that_something_is_compiled_and_when_it_is_done(ask, monkeypatch, capfd):
    """Two lines, however long it takes."""
    patience(monkeypatch, 0.1)
    monkeypatch.setattr(waiting.logger, "handlers", [])
    monkeypatch.setattr(waiting.logger, "level", logging.NOTSET)
    waiting.logger.manager._clear_cache()
    ask(seconds=0.25, plan_seconds=1.0)
    lines = [re.sub(r"\d+ s", "N s", line) for line in capfd.readouterr().err.splitlines()]
    begun = "tumble: compiling the solver for this model, once: "
    assert lines == [f"{begun}N s so far", f"{begun}done after N s"]


def test_what_is_quick_is_not_told(ask, monkeypatch, caplog):
    patience(monkeypatch, 30.0)
    with caplog.at_level(logging.INFO, logger="tumble"):
        ask()
        assert not caplog.records
