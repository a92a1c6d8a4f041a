"""The life of a built scene: steps, resets, states, files, its end."""

import os
from collections.abc import Callable
from typing import Any

import torch

from .camera import Camera
from .errors import SceneOrderError
from .options import SimOptions
from .recorders.manager import RecorderManager
from .saving import load_state, own_rows, state_of
from .sensors.manager import SensorManager
from .world import World


class Life:
    """The calls of a scene that is built."""

    sim_options: SimOptions
    _sensors: SensorManager
    _recorders: RecorderManager
    _cameras: list[Camera]
    viewer: Any = None

    @property
    def entity_names(self) -> list[str]:
        """Names of the entities."""
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self._world: World | None = None
        self._closed = False
        self._callbacks: list[Callable[[], None]] = []
        self._steps = 0

    def step(self, update_visualizer: bool = True, refresh_visualizer: bool = True) -> None:
        """Simulate `dt` seconds in all environments, after the callbacks of `register_pre_step_callback`.

        Args:
            update_visualizer: whether the page of `show_viewer=True` shows it, and `step` returns when the next is due.
            refresh_visualizer: kept.
        """
        world = self._built("step")
        for callback in self._callbacks:
            callback()
        world.step(self.substeps)
        self._steps += 1
        self._sensors.after_step()
        self._recorders.after_step(self._steps, self._steps * self.dt)
        if update_visualizer and self.viewer is not None:
            self.viewer.update()

    def reset(self, state: dict[str, torch.Tensor] | None = None, envs_idx: Any = None) -> None:
        """Put environments into the state in which they were built, or into one of `get_state`.

        Args:
            state: of the environments that are named, of one, or of all, of which each that is named takes its own;
                None: the state after `build`.
            envs_idx: which environments; None: all.

        Raises:
            TypeError: the state is no mapping.
            ValueError: it is of another scene, step, precision or number of environments; nothing is changed then.
        """
        world = self._built("reset")
        envs = world.envs(envs_idx)
        if state is None:
            world.solver.state.reset(envs)
            self._sensors.after_reset(envs)
        else:
            load_state(own_rows(state, world, envs), world, self._sensors, envs)
        world.stop_drives(envs)
        if envs is None:
            self._steps = 0
            self._recorders.after_reset()

    def get_state(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return all that the future of environments depends on, to the bit; `reset` goes on from there."""
        world = self._built("get_state")
        return state_of(world, self._sensors, world.envs(envs_idx))

    def register_pre_step_callback(self, callback: Callable[[], None]) -> None:
        """Call a function without arguments before each step."""
        if not callable(callback):
            raise TypeError(f"callback={callback!r}: expected a function without arguments")
        self._callbacks.append(callback)

    def get_time(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the simulated seconds since the reset of environments, (n,) float64; () without a batch."""
        world = self._built("get_time")
        time, envs = world.solver.state.time, world.envs(envs_idx)
        return world.out(time if envs is None else time[world.indices(envs)])

    def read_sensors(
        self, envs_idx: Any = None, *, entity_idx: int | None = None, is_ground_truth: bool = False
    ) -> dict[str, torch.Tensor]:
        """Return the readings of all sensors, side by side, by `gs.sensors.types`: "IMU" and so on, (n, m) each.

        Sensors of a kind are in the order in which they were added; with a history it is (n, history, m).

        Args:
            envs_idx: which environments; None: all.
            entity_idx: number of the entity whose sensors are read, -1: of none; None: all.
            is_ground_truth: whether what is true is returned, not what is measured.

        Raises:
            ValueError: sensors of one kind have histories of different lengths.
        """
        self._built("read_sensors")
        return self._sensors.read(entity_idx, envs_idx, is_ground_truth)

    def close(self) -> None:
        """Write what is recorded, and give the memory back. All else asked of it and its entities is an error."""
        self._recorders.stop()
        if self.viewer is not None:
            self.viewer.close()
        if self._world is not None:
            self._world.solver.close()
        self._world, self._closed = None, True
        self._sensors.close()
        for camera in self._cameras:
            camera.close()

    destroy = close

    def write_mjcf(self, path: str | os.PathLike) -> None:
        """Write the compiled scene as an MJCF file, which MuJoCo opens: `tumble.physics.Model.write_mjcf`.

        Raises:
            ModelWriteError: MJCF cannot hold it.
        """
        self._built("write_mjcf").model.write_mjcf(path)

    @property
    def world(self) -> World:
        """The built scene, as its entities see it."""
        return self._built("world")

    @property
    def rigid_solver(self) -> Any:
        """The solver of the built scene: a `tumble.physics.RigidSolver`."""
        return self._built("rigid_solver").solver

    @property
    def is_built(self) -> bool:
        """True after `build`."""
        return self._world is not None

    @property
    def n_envs(self) -> int:
        """Number of environments, as `build` was given."""
        return self._built("n_envs").n_envs

    @property
    def sim(self) -> Any:
        """The simulation, which is the scene itself."""
        return self

    @property
    def solvers(self) -> list[Any]:
        """The solvers of the built scene: that of rigid bodies."""
        return [self.rigid_solver]

    active_solvers = solvers

    @property
    def t(self) -> int:
        """Steps since the scene was built, or all of it was reset."""
        return self._steps

    @property
    def requires_grad(self) -> bool:
        """False: steps have no gradients yet."""
        return False

    @property
    def dt(self) -> float:
        """Seconds that a step simulates."""
        return self.sim_options.dt

    @property
    def substeps(self) -> int:
        """Physics steps in a step."""
        return self.sim_options.substeps

    def _built(self, call: str) -> World:
        if self._world is None:
            reason = "the scene is closed; make a new one" if self._closed else "call scene.build() first"
            raise SceneOrderError(f"{call}: {reason}")
        return self._world

    def _require_not_built(self, call: str) -> None:
        if self._world is not None or self._closed:
            state = "closed" if self._closed else "built already"
            raise SceneOrderError(f"{call}: the scene is {state}; make a new Scene")
