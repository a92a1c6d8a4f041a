"""The command `tumble view`: a task, a model or a trained policy in a browser."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...physics.machine.waiting import importing
from ..errors import TumbleUserError

if TYPE_CHECKING:
    from ..runs import Run

LIBRARIES = "PyTorch and viser"
MOST_ENVS = 256
MODELS = (".xml", ".urdf")


def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TASK|MODEL|ROBOT|RUN",
            help="A task, a file of MJCF or URDF, a robot (`tumble robots`), or a run folder with a policy.",
        ),
    ],
    num_envs: Annotated[int, typer.Option(min=1, max=MOST_ENVS, help="Environments, side by side.")] = 1,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Default: the first free one from 8080 on.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines connect.")] = "127.0.0.1",
    paused: Annotated[bool, typer.Option("--paused", help="Begin paused.")] = False,
    shadows: Annotated[
        bool | None, typer.Option(help="Slow where a browser draws in software. Default: of up to 4 environments.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the task, as in TOML; may be repeated."),
    ] = None,
    checkpoint: Annotated[str, typer.Option(help="Of a run: latest, best, a step, or a folder.")] = "latest",
    task: Annotated[
        str | None, typer.Option(help="The module or file of a run's task, which is then imported.")
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help="Import the module or file of a run's task.")] = False,
) -> None:
    """Move and show a task, a model or a policy in a browser: play, drag bodies, turn sliders. Ctrl-C ends it."""
    from .arguments import check_options, model_file, parse_options, require_trust

    options = parse_options(option)
    settings: dict[str, Any] = {"port": port, "host": host, "play": not paused, "seed": seed, "shadows": shadows}
    model = model_file(what, *MODELS)
    if model is not None:
        if option:
            raise TumbleUserError(f"--option sets options of tasks, and {what} is a model")
        view_model(model, num_envs, settings)
    elif _is_run(Path(what)):
        from ..runs import Run

        run = Run.find(Path(what))
        require_trust(run.config, task, trust)
        check_options(run.config.task, options)
        with importing(LIBRARIES):
            from ..policy import newest_policy
        policy_folder = newest_policy(run) if checkpoint == "latest" else run.checkpoint(checkpoint)
        view_policy(run, policy_folder, num_envs, options=options, **settings)
    else:
        view_task(what, num_envs, options, settings)


def _is_run(path: Path) -> bool:
    """Return True for a folder, and for a name beside run folders: a task is not called so."""
    return path.is_dir() or (len(path.parts) > 1 and any(path.parent.glob("*/config.toml")))


def view_model(path: Path, num_envs: int, settings: dict[str, Any]) -> None:
    """Show a file of MJCF or URDF, with sliders for its controls.

    Raises:
        TumbleUserError: the file does not exist, or cannot be shown.
    """
    if not path.exists():
        beside = sorted(each.name for each in path.parent.glob("*") if each.suffix.lower() in MODELS)
        near = get_close_matches(path.name, beside, n=3, cutoff=0.4)
        hint = f"; nearest: {', '.join(str(path.parent / name) for name in near)}" if near else ""
        raise TumbleUserError(f"{path}: no such model file{hint}")
    with importing(LIBRARIES):
        from ...physics import Model, RigidSolver
        from ..results.video import explained
    load = Model.from_urdf if path.suffix.lower() == ".urdf" else Model.from_mjcf
    with explained(str(path)):
        solver = RigidSolver(load(str(path)), num_envs=num_envs)
    _show(solver, None, title=path.name, **settings)


def view_task(name: str, num_envs: int, options: dict[str, Any], settings: dict[str, Any]) -> None:
    """Show a task under random actions, or the sliders'."""
    from ..tasks import find_task, make_vec, short_name
    from .arguments import check_options

    task = find_task(name)
    with importing(LIBRARIES):
        check_options(task, options)
    envs = make_vec(task, num_envs=num_envs, output="numpy", **options)
    _show(envs, None, title=short_name(task), **settings)


def view_policy(
    run: "Run",
    checkpoint: Path,
    num_envs: int,
    seed: int,
    options: dict[str, Any],
    deterministic: bool = True,
    **settings: Any,
) -> None:
    """Show a run's policy in Tumble, from resets with a seed; further settings as in `tumble.viewer.view`.

    Where not `deterministic`, actions are sampled.
    """
    import numpy as np

    from ..evaluate import make_envs, with_options
    from ..policy import Policy
    from ..tasks import short_name

    config = with_options(run.config, options)
    envs = make_envs(config, "tumble", num_envs)
    policy = Policy(config, checkpoint, envs.single_observation_space, envs.single_action_space)
    title = f"{short_name(config.task)}, step {policy.step:,}"

    def act(observations: Any) -> Any:
        taken = np.asarray(envs.unwrapped.episode_lengths)  # type: ignore[attr-defined]
        return policy.act(observations, deterministic, taken == 0)

    _show(envs, act, title=title, seed=seed, **settings)


def _show(source: Any, act: Any, **settings: Any) -> None:
    """Serve until Ctrl-C.

    Raises:
        TumbleUserError: viser is missing, the port is in use, or there is nothing to show.
    """
    from ...viewer import ViewerError, view

    try:
        view(source, act, envs=range(int(source.num_envs)), **settings)
    except ViewerError as error:
        raise TumbleUserError(str(error)) from None
