"""Pages of other addresses are refused, and what a page sends is checked: by web sockets, without a browser."""

import time
import urllib.error
import urllib.request

import msgspec
import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tumble.viewer import Viewer
from tumble.viewer.gate import Gate

from .pressing import handle_of, press

viser = pytest.importorskip("viser")
CAMERA = {"wxyz": (1, 0, 0, 0), "position": (0, 0, 1), "look_at": (0, 0, 0), "up_direction": (0, 0, 1)}
CAMERA |= {"type": "ViewerCameraMessage", "fov": 1.0, "near": 0.1, "far": 9.0, "image_height": 9, "image_width": 9}


@pytest.fixture(scope="module")
def started(stage, slider):
    """Started viewers of the two models."""
    viewers = [Viewer(source, play=False).start() for source in (stage, slider)]
    yield viewers
    for viewer in viewers:
        viewer.close()


@pytest.fixture(scope="module")
def viewer(started):
    return started[0]


def opened(viewer: Viewer, origin: str | None):
    """A web socket to a viewer, as viser's page opens it."""
    address = viewer.url.replace("http", "ws")
    return connect(address, origin=origin, subprotocols=[f"viser-v{viser.__version__}"], max_size=None)


def test_pages_of_other_addresses_are_refused(viewer, started):
    port = viewer.url.rpartition(":")[2]
    for origin in (
        "http://example.org",
        f"http://example.org:{port}",
        "null",
        started[1].url,
        f"{viewer.url}.example.org",
    ):
        with pytest.raises(InvalidStatus, match="403"):
            opened(viewer, origin)
    for origin in (viewer.url, viewer.url.replace("http", "https"), None):
        with opened(viewer, origin) as page:
            assert page.recv(timeout=60)


def test_names_that_lead_here_are_refused_and_numbers_are_not(viewer):
    """A page of `example.org`, whose entry in the DNS was changed to this machine, has that name as `Host`."""

    def answer(host: str) -> tuple[int, str]:
        try:
            asked = urllib.request.Request(viewer.url, headers={"Host": host})
            with urllib.request.urlopen(asked) as found:
                return found.status, found.headers["Content-Security-Policy"]
        except urllib.error.HTTPError as error:
            return error.code, ""

    for host in ("example.org", "localhost.example.org:80", "example.org@localhost", "localhost;x", ""):
        assert answer(host)[0] in (400, 403), host
    for host in ("localhost", "LOCALHOST:9000", "127.0.0.1:1", "192.0.2.7:80", "[::1]:80"):
        status, policy = answer(host)
        assert status == 200 and policy.startswith(f"connect-src 'self' ws://{host} ")


def test_values_that_a_page_does_not_offer_are_ignored(started):
    for viewer in started:
        handles = viewer._server.gui._gui_input_handle_from_uuid
        before = {uuid: handle.value for uuid, handle in handles.items()}
        labels = {uuid: handle.label for uuid, handle in handles.items()}
        with opened(viewer, viewer.url) as page:

            def send(page=page, **message: object) -> None:
                page.send(msgspec.msgpack.encode(message))

            send(**CAMERA)
            for uuid in handles:
                for value in (float("nan"), float("inf"), 1e300, "1/0", "../x", None, [], {"a": 1}, b"\xff", 2**62):
                    send(type="GuiUpdateMessage", uuid=uuid, updates={"value": value})
                send(type="GuiUpdateMessage", uuid=uuid, updates={"label": "<b>", "value": before[uuid]})
                send(type="GuiUpdateMessage", uuid=uuid, updates={"props": None})
            send(type="ShareUrlRequest")
            send(type="GuiUpdateMessage", uuid="no such", updates={"value": True})
            send(type="SceneNodeDragMessage", end_position=(float("nan"), 0, 0))
            for raw in (b"", b"\xc1", "text", b"\x91" * 5000, msgspec.msgpack.encode([1])):
                page.send(raw)
            speed = handle_of(viewer, "speed")
            send(type="GuiUpdateMessage", uuid=speed._impl.uuid, updates={"value": "1/4"})
            end = time.monotonic() + 60
            while viewer.panel.speed != 0.25 and time.monotonic() < end:
                time.sleep(0.02)
        assert viewer.panel.speed == 0.25  # the same page still acts
        after = {uuid: handle.value for uuid, handle in handles.items()} | {speed._impl.uuid: before[speed._impl.uuid]}
        assert after == before and labels == {uuid: handle.label for uuid, handle in handles.items()}
        assert viewer.do(lambda: 1) == 1


def test_an_error_of_what_a_page_asks_for_is_told_and_the_loop_goes_on(slider, caplog):
    slider.reset()
    viewer = Viewer(slider, driven=True)
    try:
        viewer.sync()
        press(viewer, "show", "environment 1")
        for label, value in (("speed", "1/0"), ("slide", np.nan), ("push", np.inf), ("camera", "../x")):
            start = handle_of(viewer, label).value
            press(viewer, label, value)
            handle_of(viewer, label)._impl.value = start
        handle_of(viewer, "camera")._impl.value, handle_of(viewer, "camera picture")._impl.value = "../x", True
        viewer._was_read = 0.0
        viewer.sync()
        assert "../x" in viewer.panel._problem.content.replace("&#47;", "/") and viewer.panel._problem.visible
        assert caplog.text.count("the viewer goes on after an error") == 4  # speed, both sliders, picture
        viewer._jobs.put(lambda: 1 / 0)
        viewer._draw = lambda: [][0]
        viewer._drawn = 0.0
        viewer.sync()
        assert "division by zero" in caplog.text and "IndexError" in viewer.panel._problem.content
        assert viewer.panel.speed == 1.0 and slider.qpos.isfinite().all() and np.isfinite(viewer.session.wanted).all()
        press(viewer, "or", "Reset")
        assert not viewer.panel._problem.visible
    finally:
        viewer.close()


def test_a_server_that_is_started_in_another_way_is_refused(monkeypatch):
    """Without the gate no server is left running."""

    class Other:
        stopped = 0

        def __init__(self, **_: object) -> None:
            self.gui = None

        def stop(self) -> None:
            Other.stopped += 1

    from tumble.viewer import ViewerError

    monkeypatch.setattr(viser, "ViserServer", Other)
    with pytest.raises(ViewerError, match="not known"):
        Gate("127.0.0.1").start(viser, host="127.0.0.1", port=0)
    assert Other.stopped == 1
