"""Light by path tracing against closed forms: furnaces, lamps over floors, the lens; and films add up."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tumble.benchmarks.mitsuba_box import DEPTH, REGIONS
from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.path.denoise import has_oidn
from tumble.physics.rendering.path.tracer import displayed
from tumble.physics.rendering.shown.lights import ATTENUATION, CONE, DIFFUSE, lights

from .scenes import BOX, BOX_CAMERA, PALE, PLAIN, box, light_of, root_mean_square, source_of, tracer

# -- Light by path tracing against closed forms: furnaces, lamps over floors, the lens; and films add up


ABOVE = Camera(distance=4, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=40)
WHITE = '<asset><material name="white" rgba="1 1 1 1" specular="0"/></asset>'
FLOOR = f'{WHITE}<geom type="plane" size="9 9 1" material="white"/>'
BLACK = {"environment": (0.0, 0.0, 0.0)}


def material(words, numbers=""):
    return f"""<mujoco><visual><headlight active="0"/></visual>{numbers}
    <asset><material name="m" rgba="1 1 1 1" {words}/></asset>
    <worldbody><geom size="0.5" material="m"/></worldbody></mujoco>"""


GLASS = '<custom><numeric name="m:ior" data="1.5"/></custom>'
FURNACES = {
    "matt": (material('specular="0"'), 1.0, 1e-5),
    # paths that may be ended at random carry up to 1 / 0.95 the more
    "smooth glass": (material('roughness="0"', GLASS), 1.0, 2e-3),
    # what facets throw onto each other is lost
    "rough glass": (material('roughness="0.4"', GLASS), 0.92, 0.05),
    # a coat of 4 % keeps some of what it has let in
    "plastic": (material('specular="0.5" roughness="0.4"'), 0.93, 0.05),
}
EVEN = {"environment": (1.0, 1.0, 1.0), "bounces": 200}
ASIDE = Camera(distance=2.0, azimuth=90, elevation=-20, lookat=(0, 0, 0), fovy=26)


@pytest.mark.parametrize("name", FURNACES)
def test_white_things_in_even_light_cannot_be_seen(name):
    """A white furnace: where nothing is absorbed the picture is 1 all over; where some is lost it is never more."""
    text, expected, tolerance = FURNACES[name]
    light = float(light_of(source_of(text), 64, camera=ASIDE, **EVEN).mean())
    assert light == pytest.approx(expected, abs=tolerance) and light <= 1.0 + 2e-3


@pytest.mark.parametrize("roughness", [0.05, 0.5, 1.0])
def test_metal_in_even_light_loses_what_its_facets_hide(roughness):
    """Integrals of the GGX distribution with Smith's shadowing, in numpy, for the angle of each pixel."""
    source = source_of(material(f'metallic="1" roughness="{roughness}"'))
    light = light_of(source, 1024, camera=ASIDE, **EVEN)[..., 0].numpy()
    rays = BatchRenderer(source.model, 16, 16, camera=ASIDE)
    normals = rays.draw(source, ("camera_normals",))["camera_normals"][0].numpy()
    way = rays.rays().numpy()
    cosine = -(normals * way).sum(axis=-1) / np.linalg.norm(way, axis=-1)
    inner = cosine > 0.35  # pixels near the rim see many angles
    angles = np.linspace(0.3, 1.0, 15)
    expected = np.interp(cosine[inner], angles, [kept_by_facets(c, roughness**2) for c in angles])
    assert inner.sum() > 150 and np.abs(light[inner] - expected).max() < 0.06
    assert light[inner].mean() == pytest.approx(expected.mean(), abs=3e-3)


def kept_by_facets(cosine, alpha, fine=300):
    """Share of light that a white metal throws back, by quadrature over facets' normals."""
    # tan^2 of the facets' angle by the inverse of its distribution, so that sharp peaks are met
    u, around = ((np.arange(fine) + 0.5) / fine for _ in range(2))
    u, around = np.meshgrid(u, 2 * np.pi * around, indexing="ij")
    z = 1 / np.sqrt(1 + alpha**2 * u / (1 - u))
    across = np.sqrt(1 - z * z)
    half = np.stack([across * np.cos(around), across * np.sin(around), z], axis=-1)
    out = np.array([np.sqrt(1 - cosine**2), 0, cosine])
    facing = half @ out
    way = 2 * facing[..., None] * half - out
    seen = (way[..., 2] > 0) & (facing > 0)

    def hidden(c):
        return 0.5 * (np.sqrt(1 + alpha**2 * (1 - c * c) / (c * c)) - 1)

    shadowed = 1 / (1 + hidden(cosine) + hidden(np.where(seen, way[..., 2], 1.0)))
    # D cos is the density of the normals drawn; 4 facing is the Jacobian of the reflection
    return float((seen * shadowed * facing / (cosine * z)).mean())


def test_a_furnace_with_corners_is_even_too():
    """Light between a floor and a ball and a box on it: after all scatterings it is as bright as all around."""
    bodies = f'{FLOOR}<geom size="0.3" pos="0.4 0 0.3" material="white"/>'
    bodies += '<geom type="box" size="0.2 0.3 0.2" pos="-0.2 0 0.2" material="white"/>'
    camera = Camera(distance=2.5, azimuth=90, elevation=-40, lookat=(0, 0, 0), fovy=30)
    light = light_of(source_of(bodies), 256, camera=camera, environment=(1.0, 1.0, 1.0), bounces=200)
    assert float(light.mean()) == pytest.approx(1.0, abs=5e-3)
    assert float(light.std()) < 0.1


LAMPS = {
    "directional": 'type="directional" dir="0 1 -2" diffuse="0.7 0.7 0.7"',
    "spot": 'pos="0 0 2" dir="0 0 -1" cutoff="70" exponent="6" diffuse="0.9 0.8 0.9" attenuation="0.5 0.1 0.1"',
    "point": 'type="point" pos="-1 0 2" diffuse="0.8 0.8 0.8" attenuation="1 0 0.2"',
}


@pytest.mark.parametrize("lamp", LAMPS)
def test_lamps_light_a_floor_by_formula(lamp):
    """MuJoCo's: cosine, attenuation, the power of the cone; a channel's light is its square."""
    source = source_of(f"{FLOOR}<light {LAMPS[lamp]}/>")
    look = Look.of_file(**PLAIN)
    light = light_of(source, 64, 32, camera=ABOVE, look=look, **BLACK).numpy()
    points = BatchRenderer(source.model, 32, 32, camera=ABOVE).draw(source, ("points",))["points"][0].double().numpy()
    row, data = lights(source.model.mj).table[0].astype(float), source.data[0]
    towards, share = np.broadcast_to(-data.light_xdir[0], points.shape), 1.0
    if lamp != "directional":
        away = data.light_xpos[0] - points
        far = np.linalg.norm(away, axis=-1)
        towards = away / far[..., None]
        constant, by_length, by_square = row[ATTENUATION : ATTENUATION + 3]
        inward = -towards @ data.light_xdir[0]
        share = (inward >= row[CONE]) * np.maximum(inward, 0) ** row[CONE + 1]
        share = share / (constant + by_length * far + by_square * far**2)
    expected = row[DIFFUSE : DIFFUSE + 3] * (share * np.maximum(towards[..., 2], 0))[..., None]
    # samples are spread over the pixel, the formula is of its middle
    assert np.abs(light - expected).max() < 0.015 * expected.max()


def test_light_of_a_ball_is_by_formula():
    """A ball of radiance 5 over a floor: irradiance is pi L (r / d)^2 cos, wherever it is wholly above the horizon."""
    bodies = WHITE.replace("</asset>", '<material name="lamp" rgba="1 1 1 1" emission="5"/></asset>')
    bodies += '<geom type="plane" size="9 9 1" material="white"/><geom size="0.3" pos="0 0 6" material="lamp"/>'
    source = source_of(bodies)
    light = light_of(source, 64, camera=ABOVE, bounces=1, **BLACK)[..., 0].numpy()
    points = BatchRenderer(source.model, 16, 16, camera=ABOVE).draw(source, ("points",))["points"][0].double().numpy()
    square = ((points - [0, 0, 6]) ** 2).sum(axis=-1)
    expected = 5 * 0.3**2 / square * 6 / np.sqrt(square)
    assert np.abs(light / expected - 1).max() < 0.02


SHAPES = {
    "plane": 'type="plane" size="0.3 0.2 1" euler="180 20 0"',
    "sphere": 'size="0.3"',
    "capsule": 'type="capsule" size="0.1 0.3" euler="30 70 0"',
    "cylinder": 'type="cylinder" size="0.2 0.1" euler="30 50 0"',
    "ellipsoid": 'type="ellipsoid" size="0.4 0.2 0.1" euler="30 20 0"',
    "box": 'type="box" size="0.3 0.2 0.1" euler="30 20 0"',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_light_that_is_looked_for_is_that_which_is_met(shape):
    """Lamps of every kind: a path that looks for them, and one that comes upon them by chance, find the same light."""
    bodies = WHITE.replace("</asset>", '<material name="lamp" rgba="1 1 1 1" emission="5"/></asset>')
    bodies += f'<geom type="plane" size="9 9 1" material="white"/><geom {SHAPES[shape]} pos="0 0 0.7" material="lamp"/>'
    source = source_of(bodies)
    camera, means = Camera(distance=3, azimuth=90, elevation=-25, lookat=(0, 0, 0), fovy=30), []
    for looks, samples in ((True, 256), (False, 2048)):
        renderer = tracer(source, 12, camera=camera, **BLACK)
        if not looks:
            lit, placed = renderer._for_paths(renderer._scene)
            dark = type(lit)(0.0 * lit.table, 0, lit.areas)
            renderer._made = {renderer._scene.drawn: (dark, placed)}
        means.append(float(renderer.expose(source, samples=samples).light.mean()))
    assert means[0] == pytest.approx(means[1], rel=0.02)


def test_a_map_of_the_surroundings_lights_as_its_mean_does():
    """A floor under a map: irradiance is the integral of radiance times cosine; a bright spot is looked for."""
    height, width = 32, 64
    radiance = np.full((height, width, 3), 0.2)
    radiance[6, 10] = (900.0, 500.0, 100.0)
    z = np.cos(np.pi * np.arange(height + 1) / height)
    cosine = np.maximum(z, 0.0) ** 2
    flux = 0.5 * (cosine[:-1] - cosine[1:]) * 2 * np.pi / width  # integral of cos over each texel
    expected = (radiance * flux[:, None, None]).sum(axis=(0, 1)) / np.pi
    light = light_of(source_of(FLOOR), 256, camera=ABOVE, environment=radiance)
    assert light.mean(dim=(0, 1)).numpy() == pytest.approx(expected, rel=0.01)
    assert float(light.std(dim=(0, 1)).max()) < 0.1 * expected.max(), "the spot is looked for"


def test_the_sun_lights_as_the_ray_caster_has_it():
    """A white floor away from all else under the sun alone has the radiance of the look times the cosine."""
    look = Look(**PLAIN | {"horizon_rgb": (0, 0, 0), "zenith_rgb": (0, 0, 0), "sun": (1, 0, 1)})
    light = light_of(source_of(FLOOR), 64, camera=ABOVE, look=look)
    assert light.mean(dim=(0, 1)).numpy() == pytest.approx(np.array(look.sun_rgb) * np.sqrt(0.5), rel=0.002)


def test_light_is_shown_as_the_ray_caster_shows_it():
    """A picture of the sky alone."""
    source = source_of('<geom size="0.01" pos="0 0 -50"/>')
    camera = Camera(distance=1, azimuth=40, elevation=5, lookat=(0, 0, 50))
    look = Look(**PALE | {"sun_rgb": (0, 0, 0)})
    found = tracer(source, 24, camera=camera, look=look, samples=16).render(source).int()
    rays = BatchRenderer(source.model, 24, 24, camera=camera, look=look).render(source).int()
    assert found.shape == rays.shape and (found - rays).abs().max() <= 1


def test_a_lens_blurs_by_its_aperture():
    """A point d away through a lens sharp at f is a disc of radius aperture |d - f| / (f d), at unit distance."""
    source = source_of(
        '<asset><material name="l" rgba="1 1 1 1" emission="9"/></asset><geom size="0.004" material="l"/>'
    )
    for focus, aperture in ((2.0, 0.08), (1.5, 0.08), (3.0, 0.05), (1.5, 0.0)):
        camera = Camera(distance=2.0, azimuth=90, elevation=0, lookat=(0, 0, 0), fovy=10)
        size = 129
        film = tracer(source, size, camera=camera, aperture=aperture, focus=focus, **BLACK).expose(source, samples=64)
        lit = (film.light[0, ..., 0] > 0).nonzero().double() - (size - 1) / 2
        radius = float(lit.norm(dim=-1).max()) * 2 * np.tan(np.radians(5)) / size
        expected = aperture * abs(2.0 - focus) / (2.0 * focus) + 0.004 / 2.0
        assert radius == pytest.approx(expected, abs=1.5 * 2 * np.tan(np.radians(5)) / size), (focus, aperture)


TWO = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.5"><freejoint/>
<geom type="box" size="0.3 0.2 0.1"/></body></worldbody></mujoco>"""
ONE_VIEW = {"camera": Camera(distance=3, azimuth=120, elevation=-25, lookat=(0, 0, 0.3))}


def test_samples_add_up_to_the_bit():
    """64 and then 64 are 128; the same seed gives the same picture, another one another."""
    source = source_of(TWO)
    whole = light_of(source, 128, **ONE_VIEW)
    parts = tracer(source, **ONE_VIEW).expose(source, samples=64)
    assert parts.samples == 64 and not torch.equal(parts.light[0].double(), whole)
    assert torch.equal(parts.add(64).light[0].double(), whole)
    other = light_of(source, 128, seed=1, **ONE_VIEW)
    assert not torch.equal(other, whole) and root_mean_square(other - whole) < 0.2


def test_pictures_depend_on_their_environment_alone():
    """To the bit, whatever is drawn beside them; environments in the same state look the same."""
    source = source_of(TWO, 3).scatter(seed=1)
    source.data[2].qpos[:] = source.data[0].qpos
    source.forward()
    renderer = tracer(source, samples=8, **ONE_VIEW)
    pictures = renderer.render(source)
    film = renderer.expose(source)
    for env in range(3):
        assert torch.equal(renderer.render(source, [env])[0], pictures[env])
        assert torch.equal(film.rgb(False)[env], pictures[env])
    assert torch.equal(pictures[0], pictures[2]) and not torch.equal(pictures[0], pictures[1])


def test_noise_falls_as_one_over_the_root_of_samples():
    """Four times the samples, a quarter of the variance; and the film's own estimate of it is right."""
    source = source_of(TWO)
    pairs = []
    for samples in (32, 128):
        films = [tracer(source, 48, seed=seed, **ONE_VIEW).expose(source, samples=samples) for seed in (5, 6)]
        bright = [((film.light[0] - film.guides.glow[0]) * torch.tensor([0.3, 0.5, 0.2])).sum(dim=-1) for film in films]
        variance = float((bright[0] - bright[1]).square().mean()) / 2
        assert variance == pytest.approx(float(films[0].noise.square().mean()), rel=0.15)
        pairs.append(variance)
    assert pairs[0] / pairs[1] == pytest.approx(4.0, rel=0.2)


LIT = '<asset><material name="lamp" rgba="1 0.9 0.7 1" emission="6"/></asset><geom type="plane" size="9 9 1"/>'
THINGS = (
    '<geom type="box" size="0.3 0.2 0.1"/>',
    '<geom size="0.1" material="lamp"/>',
    '<geom type="capsule" size="0.1 0.2"/>',
)


def body(position, thing, rest):
    return f'<body pos="{" ".join(map(str, position))}" {rest}{thing}</body>'


def test_environments_side_by_side_are_lit_as_one_world():
    """Three with two bodies and a lamp each, against one model of them all: the same paths, but for rounding."""
    bodies = [body((x, 0, 0.6), thing, "><freejoint/>") for x, thing in zip((-0.5, 0, 0.5), THINGS, strict=True)]
    source = source_of(LIT + "".join(bodies), 3).scatter(seed=1)
    places = np.array([(0.0, 0.0, 0.0), (0.0, 1.2, 0.0), (1.5, 1.2, 0.0)])
    view = {"camera": Camera(distance=5, azimuth=120, elevation=-25, lookat=(0.5, 0.5, 0.3)), "samples": 16}
    found = tracer(source, 32, **view).together(source, ("rgb", "depth"), offsets=places)
    copies = [
        body(pose[:3] + place, thing, f'quat="{" ".join(map(str, pose[3:]))}">')
        for place, data in zip(places, source.data, strict=True)
        for thing, pose in zip(THINGS, data.qpos.reshape(3, 7), strict=True)
    ]
    world = source_of(LIT + "".join(copies))
    expected = tracer(world, 32, **view).draw(world, ("rgb", "depth"))
    unlike = (found["rgb"].int() - expected["rgb"][0].int()).abs().amax(dim=-1) > 2
    assert unlike.double().mean() < 0.02 and found["rgb"].double().std() > 20
    assert torch.allclose(found["depth"], expected["depth"][0], rtol=1e-4)


# -- The Cornell box: its light is mitsuba's, and denoising it takes most of the noise away


REFERENCE = json.loads((Path(__file__).parent / "mitsuba_box.json").read_text("utf-8"))


def compare(samples: int, across: int, tolerance: float) -> None:
    """Means of regions, `across` a side, with mitsuba's; darker channels count from a twentieth of the mean on."""
    light = box(64, samples, bounces=DEPTH - 1).numpy()
    found = light.reshape(across, 64 // across, across, 64 // across, 3).mean(axis=(1, 3))
    step = REGIONS // across
    expected = np.array(REFERENCE["means"]).reshape(across, step, across, step, 3).mean(axis=(1, 3))
    error = np.abs(found - expected) / np.maximum(expected, 0.05 * expected.mean())
    assert error.max() < tolerance, error.max()


def test_light_in_a_box_is_mitsubas():
    """Within 2 % in each of 16 regions; within half a percent over all."""
    compare(1024, 4, 0.02)
    compare(256, 1, 0.005)


@pytest.mark.slow
def test_light_in_64_regions_of_a_box_is_mitsubas():
    compare(4096, 8, 0.02)


def errors(size: int, samples: int, converged: int, methods) -> list[float]:
    """Root mean square errors of pictures as they are displayed.

    The true picture is not known: products of the differences from two that are far less noisy have the mean of the
    square of the difference from it.
    """
    film = tracer(source_of(BOX), size, camera=BOX_CAMERA, environment=(0, 0, 0), seed=1)
    film = film.expose(source_of(BOX), samples=samples)
    one, other = (displayed(box(size, converged, seed=seed).float()) for seed in (2, 3))
    found = []
    for method in methods:
        shown = displayed(film.clean_light(method)[0])
        found.append(float(((shown - one) * (shown - other)).mean().sqrt()))
    return found


def test_the_filter_takes_three_quarters_of_the_noise_away():
    noisy, clean = errors(192, 2, 24, (False, "filter"))
    assert clean < noisy / 4, (noisy, clean)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_denoisers_take_three_quarters_of_the_noise_away(samples):
    """In a picture of 256 x 256; Open Image Denoise too, if it is installed."""
    noisy, *clean = errors(256, samples, 48, [False, "filter", *["oidn"] * has_oidn()])
    assert max(clean) < noisy / 4, (noisy, clean)
