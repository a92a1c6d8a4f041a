"""Torch and Taichi are loaded by these functions, so that nothing in the environment has to be set for them for good.

Both libraries read environment variables once, while they are loaded. A variable that the user has not set is set for
this moment, and neither the process nor its children see it afterwards. The doors to the engine call these
functions: names of `tumble.envs`, `tumble.physics` and `tumble.wrappers`, `make_vec`, Gymnasium's registry, the command
line. A program that loads torch before, or by a module behind the doors, has it as the environment says.
"""

import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator

IDLE_THREADS_SLEEP = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Torch's idle threads sleep. Otherwise they spin after every operation, on the cores that the solver's workers need:
on two cores a step of 1,024 ants and a small network took 2.6 times as long."""
NO_GREETING = {"ENABLE_TAICHI_HEADER_PRINT": "0"}
"""Taichi does not print its version on standard output."""
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Children do not import from the present folder: MuJoCo loads glfw, which starts `python -c "import ctypes"`."""
NO_NEWS = {"TI_SKIP_VERSION_CHECK": "ON"}
"""Taichi does not ask its server for newer versions when it is started."""


@contextlib.contextmanager
def variables(defaults: dict[str, str]) -> Iterator[None]:
    """Inside of this context, have environment variables that are not set otherwise."""
    absent = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(absent)
    try:
        yield
    finally:
        for name in absent:
            os.environ.pop(name, None)


def taichi_home_variables() -> dict[str, str]:
    """Return environment variables that Taichi needs: without HOME and XDG_CACHE_HOME it aborts the process."""
    needed = os.name == "posix" and not {"HOME", "XDG_CACHE_HOME"} & set(os.environ)
    return {"XDG_CACHE_HOME": tempfile.gettempdir()} if needed else {}


def let_idle_threads_sleep() -> None:
    """Set torch's variable for good, in a program's own process and its children; for programs, once."""
    for name, value in IDLE_THREADS_SLEEP.items():
        os.environ.setdefault(name, value)


def pip_install(extra: str) -> str:
    """Return the command that installs an extra of Tumble's, for a wheel and for a clone that is installed editably."""
    return f'pip install "tumble[{extra}]"'


def load_mujoco() -> None:
    """Load MuJoCo, if it is not loaded yet, such that no file of the present folder is executed."""
    if "mujoco" not in sys.modules:
        with variables(SAFE_PATH):
            importlib.import_module("mujoco")


def load_torch() -> None:
    """Load torch, if it is not loaded yet, such that its idle threads sleep."""
    if "torch" not in sys.modules:
        with variables(IDLE_THREADS_SLEEP):
            importlib.import_module("torch")


def load_taichi() -> None:
    """Load Taichi, if it is not loaded yet, in silence, and where there is no home as well."""
    if "taichi" not in sys.modules:
        with variables(NO_GREETING | taichi_home_variables()):
            importlib.import_module("taichi")
