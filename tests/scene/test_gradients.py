"""Gradients of scenes: through setters, steps, controls and getters, against differences of scenes without them."""

import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init

from ..page_programs import blocks, execute

FILE = """<mujoco><worldbody><body name="base"><geom type="box" size=".05 .05 .05" contype="0" conaffinity="0"/>
<body name="upper" pos="0 0 .1"><joint name="turn" axis="0 0 1" damping="0.2"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
<body name="lower" pos=".3 0 0"><joint name="bend" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 .2 0 -.05" size=".03"/></body></body></body></worldbody></mujoco>"""
COUNT = 3
DISTANCE = 1e-6
"""Of the differences: contacts do not change within it, and rounding is smaller than what is compared."""
TOLERANCE = 1e-6
"""Of a derivative along a direction and 1: rounding of the differences, in stiff contacts."""
NUMBERS = {
    "pos": (0.4, 0.09, 0.0495),
    "quat": (1.0, 0.0, 0.0, 0.1),
    "velocity": (0.1, -0.2, 0.0),
    "qpos": (0.0, 0.1),
    "position": (0.05,),
    "force": (2.0,),
    "speed": (2.0,),
    "place": (0.1,),
    "wrench": (1.0, 0.5, 0.2),
}
"""What setters are given in the mean: the arm turns against the box, which slides on the ground."""


@pytest.fixture(scope="module", autouse=True)
def double():
    init(precision="64")
    yield
    gs.destroy()


def made(folder, requires_grad):
    """Return a scene with a box on the ground and an arm beside it, and both entities."""
    (folder / "arm.xml").write_text(FILE)
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.008, substeps=2, requires_grad=requires_grad))
    scene.add_entity(gs.morphs.Plane())
    box = scene.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0.4, 0.08, 0.05)))
    arm = scene.add_entity(gs.morphs.MJCF(file=str(folder / "arm.xml")))
    scene.build(n_envs=COUNT)
    return scene, box, arm


def drawn():
    """Numbers for setters of each environment, by name."""
    rng = np.random.default_rng(2)
    return {
        name: torch.from_numpy(mean + 0.003 * rng.standard_normal((COUNT, len(mean)))) for name, mean in NUMBERS.items()
    }


def moved(scene, box, arm, given):
    """Give all that is given to setters, take steps, and return what getters return."""
    scene.reset()
    arm.set_qpos(given["qpos"])
    arm.set_dofs_position(given["position"][1:], [1], envs_idx=[1, 2])
    arm.set_dofs_velocity(given["speed"], [0])
    box.set_pos(given["pos"])
    box.set_quat(given["quat"])
    box.set_dofs_velocity(given["velocity"], [0, 1, 5])
    arm.control_dofs_force(given["force"], [0])
    scene.step()
    box.apply_links_external_wrench(given["wrench"][:, None], links_idx_local=[0])
    scene.step()
    arm.set_dofs_kv(0.3)
    arm.control_dofs_velocity(given["speed"][2], [1], envs_idx=2)
    scene.step()
    arm.set_dofs_kp(5.0)
    arm.control_dofs_position(given["place"][:2], [1], envs_idx=slice(0, 2))
    for _ in range(3):
        scene.step()
    return {
        "place of the box": box.get_pos(),
        "turn of the box": box.get_quat(),
        "velocity of the box": box.get_vel([2, 0]),
        "spin of the box": box.get_ang(),
        "coordinates": arm.get_qpos(),
        "angles": box.get_dofs_position(),
        "speeds": box.get_dofs_velocity(),
        "links": arm.get_links_pos(),
        "centres": arm.get_links_pos(ref="link_com"),
        "turns": arm.get_links_quat(envs_idx=1),
        "velocities": arm.get_links_vel(),
        "spins": arm.get_links_ang(),
        "accelerations": arm.get_links_acc(),
        "of dofs": box.get_dofs_acc(),
        "forces": box.get_dofs_force(),
        "of controls": arm.get_dofs_control_force(),
        "masses": arm.get_mass_mat(),
        "energy": arm.get_kinetic_energy(),
        "a geom": arm.geoms[-1].get_pos(),
        "a tensor": scene.rigid_solver.links_state.pos.to_torch(),
    }


@pytest.fixture(scope="module")
def case(tmp_path_factory, double):
    """A scene with gradients, tensors that it was given, its results, and a function of a plain scene's results."""
    folder = tmp_path_factory.mktemp("arm")
    given = {name: numbers.requires_grad_() for name, numbers in drawn().items()}
    scene = made(folder, True)
    plain = made(folder, False)

    def values(change):
        shifted = {name: (x + change[name] if name in change else x).detach() for name, x in given.items()}
        for kind in (plain[2].set_dofs_kp, plain[2].set_dofs_kv):
            kind(0.0)  # they outlast a reset
        return moved(*plain, shifted)

    return scene, given, moved(*scene, given), values


def test_numbers_are_those_of_a_plain_scene_to_the_last_bit(case):
    _, _, found, values = case
    for name, numbers in values({}).items():
        assert found[name].requires_grad and torch.equal(found[name].detach(), numbers), name
    assert case[0][1].get_contacts(with_entity=case[0][2])["valid_mask"].any()  # both entities touch


@pytest.mark.parametrize("name", list(NUMBERS))
def test_gradients_are_those_of_differences(case, name):
    """Of the results of every getter, weighted at random, along a direction of what a setter was given."""
    _, given, found, values = case
    rng, largest = torch.Generator().manual_seed(len(name)), 0.0
    along = torch.randn(given[name].shape, generator=rng, dtype=torch.float64)
    ends = {at: values({name: at * DISTANCE * along}) for at in (1, -1, 2, -2)}
    for read, numbers in found.items():
        weight = torch.randn(numbers.shape, generator=rng, dtype=torch.float64)
        (gradient,) = torch.autograd.grad((weight * numbers).sum(), given[name], retain_graph=True)
        at = {side: float((weight * end[read]).sum()) for side, end in ends.items()}
        quotient = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * DISTANCE)
        derivative = float((gradient * along).sum())
        assert abs(derivative - quotient) < TOLERANCE * (1.0 + abs(quotient)), read
        largest = max(largest, abs(quotient))
    assert largest > 0.1


def test_a_reset_cuts_the_graph(case):
    (scene, box, arm), *_ = case
    scene.reset()
    assert not box.get_pos().requires_grad and not arm.get_links_pos().requires_grad
    speed = torch.ones(COUNT, 1, dtype=torch.float64, requires_grad=True)
    arm.set_dofs_velocity(speed, [0])
    scene.step()
    scene.reset(envs_idx=[1])
    scene.step()
    scene.backward(arm.get_qpos().sum())
    assert speed.grad[[0, 2]].all() and not speed.grad[1].any()
    state = scene.get_state()
    assert not any(numbers.requires_grad for numbers in state.values())
    scene.reset(state)
    with pytest.raises(ValueError, match="backward: the loss depends on no tensor that requires gradients; give one"):
        scene.backward(arm.get_qpos().sum())


def test_wrong_uses_are_refused_in_a_sentence(case, tmp_path):
    (scene, _, arm), *_ = case
    assert scene.requires_grad
    with pytest.raises(ValueError, match="is fixed, and steps have no gradients by its place; give pos without"):
        arm.set_pos(torch.zeros(3, dtype=torch.float64, requires_grad=True))
    plain = made(tmp_path, False)[0]
    assert not plain.requires_grad
    with pytest.raises(ValueError, match=r"make it with SimOptions\(requires_grad=True\)"):
        plain.backward(torch.zeros((), requires_grad=True))
    sleeping = gs.Scene(
        sim_options=gs.options.SimOptions(requires_grad=True),
        rigid_options=gs.options.RigidOptions(use_hibernation=True),
    )
    sleeping.add_entity(gs.morphs.Sphere(radius=0.1))
    with pytest.raises(NotImplementedError, match="bodies that fall asleep have no derivative"):
        sleeping.build()


def test_sensors_recorders_and_pictures_see_numbers(tmp_path):
    """They are no part of the graph, whose tensors have no arrays of numpy."""
    scene = gs.Scene(sim_options=gs.options.SimOptions(requires_grad=True))
    ball = scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 1)))
    imu = scene.add_sensor(gs.sensors.IMU(entity_idx=0))
    camera = scene.add_camera(res=(16, 12))
    scene.add_recorder(lambda: {"z": ball.get_pos()[2:]}, gs.recorders.NPZFile(filename=str(tmp_path / "z.npz")))
    scene.build()
    speed = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    ball.set_dofs_velocity(speed, [0])
    scene.step()
    camera.follow_entity(ball)
    camera.render()
    assert imu.read().lin_acc.requires_grad is False
    assert scene.rigid_solver.links_state.pos.to_numpy().shape == (1, 1, 3)
    assert scene.rigid_solver.ray([[[0.0, 0, 5]]], [[[0.0, 0, -1]]]).distance.requires_grad is False
    ball.get_pos()[0].backward()
    assert speed.grad == scene.dt  # in free fall
    scene.close()


def test_the_program_of_the_page_pushes_the_box_to_the_mark():
    """The gradient at the end against differences of a scene without gradients."""
    (program,) = blocks("scenes", "python", "## Gradients")
    names = execute(program)
    push, target = names["push"].detach(), names["target"]
    assert (names["box"].get_pos() - target).norm() < 1e-4

    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.01))
    ice = gs.materials.Rigid(friction=0.2)
    scene.add_entity(gs.morphs.Plane(), material=ice)
    box = scene.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.1), pos=(0, 0, 0.05)), material=ice)
    scene.build()

    def slid(push):
        scene.reset()
        box.set_dofs_velocity(push, [0, 1])
        for _ in range(100):
            scene.step()
        return (box.get_pos() - target).square().sum()

    push = push + torch.tensor([0.01, -0.02])
    leaf = push.clone().requires_grad_()
    names["scene"].reset()
    names["box"].set_dofs_velocity(leaf, [0, 1])
    for _ in range(100):
        names["scene"].step()
    names["scene"].backward((names["box"].get_pos() - target).square().sum())
    for k in range(2):
        move = DISTANCE * torch.eye(2, dtype=torch.float64)[k]
        ends = [slid(push + side * move) for side in (1, -1, 2, -2)]
        quotient = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * DISTANCE)
        assert abs(quotient - leaf.grad[k]) < TOLERANCE * abs(quotient)
