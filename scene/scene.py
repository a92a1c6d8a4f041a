"""Scene: entities are added, `build` makes one model of them, `step` moves all environments."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..physics.model.model import Model
from ..physics.scalars import as_count
from . import materials, morphs, surfaces
from .compose import SEPARATOR, Piece, compose
from .entity import RigidEntity
from .errors import SceneOrderError
from .make import make_piece
from .options import RigidOptions, SimOptions
from .outline import Outline
from .ranges import ranges_of
from .records import nearest
from .sensors.manager import SensorManager, split
from .sensors.sensor import Sensor
from .variants import Variants, variants_of
from .world import World


class Scene:
    """Entities, and what happens to them.

    Args:
        sim_options: time and gravity.
        rigid_options: contacts, constraints, integration.

    Attributes:
        variants: entities whose shapes differ from environment to environment.

    Raises:
        TypeError: an option is of another class.
    """

    def __init__(self, sim_options: SimOptions | None = None, rigid_options: RigidOptions | None = None) -> None:
        self.sim_options = _option("sim_options", sim_options, SimOptions)
        self.rigid_options = _option("rigid_options", rigid_options, RigidOptions)
        self._entities: list[RigidEntity] = []
        self._pieces: list[Piece] = []
        self._callbacks: list[Callable[[], None]] = []
        self._sensors = SensorManager()
        self.variants: list[Variants] = []
        self._world: World | None = None

    def __repr__(self) -> str:
        state = f"{self.n_envs} environments" if self.is_built else "not built"
        return f"Scene({len(self._entities)} entities, {state})"

    # composition

    def add_entity(
        self,
        morph: morphs.Morph | Sequence[morphs.Morph],
        material: materials.Rigid | None = None,
        surface: surfaces.Surface | None = None,
        visualize_contact: bool = False,
        vis_mode: str | None = None,
        name: str | None = None,
    ) -> RigidEntity:
        """Add an entity.

        Args:
            morph: its shape and place; or several of one kind, such as boxes, that differ in size and place: each is in
                a share of the environments, in blocks as even as can be.
            material: what it weighs and how it touches; None: `materials.Rigid()`.
            surface: how it looks; None: `surfaces.Default()`.
            visualize_contact: whether pictures show its contacts.
            vis_mode: "visual" or "collision": which geoms are drawn.
            name: of its own among the entities; None: the kind of its shape, and its number.

        Raises:
            SceneOrderError: the scene is built.
            ValueError: the name is taken, or is none.
            TypeError: an argument is of another class.
            ModelLoadError: its file is missing or broken.
        """
        self._require_not_built("add_entity")
        several = list(morph) if isinstance(morph, Sequence) else [morph]
        if not several:
            raise ValueError("morph: an empty list; give one shape at least")
        for each in several:
            _of_class("morph", each, morphs.Morph)
        morph = several[0]
        made_of = (
            morph,
            _of_class("material", material or materials.Rigid(), materials.Rigid),
            _of_class("surface", surface or surfaces.Default(), surfaces.Surface),
        )
        idx = len(self._entities)
        name = self._free_name(f"{morph.NAME}_{idx}" if name is None else name)
        piece = make_piece(name, *made_of, self.rigid_options)
        entity = RigidEntity(self, idx, name, made_of, Outline.of(piece.spec))
        if len(several) > 1:
            self.variants.append(variants_of(name, several, *made_of[1:], self.rigid_options))
        self._pieces.append(piece)
        self._entities.append(entity)
        return entity

    def _free_name(self, name: Any) -> str:
        if not isinstance(name, str) or not name or SEPARATOR in name:
            raise ValueError(f"name={name!r}: expected a name without '{SEPARATOR}'")
        if name in self.entity_names:
            raise ValueError(f"name={name!r}: the scene has an entity of this name; choose another")
        return name

    def add_sensor(self, sensor_options: Any) -> Sensor:
        """Add a sensor: one of `gs.sensors`. It reads after `build`, and after each `step` and `reset`.

        Raises:
            SceneOrderError: the scene is built.
            TypeError: these are no options of a sensor.
            IndexError: its entity, link or dof does not exist.
            ValueError: it needs an entity.
        """
        self._require_not_built("add_sensor")
        return self._sensors.add(sensor_options, self)

    def build(
        self,
        n_envs: int = 0,
        env_spacing: Sequence[float] = (0.0, 0.0),
        n_envs_per_row: int | None = None,
        center_envs_at_origin: bool = True,
    ) -> None:
        """Make one model of all entities, and its environments.

        Args:
            n_envs: number of environments; 0: one, whose tensors have no batch dimension.
            env_spacing: distances along x and y at which pictures show environments side by side, m.
            n_envs_per_row: how many stand along x; None: about as many as along y.
            center_envs_at_origin: whether the middle of all is at the world's origin.

        Raises:
            SceneOrderError: the scene is built.
            ModelLoadError: MuJoCo cannot compile the model.
            UnsupportedModelError: an entity uses what Tumble does not simulate.
        """
        self._require_not_built("build")
        n_envs = as_count("n_envs", n_envs, least=0)
        offsets = _offsets(max(1, n_envs), env_spacing, n_envs_per_row, center_envs_at_origin)
        model = self.make_model()
        ranges = ranges_of(model, self.entity_names, [entity.n_links for entity in self._entities])
        self._world = World(model, n_envs, offsets, self._sensors.reads)
        for variants in self.variants:
            variants.apply(self._world.solver)
        for entity, own in zip(self._entities, ranges, strict=True):
            entity.place(self._world, own)
        self._sensors.build(self._world)

    def make_model(self, *, actuators: bool = False, **options: Any) -> Model:
        """Return the model of all entities, compiled; the scene stays as it is.

        Args:
            actuators: whether the actuators of files act; in a scene that is built, controls of dofs alone do.
            options: override those of the scene, e.g. timestep=0.005: `tumble.physics.Model.from_mjcf`.

        Raises:
            ModelLoadError: MuJoCo cannot compile the model.
            UnsupportedModelError: an entity uses what Tumble does not simulate.
            ValueError: for an unknown option.
        """
        return compose(self._pieces, self.sim_options, self.rigid_options, actuators, **options)

    # life

    def step(self, update_visualizer: bool = True, refresh_visualizer: bool = True) -> None:
        """Simulate `dt` seconds in all environments, after the callbacks of `register_pre_step_callback`."""
        world = self._built("step")
        for callback in self._callbacks:
            callback()
        world.solver.step(self.substeps)
        self._sensors.after_step()

    def reset(self, state: dict[str, torch.Tensor] | None = None, envs_idx: Any = None) -> None:
        """Put environments into the state in which they were built, or into one of `get_state`.

        Args:
            state: of all environments that are named, or of one; None: the state after `build`.
            envs_idx: which environments; None: all.
        """
        world = self._built("reset")
        envs = world.envs(envs_idx)
        if state is None:
            world.solver.state.reset(envs)
            self._sensors.after_reset(envs)
        else:
            of_sensors, of_solver = split(state)
            self._sensors.check_state(of_sensors)
            world.solver.state.load_state_dict(of_solver, envs)
            self._sensors.load_state_dict(of_sensors, envs)

    def get_state(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return all that the future of environments depends on, to the bit; `reset` goes on from there."""
        world = self._built("get_state")
        envs = world.envs(envs_idx)
        return world.solver.state.state_dict(envs) | self._sensors.state_dict(envs)

    def read_sensors(
        self, entity_idx: int | None = None, envs_idx: Any = None, is_ground_truth: bool = False
    ) -> dict[str, torch.Tensor]:
        """Return the readings of all sensors, side by side, by `gs.sensors.types`: "IMU" and so on, (n, m) each.

        Sensors of a kind are in the order in which they were added; with a history it is (n, history, m).

        Args:
            entity_idx: number of the entity whose sensors are read, -1: of none; None: all.
            envs_idx: which environments; None: all.
            is_ground_truth: whether what is true is returned, not what is measured.

        Raises:
            ValueError: sensors of one kind have histories of different lengths.
        """
        self._built("read_sensors")
        return self._sensors.read(entity_idx, envs_idx, is_ground_truth)

    @property
    def sensors(self) -> list[Sensor]:
        """All sensors, in the order in which they were added."""
        return list(self._sensors.sensors)

    def register_pre_step_callback(self, callback: Callable[[], None]) -> None:
        """Call a function without arguments before each step."""
        if not callable(callback):
            raise TypeError(f"callback={callback!r}: expected a function without arguments")
        self._callbacks.append(callback)

    def get_time(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the simulated seconds since the reset of environments, (n,) float64; () without a batch."""
        world = self._built("get_time")
        time, envs = world.solver.state.time, world.envs(envs_idx)
        return world.out(time if envs is None else time[torch.as_tensor(envs)])

    def write_mjcf(self, path: str | os.PathLike) -> None:
        """Write the compiled scene as an MJCF file, which MuJoCo opens: `tumble.physics.Model.write_mjcf`.

        Raises:
            ModelWriteError: MJCF cannot hold it.
        """
        self._built("write_mjcf").model.write_mjcf(path)

    # names

    def get_entity(self, name: str) -> RigidEntity:
        """Return an entity by its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        for entity in self._entities:
            if entity.name == name:
                return entity
        raise KeyError(f"the scene has no entity {name!r}{nearest(name, self.entity_names)}")

    @property
    def entities(self) -> list[RigidEntity]:
        """All entities, in the order in which they were added."""
        return list(self._entities)

    @property
    def entity_names(self) -> list[str]:
        """Their names."""
        return [entity.name for entity in self._entities]

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
    def dt(self) -> float:
        """Seconds that a step simulates."""
        return self.sim_options.dt

    @property
    def substeps(self) -> int:
        """Physics steps in a step."""
        return self.sim_options.substeps

    def _built(self, call: str) -> World:
        if self._world is None:
            raise SceneOrderError(f"{call}: call scene.build() first")
        return self._world

    def _require_not_built(self, call: str) -> None:
        if self._world is not None:
            raise SceneOrderError(f"{call}: the scene is built already; make a new Scene")


def _option(name: str, given: Any, kind: type) -> Any:
    return _of_class(name, kind() if given is None else given, kind)


def _of_class(name: str, given: Any, kind: type) -> Any:
    """Return an argument, or refuse one of another class.

    Raises:
        TypeError: with what was expected.
    """
    if not isinstance(given, kind):
        hint = ": make one, with parentheses" if isinstance(given, type) and issubclass(given, kind) else ""
        raise TypeError(f"{name}: expected a {kind.__module__.rpartition('.')[2]}.{kind.__name__}, got {given!r}{hint}")
    return given


def _offsets(count: int, spacing: Sequence[float], per_row: int | None, center: bool) -> np.ndarray:
    """Return where environments are drawn, (count, 3) m, in rows along x."""
    columns = int(np.ceil(np.sqrt(count))) if per_row is None else as_count("n_envs_per_row", per_row)
    number = np.arange(count)
    places = np.stack([number % columns * spacing[0], number // columns * spacing[1], np.zeros(count)], axis=1)
    return places - (places.max(0) + places.min(0)) / 2 if center else places
