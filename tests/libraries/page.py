"""The page docs/libraries.md, read: a section and a program for each library."""

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
PROGRAMS: dict[str, str] = dict(re.findall(r"^## (\S+)\n.*?```python\n(.*?)```", TEXT, flags=re.DOTALL | re.MULTILINE))
NEEDS = {  # what a program imports; CleanRL's needs nothing
    "stable-baselines3": "stable_baselines3",
    "sb3-contrib": "sb3_contrib",
    "CleanRL": "torch",
    "torchrl": "torchrl",
    "skrl": "skrl",
    "rsl-rl": "rsl_rl",
    "tianshou": "tianshou",
}


def definitions(library: str) -> dict[str, Any]:
    """What the program of a library imports and defines, without what it does."""
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef)
    tree = ast.parse(PROGRAMS[library])
    tree.body = [statement for statement in tree.body if isinstance(statement, kept)]
    names: dict[str, Any] = {}
    exec(compile(tree, f"docs/libraries.md, {library}", "exec"), names)
    return names
