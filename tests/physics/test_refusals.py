"""What a solver is asked for and cannot do: refused before anything is touched, by name, with what to do."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

import tumble
from tumble.assets import FOLDER as ASSETS
from tumble.physics import Model, RigidSolver
from tumble.physics.machine.machine import default_threads
from tumble.physics.machine.memory import available_memory
from tumble.physics.machine.runtime import StaleRuntimeError, ensure_runtime
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.physics.run.columns.columns import Columns
from tumble.physics.run.gpu import FullCapacity
from tumble.physics.solver.solver import ClosedSolverError

from ..cases import cases

XML = """<mujoco><worldbody><body><joint name="x" type="slide"/><joint name="t"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""
ARGUMENTS = {
    "get": ("xpos",),
    "get_many": (("xpos",),),
    "view": ("qpos",),
    "inspect": (0,),
    "rollout": (np.zeros((2, 1, 1)),),
}
ARGUMENTS |= {"load_state_dict": ({},)}
MEMBERS = [name for name in vars(RigidSolver) if not name.startswith("_") and name != "close"]


@pytest.fixture(scope="module")
def model():
    tumble.init(precision="32")
    return Model.from_mjcf(XML)


@cases("count", [2.5, 2.0, "2", None, True, np.float32(3), 0, -1, np.int64(0)])
def test_counts_are_whole_numbers(model, count):
    with pytest.raises(ValueError, match=r"^num_envs="):
        RigidSolver(model, count)
    solver = RigidSolver(model, 2)
    if count is not True:  # one step, as True is one
        with pytest.raises(ValueError, match=r"^n="):
            solver.step(count)
    assert not solver.time.any()


def test_integers_of_any_type_are_counts(model):
    solver = RigidSolver(model, np.int64(3), lanes=np.int32(4))
    solver.step(np.uint8(2))
    solver.step(torch.tensor(2))
    assert solver.num_envs == 3 and type(solver.num_envs) is int
    assert solver.time.tolist() == pytest.approx([4 * model.mj.opt.timestep] * 3)


@cases("index", [[1.7], 0.5, np.array([0.0]), torch.tensor([1.0]), ["1"], [None]])
@cases("method", ["reset", "set_state", "forward", "get", "get_many"])
def test_indices_are_whole_numbers(model, method, index):
    solver = RigidSolver(model, 3)
    with pytest.raises(ValueError, match=r"envs_idx=.*whole numbers"):
        getattr(solver, method)(*ARGUMENTS.get(method, ()), envs_idx=index)


def test_no_index_at_all_is_one(model):
    solver = RigidSolver(model, 3)
    solver.reset([])
    assert solver.get("qpos", np.zeros(0)).shape == (0, 2)
    with pytest.raises(ValueError, match="whole number"):
        solver.inspect(0.5)


@cases("lanes", [3, 0, -4, 32, 4.0, "8"])
def test_widths_without_a_kernel(model, lanes):
    said = r"lanes=.*choose one of 1, 4, 8, 16" if isinstance(lanes, int) else "lanes=.*expected a whole number"
    with pytest.raises(ValueError, match=said):
        RigidSolver(model, 5, lanes=lanes)
    with pytest.raises(ValueError, match=said):
        tumble.init(lanes=lanes)


@cases("threads", [0, -1, 1.5, 10**6, "two", "0", "1000000"])
def test_absurd_numbers_of_threads(model, threads, monkeypatch):
    solver = RigidSolver(model, 2)
    if isinstance(threads, str):
        with monkeypatch.context() as patch, pytest.raises(ValueError, match="TUMBLE_THREADS="):
            patch.setenv("TUMBLE_THREADS", threads)
            default_threads()
    else:
        with pytest.raises(ValueError, match="threads="):
            tumble.init(threads=threads)
    solver.step()  # the runtime in force is the one before


def _ask(solver, name):
    member = inspect.getattr_static(RigidSolver, name)
    value = getattr(solver, name)
    return value if isinstance(member, property) else value(*ARGUMENTS.get(name, ()))


@cases("name", MEMBERS)
def test_a_closed_solver_refuses_everything_by_name(model, name):
    solver = RigidSolver(model, 2)
    solver.close()
    solver.close()
    assert isinstance(solver, RigidSolver) and solver.num_envs == 2
    with pytest.raises(ClosedSolverError, match=rf"RigidSolver\.{name}: this solver was closed; make a new one"):
        _ask(solver, name)


def test_nothing_is_written_to_a_closed_solver(model):
    solver = RigidSolver(model, 2)
    solver.close()
    with pytest.raises(ClosedSolverError, match=r"RigidSolver\.ctrl"):
        solver.ctrl = torch.zeros(2, 1)


def test_a_solver_of_an_earlier_start_refuses_everything_by_name():
    tumble.init(precision="32")
    solver = RigidSolver(Model.from_mjcf(XML), 2)
    tumble.init(precision="32")
    for name in MEMBERS:
        with pytest.raises(StaleRuntimeError, match=rf"RigidSolver\.{name}: .*earlier tumble\.init.*new solver"):
            _ask(solver, name)
    solver.close()
    with pytest.raises(ClosedSolverError, match="was closed"):
        solver.step()


@cases("bad", [np.nan, np.inf, -np.inf, 1e11])
@cases("where", ["qpos", "qvel"])
def test_nothing_starts_from_what_is_not_finite(model, bad, where):
    """Refused as a whole: the environments named with it stay as they were."""
    solver = RigidSolver(model, 4)
    solver.step(3)
    before = solver.state_dict()
    start = np.zeros((2, 2))
    start[1, 1] = bad
    with pytest.raises(ValueError, match=rf"{where}\[1, 1\] is .*finite numbers"):
        solver.reset([1, 3], **{where: start})
    for name, part in solver.state_dict().items():
        assert torch.equal(part, before[name])


WIDE = """<mujoco><option gravity="0 0 {gravity}"/><worldbody><body name="b">
<joint name="x" type="slide" damping="{damping}"/><geom size="{size}" mass="{mass}"/></body></worldbody>
<actuator><motor joint="x" ctrlrange="-{ctrl} {ctrl}"/></actuator></mujoco>"""
ORDINARY = {"gravity": -9.8, "damping": 1, "size": 0.1, "mass": 1, "ctrl": 1}


@cases(
    "field, message",
    [
        ("gravity", r"option gravity 1e\+300 is infinite in single precision"),
        ("damping", r"joint 'x': damping 1e\+300 is infinite in single precision"),
        ("mass", r"body 'b': mass 1e\+300 is infinite in single precision"),
        ("size", r"1e\+\d+ is infinite in single precision"),
        ("ctrl", ""),
    ],
)
def test_numbers_that_single_precision_makes_infinite(field, message):
    """Refused by name where the precision is known, but where infinity is as good; a range beyond all numbers holds."""
    found = Model.from_mjcf(WIDE.format(**ORDINARY | {field: "1e60" if field == "size" else "1e300"}))
    if message:
        with pytest.raises(ModelLoadError, match=message):
            RigidSolver(found, 1)
    else:
        RigidSolver(found, 1).close()


def test_own_numbers_that_single_precision_makes_infinite(model):
    solver = RigidSolver(model, 2)
    with pytest.raises(ValueError, match=r"body_mass\[1\] of environment 1 is 1e\+300: it is infinite in single"):
        solver.set_parameters("body_mass", [0, 1e300], [1])


def test_more_environments_than_fit(model):
    """What the message says an environment needs is at least what the solver then allocates for it."""
    humanoid = Model.from_mjcf(ASSETS / "humanoid.xml")
    for mine, least in ((model, 2 * 4 * (4 * 2)), (humanoid, 2 * 4 * (28 + 4 * 27))):
        with pytest.raises(MemoryError, match=r"num_envs=1,000,000,000,000: .* GiB .* are free: at most") as refusal:
            RigidSolver(mine, 10**12)
        assert bytes_in(refusal) > least


def bytes_in(refusal):
    """Return the bytes of an environment that a message names."""
    return int(re.search(r"\(([\d,]+) bytes", str(refusal.value))[1].replace(",", ""))


OUTPUTS = {"xpos": 3, "xmat": 9, "cinert": 10, "cvel": 6}
"""Numbers of a body."""


@pytest.mark.parametrize("columns", [False, True], ids=["tiles", "columns"])
def test_outputs_count_in_the_memory_of_a_batch(model, columns):
    """Outputs of every step are stored once, and on a CPU a second time where some environments are evaluated again."""
    refused = []
    for outputs in ((), OUTPUTS):
        with pytest.raises(MemoryError, match="are free: at most") as refusal:
            if columns:
                FullCapacity(model, Columns(10**12, torch.device("cpu")), "32", outputs)
            else:
                RigidSolver(model, 10**12, outputs=tuple(outputs))
        refused.append(bytes_in(refusal))
    number = 4 if columns else torch.finfo(ensure_runtime().torch_dtype).bits // 8
    assert refused[1] - refused[0] == (1 if columns else 2) * number * model.mj.nbody * sum(OUTPUTS.values())


LIMITED = """
import resource
from tumble.physics.machine.memory import available_memory
pages = int(open("/proc/self/statm").read().split()[{column}]) * resource.getpagesize()
resource.setrlimit(resource.{limit}, (pages + (1 << 28),) * 2)
print((1 << 28) - (1 << 22) <= available_memory() <= (1 << 28))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="proc(5)")
@pytest.mark.parametrize(("limit", "column"), [("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)])
def test_limits_of_the_process_count(limit, column):
    """Of 256 MiB that are left, all but what the two lines after took."""
    program = LIMITED.format(limit=limit, column=column)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True\n", done


def test_free_memory_is_the_least_that_anyone_grants(tmp_path):
    info, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    info.write_text("MemTotal: 100 kB\nMemAvailable:   64 kB\nSwapFree: 8 kB\n")
    limit.write_text("max\n")
    assert available_memory(info, (str(limit),)) == 72 * 1024
    limit.write_text("4096\n")
    assert available_memory(info, (str(limit), str(tmp_path / "none"))) == 4096
    assert available_memory(tmp_path / "none", ()) == float("inf")
    (tmp_path / "memory.current").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\nactive_file 500\ninactive_file 1500\n")
    assert available_memory(info, (str(limit),)) == 4096 - 1000, "files that were read can be given back"
