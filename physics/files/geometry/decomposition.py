"""Options of a model's meshes: geoms by distance fields or taken apart into convex pieces, hulls with fewer vertices.

A geom that is taken apart stays as it is for the eye and for the scales: its mass, inertia, colour and material remain,
but nothing touches it any more. Its pieces touch instead: massless geoms of group 3, which is not drawn, with its
contact parameters, in its place, in every `<pair>` that names it. A geom that collides by a distance field becomes one
of MuJoCo's type `sdf`.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from ...base.shapes import MESH, SDF
from ...machine.scalars import as_names
from ...machine.waiting import Waiting
from .files import MeshFileError
from .pieces import Piece, convex_pieces

_CONTACT = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap")
_PLACE = ("pos", "quat", "rgba")
_PAIR = ("condim", "friction", "solref", "solreffriction", "solimp", "margin", "gap")
_ORIENTATION = ("type", "axisangle", "xyaxes", "zaxis", "euler")
HIDDEN_GROUP = 3
LEAST_HULL = 4
Decompose = bool | Iterable[str] | Mapping[str, Mapping[str, Any] | None] | None
Named = Mapping[str, Mapping[str, Any]]
"""Options by the names of meshes or geoms."""
FIELD_OPTIONS = ("error", "resolution")
"""Options of `distance_field`."""
Hulls = int | Mapping[str, int] | None


@dataclass(frozen=True)
class MeshOptions:
    """The options of a user.

    Attributes:
        decompose: names of meshes or geoms to take apart, with the options of `coacd.run_coacd` for each; True: all.
        distance_fields: names of meshes or geoms that collide by distance fields, with `FIELD_OPTIONS` for each; True:
            all; False: none, geoms of type `sdf` collide as hulls; None: geoms of type `sdf`.
        maxhullvert: most vertices of a mesh's hull, for all meshes or by the name of the mesh.
    """

    decompose: Named | bool = field(default=False)
    maxhullvert: Hulls = None
    distance_fields: Named | bool | None = None

    @classmethod
    def of(cls, decompose: Decompose, maxhullvert: Hulls, distance_fields: Decompose = None) -> "MeshOptions":
        """Options in the one form from the several that a user may write.

        Raises:
            ValueError: `decompose` or `distance_fields` holds anything but names, an option of a field is unknown, or
                `maxhullvert` is no whole number from `LEAST_HULL` on.
        """
        if maxhullvert is not None and not isinstance(maxhullvert, Mapping):
            _require_hull("maxhullvert", maxhullvert)
        fields = _named("distance_fields", distance_fields, "options")
        for name, options in fields.items() if isinstance(fields, Mapping) else ():
            for option in options:
                if option not in FIELD_OPTIONS:
                    known = " or ".join(FIELD_OPTIONS)
                    raise ValueError(f"distance_fields of {name!r}: there is no option {option!r}; it has {known}")
        apart = _named("decompose", decompose, "options of coacd")
        return cls(apart if isinstance(apart, Mapping) else bool(apart), maxhullvert, fields)

    def apply(self, spec: mujoco.MjSpec, compiled: Callable[[mujoco.MjSpec], mujoco.MjModel]) -> list[str]:
        """Change a spec as the options say; return the changes, in words.

        Args:
            spec: with its meshes read.
            compiled: compiles a spec, with errors that name its file.

        Raises:
            ValueError: for a name that no mesh and no geom has, and an impossible number of vertices.
            MeshFileError: a mesh cannot be taken apart.
        """
        self._limit_hulls(spec)
        notes = self._choose_fields(spec)
        return notes + (self._take_apart(spec, compiled) if self.decompose else [])

    def field_options(self, spec: mujoco.MjSpec) -> dict[str, Mapping[str, Any]]:
        """Return the options of distance fields by the name of their mesh, once they are applied to a spec.

        Raises:
            ValueError: two geoms of one mesh have different options.
        """
        found: dict[str, Mapping[str, Any]] = {}
        for geom in spec.geoms:
            options = _options_of(geom, self.distance_fields) if int(geom.type) == SDF else None
            if options is not None and found.setdefault(geom.meshname, options) != options:
                raise ValueError(f"distance_fields: geoms of mesh '{geom.meshname}' have different options")
        return found

    def _choose_fields(self, spec: mujoco.MjSpec) -> list[str]:
        """Give geoms the type that the option `distance_fields` says; return the changes, in words."""
        if self.distance_fields is None:
            return []
        kinds = {MESH: SDF} if self.distance_fields else {SDF: MESH}
        geoms = [geom for geom in spec.geoms if int(geom.type) in (MESH, SDF) and _touches(spec, geom)]
        _require_all_known("distance_fields", self.distance_fields, geoms)
        baked_by_mujoco = {geom.meshname for geom in geoms if int(geom.type) == SDF}
        notes = []
        for geom in geoms:
            chosen = not self.distance_fields or _options_of(geom, self.distance_fields) is not None
            if not chosen or int(geom.type) not in kinds:
                continue
            if self.distance_fields and self.decompose and _options_of(geom, self.decompose) is not None:
                raise ValueError(f"{_label(geom)} is to collide by a distance field and as convex pieces; choose one")
            geom.type = mujoco.mjtGeom(kinds[int(geom.type)])
            if self.distance_fields and geom.meshname not in baked_by_mujoco:
                spec.mesh(geom.meshname).octree_maxdepth = 1  # MuJoCo's own field is not used: it may be coarse
            notes.append(
                f"{_label(geom)} collides " + ("by a distance field" if self.distance_fields else "as its hull")
            )
        return notes

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
        geoms = [geom for geom in spec.geoms if int(geom.type) == MESH and _touches(spec, geom)]
        chosen = [(geom, options) for geom in geoms if (options := _options_of(geom, self.decompose)) is not None]
        _require_all_known("decompose", self.decompose, geoms)
        mjm = compiled(spec.copy()) if chosen else None
        made: dict[tuple, list[str]] = {}
        notes = []
        for geom, options in chosen:
            key = (geom.meshname, repr(sorted(options.items())))
            if key not in made:
                made[key] = _add_meshes(spec, geom.meshname, _pieces_of(mjm, geom.meshname, options))
            _replace(spec, geom, made[key])
            notes.append(f"{_label(geom)} touches as {len(made[key])} convex pieces")
        return notes


def _named(option: str, value: Decompose, what: str) -> Named | bool | None:
    """Return an option in one form: None, a bool, or options by name."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Mapping):
        return {name: {} for name in as_names(option, value)}
    named = {name: value[name] or {} for name in as_names(option, value)}
    for name, options in named.items():
        if not isinstance(options, Mapping):
            raise ValueError(f"{option} of {name!r} is {options!r}: expected {what} by name")
    return {name: dict(options) for name, options in named.items()}


def _options_of(geom: mujoco.MjsGeom, option: Named | bool | None) -> Mapping[str, Any] | None:
    """Return the value of an option for a geom, by its name or its mesh's; None if the option does not name it."""
    if not isinstance(option, Mapping):
        return {} if option else None
    return option.get(geom.name or geom.meshname, option.get(geom.meshname))


def _require_all_known(option: str, value: Named | bool | None, geoms: Iterable[mujoco.MjsGeom]) -> None:
    """Refuse names that neither a geom nor its mesh has."""
    if isinstance(value, Mapping):
        known = sorted({name for geom in geoms for name in (geom.name, geom.meshname) if name})
        for name in value:
            _require_known(option, name, known)


def _label(geom: mujoco.MjsGeom) -> str:
    return f"geom '{geom.name}'" if geom.name else f"a geom of mesh '{geom.meshname}'"


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
        with Waiting(f"taking mesh '{name}' apart into convex pieces", once=True):
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
    """Replace `geom` by a massless geom for each mesh, and switch off the contacts of `geom`."""
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
