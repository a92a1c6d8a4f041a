"""The command `tumble render`: pictures, films and replays of tasks and models."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...physics.machine.waiting import Waiting, importing
from ..errors import TumbleUserError
from ..output_paths import require_output_path

Overlays = Annotated[
    list[str] | None,
    typer.Option(
        "--overlay",
        metavar="NAME",
        help="What is written or drawn over: time, reward, terms, names, contacts, forces, frames, sites, tendons, "
        "collision; may be repeated.",
    ),
]
Slow = Annotated[float, typer.Option(metavar="FACTOR", help="Slow motion: seconds of film for one simulated.")]
Columns = Annotated[int | None, typer.Option(min=1, help="Environments in a row; default: as many as rows.")]
LIBRARIES = "PyTorch"
_FILMS = (".mp4", ".gif")


def render(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TASK|MODEL.xml|ROBOT",
            help="A task (see `tumble list`), an MJCF file, or a robot (`tumble robots`).",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Picture (.png), film (.mp4, .gif) or replay (.html).")] = Path(
        "picture.png"
    ),
    num_envs: Annotated[int, typer.Option(min=1, max=64, help="Environments, side by side.")] = 1,
    seconds: Annotated[float, typer.Option(min=0.0, help="Simulated duration of a film or replay.")] = 5.0,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the task, as in TOML; may be repeated."),
    ] = None,
    camera: Annotated[str | None, typer.Option(help="A camera of the model; default: one that follows it.")] = None,
    width: Annotated[int, typer.Option(min=16)] = 480,
    height: Annotated[int, typer.Option(min=16)] = 480,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    overlay: Overlays = None,
    look: Annotated[str, typer.Option(help="Light: sun, or file for the lights and the sky of the file.")] = "sun",
    soft: Annotated[bool, typer.Option("--soft", help="Soft shadows.")] = False,
    columns: Columns = None,
    gap: Annotated[int, typer.Option(min=0, help="Pixels between environments.")] = 0,
    spacing: Annotated[
        float | None, typer.Option(help="Metres between environments, which then stand in one picture.")
    ] = None,
    slow: Slow = 1.0,
    path: Annotated[bool, typer.Option("--path", help="Path tracing: true light, and slower.")] = False,
    samples: Annotated[int, typer.Option(min=1, help="Paths of each pixel, with --path.")] = 64,
) -> None:
    """Draw a task under random actions, or a model with its controls at zero."""
    from ..tasks import find_task
    from .arguments import check_options, model_file, parse_options

    require_output_path(out, ".png", *_FILMS, ".html")
    model = model_file(what, ".xml")
    if model is not None and not model.exists():
        raise TumbleUserError(f"{model}: no such model file")
    if model is not None and option:
        raise TumbleUserError(f"--option sets options of tasks, and {model} is a model")
    task, options = "" if model is not None else find_task(what), parse_options(option)
    asked = {"overlays": tuple(overlay or ()), "look": look, "soft": soft, "columns": columns, "gap": gap, "slow": slow}
    style = style_of(spacing=spacing, **asked)
    if path and spacing is not None:
        raise TumbleUserError("--path draws one environment a picture: leave out --spacing")
    renderer: Any = {"samples": samples, "seed": seed} if path else "rays"
    with importing(LIBRARIES):
        if model is None:
            check_options(task, options)
    if out.suffix.lower() == ".html":
        record(out, model or task, num_envs, seed, seconds, options)
        return
    size = {"width": width, "height": height, "renderer": renderer}
    how = {"num_envs": num_envs, "seconds": seconds if out.suffix.lower() in _FILMS else 0.0, "style": style}
    options |= {"seed": seed} | ({"camera_name": camera} if camera else {})
    draw(out, model or task, how | size | ({"camera": camera} if model else options))


def style_of(**asked: Any) -> Any:
    """Return the style of pictures."""
    from ..results.film_style import FilmStyle

    return FilmStyle(**asked)


def record(out: Path, what: Path | str, num_envs: int, seed: int, seconds: float, options: dict[str, Any]) -> None:
    """Record a replay of a model or a task."""
    from ..results.replays import replay_model, replay_task

    with Waiting(f"recording {out}"):
        if isinstance(what, Path):
            print(replay_model(what, seconds, num_envs).save(out))
        else:
            print(replay_task(what, num_envs, seed, seconds, **options).save(out))


def draw(out: Path, what: Path | str, arguments: dict[str, Any]) -> None:
    """Draw a model or a task into a picture or a film, with the arguments of `film_model` or `film_task`."""
    with importing(LIBRARIES):
        from ...physics.rendering import save_png, write_video
        from ..results import video as films
    film = films.film_task(what, **arguments) if isinstance(what, str) else films.film_model(what, **arguments)
    with Waiting(f"drawing {out}"):
        moving = out.suffix.lower() in _FILMS
        print(write_video(out, film.frames, film.fps) if moving else save_png(out, next(film.frames)))
