"""Access to LLVM through llvmlite, which is imported at the first call; without it `llvm()` raises ImportError.

Object files are loaded by LLVM's JITLink, which puts the code and constants of a file side by side. (LLVM's older
loader maps them apart. In a fragmented address space they may lie more than 2 GiB apart, which 32-bit relative
addresses cannot span, and the process ends.)
"""

import ctypes
import threading
from functools import cache
from itertools import count
from typing import Any

from ..forking import forks_wait_for

_numbers = count()  # of the libraries in which object files are loaded


_PROMOTING = ("sroa", "simplify_cfg")
"""Passes of LLVM that make registers of stack slots; more of them gain nothing but a longer compilation."""


@cache
def llvm() -> Any:
    """Return the module `llvmlite.binding`, initialised for this machine.

    Raises:
        ImportError: llvmlite is not installed.
    """
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def target_machine() -> Any:
    """Return LLVM's target machine for this processor."""
    binding = llvm()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


def architecture() -> str:
    """Return the name of this processor's architecture, the first part of its target triple, such as "x86_64"."""
    return llvm().get_process_triple().split("-")[0].replace("arm64", "aarch64")


def machine_code(text: str) -> bytes:
    """Compile a module's text for this processor; return the object file."""
    with _lock():
        return _object_of(text)


def optimized_machine_code(text: str) -> bytes:
    """Compile a module's text with variables in registers and simple instructions combined; return the object file.

    LLVM's whole pipeline takes ten times as long, and gains nothing with loops that are written as vectors.
    """
    with _lock():
        binding = llvm()
        module = binding.parse_assembly(text)
        module.verify()
        passes = binding.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(module, binding.create_pass_builder(target_machine(), binding.create_pipeline_tuning_options()))
        code: Any = target_machine().emit_object(module)
        return bytes(code)


def promoted_machine_code(text: str) -> bytes:
    """Compile a module's text after the values in stack slots have become registers."""
    with _lock():
        binding = llvm()
        module = binding.parse_assembly(text)
        module.verify()
        passes = binding.create_new_function_pass_manager()
        for name in _PROMOTING:
            getattr(passes, f"add_{name}_pass")()
        builder = binding.create_pass_builder(target_machine(), binding.create_pipeline_tuning_options(2))
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        code: Any = target_machine().emit_object(module)
        return bytes(code)


def _object_of(text: str) -> bytes:
    module = llvm().parse_assembly(text)
    module.verify()
    code: Any = target_machine().emit_object(module)
    return bytes(code)  # the module is freed here, while the lock is held


def load(code: bytes, *names: str) -> list[int]:
    """Load an object file and never unload it; return the addresses of some of its functions.

    Raises:
        RuntimeError: it cannot be loaded here.
    """
    with _lock():
        builder = llvm().JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        try:
            library = builder.link(_linker(), f"tumble{next(_numbers)}")
        except RuntimeError as error:
            raise RuntimeError(f"{error}: LLVM has written the reason to standard error") from error
        keep_for_ever(library)
        return [library[name] for name in names]


@cache
def _linker() -> Any:
    """Return LLVM's JIT compiler, which loads object files by JITLink."""
    linker = llvm().create_lljit_compiler(use_jit_link=True)
    keep_for_ever(linker)
    return linker


@cache
def _lock() -> threading.Lock:
    """Return the lock that is held while LLVM works; a fork waits for it, as LLVM's own locks would stay locked."""
    lock = threading.Lock()
    forks_wait_for(lock)
    return lock


def keep_for_ever(thing: Any) -> None:
    """Never free an object, not even when the interpreter ends: a thread may still use its code or memory."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
