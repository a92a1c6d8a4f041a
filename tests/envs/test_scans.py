"""Rays that tasks read: grids that turn with a robot's heading, rings around feet, sensors that turn with a body."""

import mujoco
import numpy as np
import pytest

import tumble
from tumble.envs import RayScan, Start, StepResult, Task, grid_points, ring_points
from tumble.envs.arrays import host
from tumble.physics import Model
from tumble.physics.run.results.results import Results

from ..cases import cases

XML = """
<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="step" type="box" pos="2 0 0.1" size="1 3 0.1"/>
    <geom name="wall" type="box" pos="0 -3 1" size="5 0.2 1"/>
    <body name="robot" pos="0 0 1">
      <freejoint/>
      <geom name="trunk" type="box" size="0.3 0.2 0.1" mass="1"/>
      <site name="left" pos="0.2 0.3 -0.5"/><site name="right" pos="0.2 -0.3 -0.5"/>
    </body>
    <body name="ball" pos="0 0 9"><freejoint/><geom name="ball" size="0.5"/></body>
  </worldbody>
</mujoco>
"""
AHEAD = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.25, 0.1]])


class Scanning(Task):
    """Looks around from a random pose."""

    rays = {  # noqa: RUF012
        "scan": RayScan(body="robot"),
        "feet": RayScan(site=("left", "right"), points=ring_points(0.1, 4), above=0.2, reach=3.0),
        "world": RayScan(body="robot", points=AHEAD, align="world"),
        "range": RayScan(body="robot", points=AHEAD, align="frame", direction=(0.0, -2.0, 0.0), above=0.0, reach=2.5),
        "all": RayScan(body="robot", points=AHEAD, geoms=("ball", "step"), align="world", above=20.0),
    }
    reads = ("xpos", "xmat", "site_xpos", "site_xmat")

    xml_file: str = ""

    def load_model(self, **options):
        return Model.from_mjspec(mujoco.MjSpec.from_string(XML), **options)

    def reset(self, noise):
        xp = self.xp
        place, turn = noise.uniform(-1.2, 1.2, 3), noise.normal(4)
        turn = turn / xp.sqrt(xp.sum(turn * turn, axis=1))[:, None]
        still = self.init_qpos[None, 7:] + 0 * noise.uniform(0, 1, 7)
        qpos = xp.concat((place + xp.asarray([0.0, 0.0, 2.0]), turn, still), axis=1)
        return Start(qpos, 0 * qpos[:, :12])

    def observation(self, state):
        n = state.qpos.shape[0]
        parts = [state.rays[name].reshape(n, -1) for name in self.rays]
        return self.xp.concat([state.fields[name].reshape(n, -1) for name in self.reads] + parts, axis=1)

    def step(self, state, action):
        return StepResult(self.observation(state), {"reward": 0 * state.qpos[:, 0]})


def expected(model, qpos, scan: RayScan) -> np.ndarray:
    """Distances by MuJoCo's rays and its own frames."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    names, found = scan.body or scan.site, []
    group = np.zeros(model.ngeom, bool)
    wanted = ["floor", "step", "wall"] if scan.geoms is None else scan.geoms
    group[[model.geom(name).id for name in wanted]] = True
    for name in [names] if isinstance(names, str) else names:
        frame = data.body(name) if scan.body else data.site(name)
        turn = frame.xmat.reshape(3, 3)
        if scan.align != "frame":
            yaw = np.arctan2(turn[1, 0], turn[0, 0]) if scan.align == "yaw" else 0.0
            turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])
        along = turn @ scan.direction / np.linalg.norm(scan.direction)
        for point in scan.points:
            begin = frame.xpos + turn @ point - scan.above * along
            geoms = ((data.geom_xpos[g], data.geom_xmat[g], model.geom_size[g]) for g in np.flatnonzero(group))
            kinds = model.geom_type[group]
            distances = [
                mujoco.mju_rayGeom(*geom, begin, along, kind, None) for geom, kind in zip(geoms, kinds, strict=True)
            ]
            met = [distance for distance in distances if distance >= 0]
            found.append(min(min(met) - scan.above, scan.reach) if met else scan.reach)
    return np.array(found)


@pytest.mark.parametrize("n", [1, 40])
def test_distances_are_those_of_mujocos_rays(each_precision, n):
    envs = tumble.make_vec(Scanning, n, max_episode_steps=10)
    model = envs.unwrapped.batch.task.model
    for observation in (envs.reset(seed=3)[0], envs.step(np.zeros((n, 0), np.float32))[0]):
        observation = host(observation).astype(float)
        qpos = host(envs.unwrapped.solver.qpos).astype(float)
        frames = 3 * 3 + 9 * 3 + 2 * 3 + 2 * 9
        for row in range(n):
            theirs = np.concatenate([expected(model, qpos[row], scan) for scan in Scanning.rays.values()])
            np.testing.assert_allclose(observation[row, frames:], theirs, atol=2e-4 if each_precision == "32" else 1e-9)
    envs.close()


def test_shapes_are_rays_and_frames():
    envs = tumble.make_vec(Scanning, 3, max_episode_steps=10)
    batch = envs.unwrapped.batch
    state = batch._view.look(batch._memory.arrays, batch.streams.advance())
    assert {name: way.shape for name, way in state.rays.items()} == {
        "scan": (3, 187), "feet": (3, 2, 4), "world": (3, 3), "range": (3, 3), "all": (3, 3),
    }  # fmt: skip
    some = batch._view.look(batch._memory.arrays, batch.streams.present(np.array([2])), np.array([2]))
    for name, way in state.rays.items():
        np.testing.assert_array_equal(some.rays[name], way[2:])
    envs.close()


def test_grids_and_rings_have_their_points():
    grid = grid_points()
    assert grid.shape == (187, 3) and not grid[:, 2].any()
    np.testing.assert_allclose(grid[:17, 0], np.linspace(-0.8, 0.8, 17), atol=1e-12)
    np.testing.assert_allclose(np.unique(grid[:, 1].round(9)), np.linspace(-0.5, 0.5, 11), atol=1e-9)
    ring = ring_points(0.04, 4)
    np.testing.assert_allclose(ring, 0.04 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]), atol=1e-12)
    with pytest.raises(ValueError, match="must be above zero"):
        grid_points(resolution=0.0)
    with pytest.raises(ValueError, match="and finite"):
        grid_points((1.0, np.nan))
    with pytest.raises(ValueError, match="count=0: they must be above zero"):
        ring_points(0.1, 0)


@cases(
    "scan, error, message",
    [
        ({}, ValueError, r"rays\['it'\]: give the name of a body or of a site"),
        ({"body": "robot", "site": "left"}, ValueError, "not both"),
        ({"body": "robo"}, ValueError, "no body 'robo': did you mean robot"),
        ({"site": "Left"}, ValueError, "no site 'Left': did you mean left"),
        ({"body": "robot", "align": "pitch"}, ValueError, "align='pitch': there is yaw, frame, world"),
        ({"body": "robot", "reach": 0.0}, ValueError, "reach=0.0"),
        ({"body": "robot", "points": [[0.0, 0.0]]}, ValueError, r"shape \(1, 2\); needed are finite numbers \(k, 3\)"),
        ({"body": "robot", "direction": (0, 0, 0)}, ValueError, "three numbers that are not all 0"),
        ({"body": "robot", "geoms": "flor"}, KeyError, "no geom is named 'flor'; did you mean floor"),
    ],
)
def test_wrong_scans_are_named(scan, error, message):
    class Wrong(Scanning):
        rays = {"it": RayScan(**scan)}  # noqa: RUF012

    with pytest.raises(error, match=message):
        tumble.make_vec(Wrong, 1, max_episode_steps=10)


def test_a_scan_of_another_type_is_named():
    class Wrong(Scanning):
        rays = {"it": "robot"}  # noqa: RUF012

    with pytest.raises(TypeError, match=r"rays\['it'\] is 'robot'; needed is a RayScan"):
        tumble.make_vec(Wrong, 1, max_episode_steps=10)


def test_steps_deliver_what_scans_are_made_of(monkeypatch):
    """No launch follows a step to find where frames and geoms are."""
    envs, launches = tumble.make_vec(Scanning, 3, max_episode_steps=10), []
    envs.reset(seed=0)
    evaluate = Results.evaluate
    monkeypatch.setattr(Results, "evaluate", lambda *args, **more: launches.append(args) or evaluate(*args, **more))
    envs.step(np.zeros((3, 0), np.float32))
    assert not launches
    envs.unwrapped.solver.get("qM")
    assert len(launches) == 1  # as of a quantity that is not delivered
