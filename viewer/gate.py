"""The gate of the server: which pages may connect, and which of their messages are accepted.

A browser lets any page open web sockets to this machine. So only pages of this server may connect, and their messages
are checked before viser reads them.
"""

import contextlib
import ipaddress
import logging
import math
import re
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

from .errors import ViewerError

logger = logging.getLogger("tumble.viewer")
TAKEN = ("ViewerCameraMessage", "GuiUpdateMessage", "SceneNodeDragMessage")
"""Types of messages that a page may send; viser has others, such as one that opens a tunnel to a public address."""
FOREIGN = (
    "This page belongs to the server's own address. Open the address that the viewer printed, by localhost or by a "
    "number such as http://192.0.2.1:8080; a proxy in front of it has to send this machine's Host and Origin.\n"
)
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]+)?")
_starting = threading.Lock()


class Gate:
    """The checks of one server.

    Args:
        host: the address that the server listens at.
    """

    def __init__(self, host: str) -> None:
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}
        self._ignored: set[str] = set()
        self._gui: Any = None
        self._in_use = False

    def start(self, viser: Any, **settings: Any) -> Any:
        """Return a server of viser behind this gate.

        Raises:
            ViewerError: this version of viser starts its server in another way.
        """
        with _starting, self._between(viser):
            server = viser.ViserServer(**settings)
        if not self._in_use:
            server.stop()
            raise ViewerError("this version of viser is not known; install the one of constraints.txt")
        self._gui = server.gui
        return server

    @contextlib.contextmanager
    def _between(self, viser: Any) -> Iterator[None]:
        """Put the gate between viser and the library of web sockets, while a server of viser starts."""
        user = viser.infra._infra
        library = user.websockets
        served = SimpleNamespace(**vars(library.asyncio.server) | {"serve": self._serve(library.asyncio.server.serve)})
        user.websockets = SimpleNamespace(**vars(library) | {"asyncio": SimpleNamespace(server=served)})
        try:
            yield
        finally:
            user.websockets = library

    def _serve(self, serve: Callable[..., Any]) -> Callable[..., Any]:
        """Return the library's function that starts a server, with the checks of this gate."""

        def gated(handle: Callable[[Any], Awaitable[None]], *places: Any, process_request: Any, **settings: Any) -> Any:
            self._in_use = True

            def answer(connection: Any, request: Any) -> Any:
                if not self.lets_in(request.headers):
                    return connection.respond(HTTPStatus.FORBIDDEN, FOREIGN)
                response = process_request(connection, request)
                if response is not None:
                    response.headers["Content-Security-Policy"] = _only_to(request.headers["Host"])
                return response

            async def heard(connection: Any) -> None:
                await handle(_Checked(connection, self.takes))

            return serve(heard, *places, process_request=answer, **settings)

        return gated

    def lets_in(self, headers: Any) -> bool:
        """Return True for a request to this machine, by a page of this server or by no page.

        A host that is a name must be one of this machine's: a foreign name may be made to lead here.
        """
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1 or not self._is_here(hosts[0]):
            return False
        return not origins or origins[0] in (f"http://{hosts[0]}", f"https://{hosts[0]}")

    def _is_here(self, host: str) -> bool:
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return False
        name = found["name"].strip("[]")
        with contextlib.suppress(ValueError):
            return name in self._names or bool(ipaddress.ip_address(name))
        return False

    def takes(self, raw: Any) -> bool:
        """Return True for a message that a page may send, with a value that its control offers; warn once of others."""
        import msgspec

        try:
            message = msgspec.msgpack.decode(raw)
            kind = message["type"]
            taken = kind in TAKEN and _is_finite(message)
            if taken and kind == "GuiUpdateMessage":
                taken = self._is_offered(message["uuid"], message["updates"])
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            kind, taken = "message", False
        if not taken and str(kind) not in self._ignored and len(self._ignored) < 10:
            self._ignored.add(str(kind))
            logger.warning("the viewer ignores a message of a page (%.40r): nothing on its panel sends that", kind)
        return taken

    def _is_offered(self, uuid: str, updates: dict[str, Any]) -> bool:
        """Return True for a value that a control of the panel can have; a page may change nothing else of it."""
        handle = self._gui._gui_input_handle_from_uuid.get(uuid)
        if handle is None or list(updates) != ["value"]:
            return False
        value = updates["value"]
        if hasattr(handle, "options"):
            return value in handle.options
        if hasattr(handle, "min"):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and handle.min - handle.step <= value <= handle.max + handle.step
        return isinstance(value, bool)  # a button or a box


class _Checked:
    """A connection that returns the messages that pass a check."""

    def __init__(self, connection: Any, passes: Callable[[Any], bool]) -> None:
        self._connection, self._passes = connection, passes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> Any:
        """Return the next one, as the connection's `recv`."""
        while not self._passes(message := await self._connection.recv()):
            pass
        return message


def _only_to(host: str) -> str:
    """Return the policy of a page that may only connect to its server: viser's address can name others."""
    return f"connect-src 'self' ws://{host} wss://{host} data: blob:; object-src 'none'; base-uri 'none'"


def _is_finite(value: Any) -> bool:
    """Return True if all numbers of a message are finite."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, int | float) or math.isfinite(value)
