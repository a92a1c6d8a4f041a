"""The command `tumble robots`: which robots there are by name, one of them as a picture, and a check of all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...physics.machine.libraries import load_mujoco
from ...physics.machine.waiting import Waiting, importing
from ..errors import TumbleUserError
from ..output_paths import require_output_path
from .printing import print_table

if TYPE_CHECKING:
    from ...assets.robots import KnownRobot
    from ..results.robot_trials import Trial

LIBRARIES = "PyTorch"


def robots(
    which: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|SOURCE]...", help="Robots, such as menagerie:unitree_g1, and sources of them."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Load, drop, hold and draw each whose files are here; exit code 1 if any fails."),
    ] = False,
    here: Annotated[bool, typer.Option("--here", help="List only robots whose files are here.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The picture (.png) of a robot; with --check a folder for pictures.")
    ] = None,
    width: Annotated[int, typer.Option(min=16)] = 480,
    height: Annotated[int, typer.Option(min=16)] = 480,
) -> None:
    """List robots by name; of one NAME print the sizes, and draw it as its keyframe holds it."""
    chosen, single = chosen_robots(which or [])
    if check:
        check_all([robot for robot in chosen if single or robot.is_here], out, width, height)
    elif single is not None:
        show(single, out, width, height)
    elif out is not None:
        raise TumbleUserError("--out is for the picture of one robot, or the pictures of --check")
    else:
        print_list([robot for robot in chosen if not here or robot.is_here])


def chosen_robots(words: list[str]) -> "tuple[list[KnownRobot], KnownRobot | None]":
    """Return the robots that words name, and the robot if they are the name of a single one.

    Raises:
        TumbleUserError: a word is neither a robot's name nor a source; the message has the nearest.
    """
    from ...assets.robots import get
    from ...assets.robots import robots as known

    every_robot = known()
    sources = {robot.source for robot in every_robot}
    chosen: dict[str, KnownRobot] = {}
    for word in words:
        try:
            named = known(word) if word in sources else [get(word)]
        except FileNotFoundError as error:
            raise TumbleUserError(str(error)) from error
        chosen |= {robot.name: robot for robot in named}
    single = get(words[0]) if len(words) == 1 and words[0] not in sources else None
    return list(chosen.values()) if words else every_robot, single


def print_list(listed: "list[KnownRobot]") -> None:
    """Print a table of robots; sizes are of those whose files are here."""
    from rich.table import Table

    table = Table("robot", "title", "kind", "dofs", "actuators", "licence", "files", box=None)
    here = 0
    for robot in listed:
        is_here = robot.is_here
        here += is_here
        sizes = dofs_and_actuators(robot.path) if is_here else None
        figures = map(str, sizes or ("", ""))
        files = "" if not is_here else "here" if sizes is not None else "MuJoCo cannot read them"
        table.add_row(robot.name, robot.title, robot.kind, *figures, robot.licence, files)
    print_table(table)
    print(f"{len(listed)} robots, of which {here} are here; `tumble robots NAME` draws one, and says how to have it")


def dofs_and_actuators(path: Path) -> tuple[int, int] | None:
    """Count dofs and actuators in a file, without compiling it; None if MuJoCo cannot read it."""
    load_mujoco()
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError):
        return None
    widths = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}
    return sum(widths.get(joint.type, 1) for joint in spec.joints), len(spec.actuators)


def show(robot: "KnownRobot", out: Path | None, width: int, height: int) -> None:
    """Print what is known of a robot, and draw it as its keyframe holds it, or after its fall.

    Raises:
        TumbleUserError: its files are not here, or it cannot be loaded; the message says what to do.
    """
    out = out or Path(f"{robot.name.partition(':')[2].replace('/', '-')}.png")
    require_output_path(out, ".png")
    try:
        path = robot.path
    except FileNotFoundError as error:
        raise TumbleUserError(str(error)) from error
    with importing(LIBRARIES):
        from ...physics.rendering import save_png
        from ..results.robot_trials import try_robot
    with Waiting(f"drawing {robot.name}"):
        trial = try_robot(robot, width, height)
    if trial.sizes is not None:
        sizes = trial.sizes
        print(f"{robot.title} ({robot.kind}), {robot.licence}: {path}")
        print(
            f"  dofs {sizes.dofs}, coordinates {sizes.coordinates}, actuators {sizes.actuators}, bodies {sizes.bodies},"
        )
        print(
            f"  geoms {sizes.geoms}, sensors {sizes.sensors}, mass {sizes.mass:.4g} kg, timestep {sizes.timestep:g} s"
        )
        print(f"  keyframes: {', '.join(sizes.keyframes) or 'none'}")
    if trial.failure:
        raise TumbleUserError(f"{robot.name}: {trial.failure}")
    print(save_png(out, trial.picture))


def check_all(chosen: "list[KnownRobot]", folder: Path | None, width: int, height: int) -> None:
    """Try robots in turn; print a row of each as soon as it is done, and the failures at the end.

    Raises:
        typer.Exit: with code 1, if any failed.
    """
    if not chosen:
        raise TumbleUserError("none of these robots is here; `tumble robots NAME` says how to have one")
    with importing(LIBRARIES):
        from ..results.robot_trials import save_pictures, try_robot
    trials = []
    print(f"{'robot':42}{'dofs':>6}{'actuators':>11}{'seconds':>9}{'fell':>9}{'moved':>9}  outcome")
    for robot in chosen:
        trial = try_robot(robot, width, height)
        print(row_of(trial), flush=True)
        if folder is not None:
            save_pictures([trial], folder)
        trials.append(trial._replace(picture=None))
    failed = [trial for trial in trials if trial.failure]
    print(f"{len(trials) - len(failed)} of {len(trials)} robots were loaded, dropped, held and drawn")
    if failed:
        raise typer.Exit(1)


def row_of(trial: "Trial") -> str:
    """Return the row of a trial: sizes, and changes of coordinates (m or rad) by the drop and from the keyframe."""
    sizes = ("", "") if trial.sizes is None else (trial.sizes.dofs, trial.sizes.actuators)
    changes = ["" if each is None else f"{each:.3f}" for each in (trial.fell, trial.moved)]
    start = f"{trial.name:42}{sizes[0]:>6}{sizes[1]:>11}{trial.seconds:>9.1f}{changes[0]:>9}{changes[1]:>9}"
    return f"{start}  {trial.failure or 'well'}"
