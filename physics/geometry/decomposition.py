"""Options of a model's meshes: geoms taken apart into convex pieces, and hulls with fewer vertices.

A geom that is taken apart stays as it is for the eye and for the scales: its mass, inertia, colour and material remain,
but nothing touches it any more. Its pieces touch instead: massless geoms of group 3, which is not drawn, with its
contact parameters, in its place, in every `<pair>` that names it.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from ..process.waiting import Waiting
from ..scalars import as_names
from .files import MeshFileError
from .pieces import Piece, convex_pieces

_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_CONTACT = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap")
_PLACE = ("pos", "quat", "rgba")
_PAIR = ("condim", "friction", "solref", "solreffriction", "solimp", "margin", "gap")
_ORIENTATION = ("type", "axisangle", "xyaxes", "zaxis", "euler")
HIDDEN_GROUP = 3
LEAST_HULL = 4
Decompose = bool | Iterable[str] | Mapping[str, Mapping[str, Any] | None] | None
Hulls = int | Mapping[str, int] | None


@dataclass(frozen=True)
class MeshOptions:
    """The options of a user.

    Attributes:
        decompose: names of meshes or geoms to take apart, with the options of `coacd.run_coacd` for each; True: all.
        maxhullvert: most vertices of a mesh's hull, for all meshes or by the name of the mesh.
    """

    decompose: Mapping[str, Mapping[str, Any]] | bool = field(default=False)
    maxhullvert: Hulls = None

    @classmethod
    def of(cls, decompose: Decompose, maxhullvert: Hulls) -> "MeshOptions":
        """Options in the one form from the several that a user may write.

        Raises:
            ValueError: `decompose` holds anything but names, or `maxhullvert` is no whole number from `LEAST_HULL` on.
        """
        if maxhullvert is not None and not isinstance(maxhullvert, Mapping):
            _require_hull("maxhullvert", maxhullvert)
        if isinstance(decompose, str):
            decompose = (decompose,)
        if isinstance(decompose, Mapping):
            named = {name: decompose[name] or {} for name in as_names("decompose", decompose)}
            for name, options in named.items():
                if not isinstance(options, Mapping):
                    raise ValueError(f"decompose of {name!r} is {options!r}: expected options of coacd by name")
            return cls({name: dict(options) for name, options in named.items()}, maxhullvert)
        if decompose is None or isinstance(decompose, bool):
            return cls(bool(decompose), maxhullvert)
        return cls({name: {} for name in as_names("decompose", decompose)}, maxhullvert)

    def apply(self, spec: mujoco.MjSpec, compiled: Callable[[mujoco.MjSpec], mujoco.MjModel]) -> list[str]:
        """Change a spec as asked for; in words, what was done.

        Args:
            spec: with its meshes read.
            compiled: compiles a spec, with errors that name its file.

        Raises:
            ValueError: for a name that no mesh and no geom has, and an impossible number of vertices.
            MeshFileError: a mesh cannot be taken apart.
        """
        self._limit_hulls(spec)
        return self._take_apart(spec, compiled) if self.decompose else []

    def _limit_hulls(self, spec: mujoco.MjSpec) -> None:
        if self.maxhullvert is None:
            return
        names = [mesh.name for mesh in spec.meshes]
        limits = self.maxhullvert if isinstance(self.maxhullvert, Mapping) else dict.fromkeys(names, self.maxhullvert)
        for name, limit in limits.items():
            _require_known("maxhullvert", name, names)
            _require_hull(f"maxhullvert of mesh '{name}'", limit)
            spec.mesh(name).maxhullvert = limit

    def _take_apart(self, spec: mujoco.MjSpec, compiled: Callable[[mujoco.MjSpec], mujoco.MjModel]) -> list[str]:
        geoms = [geom for geom in spec.geoms if int(geom.type) == _MESH and _touches(spec, geom)]
        chosen = [(geom, options) for geom in geoms if (options := self._options_of(geom)) is not None]
        if isinstance(self.decompose, Mapping):
            known = sorted({name for geom in geoms for name in (geom.name, geom.meshname) if name})
            for name in self.decompose:
                _require_known("decompose", name, known)
        mjm = compiled(spec.copy()) if chosen else None
        made: dict[tuple, list[str]] = {}
        notes = []
        for geom, options in chosen:
            key = (geom.meshname, repr(sorted(options.items())))
            if key not in made:
                made[key] = _add_meshes(spec, geom.meshname, _pieces_of(mjm, geom.meshname, options))
            _replace(spec, geom, made[key])
            label = f"geom '{geom.name}'" if geom.name else f"a geom of mesh '{geom.meshname}'"
            notes.append(f"{label} touches as {len(made[key])} convex pieces")
        return notes

    def _options_of(self, geom: mujoco.MjsGeom) -> Mapping[str, Any] | None:
        if not isinstance(self.decompose, Mapping):
            return {}
        return self.decompose.get(geom.name or geom.meshname, self.decompose.get(geom.meshname))


def _require_hull(what: str, limit: Any) -> None:
    """Refuse a number of vertices that no hull can have at most."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < LEAST_HULL:
        raise ValueError(f"{what}: a whole number from {LEAST_HULL}, not {limit!r}")


def _touches(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    return bool(geom.contype or geom.conaffinity) or bool(_pairs_of(spec, geom))


def _pairs_of(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> list:
    return [pair for pair in spec.pairs if geom.name and geom.name in (pair.geomname1, pair.geomname2)]


def _pieces_of(mjm: mujoco.MjModel, name: str, options: Mapping[str, Any]) -> list[Piece]:
    """Pieces of a compiled mesh in the frame of its file, scaled: MuJoCo has moved it to its principal axes."""
    mesh = mjm.mesh(name).id
    verts = slice(mjm.mesh_vertadr[mesh], mjm.mesh_vertadr[mesh] + mjm.mesh_vertnum[mesh])
    tris = slice(mjm.mesh_faceadr[mesh], mjm.mesh_faceadr[mesh] + mjm.mesh_facenum[mesh])
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, mjm.mesh_quat[mesh])
    vertices = mjm.mesh_vert[verts].astype(float) @ turn.reshape(3, 3).T + mjm.mesh_pos[mesh]
    try:
        with Waiting(f"taking mesh '{name}' apart into convex pieces, once"):
            return convex_pieces(vertices, mjm.mesh_face[tris], options)
    except MeshFileError as error:
        raise MeshFileError(f"mesh '{name}' cannot be decomposed: {error}") from error


def _add_meshes(spec: mujoco.MjSpec, base: str, pieces: list[Piece]) -> list[str]:
    """A mesh of the spec for each piece; their names."""
    taken = {mesh.name for mesh in spec.meshes}
    names: list[str] = []
    limit = spec.mesh(base).maxhullvert
    for vertices, faces in pieces:
        number = len(names)
        while (name := f"{base}_piece_{number}") in taken:
            number += len(pieces)
        mesh = spec.add_mesh(name=name, uservert=vertices.reshape(-1), userface=faces.reshape(-1))
        mesh.inertia, mesh.maxhullvert = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX, limit
        names.append(name)
        taken.add(name)
    return names


def _replace(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, meshes: list[str]) -> None:
    """Put a massless geom in the place of `geom` for each mesh, and let nothing touch `geom` itself."""
    taken = {other.name for other in spec.geoms}
    names: list[str] = []
    for number, mesh in enumerate(meshes):
        piece = geom.parent.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, group=HIDDEN_GROUP, mass=0.0)
        for attribute in (*_CONTACT, *_PLACE):
            setattr(piece, attribute, getattr(geom, attribute))
        for attribute in _ORIENTATION:
            setattr(piece.alt, attribute, getattr(geom.alt, attribute))
        if geom.frame is not None:
            piece.set_frame(geom.frame)
        name = f"{geom.name}_piece_{number}" if geom.name else ""
        if name and name not in taken:
            piece.name = name
        elif name or _pairs_of(spec, geom):
            piece.name = f"{mesh}_of_{geom.name}_{len(taken)}"
        names.append(piece.name)
    for pair in _pairs_of(spec, geom):
        for name in names:
            ends = [name if end == geom.name else end for end in (pair.geomname1, pair.geomname2)]
            copy = spec.add_pair(geomname1=ends[0], geomname2=ends[1])
            for attribute in _PAIR:
                setattr(copy, attribute, getattr(pair, attribute))
        spec.delete(pair)
    geom.contype = geom.conaffinity = 0


def _require_known(option: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        near = difflib.get_close_matches(str(name), known, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known[:20]) or 'none'}"
        raise ValueError(
            f"{option}: no mesh of this model{' that touches' * (option == 'decompose')} is named {name!r}; {hint}"
        )
