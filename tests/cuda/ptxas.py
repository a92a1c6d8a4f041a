"""What NVIDIA's assembler says of a module of PTX: registers and spills. It needs no GPU."""

import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from .ptx_reader import Function, read_module

_ENTRY = re.compile(r"Compiling entry function '([\w$]+)'")
_PROPERTIES = re.compile(r"Function properties for ([\w$]+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


@dataclass
class Usage:
    """What one thread of a kernel needs; bytes, with those of the functions that the kernel calls."""

    registers: int = 0
    stack_frame: int = 0
    spill_stores: int = 0
    spill_loads: int = 0


def find_ptxas() -> str | None:
    """The tool: as TUMBLE_PTXAS says, from the wheel nvidia-cuda-nvcc-cu12, or from the PATH."""
    named = os.environ.get("TUMBLE_PTXAS")
    if named:
        return named
    wheel = Path(sysconfig.get_path("purelib"), "nvidia", "cuda_nvcc", "bin", "ptxas")
    return str(wheel) if wheel.exists() else shutil.which("ptxas")


def ptxas_report(ptx: Path, sm: int) -> dict[str, Usage] | None:
    """The usage of each entry of a module, by its name; None where the tool is not to be found."""
    tool = find_ptxas()
    if tool is None:
        return None
    command = [tool, "--verbose", "--gpu-name", f"sm_{sm}", "--output-file", os.devnull, str(ptx)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
    own = _read_report(done.stdout + done.stderr)
    called = {function.name: _called(function) for function in read_module(ptx.read_text()).functions}
    return {name: _sum(own, _reached(name, called)) for name, usage in own.items() if usage.registers}


def _read_report(text: str) -> dict[str, Usage]:
    """What each function needs by itself; only those of entries have registers."""
    report: dict[str, Usage] = {}
    name = ""
    for line in text.splitlines():
        if match := _PROPERTIES.search(line) or _ENTRY.search(line):
            name = match[1]
        elif match := _STACK.search(line):
            report[name] = Usage(0, *map(int, match.groups()))
        elif match := _REGISTERS.search(line):
            report[name].registers = int(match[1])
    return report


def _called(function: Function) -> set[str]:
    """The words in a function's calls, of which some are names of functions."""
    calls = (statement.text for statement in function.body or () if statement.text.startswith("call"))
    return {word for call in calls for word in re.findall(r"[\w$]+", call)}


def _reached(name: str, called: dict[str, set[str]]) -> set[str]:
    """A function, and all that it calls, and what they call."""
    reached, new = set(), {name}
    while new:
        reached |= new
        new = {below for function in new for below in called[function] if below in called} - reached
    return reached


def _sum(own: dict[str, Usage], names: set[str]) -> Usage:
    """The need of functions together. Registers are counted once, for the entry: ptxas includes what it calls."""
    parts = [own[name] for name in names if name in own]
    return Usage(
        max(part.registers for part in parts),
        sum(part.stack_frame for part in parts),
        sum(part.spill_stores for part in parts),
        sum(part.spill_loads for part in parts),
    )
