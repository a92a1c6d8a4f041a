"""A small vector environment in plain torch, to test the bridge and the checkpoints where physics does not matter."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from tumble.physics.machine import waiting
from tumble.training import task_source
from tumble.training.cli import main
from tumble.training.config import (
    CheckpointConfig,
    PolicyConfig,
    PPOConfig,
    RecurrentPPOConfig,
    RunConfig,
    SACConfig,
    TD3Config,
)

MAX_STEPS, MAX_SPEED = 40, 7.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waits are told, however busy the machine is: tests look at what commands print."""
    monkeypatch.setattr(waiting, "PATIENCE", 3600.0)


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


class SeenPendulumVectorEnv(PendulumVectorEnv):
    """The same pendulums, seen in parts, one of them a picture that is brighter on the side of the bob."""

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs)
        parts = {
            "direction": gym.spaces.Box(-1.0, 1.0, (2,), np.float32),
            "picture": gym.spaces.Box(0, 255, (36, 40, 3), np.uint8),
            "speed": gym.spaces.Box(-np.inf, np.inf, (1,), np.float32),
        }
        self.single_observation_space = gym.spaces.Dict(parts)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)

    def _observe(self) -> dict[str, torch.Tensor]:  # type: ignore[override]
        numbers = super()._observe()
        columns = torch.linspace(-1, 1, 40)
        brightness = (127 + 120 * numbers[:, 1:2] * columns).to(torch.uint8)  # (num_envs, 40)
        picture = brightness[:, None, :, None].repeat(1, 36, 1, 3)
        return {"direction": numbers[:, :2].clone(), "picture": picture, "speed": numbers[:, 2:].clone()}


class ToldApartPendulumVectorEnv(PendulumVectorEnv):
    """The same pendulums: the actor is shown the angle, the critic the angle and the speed."""

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs)
        parts = {name: gym.spaces.Box(-np.inf, np.inf, (n,), np.float32) for name, n in (("critic", 3), ("policy", 2))}
        self.single_observation_space = gym.spaces.Dict(parts)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)

    def _observe(self) -> dict[str, torch.Tensor]:  # type: ignore[override]
        numbers = super()._observe()
        return {"critic": numbers, "policy": numbers[:, :2].clone()}


def choosing(kind: type[PendulumVectorEnv], space: gym.Space[Any]) -> type[PendulumVectorEnv]:
    """Return a class of pendulums whose torque is the sum of choices."""

    class Choosing(kind):  # type: ignore[misc, valid-type]
        def __init__(self, num_envs: int) -> None:
            super().__init__(num_envs)
            self.single_action_space = space
            self.action_space = gym.vector.utils.batch_space(space, num_envs)

        def step(self, actions: Any) -> Any:
            assert actions.dtype == torch.int64
            return super().step(actions.reshape(self.num_envs, -1).sum(1, keepdim=True).float() - 1)

    return Choosing


KINDS = {
    "box": PendulumVectorEnv,
    "dict": SeenPendulumVectorEnv,
    "told apart": ToldApartPendulumVectorEnv,
    "told apart, with choices": choosing(ToldApartPendulumVectorEnv, gym.spaces.Discrete(3)),
}
"""Pendulums by their observations and actions."""


@pytest.fixture(scope="session")
def told_apart_pendulums() -> type[ToldApartPendulumVectorEnv]:
    """The class of pendulums that actor and critic see differently."""
    return ToldApartPendulumVectorEnv


@pytest.fixture
def seen_pendulums() -> type[SeenPendulumVectorEnv]:
    """The class of pendulums that are seen in parts."""
    return SeenPendulumVectorEnv


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Torch's threads wait for each other on a machine that does other things, and may add in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def pendulums() -> type[PendulumVectorEnv]:
    """The vector environment's class."""
    return PendulumVectorEnv


@pytest.fixture(scope="session")
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


@pytest.fixture
def small_td3(small_sac: RunConfig) -> RunConfig:
    """The same of TD3."""
    return replace(small_sac, algo="td3", td3=TD3Config(buffer_size=1000, learning_starts=100, batch_size=32))


@pytest.fixture
def configs(small_ppo: RunConfig, small_sac: RunConfig, small_td3: RunConfig) -> dict[str, RunConfig]:
    """A short configuration of every algorithm, of every learner, and of PPO whose divergence steers the rate."""
    names = {"ppo": small_ppo, "sac": small_sac, "td3": small_td3}
    compiled = {f"compiled {algo}": one.change({f"{algo}.learner": "compiled"}) for algo, one in names.items()}
    lean, steered = small_ppo.change({"ppo.learner": "lean"}), compiled["compiled ppo"].change({"ppo.desired_kl": 0.01})
    recurrent = replace(
        small_ppo,
        algo="recurrent_ppo",
        recurrent_ppo=RecurrentPPOConfig(n_steps=16, batch_size=64, n_epochs=2, lstm_hidden_size=8),
    )
    return names | compiled | {"lean": lean, "steered ppo": steered, "recurrent_ppo": recurrent}


LEVER_XML = """
<mujoco model="lever">
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="lever" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge" gear="2" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>
"""

LEVER_PY = '''
import tumble
from tumble.envs import Start, StepResult, Task


class Lever(Task):
    """Hold a lever at an angle that is drawn anew in every episode."""

    xml_file: str = "lever.xml"
    frame_skip: int = 4
    weight: float = 1.0

    def reset(self, noise):
        return Start(noise.uniform(-0.1, 0.1, 1), self.array([0.0]), {"goal": noise.uniform(-1, 1, 1)})

    def observation(self, state):
        return self.xp.concat((state.qpos, state.qvel, state.memory["goal"]), axis=1)

    def step(self, state, action):
        off = (state.qpos - state.memory["goal"])[:, 0]
        return StepResult(self.observation(state), {"off": -self.weight * off * off})


tumble.register("me/Lever-v0", Lever, max_episode_steps=20)
'''


class Command:
    """The `tumble` command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def run(self, *arguments: Any, code: int = 0) -> tuple[str, str]:
        """Run it as the shell does; returns standard output and the errors."""
        self.monkeypatch.setattr(sys, "argv", ["tumble", *map(str, arguments)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = self.capsys.readouterr()
        assert (stopped.value.code or 0) == code, out + err
        assert "Traceback" not in err
        return out, err

    def __call__(self, *arguments: Any) -> str:
        """Run it and return what it printed."""
        return self.run(*arguments)[0]

    def mistake(self, *arguments: Any) -> str:
        """Run it, expect exit code 2 and one line, and return that."""
        message = self.run(*arguments, code=2)[1]
        assert message.startswith("error: ") and len(message.splitlines()) == 1, message
        return message


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The `tumble` command."""
    return Command(monkeypatch, capsys)


class Workshop:
    """A folder with tasks of a user's own: `lever.xml` and a file for each call of `write`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "lever.xml").write_text(LEVER_XML)

    def write(self, name: str, code: str = LEVER_PY, more: str = "") -> Path:
        """Write a file with a task; `more` comes at its end."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code + more)
        return path

    def forget(self) -> None:
        """Forget what was imported from the folder, as a new process would."""
        for name in list(sys.modules):
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(self.folder)):
                del sys.modules[name]
        task_source._imported.clear()
        for task in [task for task in gym.registry if task.startswith("me/")]:
            del gym.registry[task]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    """A user's folder, outside of the repository and the present one; what is imported from it is forgotten after."""
    folder = tmp_path / "workshop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(task_source, "_imported", {})
    modules, registered = set(sys.modules), dict(gym.registry)
    yield Workshop(folder)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    gym.registry.clear()
    gym.registry.update(registered)
