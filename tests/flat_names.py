"""Type stubs of classes with flat names (`physics/base/flat_names.py`): `python -m tests.flat_names` writes them.

A stub declares each name with the signature, or the type, of the member that it stands for.
"""

import functools
import importlib
import inspect
import re
import typing
from pathlib import Path
from typing import Any

from tumble.physics.base.flat_names import FlatName
from tumble.scene import checks

CLASSES = (
    "tumble.physics.solver.user.solver_names:SolverNames",
    "tumble.envs.gym.vector_names:VectorNames",
    "tumble.scene.entity.names:EntityNames",
    "tumble.scene.objects.names:SceneNames",
)


def stub_of(place: str) -> tuple[Path, str]:
    """Return path and text of the stub of a class, given as "module:Class"."""
    module, _, name = place.partition(":")
    kind = getattr(importlib.import_module(module), name)
    parts = typing.get_type_hints(kind)
    lines = [f"    {part}: {_type(parts[part])}" for part in kind.__annotations__]
    for flat, target in vars(kind).items():
        if isinstance(target, FlatName):
            lines += _declaration(flat, parts[target.part], target.member)
    body = "\n".join(lines)
    modules = sorted({found for found in re.findall(r"\b((?:[a-z_]\w*\.)+)[A-Za-z_]\w*", body)})
    imports = [f"import {found.rstrip('.')}" for found in modules if _is_module(found.rstrip("."))]
    head = f'"""Flat names of `{name}`, for editors and type checkers: written by `python -m tests.flat_names`."""\n'
    text = f"# fmt: off\n# ruff: noqa\n{head}\n" + "\n".join(imports) + f"\n\nclass {name}:\n{body}\n"
    return Path(inspect.getfile(kind)).with_suffix(".pyi"), text


def member_named(owner: type, name: str) -> Any:
    """Return a member of a class, of a flat name that which it stands for; None for an attribute of instances."""
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, FlatName):
        return member_named(typing.get_type_hints(owner)[found.part], found.member)
    return getattr(owner, name, None)


def _declaration(flat: str, part: type, member: str) -> list[str]:
    """Return the lines that declare a member of a part under a flat name."""
    found = inspect.getattr_static(part, member, None)
    if isinstance(found, FlatName):
        return _declaration(flat, typing.get_type_hints(part)[found.part], found.member)
    if found is None:  # an attribute of instances
        return [f"    {flat}: {_type(typing.get_type_hints(part)[member])}"]
    if isinstance(found, functools.cached_property):
        found = property(found.func)
    if isinstance(found, property):
        given = _type(inspect.signature(found.fget).return_annotation)
        lines = ["    @property", f"    def {flat}(self) -> {given}: {_summary(found)}"]
        if found.fset:
            value = list(inspect.signature(found.fset).parameters.values())[1]
            lines += [f"    @{flat}.setter", f"    def {flat}(self, value: {_type(value.annotation)}) -> None: ..."]
        return lines
    signature = inspect.signature(found)
    arguments, keyword_only = [], False
    for argument in signature.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not keyword_only:
            arguments.append("*")
        keyword_only = keyword_only or argument.kind in (argument.KEYWORD_ONLY, argument.VAR_POSITIONAL)
        arguments.append(_argument(argument))
    return [f"    def {flat}({', '.join(arguments)}) -> {_type(signature.return_annotation)}: {_summary(found)}"]


def _argument(argument: inspect.Parameter) -> str:
    """Return an argument of a function as it is written."""
    stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
    text = stars + argument.name
    if argument.annotation is not argument.empty:
        text += f": {_type(argument.annotation)}"
    if argument.default is not argument.empty:
        is_plain = isinstance(argument.default, bool | str | None)
        text += f" = {argument.default!r}" if is_plain else " = ..."
    return text


def _summary(member: Any) -> str:
    """Return the first line of a member's docstring, as the body of a declaration."""
    doc = inspect.getdoc(member)
    return f'"""{doc.splitlines()[0]}"""' if doc else "..."


def _type(annotation: Any) -> str:
    """Return a type as it is written, with the full names of modules."""
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, type) and not typing.get_args(annotation):
        module = "" if annotation.__module__ == "builtins" else f"{annotation.__module__}."
        return module + annotation.__qualname__
    if isinstance(annotation, str):
        return annotation
    for alias in ("Numbers", "Indices"):  # their names say more than what they stand for
        if typing.get_args(annotation)[: len(parts := typing.get_args(getattr(checks, alias)))] == parts:
            rest = [_type(part) for part in typing.get_args(annotation)[len(parts) :]]
            return " | ".join([f"tumble.scene.checks.{alias}", *rest])
    return repr(annotation)


def _is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    for place in CLASSES:
        path, text = stub_of(place)
        path.write_text(text)
        print(path.name)
