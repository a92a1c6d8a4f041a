"""Processes that Tumble starts import nothing that lies in the present folder."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from tumble.physics.files.geometry import pieces
from tumble.physics.machine.children import module_command, python_command
from tumble.physics.run.compile import compilers


def test_the_bait_is_taken_by_python_itself(planted):
    assert subprocess.run([sys.executable, "-c", "import queue"]).returncode == 77
    assert "queue" in planted.read_text(), "the attack works where nothing is done against it"


def test_commands_look_where_this_process_does(planted, tmp_path, monkeypatch):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "module_of_ours.py").write_text("import queue, sys\nprint(__name__, sys.argv[1:])\n")
    monkeypatch.syspath_prepend(str(tmp_path / "ours"))
    said = {"capture_output": True, "text": True, "check": True}
    shown = subprocess.run(python_command("import sys, module_of_ours; print(sys.path)", "a", "-b"), **said).stdout
    assert shown.splitlines() == ["module_of_ours ['a', '-b']", str(sys.path)]
    assert subprocess.run(module_command("module_of_ours", "-c"), **said).stdout == "__main__ ['-c']\n"
    assert not planted.exists()


KILLED = """
import os, signal, sys, tempfile
from tumble.physics.run.compile import compilers
with compilers._started() as process:
    process._process.stdin.flush()
    print(os.listdir(tempfile.gettempdir()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="units are compiled in other processes on Linux")
def test_no_folder_of_a_compiling_process_stays(tmp_path, monkeypatch):
    """Neither after it, nor after kill -9 of the process that started it; what others left goes with the next start."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, used, link, target = (tmp_path / name for name in ("tumble-work-a", "tumble-work-b", "tumble-work-c", "c"))
    for folder in (left, used, target):
        folder.mkdir()
        os.utime(folder, (0, 0))
    (left / "kernel.ll").write_text("")
    os.utime(left, (0, 0))
    link.symlink_to(target)
    lock = os.open(used, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with compilers._started():
        assert len(os.listdir(tmp_path)) == 4 and not left.exists(), "one more that is used, and one less that is not"
    os.close(lock)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "tumble-work-b", "tumble-work-c"]
    (tmp_path / "of another").mkdir()
    place = {**os.environ, "TMPDIR": str(tmp_path / "of another")}
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, env=place)
    assert done.returncode == -signal.SIGKILL and "tumble-work-" in done.stdout, done
    until = time.monotonic() + 60
    while list((tmp_path / "of another").iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    assert list((tmp_path / "of another").iterdir()) == []


def test_no_child_executes_what_lies_in_the_present_folder(planted):
    """Nor do those of libraries; children compile and take meshes apart."""
    with compilers._started() as process, pytest.raises(RuntimeError, match="KeyError"):
        process.answer({"do": "nothing"})  # its imports are done before it looks at the job
    pytest.importorskip("coacd")
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))], np.int32)
    assert "v0" in pieces._run(corners, faces, {"threshold": 1.0, "seed": 1})
    assert not planted.exists()
