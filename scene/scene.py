"""Scene: entities are added, `build` makes one model of them, `step` moves all environments."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar, overload
from weakref import WeakSet

from ..physics.machine.disk import read_regular
from ..physics.machine.scalars import as_count, as_flag
from ..physics.model.model import Model
from ..physics.rendering.side_by_side import side_by_side
from ..physics.solver.user.state_file import model_digest
from . import materials, morphs, surfaces
from .checks import Numbers, numbers
from .compat.ignored import ignore
from .entity.all_entities import AllEntities
from .entity.drone_entity import DroneEntity
from .entity.entity import RigidEntity
from .entity.mpm_entity import MPMEntity
from .entity.terrain_entity import TerrainEntity
from .files import description, saving
from .files.trajectory import SceneTrajectory
from .model.attaching import in_order
from .model.compose import Piece, compose
from .model.drone_file import is_mjcf
from .model.fingers import warn_of_long_steps
from .model.gains import begin_gains
from .model.lights import Light
from .model.make import make_piece
from .model.outline import Outline
from .model.ranges import Ranges, ranges_of
from .model.variants import variants_of
from .objects.contents import SceneContents
from .objects.drawing import SceneDrawing
from .objects.files import SceneFiles, read_trajectory
from .objects.lifecycle import SceneLifecycle
from .objects.lighting import SceneLighting
from .objects.matter import SceneMatter
from .objects.names import SceneNames
from .objects.recording import SceneRecording
from .objects.viewing import SceneViewing
from .options import (
    LegacyCouplerOptions,
    MPMOptions,
    ProfilingOptions,
    RigidOptions,
    SimOptions,
    ViewerOptions,
    VisOptions,
)
from .pictures.camera import Camera, require_environment
from .records import Uid, part_named
from .renderers import Renderer
from .sensors.options import SensorOptions
from .sensors.sensor import Sensor
from .world import World

_ENTITIES: dict[type[morphs.Morph], type[RigidEntity]] = {morphs.Terrain: TerrainEntity, morphs.Drone: DroneEntity}
"""The class of entities by that of the morph; others are `RigidEntity`."""
_alive: WeakSet["Scene"] = WeakSet()
_Kind = TypeVar("_Kind")


class _Checkpoint:
    """`Scene.load_checkpoint`: a scene's takes its file's state; the class's makes a scene of the file first."""

    def __get__(self, scene: "Scene | None", owner: type["Scene"]) -> Callable[..., Any]:
        return owner._from_checkpoint if scene is None else scene.files.load_checkpoint


class Scene(SceneNames):
    """Entities, and their simulation.

    Its objects have all methods but composing a model: `scene.step` is `scene.lifecycle.step`.

    Args:
        sim_options: time and gravity.
        rigid_options: contacts, constraints, integration.
        vis_options: pictures.
        viewer_options: the camera and the pace of the viewer.
        profiling_options: change nothing.
        renderer: one of `renderers`.
        show_viewer: True opens a page for browsers in `build`, which shows each step: `viewer`.
        show_FPS: changes nothing.
        mpm_options: grid, bounds and time step of matter.
        coupler_options: whether matter and rigid bodies touch.

    Attributes:
        contents (SceneContents): entities, cameras, lights, sensors.
        lifecycle (SceneLifecycle): steps, resets, states, its end.
        files (SceneFiles): the scene, its state and its movement in files.
        recording (SceneRecording): recorders.
        lighting (SceneLighting): lights.
        matter (SceneMatter): particles, emitters, their solver.
        viewing (SceneViewing): the page in a browser.
        drawing (SceneDrawing): lines, arrows and frames in pictures.

    Raises:
        TypeError: an option is of another class.
    """

    def __init__(
        self,
        sim_options: SimOptions | None = None,
        rigid_options: RigidOptions | None = None,
        vis_options: VisOptions | None = None,
        viewer_options: ViewerOptions | None = None,
        profiling_options: ProfilingOptions | None = None,
        renderer: Renderer | None = None,
        show_viewer: bool | None = None,
        show_FPS: bool | None = None,
        mpm_options: MPMOptions | None = None,
        coupler_options: LegacyCouplerOptions | None = None,
    ) -> None:
        rigid = _option("rigid_options", rigid_options, RigidOptions)
        contents = SceneContents(
            _option("sim_options", sim_options, SimOptions).under(rigid),
            rigid,
            _option("vis_options", vis_options, VisOptions),
            _option("viewer_options", viewer_options, ViewerOptions),
            _option("profiling_options", profiling_options, ProfilingOptions),
            _option("renderer", renderer, Renderer),
            _option("mpm_options", mpm_options, MPMOptions),
            _option("coupler_options", coupler_options, LegacyCouplerOptions),
        )
        ignore("Scene", {"show_FPS": bool(show_FPS)})
        self.contents, self.files, self.drawing = contents, SceneFiles(contents), SceneDrawing(contents)
        self.viewing = SceneViewing(contents, self, bool(show_viewer))
        self.lifecycle = SceneLifecycle(contents, self.viewing)
        self.recording = SceneRecording(contents, self.files)
        self.matter = SceneMatter(contents, self)
        self.lighting = SceneLighting(contents, self.add_entity)
        _alive.add(self)

    def __repr__(self) -> str:
        state = f"{self.n_envs} environments" if self.is_built else "not built"
        return f"Scene({len(self.contents.entities)} entities, {state})"

    @property
    def uid(self) -> Uid:
        """A name that no other scene of this process has."""
        return Uid(f"scene_{id(self):x}")

    @property
    def sim(self) -> "Scene":
        """The simulation, which is the scene itself."""
        return self

    # composition

    @overload
    def add_entity(self, morph: morphs.Morph, material: materials.MPM.Base, *args: Any, **named: Any) -> MPMEntity: ...

    @overload
    def add_entity(
        self,
        morph: morphs.Morph | Sequence[morphs.Morph],
        material: materials.Rigid | None = None,
        surface: surfaces.Surface | None = None,
        visualize_contact: bool = False,
        vis_mode: str | None = None,
        name: str | None = None,
    ) -> RigidEntity: ...

    def add_entity(
        self,
        morph: morphs.Morph | Sequence[morphs.Morph],
        material: materials.Rigid | materials.MPM.Base | None = None,
        surface: surfaces.Surface | None = None,
        visualize_contact: bool = False,
        vis_mode: str | None = None,
        name: str | None = None,
    ) -> Any:
        """Add an entity.

        Args:
            morph: its shape and place; or several of one kind, such as boxes, that differ in size and place: each is in
                a share of the environments, in blocks as even as can be.
            material: its density and friction, `materials.Rigid`; or that of matter, one of `materials.MPM`, of which
                the shape is filled with particles; None: `materials.Rigid()`.
            surface: its appearance; None: `surfaces.Default()`.
            visualize_contact: whether pictures show its contacts.
            vis_mode: "visual" or "collision": which geoms are drawn; of matter "particle" or "recon".
            name: unique among the entities; None: the kind of its shape, and its number.

        Returns:
            A `RigidEntity`, or an `MPMEntity` of matter.

        Raises:
            SceneOrderError: the scene is built.
            ValueError: the name is taken or invalid; or as of `particles_of`.
            TypeError: an argument is of another class.
            ModelLoadError: its file is missing or broken.
        """
        contents = self.contents
        contents.require_not_built("add_entity")
        several = list(morph) if isinstance(morph, Sequence) and not isinstance(morph, str) else [morph]
        if not several:
            raise ValueError("morph: an empty list; give one shape at least")
        for each in several:
            _of_class("morph", each, morphs.Morph)
        morph, look = several[0], _of_class("surface", surface or surfaces.Default(), surfaces.Surface)
        if isinstance(material, materials.MPM.Base):
            if len(several) > 1:
                raise ValueError("morph: matter has one shape in all environments; add an entity for each")
            return self.matter.add(name, (morph, material, look), vis_mode, visualize_contact)
        made_of = morph, _of_class("material", material or materials.Rigid(), materials.Rigid), look
        idx = len(contents.entities)
        name = contents.free_name(f"{morph.NAME}_{idx}" if name is None else name)
        piece = make_piece(name, made_of, self.rigid_options, vis_mode)
        entity = _ENTITIES.get(type(morph), RigidEntity)(self, idx, name, made_of, Outline.of(piece.spec))
        entity.vis_mode = vis_mode
        entity.visualize_contact = as_flag("visualize_contact", visualize_contact)
        if len(several) > 1:
            entity.shapes = several
            contents.variants.append(variants_of(name, several, *made_of[1:], self.rigid_options))
        contents.pieces[idx] = piece
        contents.entities.append(entity)
        return entity

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
            env_spacing: distances along x and y at which pictures show environments side by side, m; 0, 0: each has
                separate pictures.
            n_envs_per_row: how many stand along x; None: about as many as along y.
            center_envs_at_origin: whether the middle of all is at the world's origin.

        Raises:
            SceneOrderError: the scene is built.
            ModelLoadError: MuJoCo cannot compile the model.
            UnsupportedModelError: an entity uses features that Tumble does not simulate.
            NotImplementedError: gradients are required, and steps have none, for a reason that the message has.
        """
        contents = self.contents
        contents.require_not_built("build")
        n_envs, env_spacing = as_count("n_envs", n_envs, least=0), numbers("build", "env_spacing", env_spacing, 2)
        for camera in contents.cameras:
            require_environment(camera, max(1, n_envs))
        placed = {"n_envs_per_row": n_envs_per_row, "center_envs_at_origin": bool(center_envs_at_origin)}
        contents.built_with = {"n_envs": n_envs, "env_spacing": list(env_spacing), **placed}
        offsets = side_by_side(max(1, n_envs), env_spacing, n_envs_per_row, center_envs_at_origin)
        self.matter.require_possible()
        model = self.compile(**({"matter": True} if self.matter.entities else {}))
        warn_of_long_steps(model.mj, self.rigid_options, self.substeps)
        ranges = self.ranges(model)
        world = contents.environments = World(
            model, n_envs, offsets, contents.sensors.reads, self.sim_options.requires_grad
        )
        files = [isinstance(entity.morph, morphs.URDF) and not is_mjcf(entity.morph) for entity in contents.bodies]
        begin_gains(world, [range(own.start["dof"], own.end["dof"]) for own in compress(ranges, files)])
        for variants in contents.variants:
            variants.apply(world.solver)
            world.keep_built(variants.numbers)
        for entity, own in zip(contents.bodies, ranges, strict=True):
            entity.place(world, own)
        world.solver.whole = cache(partial(AllEntities, world, contents.bodies))
        self.matter.build()
        for camera in contents.cameras:
            camera.place(world)
        contents.sensors.build(world)
        self.viewing.open()

    def compile(self, *, actuators: bool = False, **options: Any) -> Model:
        """Return the model of all entities, as `build` simulates it, without environments.

        Args:
            actuators: whether the actuators of files act; in a scene that is built, only controls of dofs do.
            options: override the scene's, e.g. timestep=0.005: `tumble.physics.Model.from_mjcf`.

        Raises:
            ModelLoadError: MuJoCo cannot compile it.
            UnsupportedModelError: an entity uses features that Tumble does not simulate.
            ValueError: for an unknown option.
        """
        pieces = [self.contents.pieces[entity.idx] for entity in in_order(self.contents.bodies)]
        return compose(pieces, self.sim_options, self.rigid_options, self.contents.lights, actuators, **options)

    def ranges(self, model: Model) -> list[Ranges]:
        """Return the ranges of all entities in a model that `compile` returned."""
        order = in_order(self.contents.bodies)
        found_ranges = ranges_of(model, [entity.name for entity in order], [entity.n_links for entity in order])
        return [found_ranges[order.index(entity)] for entity in self.contents.bodies]

    def add_camera(
        self,
        model: str = "pinhole",
        res: Sequence[int] = (320, 320),
        pos: Numbers = (0.5, 2.5, 3.5),
        lookat: Numbers = (0.5, 0.5, 0.5),
        up: Numbers = (0.0, 0.0, 1.0),
        fov: float = 30,
        aperture: float = 2.0,
        focus_dist: float | None = None,
        GUI: bool = False,
        spp: int = 256,
        denoise: bool | None = None,
        near: float = 0.1,
        far: float = 20.0,
        env_idx: int | None = None,
        debug: bool = False,
    ) -> Camera:
        """Add a camera.

        Args:
            model: "pinhole" or "thinlens", for path tracing.
            res: width and height, pixels.
            pos: where it stands, (3,) m.
            lookat: the point that it looks at, (3,) m.
            up: direction that is up in the picture, (3,).
            fov: degrees from the lower to the upper edge.
            aperture: f-number of a thin lens whose film is 24 mm high, for path tracing.
            focus_dist: distance that is sharp, m, for path tracing.
            GUI: changes nothing: no window is opened.
            spp: samples a pixel, for path tracing.
            denoise: whether pictures of path tracing are denoised.
            near: distance along the optical axis from which on it sees, m.
            far: kept: the renderer sees as far as there is something, m.
            env_idx: the only environment that it sees; None: all.
            debug: changes nothing.

        Raises:
            ValueError: an argument is impossible.
            IndexError: `env_idx` does not exist; a scene that is not built yet says so in `build`.
        """
        options = {name: value for name, value in locals().items() if name != "self"}
        ignore("add_camera", {"GUI": GUI, "debug": debug})
        contents = self.contents
        camera, world = Camera(len(contents.cameras), contents, options), contents.environments
        if world is not None:
            require_environment(camera, world.count)
            camera.place(world)
        contents.cameras.append(camera)
        contents.camera_options.append(options)
        return camera

    def add_sensor(self, sensor_options: SensorOptions) -> Sensor:
        """Add a sensor: one of `gs.sensors`. It reads after `build`, and after each `step` and `reset`.

        Raises:
            SceneOrderError: the scene is built.
            TypeError: these are no options of a sensor.
            IndexError: its entity, link or dof does not exist.
            ValueError: it needs an entity.
        """
        contents = self.contents
        contents.require_not_built("add_sensor")
        return contents.sensors.add(sensor_options, contents.entities, contents.dt, contents.recorders)

    def piece_of(self, entity: RigidEntity) -> Piece:
        """Return an entity's piece of the model, which can be changed until the scene is built."""
        return self.contents.pieces[entity.idx]

    @property
    def sensors(self) -> list[Sensor]:
        """All sensors, in the order in which they were added."""
        return list(self.contents.sensors.sensors)

    # names

    def get_entity(self, name: str | None = None, *, uid: str | None = None) -> Any:
        """Return an entity by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return part_named("the scene", "entity", uid if name is None else name, self.contents.entities)

    @property
    def entities(self) -> list[Any]:
        """All entities, in the order in which they were added."""
        return list(self.contents.entities)

    @property
    def cameras(self) -> list[Camera]:
        """All cameras, in the order in which they were added."""
        return list(self.contents.cameras)

    def render_all_cameras(
        self,
        rgb: bool = True,
        depth: bool = False,
        segmentation: bool = False,
        colorize_seg: bool = False,
        normal: bool = False,
        antialiasing: bool = False,
        force_render: bool = False,
    ) -> list[tuple[Any, Any, Any, Any]]:
        """Return the results of `Camera.render` for each camera, with its arguments."""
        asked = (rgb, depth, segmentation, colorize_seg, normal, antialiasing, force_render)
        return [camera.render(*asked) for camera in self.contents.cameras]

    # files

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
        vis_options: VisOptions | None = None,
        renderer: Renderer | None = None,
    ) -> "Scene":
        """Return a new scene from a file of `export`; it is built if that was.

        Args:
            path: of the file.
            show_viewer: as in `Scene`.
            viewer_options: override the file's; None: the file's.
            vis_options: override the file's; None: the file's.
            renderer: overrides the file's; None: the file's.

        Raises:
            OSError: the file cannot be read; FileNotFoundError if it does not exist.
            ValueError: it is no scene's file; or files of morphs have changed, so that the model is another one.
            ModelLoadError: a file of a morph is missing or broken.
        """
        text = read_regular(path).decode(errors="replace")
        return cls._described(text, path, show_viewer, viewer_options, vis_options, renderer)

    @classmethod
    def load_trajectory(
        cls,
        path: str | os.PathLike,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
        vis_options: VisOptions | None = None,
        renderer: Renderer | None = None,
    ) -> "Scene":
        """Return a new scene that shows a recording of `start_recording(TrajectoryFile(...))`: `scene.trajectory`.

        Arguments and errors as in `load`; a scene is at the first frame.
        """
        text, times, qpos, inputs = read_trajectory(path)
        scene = cls._described(text, path, show_viewer, viewer_options, vis_options, renderer)
        scene.files.trajectory = SceneTrajectory(scene.rigid_solver, times, qpos, inputs)
        scene.files.trajectory.show(0)
        return scene

    @classmethod
    def _from_checkpoint(
        cls,
        path: str | os.PathLike,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
        vis_options: VisOptions | None = None,
        renderer: Renderer | None = None,
    ) -> "Scene":
        """Return a new scene that goes on where another one left off."""
        text = saving.description_in(path)
        scene = cls._described(text, path, show_viewer, viewer_options, vis_options, renderer)
        scene.files.load_checkpoint(path)
        return scene

    load_checkpoint = _Checkpoint()

    @classmethod
    def _described(
        cls,
        text: str,
        path: str | os.PathLike,
        show_viewer: bool,
        *instead: ViewerOptions | VisOptions | Renderer | None,
    ) -> "Scene":
        """Return a scene that is made from its description, with some options replaced."""
        try:
            described = json.loads(text)
            if described["tumble_scene"] != description.VERSION:
                raise ValueError(f"version {described['tumble_scene']}")
            folder = Path(path).resolve().parent
            named = (*description.OPTIONS, *(name for name in description.OF_MATTER if name in described))
            options = {name: description.decode_at(described, name, folder) for name in named}
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{path}: not a file that Scene.export wrote, or one of another version ({error})"
            ) from error
        names = ("viewer_options", "vis_options", "renderer")
        options |= {name: option for name, option in zip(names, instead, strict=True) if option is not None}
        with description.reading(os.fspath(path)):
            scene = cls(**options, show_viewer=show_viewer)
            try:
                scene._fill(described, folder)
            except BaseException:
                scene.close()
                raise
        if described["build"] is not None and model_digest(scene.rigid_solver.model) != described.get("model"):
            scene.close()
            raise ValueError(
                f"{path}: the scene that it describes is another one now: files of its morphs have changed, its ground "
                "is drawn at random, or it was changed by other means than add_entity"
            )
        return scene

    def _fill(self, described: Mapping[str, Any], folder: Path) -> None:
        """Add everything in a description, and build it; errors as in `description.reading`."""
        steps: tuple[tuple[str, Callable[[Any], object]], ...] = (
            ("entities", lambda entity: self._add_described(entity, folder)),
            ("entities", self._attach_described),
            ("lights", lambda light: self.contents.lights.append(Light.described(light))),
            ("cameras", lambda camera: self.add_camera(**camera)),
            ("sensors", lambda sensor: self.add_sensor(description.decode(sensor, folder))),
        )
        for name, add in steps:
            with description.reading(name):
                for number, part in enumerate(described[name]):
                    with description.reading(number):
                        add(part)
        with description.reading("build"):
            if described["build"] is not None:
                self.build(**described["build"])

    def _add_described(self, described: Mapping[str, Any], folder: Path) -> None:
        """Add an entity by its description; its carrier comes when all are there: `_attach_described`."""
        shapes = description.decode_at(described, "morphs", folder)
        material, surface = (description.decode_at(described, name, folder) for name in ("material", "surface"))
        if described.get("emitted"):
            self.matter.add_emitter(material, shapes[0].n_particles, surface, described["name"])
            return
        self.add_entity(
            shapes if len(shapes) > 1 else shapes[0],
            material,
            surface,
            **{name: described[name] for name in ("visualize_contact", "vis_mode", "name")},
        )

    def _attach_described(self, described: Mapping[str, Any]) -> None:
        """Mount an entity as its description says."""
        carrier = described["attached"]
        if carrier:
            link, parent = carrier["link"], self.get_entity(carrier["entity"])
            self.get_entity(described["name"]).attach(parent, link, carrier["pos"], carrier["quat"])


def close_all() -> None:
    """Close all scenes of this process, and give their memory back."""
    for scene in list(_alive):
        scene.close()


def _option(name: str, given: _Kind | None, kind: type[_Kind]) -> _Kind:
    return _of_class(name, kind() if given is None else given, kind)


def _of_class(name: str, given: object, kind: type[_Kind]) -> _Kind:
    """Return an argument, or refuse one of another class.

    Raises:
        TypeError: the message has the expected class.
    """
    if not isinstance(given, kind):
        hint = ": make one, with parentheses" if isinstance(given, type) and issubclass(given, kind) else ""
        room = kind.__module__.partition("scene.")[2].partition(".")[0]
        raise TypeError(f"{name}: expected a {room}.{kind.__name__}, got {given!r}{hint}")
    return given
