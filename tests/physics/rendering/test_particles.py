"""Groups of spheres are drawn as geoms of the same places, sizes and materials are, in every output and light."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, Look, ParticleGroup, PathTracer, Show, WithParticles

from ...cases import cases
from .conftest import MujocoPoses

COUNT = 40
CAMERA = Camera(distance=3.0, azimuth=70, elevation=-25, lookat=(0, 0, 0.3))
BASE = '<geom type="plane" size="3 3 1"/><geom type="box" size=".2 .2 .2" pos=".4 .3 .2"/>'
LAMP = '<light pos="1 1 2.5" dir="-0.4 -0.4 -1" cutoff="60" bulbradius="0.1"/>'
FINISH = {"rgba": (0.8, 0.5, 0.3, 1.0), "roughness": 0.8, "specular": 0.2}
MATERIAL = 'rgba="{rgba}" specular=".2" shininess=".2"'
GEOM = 2  # the number of the first sphere, which a group's is, too


def spheres(count=COUNT, seed=0):
    """Places (count, 3) and radii (count,) that overlap here and there."""
    rng = np.random.default_rng(seed)
    return rng.uniform([-0.6, -0.6, 0.1], [0.6, 0.6, 0.9], (count, 3)), rng.uniform(0.03, 0.1, count)


def pair(material=MATERIAL, more="", envs=1, **changes):
    """The same spheres as geoms, and as a group, each in a pose source of the same model otherwise."""
    places, radii = spheres()
    finish = FINISH | changes
    material = material.format(rgba=" ".join(map(str, finish["rgba"])))
    balls = "".join(
        f'<geom size="{size}" pos="{x} {y} {z}" material="m"/>' for size, (x, y, z) in zip(radii, places, strict=True)
    )
    head = f'<mujoco>{more}<asset><material name="m" {material}/></asset>'
    text = f"{head}{{}}<worldbody>{LAMP}{BASE}{{}}</worldbody></mujoco>"
    geoms = mujoco.MjModel.from_xml_string(text.format("", balls))
    centre = " ".join(map(str, geoms.stat.center))
    bare = text.format(f'<statistic extent="{geoms.stat.extent}" center="{centre}"/>', "")
    group = group_of(places, radii, envs, **finish)
    return MujocoPoses(geoms, envs), WithParticles(MujocoPoses(mujoco.MjModel.from_xml_string(bare), envs), [group])


def group_of(places, radii, envs=1, **more):
    centers = torch.as_tensor(places, dtype=torch.float32).expand(envs, -1, -1)
    return ParticleGroup(centers=centers, radius=torch.as_tensor(radii, dtype=torch.float32), **more)


def both(expected, found, outputs, size=(160, 120), call="draw", **options):
    drawn = [
        getattr(BatchRenderer(source.model, *size, camera=CAMERA, **options), call)(source, outputs)
        for source in (expected, found)
    ]
    for one in drawn:
        if "segmentation" in one:
            one["segmentation"] = one["segmentation"].clamp(max=GEOM)
    return drawn


OUTPUTS = "rgb", "depth", "distance", "segmentation", "normals", "camera_normals", "albedo", "points"
LOOKS = {
    "sun": Look(occlusion=0.0),
    "soft shadows": Look(occlusion=0.0, soft_shadows=6),
    "lamps of the file": Look.of_file(),
}
SINGLE = {"depth": 1e-5, "distance": 1e-5, "points": 1e-5, "normals": 1e-4, "camera_normals": 1e-4}
"""m three metres away; and unit vectors: a sphere of 3 cm has 3e-6 m of its place for a direction."""


@cases("name", LOOKS)
def test_spheres_are_drawn_as_geoms_are(name):
    """All outputs; colours to a step, as light is rounded to one."""
    expected, found = both(*pair(), OUTPUTS, look=LOOKS[name])
    assert torch.equal(expected["segmentation"], found["segmentation"]) and (found["segmentation"] == GEOM).sum() > 1000
    assert torch.equal(expected["albedo"], found["albedo"])
    for output, most in SINGLE.items():
        there = torch.isfinite(expected[output])
        assert torch.equal(there, torch.isfinite(found[output]))
        assert (expected[output] - found[output])[there].abs().max() < most, output
    assert (expected["rgb"].int() - found["rgb"].int()).abs().max() <= 1


def test_clear_spheres_are_drawn_as_geoms_are():
    """Light goes through the nearest of a group only, and shadows of several are those of one, so without shadows."""
    sources = pair(rgba=(0.8, 0.5, 0.3, 0.4))
    expected, found = both(*sources, ("rgb",), look=Look(occlusion=0.0, shadows=False))
    unlike = (expected["rgb"].int() - found["rgb"].int()).abs().amax(dim=-1) > 1
    assert unlike.float().mean() < 1e-3  # where two spheres overlap, one is skipped within the gap of 0.1 mm


def test_particles_dim_the_skys_light_nearby():
    """A group does so out to three radii, a geom out to five: less, and nowhere more."""
    bright, dim, geoms = (
        both(*pair(), ("rgb",), look=Look(occlusion=share), samples=1)[which]["rgb"].int()
        for share, which in ((0.0, 1), (0.8, 1), (0.8, 0))
    )
    assert (dim - bright).max() <= 0 < (bright - dim).max()
    assert (geoms - dim).max() <= 1 and (dim - geoms).max() < 60


def test_depth_is_that_of_the_closed_form():
    """A sphere of 0.3 m seen along its middle: every pixel's depth by the quadratic, in double precision."""
    centre, radius = np.array([0.1, -0.2, 0.5]), 0.3
    source = WithParticles(
        MujocoPoses(mujoco.MjModel.from_xml_string("<mujoco/>"), 1), [group_of(centre[None], np.array([radius]))]
    )
    renderer = BatchRenderer(
        source.model, 96, 96, camera=Camera(distance=2.0, azimuth=30, elevation=-20, lookat=centre)
    )
    found = renderer.draw(source, ("depth", "segmentation"))
    (eye,), (turn,) = (part.double().numpy() for part in renderer.camera_poses(source))
    rays = renderer.rays().double().numpy()
    ways = rays @ turn.T
    length = np.linalg.norm(ways, axis=-1)
    slide = ways @ (centre - eye) / length
    square = radius**2 - (np.sum((centre - eye) ** 2) - slide**2)
    expected = np.where(square > 0, (slide - np.sqrt(np.maximum(square, 0))) / length, np.inf)
    near_the_edge = np.abs(square) < 1e-6  # single precision may decide either way
    assert near_the_edge.sum() < 10
    depth = found["depth"][0].double().numpy()
    np.testing.assert_allclose(depth[~near_the_edge], expected[~near_the_edge], atol=1e-5)
    assert int((found["segmentation"] == 0).sum()) == pytest.approx((square > 0).sum(), abs=10)


def block(envs, seed=3, count=500):
    """A group of particles that differ between environments, some of which are not there."""
    rng = np.random.default_rng(seed)
    places = rng.uniform([-0.4, -0.4, 0.05], [0.4, 0.4, 0.6], (64, count, 3))[:envs]
    active = torch.as_tensor(rng.random((64, count)) < 0.8)[:envs]
    colors = torch.as_tensor(rng.random((64, count, 3)))[:envs]
    return ParticleGroup(
        centers=torch.as_tensor(places, dtype=torch.float32), radius=0.02, active=active, colors=colors
    )


def around(envs, groups):
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{BASE}</worldbody></mujoco>")
    return WithParticles(MujocoPoses(model, envs), groups)


def test_a_picture_depends_on_its_environment_only():
    """Environment 3 by itself, among 5 and among 64."""
    pictures = []
    for envs, index in ((5, [3]), (5, None), (64, None)):
        source = around(envs, [block(envs)])
        renderer = BatchRenderer(source.model, 48, 36, camera=CAMERA)
        found = renderer.draw(source, ("rgb", "depth", "segmentation", "normals"), index)
        pictures.append({name: picture[-1 if index else 3] for name, picture in found.items()})
    one = around(1, [block(5).of(envs_of([3]))])
    found = BatchRenderer(one.model, 48, 36, camera=CAMERA).draw(one, tuple(pictures[0]))
    for name, picture in pictures[0].items():
        assert all(torch.equal(picture, other[name]) for other in pictures[1:]), name
        assert torch.equal(picture, found[name][0]), name
    assert (pictures[0]["segmentation"] == GEOM).any()


def envs_of(index):
    from tumble.physics.base.arguments import CheckedEnvs

    return CheckedEnvs(torch.tensor(index))


def test_particles_that_are_not_there_change_nothing():
    """Inactive ones, and ones without a finite place; and a group of which nothing is there."""
    group = block(1)
    there = group.active[0]
    more = torch.where(there[None, :, None], group.centers, torch.nan)
    shown = ParticleGroup(centers=group.centers[:, there], radius=0.02, colors=group.colors[:, there])
    nothing = ParticleGroup(centers=more, radius=0.02, active=torch.zeros_like(group.active), id=7)
    sources = [
        around(1, [shown]),
        around(1, [group]),
        around(1, [ParticleGroup(centers=more, radius=0.02, colors=group.colors)]),
        around(1, [group, nothing]),
    ]
    renderer = BatchRenderer(sources[0].model, 48, 36, camera=CAMERA)
    first, *others = (renderer.draw(source, ("rgb", "depth", "segmentation")) for source in sources)
    for other in others:
        assert all(torch.equal(first[name], other[name]) for name in first)


def test_groups_have_numbers_of_their_own():
    left, right = (torch.tensor([[[x, 0.0, 0.3]]]) for x in (-0.4, 0.4))
    groups = [
        ParticleGroup(centers=left, radius=0.2),
        ParticleGroup(centers=right, radius=0.2, id=70, entity=9),
    ]
    source = around(1, groups)
    camera = Camera(distance=2.0, azimuth=90, elevation=-10, lookat=(0, 0, 0.3))
    found = BatchRenderer(source.model, 40, 30, camera=camera).draw(source, ("segmentation", "body", "entity"))
    expected = {"segmentation": {GEOM, 70}, "body": {1, 2}, "entity": {1, 9}}
    for name, numbers in expected.items():
        assert numbers <= set(found[name].unique().tolist()), name


def test_overlays_are_beside_particles():
    """The axes of a body are in colours only."""
    shown, plain = around(1, [block(1)]), around(1, [block(1)])
    one, other = (
        BatchRenderer(shown.model, 48, 36, camera=CAMERA, show=show) for show in (None, Show(frames={"world": 1.0}))
    )
    found, expected = (r.draw(s, ("rgb", "depth", "segmentation")) for r, s in ((other, shown), (one, plain)))
    assert not torch.equal(found["rgb"], expected["rgb"])
    assert all(torch.equal(found[name], expected[name]) for name in ("depth", "segmentation"))


def test_motion_is_that_of_each_particle():
    """Two particles of a group, of which one rises: its pixels move up by what `pixels` says, the others do not."""
    before = torch.tensor([[[-0.4, 0.0, 0.3], [0.4, 0.0, 0.3]]])
    after = before + torch.tensor([[0.0, 0.0, 0.1], [0.0, 0.0, 0.0]])
    camera = Camera(distance=2.0, azimuth=90, elevation=0, lookat=(0, 0, 0.3))
    then, now = (around(1, [ParticleGroup(centers=c, radius=0.1)]) for c in (before, after))
    renderer = BatchRenderer(then.model, 80, 60, camera=camera)
    found = renderer.draw(now, ("motion", "segmentation", "points"), before=renderer.moment(then))
    seen, x = found["segmentation"][0] == GEOM, found["points"][0, ..., 0]
    risen, still = found["motion"][0][seen & (x < 0)], found["motion"][0][seen & (x > 0)]
    points = found["points"][0][seen & (x < 0)]
    expected = renderer.pixels(now, points[None]) - renderer.pixels(then, points[None] - torch.tensor([0.0, 0.0, 0.1]))
    assert len(risen) > 20 and (risen - expected[0]).abs().max() < 1e-3  # pixels, in single precision
    assert len(still) > 20 and still.abs().max() < 1e-3


def test_environments_side_by_side_have_their_particles():
    """As geoms of two environments stand side by side; no shadow is compared, as a group's sky is dimmed less."""
    expected, found = both(*pair(envs=2), ("rgb", "depth", "segmentation"), call="together", look=Look(occlusion=0.0))
    assert torch.equal(expected["segmentation"], found["segmentation"])
    assert (expected["rgb"].int() - found["rgb"].int()).abs().max() <= 1
    source = around(2, [block(2)])  # each environment has other places
    renderer = BatchRenderer(source.model, 64, 48, camera=CAMERA)
    offsets = np.array([[0.0, 0, 0], [5.0, 0, 0]])  # out of the picture
    shown = renderer.together(source, ("depth",), offsets=offsets)["depth"]
    swapped = renderer.together(source, ("depth",), envs_idx=[1, 0], offsets=offsets)["depth"]
    assert torch.equal(shown, renderer.depth(source, [0])[0]) and not torch.equal(shown, swapped)


GLASS = '<custom><numeric name="m:ior" data="1.5"/></custom>'
FINISHES = {
    "matt": ({}, MATERIAL, ""),
    "glass": ({"rgba": (0.9, 0.95, 1, 1), "roughness": 0.0, "ior": 1.5}, 'rgba="{rgba}" shininess="1"', GLASS),
    "metal": ({"metallic": 1.0}, MATERIAL + ' metallic="1" roughness=".8"', ""),
    "glowing": ({"emission": 0.0, "roughness": 0.1}, 'rgba="{rgba}" specular=".2" shininess=".9"', ""),
}


@cases("name", FINISHES)
def test_paths_of_light_meet_spheres_as_they_meet_geoms(name):
    """Films with the same random numbers: only paths on which rounding decides are unlike."""
    changes, material, more = FINISHES[name]
    films = []
    for source in pair(material, more, **changes):
        tracer = PathTracer(source.model, 60, 45, camera=CAMERA, denoise=False, seed=1)
        films.append(tracer.expose(source, samples=16).light)
    unlike = (films[0] - films[1]).abs().amax(dim=-1) > 1e-3
    assert unlike.float().mean() < (0.03 if name == "glass" else 0.005)  # glass overlaps, and sends light far
    assert (films[0].mean() - films[1].mean()).abs() < 1e-3 * films[0].mean()


WRONG = {
    "no tensor": ({"centers": np.zeros((1, 2, 3))}, TypeError, "centers: expected a tensor, not ndarray"),
    "shape": ({"centers": torch.zeros(2, 3)}, ValueError, "expected real numbers (num_envs, n, 3), got torch.float32"),
    "radius": ({"radius": 0.0}, ValueError, "radius: expected metres above 0"),
    "radii": ({"radius": torch.ones(3)}, ValueError, "radius: expected one number or (2,), got (3,)"),
    "active": (
        {"active": torch.ones(1, 3, dtype=torch.bool)},
        ValueError,
        "active: expected a tensor (1, 2), got (1, 3)",
    ),
    "colour": ({"rgba": (1, 2, 0, 1)}, ValueError, "rgba=(1, 2, 0, 1): expected four numbers from 0 to 1"),
    "share": ({"metallic": -1.0}, ValueError, "metallic=-1.0: expected a number from 0 to 1"),
    "id": ({"id": -1}, ValueError, "ParticleGroup: id=-1"),
    "cell": ({"cell": 0.0}, ValueError, "cell=0.0: expected metres above 0"),
}


@cases("name", WRONG)
def test_impossible_groups_are_refused(name):
    changes, error, words = WRONG[name]
    with pytest.raises(error) as raised:
        ParticleGroup(**{"centers": torch.zeros(1, 2, 3), "radius": 0.1} | changes)
    assert words in str(raised.value)


def test_sources_with_impossible_groups_are_refused():
    group = ParticleGroup(centers=torch.zeros(2, 2, 3), radius=0.1)
    source = around(1, [group])
    renderer = BatchRenderer(source.model, 8, 8, camera=CAMERA)
    with pytest.raises(ValueError, match="2 environments of particles, and 1 of bodies"):
        renderer.render(source)
    with pytest.raises(TypeError, match="particle_groups: expected ParticleGroup, not dict"):
        renderer.render(around(1, [{}]))
