"""Links and joints: which become bodies, how they move, what limits, followers and actuators become of them."""

import mujoco
import numpy as np
import pytest

from tumble.physics.files.urdf import UrdfError, UrdfWarning, link_frame, urdf_spec, velocity_limits
from tumble.physics.model.model import Model

from .test_broken_files import INERTIAL
from .test_motion import affine, whole_inertia

ROUNDING = 1e-12
"""Poses are products of a few rotations."""
BARE = '<link name="{}"/>'
LINK = f'<link name="{{}}">{INERTIAL}</link>'
pytestmark = pytest.mark.filterwarnings("ignore::tumble.physics.files.urdf.UrdfWarning")


def joint(kind: str, parent: str, child: str, inside: str = "", name: str = "") -> str:
    return (
        f'<joint name="{name or f"{parent}_{child}"}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*lines: str) -> str:
    return "\n".join(['<robot name="r">', *lines, "</robot>"])


def names(mjm: mujoco.MjModel, kind: str) -> list[str]:
    return [
        getattr(mjm, kind)(i).name
        for i in range(getattr(mjm, {"body": "nbody", "site": "nsite", "joint": "njnt"}[kind]))
    ]


CAMERA = robot(
    LINK.format("base"),
    LINK.format("arm"),
    BARE.format("mount"),
    BARE.format("camera"),
    joint("revolute", "base", "arm", '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="0" velocity="0"/>'),
    joint("fixed", "arm", "mount", '<origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>'),
    joint("fixed", "mount", "camera", '<origin xyz="0 0.1 0" rpy="0 0.4 1"/>'),
)


def test_frames_of_fused_links_are_sites_of_their_names():
    mjm = urdf_spec(CAMERA).compile()
    assert names(mjm, "body") == ["world", "base", "arm"] and names(mjm, "site") == ["mount", "camera"]
    assert link_frame(mjm, "arm") == ("body", 2) and link_frame(mjm, "camera") == ("site", 1)
    with pytest.raises(KeyError, match="no link is named 'camra'; did you mean 'camera'"):
        link_frame(mjm, "camra")
    expected = affine([0.1, 0, 0.2], [0.3, 0, 0]) @ affine([0, 0.1, 0], [0, 0.4, 1])
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    assert np.abs(data.site("camera").xpos - expected[:3, 3]).max() < ROUNDING
    assert np.abs(data.site("camera").xmat.reshape(3, 3) - expected[:3, :3]).max() < ROUNDING


def test_links_are_kept_as_bodies_on_request():
    mjm = urdf_spec(CAMERA, links_to_keep=["camera"]).compile()
    assert names(mjm, "body") == ["world", "base", "arm", "camera"] and names(mjm, "site") == ["mount"]
    mjm = urdf_spec(CAMERA, merge_fixed_links=False).compile()
    assert names(mjm, "body") == ["world", "base", "arm", "mount", "camera"] and not mjm.nsite


def test_bases_float_unless_they_are_fixed_have_no_mass_or_are_the_world():
    floating = urdf_spec(CAMERA).compile()
    assert floating.nq == 8 and floating.joint(0).name == "base_free_joint"
    assert urdf_spec(CAMERA, fixed=True).compile().nq == 1
    bare = CAMERA.replace(LINK.format("base"), BARE.format("base"))
    with pytest.warns(UrdfWarning, match="line 2: the root 'base' has no mass: it is fixed to the world"):
        assert urdf_spec(bare).compile().nq == 1
    world = robot(*CAMERA.split("\n")[1:-1], BARE.format("world"), joint("fixed", "world", "base"))
    mjm = urdf_spec(world).compile()
    assert mjm.nq == 1 and names(mjm, "body") == ["world", "base", "arm"]
    shaped = world.replace(
        BARE.format("world"), '<link name="world"><collision><geometry><plane/></geometry></collision></link>'
    )
    mjm = urdf_spec(shaped).compile()
    assert names(mjm, "body") == ["world", "world_link", "arm"] and mjm.geom_bodyid[0] == 1


def test_a_moving_link_without_mass_takes_that_of_links_fixed_to_it():
    text = robot(
        LINK.format("base"),
        BARE.format("flange"),
        LINK.format("tool"),
        joint("continuous", "base", "flange"),
        joint("fixed", "flange", "tool", '<origin xyz="1 0 0"/>'),
    )
    for keep in ((), ("tool",)):
        mjm = urdf_spec(text, fixed=True, links_to_keep=keep).compile()
        data, full = mujoco.MjData(mjm), np.zeros((1, 1))
        mujoco.mj_forward(mjm, data)
        mujoco.mj_fullM(mjm, data, full)
        assert full[0, 0] == pytest.approx(1.0)  # about x, through the tool


def test_frames_between_two_joints_are_folded():
    """A link without mass that has one moving child: its joint becomes the child's, and moves as before.

    The judge is the same robot with a little mass there.
    """
    light = '<inertial><mass value="1e-9"/><inertia ixx="1e-12" iyy="1e-12" izz="1e-12"/></inertial>'
    text = robot(
        LINK.format("base"),
        BARE.format("yaw"),
        BARE.format("pitch"),
        LINK.format("head"),
        joint("continuous", "base", "yaw", '<origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>'),
        joint("prismatic", "yaw", "pitch", '<origin xyz="0 0.2 0" rpy="1 0 0"/><axis xyz="0 1 1"/>'),
        joint("continuous", "pitch", "head", '<origin xyz="0.3 0 0" rpy="0 0.5 0"/><axis xyz="1 1 0"/>'),
    )
    with pytest.warns(UrdfWarning, match="line 4: 'pitch' without mass: body 'head' has the joint instead"):
        mine = urdf_spec(text, fixed=True).compile()
    heavy = text
    for name in ("yaw", "pitch"):
        heavy = heavy.replace(BARE.format(name), f'<link name="{name}">{light}</link>')
    other = urdf_spec(heavy, fixed=True).compile()
    assert (mine.nbody, other.nbody) == (3, 5) and names(mine, "joint") == names(other, "joint")
    rng = np.random.default_rng(0)
    for _ in range(5):
        qpos = rng.normal(size=3)
        places, matrices = [], []
        for mjm in (mine, other):
            data, full = mujoco.MjData(mjm), np.zeros((3, 3))
            data.qpos[:] = qpos
            mujoco.mj_forward(mjm, data)
            mujoco.mj_fullM(mjm, data, full)
            places.append(np.concatenate([data.body("head").xpos, data.body("head").xmat]))
            matrices.append(full)
        assert np.abs(places[0] - places[1]).max() < ROUNDING
        assert np.abs(matrices[0] - matrices[1]).max() < 1e-7  # of the mass that the judge has there


def test_a_moving_link_without_mass_gets_the_least_that_is_asked_for():
    text = robot(LINK.format("base"), BARE.format("finger"), joint("continuous", "base", "finger"))
    with pytest.raises(UrdfError, match=r"line 3: link 'finger' moves by joint .*least_mass"):
        urdf_spec(text)
    mjm = urdf_spec(text, least_mass=0.01).compile()
    assert mjm.body("finger").mass[0] == 0.01 and (mjm.body("finger").inertia > 0).all()


def test_a_link_without_mass_that_carries_some_gets_a_little():
    """It has a shape, so that it is not folded; the judge is the same robot folded, and a millionth is added."""
    ball = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    bare = robot(
        LINK.format("base"),
        BARE.format("yaw"),
        LINK.format("head"),
        joint("continuous", "base", "yaw", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
        joint("continuous", "yaw", "head", '<origin xyz="0.3 0.1 0"/><axis xyz="1 1 0"/>'),
    )
    shaped = bare.replace(BARE.format("yaw"), f'<link name="yaw">{ball}</link>')
    with pytest.warns(UrdfWarning, match="line 3: link 'yaw' has no mass, and carries some: it gets 1e-06 kg"):
        mine = urdf_spec(shaped, fixed=True).compile()
    assert "yaw" in names(mine, "body")
    full = []
    for mjm in (mine, urdf_spec(bare, fixed=True).compile()):
        data, matrix = mujoco.MjData(mjm), np.zeros((2, 2))
        data.qpos[:] = 0.3, 0.5
        mujoco.mj_forward(mjm, data)
        mujoco.mj_fullM(mjm, data, matrix)
        full.append(matrix)
    assert np.abs(full[0] - full[1]).max() < 1e-6


def test_thin_rods_and_points():
    """No moment about one axis: a millionth of the largest; about none: that of a ball of water."""
    rod = robot(LINK.format("base").replace('izz="1"', 'izz="0"'))
    with pytest.warns(UrdfWarning, match="'base' has no inertia about one axis"):
        assert np.allclose(urdf_spec(rod).compile().body_inertia[1], [1, 1, 1e-6], atol=1.1e-6, rtol=0)
    point = robot('<link name="base"><inertial><mass value="2"/></inertial></link>')
    with pytest.warns(UrdfWarning, match="2 kg and no inertia: it gets that of a ball of water"):
        ball = 0.4 * 2 * (2 / 1000 * 3 / 4 / np.pi) ** (2 / 3)
        assert np.allclose(urdf_spec(point).compile().body_inertia[1], ball)


def test_an_impossible_inertia_is_balanced_on_request_as_mujoco_does():
    text = robot(LINK.format("base").replace('izz="1"', 'izz="4"'))
    mine = urdf_spec(text, balance_inertia=True).compile()
    asked = text.replace(">", '><mujoco><compiler balanceinertia="true"/></mujoco>', 1)
    other = mujoco.MjModel.from_xml_string(
        asked.replace("</robot>", LINK.format("b") + joint("fixed", "base", "b") + "</robot>").replace(
            "balanceinertia", 'fusestatic="false" balanceinertia'
        )
    )
    assert np.allclose(whole_inertia(mine, 1), whole_inertia(other, other.body("base").id), rtol=ROUNDING)
    assert np.allclose(mine.body_inertia[1], 2.0) and np.allclose(urdf_spec(asked).compile().body_inertia[1], 2.0)
    plate = robot(LINK.format("base").replace('izz="1"', 'izz="2.0000001"'))  # a plate, to seven digits
    assert np.allclose(np.sort(urdf_spec(plate).compile().body_inertia[1]), [1, 1, 2], rtol=1e-6)


def test_links_without_inertial_get_the_mass_of_their_collision_shapes():
    box = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'
    seen = box.replace("collision", "visual")
    mjm = urdf_spec(robot(f'<link name="a">{box}{seen}</link>'), density=500.0).compile()
    assert mjm.body_mass[1] == pytest.approx(500 * 0.006)
    solid = 3.0 / 12 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    assert np.allclose(np.diag(whole_inertia(mjm, 1)), solid)


def test_planar_floating_and_spherical_joints():
    """Planar ones as MuJoCo's reader makes them; a floating link is the world's child, where its parent leaves it."""
    planar = robot(
        LINK.format("a"), LINK.format("b"), joint("planar", "a", "b", '<origin rpy="0.3 0 1"/><axis xyz="1 2 3"/>', "p")
    )
    mine = urdf_spec(planar, fixed=True).compile()
    other = mujoco.MjModel.from_xml_string(planar)
    assert names(mine, "joint") == ["p_TX", "p_TY", "p_RZ"] == names(other, "joint")
    assert np.abs(mine.jnt_axis - other.jnt_axis).max() < ROUNDING
    text = robot(
        LINK.format("a"),
        LINK.format("b"),
        LINK.format("c"),
        LINK.format("d"),
        joint("fixed", "a", "b", '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'),
        joint("floating", "b", "c", '<origin xyz="1 0 0"/>', "free"),
        joint("spherical", "c", "d"),
    )
    mjm = urdf_spec(text, fixed=True).compile()
    assert mjm.body("c").parentid[0] == 0 and mjm.joint("free").qposadr[0] == 0 and mjm.nq == 11
    assert np.allclose(mjm.qpos0[:3], [1, 1, 0])


LIMITED = robot(
    LINK.format("a"),
    *(LINK.format(name) for name in "bcde"),
    joint(
        "revolute",
        "a",
        "b",
        '<limit lower="-1" upper="2" effort="5" velocity="3"/><dynamics damping="0.3" friction="0.1"/>',
        "hinge",
    ),
    joint("prismatic", "b", "c", '<limit lower="0" upper="0.5" effort="7" velocity="0.2"/>', "slide"),
    joint(
        "continuous",
        "c",
        "d",
        '<limit effort="0" velocity="0"/><mimic joint="hinge" multiplier="2" offset="0.1"/>',
        "m",
    ),
    joint("continuous", "d", "e", '<mimic joint="m" multiplier="-3" offset="0.5"/>', "n"),
)


def test_limits_damping_and_friction_are_the_files():
    mjm = urdf_spec(LIMITED, fixed=True).compile()
    assert names(mjm, "joint") == ["hinge", "slide", "m", "n"]
    assert mjm.jnt_limited.tolist() == [1, 1, 0, 0]
    assert mjm.jnt_range[:2].tolist() == [[-1, 2], [0, 0.5]]
    assert mjm.jnt_actfrclimited.tolist() == [1, 1, 0, 0] and mjm.jnt_actfrcrange[:2].tolist() == [[-5, 5], [-7, 7]]
    assert mjm.dof_damping.tolist() == [0.3, 0, 0, 0] and mjm.dof_frictionloss.tolist() == [0.1, 0, 0, 0]
    assert velocity_limits(mjm).tolist() == [3, 0.2, np.inf, np.inf]
    assert (velocity_limits(mujoco.MjModel.from_xml_string("<mujoco/>")) == []).all()
    assert urdf_spec(LIMITED, default_armature=0.1).compile().dof_armature.tolist() == [0] * 6 + [0.1] * 4


def test_limits_that_are_none_are_noted():
    text = robot(
        *(LINK.format(name) for name in "abcd"),
        joint("revolute", "a", "b"),
        joint("revolute", "b", "c", '<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
        joint("prismatic", "c", "d", '<limit lower="-inf" upper="2" effort="inf" velocity="1e308"/>'),
    )
    with pytest.warns(UrdfWarning, match="line 6: joint 'a_b' is revolute and has no <limit>.*line 7: .* read as none"):
        mjm = urdf_spec(text, fixed=True).compile()
    assert mjm.jnt_limited.tolist() == [0, 0, 1] and mjm.jnt_range[2].tolist() == [-1e9, 2]
    assert not mjm.jnt_actfrclimited[2] and velocity_limits(mjm)[2] == np.inf


def test_followers_keep_to_what_they_follow():
    """A chain: m = 0.1 + 2 hinge, n = 0.5 - 3 m; each is held by the joint at the chain's end."""
    mjm = urdf_spec(LIMITED, fixed=True).compile()
    assert [mjm.equality(i).name for i in range(mjm.neq)] == ["m_mimic", "n_mimic"]
    assert (mjm.eq_obj2id == mjm.joint("hinge").id).all()
    hinge, _, m, n = mjm.qpos0
    assert [hinge, m, n] == pytest.approx([0.0, 0.1, 0.5 - 3 * 0.1])
    assert np.allclose(mjm.eq_data[:, :2], [[0.0, 2.0], [0.0, -6.0]])
    mjm.opt.gravity[:], mjm.dof_damping[:] = 0.0, 5.0
    data = mujoco.MjData(mjm)
    data.qfrc_applied[0] = 0.5
    mujoco.mj_step(mjm, data, 3000)
    hinge, _, m, n = data.qpos
    assert (
        abs(hinge) > 0.01
        and m == pytest.approx(0.1 + 2 * hinge, abs=0.01)
        and n == pytest.approx(0.5 - 3 * m, abs=0.03)
    )


ELSEWHERE = robot(
    *(LINK.format(name) for name in "abcdefg"),
    joint(
        "revolute",
        "a",
        "b",
        '<origin xyz="1 2 3" rpy="1 2 3"/><axis xyz="1 1 0"/><limit lower="-2.7" upper="-0.8"/>',
        "knee",
    ),
    joint("prismatic", "b", "c", '<axis xyz="0 1 1"/><limit lower="0.2" upper="inf"/>', "slide"),
    joint("continuous", "c", "d", '<origin xyz="0 1 0"/><axis xyz="0 0 1"/>', "free"),
    joint("revolute", "d", "e", '<limit lower="1" upper="2"/><mimic joint="free" multiplier="-2" offset="0.5"/>', "f"),
    joint("prismatic", "e", "f", '<limit lower="-9" upper="9"/><mimic joint="f" multiplier="0.1" offset="0.7"/>', "g"),
    joint("continuous", "f", "g", '<mimic joint="knee" multiplier="0.5" offset="1"/>', "h"),
)
"""Limits that leave out 0, of a joint, of one without an end, and of a follower; a chain of followers."""


def test_joints_begin_within_limits_and_where_they_follow():
    """The least and largest positions that all obey are known; poses are those of MuJoCo's reader of URDF."""
    text = ELSEWHERE.replace("<limit ", '<limit effort="9" velocity="9" ')
    mine, other = urdf_spec(text, fixed=True).compile(), mujoco.MjModel.from_xml_string(text)
    start = {mine.joint(j).name: mine.qpos0[j] for j in range(mine.njnt)}
    free = (-0.75 - 0.25) / 2  # f from 1 to 2
    wanted = {"knee": -1.75, "slide": 0.2, "free": free, "f": 1.5, "g": 0.85, "h": 0.125}
    assert start == pytest.approx(wanted)
    a, b = mujoco.MjData(mine), mujoco.MjData(other)
    for trial in range(4):
        for j in range(mine.njnt):
            value = a.qpos[j] = np.sin(trial + j) if trial else mine.qpos0[j]
            b.joint(mine.joint(j).name).qpos[:] = value
        mujoco.mj_kinematics(mine, a), mujoco.mj_kinematics(other, b)
        for name in "bcdefg":
            assert np.allclose(a.body(name).xpos, b.body(name).xpos, atol=1e-12), (trial, name)
            assert np.allclose(a.body(name).xmat, b.body(name).xmat, atol=1e-12), (trial, name)
    mine.opt.gravity[:] = 0.0
    mujoco.mj_resetData(mine, a)
    mujoco.mj_step(mine, a, 50)
    assert np.abs(a.qvel).max() < 1e-6  # nothing is thrown


def test_actuators_on_request():
    assert urdf_spec(LIMITED).compile().nu == 0
    motors = urdf_spec(LIMITED, actuators="motor").compile()
    assert [motors.actuator(i).name for i in range(motors.nu)] == ["hinge", "slide"]  # followers have none
    assert motors.actuator_ctrlrange.tolist() == motors.actuator_forcerange.tolist() == [[-5, 5], [-7, 7]]
    servos = urdf_spec(LIMITED, actuators="position", kp=50.0, kv=2.0).compile()
    assert servos.actuator_gainprm[0, 0] == 50 and servos.actuator_biasprm[0, :3].tolist() == [0, -50, -2]
    assert servos.actuator_ctrlrange.tolist() == servos.jnt_range[1:3].tolist()
    some = urdf_spec(LIMITED, actuators={"m": "velocity", "hinge": "motor"}).compile()
    assert [some.actuator(i).name for i in range(some.nu)] == ["hinge", "m"] and not some.actuator_ctrllimited[1]
    with pytest.raises(ValueError, match="'hing' is no joint; did you mean 'hinge'"):
        urdf_spec(LIMITED, actuators={"hing": "motor"})


def test_robots_that_are_attached_keep_their_numbers():
    """Ranges in radians, limits, followers, actuators and frames, in a parent with MuJoCo's own defaults."""
    alone = urdf_spec(LIMITED, fixed=True, actuators="position").compile()
    scene = mujoco.MjSpec()
    for number in range(2):
        spec = urdf_spec(LIMITED, fixed=True, actuators="position")
        spec.modelname = f"robot {number}"
        scene.attach(spec, prefix=f"{number}/", frame=scene.worldbody.add_frame(pos=[0, number, 0]))
    both = scene.compile()
    for field in ("jnt_range", "jnt_limited", "jnt_actfrcrange", "eq_data", "actuator_ctrlrange", "dof_damping"):
        mine, other = getattr(both, field), getattr(alone, field)
        assert (mine == np.concatenate([other, other])).all() and len(other), field
    assert (velocity_limits(both) == np.tile(velocity_limits(alone), 2)).all()
    assert both.joint("1/hinge").id == 4 and both.actuator("1/slide").id == 3 and both.equality("1/n_mimic").id == 3
    scene = mujoco.MjSpec()
    scene.attach(urdf_spec(CAMERA), prefix="r/", frame=scene.worldbody.add_frame())
    assert link_frame(scene.compile(), "r/camera") == ("site", 1)


def test_a_robot_of_another_size():
    """Lengths twice, masses 8 times, moments 32 times; a slide goes twice as far, and a follower of it as well."""
    box = '<collision><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>'
    text = LIMITED.replace('<link name="b">', f'<link name="b">{box}').replace('joint="hinge"', 'joint="slide"')
    small, large = (urdf_spec(text, fixed=True, scale=scale).compile() for scale in (1.0, 2.0))
    assert np.allclose(large.geom_size, 2 * small.geom_size) and np.allclose(large.geom_pos, 2 * small.geom_pos)
    assert np.allclose(large.body_mass, 8 * small.body_mass) and np.allclose(
        large.body_inertia, 32 * small.body_inertia
    )
    assert large.jnt_range.tolist() == [[-1, 2], [0, 1], [0, 0], [0, 0]]
    assert np.allclose(large.eq_data[:, 0], small.eq_data[:, 0])
    assert np.allclose(large.eq_data[:, 1], small.eq_data[:, 1] / 2)


def test_a_base_that_stands_still_does_not_touch_its_neighbours():
    """MuJoCo lets static bodies touch their children; of moving ones it sees to it itself."""
    ball = '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    text = robot(
        *(f'<link name="{name}">{INERTIAL}{ball}</link>' for name in "abc"),
        joint("continuous", "a", "b", '<origin xyz="0.1 0 0"/>'),
        joint("continuous", "b", "c", '<origin xyz="2 0 0"/>'),
    )
    for fixed in (True, False):
        mjm = urdf_spec(text, fixed=fixed).compile()
        data = mujoco.MjData(mjm)
        mujoco.mj_forward(mjm, data)
        assert data.ncon == 0 and mjm.nexclude == fixed


@pytest.mark.slow
def test_tumble_moves_urdf_and_mjcf_alike():
    """Both models in Tumble's own solver, in double precision."""
    from tumble.physics import RigidSolver

    from ..starts import run_with
    from .two_ways import mjcf, random_robot, urdf

    run_with("64")
    two = random_robot(np.random.default_rng(8), links=6, floats=True)
    ends = []
    for model in (Model.from_urdf(urdf(two), merge_fixed_links=False), Model.from_mjcf(mjcf(two))):
        solver = RigidSolver(model, num_envs=2)
        solver.step(100)
        ends.append(solver.get("qpos").numpy())
    assert np.abs(ends[0]).max() > 0.1 and np.abs(ends[0] - ends[1]).max() < 1e-10
