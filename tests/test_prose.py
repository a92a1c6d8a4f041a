"""Docstrings, comments and pages are plain technical English, as far as a machine can tell.

A docstring begins with a verb or with a noun and its article: "Return the pose of ...", "The pose of ...". Arrays,
files and environments are things, not persons. Words have their ordinary meanings (`RIDDLES`).
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("assets", "benchmarks", "envs", "physics", "scene", "soft", "terrain", "training", "viewer")
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
RIDDLES = {
    re.compile(pattern, re.IGNORECASE): advice
    for pattern, advice in {
        r"(?<!there )\b(is|are) (?-i:none)\b(?=[.,;:)]| of its| of their|$)": "say 'invalid', or name what is missing",
        r"\banew\b": "say 'again', or name the verb: resample, restart, recompute",
        r"(?<!left )(?<!leave )(?<!leaves )\balone\b(?! in )": "say 'only', or 'separately'",
        r"\b(numbers|parameters|sizes|values|gains|masses) of (its|their) own\b": "say 'per environment', 'separate'",
        r"\bthose that there are\b|\bwith those there are\b": "say 'the names that exist', 'the known ones'",
        r"\bwhat there (is|are)\b|\bthat there (is|are) (not|none)\b": "say 'unknown', 'missing', or name it",
        r"\b(errors|arguments|actions|sizes|rewards) are those of\b": "say 'errors as in ...'",
        r"\bis told (of|by|what|that)\b|\btells (of|what)\b": "say who passes, reports or knows what",
    }.items()
}
VERBS = re.compile(r"\W*(Have|Let)\b")


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
    persons = [match.group(0) for match in PERSONS.finditer(text)]
    opening = first and (first.group(1).lower() in OPENINGS or VERBS.match(text))
    return persons + riddles(text) + ([f"begins with {first.group(1)!r}"] if first and opening else [])


def riddles(text: str) -> list[str]:
    """The words of a text that have a private meaning, each with advice."""
    line = " ".join(text.split())
    return [f"{match.group(0)!r}: {advice}" for word, advice in RIDDLES.items() for match in word.finditer(line)]


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of each comment."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_begin_with_a_verb_or_a_noun_and_speak_of_things():
    wrong = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            wrong += [f"{name}, {where}: {', '.join(bad)}" for where, text in docstrings(path) if (bad := faults(text))]
            wrong += [f"{name}:{line}: {', '.join(bad)}" for line, text in comments(path) if (bad := riddles(text))]
    assert not wrong, "\n".join(wrong)


def test_pages_speak_of_things():
    wrong = []
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            persons = [match.group(0) for match in PERSONS.finditer(line)]
            bad = persons if path.name == "CHANGELOG.md" else persons + riddles(line)
            wrong += [f"{name}:{number}: {words}" for words in bad]
    assert not wrong, "\n".join(wrong)


def test_the_rule_finds_what_it_is_for():
    assert faults("Of the bodies.") and faults("Whether it holds.") and faults("Wait for nobody.")
    assert faults("Let it fall.") and faults("Draw it anew.") and faults("Give them numbers of their own.")
    assert riddles("A term that is none.") and riddles("the first alone")
    assert not riddles("0 if there is none; left alone")
    assert not faults("Return the pose of each body.") and not faults("The poses (n, 3), in metres.")
