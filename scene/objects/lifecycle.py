"""Steps, resets and states of a built scene, and its end."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..checks import Indices
from ..files.saving import load_state, own_rows, state_of
from .contents import SceneContents
from .viewing import SceneViewing


class SceneLifecycle:
    """The calls of a scene that is built.

    Attributes:
        t: steps since the scene was built, or all of it was reset.
    """

    t: int

    def __init__(self, contents: SceneContents, viewing: SceneViewing) -> None:
        self._contents, self._viewing = contents, viewing
        self._callbacks: list[Callable[[], None]] = []
        self.t = 0

    def step(self, update_visualizer: bool = True, refresh_visualizer: bool = True) -> None:
        """Simulate `dt` seconds in all environments, after the callbacks of `register_pre_step_callback`.

        Args:
            update_visualizer: whether the page of `show_viewer=True` shows it, and `step` returns when the next is due.
            refresh_visualizer: kept.
        """
        contents, viewer = self._contents, self._viewing.viewer
        world = contents.built("step")
        for callback in self._callbacks:
            callback()
        world.step(contents.substeps)
        self.t += 1
        contents.sensors.after_step()
        with torch.no_grad():
            contents.recorders.after_step(self.t, self.t * contents.dt)
            if update_visualizer and viewer is not None:
                viewer.update()

    def reset(self, state: Mapping[str, torch.Tensor] | None = None, envs_idx: Indices = None) -> None:
        """Put environments into the state in which they were built, or into one of `get_state`.

        With `requires_grad` this cuts torch's graph: they become constants.

        Args:
            state: of the named environments, of one, or of all, from which each named one takes its rows;
                None: the state after `build`.
            envs_idx: which environments; None: all.

        Raises:
            TypeError: the state is no mapping.
            ValueError: it is of another scene, step, precision or number of environments; nothing is changed then.
        """
        world, sensors = self._contents.built("reset"), self._contents.sensors
        envs = world.envs(envs_idx)
        if state is None:
            world.solver.state.reset(envs)
            if world.matter is not None:
                world.matter.reset(envs)
            sensors.after_reset(envs)
        else:
            load_state(own_rows(state, world, envs), world, sensors, envs)
        world.stop_drives(envs)
        if envs is None:
            self.t = 0
            self._contents.recorders.after_reset()

    def backward(self, loss: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        """Do what `loss.backward(*args, **kwargs)` does, in a scene with `SimOptions(requires_grad=True)`.

        Raises:
            ValueError: the scene has no gradients, or the loss depends on no tensor that requires one.
        """
        if not self._contents.requires_grad:
            raise ValueError("backward: the scene has no gradients; make it with SimOptions(requires_grad=True)")
        if not loss.requires_grad:
            raise ValueError(
                "backward: the loss depends on no tensor that requires gradients; give one to a setter after the last "
                "reset, and make the loss of what getters return, without torch.no_grad() or detach()"
            )
        loss.backward(*args, **kwargs)

    def get_state(self, envs_idx: Indices = None) -> dict[str, torch.Tensor]:
        """Return all that the future of environments depends on, to the bit; `reset` goes on from there."""
        world = self._contents.built("get_state")
        return state_of(world, self._contents.sensors, world.envs(envs_idx))

    def register_pre_step_callback(self, callback: Callable[[], None]) -> None:
        """Call a function without arguments before each step."""
        if not callable(callback):
            raise TypeError(f"callback={callback!r}: expected a function without arguments")
        self._callbacks.append(callback)

    def get_time(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the simulated seconds since the reset of environments, (n,) float64; () without a batch."""
        world = self._contents.built("get_time")
        time, envs = world.solver.state.time, world.envs(envs_idx)
        return world.out(time if envs is None else time[world.indices(envs)])

    def read_sensors(
        self, envs_idx: Indices = None, *, entity_idx: int | None = None, is_ground_truth: bool = False
    ) -> dict[str, torch.Tensor]:
        """Return the readings of all sensors, side by side, by `gs.sensors.types`: "IMU" and so on, (n, m) each.

        Sensors of a kind are in the order in which they were added; with a history it is (n, history, m).

        Args:
            envs_idx: which environments; None: all.
            entity_idx: number of the entity whose sensors are read, -1: no entity; None: all.
            is_ground_truth: whether true values are returned, not measured ones.

        Raises:
            ValueError: sensors of one kind have histories of different lengths.
        """
        self._contents.built("read_sensors")
        return self._contents.sensors.read(entity_idx, envs_idx, is_ground_truth)

    def close(self) -> None:
        """Write recordings, and free the memory. Any other use of it and its entities is an error."""
        contents = self._contents
        contents.recorders.stop()
        if self._viewing.viewer is not None:
            self._viewing.viewer.close()
        if contents.environments is not None:
            contents.environments.close()
        contents.environments, contents.closed = None, True
        contents.sensors.close()
        for camera in contents.cameras:
            camera.close()
