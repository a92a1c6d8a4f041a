"""The base of objects that exist only while a kernel is traced."""

from typing import ClassVar

import taichi as ti
from taichi.lang import impl


def for_gpu() -> bool:
    """Return True if the kernel that is being traced is for a GPU."""
    return impl.current_cfg().arch == ti.cuda


class Traced:
    """Base of objects that kernels build while they are traced; the names are Taichi's markers for such classes."""

    _data_oriented: ClassVar[bool] = True
    _is_wrapped_kernel: ClassVar[bool] = True
