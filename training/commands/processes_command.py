"""The option `tumble train --processes`: one run by several processes of this machine, as torchrun would start them."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from ..errors import TumbleUserError

Processes = Annotated[
    int | None, typer.Option(min=1, help="Train one run by so many processes, each with --num-envs environments.")
]
PATIENCE = 90.0
"""Seconds in which all processes end after one has failed, before they are killed."""


def start_processes(processes: int | None, several_runs: bool) -> None:
    """Train by several processes if that is asked for and this is not one of them; leave with their exit code.

    Raises:
        TumbleUserError: Several runs are asked for too.
    """
    several = (processes or 1) > 1 or os.environ.get("WORLD_SIZE", "1") != "1"
    if several and several_runs:
        raise TumbleUserError(
            "several processes train one run, and --seeds trains several runs in a process each: choose one of the two"
        )
    if processes is not None and processes > 1 and "WORLD_SIZE" not in os.environ:
        raise typer.Exit(train_in(processes))


def environments_of(count: int) -> list[dict[str, str]]:
    """Return the variables by which each of several processes of this machine joins their group, as of torchrun."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [common | {"RANK": rank, "LOCAL_RANK": rank} for rank in range(count)]
    return [{name: str(value) for name, value in variables.items()} for variables in ranks]


def train_in(count: int) -> int:
    """Train by processes with this one's arguments, and pass Ctrl-C on; return the exit code of the first that fails.

    As torchrun does, it sends SIGTERM to the others as soon as one fails.
    """
    from ...physics.machine.children import python_command
    from ..seeds import ChildProcess, run_processes

    command = python_command(f"from {__package__.rpartition('.')[0]}.cli import main; main()", *sys.argv[1:])
    children: list[ChildProcess] = []
    failed: list[tuple[int, float]] = []  # exit code of the first process that failed, and the time

    def start() -> Iterator[ChildProcess]:
        for variables in environments_of(count):
            children.append(ChildProcess(command, os.environ | variables))
            yield children[-1]

    def end(child: ChildProcess, _: bool) -> None:
        code = child.process.returncode
        if not code or failed:
            return
        failed.append((code if code > 0 else 2, time.monotonic()))
        if code < 0:
            rank, name = children.index(child), signal.Signals(-code).name
            print(f"error: process {rank} was ended from outside by {name}", file=sys.stderr)
        for other in children:
            other.process.terminate()

    def watch() -> None:
        if failed and time.monotonic() - failed[0][1] > PATIENCE:
            for child in children:
                child.process.kill()

    run_processes(start(), count, end, watch, quiet=True)
    return failed[0][0] if failed else 0
