"""Tasks on scenes: they move as tasks on the scene's written file, and all that works for files works for them."""

import copy
import pickle

import gymnasium as gym
import mujoco
import numpy as np
import pytest
import torch

import tumble
import tumble.scene as gs
from tumble.envs import Randomization, Task
from tumble.envs.arrays import ArrayKind
from tumble.envs.managers import randomize as dr
from tumble.envs.task.noise import Streams
from tumble.envs.task.scene_entities import scene_entity
from tumble.envs.task.task import Last
from tumble.physics.machine.runtime import init
from tumble.scene.model.compose import Piece, compose

from .scene_tasks import SLIDER, PushCube, SizesTask

STEPS = 25
SOLVED = {"rtol": 1e-6, "atol": 1e-6}  # constraint solvers stop at their own tolerance


class OnFile(PushCube):
    """The same task on a file."""

    build_scene = Task.build_scene


class Heavy(PushCube):
    """The task with a cube of another mass in every episode."""

    def bind(self):
        super().bind()
        self.randomization = Randomization(self, dr.mass(1.5, 2.0, bodies="cube/box_baselink"))

    def reset_after(self, last, noise):
        return self.randomization.begin(self.reset(noise), last, noise)


@pytest.fixture(scope="module", autouse=True)
def doubles():
    init(precision="64")


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    file = tmp_path_factory.mktemp("slider") / "slider.xml"
    file.write_text(SLIDER)
    return PushCube(file=str(file))


@pytest.fixture(scope="module")
def envs(task):
    envs = tumble.make_vec(task, 3)
    yield envs
    envs.close()


def played(envs, steps=STEPS, seed=3):
    """All that an environment hands out at the start and while the paddle pushes."""
    observation, _ = envs.reset(seed=seed)
    seen = [observation]
    for step in range(steps):
        action = np.full((envs.num_envs, 1), 1.0 if step < 18 else -0.3, np.float32)
        observation, reward, *_ = envs.step(action)
        seen += [observation, torch.as_tensor(reward)[:, None]]
    return torch.cat([torch.as_tensor(numbers) for numbers in seen], 1)


def test_it_moves_as_on_the_scenes_written_file(task, envs, tmp_path):
    task.load_model().write_mjcf(tmp_path / "scene.xml")
    on_file = tumble.make_vec(OnFile(xml_file=str(tmp_path / "scene.xml")), 3)
    assert torch.equal(played(envs), played(on_file))
    far = envs.solver.qpos[:, envs.task.cube.q_start]
    assert (far > 0.1).all(), "the paddle pushes the cube"


def test_mujoco_moves_it_alike(task, envs):
    judged = tumble.make_vec(task, 3, simulator="mujoco")
    np.testing.assert_allclose(played(envs, 12), played(judged, 12), **SOLVED)


@pytest.mark.slow
def test_a_single_environment_replays_that_of_a_batch(task, envs):
    tumble.register("scene/PushCube-v0", task, max_episode_steps=20)
    try:
        one = gym.make("scene/PushCube-v0")
        first, _ = one.reset(seed=4)
        batch = tumble.make_vec("scene/PushCube-v0", 2)
        many, _ = batch.reset(seed=3)
        np.testing.assert_array_equal(first, many[1])
        for _ in range(19):
            seen, *_ = one.step(np.ones(1, np.float32))
            many, *_ = batch.step(np.ones((2, 1), np.float32))
        np.testing.assert_array_equal(seen, many[1])
        assert one.step(np.ones(1, np.float32))[3]  # out of time
        twin = pickle.loads(pickle.dumps(copy.deepcopy(one)))
        one.reset(seed=9), twin.reset(seed=9)
        np.testing.assert_array_equal(*(each.step(np.ones(1, np.float32))[0] for each in (one, twin)))
        one.close(), batch.close()
    finally:
        gym.registry.pop("scene/PushCube-v0")


def test_snapshots_go_on_to_the_bit(envs):
    played(envs, 4)
    kept = envs.snapshot()
    action = np.ones((3, 1), np.float32)
    after = envs.step(action)[0]
    envs.step(action)
    envs.restore(kept)
    assert torch.equal(envs.step(action)[0], after)


def test_terms_find_entities_by_name(task):
    """Without a step: the numbers with which three episodes begin."""
    heavy, kind = Heavy(file=task.file), ArrayKind.of(torch.float64, "cpu")
    heavy = heavy.bound(heavy.load_model().mj, kind)
    streams, rows = Streams(3, kind), np.arange(3)
    streams.seed([0, 1, 2], rows)
    last = Last(rows, 3, np.ones(3, bool), np.zeros(3, int), np.zeros((3, 8)), np.zeros((3, 7)), {})
    mass = np.asarray(heavy.reset_after(last, streams.begin(rows)).parameters["body_mass"])
    share = np.ones_like(mass)
    share[:, 1:] = mass[:, 1:] / heavy.model.body_mass[1:]
    assert ((share[:, heavy.cube.body] > 1.5) & (share[:, heavy.cube.body] < 2.0)).all()
    assert (share[:, heavy.paddle] == 1).all()


@pytest.mark.slow
def test_randomization_finds_entities_by_name(task):
    envs = tumble.make_vec(Heavy(file=task.file), 3)
    envs.reset(seed=0)
    mass = envs.solver.get_parameters("body_mass")[:, envs.task.cube.body]
    own = float(envs.task.model.body_mass[envs.task.cube.body])
    assert ((mass > 1.5 * own) & (mass < 2.0 * own)).all() and len(mass.unique()) == 3


def test_options_of_the_model_override_the_scenes(task):
    envs = tumble.make_vec(task, 3, model_options={"timestep": 0.002})
    assert envs.task.model.opt.timestep == 0.002 and envs.task.dt == pytest.approx(0.008)


def test_entities_are_found_by_name(envs):
    task, mj = envs.task, envs.task.model
    slider, cube = task.slider, task.cube
    assert (cube.qpos, cube.qvel) == (slice(1, 8), slice(1, 7)) and (cube.q_end, cube.dof_end) == (8, 7)
    assert slider.links["paddle"] == mj.body("slider/paddle").id == slider.body
    assert slider.joints["slide"] == (slice(0, 1), slice(0, 1))
    assert slider.geom["face"] == mj.geom("slider/face").id == slider.geoms.start
    assert (slider.site["tip"], slider.actuator["drive"], slider.sensors["felt"]) == (0, 0, slice(0, 1))
    assert slider.controls == slice(0, 1) and cube.controls == slice(0, 0)
    felt = envs.solver.get("sensordata")[:, slider.sensors["felt"]]
    assert felt.shape == (3, 1)
    with pytest.raises(KeyError, match="the scene has no entity 'cup'; nearest: cube"):
        task.scene_entity("cup")
    with pytest.raises(KeyError, match="entity 'slider' has no link 'padle'; nearest: paddle"):
        slider.links["padle"]


def test_actuators_without_names_are_their_joints():
    spec = SLIDER.replace('name="drive" ', "")
    scene = gs.Scene()
    pieces = [Piece(name, mujoco.MjSpec.from_string(spec)) for name in ("a", "b")]
    model = compose(pieces, scene.sim_options, scene.rigid_options, actuators=True)
    assert [scene_entity(model.mj, name).controls for name in ("a", "b")] == [slice(0, 1), slice(1, 2)]


class Wrong(PushCube):
    """A task whose scene is wrong in a way that an option chooses."""

    how: str = "built"

    def build_scene(self):
        scene = super().build_scene()
        if self.how == "sensors":
            scene.add_sensor(gs.sensors.IMU(entity_idx=2))
        if self.how == "built":
            scene.build()
        return "a scene" if self.how == "no scene" else scene


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("built", ValueError, r"Wrong.build_scene: the scene is built; return it without a call of build\(\)"),
        ("sensors", ValueError, "Wrong.build_scene: the scene has sensors, which only scenes read"),
        ("no scene", TypeError, "Wrong.build_scene returned 'a scene'; needed is a tumble.scene.Scene"),
    ],
)
def test_wrong_scenes_are_refused_in_words(task, how, error, message):
    with pytest.raises(error, match=message):
        tumble.make_vec(Wrong(file=task.file, how=how), 1)


def test_neither_a_scene_nor_a_file():
    with pytest.raises(ValueError, match=r"OnFile: give it an xml_file, or define build_scene\(\)"):
        tumble.make_vec(OnFile, 1)


# shapes of environments' own


def alone(index):
    """MuJoCo's model of the scene with one of the shapes of each entity, and data."""
    scene = gs.Scene(gs.options.SimOptions(dt=0.005))
    scene.add_entity(gs.morphs.Plane())
    boxes, posts = [gs.morphs.Box(size=(edge, 0.2, 0.1), pos=(edge, 0, 0.3)) for edge in SizesTask().sizes], (0.05, 0.1)
    scene.add_entity(boxes[index[0]], gs.materials.Rigid(rho=500), name="box")
    scene.add_entity(gs.morphs.Capsule(radius=posts[index[1]], height=0.4, pos=(0, 1, 0.2), fixed=True), name="post")
    return scene.compile().mj


SHAPES = [(0, 0), (0, 0), (1, 0), (1, 1), (2, 1)]  # five environments: 2, 2 and 1 of the boxes, 3 and 2 of the posts


@pytest.fixture(scope="module")
def sizes():
    scene = SizesTask().build_scene()
    scene.build(n_envs=5)
    return scene.rigid_solver


def test_shapes_of_environments_own_are_those_of_models_of_their_own(sizes):
    for env, shapes in enumerate(SHAPES):
        own = alone(shapes)
        for name in ("geom_size", "body_mass", "body_inertia", "body_iquat", "qpos0", "geom_rbound", "dof_invweight0"):
            found = sizes.get_parameters(name)[env]
            np.testing.assert_allclose(found, getattr(own, name), rtol=1e-12, atol=1e-15, err_msg=f"{name} of {env}")


@pytest.mark.parametrize("simulator", ["mujoco", pytest.param("tumble", marks=pytest.mark.slow)])
def test_tasks_have_the_shapes_of_their_scenes(sizes, simulator):
    envs = tumble.make_vec(SizesTask, 5, simulator=simulator)
    for name in ("geom_size", "body_mass", "qpos0"):
        np.testing.assert_allclose(envs.solver.get_parameters(name), sizes.get_parameters(name), rtol=1e-12, atol=0)
    seen, _ = envs.reset(seed=0)
    assert (seen[:, 0] == 0.1).all()  # the task draws where they begin
    for _ in range(60):
        seen, *_ = envs.step(np.zeros(5, int))
    assert seen[:, 2].tolist() == pytest.approx([0.05] * 5, abs=2e-3)  # they lie flat


@pytest.mark.slow
def test_shapes_of_environments_own_fall_as_in_mujoco(sizes):
    start, turned = torch.tensor([0, 0, 0.25]), torch.tensor([0.9, 0.3, 0.2, 0.1])
    sizes.set_state(qpos=torch.cat((start, turned / turned.norm())).double().repeat(5, 1))
    starts, met = sizes.qpos.numpy(), 0
    sizes.step(60)
    for env, shapes in enumerate(SHAPES):
        mj = alone(shapes)
        data = mujoco.MjData(mj)
        data.qpos[:] = starts[env]
        for _ in range(60):
            mujoco.mj_step(mj, data)
        met += data.ncon
        np.testing.assert_allclose(sizes.qpos[env], data.qpos, rtol=0, atol=1e-5)
    assert met > 4
    assert len({round(float(height), 6) for height in sizes.qpos[:, 2]}) == 3


def test_shapes_begin_where_each_is_put_and_are_seen_there(sizes):
    sizes.reset()
    assert sizes.qpos[:, 0].tolist() == [0.1, 0.1, 0.2, 0.2, 0.3]
    hits = sizes.ray([[1, 0, 0.3]], [[-1.0, 0, 0]])
    assert hits.distance[:, 0].tolist() == pytest.approx([0.85, 0.85, 0.7, 0.7, 0.55])
    posts = sizes.ray([[1, 1, 0.2]], [[-1.0, 0, 0]])
    assert posts.distance[:, 0].tolist() == pytest.approx([0.95, 0.95, 0.95, 0.9, 0.9])


REFUSED = {
    "kinds": (
        lambda: [gs.morphs.Sphere(), gs.morphs.Box(size=(1, 1, 1))],
        TypeError,
        "morph 1 of 2 is a Box, and the first a Sphere",
    ),
    "planes": (
        lambda: [gs.morphs.Plane(), gs.morphs.Plane()],
        TypeError,
        "morph 0 of 2 is a Plane: only",
    ),
    "files": (
        lambda: [gs.morphs.MJCF(file="ant.xml")] * 2,
        TypeError,
        "is a MJCF: only Box, Sphere",
    ),
    "more than sizes": (
        lambda: [gs.morphs.Sphere(), gs.morphs.Sphere(fixed=True)],
        ValueError,
        "morph 1 of 2 has fixed=True, and the first False: shapes may differ only in size and place",
    ),
    "none": (lambda: [], ValueError, "an empty list"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_shapes_that_differ_in_more_are_refused_by_name(what):
    make, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        gs.Scene().add_entity(make(), name="thing")
