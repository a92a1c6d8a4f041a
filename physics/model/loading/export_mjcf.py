"""A compiled model as an MJCF file, with all digits of its numbers, and its meshes and images next to it."""

import contextlib
import ctypes
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import imageio.v3 as iio
import mujoco
import numpy as np

from ...base.shapes import of_kinds
from ...files.geometry.assets import place_files
from ...machine.disk import own_folder, replacing

_DIGITS = "_mjPRIVATE__set_xml_precision"
_USUAL_DIGITS, _ALL_DIGITS = 6, 17
_TOLERANCE = 1e-12  # text has all digits; quaternions are normalised again, and meshes centred again
_UNLIKE = ("_map", "names", "paths", "signature", "text_data", "nbuffer", "nnames", "npaths")
"""Ends of names of fields that may differ: they name files, or the model."""
_ITS_OWN = ("name_", "bvh_", "oct_", "mesh_oct", "noct")
"""Beginnings of names of fields that may differ: names, bounds that speed up MuJoCo's search, and MuJoCo's distance
fields, whose depth MJCF cannot say."""


class ModelWriteError(ValueError):
    """A model that no MJCF file can hold."""


def write_mjcf(spec: mujoco.MjSpec | None, path: str | os.PathLike) -> None:
    """Write a model's spec as an MJCF file, and its meshes and images into a folder beside it, "<name>_assets".

    The written file is read by MuJoCo and compared with the model, number by number.

    Args:
        spec: of the model; None for a model that came compiled.
        path: of the MJCF file; one that exists is replaced.

    Raises:
        ModelWriteError: the model came compiled, or MJCF cannot hold it.
    """
    if spec is None:
        raise ModelWriteError("this model came compiled (MjModel): it has no MJCF")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    copy, beside = spec.copy(), _Beside(path.with_name(f"{path.stem}_assets"), spec.assets)
    try:
        place_files(copy, [Path(copy.modelfiledir)])
        for texture in copy.textures:
            if not texture.file and len(texture.data):  # an image in memory, which MJCF cannot hold
                texture.file, texture.data = beside.image(texture), b""
        mjm = copy.compile()
        with _all_digits():
            root = ElementTree.fromstring(copy.to_xml())
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ModelWriteError(f"{path}: {error}") from error
    for element in root.iterfind("asset//*"):
        for name, value in element.attrib.items():
            if name.startswith("file"):
                element.set(name, beside.copied(value))
    with replacing(path) as unfinished:
        ElementTree.ElementTree(root).write(unfinished, encoding="utf-8")
        unlike = differences(mjm, mujoco.MjModel.from_xml_path(os.fspath(unfinished)))
        if unlike:
            raise ModelWriteError(f"{path}: read back, it is another model; these fields differ: {', '.join(unlike)}")


def differences(one: mujoco.MjModel, other: mujoco.MjModel) -> list[str]:
    """Return the names of fields in which two models differ by more than the rounding of recomputed numbers."""
    found = []
    for part, prefix in ((lambda model: model, ""), (lambda model: model.opt, "opt.")):
        first, second = part(one), part(other)
        for name in dir(first):
            if name.startswith(("_", *_ITS_OWN)) or name.endswith(_UNLIKE) or "path" in name:
                continue
            mine, theirs = getattr(first, name), getattr(second, name)
            if name == "site_size":
                mine, theirs = mine * _sides(first), theirs * _sides(second)
            if isinstance(mine, np.ndarray | int | float) and not _same(mine, theirs):
                found.append(prefix + name)
    return found


def _sides(mjm: mujoco.MjModel) -> np.ndarray:
    """Return 1 for the numbers of `site_size` that the type of the site has, and 0 for others, (nsite, 3)."""
    numbers = of_kinds("NUMBERS")
    count = np.array([len(numbers[kind]) if kind in numbers else 3 for kind in mjm.site_type.tolist()], int)
    return np.arange(3) < count[:, None]


def _same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    tolerance = _TOLERANCE if one.dtype == np.float64 else 1e-6
    return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))


class _Beside:
    """The folder with the files that an MJCF file names."""

    def __init__(self, folder: Path, assets: Mapping[str, Any]) -> None:
        self._folder, self._assets = folder, assets
        self._sources: dict[str, str] = {}

    def copied(self, file: str) -> str:
        """Copy a file there; return its path as the MJCF file has it."""
        target = self._folder / self._free(Path(file).name, file)
        own_folder(self._folder)
        if file in self._assets:  # it came along with the spec
            data = self._assets[file]
            with replacing(target) as unfinished:
                unfinished.write_bytes(data.encode() if isinstance(data, str) else bytes(data))
            return f"{self._folder.name}/{target.name}"
        if not (os.path.exists(target) and os.path.samefile(target, file)):
            with replacing(target) as unfinished:
                shutil.copyfile(file, unfinished)
        return f"{self._folder.name}/{target.name}"

    def image(self, texture: mujoco.MjsTexture) -> str:
        """Write the image of a texture there; return its whole path."""
        pixels = np.frombuffer(bytes(texture.data), np.uint8)
        pixels = pixels.reshape(texture.height, texture.width, texture.nchannel)
        target = (self._folder / f"{texture.name.replace('/', '_') or 'texture'}.png").absolute()
        target = target.with_name(self._free(target.name, os.fspath(target)))
        own_folder(self._folder)
        with replacing(target) as unfinished:
            iio.imwrite(unfinished, pixels[..., 0] if pixels.shape[2] == 1 else pixels)
        return os.fspath(target)

    def _free(self, name: str, source: str) -> str:
        """Return a name that no other source has taken."""
        stem, ending = os.path.splitext(name)
        number = 1
        while self._sources.setdefault(name, source) != source:
            number += 1
            name = f"{stem}_{number}{ending}"
        return name


@contextlib.contextmanager
def _all_digits() -> Iterator[None]:
    """Inside of this context MuJoCo writes numbers such that they are read back to the bit.

    Raises:
        ModelWriteError: this MuJoCo writes six digits, and has no setting for more.
    """
    libraries = [
        *Path(mujoco.__file__).parent.glob("*mujoco*.so*"),
        *Path(mujoco.__file__).parent.glob("*mujoco*.d*l*"),
    ]
    for library in libraries:
        try:
            digits = getattr(ctypes.CDLL(os.fspath(library)), _DIGITS)
        except (OSError, AttributeError):
            continue
        digits(_ALL_DIGITS)
        try:
            yield
        finally:
            digits(_USUAL_DIGITS)
        return
    raise ModelWriteError(f"MuJoCo {mujoco.__version__} writes six digits, and has no setting to write all of them")
