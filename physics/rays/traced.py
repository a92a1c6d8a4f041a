"""The base of objects that exist only while a kernel is traced."""

from typing import ClassVar


class Traced:
    """Base of objects that kernels build while they are traced; the names are Taichi's markers for such classes."""

    _data_oriented: ClassVar[bool] = True
    _is_wrapped_kernel: ClassVar[bool] = True
