"""A replay: the movement of some environments, as one HTML file that needs no network.

The page draws with WebGL2 (`page/`). It has every frame of every environment: positions in single precision,
quaternions in half, geoms that never move only once.
"""

import base64
import html
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ..physics.machine.disk import replacing
from .drawn import Drawn, StartCamera, body_name, followed
from .particles import RecordedParticles, ball
from .surfaces import GeomSurface

PAGE = Path(__file__).parent / "page"
SCRIPTS = ("unpack", "algebra", "shaders", "renderer", "orbit", "motion", "curves", "player")
"""Files of the page's program, in the order in which they run."""
_FORMAT = 1


class Replay:
    """A recording of some environments: saved as a page, or shown in a notebook.

    Attributes:
        envs: numbers of the environments.
        time: (frames, envs) simulated seconds.
        pos: (frames, envs, geoms, 3) positions of the drawn geoms, then of the planes, m.
        quat: (frames, envs, geoms, 4) their orientations, w first.
        curves: numbers of each step by name, (frames, envs); nan where a step has no number.
        particles: groups of them.
    """

    def __init__(
        self,
        mj: mujoco.MjModel,
        drawn: Drawn,
        camera: StartCamera,
        envs: list[int],
        time: np.ndarray,
        pos: np.ndarray,
        quat: np.ndarray,
        curves: dict[str, np.ndarray],
        title: str = "",
        particles: Sequence[RecordedParticles] = (),
    ) -> None:
        """Take frames with the poses of all geoms of the model, (frames, envs, ngeom, ...)."""
        rows = np.concatenate([drawn.geom, drawn.planes])
        self.envs, self.time, self.curves, self.title = envs, time, curves, title or "Tumble"
        self.pos, self.quat = pos[:, :, rows], quat[:, :, rows]
        self._drawn, self._camera, self.particles = drawn, camera, tuple(particles)
        self._bodies = [body_name(mj, int(mj.geom_bodyid[g])) for g in rows]
        self._follows = followed(mj, drawn)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.time)

    def __repr__(self) -> str:
        return f"Replay({self.title!r}, {self.frames} frames of {len(self.envs)} environments)"

    def html(self) -> str:
        """Return the page."""
        numbers, text = pack(self._arrays())
        about = self._about() | {"arrays": numbers}
        fills = {
            "title": html.escape(self.title),
            "style": (PAGE / "replay.css").read_text("utf-8"),
            "about": json.dumps(about, separators=(",", ":")).replace("<", "\\u003c"),
            "numbers": text,
            "program": "\n".join((PAGE / f"{name}.js").read_text("utf-8") for name in SCRIPTS),
        }
        page = (PAGE / "replay.html").read_text("utf-8")
        return re.sub(r"\{\{(\w+)\}\}", lambda found: fills[found.group(1)], page)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the page; returns its path.

        Raises:
            ValueError: the name does not end in .html.
            OSError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a replay's name must end in .html, not {path.name!r}")
        page = self.html().encode("utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(path) as unfinished:
                unfinished.write_bytes(page)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        return path

    def _repr_html_(self) -> str:
        """Return the page in a frame, as notebooks show it."""
        page = html.escape(self.html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" loading="lazy" title="{html.escape(self.title)}" '
            'style="width:100%;height:560px;border:0;border-radius:8px"></iframe>'
        )

    @property
    def _surfaces(self) -> list[GeomSurface]:
        """The surfaces of geoms, and then that of particles, if there are any."""
        shown = sum(group.places[0, ..., 0].size for group in self.particles)
        return [*self._drawn.surfaces, *([ball(shown)] if shown else [])]

    def _arrays(self) -> dict[str, np.ndarray]:
        moves = ((self.pos != self.pos[:1]).any(axis=(0, 1, 3))) | ((self.quat != self.quat[:1]).any(axis=(0, 1, 3)))
        arrays: dict[str, np.ndarray] = {
            "time": self.time.astype(np.float32),
            "moves": moves.astype(np.uint8),
            "pos": self.pos[:, :, moves].astype(np.float32),
            "quat": self.quat[:, :, moves].astype(np.float16),
            "still_pos": self.pos[0][:, ~moves].astype(np.float32),
            "still_quat": self.quat[0][:, ~moves].astype(np.float32),
            "color": np.round(255 * np.clip(self._drawn.color, 0, 1)).astype(np.uint8),
            "surface": self._drawn.surface.astype(np.uint32),
            "plane_colors": self._drawn.plane_colors.astype(np.float32),
        }
        for number, surface in enumerate(self._surfaces):
            arrays[f"vertices{number}"] = surface.vertices
            arrays[f"normals{number}"] = np.round(127 * surface.normals).astype(np.int8)
            narrow = np.uint16 if len(surface.vertices) < 2**16 else np.uint32
            arrays[f"faces{number}"] = surface.faces.astype(narrow)
        for number, group in enumerate(self.particles):
            arrays |= group.arrays(number)
        for number, values in enumerate(self.curves.values()):
            arrays[f"curve{number}"] = values.astype(np.float32)
        return arrays

    def _about(self) -> dict[str, Any]:
        camera = self._camera
        return {
            "format": _FORMAT,
            "title": self.title,
            "envs": self.envs,
            "bodies": self._bodies,
            "follows": self._follows,
            "surfaces": len(self._surfaces),
            "particles": [group.about() for group in self.particles],
            "curves": list(self.curves),
            "cell": self._drawn.cell,
            "ground": self._drawn.ground,
            "camera": {
                "target": camera.target,
                "distance": camera.distance,
                "azimuth": camera.azimuth,
                "elevation": camera.elevation,
            },
        }


def read_page(page: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header of a saved page, and its arrays, to the precision that it keeps.

    Raises:
        ValueError: it is no page of a replay.
    """
    parts = {name: re.search(rf'<script id="{name}"[^>]*>(.*?)</script>', page, re.S) for name in ("about", "numbers")}
    if parts["about"] is None or parts["numbers"] is None:
        raise ValueError("this is no page of a replay")
    about = json.loads(parts["about"].group(1))
    return about, unpack(about["arrays"], parts["numbers"].group(1))


_ALIGNMENT = 8
KINDS = ("float32", "float16", "uint32", "uint16", "uint8", "int8")
"""Types that the page can read (`page/unpack.js`)."""


def pack(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], str]:
    """Return the table {name: [type, shape, first byte]} and the text of arrays of the types `KINDS`."""
    table: dict[str, Any] = {}
    block = bytearray()
    for name, array in arrays.items():
        kind = array.dtype.name
        if kind not in KINDS:
            raise TypeError(f"{name}: the page reads {', '.join(KINDS)}, not {kind}")
        block += bytes(-len(block) % _ALIGNMENT)
        table[name] = [kind, list(array.shape), len(block)]
        block += np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    return table, base64.b64encode(zlib.compress(bytes(block), 7)).decode("ascii")


def unpack(table: Mapping[str, Any], text: str) -> dict[str, np.ndarray]:
    """Return the arrays that `pack` has packed."""
    block = zlib.decompress(base64.b64decode(text))
    found = {}
    for name, (kind, shape, first) in table.items():
        dtype = np.dtype(kind).newbyteorder("<")
        count = int(np.prod(shape))
        found[name] = np.frombuffer(block, dtype, count, first).reshape(shape).astype(kind)
    return found
