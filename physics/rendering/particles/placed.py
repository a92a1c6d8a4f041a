"""Groups of particles as rows of a drawn model: their tables, and what environments have of them.

A group is a row of the kind `SPHERES`, or of `MESH` for a surface, whose pose is the middle of the box around what the
environment has of it. Its tree or grid stands among the trees of the model's meshes, after them (`tables.py`).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from ...base.shapes import MESH
from ..cast.casting import Tables
from ..cast.scene import PARTICLE_REACH
from ..drawn_model import DrawnModel
from ..look import LIMITS, Look
from ..outputs import DrawnPoses
from ..reading import SceneReading
from ..shown import render_model as columns
from ..shown.appearance import BY_ENV, LIE_COLUMNS, TEXTURE, TREE
from .group import ParticleLook
from .placing import spheres
from .surface import surface
from .tables import tables_of


class ParticleScene:
    """A drawn model and groups of particles; it has the attributes and calls of `DrawnModel` that renderers use.

    Attributes:
        drawn: the rows of the model, then one for each group.
        view, near, lights, reads, parameters: those of the model.
        has: the things that the kernel's code is made for.
    """

    def __init__(self, base: DrawnModel, looks: Sequence[ParticleLook], look: Look, nbody: int, ngeom: int) -> None:
        self._base, self._looks = base, looks
        self.view, self.near, self.lights = base.view, base.near, base.lights
        self.reads, self.parameters = base.reads, base.parameters
        surfaces = any(one.cell is not None for one in looks)
        self.has = base.has._replace(particles=True, meshes=base.has.meshes or surfaces)
        self.drawn = _with_rows(base.drawn, looks, look, ngeom)
        given = [(one.id, None, one.entity) for one in looks]
        usual = [(ngeom + i, nbody + i, nbody + i) for i in range(len(looks))]
        self._ids = {
            name: [plain[k] if own[k] is None else own[k] for own, plain in zip(given, usual, strict=True)]
            for k, name in enumerate(("geom", "body", "entity"))
        }
        colours = look.to_linear(np.array([one.rgba[:3] for one in looks]))
        self._colours = torch.as_tensor(colours, dtype=torch.float32)
        self._tables: dict[torch.device, Tables] = {}

    def tables_on(self, device: torch.device) -> Tables:
        """Return the tables that do not change between pictures, on a device."""
        base = self._base.tables_on(device)
        if device not in self._tables:
            drawn = self.drawn
            arrays = {name: getattr(drawn, name) for name in ("kind", "paint", "solids")}
            arrays |= {"shape": drawn.shape[None], "rows": drawn.appearance.rows, "lie": drawn.appearance.lie}
            own = {name: torch.as_tensor(array, device=device) for name, array in arrays.items()}
            for name, ids in self._ids.items():
                of_particles = np.repeat(np.array(ids), [one.particles for one in self._looks])
                more = torch.as_tensor(np.concatenate([ids, of_particles, [-1]]).astype(np.int32), device=device)
                own[name] = torch.cat([base[name][:-1], more])
            self._tables[device] = own
        return base | self._tables[device]

    def place(self, reading: SceneReading) -> tuple[DrawnPoses, Tables, Tables]:
        """Return the poses of all rows, the shared tables, and the tables that differ by environment.

        As `DrawnModel.place`; the last has the trees of the groups, too.
        """
        poses, _, more = self._base.place(reading)
        tables, groups = self.tables_on(reading.device), reading.particles
        device, first, made = poses.eye.device, 0, []
        for group, one, colour in zip(groups, self._looks, self._colours.to(device), strict=True):
            of_group = first, poses.centre.dtype, device
            made.append(spheres(group, colour, *of_group) if one.cell is None else surface(group, one.cell, *of_group))
            first += one.particles
        count, more = len(poses.eye), more | tables_of(made)
        of_model = more.get("shape", self._base.tables_on(device)["shape"]).expand(count, -1, -1)
        more["shape"] = torch.cat([of_model, *(one.shape for one in made)], dim=1)
        largest = torch.stack([group.radii(torch.float32).max() for group in groups]).to(device).max()
        limits = tables["look"].clone()
        limits[LIMITS, 1] = torch.maximum(limits[LIMITS, 1], PARTICLE_REACH * largest)
        centre, seen = (torch.cat([getattr(one, name) for one in made], dim=1) for name in ("middle", "centers"))
        turn = torch.eye(3, dtype=poses.turn.dtype, device=device).reshape(9).expand(count, len(groups), 9)
        placed = torch.cat([poses.centre, centre], dim=1), torch.cat([poses.turn, turn], dim=1)
        return DrawnPoses(*placed, poses.eye, poses.view, seen), tables | {"look": limits}, more


def _with_rows(
    drawn: columns.RenderModel, looks: Sequence[ParticleLook], look: Look, ngeom: int
) -> columns.RenderModel:
    """Return a render model with a row for each group after its others."""
    first, count = len(drawn.kind), len(looks)
    paint, rows = np.zeros((count, columns.PAINT_COLUMNS), np.float32), np.zeros((count, 3), np.int32)
    for i, one in enumerate(looks):
        roughness, specular, metallic, emission, ior = one.finish
        paint[i, columns.ALBEDO : columns.ALBEDO + 3] = look.to_linear(np.array(one.rgba[:3]))
        paint[i, columns.ALPHA], paint[i, columns.SPECULAR] = one.rgba[3], specular
        paint[i, columns.METALLIC] = metallic
        paint[i, columns.ROUGHNESS], paint[i, columns.SHININESS] = roughness, 1.0 - roughness
        paint[i, columns.EMISSION], paint[i, columns.IOR] = emission, ior
        rows[i, TREE], rows[i, TEXTURE], rows[i, BY_ENV] = len(drawn.appearance.trees.trees) + i, -1, count
    shown = drawn.appearance
    lie = np.zeros((first + count, LIE_COLUMNS), np.float32)
    lie[:first] = shown.lie[:first]
    kinds = np.array([columns.SPHERES if one.cell is None else MESH for one in looks], np.int32)
    return replace(
        drawn,
        geom=np.append(drawn.geom, ngeom + np.arange(count, dtype=np.int32)),
        kind=np.append(drawn.kind, kinds),
        shape=np.concatenate([drawn.shape, np.zeros((count, columns.SHAPE_COLUMNS), np.float32)]),
        paint=np.concatenate([drawn.paint, paint]),
        solids=np.append(drawn.solids, first + np.arange(count, dtype=np.int32)),
        appearance=replace(shown, rows=np.concatenate([shown.rows[:first], rows]), lie=lie),
    )
