"""Taichi's CUDA backend on a machine without a GPU, for tests.

    emulation = Emulation(tmp_path)
    done = emulation.run(PROGRAM)  # text of a Python program that calls ti.init(arch=ti.cuda)
    assert [call["kernel"] for call in done.calls("launch")] == [...]

The program runs in a process of its own, in which `libcuda.so` is the emulated driver (driver/): device memory is host
memory, and kernels are translated from PTX to C (ptx_to_c.py) and run on the CPU, one thread after the other.
"""

import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_OPTIONS = ["-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]


def why_not() -> str | None:
    """Why this machine cannot emulate, or None where it can."""
    if shutil.which("gcc") is None:
        return "the emulation of CUDA compiles with gcc, which is not on the PATH"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return "the emulation of CUDA is written for Linux on x86-64"
    return None


def cache_folder() -> Path:
    """Where compiled things stay from session to session: CUDA_EMULATION_CACHE, or a folder in the user's cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("CUDA_EMULATION_CACHE") or home / "tumble" / "cuda_emulation").absolute()


@functools.cache
def driver_folder(cache: Path) -> Path:
    """The folder of the emulated libcuda.so, built where it is not there yet for these sources."""
    sources = sorted((_HERE / "driver").iterdir())
    text = "\0".join([*_OPTIONS, *(path.read_text() for path in sources)])
    folder = cache / f"driver_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        made = Path(temporary, "made")
        made.mkdir()
        code = [path for path in sources if path.suffix == ".c"]
        subprocess.run(["gcc", *_OPTIONS, "-o", made / "libcuda.so", *code, "-ldl"], check=True)
        (made / "libcuda.so.1").symlink_to("libcuda.so")
        try:
            made.rename(folder)
        except OSError:  # another process was first
            assert folder.exists()
    return folder


@dataclass(frozen=True)
class Done:
    """What a program left behind."""

    returncode: int
    stdout: str
    stderr: str
    log: list[dict[str, Any]]  # the driver's calls in order: a kind, and its numbers (README.md lists them)
    counts: list[dict[str, Any]]  # in counting mode, what the threads of each launch did, in sum
    modules: list[Path]  # the PTX that the program loaded

    def calls(self, kind: str, **members: Any) -> list[dict[str, Any]]:
        """The calls of a kind, with these members: `calls("copy", direction="HtoD")`."""
        wanted = {"kind": kind, **members}
        return [call for call in self.log if all(call.get(name) == value for name, value in wanted.items())]


@dataclass(frozen=True)
class Emulation:
    """How programs are to run; `folder` takes what they leave behind, a folder for each run.

    kernels: translate and run them; else a launch only stands in the log, and the PTX in `modules`.
    count: count what each launch does.
    tensors_on_device: torch's CPU tensors count as device memory, as CUDA tensors would: Taichi copies nothing.
    sm: the pretended architecture; Taichi writes PTX for 86 at most.
    """

    folder: Path
    kernels: bool = True
    log: bool = True
    count: bool = False
    tensors_on_device: bool = True
    sm: int = 90

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables of a process that shall find the emulated driver and leave its files in a folder."""
        cache = cache_folder()
        paths = [str(driver_folder(cache)), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        wanted = {
            "LD_LIBRARY_PATH": ":".join(paths),
            "CUDA_EMULATION_CACHE": str(cache),
            "TI_OFFLINE_CACHE_FILE_PATH": str(cache / "taichi"),  # Taichi would tidy up among Tumble's kernels
            "CUDA_EMULATION_FOLDER": str(folder),
            "CUDA_EMULATION_SM": str(self.sm),
        }
        if self.kernels:
            root = _HERE.parent.parent
            wanted["CUDA_EMULATION_TRANSLATOR"] = f"cd '{root}' && '{sys.executable}' -S -E -m tests.cuda.ptx_compile"
        if self.log:
            wanted["CUDA_EMULATION_LOG"] = str(folder / "log.jsonl")
        if self.count:
            wanted["CUDA_EMULATION_COUNTS"] = str(folder / "counts.jsonl")
        if self.tensors_on_device:
            wanted["CUDA_EMULATION_HOST_IS_DEVICE"] = "1"
        others = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_EMULATION_")}
        return others | wanted

    def run(self, program: str, *arguments: object, check: bool = True, timeout: float = 600) -> Done:
        """Run a Python program; where it fails and `check` holds, what it said is the error's message."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="run_", dir=self.folder.absolute()))
        script = folder / "program.py"
        script.write_text(program)
        command = [sys.executable, str(script), *map(str, arguments)]
        ended = subprocess.run(
            command, env=self.environment(folder), capture_output=True, text=True, timeout=timeout, check=False
        )
        if check and ended.returncode:
            raise AssertionError(f"{' '.join(command)} ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
        log, counts = _records(folder / "log.jsonl"), _records(folder / "counts.jsonl")
        modules = sorted(folder.glob("*.ptx"))
        return Done(ended.returncode, ended.stdout, ended.stderr, log, counts, modules)


def main() -> None:
    """By hand: `python -m tests.cuda.emulation FOLDER COMMAND...`; CUDA_EMULATION_COUNT=1 in front of it counts."""
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("log.jsonl", "counts.jsonl"):  # of the run before: calls are appended
        (folder / name).unlink(missing_ok=True)
    emulation = Emulation(folder, count="CUDA_EMULATION_COUNT" in os.environ)
    os.execvpe(sys.argv[2], sys.argv[2:], emulation.environment(folder))


def _records(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line; none where there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
