"""The file of a sweep: a run configuration, some of whose values are ranges, and a table `[sweep]`.

    task = "tumble/PointMass-v0"        # or config = "FILE.toml", the configuration to begin with
    total_steps = 200_000
    num_envs = { values = [64, 128, 256] }

    [ppo]
    learning_rate = { low = 1e-4, high = 1e-2, log = true }
    n_epochs = { low = 2, high = 16 }

    [sweep]
    trials = 40

Values that the file does not name are those of the packaged configuration of the task, or of `config`.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..commands.arguments import check_options, choose_config
from ..config import RunConfig
from ..toml_dataclass import ConfigError, build, read_table, require

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

KEYS = ("low", "high", "step", "log", "values")
"""The keys of a range. In `[randomize]`, where terms have `low` and `high` themselves, only `values` makes one."""
FIXED = {
    "seed": "sweep.seeds counts the seeds of each trial",
    "total_steps": "all trials have the same budget",
    "device": "all trials are trained on the same device",
    "threads": "it does not change learning",
    "checkpoint": "it does not change learning",
    "log": "it does not change learning",
    "evaluation": "all trials are evaluated in the same way",
}
"""Values that cannot be ranges, and why."""
TENTHS = 10
"""Evaluations of a run, unless the configuration says how many."""


@dataclass(frozen=True)
class SweepSettings:
    """The table `[sweep]`.

    `trials` are made in all, each of `seeds` runs, whose mean last evaluation is its score. A run ends after the
    configuration's `total_steps`, or after `seconds` of training, in which evaluations do not count. `prune` stops a
    trial whose evaluations are below the median of earlier trials. `storage` is the URL of a database that other
    machines reach too; by default a SQLite file in the sweep's folder. A trial is run again if its worker has given no
    sign of life for `silence` seconds.
    """

    trials: int
    seeds: int = 1
    seconds: float = math.inf
    prune: bool = True
    storage: str = ""
    silence: int = 60

    def __post_init__(self) -> None:
        for name in ("trials", "seeds", "seconds", "silence"):
            require(getattr(self, name) > 0, f"sweep.{name} must be positive")


@dataclass(frozen=True)
class Range:
    """The values that a setting may have: `values`, or numbers from `low` to `high`, whole ones if both are."""

    low: float = 0
    high: float = 0
    step: float | None = None
    log: bool = False
    values: tuple[Any, ...] = ()

    def distribution(self) -> "BaseDistribution":
        """Return Optuna's form of it; values are named by their text if they are lists or tables."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.values:
            return CategoricalDistribution([name_of(value) for value in self.values])
        if isinstance(self.low, int) and isinstance(self.high, int):
            return IntDistribution(self.low, self.high, log=self.log, step=int(self.step or 1))
        return FloatDistribution(self.low, self.high, log=self.log, step=self.step)

    def value(self, chosen: Any) -> Any:
        """Return the setting's value that Optuna has chosen."""
        return {name_of(value): value for value in self.values}.get(chosen, chosen)


@dataclass(frozen=True)
class SweepFile:
    """The contents of a file: the configuration with its fixed values, the ranges by setting, and `[sweep]`."""

    name: str
    base: RunConfig
    ranges: dict[str, Range]
    settings: SweepSettings

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read and check a file.

        Raises:
            ConfigError: It is missing or not TOML, or a key or value of it does not fit; the message names both.
            TumbleUserError: Its task cannot be found.
        """
        return read_table(partial(cls._of, path), path)

    @classmethod
    def _of(cls, path: Path, table: dict[str, Any]) -> Self:
        require(isinstance(table.get("sweep"), dict), "the table [sweep] is missing; it says how many trials there are")
        settings = build(SweepSettings, table.pop("sweep"), "sweep.")
        task, algo, config = (table.pop(name, None) for name in ("task", "algo", "config"))
        for name, value in (("task", task), ("algo", algo), ("config", config)):
            require(value is None or isinstance(value, str), f"{name!r} must be a string, not {value!r}")
        require((task is None) != (config is None), "give task (and algo), or config, the name of a configuration file")
        base = choose_config(task, None if config is None else path.parent / config, algo)
        values = dict(_values(table))
        base = base.change({name: value for name, value in values.items() if not isinstance(value, dict)})
        base = base.change({"evaluation.every_steps": base.evaluation.every_steps or -(-base.total_steps // TENTHS)})
        ranges = {name: _range(name, value, base) for name, value in values.items() if isinstance(value, dict)}
        require(bool(ranges), "no value is a range, such as learning_rate = { low = 1e-4, high = 1e-2, log = true }")
        options = {name.split(".")[1]: None for name in ranges if name.startswith("env.")}
        check_options(base.task, base.env | options)
        return cls(path.stem, base, ranges, settings)

    def config(self, chosen: dict[str, Any]) -> RunConfig:
        """Return the configuration of a trial whose values Optuna has chosen."""
        return self.base.change({name: self.ranges[name].value(value) for name, value in chosen.items()})

    def distributions(self) -> dict[str, "BaseDistribution"]:
        """Return Optuna's form of the ranges, by setting."""
        return {name: places.distribution() for name, places in self.ranges.items()}

    def identity(self) -> dict[str, Any]:
        """Return all that trials depend on, as it is read from JSON; workers of one sweep have the same."""
        fixed = {
            "configuration": self.base.to_toml(),
            "seeds": self.settings.seeds,
            "seconds": str(self.settings.seconds),
        }
        return json.loads(json.dumps(fixed | {name: asdict(places) for name, places in self.ranges.items()}))


def name_of(value: Any) -> Any:
    """Return the name that Optuna has for a value: the text of lists and tables, which it cannot store."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _values(table: dict[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Return the dotted name of each value in a table of tables; a range counts as a value."""
    for key, value in table.items():
        keys = ("values",) if where.startswith("randomize.") else KEYS
        if isinstance(value, dict) and not any(name in value for name in keys):
            yield from _values(value, f"{where}{key}.")
        else:
            yield where + key, value


def _range(name: str, table: dict[str, Any], base: RunConfig) -> Range:
    """Check the range of a setting, and each end of it as a value of the setting."""
    why = FIXED.get(name.split(".")[0])
    require(why is None, f"{name!r} cannot be a range: {why}")
    for key in table:
        require(key in KEYS, f"{name!r}: a range has no {key!r}; known keys: {', '.join(KEYS)}")
    if "values" in table:
        values = table["values"]
        good = isinstance(values, list) and len(values) > 1 and len(table) == 1
        require(good, f"{name!r}: values must be a list of two or more, and then there is no other key")
        return Range(values=tuple(_checked(name, value, base) for value in values))
    known: list[Any] = [table.get(key) for key in KEYS[:4]]
    low, high, step, log = known
    numbers = all(isinstance(bound, int | float) and not isinstance(bound, bool) for bound in (low, high, step or 0))
    require(numbers, f"{name!r}: a range has numbers low and high, and perhaps step; or values = [...]")
    require(log in (None, True, False), f"{name!r}: log must be true or false, not {log!r}")
    require(low < high, f"{name!r}: low = {low} must be below high = {high}")
    require(not log or low > 0, f"{name!r}: log = true needs low above 0, not {low}")
    require(step is None or (step > 0 and not log), f"{name!r}: step must be positive, and there is none with log")
    low, high = _checked(name, low, base), _checked(name, high, base)
    whole = isinstance(low, int) and isinstance(high, int)
    require(not whole or isinstance(step, int | None), f"{name!r}: step must be a whole number, as low and high are")
    return Range(low, high, step, bool(log))


def _checked(name: str, value: Any, base: RunConfig) -> Any:
    """Return a value as the configuration keeps it; `ConfigError` if it does not fit."""
    try:
        kept = reduce(lambda table, key: table[key], name.split("."), asdict(base.change({name: value})))
    except ConfigError as error:
        raise ConfigError(f"{name} = {value}: {error}") from None
    return list(kept) if isinstance(kept, tuple) else kept
