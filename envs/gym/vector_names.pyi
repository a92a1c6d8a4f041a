# fmt: off
# ruff: noqa
"""Flat names of `VectorNames`, for editors and type checkers: written by `python -m tests.flat_names`."""

import collections.abc
import gymnasium.vector.vector_env
import numpy
import torch
import tumble.envs.gym.episodes
import tumble.envs.gym.pictures
import tumble.envs.gym.snapshots
import typing

class VectorNames:
    episodes: tumble.envs.gym.episodes.Episodes
    pictures: tumble.envs.gym.pictures.VectorPictures
    snapshots: tumble.envs.gym.snapshots.Snapshots
    autoreset_mode: gymnasium.vector.vector_env.AutoresetMode
    @property
    def episode_lengths(self) -> typing.Any: """Steps of the time limit that the running episodes have taken, (num_envs,) int64."""
    @episode_lengths.setter
    def episode_lengths(self, value: typing.Any) -> None: ...
    @property
    def max_episode_steps(self) -> int | None: """After how many steps an episode is truncated; None: never."""
    @property
    def np_random_seed(self) -> tuple[int | None, ...]: """The seed of every environment, as of Gymnasium's SyncVectorEnv; missing ones are drawn now."""
    def state_dict(self) -> dict[str, typing.Any]: """Everything that the future depends on, as tensors, numbers and lists: the same actions give the same bits."""
    def load_state_dict(self, state: dict[str, typing.Any]) -> None: """Go on where `state_dict` of environments made with the same arguments left off; needs no reset."""
    def render(self) -> tuple[numpy.ndarray, ...] | None: """Picture the environments in `render_envs`, an array each: uint8 (height, width, 3), or depth (height, width)."""
    render_mode: str | None
    @property
    def render_envs(self) -> torch.Tensor: """The environments that `render` shows, (k,) indices on the solver's device."""
    @render_envs.setter
    def render_envs(self, value: collections.abc.Sequence[int] | torch.Tensor | None) -> None: ...
    def render_tensor(self, envs_idx: collections.abc.Sequence[int] | torch.Tensor | None = None) -> torch.Tensor: """Picture the environments `envs_idx` (k,), by default `render_envs`: uint8 (k, height, width, 3)."""
    def render_grid(self, envs_idx: collections.abc.Sequence[int] | torch.Tensor | None = None, columns: int | None = None, gap: int = ...) -> torch.Tensor: """Picture environments as one picture of rows and columns, uint8 (height, width, 3), where the solver is."""
    def render_together(self, envs_idx: collections.abc.Sequence[int] | torch.Tensor | None = None, spacing: collections.abc.Sequence[float] = ...) -> torch.Tensor: """Picture environments side by side in one world, uint8 (height, width, 3), where the solver is."""
    def dress_pictures(self, look: typing.Any = None, show: typing.Any = None) -> None: """Draw from now on in another look, or other things beside geoms; None for the usual ones."""
    def body_pixels(self, envs_idx: collections.abc.Sequence[int] | torch.Tensor | None = None) -> tuple[torch.Tensor, list[str]]: """Return where bodies are seen, (k, bodies, 2) pixels right and down, nan behind the camera, and their names."""
    def snapshot(self, envs_idx: int | collections.abc.Sequence[int] | numpy.ndarray | torch.Tensor | None = None) -> tumble.envs.gym.snapshots.Snapshot: """Take a snapshot of environments: of state, inputs, own numbers of the model, memory, noise and time limits."""
    def restore(self, snapshot: tumble.envs.gym.snapshots.Snapshot, envs_idx: int | collections.abc.Sequence[int] | numpy.ndarray | torch.Tensor | None = None, *, noise: str = 'same') -> typing.Any: """Go on where a snapshot was taken, of these environments or of others with the same task."""
    def branch(self, env: int, targets: int | collections.abc.Sequence[int] | numpy.ndarray | torch.Tensor | None = None, *, noise: str = 'same') -> typing.Any: """Copy an environment into others, from which they all go on: `restore(snapshot(env), targets)`."""
