"""TOML tables to checked, nested dataclasses and back; errors name the file, the key and the expected value."""

import dataclasses
import re
import tomllib
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from ..physics.machine.disk import read_regular
from .errors import TumbleUserError

T = TypeVar("T")
LISTS: dict[Any, tuple[type, str]] = {tuple[int, ...]: (int, "whole numbers"), tuple[str, ...]: (str, "strings")}

LARGEST = 1 << 20
"""Bytes of a file of configurations."""


class ConfigError(TumbleUserError, ValueError):
    """A configuration that cannot be used; the message names the file, the key and the expected value."""


def require(condition: bool, message: str) -> None:
    """Raise `ConfigError` with the message unless the condition holds."""
    if not condition:
        raise ConfigError(message)


def read_toml(cls: type[T], path: Path) -> T:
    """Read a TOML file into a dataclass; errors as in `read_table`."""
    return read_table(lambda table: build(cls, table), path)


def read_table(make: Callable[[dict[str, Any]], T], path: Path) -> T:
    """Read a TOML file, and make something of its table; the errors of both name the file.

    Raises:
        ConfigError: The file is missing, cannot be read, is not TOML in UTF-8, or has an unknown key or a value that
            does not fit.
    """
    try:
        return make(tomllib.loads(read_regular(path, LARGEST).decode()))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such configuration file") from None
    except OSError as error:
        raise ConfigError(f"{path}: the file cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the file is damaged: byte {error.start} is not UTF-8 text") from None
    except RecursionError:
        raise ConfigError(f"{path}: the file is damaged: its tables are nested too deeply") from None
    except (ValueError, OverflowError) as error:  # refusals of tomllib and the checks
        raise ConfigError(f"{path}: {error}") from None


def change(config: T, changes: dict[str, Any], without: tuple[str, ...] = ()) -> T:
    """Return a copy of a dataclass with some values changed, each named by its place, such as "ppo.learning_rate".

    A table without a fixed set of keys, such as `env`, takes any key. Tables named in `without` have no keys here.

    Raises:
        ConfigError: No such key, with the nearest ones; or a value of the wrong type.
    """
    table: dict[str, Any] = dataclasses.asdict(config)  # type: ignore[call-overload]
    known = [key for key in keys(type(config)) if key.partition(".")[0] not in without]
    for name, value in changes.items():
        _require_known(name, known)
        *parents, last = name.split(".")
        inner = table
        for parent in parents:
            inner = inner.setdefault(parent, {})
            require(isinstance(inner, dict), f"{name!r} lies in {parent!r}, which is no table but {inner!r}")
        inner[last] = value
    return build(type(config), _as_read(table))


def keys(cls: type) -> list[str]:
    """Return the dotted names of all values, such as "seed" and "ppo.gamma"; "env." stands for any key in `env`."""
    names = []
    for name, kind in get_type_hints(cls).items():
        if dataclasses.is_dataclass(kind):
            names += [f"{name}.{inner}" for inner in keys(kind)]  # type: ignore[arg-type]
        else:
            names.append(f"{name}." if kind == dict[str, Any] else name)
    return names


def _require_known(name: str, known: list[str]) -> None:
    """Refuse a key that does not exist; the nearest keys, and equal names in any table, are suggested."""
    if name in known or any(name.startswith(free) and name != free for free in known if free.endswith(".")):
        return
    near = nearest_keys(name, known)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known keys: {', '.join(known)}"
    raise ConfigError(f"unknown key {name!r}; {hint}")


def nearest_keys(name: str, known: list[str]) -> list[str]:
    """Return the keys that a mistaken one may stand for, of the table that was named if there are any.

    These are keys with the same last word, else with the same initials ("lr" for "ppo.learning_rate"), else with a part
    that begins so ("lam" for "ppo.gae_lambda"), else the nearest in spelling.
    """
    table, _, last = name.rpartition(".")
    words = {key: key.rpartition(".")[2] for key in known}
    parts = {key: word.split("_") for key, word in words.items()}
    short = [key for key in known if words[key] == last]
    short = short or [key for key in known if "".join(part[:1] for part in parts[key]) == last]
    if len(last) > 2:
        short = short or [key for key in known if any(part.startswith(last) for part in parts[key])]
    if short:
        return [key for key in short if key.startswith(f"{table}.")] or short
    inside = {word: key for key, word in words.items() if table and key.startswith(f"{table}.")}
    near = [inside[word] for word in get_close_matches(last, inside, n=3)] or get_close_matches(name, known, n=3)
    by_word = {word: key for key, word in words.items()}
    return near or [by_word[word] for word in get_close_matches(last, by_word, n=3)]


def _as_read(value: Any) -> Any:
    """Return a table as reading it from TOML would: tuples become lists, and keys whose value is None are left out."""
    if isinstance(value, dict):
        return {key: _as_read(item) for key, item in value.items() if item is not None}
    return [_as_read(item) for item in value] if isinstance(value, list | tuple) else value


def to_toml(table: dict[str, Any]) -> str:
    """Write a table of scalars, lists and tables of these as TOML; None is left out, as TOML has no null.

    Raises:
        ConfigError: A value of another kind.
    """
    scalars = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in scalars.items() if value is not None]
    for name, inner in table.items():
        if isinstance(inner, dict) and inner:
            lines += ["", f"[{name}]"]
            lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in inner.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml_key(key: str) -> str:
    """Return a key, quoted if it has other characters than a bare one may have, such as "0:3"."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_value(str(key))} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    raise ConfigError(f"{value!r} cannot be written to a configuration file")


def build(cls: type, table: dict[str, Any], where: str = "") -> Any:
    """Make a dataclass from a TOML table, naming the nearest key where one is unknown."""
    kinds = get_type_hints(cls)
    for key in table:
        if key not in kinds:
            near = get_close_matches(key, kinds, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(kinds)}"
            raise ConfigError(f"unknown key {where + key!r}; {hint}")
    for item in dataclasses.fields(cls):
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if required and item.name not in table:
            raise ConfigError(f"missing key {where + item.name!r}")
    return cls(**{key: _convert(kinds[key], value, where + key) for key, value in table.items()})


def _convert(kind: Any, value: Any, name: str) -> Any:
    """Check one value against its declared type; integers are accepted as floats, lists become tuples."""
    if dataclasses.is_dataclass(kind):
        require(isinstance(value, dict), f"{name!r} must be a table: [{name}]")
        return build(kind, value, where=f"{name}.")  # type: ignore[arg-type]
    options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if float in options and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in LISTS:
        item_kind, called = LISTS[kind]
        good = isinstance(value, list) and all(type(item) is item_kind for item in value)
        require(good, f"{name!r} must be a list of {called}, not {value!r}")
        return tuple(value)
    types = tuple(dict if option == dict[str, Any] else option for option in options)
    good = isinstance(value, types) and not (isinstance(value, bool) and bool not in types)
    require(good, f"{name!r} must be {_kind_name(options)}, not {value!r}")
    require(value == value or not isinstance(value, float), f"{name!r} is nan; it must be a number")
    return value


def _kind_name(options: tuple[Any, ...]) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return " or ".join(names.get(option, "a table") for option in options if option is not type(None))
