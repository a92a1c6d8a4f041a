"""The option `tumble train --processes`: one run by several processes of this machine, as torchrun would start them."""

import os
import signal
import socket
import subprocess
import sys
import time
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
    """Train by processes with this one's arguments, and pass Ctrl-C and SIGTERM on; return their exit code."""
    from ...physics.machine.children import python_command
    from ..learning.callbacks import StopRequest

    command = python_command(f"from {__package__.rpartition('.')[0]}.cli import main; main()", *sys.argv[1:])
    children: list[subprocess.Popen[bytes]] = []
    with StopRequest(quiet=True).listening() as request:
        passed, failed_at = False, 0.0
        try:
            for own in environments_of(count):
                children.append(subprocess.Popen(command, env=os.environ | own, start_new_session=True))
            while None in (codes := [child.poll() for child in children]):
                if request.wanted and not passed:
                    passed = True
                    for child in children:
                        child.send_signal(signal.SIGINT)
                if any(codes) and not failed_at:
                    failed_at = time.monotonic()
                if failed_at and time.monotonic() - failed_at > PATIENCE:
                    break
                time.sleep(0.05)
        finally:
            for child in children:
                child.kill()
                child.wait()
    codes = [child.returncode for child in children]
    killed = [f"process {rank} by {signal.Signals(-code).name}" for rank, code in enumerate(codes) if code and code < 0]
    if killed:
        print(f"error: {', '.join(killed)} was ended from outside", file=sys.stderr)
    return next((code if code > 0 else 2 for code in codes if code), 0)
