"""Convex pieces of a mesh, found by `coacd` in a process of its own, and kept on disk by the content of the mesh.

Finding them takes seconds to minutes, and the same mesh with the same options always has the same pieces. A file of the
cache holds numpy's arrays under a hash; one that is damaged, or that others could have written, counts as none. Several
processes may write it at once (`codegen.store`).

CoACD: X. Wei et al., "Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree Search",
ACM Trans. Graph. 41(4), 2022.
"""

import contextlib
import hashlib
import importlib.metadata
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen.store import DamagedError, ForeignError, pack, read_trusted, unpack, write_at_once
from ..process import kernel_cache
from .files import MeshFileError

Piece = tuple[np.ndarray, np.ndarray]
"""Vertices (n, 3) and faces (m, 3) of a convex mesh."""
_FLATTEST = 1.0e-6
"""Thickness over length of a piece below which it is nothing but a face: no hull can be made of it."""

_WORKER = """
import io, json, sys
import coacd, numpy
given = numpy.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
coacd.set_log_level("off")
options = json.loads(sys.argv[1])
pieces = coacd.run_coacd(coacd.Mesh(given["vertices"], given["faces"]), **options)
out = io.BytesIO()
numpy.savez(out, **{f"{kind}{k}": array for k, piece in enumerate(pieces) for kind, array in zip("vf", piece)})
sys.stdout.buffer.write(b"PIECES" + out.getvalue())
"""
"""The program of the other process: coacd ends its process if it cannot take a mesh apart."""


def convex_pieces(vertices: np.ndarray, faces: np.ndarray, options: Mapping[str, Any]) -> list[Piece]:
    """Convex meshes that together are nearly the given one.

    Args:
        vertices: (n, 3), m.
        faces: (m, 3).
        options: of `coacd.run_coacd`: `threshold` (of concavity, 0.01 to 1), `max_convex_hull`, `seed`, ...

    Raises:
        MeshFileError: coacd is not installed, does not know an option, or fails.
    """
    vertices, faces = np.ascontiguousarray(vertices, np.float64), np.ascontiguousarray(faces, np.int32)
    version = _require_coacd(options)
    place = cache_folder()
    path = None if place is None else place / f"{_key(vertices, faces, options, version)}.pieces"
    pieces = None if path is None else load_pieces(path)
    if pieces is None:
        pieces = _run(vertices, faces, options)
        if path is not None:
            save_pieces(path, pieces)
    return pieces


def cache_folder() -> Path | None:
    """Return the folder of pieces, beside the kernels' cache; None if there is no place for it."""
    kernels = kernel_cache.folder()
    if kernels is None:
        return None
    return kernels.parent / "pieces" if kernels.name == "kernels" else kernels / "pieces"


def _require_coacd(options: Mapping[str, Any]) -> str:
    """Version of coacd; raises MeshFileError without it, and for options that it has not."""
    try:
        import inspect

        import coacd
    except ImportError as error:
        raise MeshFileError(
            "convex pieces are found by coacd, which is not installed: pip install 'tumble[meshes]'"
        ) from error
    known = [name for name in inspect.signature(coacd.run_coacd).parameters if name != "mesh"]
    for name, value in options.items():
        if name not in known:
            raise MeshFileError(f"coacd has no option {name!r}; it has {', '.join(known)}")
        if not isinstance(value, bool | int | float | str):
            raise MeshFileError(f"coacd's option {name} is a number or a word, not {value!r}")
    return importlib.metadata.version("coacd")


def _key(vertices: np.ndarray, faces: np.ndarray, options: Mapping[str, Any], version: str) -> str:
    """Hash of all that the pieces depend on."""
    text = json.dumps([version, len(vertices), len(faces), sorted(options.items())])
    return hashlib.sha256(text.encode() + b"\0" + vertices.tobytes() + faces.tobytes()).hexdigest()


def _run(vertices: np.ndarray, faces: np.ndarray, options: Mapping[str, Any]) -> list[Piece]:
    given = io.BytesIO()
    np.savez(given, vertices=vertices, faces=faces)
    command = [sys.executable, "-c", _WORKER, json.dumps(dict(options))]
    run = subprocess.run(command, input=given.getvalue(), capture_output=True, check=False)
    _, found, data = run.stdout.partition(b"PIECES")
    if run.returncode or not found:
        reason = " ".join(run.stderr.decode(errors="replace").split()[-40:])
        raise MeshFileError(f"coacd fails (exit status {run.returncode}): {reason[-300:]}")
    solid = [piece for piece in _read(data) if _is_solid(piece[0])]
    if not solid:
        raise MeshFileError("coacd finds no convex piece with a volume in it")
    return solid


def _read(data: bytes) -> list[Piece]:
    """Pieces from an archive of numpy's with the arrays v0, f0, v1, f1, ..."""
    arrays = np.load(io.BytesIO(data), allow_pickle=False)
    pairs = [(arrays[f"v{k}"], arrays[f"f{k}"]) for k in range(len(arrays.files) // 2)]
    return [(vertices.astype(np.float64), faces.astype(np.int32)) for vertices, faces in pairs]


def _is_solid(points: np.ndarray) -> bool:
    if len(points) < 4 or not np.isfinite(points).all():
        return False
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extents[2] > _FLATTEST * extents[0])


def save_pieces(path: Path, pieces: list[Piece]) -> None:
    """Put pieces into the cache, or leave it: a full disk costs time the next time, nothing else."""
    archive = io.BytesIO()
    arrays: dict[str, Any] = {f"{'vf'[i]}{k}": a for k, piece in enumerate(pieces) for i, a in enumerate(piece)}
    np.savez(archive, **arrays)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(os.fspath(path), pack(path.name, archive.getvalue()))


def load_pieces(path: Path) -> list[Piece] | None:
    """Pieces from the cache; None if there are none, or the file was not written by this user."""
    try:
        pieces = _read(unpack(path.name, read_trusted(os.fspath(path))))
    except (OSError, ForeignError, DamagedError):
        return None
    sound = all(np.isfinite(v).all() and f.min(initial=0) >= 0 and f.max(initial=-1) < len(v) for v, f in pieces)
    return pieces if pieces and sound else None
