"""Rewards, observations and ends of walking tasks are the published formulas, in numpy, robot by robot, by MuJoCo."""

import mujoco
import numpy as np
import pytest

from .states import bound, evaluated, noise, nothing_before, random_states

N = 24
TASKS = {"QuadrupedFlat": {}, "BipedFlat": {"termination": 200.0}, "QuadrupedRough": {}}


@pytest.fixture(scope="module", params=TASKS)
def case(request):
    """A task with random states and what its step says of them."""
    task = bound(request.param, **TASKS[request.param])
    found = random_states(task, N, fall=0.7)
    return task, found, task.step(found.state, found.action)


class Robot:
    """One robot's quantities in the words of the publications."""

    def __init__(self, task, found, row: int) -> None:
        model, data, memory = task.model, found.data[row], found.state.memory
        self.rotation = data.xmat[1].reshape(3, 3)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 1)
        self.gyro, self.local = velocity[:3], velocity[3:]
        world = self.rotation @ self.local
        yaw = np.arctan2(self.rotation[1, 0], self.rotation[0, 0])
        c, s = np.cos(yaw), np.sin(yaw)
        self.yaw, self.ahead = yaw, np.array([c * world[0] + s * world[1], c * world[1] - s * world[0], world[2]])
        self.place = data.xpos[1].copy()
        self.q, self.dq = data.qpos[7:], data.qvel[6:]
        self.q0 = model.key("home").qpos[7:]
        self.command, self.last_action = memory["command"][row], memory["action"][row]
        self.action, self.torque = found.action[row], data.actuator_force
        self.feet = np.array([data.site(name).xpos for name in task.feet])
        ground = task.terrain().height_at if hasattr(task, "terrain") else lambda xy: np.zeros(len(xy))
        self.foot_z = self.feet[:, 2] - task.sole - ground(self.feet[:, :2])
        self.height = self.place[2] - ground(self.place[None, :2])[0]
        self.foot_v = (self.feet - memory["feet"][row]) / 0.02
        touch = np.array([data.sensordata[k] for k in range(len(task.feet))])
        self.contact, self.before = touch > 1, memory["contact"][row]
        self.air = memory["air_time"][row] + 0.02
        self.moving = np.linalg.norm(self.command) > 0.1
        self.phase = memory["phase"][row, 0] if task.phases else None


def shared(task, robot: Robot) -> dict[str, float]:
    """The terms that all robots have, per second."""
    error = ((robot.command[:2] - robot.ahead[:2]) ** 2).sum()
    turning = (robot.command[2] - robot.gyro[2]) ** 2
    sliding = (np.linalg.norm(robot.foot_v[:, :2], axis=1) ** 2)[robot.contact & robot.before].sum()
    return {
        "tracking_lin_vel": task.tracking_lin_vel * np.exp(-error / 0.25),
        "tracking_ang_vel": task.tracking_ang_vel * np.exp(-turning / 0.25),
        "lin_vel_z": -task.lin_vel_z * robot.ahead[2] ** 2,
        "ang_vel_xy": -task.ang_vel_xy * (robot.gyro[:2] ** 2).sum(),
        "orientation": -task.orientation * (robot.rotation.T[:2, 2] ** 2).sum(),
        "torques": -task.torques * (robot.torque**2).sum(),
        "action_rate": -task.action_rate * ((robot.action - robot.last_action) ** 2).sum(),
        "stand_still": -task.stand_still * np.abs(robot.q - robot.q0).sum() * (not robot.moving),
        "feet_slip": -task.feet_slip * sliding * robot.moving,
    }


def of_quadruped(task, robot: Robot) -> dict[str, float]:
    """Those of the quadruped."""
    speed = np.linalg.norm(robot.foot_v[:, :2], axis=1)
    flights = (robot.air - 0.1)[robot.contact & ~robot.before]
    weights = np.tile([1, 1, 0.1], 4)
    return {
        "pose": task.pose * np.exp(-((robot.q - robot.q0) ** 2 * weights).sum()),
        "feet_air_time": task.feet_air_time * flights.sum() * robot.moving,
        "feet_clearance": -task.feet_clearance * (np.abs(robot.foot_z - task.foot_height) * np.sqrt(speed)).sum(),
    }


def of_biped(task, robot: Robot) -> dict[str, float]:
    """Those of the biped."""
    hips = np.array([name.split("_", 1)[1] in ("hip_roll", "hip_yaw") for name in _joints(task.model)])
    swing = np.sin(2 * np.pi * (robot.phase + np.array([0, 0.5])))
    target = task.foot_height * np.maximum(swing, 0) * robot.moving
    low, high = task.model.jnt_range[1:].T
    middle, half = (low + high) / 2, 0.95 * (high - low) / 2
    return {
        "alive": task.alive,
        "termination": -task.termination * (robot.height < 0.5 or np.arccos(robot.rotation[2, 2]) > 0.8),
        "hips": -task.hips * ((robot.q - robot.q0)[hips] ** 2).sum(),
        "feet_phase": task.feet_phase * np.exp(-((robot.foot_z - target) ** 2).sum() / 0.01),
        "dof_pos_limits": -task.dof_pos_limits * np.maximum(np.abs(robot.q - middle) - half, 0).sum(),
    }


def _joints(model) -> list[str]:
    return [model.joint(k).name for k in range(1, model.njnt)]


def test_reward_terms(case):
    task, found, result = case
    own = of_biped if task.xml_file == "biped.xml" else of_quadruped
    used = set()
    for row in range(N):
        robot = Robot(task, found, row)
        wanted = shared(task, robot) | own(task, robot)
        assert {f"reward_{name}" for name in wanted} == {*result.reward_terms}
        for name, rate in wanted.items():
            got = result.reward_terms[f"reward_{name}"][row]
            assert got == pytest.approx(0.02 * rate, rel=1e-9, abs=1e-12), name
            used |= {name} if rate else set()
    assert used == {*wanted}, "every term says something of some state"


def test_observation(case):
    """In the order of the docstring's table, after the step's new command."""
    task, found, result = case
    for row in range(N):
        robot, memory = Robot(task, found, row), {**found.state.memory, **result.memory}
        parts = [robot.local, robot.gyro, robot.rotation.T @ [0, 0, -1], robot.q - robot.q0, robot.dq]
        parts += [memory["command"][row], robot.action]
        if task.phases:
            phase = robot.phase + task.gait_frequency * 0.02
            parts.append([np.sin(2 * np.pi * phase), np.cos(2 * np.pi * phase)])
        if hasattr(task, "terrain"):
            parts.append(scan(task, robot))
        np.testing.assert_allclose(result.observation[row], np.concatenate(parts), rtol=1e-9, atol=1e-9)


def scan(task, robot: Robot) -> np.ndarray:
    """How far the ground is below the trunk at 17 x 11 points that turn with it, less the height of standing."""
    heights = []
    for y in np.arange(11) * 0.1 - 0.5:
        for x in np.arange(17) * 0.1 - 0.8:
            c, s = np.cos(robot.yaw), np.sin(robot.yaw)
            place = robot.place[:2] + np.array([c * x - s * y, s * x + c * y])
            heights.append(robot.place[2] - task.terrain().height_at(place[None])[0])
    return np.clip(np.array(heights) - task.model.key("home").qpos[2], -0.5, 0.5)


def test_the_critic_sees_what_the_policy_does_not(case):
    task, found, result = case
    both = bound(type(task).__name__, asymmetric=True)
    seen = both.step(found.state, found.action).observation
    np.testing.assert_array_equal(seen["policy"], result.observation[:, 3:])
    size = seen["policy"].shape[1]
    np.testing.assert_array_equal(seen["critic"][:, :size], seen["policy"])
    for row in range(N):
        robot = Robot(task, found, row)
        touched = robot.contact & robot.before
        known = (robot.local, np.where(touched, 0, robot.air), robot.foot_z, robot.contact, robot.torque)
        np.testing.assert_allclose(seen["critic"][row, size:], np.concatenate(known), rtol=1e-9, atol=1e-9)


def test_noise_of_the_policy_is_as_wide_as_the_table_says():
    task = bound("QuadrupedFlat", asymmetric=True, noise_level=1.0)
    found = random_states(task, 400)
    seen = task.step(found.state, found.action).observation
    widest = np.abs(seen["policy"] - seen["critic"][:, : seen["policy"].shape[1]]).max(0)
    limits = np.repeat([0.2, 0.05, 0.01, 1.5, 0.0], [3, 3, 12, 12, 15])
    assert (widest <= limits + 1e-12).all() and (widest >= 0.97 * limits).all()


def test_ends_and_info(case):
    task, found, result = case
    fallen = random_states(task, 60, seed=1, fall=1.6)
    ended = task.step(fallen.state, fallen.action).terminated
    wanted = []
    for row in range(60):
        robot = Robot(task, fallen, row)
        wanted.append(robot.height < task.fall_height or np.arccos(robot.rotation[2, 2]) > task.fall_tilt)
    np.testing.assert_array_equal(ended, wanted)
    assert 5 < sum(wanted) < 55
    for row in range(N):
        robot = Robot(task, found, row)
        error = np.linalg.norm(robot.command[:2] - robot.ahead[:2])
        assert result.info["lin_vel_error"][row] == pytest.approx(error)
        assert result.info["ang_vel_error"][row] == pytest.approx(abs(robot.command[2] - robot.gyro[2]))


def test_feet_are_remembered(case):
    """Time in the air goes on until a foot touches, and a landing pays for the flight once."""
    task, found, result = case
    kept = {**found.state.memory, **result.memory}
    for row in range(N):
        robot = Robot(task, found, row)
        np.testing.assert_allclose(kept["air_time"][row], np.where(robot.contact, 0, robot.air))
        np.testing.assert_array_equal(kept["contact"][row], robot.contact)
        np.testing.assert_allclose(kept["feet"][row], robot.feet)


@pytest.mark.parametrize("name", ["QuadrupedFlat", "BipedFlat"])
def test_commands_are_in_the_frame_of_the_heading(name):
    """Robots that stand upright, turned anyhow, and are moved as commanded, track without an error."""
    task, n = bound(name), 8
    found = random_states(task, n)
    yaw = np.linspace(-3, 3, n)
    qpos = np.tile(task.model.key("home").qpos, (n, 1))
    qpos[:, 3], qpos[:, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
    qvel, command = np.zeros((n, task.model.nv)), np.tile([0.7, -0.3, 0.4], (n, 1))
    qvel[:, 0] = np.cos(yaw) * 0.7 + np.sin(yaw) * 0.3
    qvel[:, 1] = np.sin(yaw) * 0.7 - np.cos(yaw) * 0.3
    qvel[:, 5] = 0.4
    memory = {**found.state.memory, "command": command}
    moved = evaluated(task, qpos, qvel, qpos[:, 7:], memory)
    result = task.step(moved.state, moved.action)
    np.testing.assert_allclose(result.info["lin_vel_error"], 0, atol=1e-9)
    np.testing.assert_allclose(result.info["ang_vel_error"], 0, atol=1e-9)
    np.testing.assert_allclose(result.reward_terms["reward_tracking_lin_vel"], 0.02 * task.tracking_lin_vel)


@pytest.mark.parametrize("name", ["QuadrupedFlat", "BipedFlat"])
def test_left_and_right_are_worth_the_same(name):
    """A mirrored robot with a mirrored command and past gets the same reward."""
    task, n = bound(name), 16
    found = random_states(task, n)
    one = task.step(found.state, found.action).reward_terms
    state, action = mirrored(task, found)
    other = task.step(state, action).reward_terms
    for term in one:
        np.testing.assert_allclose(other[term], one[term], rtol=2e-3, atol=1e-6, err_msg=term)


def mirrored(task, found):
    """The states of robots seen in a mirror that stands along x."""
    model, state = task.model, found.state
    names = _joints(model)
    sides = {"FL": "FR", "FR": "FL", "RL": "RR", "RR": "RL", "left": "right", "right": "left"}
    swap = [names.index("_".join((sides[name.split("_")[0]], *name.split("_")[1:]))) for name in names]
    turned = np.array([model.joint(name).axis[1] == 0 for name in names])
    sign = np.where(turned, -1.0, 1.0)  # those about x and z
    feet = [task.feet.index("_".join((sides[name.split("_")[0]], *name.split("_")[1:]))) for name in task.feet]

    def joints(values):
        return values[:, swap] * sign

    qpos = np.concatenate((state.qpos[:, :7] * [1, -1, 1, 1, -1, 1, -1], joints(state.qpos[:, 7:])), 1)
    qvel = np.concatenate((state.qvel[:, :6] * [1, -1, 1, -1, 1, -1], joints(state.qvel[:, 6:])), 1)
    ctrl = joints(np.array([data.ctrl for data in found.data]))
    memory = dict(state.memory)
    memory["command"] = memory["command"] * [1, -1, -1]
    memory["action"] = joints(memory["action"])
    memory["feet"] = memory["feet"][:, feet] * [1, -1, 1]
    memory["air_time"], memory["contact"] = memory["air_time"][:, feet], memory["contact"][:, feet]
    if task.phases:
        memory["phase"] = (memory["phase"] + 0.5) % 1
    return evaluated(task, qpos, qvel, ctrl, memory).state, joints(found.action)


def test_randomization_is_what_was_asked_for():
    """Friction of all geoms alike, kg more on the trunk, and a shove that the observation shows."""
    task, n = bound("QuadrupedFlat", friction=(0.3, 1.2), added_mass=(-1.0, 2.0), push_speed=(0.5, 0.5)), 500
    start = task.reset_after(nothing_before(n), noise(n))
    friction = np.asarray(start.parameters["geom_friction"])[..., 0]
    assert (friction == friction[:, :1]).all() and 0.3 <= friction.min() < 0.32 and 1.18 < friction.max() <= 1.2
    added = np.asarray(start.parameters["body_mass"]) - task.model.body_mass
    assert (
        (np.delete(added, 1, axis=1) == 0).all() and -1 <= added[:, 1].min() < -0.95 and 1.95 < added[:, 1].max() <= 2
    )
    steps = next(value for name, value in start.memory.items() if name.startswith("randomization") and "steps" in name)
    assert steps.min() >= 500 and steps.max() <= 750
    found = random_states(task, 8)
    name = next(name for name in found.state.memory if name.startswith("randomization") and "steps" in name)
    memory = {**found.state.memory, name: np.where(np.arange(8) < 4, 1, 9)}
    result = task.step(found.state._replace(memory=memory), found.action)
    kick = result.qvel - found.state.qvel
    np.testing.assert_allclose(np.linalg.norm(kick[:, :2], axis=1), np.where(np.arange(8) < 4, 0.5, 0.0), atol=1e-6)
    assert (kick[:, 2:] == 0).all()
    for row in range(8):
        rotation = found.data[row].xmat[1].reshape(3, 3)
        np.testing.assert_allclose(result.observation[row, :3], rotation.T @ result.qvel[row, :3], atol=1e-6)


def test_nothing_is_randomized_unless_asked_for():
    assert not bound("QuadrupedFlat").reset_after(nothing_before(4), noise(4)).parameters
