"""TOML tables to checked, nested dataclasses and back; errors name the file, the key and what would be right."""

import dataclasses
import tomllib
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from .errors import TumbleUserError

T = TypeVar("T")


class ConfigError(TumbleUserError, ValueError):
    """A configuration that cannot be used; the message names the file, the key and what would be right."""


def require(condition: bool, message: str) -> None:
    """Raise `ConfigError` with the message unless the condition holds."""
    if not condition:
        raise ConfigError(message)


def read_toml(cls: type[T], path: Path) -> T:
    """Read a TOML file into a dataclass.

    Raises:
        ConfigError: The file is missing, is not TOML, or has an unknown key or a value that does not fit.
    """
    try:
        return _build(cls, tomllib.loads(path.read_text(encoding="utf-8")), where="")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such configuration file") from None
    except (tomllib.TOMLDecodeError, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from None


def to_toml(table: dict[str, Any]) -> str:
    """Write a table of scalars, lists and tables of those as TOML; None is left out, as TOML has no null.

    Raises:
        ConfigError: A value of another kind.
    """
    scalars = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in scalars.items() if value is not None]
    for name, inner in table.items():
        if isinstance(inner, dict) and inner:
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {_toml_value(value)}" for key, value in inner.items() if value is not None]
    return "\n".join(lines) + "\n"


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


def _build(cls: type, table: dict[str, Any], where: str) -> Any:
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
        return _build(kind, value, where=f"{name}.")  # type: ignore[arg-type]
    options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if float in options and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == tuple[int, ...]:
        good = isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
        require(good, f"{name!r} must be a list of whole numbers, not {value!r}")
        return tuple(value)
    wanted = tuple(dict if option == dict[str, Any] else option for option in options)
    good = isinstance(value, wanted) and not (isinstance(value, bool) and bool not in wanted)
    require(good, f"{name!r} must be {_kind_name(options)}, not {value!r}")
    return value


def _kind_name(options: tuple[Any, ...]) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return " or ".join(names.get(option, "a table") for option in options if option is not type(None))
