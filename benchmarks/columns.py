"""The GPU driver for a child process of a benchmark: on a GPU, or in its columns on the processor, for tests."""

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ..physics.machine.runtime import init, init_columns

GIB = 1 << 30


def begin(device: str) -> None:
    """Start Taichi for the GPU driver in single precision, on "cuda" or "cpu"."""
    if device == "cuda":
        init("cuda", precision="32")
    else:
        init_columns(arch=device, device=device, precision="32")


def wait(device: str) -> None:
    """Until the device has done all that it was given."""
    if device == "cuda":
        torch.cuda.synchronize()


class TimedSteps(NamedTuple):
    """Seconds of a piece of work: until it was done, and until the host had handed it out."""

    seconds: float
    host: float


def stretch(device: str, work: Callable[[], Any]) -> TimedSteps:
    """Time a piece of work, nothing of others waiting before it and nothing of it left behind."""
    wait(device)
    begun = time.perf_counter()
    work()
    handed_out = time.perf_counter()
    wait(device)
    return TimedSteps(time.perf_counter() - begun, handed_out - begun)


def steps_within(device: str, step: Callable[[], Any], seconds: float, most: int) -> int:
    """Return the number of steps that fit into so many seconds, 1 to `most`; takes three to find out."""
    step()  # the first one may compile
    return max(1, min(most, int(2 * seconds / stretch(device, repeat(step, 2)).seconds)))


def repeat(step: Callable[[], Any], times: int) -> Callable[[], None]:
    """A function that takes so many steps."""

    def work() -> None:
        for _ in range(times):
            step()

    return work


def forget_peak(device: str) -> None:
    """Count the peak of memory from here on, after unreferenced memory was given back."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def memory(device: str) -> dict[str, float | None]:
    """GiB on the device: the peak of torch's, in which all of a batch lies; and all that is used, by others too."""
    if device != "cuda":
        return {"peak GiB": None, "used GiB": None}
    free, total = torch.cuda.mem_get_info()
    return {"peak GiB": torch.cuda.max_memory_allocated() / GIB, "used GiB": (total - free) / GIB}


def describe(device: str) -> dict[str, Any]:
    """The device, in words and numbers."""
    if device != "cuda":
        return {"device": "the processor, in the GPU driver's columns", "torch": torch.__version__}
    found = torch.cuda.get_device_properties(0)
    sizes = {"GiB": found.total_memory / GIB, "multiprocessors": found.multi_processor_count}
    return {"device": found.name, **sizes, "torch": torch.__version__, "CUDA": torch.version.cuda}
