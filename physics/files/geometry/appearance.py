"""The look of a mesh in one material: colours of its parts, or an image that covers it.

MuJoCo gives a mesh one material. Where a file has many colours, they become texels of a small image, a *palette*, and
each face has its place in one of them. An image is kept where all parts share one; else a part takes its mean colour.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .files import MeshFileError
from .mesh import Appearance, different_rows

MOST_TEXELS = 1 << 24
"""Texels of an image, or of all images of a file together."""
MOST_COLOURS = 4096
"""Colours of a palette; more of them are rounded to fewer bits."""
_WHITE = np.full(4, 255, np.uint8)


@dataclass(eq=False)
class MeshPart:
    """One part of a file: its geometry, with normals and uvs by corner (m, 3, ...), and its colours and texture."""

    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray | None
    uvs: np.ndarray | None
    colours: np.ndarray | None  # (m, 4) bytes, of each face
    image: Any = None  # PIL's
    shininess: float = 0.5


def part_of(mesh: Any, faces: np.ndarray) -> MeshPart:
    """Colours, image, uvs and normals of a `trimesh.Trimesh`; where it lies is the caller's."""
    normals = mesh._cache.cache.get("vertex_normals")  # only the file's normals: the property would make some
    if normals is not None and len(normals) == len(mesh.vertices):
        normals = np.asarray(normals, float)[faces]
    else:
        normals = None
    part = MeshPart(np.zeros((0, 3)), faces, normals, None, None)
    visual = mesh.visual
    if visual.kind == "texture":
        _read_material(part, visual, len(mesh.vertices))
    elif visual.kind == "face":
        part.colours = np.asarray(visual.face_colors, np.uint8).reshape(-1, 4)
    elif visual.kind == "vertex":
        colours = np.asarray(visual.vertex_colors, float)[faces].mean(axis=1)
        part.colours = np.round(colours).astype(np.uint8)
    return part


def _read_material(part: MeshPart, visual: Any, count: int) -> None:
    """Colour, image and uvs of a part with a material, of whichever of trimesh's two kinds."""
    material, uv = visual.material, getattr(visual, "uv", None)
    factor = getattr(material, "baseColorFactor", None)
    image = getattr(material, "baseColorTexture", None)
    if hasattr(material, "diffuse"):
        image = getattr(material, "image", None)
        factor = None if image is not None else material.diffuse
    colour: np.ndarray = _WHITE if factor is None else np.asarray(factor, np.uint8).reshape(-1)[:4]
    roughness = getattr(material, "roughnessFactor", None)
    part.shininess = 0.5 if roughness is None else float(np.clip(1.0 - roughness, 0.0, 1.0))
    part.colours = np.tile(colour, (len(part.faces), 1))
    if image is not None and uv is not None and len(uv) == count:
        part.image, part.uvs = image, np.asarray(uv, float)[part.faces]


def appearance_of(parts: list[MeshPart]) -> tuple[np.ndarray | None, Appearance | None]:
    """Uvs by corner (m, 3, 2) of all parts together, and their appearance; None and None where no part has any.

    Raises:
        MeshFileError: for an image that is too large or broken.
    """
    if all(part.colours is None for part in parts):
        return None, None
    shininess = float(np.mean([part.shininess for part in parts]))
    first = parts[0]
    shared = first.image is not None and all(_same_look(part, first) for part in parts)
    if shared and first.colours is not None:
        covered = np.concatenate([part.uvs for part in parts if part.uvs is not None])
        return covered, Appearance(first.colours[0] / 255.0, _pixels(first.image), shininess)
    means = _mean_colours(parts)
    colours = np.concatenate([_flat_colours(part, means) for part in parts])
    uvs, rgba, image = _palette(colours)
    return uvs, Appearance(rgba, image, shininess)


def _same_look(part: MeshPart, first: MeshPart) -> bool:
    if part.image is None or part.colours is None or first.colours is None:
        return False
    same = part.image is first.image or (part.image.size == first.image.size and part.image == first.image)
    return same and np.array_equal(part.colours[0], first.colours[0])


def _mean_colours(parts: list[MeshPart]) -> dict[int, np.ndarray]:
    """The mean (4,) of every image, by its identity; each is unpacked once."""
    images = {id(part.image): part.image for part in parts if part.image is not None}
    total = sum(image.size[0] * image.size[1] for image in images.values())
    if total > MOST_TEXELS:
        raise MeshFileError(f"its textures have {total:,} texels in all, and {MOST_TEXELS:,} are the most")
    means = {}
    for key, image in images.items():
        pixels = _pixels(image)
        means[key] = np.concatenate([pixels.reshape(-1, pixels.shape[2]).mean(axis=0), [255.0]])[:4]
    return means


def _flat_colours(part: MeshPart, means: dict[int, np.ndarray]) -> np.ndarray:
    """A colour for each face (m, 4); of an image its mean."""
    if part.colours is None:
        return np.tile(_WHITE, (len(part.faces), 1))
    if part.image is None:
        return part.colours
    return np.round(part.colours * means[id(part.image)] / 255.0).astype(np.uint8)


def _palette(colours: np.ndarray) -> tuple[np.ndarray | None, np.ndarray, np.ndarray | None]:
    """Uvs (m, 3, 2), a tint and an image of the colours (m, 4) of faces; a single colour needs no image."""
    kinds, _, number = different_rows(colours)
    bits = 0
    while len(kinds) > MOST_COLOURS:
        bits += 1
        half = (1 << bits) >> 1
        rounded = np.minimum((colours.astype(int) >> bits << bits) + half, 255).astype(np.uint8)
        kinds, _, number = different_rows(rounded)
    if len(kinds) == 1:
        return None, kinds[0] / 255.0, None
    width = int(np.ceil(np.sqrt(len(kinds))))
    height = -(-len(kinds) // width)
    image = np.tile(_WHITE, (height * width, 1))
    image[: len(kinds)] = kinds
    row, column = np.divmod(number.reshape(-1), width)
    uv = np.stack([(column + 0.5) / width, 1.0 - (row + 0.5) / height], axis=1)
    channels = 3 if (kinds[:, 3] == 255).all() else 4
    return np.repeat(uv[:, None], 3, axis=1), np.ones(4), image.reshape(height, width, 4)[..., :channels]


def _pixels(image: Any) -> np.ndarray:
    """An image of PIL's as (height, width, 3 or 4) bytes."""
    width, height = image.size
    if width * height > MOST_TEXELS:
        raise MeshFileError(f"its texture has {width:,} x {height:,} texels, and {MOST_TEXELS:,} are the most")
    try:
        see_through = "A" in image.getbands() or "transparency" in image.info
        return np.asarray(image.convert("RGBA" if see_through else "RGB"), np.uint8)
    except (OSError, SyntaxError, ValueError) as error:
        raise MeshFileError(f"its texture cannot be read: {error}") from error
