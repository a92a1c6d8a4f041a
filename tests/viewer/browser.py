"""A headless Chromium, spoken to by its DevTools protocol over a web socket; no package of its own is needed."""

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import connect

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"
PATIENCE = 300.0  # s: machines of tests draw in software, and do other things


class Browser:
    """A browser with one page.

    Attributes:
        problems: errors of the page's console and exceptions of its program.
        requests: addresses that the page asked for.
    """

    def __init__(self, folder: Path, *flags: str, size: tuple[int, int] = (640, 480), scale: float = 1.0) -> None:
        """Start it with a page of some size, whose pictures have `scale` pixels for one of its own."""
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._ids = itertools.count(1)
        self._process = subprocess.Popen(
            [
                *(
                    str(CHROMIUM),
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-dev-shm-usage",
                    "--use-angle=swiftshader",
                ),
                *("--enable-unsafe-swiftshader", "--remote-debugging-port=0", f"--user-data-dir={folder}"),
                *(
                    f"--window-size={size[0]},{size[1]}",
                    "--hide-scrollbars",
                    "--disable-gpu-watchdog",
                    *flags,
                    "about:blank",
                ),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._open = ExitStack()
        self._socket = self._open.enter_context(connect(self._page(folder), max_size=None))
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=scale, mobile=False
        )

    def _page(self, folder: Path) -> str:
        """Return the address of the page's web socket."""
        end, port = time.monotonic() + PATIENCE, folder / "DevToolsActivePort"
        while time.monotonic() < end:
            try:
                first = port.read_text().split()[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{first}/json/list") as answer:
                    pages = [one for one in json.load(answer) if one["type"] == "page"]
                    return pages[0]["webSocketDebuggerUrl"]
            except (OSError, IndexError):
                time.sleep(0.1)
        raise TimeoutError("Chromium has not started")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol, and note what the page reports meanwhile."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"].get("exception", told)))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(told["entry"]["text"] + " " + told["entry"].get("url", ""))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.problems.append(str(told["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def open(self, address: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=address)

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until an expression in the page is true; return its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := self.ask(expression):
                return value
            time.sleep(0.1)
        raise TimeoutError(f"never true: {expression}; problems: {self.problems}")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send an event of the mouse: mousePressed, mouseMoved, mouseReleased, mouseWheel."""
        pressed = {"button": "left", "buttons": 0 if kind == "mouseReleased" else 1, "clickCount": 1} | more
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def click(self, element: str) -> None:
        """Click with the mouse on the middle of an element, given as an expression, when it is there."""
        self.until(f"Boolean({element})")
        box = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({element}).getBoundingClientRect())"
        before, at = None, self.ask(box)
        while before != at:  # panels slide in
            time.sleep(0.5)
            before, at = at, self.ask(box)
        self.mouse("mouseMoved", *at, buttons=0)
        self.mouse("mousePressed", *at)
        self.mouse("mouseReleased", *at)

    def picture(self) -> np.ndarray:
        """Return a picture of the page, (height, width, 3) uint8."""
        import imageio.v3 as imageio

        data = self.call("Page.captureScreenshot", format="png")["data"]
        return np.asarray(imageio.imread(base64.b64decode(data)))[..., :3]

    def save(self, path: Path) -> None:
        """Write a picture of the page to a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    @property
    def pid(self) -> int:
        """The number of the browser's first process."""
        return self._process.pid

    def close(self) -> None:
        """End the browser."""
        self._open.close()
        self._process.terminate()
        self._process.wait(timeout=30)
