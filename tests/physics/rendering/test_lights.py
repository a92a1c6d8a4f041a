"""Lights of a file: where MuJoCo has them, how bright they are by its formulas, and the shadows that they throw."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.drawn_model import light_poses
from tumble.physics.rendering.shown.lights import ATTENUATION, CONE, DIFFUSE, lights

ABOVE = Camera(distance=6, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=45)
MOVING = """
<mujoco><visual><headlight active="{head}"/></visual><worldbody>
  <light name="sun" type="directional" dir="1 0 -1"/>
  <body name="a" pos="1 0 1" euler="10 20 30"><freejoint/><geom size="0.1" pos="0.3 0 0"/>
    <light name="fixed" pos="0.1 0.2 0.3" dir="0 1 -1"/>
    <light name="track" mode="track" pos="0.1 0 0.2" dir="0 0 -1"/>
    <light name="com" mode="trackcom" pos="0 0.3 0.2" dir="0.1 0 -1"/>
    <light name="at" mode="targetbody" target="b" pos="0 0 1"/>
    <light name="at com" mode="targetbodycom" target="b" pos="0 0 1"/>
    <body name="b" pos="0 0.5 0"><joint axis="1 1 0"/><geom size="0.1 0.2" type="capsule" pos="0 0 0.2"/></body></body>
</worldbody></mujoco>"""


def test_lights_are_where_mujoco_has_them(poses):
    """Compare lights of every mode, in moved environments; the headlight shines from the eye."""
    source = poses(mujoco.MjModel.from_xml_string(MOVING.format(head=1)), 3, torch.float64).scatter(seed=2, amount=1.0)
    mj = source.model.mj
    found = lights(mj)
    assert found.ids.tolist() == [-1, 0, 1, 2, 3, 4, 5]
    assert lights(mujoco.MjModel.from_xml_string(MOVING.format(head=0))).ids.tolist() == [0, 1, 2, 3, 4, 5]
    position, way = light_poses(mj, found.ids[1:], source.get_many(found.reads))
    for env, data in enumerate(source.data):
        assert position[env].numpy() == pytest.approx(data.light_xpos, abs=1e-12)
        assert way[env].numpy() == pytest.approx(data.light_xdir, abs=1e-12)


FOLLOWED = """<mujoco><visual><headlight active="0"/></visual><worldbody>
  <geom type="plane" size="9 9 1"/>
  <body name="arm" pos="0 0 0.5"><joint axis="0 0 1"/><geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/>
    <light mode="{mode}" pos="0.4 0 1.5" dir="-0.1 0 -1" cutoff="20"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("mode", ["track", "trackcom"])
def test_a_light_follows_a_body_that_one_environment_has_elsewhere(mode, poses):
    """Where mj_setConst puts it: the picture is that of the model whose file has the body there."""
    turn = [np.cos(0.5), 0.0, 0.0, np.sin(0.5)]
    plain, own = (mujoco.MjModel.from_xml_string(FOLLOWED.format(mode=mode)) for _ in range(2))
    own.body_quat[1] = turn
    mujoco.mj_setConst(own, mujoco.MjData(own))
    solver = RigidSolver(Model.from_mjmodel(plain), num_envs=2)
    solver.set_parameters("body_quat", own.body_quat, [1])

    def picture(source):
        return BatchRenderer(source.model, 48, 48, ABOVE, look=Look.of_file()).render(source).float()

    ours, theirs = picture(solver), [picture(poses(mj))[0] for mj in (plain, own)]
    apart = [(ours[env] - theirs[env]).abs().mean() for env in range(2)]
    assert max(apart) < 0.1, apart  # of 255: single precision moves edges
    assert (theirs[0] - theirs[1]).abs().mean() > 1


def floor_lit(light, *, ball="", **look):
    """A white floor of 6 m in the light of one lamp, as linear light over the exposure, from above (101, 101)."""
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><visual><headlight active="0"/></visual>
    <asset><material name="dull" rgba="1 1 1 1" specular="0"/></asset><worldbody>
      <geom type="plane" size="9 9 1" material="dull"/>{ball}<light {light}/></worldbody></mujoco>""")
    exact = {"fade": 1e6, "exposure": 1.0}
    return model, Look.of_file(**(exact | look))


def linear(rgb):
    """Linear light from a picture, by the inverse of the display curve."""
    light = torch.linspace(0, 4, 40_001, dtype=torch.float64)
    shown = 255 * (light * (light + 0.29) / (light * light + 0.383 * light + 0.223)).sqrt()
    return light[torch.searchsorted(shown, rgb.double().contiguous()).clamp(max=40_000)]


LAMPS = {
    "directional": 'type="directional" dir="0 1 -2" diffuse="0.7 0.7 0.7" ambient="0.2 0.2 0.2"',
    "spot": 'pos="0 0 2" dir="0 0 -1" cutoff="40" exponent="6" diffuse="0.9 0.9 0.9" attenuation="0.5 0.1 0.1"',
    "wide": 'pos="1 0 1.5" dir="0 0 -1" cutoff="180" exponent="0" diffuse="0.8 0.8 0.8" attenuation="1 0 0.2"',
    "point": 'type="point" pos="-1 0 2" diffuse="0.8 0.8 0.8"',
}


@pytest.mark.parametrize("lamp", LAMPS)
def test_light_on_a_floor_is_by_formula(lamp, poses):
    """OpenGL's: cosine, attenuation, the power of the cone; a channel's light is its square."""
    model, look = floor_lit(LAMPS[lamp])
    source = poses(model)
    renderer = BatchRenderer(source.model, 101, 101, camera=ABOVE, look=look, samples=1)
    found = renderer.draw(source, ("rgb", "points"))
    points = found["points"][0].double().numpy()
    row = lights(model).table[0].astype(float)
    data, diffuse = source.data[0], row[DIFFUSE]
    if lamp == "directional":
        towards, share = np.broadcast_to(-data.light_xdir[0], points.shape), 1.0
    else:
        away = data.light_xpos[0] - points
        far = np.linalg.norm(away, axis=-1)
        towards = away / far[..., None]
        constant, by_length, by_square = row[ATTENUATION : ATTENUATION + 3]
        share = 1 / (constant + by_length * far + by_square * far**2)
        inward = -towards @ data.light_xdir[0]
        share *= (inward >= row[CONE]) * np.maximum(inward, 0) ** row[CONE + 1]
    expected = float(model.light_ambient[0, 0]) ** 2 * (share > 0) * share + diffuse * share * np.maximum(
        towards[..., 2], 0
    )
    light = linear(found["rgb"][0, ..., 0]).numpy()
    assert expected.max() > 0.2
    edge = np.abs(np.gradient(expected)[0]) + np.abs(np.gradient(expected)[1]) > 0.1  # of the cone
    assert np.abs(light - expected)[~edge].max() < 0.02


def test_lamps_throw_shadows_up_to_where_they_are(poses):
    """A ball between lamp and floor does, one above the lamp does not; a lamp with castshadow="false" throws none."""
    darkness = []
    for lamp, height in (("", 1.0), ("", 2.6), ('castshadow="false"', 1.0)):
        ball = f'<geom size="0.2" pos="0 0 {height}"/>'
        model, look = floor_lit(f'pos="0 0 2" dir="0 0 -1" cutoff="80" {lamp}', ball=ball)
        camera = Camera(distance=5, azimuth=90, elevation=-30, lookat=(0, 0, 0))
        source = poses(model)
        found = BatchRenderer(source.model, 101, 101, camera=camera, look=look).draw(source, ("rgb", "segmentation"))
        assert found["segmentation"][0, 50, 50] == 0
        darkness.append(int(found["rgb"][0, 50, 50, 0]))
    assert darkness[0] < 20 and darkness[1] > 100 and darkness[2] > 100


@pytest.mark.parametrize("sun", [True, False])
def test_soft_shadows_have_penumbras(sun, poses):
    """Across the edge of a ball's shadow light rises over many pixels; with one ray to the light it does in one."""
    steepest = []
    for rays in (0, 64):
        if sun:
            model, _ = floor_lit('diffuse="0 0 0"', ball='<geom size="0.3" pos="0 0 1"/>')
            look = Look(sun=(-1, 0, 1), occlusion=0.0, soft_shadows=rays, sun_radius=8.0, plain_floor=(0.8, 0.8))
        else:
            lamp = 'pos="0 0 2" dir="0 0 -1" cutoff="80" exponent="0" bulbradius="0.2"'
            model, look = floor_lit(lamp, ball='<geom size="0.3" pos="0 0 0.8"/>', soft_shadows=rays)
        source = poses(model)
        rgb = BatchRenderer(source.model, 101, 101, camera=ABOVE, look=look, samples=4).render(source)[0].float()
        light = linear(rgb[50, 60:, 1])  # beyond the ball itself
        steepest.append(float(light.diff().max() / (light.max() - light.min())))
    assert steepest[0] > 0.5 and steepest[1] < 0.4, steepest


def test_looks_refuse_lights_that_there_are_not():
    with pytest.raises(ValueError, match=r"Look\.lights='sky': there are 'sun' and 'file'"):
        Look(lights="sky")
    with pytest.raises(ValueError, match=r"Look\.soft_shadows=-1: it must be at least 0"):
        Look(soft_shadows=-1)
