"""A policy of `tumble train QuadrupedFlat` walks in a scene that it has never seen: four robots, each with its command.

tumble train QuadrupedFlat --out runs/walk
python walking.py runs/walk
"""

import sys

import gymnasium as gym
import numpy as np
import torch

import tumble.scene as gs
from tumble.training.policy import Policy

STAND = torch.tensor([0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5])  # rad, hip, thigh, calf
JOINTS = range(6, 18)
COMMANDS = torch.tensor([[0.8, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.8]])  # m/s, m/s, rad/s


def build(n_envs):
    """Return a scene and its robot: low planks lie in its way."""
    scene = gs.Scene(gs.options.SimOptions(dt=0.02, substeps=4))  # 0.02 s between two actions, as in training
    for k in range(3):
        plank = gs.morphs.Box(size=(0.08, 2.0, 0.02), pos=(0.6 + 0.4 * k, 0, 0.01), fixed=True)
        scene.add_entity(plank, gs.materials.Rigid(friction=0.6), gs.surfaces.Default(color=(0.8, 0.6, 0.4)))
    robot = scene.add_entity(gs.morphs.MJCF(file="quadruped.xml"), name="robot")  # with the floor of its file
    scene.add_camera(res=(480, 320), pos=(1.5, -2.3, 1.0), lookat=(1.5, 0, 0.2), fov=42, env_idx=0)
    scene.build(n_envs=n_envs)
    return scene, robot


def observe(robot, commands, actions):
    """Return what the policy has learned from, (n, 48), as the docstring of `QuadrupedFlat` lists it."""
    quat = robot.get_quat()
    inward = gs.inv_transform_by_quat
    down = torch.tensor([0.0, 0.0, -1.0]).to(quat)
    parts = (
        inward(robot.get_vel(), quat),
        inward(robot.get_ang(), quat),
        inward(down, quat),
        robot.get_dofs_position(JOINTS) - STAND.to(quat),
        robot.get_dofs_velocity(JOINTS),
        commands,
        actions,
    )
    return torch.cat(parts, dim=1)


def walk(policy, robot, commands, seconds):
    """Let the policy walk."""
    actions = torch.zeros(len(commands), 12, device=gs.device)
    for _ in range(round(seconds / 0.02)):
        actions = torch.as_tensor(policy.act(observe(robot, commands, actions).cpu().numpy()), device=gs.device)
        robot.control_dofs_position(STAND.to(actions) + 0.5 * actions, JOINTS)
        robot.scene.step()


if __name__ == "__main__":
    gs.init(backend=gs.cpu)
    sees, does = gym.spaces.Box(-np.inf, np.inf, (48,), np.float32), gym.spaces.Box(-1.0, 1.0, (12,), np.float32)
    policy = Policy.of_run(sys.argv[1], sees, does)
    scene, robot = build(n_envs=len(COMMANDS))
    robot.set_pos((0, 0, 0.324))
    robot.set_dofs_position(STAND, JOINTS)
    walk(policy, robot, COMMANDS.to(gs.device), 3.0)
    rgb, *_ = scene.cameras[0].render()
    turned = gs.quat_to_xyz(robot.get_quat(), rpy=True)[:, 2]
    for command, place, angle in zip(COMMANDS.tolist(), robot.get_pos().tolist(), turned.tolist(), strict=True):
        asked = ", ".join(f"{number:.1f}" for number in command)
        print(f"asked for {asked} over 3 s: x {place[0]:.2f}, y {place[1]:.2f} m, turned by {angle:.2f} rad")
