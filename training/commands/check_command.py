"""`tumble check ID`: compares vector environments of Gymnasium's registry, anyone's, with its documentation."""

from typing import Annotated

import typer

from ..errors import TumbleUserError


def check(
    identity: Annotated[str, typer.Argument(metavar="ID", help="An id of Gymnasium's registry, or module:ID.")],
    num_envs: Annotated[int, typer.Option(min=1, help="Environments at a time.")] = 3,
    steps: Annotated[int, typer.Option(min=8, help="Steps of a rollout; episodes have to end in it.")] = 64,
    skip: Annotated[list[str] | None, typer.Option(metavar="CHECK", help="Leave a check out; may be repeated.")] = None,
    vectorization_mode: Annotated[
        str | None, typer.Option(help="sync, async or vector_entry_point; default: make_vec's.")
    ] = None,
) -> None:
    """Check that vector environments, of any project, follow Gymnasium's documentation; exit code 1 if they do not."""
    import gymnasium

    from ...envs.checking import check_vector_env

    options = {} if vectorization_mode is None else {"vectorization_mode": vectorization_mode}
    try:
        report = check_vector_env(
            identity, num_envs=num_envs, steps=steps, skip=skip or (), raise_on_failure=False, **options
        )
    except (gymnasium.error.Error, ModuleNotFoundError, ValueError) as error:
        raise TumbleUserError(str(error)) from error
    print(report)
    if report.failures:
        raise typer.Exit(1)
