"""The rays of some pictures: tables and poses become the arrays of the two kernels, which are launched."""

import mujoco
import numpy as np
import torch

from ...base.shapes import of_kinds
from ...machine.runtime import Runtime
from ...run.tensor_kernels import Launch, Recipe, shared_kernels
from ..outputs import DrawnPoses
from ..particles.tables import joined
from ..shown.lights import Lights
from ..shown.render_model import BOUND, NEVER, SIZE, RenderModel
from .raycast import FIRST_LOOK, GUIDES, TILE, Has, cull_kernel, make_cast_rays

Tables = dict[str, torch.Tensor]
MESH_TABLES, APPEARANCE_TABLES = ("trees", "nodes", "corners"), ("skin", "rows", "lie")
IMAGE_TABLES = ("images", "levels", "texels")
FIELD_TABLES = ("shapes", "measures", "heights", "blocks")
DRESS_NAMES = (*MESH_TABLES, *APPEARANCE_TABLES, *IMAGE_TABLES, *FIELD_TABLES)
"""The tables of meshes, textures and height fields, in the order that kernels have them."""
RODS = [kind for kind, numbers in of_kinds("NUMBERS").items() if numbers == ("radius", "half_length")]
"""The kinds of capsules and cylinders."""


def tiles_of(width: int, height: int) -> int:
    """Return the number of a picture's tiles."""
    return -(-width // TILE) * -(-height // TILE)


def model_arrays(mj: mujoco.MjModel, drawn: RenderModel, lights: Lights, entities: np.ndarray) -> dict[str, np.ndarray]:
    """Return the tables that do not change between pictures, and do not depend on the camera."""
    arrays = {name: getattr(drawn, name) for name in ("kind", "paint", "solids")}
    arrays |= {"shape": drawn.shape[None], "lights": lights.table[None]}
    arrays |= {name: getattr(drawn.appearance.trees, name) for name in MESH_TABLES}
    arrays |= {name: getattr(drawn.appearance, name) for name in (*APPEARANCE_TABLES, "openness")}
    images = drawn.appearance.images
    arrays |= {"images": images.table, "levels": images.levels, "texels": images.texels}
    arrays |= {name: getattr(drawn.appearance.fields, name) for name in FIELD_TABLES}
    geom = np.append(drawn.geom, np.int32(-1))  # row -1, the sky, is geom -1
    arrays["geom"] = geom
    for name, of_geom in (("body", mj.geom_bodyid), ("entity", entities)):
        arrays[name] = np.where(geom >= 0, np.append(of_geom, 0)[geom], -1).astype(np.int32)
    return arrays


def cast(
    runtime: Runtime,
    has: Has,
    drawn: RenderModel,
    tables: Tables,
    poses: DrawnPoses,
    width: int,
    height: int,
    samples: int,
    *,
    colour: bool,
    guided: bool,
    measured: bool,
) -> tuple[torch.Tensor, ...]:
    """Return depth, rows, guides and colours of n pictures; colours and guides are empty unless asked for.

    Only colours have overlays and the least width of rods; depth and rows have them, too, unless they are
    `measured`.
    """
    tables = joined(tables)
    size, shape, overlaid = (width, height, samples), tables["shape"], drawn.geom < 0
    seen = with_least_widths(tables, poses, height) if colour and np.isin(drawn.kind, RODS).any() else shape
    true = shape
    if (measured or guided) and overlaid.any():
        true = shape.clone()
        true[..., BOUND].masked_fill_(tables["geom"][: len(tables["kind"])] < 0, NEVER)
    if seen is true or not (measured or guided):
        return _cast(runtime, has, tables | {"shape": seen}, poses, *size, colour=colour, guided=guided)
    *found, image = _cast(runtime, has, tables | {"shape": true}, poses, *size, colour=False, guided=guided)
    if colour:
        image = _cast(runtime, has, tables | {"shape": seen}, poses, *size, colour=True, guided=False)[-1]
    return *found, image


def with_least_widths(tables: Tables, poses: DrawnPoses, height: int) -> torch.Tensor:
    """Return the table `shape` with capsules and cylinders at least a pixel wide, if one of them is thinner.

    Rays a pixel apart would meet only parts of a thinner one: it would be drawn as dashes.
    """
    shape, kind = tables["shape"], tables["kind"]
    rod = torch.stack([kind == each for each in RODS]).any(0)
    away = -((poses.centre - poses.eye[:, None]) * poses.view[:, None, :, 2]).sum(dim=-1).to(shape.dtype)
    _, _, bottom, top, is_parallel = tables["frustum"].expand(len(away), 5).unbind(-1)
    pixel = ((top - bottom) / height)[:, None] * torch.where(is_parallel[:, None] > 0.5, 1.0, away.clamp(min=0.0))
    lacking = 0.5 * pixel - shape[..., SIZE]
    thin = rod & (lacking > 0) & (shape[..., SIZE] > 0) & (shape[..., BOUND] > 0)
    if thin.device.type == "cpu" and not thin.any():  # a GPU would have to be waited for
        return shape
    shape, more = shape.repeat(len(away) // len(shape), 1, 1), torch.where(thin, lacking, 0.0)
    shape[..., SIZE] += more
    shape[..., BOUND] += more
    return shape


def _cast(
    runtime: Runtime,
    has: Has,
    tables: Tables,
    poses: DrawnPoses,
    width: int,
    height: int,
    samples: int,
    *,
    colour: bool,
    guided: bool,
) -> tuple[torch.Tensor, ...]:
    """Follow the rays through all rows of the tables.

    All is relative to the camera, so that float32 is exact wherever the robot has run.
    """
    device, n = poses.eye.device, len(poses.eye)
    offset = (poses.centre - poses.eye[:, None]).to(torch.float32)
    pose = torch.cat([offset, poses.turn.to(torch.float32)], dim=-1).contiguous()
    solids = tables["solids"].long()
    around = _enclosing_spheres(offset[:, solids], tables["shape"][:, solids, BOUND])
    axes, frustum = poses.view.reshape(n, 9).to(torch.float32), tables["frustum"].expand(n, 5)
    views = torch.cat([around, axes, frustum], dim=-1).contiguous()
    size = (n, height, width)
    columns = FIRST_LOOK * colour + GUIDES * guided
    shown, noted = (size if wanted else (1, 1, 1) for wanted in (colour, columns))  # Taichi takes no empty tensors
    depth = torch.empty(size, dtype=torch.float32, device=device)
    seen = torch.empty(size, dtype=torch.int32, device=device)
    notes = torch.empty((*noted, max(1, columns)), dtype=torch.float32, device=device)
    image = torch.empty((*shown, 3), dtype=torch.uint8, device=device)
    listed = (n, tiles_of(width, height), 1 + pose.shape[1] + TILE * TILE)
    tiles = torch.empty(listed, dtype=torch.int32, device=device)
    scene = (*(tables[name] for name in ("kind", "shape", "paint", "solids")), pose, views)
    if n:
        cull, follow = shared_ray_kernels(runtime, has._replace(colours=colour))
        dressed = [tables[name] for name in (*DRESS_NAMES, "openness")]
        cull((tables["shape"], pose, views, width, height, tiles))
        for side in (0, samples) if colour else (0,):
            lit = tables["look"], tables["lights"], tiles
            follow((*scene, *lit, side, depth, seen, notes, image, *dressed))
    depth.masked_fill_(seen < 0, torch.inf)
    return depth, seen, notes[..., -GUIDES:], image


def _enclosing_spheres(centres: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    """A sphere around each environment's solids: (n, k, 3) and (k,) -> (n, 4), centre and radius."""
    middle = (centres.amin(dim=1) + centres.amax(dim=1)) / 2
    reach = ((centres - middle[:, None]).norm(dim=-1) + radii).amax(dim=1)
    return torch.cat([middle, reach[:, None]], dim=-1).contiguous()


def shared_ray_kernels(runtime: Runtime, has: Has) -> tuple[Launch, Launch]:
    """`cull_tiles` and, for models that have something or not, `cast_rays`; made once, then shared.

    They compute in single precision, also where the solver runs in double.
    """
    recipes = Recipe(cull_kernel), Recipe(make_cast_rays, tuple(has))
    cull, cast = shared_kernels(runtime, "f32", recipes, "pictures")
    return cull, cast
