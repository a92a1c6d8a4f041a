"""The one owner of Taichi in this process: device, precision, threads, and everything that solvers share.

Taichi starts when something first needs it: at once for the GPU driver; on a CPU only where code cannot be compiled
apart (`run/programs.py`). `init` may be called again with other settings; solvers made before then raise
`StaleRuntimeError`: their kernels and scratch belong to the settings before.
"""

import atexit
import contextlib
import io
import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakSet

from . import taichi_thread
from .closed import invalidate, stop_daemons, stop_if_daemon
from .forking import leave_taichi_behind, on_fork
from .libraries import load_taichi, load_torch, taichi_home_variables, variables
from .machine import default_lanes, default_threads, lane_width, thread_count
from .taichi_thread import in_taichis_thread, start_before_next

DEVICES = ("cpu", "cuda")
PRECISIONS = ("32", "64")
_STALE = (
    "this solver belongs to an earlier tumble.init(...): Taichi has been restarted since. "
    "Make a new solver (or environment) after the last call of tumble.init."
)


class StaleRuntimeError(RuntimeError):
    """A solver is used after `tumble.init` restarted Taichi, or in a process forked from the one that made it."""


@dataclass(frozen=True)
class Runtime:
    """Settings in force.

    Attributes:
        device: "cpu" or "cuda".
        precision: "32" or "64" bits for every real number of the solver.
        lanes: environments per SIMD register.
        threads: worker threads.
        generation: counts the calls that started Taichi.
        arch: where the GPU driver's kernels run, as Taichi names it; "" for the CPU driver.
        pool: kernels and scratch that solvers share; Taichi frees them when it is restarted.
        solvers: the solvers that refer to them; when Taichi is restarted they refuse every call.
    """

    device: str
    precision: str
    lanes: int
    threads: int
    generation: int
    arch: str = ""
    pool: dict = field(default_factory=dict, compare=False, repr=False)
    solvers: WeakSet = field(default_factory=WeakSet, compare=False, repr=False)

    @property
    def columns(self) -> bool:
        """True if solvers have the GPU driver, which keeps batches in columns."""
        return bool(self.arch)

    @property
    def torch_device(self) -> Any:
        """The device, as torch names it; on a GPU with its number, as tensors there have it: the process's first."""
        import torch

        device = torch.device(self.device)
        return device if device.type == "cpu" else torch.device(device.type, device.index or 0)

    @property
    def dtype(self) -> Any:
        """The real type, as Taichi names it."""
        import taichi as ti

        return ti.f32 if self.precision == "32" else ti.f64

    @property
    def torch_dtype(self) -> Any:
        """The real type, as torch names it."""
        import torch

        return torch.float32 if self.precision == "32" else torch.float64

    def require(self) -> None:
        """Raise unless Taichi still runs with these settings."""
        if self is _state.inherited:
            raise StaleRuntimeError(
                "this solver was made before this process was forked, and its threads stayed in the other process. "
                "Make the solver (or environment) in the process that uses it."
            )
        if _state.current is not self:
            raise StaleRuntimeError(_STALE)

    def adopt(self, solver: Any) -> None:
        """Register a solver that was made with these settings: it refuses all further use when others replace them.

        Raises:
            StaleRuntimeError: they have done so already.
        """
        with _state.lock:
            self.require()
            self.solvers.add(solver)

    def launch(self, launch: Callable[[], Any]) -> None:
        """Call a function that launches compiled kernels; Taichi frees nothing meanwhile.

        Raises:
            StaleRuntimeError: Taichi was restarted, or the interpreter is about to exit.
        """
        with taichi_thread.launching:
            if not _state.ended:
                self.require()
                launch()
                return
        stop_if_daemon()  # an error would only be printed
        raise StaleRuntimeError(
            "Taichi was freed, as the interpreter is about to exit: nothing can be computed any more"
        )


class _State:
    def __init__(self) -> None:
        self.current: Runtime | None = None
        self.inherited: Runtime | None = None  # that of the process from which this one was forked
        self.generation = 0
        self.by_default = False  # True if the settings were not asked for
        self.taichi_runs = False
        self.ended = False  # the interpreter is about to exit, and Taichi is freed
        self.lock = threading.RLock()


_state = _State()


def init(
    device: str = "cpu",
    precision: str = "32",
    lanes: int | None = None,
    threads: int | None = None,
) -> Runtime:
    """Choose settings for Tumble, or others than before.

    Args:
        device: "cpu" or "cuda". The GPU driver has not run on a GPU yet (docs/how_it_works/gpu.md).
        precision: "32" (the usual one for training) or "64" (for proofs).
        lanes: environments per SIMD register: 1, 4, 8 or 16; by default as many as the processor's registers hold.
        threads: worker threads; by default one for each core, or `TUMBLE_THREADS`. Processes side by side do better
            with one each.

    Raises:
        ValueError: for a value that is not one of these.
    """
    precision = str(precision)
    if device not in DEVICES:
        raise ValueError(f"device={device!r}: Tumble runs on {' or '.join(map(repr, DEVICES))}")
    if device == "cuda":
        _require_gpu(lanes)
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r}: choose '32' or '64'")
    lanes = 1 if device == "cuda" else default_lanes(precision) if lanes is None else lane_width(lanes)
    threads = default_threads() if threads is None else thread_count("threads", threads)
    return _begin(device, precision, lanes, threads, "cuda" if device == "cuda" else "")


def _require_gpu(lanes: int | None) -> None:
    """Refuse a GPU that is not there, and lanes on it."""
    load_torch()
    import torch

    if not torch.cuda.is_available():
        raise ValueError(
            "device='cuda': this torch finds no GPU (torch.cuda.is_available() is False); install a CUDA build of "
            "torch and the GPU's driver, or use device='cpu'"
        )
    load_taichi()
    from taichi.lang import misc

    if not misc.is_arch_supported(misc.cuda):
        raise ValueError("device='cuda': Taichi cannot load the GPU's driver, libcuda.so; use device='cpu'")
    if lanes not in (None, 1):
        raise ValueError(f"lanes={lanes}: on a GPU every thread takes one environment; leave lanes out")


def init_columns(arch: str = "cpu", device: str = "cpu", precision: str = "32") -> Runtime:
    """Start Taichi for the GPU driver, on an architecture and with tensors on a device of the caller's choice.

    `init("cuda")` takes "cuda" for both. Others are for proofs: the driver's kernels on a processor, and on a GPU that
    is emulated, whose memory torch takes for the processor's.
    """
    return _begin(device, precision, 1, default_threads(), arch)


def _begin(device: str, precision: str, lanes: int, threads: int, columns_on: str = "") -> Runtime:
    """Take settings. Taichi starts with them at once for the GPU driver, else when something first needs it."""
    if taichi_home_variables():
        load_taichi()  # heavy, but later the user's program could not import it
    with _state.lock:
        on_fork(_begin_in_child)
        before = _state.current
        _leave(before)
        try:
            start_before_next(partial(_start_taichi, precision, threads, columns_on or "cpu"))
            if columns_on:
                in_taichis_thread(lambda: None)
        except BaseException:
            _return_to(before)
            raise
        _state.generation += 1
        _state.current = Runtime(device, precision, lanes, threads, _state.generation, columns_on)
        _state.by_default = False
        return _state.current


def _leave(runtime: Runtime | None) -> None:
    """Refuse all further work with these settings, before Taichi frees their memory.

    Threads that launch at the moment finish (`Runtime.launch`); whatever they ask for next is refused.
    """
    _state.current = None
    for solver in list(runtime.solvers) if runtime else ():
        invalidate(solver, StaleRuntimeError, _STALE, keeps=("close",))


def _return_to(runtime: Runtime | None) -> None:
    """Restore the previous settings, if new ones fail; solvers of before stay refused."""
    start_before_next(None)
    if runtime is not None:
        start_before_next(partial(_start_taichi, runtime.precision, runtime.threads, runtime.arch or "cpu"))
        _state.generation += 1
        _state.current = replace(runtime, generation=_state.generation, pool={}, solvers=WeakSet())


def ensure_runtime() -> Runtime:
    """Return the settings in force; without any, starts with the defaults, in a forked child as in its parent."""
    return _state.current or _first_runtime()


def ensure_runtime_near(device: str) -> Runtime:
    """Return the settings in force; if there are none yet and `device` is a GPU, start there.

    Taichi that runs elsewhere is left there, for the sake of the solvers that it has, with a warning if the place was
    not chosen explicitly.

    Args:
        device: "cuda", or the name of another of torch's devices, with or without a number.

    Raises:
        ValueError: Taichi would have to start on another GPU than the first, or cannot start on one.
    """
    kind, _, number = device.partition(":")
    if kind == "cuda" and _state.current is None and _state.inherited is None:
        if number not in ("", "0"):
            raise ValueError(
                f"device={device!r}: the solver takes the first GPU that the process sees; set "
                f"CUDA_VISIBLE_DEVICES={number} and say device='cuda', or place the solver by tumble.init(...), and "
                f"tensors are copied to {device}"
            )
        return init("cuda", os.environ.get("TUMBLE_PRECISION", "32"))
    current = ensure_runtime()
    if kind == "cuda" and current.device == "cpu" and _state.by_default:
        warnings.warn(
            f"device={device!r}: the solver stays on the processor, where an earlier call has started it, and "
            "every step's results are copied. Call tumble.init('cuda') first, or tumble.init('cpu') if that is meant.",
            RuntimeWarning,
            stacklevel=4,
        )
    return current


def _first_runtime() -> Runtime:
    with _state.lock:
        if _state.current is not None:  # another thread asked at the same time
            return _state.current
        if (parent := _state.inherited) is not None:
            return init(parent.device, parent.precision, parent.lanes, parent.threads)
        runtime = init(precision=os.environ.get("TUMBLE_PRECISION", "32"))
        _state.by_default = True
        return runtime


def _begin_in_child() -> None:
    """Reset a forked process to a state without Taichi; its first use takes the settings that its parent had."""
    _state.lock = threading.RLock()
    _state.taichi_runs = _state.ended = False
    start_before_next(None)
    if _state.current is not None:
        _state.inherited, _state.current = _state.current, None


def _start_taichi(precision: str, threads: int, arch: str) -> None:
    load_taichi()
    import taichi as ti

    from .compiler import start_taichi
    from .kernel_cache import settings

    if _state.inherited is not None and not _state.taichi_runs:
        leave_taichi_behind()
    _free_taichi()
    _state.taichi_runs = True
    cache = settings()
    ti.set_logging_level(ti.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):  # it announces its architecture
        start_taichi(arch, f"f{precision}", threads, **cache)


def _free_taichi() -> None:
    import taichi as ti

    with variables(taichi_home_variables()), taichi_thread.launching:
        ti.reset()


@atexit.register
def _free_at_exit() -> None:
    """Free Taichi in its own thread; the interpreter would do it in the main thread, where Taichi refuses."""
    stop_daemons(list(_state.current.solvers) if _state.current else [], taichi_thread.NAME)
    if _state.taichi_runs:
        _state.ended = True
        start_before_next(None)
        in_taichis_thread(_free_taichi)
