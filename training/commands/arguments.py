"""Converts the arguments of `tumble` to configurations, and refuses to import code that the user has not named."""

import inspect
import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..config import ALGORITHMS, RunConfig, packaged_algorithms
from ..errors import TumbleUserError
from ..task_errors import TaskError
from ..task_source import import_source, is_file
from ..tasks import find_task, load_task, source_name, task_id
from ..toml_dataclass import keys, nearest_keys

NO_OPTIONS = {
    "num_envs": "use --num-envs",
    "device": "use --device",
    "autoreset_mode": "the learner sets it",
    "output": "the learner sets it",
    "render_mode": "pictures are made where they are wanted",
}
NO_SETTINGS = {"task": "name it as TASK", "algo": "use --algo"}


class TrustError(TumbleUserError, PermissionError):
    """A run whose task would import code that the user has not named; the message says how to name it."""


def choose_config(task: str | None, config: Path | None, algo: str | None) -> RunConfig:
    """Return the configuration of a file, or of a task: the packaged one, or the defaults if none is packaged.

    Raises:
        TumbleUserError: Neither or both were given, or the file or task does not exist.
    """
    if config is not None and task is None:
        if algo is not None:
            raise TumbleUserError(f"{config} says which algorithm it is for; leave out --algo")
        run_config = RunConfig.load(config)
        if source_name(run_config.task) is not None:
            tell(f"{config}: the task is {run_config.task}, which is imported now")
        return run_config
    if config is not None or task is None:
        raise TumbleUserError("give a TASK (see `tumble list`) or --config FILE, one of the two")
    reference, algo = find_task(task), algo or "ppo"
    return RunConfig.packaged(reference, algo) if is_packaged(reference, algo) else RunConfig.default(reference, algo)


def is_packaged(task: str, algo: str) -> bool:
    """Say whether there is a packaged configuration of an algorithm for a task."""
    return algo in packaged_algorithms(task)


def model_file(what: str, *endings: str) -> Path | None:
    """Return the file of a model that a word names, by its path or as a robot; None if it names something else.

    Raises:
        TumbleUserError: There is no such robot, or its files are not here; the message says what to do.
    """
    from ...assets.packages import is_of_source
    from ...assets.robots import find_model, names

    is_file = what.lower().endswith(endings)
    named = is_file or what in names() or what.startswith("menagerie:")
    if named and is_of_source(what) and not os.path.exists(what):
        try:
            return find_model(what)
        except FileNotFoundError as error:
            raise TumbleUserError(str(error)) from error
    return Path(what) if is_file else None


def parse_options(options: list[str] | None) -> dict[str, Any]:
    """Read NAME=VALUE for options of a task.

    Raises:
        TumbleUserError: It is not of this form, or is no option of a task.
    """
    parsed: dict[str, Any] = {}
    for option in options or []:
        name, equals, text = option.partition("=")
        if not (equals and name.isidentifier()):
            raise TumbleUserError(f"--option {option}: write NAME=VALUE, such as --option frame_skip=4")
        if name in NO_OPTIONS:
            raise TumbleUserError(f"--option {option}: {name} is no option of the task; {NO_OPTIONS[name]}")
        parsed[name] = parse_value(text)
    return parsed


def parse_settings(settings: list[str] | None) -> dict[str, Any]:
    """Read KEY=VALUE for any value of a configuration, such as ppo.learning_rate=1e-4.

    Raises:
        TumbleUserError: It is not of this form, or something else sets it.
    """
    parsed: dict[str, Any] = {}
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not (equals and name and all(name.split("."))):
            raise TumbleUserError(f"--set {setting}: write KEY=VALUE, such as --set ppo.learning_rate=1e-4")
        elsewhere = NO_SETTINGS.get(name) or (name.startswith("env.") and NO_OPTIONS.get(name.removeprefix("env.")))
        if elsewhere:
            raise TumbleUserError(f"--set {setting}: {elsewhere}")
        parsed[name] = parse_value(text)
    return parsed


def options_meant(option: str, near: list[str], algo: str) -> list[str]:
    """Return the likely meanings of an unknown option such as "--lr", as it is typed: "--set ppo.learning_rate=VALUE".

    Args:
        option: The option as the user typed it.
        near: The options of the command whose spelling is near, dashes counted.
        algo: The algorithm, whose values are named rather than another's.
    """
    others = tuple(f"{name}." for name in ALGORITHMS if name != algo)
    known = [key for key in keys(RunConfig) if not key.startswith(others)]
    name = option.lstrip("-").replace("-", "_")
    options = {flag.lstrip("-").replace("-", "_"): flag for flag in near}
    same = [f"--set {key}=VALUE" for key in known if name in (key, key.rpartition(".")[2])]
    close = [options[word] for word in get_close_matches(name, options, n=3)]
    return same + close or [f"--set {key}=VALUE" for key in nearest_keys(name, known)] or near


def check_options(task: str, options: dict[str, Any]) -> None:
    """Refuse options that neither a task nor its environments have, before the environments are made.

    Args:
        task: A reference, see `tasks.find_task`.
        options: By name.

    Raises:
        TaskError: There is no such option; the message has the nearest ones.
    """
    if not options:
        return
    from ...envs.gym.vector_env import SimVectorEnv
    from ...envs.registry import make_task
    from ...envs.task.task import options_of

    origin: Any = load_task(task).kwargs["task"]
    origin = make_task(origin, {}) if isinstance(origin, str) else origin
    kind = origin if isinstance(origin, type) else type(origin)
    places = inspect.signature(SimVectorEnv).parameters.values()
    known = [place.name for place in places if place.kind is place.KEYWORD_ONLY and place.name not in NO_OPTIONS]
    known = [*options_of(kind), *known]
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            raise TaskError(f"{task_id(task)} has no option {name!r}; {hint}")


def parse_value(text: str) -> Any:
    """Read a number, boolean, "string", [list] or {table} as TOML has them; other words are strings."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    usable = list(table) == ["value"] and isinstance(table["value"], bool | int | float | str | list | dict)
    return table["value"] if usable else text


def require_trust(config: RunConfig, named: str | None, trust: bool) -> None:
    """Say which code a run's task imports, and refuse it unless the user named the same module or file, or trusts it.

    Args:
        config: The run's configuration.
        named: A task, module or file as the user typed it; None if the user named none.
        trust: Whether the user trusts whatever the run names.

    Raises:
        TrustError: The task is in a module or file that was not named, or another one was.
    """
    source = source_name(config.task)
    if source is None:
        if named is not None and find_task(named) != config.task:
            raise TrustError(f"the run's task is {config.task}, not {named}")
        return
    if trust or named is not None:
        tell(f"the run's task is {config.task}, which is imported now")
    if trust:
        return
    if named is None:
        raise TrustError(
            f"the run's task is {config.task}: Tumble would import it, and that runs its code. If it is yours, name it "
            f"(--task {source}, or TASK where a run is resumed) or say --trust"
        )
    home = import_source(source_name(named) or named).address
    same = home == source or (is_file(home) and is_file(source) and os.path.realpath(home) == os.path.realpath(source))
    if not same:
        raise TrustError(f"the run's task is {config.task}, in another place than {named}, which was named")


def tell(message: str) -> None:
    """Print a note."""
    print(f"note: {message}", flush=True)
