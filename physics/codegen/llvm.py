"""Access to LLVM through llvmlite, which is imported at the first call; without it `llvm()` raises ImportError."""

import ctypes
from functools import cache
from typing import Any

from ..process.libraries import variables


@cache
def llvm() -> Any:
    """Return the module `llvmlite.binding`, initialised for this machine, with opaque pointers.

    Raises:
        ImportError: llvmlite is not installed, or runs with typed pointers.
    """
    with variables({"LLVMLITE_ENABLE_OPAQUE_POINTERS": "1"}):  # llvmlite reads it when it is imported
        import llvmlite
        import llvmlite.binding as binding

    if not getattr(llvmlite, "opaque_pointers_enabled", True):  # from 0.45 on there is nothing else
        raise ImportError(
            "llvmlite was imported before Tumble, or is told to have typed pointers: "
            "set LLVMLITE_ENABLE_OPAQUE_POINTERS=1 in the environment"
        )
    if tuple(map(int, llvmlite.__version__.split(".")[:2])) < (0, 45):
        binding.initialize()  # later versions do it by themselves, and refuse the call
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def target_machine() -> Any:
    """Return LLVM's target machine for this processor. Engines share it, so no engine made with it may be closed."""
    binding = llvm()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


def keep_for_ever(thing: Any) -> None:
    """Never free an object, not even when the interpreter ends: a thread may still use its code or memory."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
