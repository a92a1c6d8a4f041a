"""Loading: from a file, an XML string, an MjSpec or an MjModel to a compiled model, with errors that name the file."""

import copy
import difflib
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ...files.geometry.assets import MeshFiles, place_files, read_meshes
from ...files.geometry.decomposition import MeshOptions
from ...files.geometry.files import MeshFileError
from ...files.urdf.faults import UrdfError, nearest
from ...files.urdf.spec import UrdfOptions, read_urdf, urdf_options
from ...machine.scalars import as_whole
from ..element_locations import ModelSource, Places
from ..number_rules import RULES
from ..support import Support, check_support, drop_unsupported
from .sanity import ModelLoadError, reject_impossible

MUJOCO_ERRORS = (mujoco.FatalError, mujoco.UnexpectedError)
REJECTED = (ValueError, RuntimeError, MemoryError, *MUJOCO_ERRORS)
"""The errors by which MuJoCo reports that it cannot read a file, compile a model or allocate memory for it."""


NO_MESH_OPTIONS = MeshOptions()


@dataclass(frozen=True)
class LoadedModel:
    """A compiled model and its origin; ``spec`` is None for a model that was compiled already.

    ``notes`` say how its meshes were changed; ``fields`` has options of distance fields by the name of a mesh.
    """

    mjm: mujoco.MjModel
    spec: mujoco.MjSpec | None
    source: ModelSource
    places: Places
    notes: tuple[str, ...] = ()
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def label_of(origin: object) -> str:
    """Return the name of a model's origin for messages: a path, "XML string", an MjSpec or an MjModel."""
    if isinstance(origin, mujoco.MjSpec):
        return f"MjSpec '{origin.modelname}'"
    if isinstance(origin, mujoco.MjModel):
        name = bytes(origin.names).split(b"\0", 1)[0].decode()
        return f"MjModel '{name}'"
    text = os.fsdecode(origin) if isinstance(origin, str | os.PathLike) else type(origin).__name__
    return "XML string" if text.lstrip().startswith("<") else text


def load_mjcf(path_or_xml: str | os.PathLike, meshes: MeshOptions = NO_MESH_OPTIONS, **options: object) -> LoadedModel:
    """Compile an MJCF file, or an XML string (recognised by its first character, "<").

    Args:
        path_or_xml: a path, or MJCF as a string.
        meshes: decomposition and hull options of its meshes.
        options: fields of mjOption that override the file's.

    Raises:
        ModelLoadError: the file is missing, is not MJCF or does not compile, or a mesh file cannot be read; the message
            has the reason.
        ValueError: for an unknown option.
    """
    spec, source, places = _parsed(path_or_xml)
    return _with_meshes(spec, source, places, meshes, options)


def open_mjcf(path_or_xml: str | os.PathLike) -> mujoco.MjSpec:
    """Return the spec of an MJCF file, or XML string, with the meshes that MuJoCo cannot read; nothing is compiled.

    Its files are named by their whole paths, so that it may be attached to another spec.

    Raises:
        ModelLoadError: the file is missing or is not MJCF, or a mesh file cannot be read; the message has the reason.
    """
    spec, source, places = _parsed(path_or_xml)
    _read_all_meshes(spec, source, places)
    place_files(spec, [Path(spec.modelfiledir), *places.folders])
    return spec


def _parsed(path_or_xml: str | os.PathLike) -> tuple[mujoco.MjSpec, ModelSource, Places]:
    source = _source(path_or_xml)
    places = Places.read(source)
    if places.root == "robot":
        raise ModelLoadError(f"{source.label}: this is a URDF file (its root is <robot>); load it by from_urdf")
    if places.devices:
        raise ModelLoadError(f"{places.devices[0]}; give the path of a file")
    try:
        if source.path is not None:
            spec = mujoco.MjSpec.from_file(os.fspath(source.path))
        else:
            spec = mujoco.MjSpec.from_string(source.text)
    except REJECTED as error:
        raise ModelLoadError(f"{source.label}: {one_line(error)}") from error
    return spec, source, places


def load_mjspec(spec: mujoco.MjSpec, meshes: MeshOptions = NO_MESH_OPTIONS, **options: object) -> LoadedModel:
    """Compile a copy of an MjSpec, so that later changes to ``spec`` do not reach Tumble."""
    if not isinstance(spec, mujoco.MjSpec):
        raise TypeError(f"expected a mujoco.MjSpec, not {type(spec).__name__}")
    _refuse_keyframes_of_one_name(spec)
    spec = spec.copy()
    source = ModelSource(label_of(spec))
    return _with_meshes(spec, source, Places(source.label), meshes, options)


def _refuse_keyframes_of_one_name(spec: mujoco.MjSpec) -> None:
    """Refuse what MuJoCo 4.0 ends the process of when it copies it, such as nameless keyframes that were attached."""
    names = [key.name for key in spec.keys if key.name]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelLoadError(f"{label_of(spec)}: several keyframes are named '{twice}'; give each a name of its own")


def _with_meshes(
    spec: mujoco.MjSpec, source: ModelSource, places: Places, meshes: MeshOptions, options: dict[str, object]
) -> LoadedModel:
    """Compile a spec; read mesh files that MuJoCo cannot read, and decompose meshes as asked."""
    apply_options(spec.option, options)
    files = _read_all_meshes(spec, source, places)
    try:
        notes = meshes.apply(spec, lambda changed: compile_spec(changed, source.label, files))
    except MeshFileError as error:
        raise ModelLoadError(f"{source.label}: {one_line(error)}") from error
    mjm = compile_spec(spec, source.label, files)
    return LoadedModel(mjm, spec, source, places, tuple(notes), meshes.field_options(spec))


def _read_all_meshes(spec: mujoco.MjSpec, source: ModelSource, places: Places) -> MeshFiles:
    """Read the meshes of a spec that MuJoCo cannot read."""
    folders = [Path(spec.modelfiledir), *places.folders]
    try:
        return read_meshes(
            spec,
            folders,
            lambda kind, found: places.of_element(kind, found.name, found.info),
            all_folders=bool(source.path or source.text),
        )
    except MeshFileError as error:
        raise ModelLoadError(one_line(error)) from error


def load_mjmodel(mjm: mujoco.MjModel, **options: object) -> LoadedModel:
    """Copy a model that is compiled already, so that later changes to ``mjm`` do not reach Tumble."""
    if not isinstance(mjm, mujoco.MjModel):
        raise TypeError(f"expected a mujoco.MjModel, not {type(mjm).__name__}")
    mjm = copy.copy(mjm)
    apply_options(mjm.opt, options)
    label = label_of(mjm)
    return LoadedModel(mjm, None, ModelSource(label), Places(label))


def compile_spec(spec: mujoco.MjSpec, label: str, files: MeshFiles = MeshFiles()) -> mujoco.MjModel:  # noqa: B008
    """Compile ``spec``; a ModelLoadError that starts with ``label`` replaces MuJoCo's errors."""
    try:
        return spec.compile()
    except REJECTED as error:
        raise ModelLoadError(f"{label}: {files.explain(one_line(error))}") from error


def check_supported(loaded: LoadedModel, strict: bool = True) -> tuple[LoadedModel, Support]:
    """Return the model that Tumble will simulate, and the findings about it.

    Args:
        loaded: a model as loaded.
        strict: refuse a model that asks for something unsupported; if False, take it out and warn.

    Raises:
        ModelLoadError: the model has numbers that no mechanism can have, or too many geoms.
        UnsupportedModelError: ``strict`` is True and something is unsupported.
        ValueError: something would have to be taken out of a model that has no MjSpec.
    """
    reject_impossible(loaded.mjm, loaded.spec, loaded.places)
    support = check_support(loaded.mjm, loaded.spec, loaded.source, loaded.places)
    if strict:
        support.raise_if_unsupported()
    if not support.unsupported:
        return loaded, support
    if loaded.spec is None:
        raise ValueError(
            f"{loaded.source.label}: strict=False needs an MJCF file or an MjSpec to take unsupported elements out of; "
            "a compiled MjModel cannot lose any"
        )
    dropped = "; ".join(str(finding) for finding in support.unsupported)
    warnings.warn(f"{loaded.source.label}: dropped elements that Tumble does not support yet: {dropped}", stacklevel=3)
    spec = drop_unsupported(loaded.spec, support.unsupported)
    notes = [*support.notes, *(f"dropped: {finding}" for finding in support.unsupported)]
    return replace(loaded, spec=spec, mjm=compile_spec(spec, loaded.source.label)), replace(support, notes=notes)


def _source(path_or_xml: str | os.PathLike) -> ModelSource:
    if isinstance(path_or_xml, str) and path_or_xml.lstrip().startswith("<"):
        return ModelSource(label_of(path_or_xml), text=path_or_xml)
    if not isinstance(path_or_xml, str | os.PathLike):
        raise TypeError(f"expected a path or an MJCF string, not {type(path_or_xml).__name__}")
    path = Path(path_or_xml)
    if os.path.isdir(path):  # pathlib raises for names that are too long
        raise ModelLoadError(f"{path}: this is a folder; give the path of an MJCF file")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelLoadError(f"{path}: this is a device or a pipe; give the path of an MJCF file")
    if not os.path.isfile(path):
        raise ModelLoadError(f"{path}: no such file (MJCF as a string starts with '<')")
    return ModelSource(os.fspath(path), path=path)


def one_line(error: Exception) -> str:
    """Return an error's message in one line."""
    return ", ".join(line.strip() for line in str(error).splitlines() if line.strip())


NAMES = frozenset(name for name, each in UrdfOptions.__dataclass_fields__.items() if each.init)


def take_urdf_options(options: dict[str, Any]) -> tuple[UrdfOptions, dict[str, Any]]:
    """Return the options of `urdf_spec` among options, and the others.

    Raises:
        ValueError: one has an impossible value, or is unknown.
    """
    known = [*NAMES, *option_names()]
    for name in options:
        if name not in known:
            raise ValueError(f"unknown option '{name}'{nearest(name, known)}")
    mine = {name: value for name, value in options.items() if name in NAMES}
    return urdf_options(mine), {name: value for name, value in options.items() if name not in NAMES}


def load_urdf(path_or_xml: str | os.PathLike, urdf: UrdfOptions, meshes: MeshOptions, **options: object) -> LoadedModel:
    """Compile a URDF file, or a string of URDF; see `urdf_spec`.

    Args:
        path_or_xml: a path, or URDF as a string.
        urdf: how it is read.
        meshes: decomposition and hull options of its meshes.
        options: fields of mjOption.

    Raises:
        ModelLoadError: the file is missing or broken, or MuJoCo does not compile it.
        ValueError: for an unknown option.
    """
    try:
        read = read_urdf(path_or_xml, urdf)
    except UrdfError as error:
        raise ModelLoadError(str(error)) from error
    label = read.report.label
    read.report.warn(stacklevel=3)
    apply_options(read.spec.option, options)
    files = MeshFiles(read.meshes.places())
    try:
        notes = meshes.apply(read.spec, lambda changed: compile_spec(changed, label, files))
        mjm = compile_spec(read.spec, label, files)
    except MeshFileError as error:
        raise ModelLoadError(f"{label}: {one_line(error)}") from error
    except ModelLoadError as error:
        raise ModelLoadError(read.meshes.named(str(error))) from error
    source = ModelSource(label)
    return LoadedModel(
        mjm, read.spec, source, Places(label), (*read.report.notes, *notes), meshes.field_options(read.spec)
    )


_ENUMS = {
    "integrator": (mujoco.mjtIntegrator, "mjINT_"),
    "cone": (mujoco.mjtCone, "mjCONE_"),
    "solver": (mujoco.mjtSolver, "mjSOL_"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC_"),
}
_FLAGS = {
    "disableflags": (mujoco.mjtDisableBit, "mjDSBL_"),
    "enableflags": (mujoco.mjtEnableBit, "mjENBL_"),
}
_MOST = 2**31 - 1


def option_names() -> list[str]:
    """Return the names that ``apply_options`` takes: the fields of mjOption."""
    return [name for name in dir(mujoco.MjOption()) if not name.startswith("_")]


def apply_options(option: object, values: Mapping[str, object]) -> None:
    """Set fields of an MjOption, of a model or of an MjSpec.

    Args:
        option: ``MjModel.opt`` or ``MjSpec.option``; changed in place.
        values: name -> value. Enumerations take MJCF's name ("implicitfast"), a number or a member; ``disableflags``
            and ``enableflags`` also take an iterable of MJCF's flag names (["contact", "gravity"]).

    Raises:
        ValueError: for a name that mjOption lacks (with the nearest ones) or a value that it cannot have.
    """
    known = option_names()
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"unknown option {name!r}{_nearest(name, known)}; options are: {', '.join(known)}")
        current = getattr(option, name)
        if name in _ENUMS:
            setattr(option, name, _member(name, value, *_ENUMS[name]))
        elif name in _FLAGS:
            setattr(option, name, _bits(name, value, *_FLAGS[name]))
        elif isinstance(current, np.ndarray):
            current[:] = _vector(name, value, current.shape)
        else:
            setattr(option, name, _number(name, value, type(current)))


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _names(enum: type, prefix: str) -> dict[str, int]:
    members = enum.__members__.items()  # type: ignore[attr-defined]
    return {name.removeprefix(prefix).lower(): int(member) for name, member in members if name.startswith(prefix)}


def _member(option: str, value: object, enum: type, prefix: str) -> int:
    names = _names(enum, prefix)
    if isinstance(value, str):
        if value.lower() not in names:
            near = _nearest(value, names)
            raise ValueError(f"option {option}: no such value {value!r}{near}; it can be {', '.join(names)}")
        return names[value.lower()]
    number = int(value) if isinstance(value, enum) else as_whole(f"option {option}", value)  # type: ignore[call-overload]
    if number not in names.values():
        raise ValueError(f"option {option}: no such value {value!r}; it can be {', '.join(names)}")
    return number


def _bits(option: str, value: object, enum: type, prefix: str) -> int:
    names = _names(enum, prefix)
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Iterable):
        bits = int(value) if isinstance(value, enum) else as_whole(f"option {option}", value)  # type: ignore[call-overload]
        if bits & ~sum(names.values()):
            raise ValueError(f"option {option}: {value!r} has bits that are no flags; flags are {', '.join(names)}")
        return bits
    bits = 0
    for flag in value:
        if str(flag).lower() not in names:
            raise ValueError(
                f"option {option}: no flag {flag!r}{_nearest(str(flag), names)}; flags are {', '.join(names)}"
            )
        bits |= names[str(flag).lower()]
    return bits


def _vector(option: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf":
            raise TypeError
        vector = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"option {option}: {value!r} is not {shape[0]} numbers") from error
    if vector.shape != shape or not np.all(np.isfinite(vector)):
        raise ValueError(f"option {option}: {value!r} is not {shape[0]} finite numbers")
    return vector


def _number(option: str, value: object, kind: type) -> float | int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"option {option}: {value!r} is not a number") from error
    if not np.isfinite(number) or (kind is int and number != int(number)):
        raise ValueError(f"option {option}: {value!r} is not {'an integer' if kind is int else 'a finite number'}")
    rule = RULES.get(f"opt.{option}")
    if rule is not None and not rule.allowed.fits(np.asarray(number)):
        raise ValueError(f"option {option}: {value!r} {rule.allowed.fault(number)}; it must be {rule.allowed.words}")
    if kind is int and abs(number) > _MOST:
        raise ValueError(f"option {option}: {value!r} is more than {_MOST:,}, the most there can be")
    return int(number) if kind is int else number
