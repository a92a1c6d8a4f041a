"""Convex pieces of a mesh, computed by `coacd` in another process, and kept on disk by the content of the mesh.

Finding them takes seconds to minutes, and the same mesh with the same options always has the same pieces (`baked.py`).

CoACD: X. Wei et al., "Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree Search",
ACM Trans. Graph. 41(4), 2022.
"""

import importlib.metadata
import io
import json
import subprocess
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...machine.children import python_command
from ...machine.libraries import pip_install
from .baked import Arrays, baked
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
    recipe = f"coacd {_require_coacd(options)}"
    inputs = {"vertices": vertices, "faces": faces}
    return _pieces(baked(recipe, inputs, dict(options), lambda: _run(vertices, faces, options), _are_sound))


def _require_coacd(options: Mapping[str, Any]) -> str:
    """Version of coacd; raises MeshFileError without it, and for options that it has not."""
    try:
        import inspect

        import coacd
    except ImportError as error:
        raise MeshFileError(
            f"convex pieces are found by coacd, which is not installed: {pip_install('meshes')}"
        ) from error
    known = [name for name in inspect.signature(coacd.run_coacd).parameters if name != "mesh"]
    for name, value in options.items():
        if name not in known:
            raise MeshFileError(f"coacd has no option {name!r}; it has {', '.join(known)}")
        if not isinstance(value, bool | int | float | str):
            raise MeshFileError(f"coacd's option {name} is a number or a word, not {value!r}")
    return importlib.metadata.version("coacd")


def _run(vertices: np.ndarray, faces: np.ndarray, options: Mapping[str, Any]) -> Arrays:
    given = io.BytesIO()
    np.savez(given, vertices=vertices, faces=faces)
    command = python_command(_WORKER, json.dumps(dict(options)))
    run = subprocess.run(command, input=given.getvalue(), capture_output=True, check=False)
    _, found, data = run.stdout.partition(b"PIECES")
    if run.returncode or not found:
        reason = " ".join(run.stderr.decode(errors="replace").split()[-40:])
        raise MeshFileError(f"coacd fails (exit status {run.returncode}): {reason[-300:]}")
    arrays = dict(np.load(io.BytesIO(data), allow_pickle=False))
    solid = [piece for piece in _pieces(arrays) if _is_solid(piece[0])]
    if not solid:
        raise MeshFileError("coacd finds no convex piece with a volume in it")
    return {f"{kind}{k}": array for k, piece in enumerate(solid) for kind, array in zip("vf", piece, strict=True)}


def _pieces(arrays: Arrays) -> list[Piece]:
    """Return the pieces in the arrays v0, f0, v1, f1, ..."""
    pairs = [(arrays[f"v{k}"], arrays[f"f{k}"]) for k in range(len(arrays) // 2)]
    return [(vertices.astype(np.float64), faces.astype(np.int32)) for vertices, faces in pairs]


def _is_solid(points: np.ndarray) -> bool:
    if len(points) < 4 or not np.isfinite(points).all():
        return False
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extents[2] > _FLATTEST * extents[0])


def _are_sound(arrays: Arrays) -> bool:
    """True for arrays that are pieces: finite vertices, and faces of vertices that exist."""
    if not arrays or set(arrays) != {f"{kind}{k}" for k in range(len(arrays) // 2) for kind in "vf"}:
        return False
    for vertices, faces in _pieces(arrays):
        if vertices.shape[1:] != (3,) or faces.shape[1:] != (3,) or not np.isfinite(vertices).all():
            return False
        if faces.min(initial=0) < 0 or faces.max(initial=-1) >= len(vertices):
            return False
    return True
