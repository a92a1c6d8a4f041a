"""Commands that start Python in another process; every process of this Python that Tumble starts uses them.

`python -c` and `python -m` look for modules in the present folder first, so that a `queue.py` there would be executed.
These children have this process' `sys.path` from their first import on.
"""

import json
import os
import sys
from collections.abc import Iterable

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); exec(sys.argv.pop(1))"


def can_start_python() -> bool:
    """Return False if Python is embedded in another program, so that no command starts it."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def python_command(program: str, *arguments: str, path: Iterable[str] | None = None) -> list[str]:
    """Return the command of a Python process that runs a program.

    Args:
        program: its text, such as "from package.module import main; main()".
        arguments: its `sys.argv[1:]`.
        path: its `sys.path`; None: this process's at present.
    """
    places = [os.path.abspath(place) for place in (sys.path if path is None else path)]
    return [sys.executable, "-P", "-c", _START, json.dumps(places), program, *arguments]


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command of a process that runs a module as `python -m` does."""
    program = f"import runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    return python_command(program, *arguments)
