"""A trained actor as one torch module: raw observations in, an action within the action space out.

It contains all steps of `Policy.act` around the network: the running statistics of observations, their clipping, and
the bounds of actions. It has no branch on data, so that it can be exported.
"""

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.preprocessing import is_image_space
from torch import Tensor, nn

from .policy import Policy
from .spaces import boxes

WHOLE = "observation"  # the input's name if the observation is one array


class Normalizer(nn.Module):
    """Brings a part of the observation to scale and clips it, as training did; pictures become (n, channels, h, w)."""

    mean: Tensor
    scale: Tensor

    def __init__(self, policy: Policy, name: str, box: gym.spaces.Box) -> None:
        super().__init__()
        self.is_picture, self.is_normalized = is_image_space(box), name in policy.statistics
        mean, scale = policy.statistics.get(name, (np.zeros(()), np.ones(())))
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))
        self.clip = policy.clip

    def forward(self, part: Tensor) -> Tensor:
        """Return the part (n, ...) as the network takes it, float32."""
        if self.is_picture:
            return part.permute(0, 3, 1, 2).to(torch.float32) / 255.0
        if self.is_normalized:
            part = torch.clamp((part - self.mean) / self.scale, -self.clip, self.clip)
        return part


class Bounds(nn.Module):
    """Turns the actor's output (n, k) into an action (n, ...) of the action space: the most likely one."""

    low: Tensor
    high: Tensor

    def __init__(self, space: gym.Space[Any], squashed: bool) -> None:
        super().__init__()
        self.kind, self.squashed = type(space), squashed
        self.shape = tuple(space.shape or ())
        self.widths = space.nvec.tolist() if isinstance(space, gym.spaces.MultiDiscrete) else []
        if isinstance(space, gym.spaces.Box):
            self.register_buffer("low", torch.as_tensor(space.low, dtype=torch.float32))
            self.register_buffer("high", torch.as_tensor(space.high, dtype=torch.float32))

    def forward(self, output: Tensor) -> Tensor:
        """Return the action: float32 for a Box, else int64."""
        if self.kind is gym.spaces.Discrete:
            return output.argmax(dim=1)
        if self.kind is gym.spaces.MultiDiscrete:
            return torch.stack([part.argmax(dim=1) for part in output.split(self.widths, dim=1)], dim=1)
        if self.kind is gym.spaces.MultiBinary:
            return (output > 0).to(torch.int64)
        action = output.reshape(-1, *self.shape)
        if self.squashed:  # by tanh, between -1 and 1
            return self.low + 0.5 * (action + 1.0) * (self.high - self.low)
        return torch.minimum(torch.maximum(action, self.low), self.high)


class ActorModule(nn.Module):
    """The deterministic actor of a policy, with everything that stands between it and the robot.

    Attributes:
        parts: The names of the parts of the observation; `("",)` if it is one array.
        input_types: Shape without the number of observations, and type, of each input by its name: "observation", or
            the parts by theirs.
        output_names: "action"; then "next_" and the name of each of `memory`.
        memory: The states of a recurrent actor by name, (layers, n, size) each: zeros where an episode begins, then
            the actor's outputs of the step before. Empty for other actors.

    Args:
        policy: The policy, on the processor.
    """

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        network: Any = policy.network
        self.parts = policy.parts
        spaces: dict[str, Any] = boxes(policy.observation_space)
        self.normalizers = nn.ModuleList(Normalizer(policy, name, spaces[name]) for name in self.parts)
        if hasattr(network, "mlp_extractor"):  # PPO
            self.extractor = network.pi_features_extractor
            self.lstm = getattr(network, "lstm_actor", None)
            self.layers: nn.Module = nn.Sequential(network.mlp_extractor.policy_net, network.action_net)
        else:
            self.lstm, actor = None, network.actor
            self.extractor = actor.features_extractor
            is_sac = hasattr(actor, "latent_pi")
            self.layers = nn.Sequential(actor.latent_pi, actor.mu, nn.Tanh()) if is_sac else actor.mu
        kinds = {name: np.dtype(np.uint8 if is_image_space(spaces[name]) else np.float32) for name in self.parts}
        self.input_types = {name or WHOLE: (spaces[name].shape, kinds[name]) for name in self.parts}
        self.memory: dict[str, tuple[int, int]] = {}  # layers and size
        if self.lstm is not None:
            self.memory = dict.fromkeys(("hidden_state", "cell_state"), (self.lstm.num_layers, self.lstm.hidden_size))
        self.output_names = ("action", *(f"next_{name}" for name in self.memory))
        self.bounds = Bounds(network.action_space, squashed=network.squash_output)
        self.eval()

    def forward(self, observation: Any, *memory: Tensor) -> Any:
        """Return the action (n, ...) for a raw observation (n, ...): a tensor, or a dictionary of them.

        A recurrent actor takes its memory besides, and returns a tuple: the action, and the memory for the next step.
        """
        features = self._features(observation)
        if self.lstm is None:
            return self.bounds(self.layers(features))
        output, (hidden, cell) = self.lstm(features[None], (memory[0], memory[1]))
        return self.bounds(self.layers(output[0])), hidden, cell

    def named(self, seen: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return inputs by name for a result of `Policy.seen`."""
        return {name or WHOLE: seen[name].astype(self.input_types[name or WHOLE][1]) for name in self.parts}

    def forget(self, rows: int) -> dict[str, np.ndarray]:
        """Return the memory of `rows` episodes that begin, by name."""
        return {name: np.zeros((layers, rows, size), np.float32) for name, (layers, size) in self.memory.items()}

    def arguments(self, inputs: dict[str, Tensor]) -> tuple[Any, ...]:
        """Return the arguments of `forward` for inputs by name."""
        seen = inputs[WHOLE] if self.parts == ("",) else {name: inputs[name] for name in self.parts}
        return (seen, *(inputs[name] for name in self.memory))

    def _features(self, observation: Any) -> Tensor:
        """Return the inputs of the actor's layers, (n, width)."""
        if self.parts == ("",):
            return self.extractor(self.normalizers[0](observation))
        pairs = zip(self.parts, self.normalizers, strict=True)
        return self.extractor({name: normalizer(observation[name]) for name, normalizer in pairs})


class Positional(nn.Module):
    """An `ActorModule` that takes the parts of its observation one after the other, as ONNX has its inputs."""

    def __init__(self, actor: ActorModule) -> None:
        super().__init__()
        self.actor = actor

    def forward(self, *inputs: Tensor) -> Any:
        """Return the actor's actions, for the parts of the observation in their order, and then its memory."""
        names = (*(name or WHOLE for name in self.actor.parts), *self.actor.memory)
        return self.actor(*self.actor.arguments(dict(zip(names, inputs, strict=True))))
