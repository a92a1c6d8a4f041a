"""The needs of a server: viser, and a port that is free."""

import socket
from typing import Any

from ..physics.machine.libraries import pip_install
from .errors import ViewerError

FIRST_PORT, PORTS = 8080, 50


def free_port(host: str, port: int | None) -> int:
    """Return the port if it is free; None: the first free one from 8080 on.

    Raises:
        ViewerError: it is in use, or all are.
    """
    for number in range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, number))
            except OSError as error:
                reason = error.strerror
                continue
            return number
    if port is None:
        raise ViewerError(f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is free at {host}")
    raise ViewerError(f"port {port} cannot be had at {host} ({reason}); choose another, or none for the first free one")


def import_viser() -> Any:
    """Return viser.

    Raises:
        ViewerError: it is not installed.
    """
    try:
        import viser
    except ImportError as error:
        hint = f"{pip_install('viewer')}; replays (tumble render --out FILE.html) do without"
        raise ViewerError(f"the live view needs viser ({error}); {hint}") from None
    return viser
