"""Scene: entities are added, `build` makes one model of them, `step` moves all environments."""

from collections.abc import Sequence
from functools import cache, cached_property, partial
from itertools import compress
from typing import Any
from weakref import WeakSet

from ..physics.machine.scalars import as_count, as_flag
from ..physics.model.model import Model
from ..physics.rendering.together import side_by_side
from . import materials, morphs, surfaces
from .all_entities import AllEntities
from .attaching import in_order
from .camera import Camera, require_environment
from .checks import numbers
from .compose import SEPARATOR, Piece, compose
from .drawing import Drawing
from .drone_file import is_mjcf
from .entity import RigidEntity
from .entity_kinds import entity_class
from .fingers import warn_of_long_steps
from .gains import begin_gains
from .keeping import Keeping
from .lighting import Lighting
from .lights import Light
from .make import make_piece
from .options import ProfilingOptions, RigidOptions, SimOptions, ViewerOptions, VisOptions
from .outline import Outline
from .ranges import Ranges, ranges_of
from .recorders.manager import RecorderManager
from .recording import Recording
from .records import Uid, part_named
from .renderers import Renderer
from .segmentation import Segmentation
from .sensors.manager import SensorManager
from .sensors.sensor import Sensor
from .variants import Variants, variants_of
from .viewing import Viewing
from .world import World

_alive: WeakSet["Scene"] = WeakSet()


class Scene(Keeping, Recording, Lighting, Viewing, Drawing):
    """Entities, and what happens to them.

    Args:
        sim_options: time and gravity.
        rigid_options: contacts, constraints, integration.
        vis_options: pictures.
        viewer_options: the camera and the pace of the viewer.
        profiling_options: kept.
        renderer: one of `renderers`.
        show_viewer: True opens a page for browsers in `build`, which shows each step: `viewer`.
        show_FPS: kept.

    Attributes:
        variants: entities whose shapes differ from environment to environment.

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
    ) -> None:
        super().__init__()
        self.rigid_options: RigidOptions = _option("rigid_options", rigid_options, RigidOptions)
        self.sim_options: SimOptions = _option("sim_options", sim_options, SimOptions).under(self.rigid_options)
        self.vis_options = _option("vis_options", vis_options, VisOptions)
        self.viewer_options = _option("viewer_options", viewer_options, ViewerOptions)
        self.profiling_options = _option("profiling_options", profiling_options, ProfilingOptions)
        self.renderer = _option("renderer", renderer, Renderer)
        self.show_FPS = bool(show_FPS)
        self._show_viewer(bool(show_viewer))
        self._entities: list[RigidEntity] = []
        self._pieces: list[Piece] = []
        self._lights: list[Light] = []
        self._cameras: list[Camera] = []
        self._camera_options: list[dict[str, Any]] = []
        self._sensors = SensorManager()
        self._recorders = RecorderManager(self.dt)
        self.variants: list[Variants] = []
        _alive.add(self)

    def __repr__(self) -> str:
        state = f"{self.n_envs} environments" if self.is_built else "not built"
        return f"Scene({len(self._entities)} entities, {state})"

    @property
    def uid(self) -> Uid:
        """A name that no other scene of this process has."""
        return Uid(f"scene_{id(self):x}")

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
        several = list(morph) if isinstance(morph, Sequence) and not isinstance(morph, str) else [morph]
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
        piece = make_piece(name, made_of, self.rigid_options, vis_mode)
        entity = entity_class(morph)(self, idx, name, made_of, Outline.of(piece.spec))
        entity.vis_mode = vis_mode
        entity.visualize_contact = as_flag("visualize_contact", visualize_contact)
        if len(several) > 1:
            entity.shapes = several
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
                pictures of its own.
            n_envs_per_row: how many stand along x; None: about as many as along y.
            center_envs_at_origin: whether the middle of all is at the world's origin.

        Raises:
            SceneOrderError: the scene is built.
            ModelLoadError: MuJoCo cannot compile the model.
            UnsupportedModelError: an entity uses what Tumble does not simulate.
        """
        self._require_not_built("build")
        n_envs, env_spacing = as_count("n_envs", n_envs, least=0), numbers("build", "env_spacing", env_spacing, 2)
        for camera in self._cameras:
            require_environment(camera, max(1, n_envs))
        placed = {"n_envs_per_row": n_envs_per_row, "center_envs_at_origin": bool(center_envs_at_origin)}
        self._built_with = {"n_envs": n_envs, "env_spacing": list(env_spacing), **placed}
        offsets = side_by_side(max(1, n_envs), env_spacing, n_envs_per_row, center_envs_at_origin)
        model = self.compile()
        warn_of_long_steps(model.mj, self.rigid_options, self.substeps)
        ranges = self.ranges(model)
        self._world = World(model, n_envs, offsets, self._sensors.reads)
        files = [isinstance(entity.morph, morphs.URDF) and not is_mjcf(entity.morph) for entity in self._entities]
        begin_gains(self._world, [range(own.start["dof"], own.end["dof"]) for own in compress(ranges, files)])
        for variants in self.variants:
            variants.apply(self._world.solver)
            self._world.keep_built(variants.numbers)
        for entity, own in zip(self._entities, ranges, strict=True):
            entity.place(self._world, own)
        self._world.solver.whole = cache(partial(AllEntities, self._world, self.entities))
        for camera in self._cameras:
            camera.place(self._world)
        self._sensors.build(self._world)
        self._open_viewer()

    def compile(self, *, actuators: bool = False, **options: Any) -> Model:
        """Return the model of all entities, as `build` simulates it, without environments.

        Args:
            actuators: whether the actuators of files act; in a scene that is built, controls of dofs alone do.
            options: override those of the scene, e.g. timestep=0.005: `tumble.physics.Model.from_mjcf`.

        Raises:
            ModelLoadError: MuJoCo cannot compile it.
            UnsupportedModelError: an entity uses what Tumble does not simulate.
            ValueError: for an unknown option.
        """
        pieces = [self._pieces[entity.idx] for entity in in_order(self._entities)]
        return compose(pieces, self.sim_options, self.rigid_options, self._lights, actuators, **options)

    def ranges(self, model: Model) -> list[Ranges]:
        """Return the ranges of all entities in a model that `compile` returned."""
        order = in_order(self._entities)
        found = ranges_of(model, [entity.name for entity in order], [entity.n_links for entity in order])
        return [found[order.index(entity)] for entity in self._entities]

    def add_camera(
        self,
        model: str = "pinhole",
        res: Sequence[int] = (320, 320),
        pos: Any = (0.5, 2.5, 3.5),
        lookat: Any = (0.5, 0.5, 0.5),
        up: Any = (0.0, 0.0, 1.0),
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
            GUI: kept; no window is opened.
            spp: samples a pixel, for path tracing.
            denoise: whether pictures of path tracing are denoised.
            near: distance along the optical axis from which on it sees, m.
            far: kept: the renderer sees as far as there is something, m.
            env_idx: the only environment that it sees; None: all.
            debug: kept.

        Raises:
            ValueError: an argument is impossible.
            IndexError: `env_idx` does not exist; a scene that is not built yet says so in `build`.
        """
        options = {name: value for name, value in locals().items() if name != "self"}
        camera = Camera(len(self._cameras), self, options)
        if self._world is not None:
            require_environment(camera, self._world.count)
        self._cameras.append(camera)
        self._camera_options.append(options)
        if self._world is not None:
            camera.place(self._world)
        return camera

    def add_sensor(self, sensor_options: Any) -> Sensor:
        """Add a sensor: one of `gs.sensors`. It reads after `build`, and after each `step` and `reset`.

        Raises:
            SceneOrderError: the scene is built.
            TypeError: these are no options of a sensor.
            IndexError: its entity, link or dof does not exist.
            ValueError: it needs an entity.
        """
        self._require_not_built("add_sensor")
        return self._sensors.add(sensor_options, self, self._recorders)

    def piece_of(self, entity: RigidEntity) -> Piece:
        """Return what an entity adds to the model, which can be changed until the scene is built."""
        return self._pieces[entity.idx]

    @property
    def sensors(self) -> list[Sensor]:
        """All sensors, in the order in which they were added."""
        return list(self._sensors.sensors)

    # names

    def get_entity(self, name: str | None = None, *, uid: str | None = None) -> RigidEntity:
        """Return an entity by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return part_named("the scene", "entity", uid if name is None else name, self._entities)

    @property
    def entities(self) -> list[RigidEntity]:
        """All entities, in the order in which they were added."""
        return list(self._entities)

    @property
    def entity_names(self) -> list[str]:
        """Their names."""
        return [entity.name for entity in self._entities]

    @property
    def cameras(self) -> list[Camera]:
        """All cameras, in the order in which they were added."""
        return list(self._cameras)

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
        """Return what `Camera.render` does of each camera, with its arguments."""
        asked = (rgb, depth, segmentation, colorize_seg, normal, antialiasing, force_render)
        return [camera.render(*asked) for camera in self._cameras]

    @cached_property
    def segmentation(self) -> Segmentation:
        """The meaning of segmented pictures."""
        self._built("segmentation")
        return Segmentation(self._entities, self.vis_options.segmentation_level)

    @property
    def segmentation_idx_dict(self) -> dict[int, Any]:
        """By number in a segmented picture, the part that it stands for: `Segmentation.idx_dict`."""
        return self.segmentation.idx_dict


def close_all() -> None:
    """Close all scenes of this process, and give their memory back."""
    for scene in list(_alive):
        scene.close()


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
