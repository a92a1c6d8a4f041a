"""A drone's propellers, against closed forms."""

import mujoco
import numpy as np
import pytest

import tumble.scene as gs
from tumble import assets
from tumble.physics.machine.runtime import init

MASS, KF, KM, STEPS = 0.03, 3e-10, 8e-12, 20
PROPELLERS = "".join(
    f"""<link name="prop{k}_link"/>
    <joint name="prop{k}" type="fixed"><parent link="body"/><child link="prop{k}_link"/>
    <origin xyz="{0.03 * x} {0.03 * y} 0"/></joint>"""
    for k, (x, y) in enumerate(((1, -1), (-1, -1), (-1, 1), (1, 1)))
)
FILE = f"""<robot name="drone"><properties kf="{KF}" km="{KM}"/><link name="body"><inertial><mass value="{MASS}"/>
<inertia ixx="1e-5" iyy="1e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>{PROPELLERS}</robot>"""


@pytest.fixture(scope="module")
def drone(tmp_path_factory):
    init(precision="64")
    file = tmp_path_factory.mktemp("drone") / "drone.urdf"
    file.write_text(FILE)
    scene = gs.Scene()
    drone = scene.add_entity(gs.morphs.Drone(file=file, pos=(0, 0, 1)))
    scene.build(n_envs=3)
    return drone


def fly(drone, rpm):
    drone.scene.reset()
    for _ in range(STEPS):
        drone.set_propellers_rpm(rpm)
        drone.scene.step()
    return drone.get_qpos(), drone.get_dofs_velocity()


def test_propellers_lift_and_turn(drone):
    """One environment hovers, one rises, and in one the spins are uneven."""
    hover = np.sqrt(MASS * 9.81 / 4 / KF)
    uneven = hover * np.sqrt([1.2, 0.8, 1.2, 0.8])
    qpos, qvel = fly(drone, [[hover] * 4, [hover * np.sqrt(2)] * 4, uneven.tolist()])
    time = STEPS * drone.scene.dt
    assert qvel[0].abs().max() < 1e-12 and float(qpos[0, 2]) == pytest.approx(1, abs=1e-12)
    assert float(qvel[1, 2]) == pytest.approx(9.81 * time, rel=1e-9)
    spin = KM * (-(uneven[0] ** 2) + uneven[1] ** 2 - uneven[2] ** 2 + uneven[3] ** 2) / 2e-5
    assert float(qvel[2, 5]) == pytest.approx(spin * time, rel=1e-6)
    assert (drone.KF, drone.KM, drone.n_propellers, drone.model) == (KF, KM, 4, "CF2X")
    assert drone.propellers_idx == [drone.get_link(f"prop{k}_link").idx for k in range(4)]


def test_propellers_stop_where_nothing_is_asked(drone):
    fly(drone, [20000.0] * 4)
    before = drone.get_dofs_velocity()
    drone.scene.step()
    assert (drone.get_dofs_velocity() - before)[:, 2].tolist() == pytest.approx([-9.81 * drone.scene.dt] * 3)


def test_the_last_speeds_before_a_step_count(drone):
    once, _ = fly(drone, [20000.0] * 4)
    drone.scene.reset()
    for k in range(STEPS):
        drone.set_propellers_rpm([30000.0] * 4)
        if k == 0:
            drone.scene.reset(envs_idx=[1])  # what was asked for there is gone
        drone.set_propellers_rpm([20000.0] * 4)
        drone.scene.step()
    assert (drone.get_qpos() - once).abs().max() < 1e-12


def test_what_acts_for_a_step_does_so_in_a_state_too(drone, tmp_path):
    """A push that was asked for when the state was taken ends with the step, as it did the first time."""
    scene = drone.scene
    scene.reset()
    drone.set_propellers_rpm([20000.0] * 4)
    drone.base_link.apply_external_force((0.1, 0, 0), envs_idx=[1])
    kept, one = scene.get_state(), scene.get_state([1])
    scene.save_checkpoint(tmp_path / "kept")
    scene.step()
    scene.step()
    after = drone.get_qpos()
    assert after[1, 0] > 0 == after[0, 0]
    for back in (lambda: scene.reset(kept), lambda: scene.load_checkpoint(tmp_path / "kept")):
        back()
        scene.step()
        scene.step()
        assert drone.get_qpos().tolist() == after.tolist()
    scene.reset(one, envs_idx=[0])
    scene.step()
    scene.step()
    assert drone.get_qpos()[0].tolist() == after[1].tolist()


def test_impossible_speeds_are_refused(drone):
    with pytest.raises(ValueError, match="a speed is below 0"):
        drone.set_propellers_rpm([-1.0] * 4)
    with pytest.raises(ValueError, match=r"propellers_rpm: expected shape \(3, 4\) or \(4,\)"):
        drone.set_propellers_rpm([1.0] * 3)


def test_our_own_drone_is_pushed_as_by_its_motors():
    """From its MJCF file: the same motion as MuJoCo's with the thrusts as controls, also askew."""
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.005))
    drone = scene.add_entity(gs.morphs.Drone(file="drone.xml", pos=(0, 0, 2)), name="drone")
    scene.build(n_envs=2)
    assert [link.name for link in drone.links] == ["drone"] and drone.get_pos().tolist() == [[0, 0, 2]] * 2
    assert (drone.n_propellers, drone.propellers_spin) == (4, (-1, 1, -1, 1)) and pytest.approx(3.16e-10) == drone.KF
    assert pytest.approx(7.94e-12, rel=1e-4) == drone.KM and drone.propellers_idx == [0] * 4
    model = mujoco.MjModel.from_xml_path(str(assets.find("drone.xml")))
    data = mujoco.MjData(model)
    start = np.array([0, 0, 2, 0.9, 0.1, 0.3, 0.2])
    start[3:] /= np.linalg.norm(start[3:])
    data.qpos[:] = start
    drone.set_qpos(start)
    rpm = np.array([14000.0, 15000.0, 14500.0, 13000.0])
    data.ctrl[:] = drone.KF * rpm**2
    for _ in range(STEPS):
        drone.set_propellers_rpm(rpm)
        scene.step()
        mujoco.mj_step(model, data)
    assert np.allclose(drone.get_qpos()[1], data.qpos, rtol=0, atol=1e-11)
    assert np.allclose(drone.get_dofs_velocity()[1], data.qvel, rtol=0, atol=1e-9)


def test_a_file_without_motors_at_sites_is_no_drone():
    with pytest.raises(ValueError, match=r"ant\.xml: a drone has motors at sites of one tree"):
        gs.Scene().add_entity(gs.morphs.Drone(file="ant.xml"))
