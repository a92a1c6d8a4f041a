"""The `tumble` command. Each command is a few lines that call the library; heavy imports wait until one is chosen."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import TumbleUserError

if TYPE_CHECKING:
    from rich.table import Table

    from .config import RunConfig
    from .evaluate import Evaluation

app = typer.Typer(
    help="Robot-learning environments on a batched rigid-body solver.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Steps = Annotated[int | None, typer.Option(min=1, help="Environment steps in all; default: the configuration's.")]
TASK_FORMS = "Ant, tumble/Ant-v0, my_tasks:me/Reacher-v0 (a module), path/to/my_tasks.py (a file; :ID chooses)"
NO_OPTIONS = {
    "num_envs": "use --num-envs",
    "device": "use --device",
    "autoreset_mode": "the learner needs its own",
    "output": "the learner needs its own",
    "render_mode": "pictures are made where they are wanted",
}
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the task, as in TOML; may be repeated."),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/Ant-v0-ppo-0-...")]


def main() -> None:
    """Run the command line; mistakes that a message explains end with that message and exit code 2.

    So do errors in the code of a user's task, with their place in it; others keep their traceback.
    """
    try:
        app()
    except TumbleUserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        from .task_errors import describe, is_the_tasks

        if not is_the_tasks(error):
            raise
        print(f"error: {describe(error)}", file=sys.stderr)
        sys.exit(2)


@app.command("list")
def list_tasks(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="[MODULE|FILE]...", help="Modules and files with tasks of your own.")
    ] = None,
) -> None:
    """Show the tasks, Gymnasium's task that each equals, and the algorithms with a packaged configuration."""
    from rich.table import Table

    from .config import packaged_algorithms
    from .tasks import NAMESPACE, gymnasium_twin, load_task, task_ids, tasks_of

    table = Table("task", "equals", "steps an episode", "packaged training", box=None)
    tasks = [task for task in task_ids() if task.startswith(NAMESPACE)]
    tasks += [task for source in sources or [] for task in tasks_of(source)]
    for task in tasks:
        limit = load_task(task).max_episode_steps
        table.add_row(task, gymnasium_twin(task) or "", str(limit or ""), " ".join(packaged_algorithms(task)))
    print_table(table)


@app.command()
def train(
    task: Annotated[str | None, typer.Argument(help=f"A task: {TASK_FORMS}.")] = None,
    algo: Annotated[str, typer.Option(help="ppo or sac.")] = "ppo",
    seed: Annotated[int | None, typer.Option(min=0, help="Default: the configuration's.")] = None,
    steps: Steps = None,
    num_envs: Annotated[int | None, typer.Option(min=1, help="Environments at a time.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the learner.")] = None,
    config: Annotated[Path | None, typer.Option(help="A configuration file instead of the packaged one.")] = None,
    option: Options = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Go on with this run.")] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Train a policy. Ctrl-C saves; `tumble train --resume RUN` goes on exactly there."""
    from . import train as training

    if resume is not None:
        fixed: dict[str, Any] = {"TASK": task, "--seed": seed, "--num-envs": num_envs, "--device": device}
        fixed |= {"--config": config, "--option": option, "--out": out}
        given = [name for name, value in fixed.items() if value is not None]
        if given:
            raise TumbleUserError(f"--resume keeps the run's own configuration; leave out {', '.join(given)}")
        outcome = training.resume(resume, total_steps=steps, threads=threads, progress=progress)
    else:
        chosen = choose_config(task, config, algo)
        env = chosen.env | parse_options(option)
        chosen = chosen.replace(
            seed=seed, total_steps=steps, num_envs=num_envs, device=device, threads=threads, env=env
        )
        outcome = training.train(chosen, out, progress=progress)
    state = "finished" if outcome.finished else "stopped and saved"
    follow = (
        f"tumble evaluate {outcome.run.folder}" if outcome.finished else f"tumble train --resume {outcome.run.folder}"
    )
    print(f"{state} at step {outcome.step:,}\n  next: {follow}")


@app.command()
def evaluate(
    run: RunFolder,
    simulators: Annotated[
        list[str] | None, typer.Option("--in", help="tumble or mujoco (Gymnasium's own task); may be repeated.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1)] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Episode k starts from seed + k.")] = 10_000,
    stochastic: Annotated[bool, typer.Option("--stochastic", help="Sample actions, not the most likely one.")] = False,
    video: Annotated[Path | None, typer.Option(help="Film an episode: FILE.mp4.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Longest duration of the film.")] = 20.0,
) -> None:
    """Score a trained policy, in Tumble or unchanged in Gymnasium's MuJoCo task; writes JSON into the run folder."""
    from .runs import Run

    if video is not None:
        require_suffix(video, ".mp4")
    opened, chosen = Run.find(run), simulators or ["tumble"]
    checkpoint = opened.latest()  # one for all, also while training goes on
    from . import evaluate as evaluation

    simulate = partial(evaluation.evaluate, opened, episodes=episodes, seed=seed, checkpoint=checkpoint)
    scores = [simulate(name, deterministic=not stochastic) for name in dict.fromkeys(chosen)]
    paths = [evaluation.save_evaluation(opened, score) for score in scores]
    print_scores(scores)
    if len(scores) == 2:
        print(evaluation.agreement(*scores))
    print("\n".join(str(path) for path in paths))
    if video is not None:
        from ..physics.rendering import write_video
        from . import video as films

        film = films.film_policy(opened, chosen[0], seed, seconds, checkpoint)
        print(write_video(video, film.frames, film.fps))


@app.command()
def render(
    what: Annotated[str, typer.Argument(metavar="TASK|MODEL.xml", help=f"A task ({TASK_FORMS}), or an MJCF file.")],
    out: Annotated[Path, typer.Option(help="Picture (.png) or film (.mp4).")] = Path("picture.png"),
    num_envs: Annotated[int, typer.Option(min=1, max=64, help="Environments of a task, tiled.")] = 1,
    seconds: Annotated[float, typer.Option(min=0.0, help="Duration of a film.")] = 5.0,
    option: Options = None,
    camera: Annotated[str | None, typer.Option(help="A camera of the model; default: one that follows it.")] = None,
    width: Annotated[int, typer.Option(min=16)] = 480,
    height: Annotated[int, typer.Option(min=16)] = 480,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Draw a task under random actions, or a model with its controls at zero."""
    from .tasks import find_task

    require_suffix(out, ".png", ".mp4")
    model = Path(what) if what.endswith(".xml") else None
    if model is not None and not model.exists():
        raise TumbleUserError(f"{model}: no such model file")
    if model is not None and option:
        raise TumbleUserError(f"--option sets options of tasks, and {model} is a model")
    task, options = "" if model is not None else find_task(what), parse_options(option)
    from ..physics.rendering import save_png, write_video
    from . import video as films

    moving = out.suffix.lower() == ".mp4"
    duration = seconds if moving else 0.0
    if model is not None:
        film = films.film_model(model, width, height, camera, duration)
    else:
        size = {"width": width, "height": height} | ({"camera_name": camera} if camera else {})
        film = films.film_task(task, num_envs, seed, duration, **(options | size))
    print(write_video(out, film.frames, film.fps) if moving else save_png(out, next(film.frames)))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
) -> None:
    """Compare runs: scores as JSON and a table, learning curves as a picture."""
    from .report import write_report
    from .runs import Run

    print("\n".join(str(path) for path in write_report([Run.find(folder) for folder in runs], out)))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(context: typer.Context) -> None:
    """Measure speed against MuJoCo, Gymnasium and envpool; `tumble bench --help` shows its own options."""
    from ..benchmarks.main import main as run_benchmarks

    raise typer.Exit(run_benchmarks(context.args))


def require_suffix(path: Path, *allowed: str) -> None:
    """Refuse, before any work, a file name whose ending no writer here knows."""
    if path.suffix.lower() not in allowed:
        raise TumbleUserError(f"{path}: the name must end in {' or '.join(allowed)}")


def choose_config(task: str | None, config: Path | None, algo: str) -> "RunConfig":
    """Return the configuration of a file, or of a task: the packaged one, or where there is none the defaults."""
    from .config import RunConfig, packaged_algorithms
    from .tasks import find_task

    if config is not None and task is None:
        return RunConfig.load(config)
    if config is not None or task is None:
        raise TumbleUserError("give a TASK (see `tumble list`) or --config FILE, one of the two")
    found = find_task(task)
    if algo in packaged_algorithms(found):
        return RunConfig.packaged(found, algo)
    chosen = RunConfig(found, algo)
    print(
        f"no packaged {algo} configuration for this task: training with the defaults (the run's config.toml has them "
        "all; --config FILE takes others)"
    )
    return chosen


def parse_options(options: list[str] | None) -> dict[str, Any]:
    """Read NAME=VALUE: numbers, booleans, "strings", [lists] and {tables} as TOML has them; other words are strings."""
    import tomllib

    parsed: dict[str, Any] = {}
    for option in options or []:
        name, equals, text = option.partition("=")
        if not (equals and name.isidentifier()):
            raise TumbleUserError(f"--option {option}: write NAME=VALUE, such as --option frame_skip=4")
        if name in NO_OPTIONS:
            raise TumbleUserError(f"--option {option}: {name} is no option of the task; {NO_OPTIONS[name]}")
        try:
            table = tomllib.loads(f"value = {text}")
        except tomllib.TOMLDecodeError:
            table = {}
        usable = list(table) == ["value"] and isinstance(table["value"], bool | int | float | str | list | dict)
        parsed[name] = table["value"] if usable else text
    return parsed


def print_table(table: "Table") -> None:
    """Print a table at its own width: names are not cut where the window is narrow or the output is a file."""
    from rich.console import Console

    Console(width=400).print(table)


def print_scores(scores: "list[Evaluation]") -> None:
    """Print a table of evaluations."""
    from rich.table import Table

    title = f"{scores[0].task} after {scores[0].step:,} steps"
    table = Table("in", "episodes", "mean return", "standard error", "mean length", box=None, title=title)
    for score in scores:
        row = score.summary()
        digits = 1 if abs(score.mean) >= 10 else 2
        error = "" if row["standard_error"] is None else f"{row['standard_error']:.{digits}f}"
        figures = [str(row["episodes"]), f"{row['mean']:.{digits}f}", error, f"{row['mean_length']:.0f}"]
        table.add_row(score.simulator, *figures)
    print_table(table)


if __name__ == "__main__":
    main()
