"""Messages about mistakes in a user's task: one line that names the mistake, and its line in the user's code.

An error is the task's if the user's code is at work when it is raised, or if `envs.checks` refuses a result of a
task. Everything else may be a mistake of Tumble's, whose traceback must not be lost.
"""

import site
import sys
import sysconfig
import traceback
from functools import cache
from pathlib import Path

from .. import envs
from .errors import TumbleUserError

PACKAGE = ("__init__.py", "__main__.py", "robots.py", "wrappers.py")
ROOMS = ("assets", "benchmarks", "envs", "physics", "scene", "soft", "terrain", "training", "viewer")


class TaskError(TumbleUserError, ValueError):
    """A task that does not exist, or cannot be made; the message says what to do, or where the mistake is."""


def describe(error: BaseException) -> str:
    """Return "file:line: Kind: message", with the last line of the user's own code that was at work."""
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    places = _places(error)
    return f"{f'{places[-1]}: ' if places else ''}{type(error).__name__}: {message}"


def is_the_tasks(error: BaseException) -> bool:
    """Return whether the task's code, or its result, is to blame."""
    frames = traceback.extract_tb(error.__traceback__)
    checks = Path(envs.__file__).with_name("batch") / "checks.py"
    return bool(_places(error)) or (bool(frames) and Path(frames[-1].filename) == checks)


def _places(error: BaseException | None) -> list[str]:
    """Return the lines of users' code in an error's traceback, or else its cause's, "file:line", outermost first."""
    if error is None:
        return []
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno}" for frame in frames if is_users(frame.filename)] or _places(
        error.__cause__
    )


@cache
def is_users(filename: str) -> bool:
    """Return whether a file belongs neither to Tumble, nor to Python, nor to installed packages."""
    if filename.startswith("<"):
        return False
    root, paths = Path(envs.__file__).parents[1], sysconfig.get_paths()
    others = [root / name for name in (*PACKAGE, *ROOMS)]
    others += [Path(paths[kind]) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    others += [Path(path) for path in (*site.getsitepackages(), site.getusersitepackages())]
    others += [Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return not any(Path(filename).is_relative_to(other) for other in others)
