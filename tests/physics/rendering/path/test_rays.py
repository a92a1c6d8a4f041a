"""Rays of paths, which meet geoms eight at a time, against those of the ray caster, which meet one after the other."""

from importlib import import_module
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.rendering.cast.casting import DRESS_NAMES
from tumble.physics.rendering.path.packets_of_eight import COLUMNS, HALF, ROW, WIDE, packets_of_eight
from tumble.physics.run.tensor_kernels import Recipe, shared_kernels

from ....models.meshes import attributes, icosphere, torus
from ..conftest import PRIMITIVES, MujocoPoses
from .scenes import tracer

KERNELS = Path(__file__).resolve().parent / "kernels"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(KERNELS)
    probe: Any = import_module("ray_probe")
HILLS = " ".join(str(round(x, 3)) for x in np.random.default_rng(0).uniform(0, 1, 48))
SCENE = PRIMITIVES.replace("<asset>", f"""<asset>
  <mesh name="ball" {attributes(icosphere(2))} scale="0.3 0.2 0.3"/><mesh name="ring" {attributes(torus(0.35, 0.12))}/>
  <hfield name="hills" nrow="6" ncol="8" size="0.8 0.6 0.2 0.1" elevation="{HILLS}"/>""").replace(
    "</worldbody>", """
  <geom type="hfield" hfield="hills" pos="-1.5 -1 0.1" euler="0 10 30"/>
  <body pos="1.2 0.3 0.6"><freejoint/><geom type="mesh" mesh="ball" rgba="1 1 1 0.5"/></body>
  <body pos="-1.2 0.6 0.7"><freejoint/><geom type="mesh" mesh="ring"/></body>
  </worldbody>""")  # fmt: skip
RAYS, FAR = 20_000, 4.0
DEPTH = 2e-5
"""Relative and in metres: single precision, from other points of the ray."""
UNLIKE = 1e-3
"""Share of the rays that pass an edge so near that rounding decides."""


@pytest.fixture(autouse=True)
def own_kernels(monkeypatch):
    """Processes that compile find the kernels of this test."""
    monkeypatch.syspath_prepend(KERNELS)


def test_rays_meet_what_those_of_the_ray_caster_meet():
    """Every kind of geom, from points outside of all of them: distances, geoms, and light past clear ones."""
    source = MujocoPoses(mujoco.MjModel.from_xml_string(SCENE), 2).scatter(seed=3, amount=0.4)
    renderer = tracer(source, camera=None)
    _, _, poses, _, more = renderer._place(source, None)
    tables = renderer._scene.tables_on(torch.device("cpu")) | renderer._tables_for_paths(torch.device("cpu")) | more
    pose = torch.cat([poses.centre, poses.turn], dim=-1).float().contiguous()
    arranged = packets_of_eight(renderer._scene.drawn)
    rng = np.random.default_rng(1)
    # from a sphere around all of it, inwards
    away = rng.normal(size=(2, RAYS, 3))
    away /= np.linalg.norm(away, axis=-1, keepdims=True)
    origin = 4.0 * away
    towards = rng.uniform(-1.5, 1.5, (2, RAYS, 3)) * [1, 1, 0.6] + [0, 0, 0.5] - origin
    towards /= np.linalg.norm(towards, axis=-1, keepdims=True)
    rays = torch.as_tensor(np.concatenate([origin, towards], axis=-1), dtype=torch.float32)
    found = torch.zeros(2, RAYS, 6)
    (follow,) = shared_kernels(ensure_runtime(), "f32", (Recipe(probe.make_ray_probe),), "rays of tests")
    ends = torch.tensor(arranged.ends, dtype=torch.int32)
    scene = tables["kind"], tables["shape"], tables["paint"], pose, arranged.table(pose, tables["shape"])
    follow((*scene, ends, FAR, rays, found, *(tables[name] for name in DRESS_NAMES)))
    t, row, light, expected, expected_row, expected_light = found.double().unbind(-1)
    same = row == expected_row
    assert (~same).double().mean() < UNLIKE
    hit = same & (row >= 0)
    assert ((t - expected).abs() / (1 + expected))[hit].max() < DEPTH
    assert (light != expected_light).double().mean() < 2 * UNLIKE
    assert len(row.unique()) == len(renderer._scene.drawn.kind) + 1 and ((light > 0) & (light < 1)).any()


def test_all_geoms_are_in_the_boxes_of_their_eights():
    """Every row once; where there is none, nothing can be met; boxes hold MuJoCo's."""
    source = MujocoPoses(mujoco.MjModel.from_xml_string(SCENE), 1)
    renderer = tracer(source, camera=None)
    drawn, arranged = renderer._scene.drawn, packets_of_eight(renderer._scene.drawn)
    assert sorted(arranged.rows[arranged.rows >= 0]) == list(range(len(drawn.kind)))
    poses = renderer._place(source, None).poses
    pose = torch.cat([poses.centre, poses.turn], dim=-1).float()
    shape = torch.as_tensor(drawn.shape)[None]
    table = arranged.table(pose, shape).reshape(-1, COLUMNS, WIDE).transpose(1, 2).reshape(-1, COLUMNS)
    there = torch.as_tensor(arranged.rows >= 0)
    assert torch.equal(table[there, ROW].int(), torch.as_tensor(arranged.rows[arranged.rows >= 0]).int())
    assert (table[~there, HALF : HALF + 3] < 0).all() and (~there).any()
    mj = source.model.mj
    for line in table[there].double().numpy():
        geom = int(drawn.geom[int(line[ROW])])
        if mj.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE:
            middle, half = mj.geom_aabb[geom, :3], mj.geom_aabb[geom, 3:]
            assert (line[HALF : HALF + 3] * 1.00001 + 1e-6 >= np.abs(middle) + half).all(), geom
