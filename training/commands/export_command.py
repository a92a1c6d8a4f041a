"""The command `tumble export`: a trained actor as a file for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import TumbleUserError


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/Ant-v0-ppo-0-...")],
    onnx: Annotated[Path | None, typer.Option(metavar="FILE", help="Write ONNX: FILE.onnx.")] = None,
    torchscript: Annotated[Path | None, typer.Option(metavar="FILE", help="Write TorchScript: FILE.pt.")] = None,
    checkpoint: Annotated[
        str, typer.Option(help="latest, best (of --evaluate-every), a step such as 500_000, or a folder.")
    ] = "latest",
    task: Annotated[
        str | None, typer.Option(help="The module or file of the run's task, which is then imported.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Import the module or file of the run's task, whatever it is.")
    ] = False,
) -> None:
    """Export a trained actor, with its normalisation and bounds, and check the file against the policy."""
    if onnx is None and torchscript is None:
        raise TumbleUserError("give --onnx FILE.onnx or --torchscript FILE.pt, or both")
    for path, suffixes in ((onnx, (".onnx",)), (torchscript, (".pt", ".pth", ".ts"))):
        if path is not None and path.suffix.lower() not in suffixes:
            raise TumbleUserError(f"{path}: the name must end in {' or '.join(suffixes)}")
    from ..runs import Run
    from .arguments import require_trust

    opened = Run.find(run)
    require_trust(opened.config, task, trust)
    from ..export import export_policy
    from ..policy import newest_policy

    policy_folder = newest_policy(opened) if checkpoint == "latest" else opened.checkpoint(checkpoint)
    for exported in export_policy(opened, policy_folder, onnx, torchscript):
        print(exported.path)
        print(f"  in:  {', '.join(exported.inputs)}\n  out: {', '.join(exported.outputs)}")
        print(
            f"  checked by {exported.runtime} on {exported.observations} observations: actions differ from the "
            f"policy's by at most {exported.difference:.1e} of their range"
        )
