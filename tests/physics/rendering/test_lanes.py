"""Pixels side by side in a register have the bits of one pixel after the other."""

import mujoco
import pytest
import torch

from tumble.physics.machine.codegen.ir import ENTRY
from tumble.physics.machine.codegen.items import WIDTH, asks_for_lanes
from tumble.physics.machine.codegen.keys import key_of
from tumble.physics.machine.codegen.llvm import load
from tumble.physics.machine.codegen.loops import BEFORE
from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.cast import casting
from tumble.physics.rendering.cast.raycast import Has, make_cast_rays
from tumble.physics.run.compile.compilers import Compilation, stored
from tumble.physics.run.programs import can_compile_apart
from tumble.physics.run.tensor_kernels import Launch, LoopProgram, Recipe

pytestmark = pytest.mark.skipif(not can_compile_apart(), reason="nothing can be compiled apart here")
LIT = """
<mujoco>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.5 0.7 0.9" rgb2="0.1 0.2 0.3" width="32" height="192"/>
    <texture name="dice" type="cube" builtin="checker" rgb1="0.9 0.5 0.1" rgb2="0.2 0.1 0.5" width="16" height="16"/>
    <texture name="tiles" type="2d" builtin="gradient" rgb1="0.7 0.7 0.6" rgb2="0.4 0.4 0.3" width="32" height="32"/>
    <material name="dice" texture="dice" shininess="0.9"/>
    <material name="tiles" texture="tiles" texrepeat="2 2" reflectance="0.4"/>
    <material name="brass" rgba="0.9 0.7 0.3 1" metallic="1" roughness="0.2"/>
  </asset>
  <worldbody>
    <light pos="1 1 2" dir="-0.5 -0.5 -1" cutoff="50" exponent="4" bulbradius="0.1"/>
    <light pos="-2 0 3" dir="1 0 -1" type="directional" diffuse="0.3 0.3 0.4"/>
    <geom type="plane" size="2 2 1" material="tiles"/>
    <geom type="box" size="0.2 0.2 0.2" pos="0.4 0 0.3" euler="10 20 30" material="dice"/>
    <geom type="ellipsoid" size="0.3 0.2 0.1" pos="-0.4 0.2 0.3" material="brass"/>
    <geom type="capsule" size="0.08 0.3" pos="0 -0.4 0.4" euler="60 20 0" rgba="0.3 0.7 0.8 0.5"/>
  </worldbody>
</mujoco>"""


def one_by_one(has: Has) -> Launch:
    """`cast_rays` for one pixel after the other."""
    recipe = Recipe(make_cast_rays, tuple(has))
    keys = {"cast": key_of("one pixel after the other", recipe.key("f32"))}
    code = stored(keys)
    if not code:
        with Compilation({"kernels": {"cast": recipe.words}, "literals": "f32", "lanes": 1}, "a test") as compilation:
            code = compilation.compile(keys)
    return LoopProgram(lambda: load(code["cast"], ENTRY, BEFORE), 1, "f")


@pytest.mark.parametrize(
    ("model", "look"),
    [("primitives", Look()), pytest.param(LIT, Look.of_file(soft_shadows=3, occlusion=0.5), marks=pytest.mark.slow)],
    ids=["primitives", "lights and textures"],
)
def test_pictures_have_the_same_bits(model, look, poses, monkeypatch):
    source = poses(model if model == "primitives" else mujoco.MjModel.from_xml_string(model), 2).scatter(seed=3)
    kernels = casting.shared_ray_kernels
    assert asks_for_lanes(make_cast_rays, tuple(Has(textures=True, lights=True))) and WIDTH > 1
    for camera in (
        Camera(distance=3.0, azimuth=70, elevation=-25, lookat=(0, 0.2, 0.3)),
        Camera(distance=3.0, azimuth=20, elevation=-60, lookat=(0, 0.2, 0.3), fovy=2.0, orthographic=True),
    ):
        renderer = BatchRenderer(source.model, 117, 85, camera=camera, look=look, samples=3)
        monkeypatch.setattr(casting, "shared_ray_kernels", kernels)
        found = renderer.draw(source, ("rgb", "depth", "segmentation", "normals", "albedo"))
        monkeypatch.setattr(
            casting, "shared_ray_kernels", lambda runtime, has: (kernels(runtime, has)[0], one_by_one(has))
        )
        for name, picture in renderer.draw(source, tuple(found)).items():
            assert torch.equal(found[name], picture), name


def test_meshes_are_met_one_ray_after_the_other():
    assert not asks_for_lanes(make_cast_rays, tuple(Has(meshes=True)))
    assert not asks_for_lanes(make_cast_rays, tuple(Has(fields=True)))
