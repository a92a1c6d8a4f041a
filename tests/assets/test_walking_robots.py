"""The walking robots have the published figures: masses, inertia, places, ranges, torques; and they can stand."""

import mujoco
import numpy as np
import pytest

from tumble import assets

# go2.urdf of unitreerobotics/unitree_rl_gym: mass, centre of mass, inertia xx yy zz xy xz yz (left front leg).
TRUNK = (6.921, (0.021112, 0, -0.005366), (0.02448, 0.098077, 0.107, 0.00012166, 0.0014849, -3.12e-05))
HIP = (0.678, (-0.0054, 0.00194, -0.000105), (0.00048, 0.000884, 0.000596, -3.01e-06, 1.11e-06, -1.42e-06))
THIGH = (1.152, (-0.00374, -0.0223, -0.0327), (0.00584, 0.0058, 0.00103, 8.72e-05, -0.000289, 0.000808))
CALF = (0.154, (0.00548, -0.000975, -0.115), (0.00108, 0.0011, 3.29e-05, 3.4e-07, 1.72e-05, 8.28e-06))
FOOT = (0.04, (0, 0, -0.213), (9.6e-06, 9.6e-06, 9.6e-06, 0, 0, 0))
HEADS = [(0.001, (0.285, 0, 0.01), (9.6e-06,) * 3 + (0,) * 3), (0.001, (0.293, 0, -0.06), (9.6e-06,) * 3 + (0,) * 3)]

# g1_12dof.urdf and g1_12dof.xml there, of the left leg: mass and place of each link in its parent.
BIPED = {
    "hip_pitch": (1.35, (0, 0.064452, -0.1027), (-2.5307, 2.8798), 88),
    "hip_roll": (1.52, (0, 0.052, -0.030465), (-0.5236, 2.9671), 139),
    "hip_yaw": (1.702, (0.025001, 0, -0.12412), (-2.7576, 2.7576), 88),
    "knee": (1.932, (-0.078273, 0.0021489, -0.17734), (-0.087267, 2.8798), 139),
    "ankle_pitch": (0.074, (0, -9.4445e-05, -0.30001), (-0.87267, 0.5236), 50),
    "ankle_roll": (0.608, (0, 0, -0.017558), (-0.2618, 0.2618), 50),
}
ARMATURE = [0.01018, 0.0251, 0.01018, 0.0251, 0.00722, 0.00722]
GAINS = [(100, 2), (100, 2), (100, 2), (150, 4), (40, 2), (40, 2)]
PELVIS = (17.7349, (0.0144905, 0.000151462, 0.144068), (0.552723, 0.454092, 0.211762))


def matrix(numbers) -> np.ndarray:
    """The 3 x 3 matrix of xx yy zz xy xz yz."""
    xx, yy, zz, xy, xz, yz = numbers
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def joined(*links) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it of links of one body, by Steiner's theorem."""
    mass = sum(link[0] for link in links)
    center = sum(link[0] * np.array(link[1]) for link in links) / mass
    inertia = np.zeros((3, 3))
    for m, place, numbers in links:
        arm = np.array(place) - center
        inertia += matrix(numbers) + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia


def mirrored(figures, front: bool, left: bool, lengthwise: bool):
    """Mass, centre and inertia of another leg's link: reflected sideways, and lengthwise if the link is."""
    mass, center, inertia = figures
    flip = np.diag([1 if front or not lengthwise else -1, 1 if left else -1, 1]).astype(float)
    return mass, flip @ center, flip @ inertia @ flip


def of_body(model, name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia in the body's frame, as MuJoCo compiled them."""
    body, frame = model.body(name), np.zeros(9)
    mujoco.mju_quat2Mat(frame, body.iquat)
    frame = frame.reshape(3, 3)
    return body.mass[0], body.ipos, frame @ np.diag(body.inertia) @ frame.T


def require_same(found, wanted) -> None:
    """The compiler diagonalises inertia: equal up to 1e-9 of its largest entry."""
    assert found[0] == pytest.approx(wanted[0], rel=1e-9)
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-9)
    np.testing.assert_allclose(found[2], wanted[2], atol=1e-7 * np.abs(wanted[2]).max())


@pytest.fixture(scope="module")
def quadruped() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(assets.find("quadruped.xml")))


@pytest.fixture(scope="module")
def biped() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(assets.find("biped.xml")))


def test_the_quadrupeds_masses_and_inertia(quadruped):
    require_same(of_body(quadruped, "trunk"), joined(TRUNK, *HEADS))
    for leg in ("FL", "FR", "RL", "RR"):
        where = {"front": leg[0] == "F", "left": leg[1] == "L"}
        require_same(of_body(quadruped, f"{leg}_hip"), mirrored(joined(HIP), **where, lengthwise=True))
        require_same(of_body(quadruped, f"{leg}_thigh"), mirrored(joined(THIGH), **where, lengthwise=False))
        require_same(of_body(quadruped, f"{leg}_calf"), mirrored(joined(CALF, FOOT), **where, lengthwise=False))
    assert quadruped.body_subtreemass[1] == pytest.approx(15.019)


def test_the_quadrupeds_places_ranges_and_torques(quadruped):
    for k, leg in enumerate(("FL", "FR", "RL", "RR")):
        front, left = 1 if leg[0] == "F" else -1, 1 if leg[1] == "L" else -1
        places = ((front * 0.1934, left * 0.0465, 0), (0, left * 0.0955, 0), (0, 0, -0.213))
        thigh = (-1.5708, 3.4907) if front == 1 else (-0.5236, 4.5379)
        ranges = ((-1.0472, 1.0472), thigh, (-2.7227, -0.83776))
        for j, name in enumerate(("hip", "thigh", "calf")):
            joint, actuator = quadruped.joint(f"{leg}_{name}"), quadruped.actuator(3 * k + j)
            np.testing.assert_allclose(quadruped.body(f"{leg}_{name}").pos, places[j])
            np.testing.assert_allclose(joint.range, ranges[j])
            np.testing.assert_array_equal(joint.axis, [1, 0, 0] if name == "hip" else [0, 1, 0])
            assert joint.armature[0] == pytest.approx(1.118e-4 * (81 if name == "calf" else 36), rel=2e-3)
            assert actuator.name == joint.name and actuator.trnid[0] == joint.id
            np.testing.assert_allclose(actuator.forcerange, np.array([-1, 1]) * (35.55 if name == "calf" else 23.7))
            np.testing.assert_allclose(actuator.ctrlrange, joint.range)
            assert (actuator.gainprm[0], *actuator.biasprm[1:3]) == (35, -35, -0.5)
        np.testing.assert_allclose(quadruped.site(f"{leg}_foot").pos, [-0.002, 0, -0.213])


def test_the_bipeds_masses_and_inertia(biped):
    mass, center, moments = PELVIS
    body = biped.body("pelvis")
    assert body.mass[0] == pytest.approx(mass)
    np.testing.assert_allclose(body.ipos, center)
    np.testing.assert_allclose(np.sort(body.inertia), np.sort(moments))
    for link, (mass, *_) in BIPED.items():
        left, right = (of_body(biped, f"{side}_{link}") for side in ("left", "right"))
        assert left[0] == right[0] == mass
        flip = np.diag([1.0, -1.0, 1.0])
        np.testing.assert_allclose(right[1], flip @ left[1], atol=1e-9)
        # The file of the robot has one product of inertia of the right knee with the other sign: 4.5e-5 of 1.1e-2.
        np.testing.assert_allclose(right[2], flip @ left[2] @ flip, atol=1e-2 * left[2].max())
    assert biped.body_subtreemass[1] == pytest.approx(32.107, abs=1e-3)


def test_the_bipeds_places_ranges_and_torques(biped):
    for side, sign in (("left", 1), ("right", -1)):
        for k, (link, (_, place, (low, high), torque)) in enumerate(BIPED.items()):
            joint, actuator = biped.joint(f"{side}_{link}"), biped.actuator(f"{side}_{link}")
            np.testing.assert_allclose(biped.body(f"{side}_{link}").pos, np.array(place) * [1, sign, 1])
            swapped = link == "hip_roll" and sign == -1
            np.testing.assert_allclose(joint.range, (-high, -low) if swapped else (low, high))
            assert joint.armature[0] == ARMATURE[k]
            np.testing.assert_allclose(actuator.forcerange, (-torque, torque))
            assert (actuator.gainprm[0], -actuator.biasprm[2]) == GAINS[k]
            np.testing.assert_allclose(actuator.ctrlrange, joint.range)
        angle = 2 * np.arctan2(*biped.body(f"{side}_hip_roll").quat[[2, 0]])
        assert angle == pytest.approx(-0.1749) == -2 * np.arctan2(*biped.body(f"{side}_knee").quat[[2, 0]])


def at_home(model) -> mujoco.MjData:
    """Data at the key frame, with its targets."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_forward(model, data)
    return data


def test_the_quadruped_stands_for_ten_seconds(quadruped):
    data = at_home(quadruped)
    feet = [quadruped.site(f"{leg}_foot").id for leg in ("FL", "FR", "RL", "RR")]
    assert abs(data.site_xpos[feet, 2] - 0.022).max() < 0.012  # those behind hang a little over the ground
    for _ in range(2000):
        mujoco.mj_step(quadruped, data)
        assert 0.26 < data.qpos[2] < 0.33 and data.xmat[1, 8] > 0.99
    assert abs(data.qvel).max() < 1e-3 and np.linalg.norm(data.qpos[:2]) < 0.02
    weight = 15.019 * 9.81
    assert data.sensordata[[quadruped.sensor(f"{leg}_touch").adr[0] for leg in ("FL", "FR", "RL", "RR")]].sum() == (
        pytest.approx(weight, rel=1e-3)
    )


def test_the_biped_stands_for_ten_seconds_if_its_ankles_balance(biped):
    """Ankles of 40 N m/rad are softer than 32 kg at 0.7 m need to stand by themselves: m g h is 200 N m/rad."""
    data, home = at_home(biped), biped.key_ctrl[0].copy()
    pitch = [biped.actuator(f"{side}_ankle_pitch").id for side in ("left", "right")]
    feet = [biped.site(f"{side}_foot").id for side in ("left", "right")]
    for _ in range(2000):
        ahead = data.subtree_com[1, 0] - data.site_xpos[feet, 0].mean()
        data.ctrl[:] = home
        data.ctrl[pitch] += 6 * ahead + 0.5 * data.qvel[0]
        mujoco.mj_step(biped, data)
        assert 0.74 < data.qpos[2] < 0.77 and data.xmat[1, 8] > 0.99
    assert abs(data.qvel).max() < 1e-2
