"""A small vector environment in plain torch, to test the bridge and the checkpoints where physics does not matter."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from tumble.training.config import CheckpointConfig, PolicyConfig, PPOConfig, RunConfig, SACConfig

MAX_STEPS, MAX_SPEED = 40, 7.0


class PendulumVectorEnv(VectorEnv):
    """Swinging pendulums (angle, speed): truncated after 40 steps, terminated when too fast; SAME_STEP autoreset."""

    metadata: ClassVar[dict[str, Any]] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["rgb_array"],
        "render_fps": 20,
    }
    render_mode = "rgb_array"

    def __init__(self, num_envs: int, dtype: torch.dtype = torch.float32) -> None:
        self.num_envs, self.dtype = num_envs, dtype
        kind = np.float32 if dtype == torch.float32 else np.float64
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), kind)
        self.single_action_space = gym.spaces.Box(-2.0, 2.0, (1,), np.float32)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)
        self.reset_calls: list[Any] = []

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[torch.Tensor, dict[str, Any]]:
        self.reset_calls.append((seed, options))
        seeds = seed if seed is not None else range(self.num_envs)
        self.seeds = torch.as_tensor(list(seeds), dtype=torch.float64)
        self.episodes = torch.zeros(self.num_envs, dtype=torch.float64)
        self.steps = torch.zeros(self.num_envs, dtype=torch.int64)
        self.angle, self.speed = self._draw()
        return self._observe(), {}

    def step(self, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        torque = torch.as_tensor(actions).to(self.dtype)[:, 0]
        self.speed = self.speed + 0.05 * (15.0 * torch.sin(self.angle) + 3.0 * torque)
        self.angle = self.angle + 0.05 * self.speed
        self.steps = self.steps + 1
        rewards = torch.cos(self.angle) - 0.01 * torque**2
        terminated, truncated = self.speed.abs() > MAX_SPEED, self.steps >= MAX_STEPS
        done, final = terminated | truncated, self._observe()
        self.episodes = self.episodes + done
        fresh_angle, fresh_speed = self._draw()
        self.angle = torch.where(done, fresh_angle, self.angle)
        self.speed = torch.where(done, fresh_speed, self.speed)
        self.steps = torch.where(done, 0, self.steps)
        info = {"final_obs": final, "_final_obs": done} if done.any() else {}
        return self._observe(), rewards, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...]:
        return tuple(np.zeros((16, 16, 3), np.uint8) for _ in range(self.num_envs))

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).clone() for name in ("seeds", "episodes", "steps", "angle", "speed")}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value.clone())

    def _draw(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Start of the episode numbered `episodes` under `seeds`: a function of the two alone."""
        phase = 12.9898 * self.seeds + 78.233 * self.episodes
        return (3.1 * torch.sin(phase)).to(self.dtype), torch.cos(7.0 * phase).to(self.dtype)

    def _observe(self) -> torch.Tensor:
        return torch.stack([torch.cos(self.angle), torch.sin(self.angle), self.speed], dim=1)


@pytest.fixture
def pendulums() -> type[PendulumVectorEnv]:
    """The vector environment's class."""
    return PendulumVectorEnv


@pytest.fixture
def small_ppo() -> RunConfig:
    """Six iterations of PPO on eight pendulums, a checkpoint each second one."""
    ppo = PPOConfig(n_steps=16, batch_size=64, n_epochs=2, learning_rate_end=0.0)
    return RunConfig(
        task="test/Pendulum-v0",
        algo="ppo",
        num_envs=8,
        total_steps=6 * 128,
        policy=PolicyConfig(hidden=(16, 16)),
        ppo=ppo,
        checkpoint=CheckpointConfig(every_steps=256, keep=2),
    )


@pytest.fixture
def small_sac() -> RunConfig:
    """A short run of SAC on four pendulums."""
    return RunConfig(
        task="test/Pendulum-v0",
        algo="sac",
        num_envs=4,
        total_steps=400,
        policy=PolicyConfig(hidden=(16, 16), activation="relu"),
        sac=SACConfig(buffer_size=1000, learning_starts=100, batch_size=32),
        checkpoint=CheckpointConfig(every_steps=200, keep=2),
    )
