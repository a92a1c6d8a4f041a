"""Programs of the pages in `docs` and of `examples/tasks`, as tests read and run them."""

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest

from tumble.training import task_source

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples" / "tasks"


def page(name: str) -> str:
    """Return the text of a page of `docs` in any folder; of several of a name, the one that is the least deep."""
    return min(DOCS.rglob(f"{name}.md"), key=lambda path: len(path.parts)).read_text("utf-8")


def blocks(name: str, language: str = "python", after: str = "") -> list[str]:
    """Return the code of a language on a page, after a heading, in order."""
    return re.findall(rf"```{language}\n(.*?)```", page(name).partition(after)[2] if after else page(name), re.DOTALL)


def examples(*names: str) -> dict[str, str]:
    """Return the texts of some files of examples by their names."""
    return {name: (EXAMPLES / name).read_text("utf-8") for name in names}


def execute(program: str, names: dict | None = None) -> dict:
    """Run a program in this process, which has the kernels; return the names that it leaves behind."""
    names = {"__name__": "__main__"} if names is None else names
    exec(compile(program, "page", "exec"), names)
    return names


@contextlib.contextmanager
def as_in_a_new_process(folder: Path, files: dict[str, str] | None = None) -> Iterator[pytest.MonkeyPatch]:
    """Work in a folder, with these files; forget afterwards what was imported and registered there."""
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    registered = dict(gym.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(task_source, "_imported", {})
        yield patch
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    gym.registry.clear()
    gym.registry.update(registered)
