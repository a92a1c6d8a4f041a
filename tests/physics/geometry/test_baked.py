"""Arrays kept on disk by content: damage, kills, many writers, and places that cannot be written to."""

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from tumble.physics.files.geometry import baked as module
from tumble.physics.files.geometry.baked import baked, decoded, encoded, folder, key_of

GIVEN = {"vertices": np.arange(12.0).reshape(4, 3), "faces": np.array([[0, 1, 2]], np.int32)}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "geometry"


def result(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "field": rng.random((5, 6, 7), np.float32),
        "samples": rng.random((9, 3)),
        "starts": np.arange(3, dtype=np.int32),
        "none": np.zeros((0, 3), np.int64),
    }


def equal(one, other):
    return list(one) == list(other) and all(
        np.array_equal(one[k], other[k]) and one[k].dtype == other[k].dtype for k in one
    )


class Computed:
    """The computation, and how often it ran."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return result()

    def asked(self, **options):
        return baked("test 1", GIVEN, options, self)


def test_arrays_are_computed_once(place):
    compute = Computed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(equal(compute.asked(), result()) for _ in range(3))
    assert compute.times == 1 and len(list(place.iterdir())) == 1


def test_names_are_of_the_content():
    """Recipe, options, names, types, shapes and numbers are all in the name of a file."""
    vertices = GIVEN["vertices"]
    others = [
        ("test 2", GIVEN, {}),
        ("test 1", GIVEN, {"error": 1e-4}),
        ("test 1", {**GIVEN, "vertices": np.nextafter(vertices, 1)}, {}),
        ("test 1", {**GIVEN, "vertices": vertices.reshape(3, 4)}, {}),
        ("test 1", {**GIVEN, "vertices": vertices.view(np.int64)}, {}),
        ("test 1", {"faces": GIVEN["vertices"], "vertices": GIVEN["faces"]}, {}),
    ]
    assert len({key_of("test 1", GIVEN, {}), *(key_of(*other) for other in others)}) == 7
    assert key_of("test 1", dict(reversed(GIVEN.items())), {}) == key_of("test 1", GIVEN, {})


def test_an_error_is_not_kept(place):
    def fail():
        raise ValueError("no inside")

    with pytest.raises(ValueError, match="no inside"):
        baked("test 1", GIVEN, {}, fail)
    assert not place.exists()


def test_a_thousand_damaged_files(place):
    """Cut off, or with a flipped bit: the right arrays each time, and a good file again."""
    compute, rng = Computed(), random.Random(3)
    compute.asked()
    (path,) = place.iterdir()
    whole = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(1000):
            if k % 2:
                path.write_bytes(whole[: rng.randrange(len(whole))])
            else:
                at = rng.randrange(8 * len(whole))
                path.write_bytes(whole[: at // 8] + bytes([whole[at // 8] ^ (1 << at % 8)]) + whole[at // 8 + 1 :])
            assert equal(compute.asked(), result())
            assert path.read_bytes() == whole
    assert compute.times == 1001


def test_contents_that_are_no_arrays():
    """Under a right hash: the table may not name other types, places outside, or leave a rest."""
    whole = encoded(result())
    rng = random.Random(5)
    assert equal(decoded(whole), result())
    for bad in (whole[:-8], whole + bytes(8), b"", whole.replace(b"<f4", b"|O8"), whole.replace(b"[5, 6", b"[-5,6")):
        assert decoded(bad) is None
    for _ in range(1000):  # an answer or none, never an exception
        at = rng.randrange(100)
        decoded(whole[:at] + rng.randbytes(1) + whole[at + 1 :])
    with pytest.raises(ValueError, match="object"):
        encoded({"x": np.array([None])})


def test_arrays_that_make_no_sense_are_computed_anew():
    compute = Computed()
    compute.asked()
    baked("test 1", GIVEN, {}, compute, sound=lambda arrays: False)
    assert compute.times == 2


@pytest.mark.parametrize("error", [errno.EROFS, errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("function", ["open", "fdopen", "replace"])
def test_a_disk_that_is_full_or_read_only(monkeypatch, place, error, function):
    """Files that are there are read, all else is computed, and one warning says why nothing is kept."""
    before = Computed()
    before.asked(there=True)
    module._store_in.cache_clear()
    whole = getattr(os, function)

    def refuse(path, flags=os.O_CREAT, *rest, **named):
        if function == "open" and not flags & os.O_CREAT:
            return whole(path, flags, *rest, **named)
        raise OSError(error, os.strerror(error), path)

    monkeypatch.setattr(os, function, refuse)
    compute = Computed()
    if function == "fdopen":
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))  # a write fails in the middle of the file
        error = errno.EFBIG
    try:
        with pytest.warns(RuntimeWarning, match=f"geometry is not kept.*{os.strerror(error)}") as said:
            assert all(equal(compute.asked(), result()) for _ in range(2))
    finally:
        if function == "fdopen":
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert len(said) == 1 and compute.times == 2
    compute.asked(there=True)
    assert compute.times == 2 and [path.suffix for path in place.iterdir()] == [".arrays"]


def test_what_others_could_have_written_counts_as_none(place):
    compute = Computed()
    compute.asked()
    (path,) = place.iterdir()
    path.chmod(0o666)
    with pytest.warns(RuntimeWarning, match="could be written to by users other than you"):
        compute.asked()
    assert compute.times == 2
    place.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="users other than you can write to"):
        compute.asked()
    assert compute.times == 3


@pytest.mark.parametrize(
    "variables, expected", [({"TUMBLE_CACHE": "0"}, None), ({"TUMBLE_CACHE": "/x"}, "/x/geometry")]
)
def test_where_it_lies(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (None if folder() is None else os.fspath(folder())) == expected
    monkeypatch.delenv("TUMBLE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/y")
    assert os.fspath(folder()) == "/y/tumble/geometry"


A_PROCESS = """
import sys
import numpy as np
from tumble.physics.files.geometry.baked import baked
assert not {"torch", "taichi", "mujoco", "llvmlite"} & set(sys.modules)

def compute():
    rng = np.random.default_rng(turn)
    return {"field": rng.random(300_000), "other": rng.random(7, np.float32)}

print("ready", flush=True)
sys.stdin.readline()
wrong = 0
for turn in range(int(sys.argv[1])):
    found = baked("many 1", {}, {"turn": turn % 8}, compute) if turn < 8 else baked(
        "many 1", {}, {"turn": turn % 8}, lambda: sys.exit(f"turn {turn} was lost"))
    expected = np.random.default_rng(turn % 8)
    wrong += not np.array_equal(found["field"], expected.random(300_000))
    wrong += not np.array_equal(found["other"], expected.random(7, np.float32))
print(wrong)
"""


def test_sixteen_processes_on_a_cold_cache_half_of_them_killed(place):
    """Each gets the right arrays, what was kept stays, and the killed leave nothing that is used."""
    command = [sys.executable, "-W", "error", "-c", A_PROCESS]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    all_of_them = [subprocess.Popen([*command, "100000" if k < 8 else "24"], **pipes) for k in range(16)]
    for process in all_of_them:
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    for process in all_of_them:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in all_of_them[:8]:
        time.sleep(0.03)
        process.send_signal(signal.SIGKILL)
    ended = [process.communicate(timeout=100) for process in all_of_them]
    assert [process.returncode for process in all_of_them] == [-signal.SIGKILL] * 8 + [0] * 8, ended
    assert [said for said, _ in ended[8:]] == ["0\n"] * 8
    assert len(list(place.glob("*.arrays"))) == 8
