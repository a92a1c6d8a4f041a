"""Docstrings and pages are plain technical English, as far as a machine can tell.

A docstring begins with a verb or with a noun and its article: "Return the pose of ...", "The pose of ...". Arrays,
files and environments are things, not persons.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("assets", "benchmarks", "envs", "physics", "scene", "terrain", "training", "viewer")
OPENINGS = {
    *(
        "as",
        "how",
        "likewise",
        "of",
        "such",
        "that",
        "those",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "who",
        "whose",
    ),
}
PERSONS = re.compile(
    r"\b(anybody|everybody|nobody|somebody|whoever|he|him|his|in hand|at hand|likewise)\b", re.IGNORECASE
)


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """The name and docstring of a module and of all its classes, functions and assignments."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            if text := ast.get_docstring(node):
                yield getattr(node, "name", "module"), text
            for before, after in pairwise(node.body):
                text = after.value if isinstance(after, ast.Expr) else None
                named = isinstance(before, (ast.Assign, ast.AnnAssign)) and isinstance(text, ast.Constant)
                if named and isinstance(text.value, str):
                    yield f"line {after.lineno}", text.value


def faults(text: str) -> list[str]:
    """What is wrong with a docstring."""
    first = re.match(r"\W*(\w+)", text)
    found = [match.group(0) for match in PERSONS.finditer(text)]
    return found + ([f"begins with {first.group(1)!r}"] if first and first.group(1).lower() in OPENINGS else [])


def test_docstrings_begin_with_a_verb_or_a_noun_and_speak_of_things():
    wrong = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            wrong += [f"{name}, {where}: {', '.join(bad)}" for where, text in docstrings(path) if (bad := faults(text))]
    assert not wrong, "\n".join(wrong)


def test_pages_speak_of_things():
    wrong = []
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            wrong += [f"{name}:{number}: {match.group(0)}" for match in PERSONS.finditer(line)]
    assert not wrong, "\n".join(wrong)


def test_the_rule_finds_what_it_is_for():
    assert faults("Of the bodies.") and faults("Whether it holds.") and faults("Wait for nobody.")
    assert not faults("Return the pose of each body.") and not faults("The poses (n, 3), in metres.")
