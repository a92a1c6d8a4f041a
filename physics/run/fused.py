"""The whole kernel of a launch, compiled by Taichi in this process, if units cannot be compiled apart (`programs`)."""

from typing import Any

from ..base.math import Lanes
from ..machine.runtime import Runtime
from ..machine.taichi_thread import in_taichis_thread
from ..model.features import Features
from .bound_kernel import Kernel
from .kernel import make_kernel
from .tiles.scratch import shared_scratch


def shared_kernel(runtime: Runtime, width: int, features: Features) -> Kernel:
    """Return the kernel for a lane width and features; it is made once, then shared."""
    return in_taichis_thread(_shared_kernel, runtime, width, features)


def _shared_kernel(runtime: Runtime, width: int, features: Features) -> Kernel:
    runtime.require()
    key, scratch = ("kernel", width, features), shared_scratch(runtime, width)
    if key not in runtime.pool:

        def make() -> Any:
            return make_kernel(Lanes(width, runtime.dtype), features, scratch)

        runtime.pool[key] = Kernel(runtime, scratch, make)
    return runtime.pool[key]
