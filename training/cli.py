"""The `tumble` command. Each command is a few lines that call the library; heavy imports wait until one is chosen."""

import importlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..physics.machine.libraries import let_idle_threads_sleep
from ..physics.machine.waiting import importing, show_what_is_waited_for
from .commands.check_command import check
from .commands.export_command import export
from .commands.printing import print_outcome, print_scores, print_table
from .commands.processes_command import Processes, start_processes
from .commands.render_command import Columns, Overlays, Slow, render
from .commands.robots_command import robots
from .commands.seeds_command import Jobs, Seeds, check_seeds, evaluated, find_batch, resume_seeds, train_seeds
from .commands.suite_command import suite
from .commands.sweep_command import sweep
from .commands.view_command import view
from .errors import TumbleUserError, explain
from .output_paths import require_output_path


class _WithSettings(TyperCommand):
    """A command with --set: a value of the configuration that is typed as an option is suggested as a setting."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual; suggest the meaning of an unknown option."""
        words = [word for arg in args for word in arg.split("=", 1)]
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):
                from .commands.arguments import options_meant

                algo = words[words.index("--algo") + 1 :][:1] if "--algo" in words else ["ppo"]
                error.possibilities = options_meant(error.option_name, error.possibilities or [], "".join(algo))
            raise


app = typer.Typer(
    help="Robot-learning environments on a batched rigid-body solver.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Steps = Annotated[int | None, typer.Option(min=1, help="Environment steps in all; default: the configuration's.")]
TASK_FORMS = "Ant, tumble/Ant-v0, my_tasks:me/Reacher-v0 (a module), path/to/my_tasks.py (a file; :ID chooses)"
Algo = Annotated[str | None, typer.Option(help="ppo, recurrent_ppo, sac or td3; default: ppo.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the task, as in TOML; may be repeated."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any value that `tumble config TASK` prints, such as ppo.learning_rate=1e-4; may be repeated.",
    ),
]
Progress = Annotated[
    bool, typer.Option(help="Show a progress bar; without it, or without a terminal, a line every ten seconds.")
]
Trust = Annotated[bool, typer.Option("--trust", help="Import the module or file of the run's task, whatever it is.")]
Simulators = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        help="tumble, mujoco (v5 tasks by Gymnasium's own class, others by their own code over MuJoCo's C) or "
        "mujoco-task (all by their own code); may be repeated.",
    ),
]
Checkpoint = Annotated[
    str,
    typer.Option(help="latest, best (of --evaluate-every), a step such as 500_000 whose checkpoint is kept, a folder."),
]
RunTask = Annotated[str | None, typer.Option(help="The module or file of the run's task, which is then imported.")]
LIBRARIES = "PyTorch and Stable-Baselines3"
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/Ant-v0-ppo-0-...")]


def main() -> None:
    """Run the command line; mistakes that a message explains end with that message and exit code 2.

    So do errors in the code of a user's task, with their place in it; others keep their traceback.
    """
    if os.environ.get("LOCAL_RANK", "0") == "0":  # the first of a launcher's processes speaks for all
        show_what_is_waited_for()
    if "WORLD_SIZE" in os.environ:  # torch logs C++ frames whenever a process of a group ends before others
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    let_idle_threads_sleep()
    try:
        app()
    except TumbleUserError as error:
        stop(str(error))
    except KeyboardInterrupt as stopped:
        print("; ".join(["interrupted", *getattr(stopped, "__notes__", [])]), file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # as in `tumble list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        from .task_errors import describe, is_the_tasks

        if is_the_tasks(error):
            stop(". ".join([describe(error), *getattr(error, "__notes__", [])]))
        if isinstance(error, OSError):
            stop(explain(error))
        raise


def stop(message: str) -> None:
    """End with a message and exit code 2."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def print_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from .. import __version__

        print(f"tumble {__version__}")
        raise typer.Exit


@app.callback()
def tumble(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Robot-learning environments on a batched rigid-body solver."""


@app.command("list")
def list_tasks(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE|MODULE|FILE]...", help="Suites such as dm_control; modules and files of yours."),
    ] = None,
) -> None:
    """Show the tasks, Gymnasium's task that each equals, and the algorithms with a packaged configuration."""
    from collections import Counter

    from rich.table import Table

    from ..envs.registry import TASK_SETS, TASKS, suite_rows
    from .config import packaged_algorithms
    from .tasks import NAMESPACE, gymnasium_twin, load_task, tasks_of

    table = Table("task", "equals", "steps an episode", "packaged training", box=None)
    suites = Counter(identity.partition("/")[0] for identity in suite_rows())
    tasks = [] if sources else sorted(f"{NAMESPACE}{name}-v0" for name in TASKS)
    for source in sources or []:
        own = [identity for identity in suite_rows() if identity.partition("/")[0] == source]
        tasks += own or tasks_of(source)
    for task in tasks:
        limit = load_task(task).max_episode_steps
        table.add_row(task, gymnasium_twin(task) or "", str(limit or ""), " ".join(packaged_algorithms(task)))
    print_table(table)
    counts = ", ".join(f"{name} {count}" for name, count in suites.items())
    if sets := [name for name in TASK_SETS if name.partition("/")[0] in (sources or [])]:
        print(f"sets of these tasks, for tumble.make_vec: {', '.join(sets)}")
    print(f"and tasks of other projects' suites, such as `tumble list dm_control`: {counts}")


@app.command(cls=_WithSettings)
def train(
    task: Annotated[str | None, typer.Argument(help=f"A task: {TASK_FORMS}.")] = None,
    algo: Algo = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: the configuration's.")] = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    processes: Processes = None,
    steps: Steps = None,
    num_envs: Annotated[int | None, typer.Option(min=1, help="Environments at a time.")] = None,
    device: Annotated[str | None, typer.Option(help="Of solver and learner: cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the learner.")] = None,
    config: Annotated[Path | None, typer.Option(help="A configuration file instead of the packaged one.")] = None,
    option: Options = None,
    setting: Settings = None,
    evaluate_every: Annotated[
        int | None, typer.Option(min=1, metavar="STEPS", help="Evaluate now and then, and keep the best policy.")
    ] = None,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Log to Weights & Biases, too.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Go on with this run.")] = None,
    trust: Trust = False,
    progress: Progress = True,
) -> None:
    """Train a policy. Ctrl-C saves; `tumble train --resume RUN` goes on exactly there."""
    start_processes(processes, several_runs=seeds is not None)
    fixed: dict[str, Any] = {"--algo": algo, "--seed": seed, "--num-envs": num_envs, "--device": device}
    fixed |= {"--seeds": seeds, "--config": config, "--option": option, "--set": setting, "--out": out}
    fixed |= {"--evaluate-every": evaluate_every, "--wandb": wandb}
    if resume is not None:
        refuse_with_resume(fixed)
        go_on(resume, task, steps, threads, trust, progress, jobs)
        return
    check_seeds(seed, seeds, jobs)
    if trust:
        raise TumbleUserError("--trust is for runs that are resumed or evaluated; leave it out")
    from .commands.arguments import check_options, choose_config, is_packaged, parse_options, parse_settings

    run_config = choose_config(task, config, algo)
    if config is None and not is_packaged(run_config.task, run_config.algo):
        print(
            f"no packaged {run_config.algo} configuration for this task: training with the defaults "
            "(the run's config.toml has them all; --config FILE takes others)"
        )
    settings = parse_settings(setting)
    if evaluate_every is not None:
        settings["evaluation.every_steps"] = evaluate_every
    if wandb is not None:
        settings["log.wandb"] = wandb
    run_config = run_config.replace(env=run_config.env | parse_options(option)).change(settings)
    run_config = run_config.replace(seed=seed, total_steps=steps, num_envs=num_envs, device=device, threads=threads)
    with importing(LIBRARIES):
        check_options(run_config.task, run_config.env)
    if seeds is not None:
        train_seeds(run_config if "evaluation.every_steps" in settings else evaluated(run_config), seeds, jobs, out)
        return
    with importing(LIBRARIES):
        from . import train as training
    print_outcome(training.train(run_config, out, progress=progress or "lines"))


def refuse_with_resume(fixed: dict[str, Any]) -> None:
    """Refuse options that a resumed run cannot follow: it keeps its configuration."""
    passed = [name for name, value in fixed.items() if value is not None]
    if passed:
        raise TumbleUserError(f"--resume keeps the run's own configuration; leave out {', '.join(passed)}")


def go_on(
    folder: Path,
    task: str | None,
    steps: int | None,
    threads: int | None,
    trust: bool,
    progress: bool,
    jobs: int | None,
) -> None:
    """Resume a run, or the runs of several seeds; a TASK names the module or file that the run's task is in."""
    from .commands.arguments import require_trust
    from .runs import Run
    from .tasks import is_registered

    if task is not None and is_registered(task):
        raise TumbleUserError("--resume keeps the run's own configuration; leave out TASK")
    batch = find_batch(folder, jobs)
    config = batch.config if batch is not None else Run.find(folder).config
    require_trust(config, task, trust)
    if batch is not None:
        start_processes(None, several_runs=True)
        resume_seeds(batch, steps, threads, jobs)
        return
    with importing(LIBRARIES):
        from . import train as training
    outcome = training.resume(folder, total_steps=steps, threads=threads, progress=progress or "lines")
    if outcome.changed or not outcome.leads:
        print_outcome(outcome)
        return
    asked = f"--steps {steps:,}" if steps is not None else f"its configuration's {config.total_steps:,}"
    print(f"nothing to do: {folder} stands at step {outcome.step:,} and has reached {asked}; nothing was changed")


@app.command("config", cls=_WithSettings)
def print_config(
    task: Annotated[str, typer.Argument(help=f"A task: {TASK_FORMS}.")],
    algo: Algo = None,
    option: Options = None,
    setting: Settings = None,
) -> None:
    """Print the configuration that `tumble train` would use, as TOML for its --config."""
    from .commands.arguments import check_options, choose_config, is_packaged, parse_options, parse_settings

    run_config = choose_config(task, None, algo)
    origin = (
        "packaged"
        if is_packaged(run_config.task, run_config.algo)
        else "the defaults; no file is packaged for this task"
    )
    run_config = run_config.replace(env=run_config.env | parse_options(option)).change(parse_settings(setting))
    with importing(LIBRARIES):
        check_options(run_config.task, run_config.env)
    print(f"# {run_config.algo} for {run_config.task}: {origin}\n{run_config.to_toml()}", end="")


@app.command()
def evaluate(
    run: RunFolder,
    simulators: Simulators = None,
    episodes: Annotated[int, typer.Option(min=1)] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Episode k starts from seed + k.")] = 10_000,
    stochastic: Annotated[bool, typer.Option("--stochastic", help="Sample actions, not the most likely one.")] = False,
    checkpoint: Checkpoint = "latest",
    task: RunTask = None,
    trust: Trust = False,
    option: Options = None,
    video: Annotated[Path | None, typer.Option(help="Film an episode: FILE.mp4 or FILE.gif.")] = None,
    overlay: Overlays = None,
    slow: Slow = 1.0,
    columns: Columns = None,
    viewed: Annotated[bool, typer.Option("--view", help="Show the policy in a browser, in Tumble.")] = False,
    replay: Annotated[Path | None, typer.Option(help="Record an episode as a page for browsers: FILE.html.")] = None,
    num_envs: Annotated[int, typer.Option(min=1, max=64, help="Environments in film, replay and view.")] = 1,
    seconds: Annotated[float, typer.Option(min=0.1, help="Longest duration of film and replay.")] = 20.0,
) -> None:
    """Score a trained policy, in Tumble or unchanged in MuJoCo; writes JSON into the run folder."""
    from .runs import Run

    if video is not None:
        require_output_path(video, ".mp4", ".gif")
    if replay is not None:
        require_output_path(replay, ".html")
    if num_envs > 1 and video is None and replay is None and not viewed:
        raise TumbleUserError(
            "--num-envs counts environments in pictures; give --video FILE.mp4 --replay FILE.html or --view"
        )
    from .commands.arguments import check_options, parse_options, require_trust

    options, opened, simulators = parse_options(option), Run.find(run), simulators or ["tumble"]
    require_trust(opened.config, task, trust)
    check_options(opened.config.task, options)
    with importing(LIBRARIES):
        from . import evaluate as evaluation
        from .policy import newest_policy
    policy = newest_policy(opened) if checkpoint == "latest" else opened.checkpoint(checkpoint)
    simulate = partial(evaluation.evaluate, opened, episodes=episodes, seed=seed, checkpoint=policy, options=options)
    scores = [simulate(name, deterministic=not stochastic) for name in dict.fromkeys(simulators)]
    print_scores(scores)
    if len(scores) == 2:
        print(evaluation.agreement(*scores))
    print("\n".join(evaluation.save_evaluation(opened, score) for score in scores))
    if video is not None:
        style = {"overlays": tuple(overlay or ()), "slow": slow, "columns": columns}
        what = {"simulator": simulators[0], "seed": seed, "seconds": seconds, "checkpoint": policy}
        what |= {"num_envs": num_envs, "options": options, "deterministic": not stochastic}
        film_episode(video, opened, what, style)
    if replay is not None:
        from .results.replays import replay_policy

        played = replay_policy(opened, simulators[0], seed, seconds, policy, num_envs, options, not stochastic)
        print(played.save(replay))
    if viewed:
        from .commands.view_command import view_policy

        view_policy(opened, policy, num_envs, seed, options, not stochastic)


def film_episode(video: Path, run: Any, what: dict[str, Any], style: dict[str, Any]) -> None:
    """Film a policy, with arguments of `film_policy` and of its style."""
    from ..physics.rendering import write_video
    from .results import video as films
    from .results.film_style import FilmStyle

    film = films.film_policy(run, **what, style=FilmStyle(**style))
    print(write_video(video, film.frames, film.fps))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders, and folders of several seeds.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
) -> None:
    """Compare runs, grouped by differences of their configurations: tables, curves as a picture, JSON and CSV."""
    with importing(LIBRARIES):
        from .commands.report import write_report
    print("\n".join(str(path) for path in write_report(runs, out)))


app.command()(sweep)
app.command()(suite)
app.command()(robots)
app.command()(render)
app.command()(view)
app.command()(check)
app.command()(export)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(context: typer.Context) -> None:
    """Measure speed against MuJoCo, Gymnasium and envpool, in a clone; `tumble bench --help` shows its options."""
    try:
        benchmarks = importlib.import_module("..benchmarks.main", __package__)
    except ModuleNotFoundError as error:
        if not f"{error.name}".endswith(".benchmarks"):
            raise
        raise TumbleUserError(
            "benchmarks are in Tumble's repository only, not in its wheel; install Tumble from a clone to run them"
        ) from None
    raise typer.Exit(benchmarks.main(context.args))


if __name__ == "__main__":
    main()
