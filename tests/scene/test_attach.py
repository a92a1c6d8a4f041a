"""Entities mounted on links of others: one tree in MuJoCo, numbers of parts in order; terrain under points."""

import mujoco
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.base.rotations import quat_mul
from tumble.physics.machine.runtime import init
from tumble.scene.poses import quat_of_euler

CRANE = """<mujoco><worldbody><body name="mast"><joint name="turn" axis="0 0 1"/><geom size=".1"/>
<body name="hook" pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1"/><geom size=".1"/></body>
<body name="beam" pos="1 0 1" euler="0 0 40"><joint name="bend" axis="0 1 0"/><geom size=".1"/>
  <body name="tip" pos="1 0 0"><geom size=".1"/></body></body></body></worldbody>
<equality><joint joint1="turn" joint2="bend"/></equality></mujoco>"""
CLAW = """<mujoco><worldbody><body name="palm" pos="0 0 .1"><freejoint/><geom size=".05"/>
<body name="finger" pos="0 .1 0"><joint name="grip" type="slide" axis="0 1 0"/><geom size=".02"/></body></body>
</worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def double():
    init(precision="64")


@pytest.fixture
def parts(tmp_path):
    """A scene with a box, a crane, a ball, a claw and a lamp, which is not built."""
    (tmp_path / "crane.xml").write_text(CRANE)
    (tmp_path / "claw.xml").write_text(CLAW)
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Box(size=(1, 1, 1)), name="box")
    scene.add_entity(gs.morphs.Sphere(radius=0.1), name="lamp")
    scene.add_entity(gs.morphs.MJCF(file=tmp_path / "claw.xml", pos=(0, 0, 0.2), euler=(90, 0, 0)), name="claw")
    scene.add_entity(gs.morphs.MJCF(file=tmp_path / "crane.xml", pos=(3, 0, 0)), name="crane")
    scene.add_entity(gs.morphs.Sphere(radius=0.2), name="ball")
    return scene


def test_what_is_attached_hangs_on_its_link(parts):
    crane, claw, lamp = (parts.get_entity(name) for name in ("crane", "claw", "lamp"))
    grip = claw.get_joint("grip")
    assert claw.is_free and grip.dofs_idx_local == [6] and not claw.is_attached
    lamp.attach(crane, "beam", pos=(0.0, 0.3, 0.0))
    claw.attach(crane, "tip")
    assert claw.is_attached and not claw.is_free and claw.n_dofs == 1 and lamp.n_dofs == 0
    assert claw.get_joint("grip").dofs_idx_local == [0]
    parts.build(n_envs=2)
    mj = parts.rigid_solver.model.mj
    names = [mj.body(b).name for b in range(1, mj.nbody)]
    assert names == [
        *("box/box_baselink", "crane/mast", "crane/hook", "crane/beam", "crane/tip"),
        *("claw/palm", "claw/finger", "lamp/sphere_baselink", "ball/sphere_baselink"),
    ]
    assert [entity.name for entity in parts.entities] == ["box", "lamp", "claw", "crane", "ball"]
    for entity in parts.entities:
        for link in entity.links:
            assert mj.body(f"{entity.name}/{link.name}").id == link.body
        for joint in entity.joints:
            assert mj.joint(f"{entity.name}/{joint.name}").dofadr[0] == joint.dof_start
            assert mj.joint(f"{entity.name}/{joint.name}").qposadr[0] == joint.q_start
    assert claw.base_link.parent_idx == crane.get_link("tip").idx and crane.n_equalities == 1 == len(crane.equalities)
    data, rng = mujoco.MjData(mj), np.random.default_rng(0)
    data.qpos[crane.q_start : crane.q_end] = rng.uniform(-1, 1, 3)
    mujoco.mj_kinematics(mj, data)
    tip, palm = crane.get_link("tip").body, claw.base_link.body
    turn = data.xmat[tip].reshape(3, 3)
    place = data.xpos[tip] + turn @ [0, -0.1, 0.2]  # the claw's own palm is 0.1 above its origin
    np.testing.assert_allclose(data.xpos[palm], place, atol=1e-14)
    quat = quat_mul(data.xquat[tip], quat_of_euler((90, 0, 0)))
    np.testing.assert_allclose(data.xquat[palm] * np.sign(data.xquat[palm] @ quat), quat, atol=1e-14)
    beam, lit = crane.get_link("beam").body, lamp.base_link.body
    np.testing.assert_allclose(
        data.xpos[lit], data.xpos[beam] + data.xmat[beam].reshape(3, 3) @ [0, 0.3, 0], atol=1e-14
    )


def test_what_cannot_be_attached_is_refused(parts):
    crane, claw, lamp = (parts.get_entity(name) for name in ("crane", "claw", "lamp"))
    claw.attach(crane, "tip")
    other = gs.Scene().add_entity(gs.morphs.Sphere())
    arm = gs.Scene().add_entity(gs.morphs.MJCF(file="arm_robot.xml"))
    ball = arm.scene.add_entity(gs.morphs.Sphere())
    for call, error, message in (
        (lambda: claw.attach(crane, "beam"), gs.SceneOrderError, "'claw' is attached to 'crane' already"),
        (lambda: lamp.attach(crane, "hook"), ValueError, "'hook' of entity 'crane' does not carry its last link 'tip'"),
        (lambda: ball.attach(arm, "hand"), ValueError, "'world_link' has the geoms of the file's world: make them"),
        (lambda: lamp.attach(crane, "tipp"), KeyError, "no link 'tipp'; nearest: tip"),
        (lambda: crane.attach(claw), ValueError, "'crane' carries 'claw'"),
        (lambda: lamp.attach(other), TypeError, "another entity of the scene"),
        (lambda: lamp.attach("crane"), TypeError, "another entity of the scene"),
        (lambda: parts.get_entity("ball").set_pos((0, 0, 1)), gs.SceneOrderError, r"call scene\.build\(\) first"),
    ):
        with pytest.raises(error, match=message):
            call()
    parts.build()
    with pytest.raises(ValueError, match="the first link of entity 'claw' is attached to 'crane/tip'"):
        claw.set_pos((0, 0, 1))
    with pytest.raises(ValueError, match="the first link of entity 'crane' has joints, and is not free"):
        crane.set_quat((1, 0, 0, 0))
    with pytest.raises(ValueError, match="built without a batch"):
        crane.get_qpos(envs_idx=[0])


def test_the_height_of_a_terrain_is_where_mujocos_rays_meet_it():
    scene, rng = gs.Scene(), np.random.default_rng(1)
    heights = rng.uniform(0, 40, (9, 7))
    morph = gs.morphs.Terrain(
        height_field=heights, horizontal_scale=0.5, vertical_scale=0.02, pos=(1, -2, 0.3), euler=(0, 0, 25)
    )
    ground = scene.add_entity(morph, name="ground")
    scene.build(n_envs=2)
    mj = scene.rigid_solver.model.mj
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    points = data.geom_xpos[0] + rng.uniform(-1, 1, (2, 60, 3)) * [2.3, 2.3, 0]
    found = ground.get_terrain_height(points[..., :2]).numpy()
    geom, above = np.zeros(1, np.int32), 0
    for env in range(2):
        for k, point in enumerate(points[env]):
            start = np.array([point[0], point[1], 5.0])
            distance = mujoco.mj_ray(mj, data, start, np.array([0.0, 0, -1]), None, 1, -1, geom, None)
            above += distance > 0
            if distance > 0:
                assert found[env, k] == pytest.approx(
                    5 - distance, abs=1e-6
                )  # MuJoCo keeps heights in single precision
            else:
                assert np.isnan(found[env, k])
    assert 60 < above < 120
    np.testing.assert_allclose(ground.terrain_hf, heights, atol=1e-4)
    assert ground.terrain_scale == (0.5, 0.02)
    x, y = points[1, 0, :2].tolist()
    for point in ((x, y), [x, y, 7.0], torch.tensor([x, y]), np.array([x, y])):
        one = ground.get_terrain_height(point)
        assert one.shape == (2,) and float(one[1]) == pytest.approx(float(found[1, 0]), abs=1e-6, nan_ok=True)
    with pytest.raises(ValueError, match=r"positions: expected shape \(n, k, 2\), \(k, 2\) or \(2,\), got \(4,\)"):
        ground.get_terrain_height((0, 0, 0, 0))
