"""Loading a URDF file: read by `physics.urdf`, compiled by MuJoCo, with errors that name the file and the line."""

import os
from typing import Any

from ...files.geometry.assets import MeshFiles
from ...files.geometry.decomposition import MeshOptions
from ...files.geometry.files import MeshFileError
from ...files.urdf.faults import UrdfError, nearest
from ...files.urdf.spec import UrdfOptions, read_urdf, urdf_options
from ..element_locations import ModelSource, Places
from ..options import apply_options, option_names
from .loading import LoadedModel, compile_spec, one_line
from .sanity import ModelLoadError

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
