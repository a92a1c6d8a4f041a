"""Parameters of scenes say what they take."""

import ast
from pathlib import Path

SCENE = Path(__file__).resolve().parents[2] / "scene"
MOST = 0.05
"""Share of parameters that may be `Any`: `**options` that are passed on, and contents of files."""


def annotations():
    for path in SCENE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.arguments):
                given = [*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg]
                yield from (one.annotation for one in given if one is not None and one.annotation is not None)


def test_few_parameters_are_any():
    found = [isinstance(one, ast.Name) and one.id == "Any" for one in annotations()]
    assert len(found) > 1000 and sum(found) < MOST * len(found)
