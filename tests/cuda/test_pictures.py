"""Pictures on an emulated GPU: the processor's but for rounding, and drawing them copies and waits for nothing."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.rendering import BatchRenderer, Camera, Look, ParticleGroup, Show, WithParticles
from tumble.physics.rendering.rays.query import RayCaster

from ..physics.rendering.conftest import MujocoPoses
from ..physics.rendering.test_fields import scene as field_scene
from ..physics.rendering.test_meshes import SCENE
from ..physics.rendering.test_textures import GEOMS, blocks_on
from .emulation import Emulation, why_not

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("afterwards"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

ROOT = Path(__file__).parents[2]
TASKS, SIZE, STEPS = ("Ant", "InvertedPendulum"), {"width": 32, "height": 24}, 3
ARGUMENTS = 512  # bytes: the addresses and shapes of a kernel's arrays, and its numbers
KERNELS, LAUNCHES = ("cull_tiles_", "cast_rays_"), 6
"""Of a picture in colour: tiles, a first look and a second one, each with Taichi's small launch before it, which finds
how many threads there are to be."""
UNLIKE = 4
"""Pixels of a task's pictures, of 3840, whose edges rounding may move. There are none: of larger ones, in all 81,600
pixels, three, by 1 of 255."""
DEPTH = 1e-5
"""Relative, in single precision: a GPU rounds once where a product is added, and divides approximately."""
PROGRAM = """
import sys, torch
sys.path.insert(0, sys.argv.pop(1))
from tests.cuda.test_pictures import pictures
from tumble.physics.machine.runtime import init_columns
init_columns(arch="cuda")
torch.save(pictures(), sys.argv[1])
"""


def pictures():
    """Of each task what `render` gives at some steps; then colour, depth and geoms at the last."""
    found = {}
    for name in TASKS:
        env = gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array", **SIZE)
        env.reset(seed=0)
        frames = [env.render()]
        for _ in range(STEPS):
            env.step(np.full(env.action_space.shape, 0.2, np.float32))
            frames.append(env.render())
        solver = env.unwrapped.solver
        found[name] = torch.from_numpy(np.stack(frames)), *BatchRenderer(solver.model, **SIZE).images(solver)
        env.close()
    return found


@pytest.mark.slow
def test_pictures_are_a_processors_but_for_rounding(tmp_path):
    """Of an environment's `render` and of the renderer; and all that is copied is the kernels' few arguments."""
    tumble.init(precision="32", lanes=1)
    expected = pictures()
    done = Emulation(tmp_path).run(PROGRAM, ROOT, tmp_path / "found.pt")
    found = torch.load(tmp_path / "found.pt")
    for name in TASKS:
        frames, colour, depth, geoms = (one.double() for one in expected[name])
        found_frames, found_colour, found_depth, found_geoms = (one.double() for one in found[name])
        unlike = [(a != b).any(dim=-1).sum() for a, b in ((frames, found_frames), (colour, found_colour))]
        same = (geoms == found_geoms) & (geoms >= 0)
        error = float(((found_depth - depth).abs() / depth)[same].max())
        print(f"{name}: {sum(map(int, unlike))} pixels unlike, {int((geoms != found_geoms).sum())} geoms; {error:.1e}")
        assert sum(unlike) <= UNLIKE and (geoms != found_geoms).sum() <= UNLIKE
        assert error < DEPTH and same.any() and frames.std() > 10
    check_log(done.log)


LAMP = '<light pos="1 1 3" dir="-0.3 -0.3 -1" cutoff="70" bulbradius="0.1"/><site name="s" size="0.2" pos="0 0 2"/>'


def textured_scene():
    """Every kind of geom in a row, with textures, under a lamp."""
    geoms = [f'<geom {geom} pos="{k - 3} 0 0.6" material="{"cube" if k % 2 else "flat"}"/>' for k, geom in enumerate(
        geom for geom in GEOMS.values() if "plane" not in geom)]  # fmt: skip
    return blocks_on(f'{LAMP}<geom type="plane" size="5 5 1" material="flat"/>{"".join(geoms)}')


FLOOR = '<mujoco><worldbody><geom type="plane" size="3 3 1"/><geom type="box" size=".2 .2 .2"/></worldbody></mujoco>'
SCENES = {
    "meshes": lambda: mujoco.MjModel.from_xml_string(SCENE),
    "fields": field_scene,
    "textures": textured_scene,
    "particles": lambda: mujoco.MjModel.from_xml_string(FLOOR),
}
SEEN = {"meshes": 6, "fields": 5, "textures": 5, "particles": 4}  # geoms, the sky counted, are more
LOOKS = {"textures": {"look": Look.of_file(soft_shadows=4), "show": Show(sites=True, frames="geom")}}
OUTPUTS = "rgb", "depth", "segmentation", "normals", "albedo"
OF_SCENE = PROGRAM.replace("import pictures", "import of_scene").replace("pictures()", "of_scene('{scene}')")


def sand_and_water():
    """A group of spheres and one of a liquid, in two environments."""
    places = torch.rand(2, 300, 3, generator=torch.Generator().manual_seed(0))
    sand = ParticleGroup(centers=places - torch.tensor([1.2, 0.5, 0.0]), radius=0.05)
    water = ParticleGroup(centers=0.6 * places + torch.tensor([0.3, -0.3, 0.1]), radius=0.05, as_surface=True, id=9)
    return [sand, water]


def of_scene(scene):
    """Return colour, depth, geoms, normals and albedo of a scene; then distances, geoms and normals of rays."""
    source = MujocoPoses(SCENES[scene](), 2).scatter(seed=2)
    camera = Camera(distance=3.0, azimuth=100, elevation=-25, lookat=(0, 0, 0.5))
    rays = RayCaster(ensure_runtime(), source.model.mj)
    vec = torch.as_tensor(np.random.default_rng(0).normal(size=(2, 200, 3)), dtype=torch.float32)
    pnt = torch.tensor([0.0, 0.2, 0.7]).expand(2, 200, 3)
    poses = source.get("geom_xpos"), source.get("geom_xmat")
    hits = rays.cast(rays.choose(None, True, -1), poses, (pnt, vec), None, normals=True)
    renderer = BatchRenderer(source.model, **SIZE, camera=camera, **LOOKS.get(scene, {}))
    if scene == "particles":
        source = WithParticles(source, sand_and_water())
    return [*renderer.draw(source, OUTPUTS).values(), *hits]


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_scenes_are_a_processors_but_for_rounding(scene, tmp_path):
    """In pictures, and where rays of a solver meet them."""
    tumble.init(precision="32", lanes=1)
    expected = [one.double() for one in of_scene(scene)]
    Emulation(tmp_path).run(OF_SCENE.format(scene=scene), ROOT, tmp_path / "found.pt")
    found = [one.double() for one in torch.load(tmp_path / "found.pt")]
    (colour, depth, geoms, flat, albedo), other = expected[:5], found[:5]
    assert (colour != other[0]).any(dim=-1).sum() <= UNLIKE and (geoms != other[2]).sum() <= UNLIKE
    same = (geoms == other[2]) & (geoms >= 0)
    assert (flat - other[3])[same].abs().max() < 10 * DEPTH
    assert ((albedo - other[4])[same].abs().amax(dim=-1) > 1).sum() <= UNLIKE
    assert ((other[1] - depth).abs() / depth)[same].max() < DEPTH and len(geoms.unique()) > SEEN[scene]
    (distance, met, normal), other = expected[5:], found[5:]
    hit = (met == other[1]) & (met >= 0)
    assert (met != other[1]).sum() <= UNLIKE and hit.sum() > 100
    # vectors are as short as a fifth of a metre
    assert ((other[0] - distance).abs() / distance)[hit].max() < 10 * DEPTH
    assert (other[2] - normal)[hit].abs().max() < 10 * DEPTH


OF_SEAMS = PROGRAM.replace("cuda.test_pictures import pictures", "physics.rendering.test_faults import cast_to_seams")


@pytest.mark.slow
def test_no_ray_slips_out_of_a_closed_mesh(tmp_path):
    """The area of an edge comes out alike for both of its triangles, also if sums of products are rounded once."""
    Emulation(tmp_path).run(OF_SEAMS.replace("pictures()", "cast_to_seams('32')"), ROOT, tmp_path / "found.pt")
    met = torch.load(tmp_path / "found.pt")
    assert torch.equal(met, torch.arange(len(met), dtype=met.dtype)[:, None].expand_as(met))


def check_log(log):
    """From the first picture to the last nothing is waited for, and nothing copied but arguments."""
    ours = [i for i, call in enumerate(log) if call["kind"] == "launch" and call["kernel"].startswith(KERNELS)]
    between = log[ours[0] : ours[-1] + 1]
    launches = [call for call in between if call["kind"] == "launch"]
    assert len(ours) == LAUNCHES * len(TASKS) * (STEPS + 2)
    assert {call["kernel"].split("_")[0] for call in launches} == {"run", "cull", "cast"}
    assert {call["stream"] for call in launches} == {0}
    assert not [call for call in between if call["kind"] == "synchronize"]
    copies = [call for call in between if call["kind"] == "copy"]
    assert all(copy["direction"] == "HtoD" and copy["bytes"] <= ARGUMENTS for copy in copies)
    assert len(copies) == len(launches) // 2 - 1  # the first was before
