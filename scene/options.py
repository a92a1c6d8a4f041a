"""Options of a scene: time and gravity, contacts and their solver, pictures and viewers."""

from typing import Any

from ..physics.machine.scalars import as_count, as_flag
from .checks import numbers
from .compat.absent import refusal_of_options
from .records import nearest, put, put_numbers, record

INTEGRATORS = {
    "Euler": "euler",
    "implicitfast": "implicitfast",
    "approximate_implicitfast": "implicitfast",
    "implicit": "implicit",
    "RK4": "rk4",
}
"""MuJoCo's integrator by a user's name for it."""
SOLVERS = {"Newton": "newton", "CG": "cg"}
LEVELS = ("geom", "link", "entity")
CONES = {"pyramidal": "pyramidal", "elliptic": "elliptic"}


@record
class SimOptions:
    """Time and gravity.

    Attributes:
        dt: seconds that `Scene.step` simulates.
        substeps: physics steps in one `Scene.step`; the physics' own time step is dt / substeps.
        gravity: (3,) m/s2; a number is taken along z.
        requires_grad: whether what setters are given, steps and what getters return are part of torch's graph, so that
            `loss.backward()` gives gradients.
    """

    dt: float = 0.01
    substeps: int = 1
    gravity: Any = (0.0, 0.0, -9.81)
    requires_grad: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible times.

        Raises:
            ValueError: with the argument.
        """
        put_numbers(self, "dt", above=0.0)
        put(self, substeps=as_count("SimOptions: substeps", self.substeps))
        along_z = isinstance(self.gravity, int | float)
        put(self, gravity=numbers("SimOptions", "gravity", (0.0, 0.0, self.gravity) if along_z else self.gravity, 3))
        put(self, requires_grad=as_flag("SimOptions: requires_grad", self.requires_grad))

    def under(self, rigid: "RigidOptions") -> "SimOptions":
        """Return these options, overridden by the options of rigid bodies."""
        overrides = {name: getattr(rigid, name) for name in ("dt", "gravity") if getattr(rigid, name) is not None}
        own = {name: getattr(self, name) for name in ("dt", "substeps", "gravity", "requires_grad")}
        return SimOptions(**(own | overrides)) if overrides else self

    @property
    def timestep(self) -> float:
        """The physics' own time step, s."""
        return self.dt / self.substeps


@record
class RigidOptions:
    """Contacts, constraints and integration of rigid bodies.

    Attributes:
        enable_collision: whether anything touches.
        enable_joint_limit: whether joints have limits.
        enable_self_collision: whether links of one entity touch each other.
        enable_adjacent_collision: whether a link touches its parent.
        disable_constraint: switches contacts, limits, friction losses and equalities off.
        integrator: "approximate_implicitfast" or "implicitfast", "Euler", "implicit" or "RK4".
        constraint_solver: "Newton" or "CG".
        iterations: most iterations of that.
        tolerance: at which it stops, in MuJoCo's units; None: 1e-8.
        ls_iterations, ls_tolerance: of its line search.
        noslip_iterations, noslip_tolerance: of the noslip solver, 0: none.
        friction_cone: "pyramidal" or "elliptic".
        enable_torsional_friction, enable_rolling_friction: whether shapes and meshes resist spinning, and rolling.
        impratio: how much stiffer contacts are along their friction than along their normals; None: 100 with elliptic
            cones, by which held objects do not creep; 1 with pyramidal ones, where it would stiffen both.
        constraint_timeconst: time constant of contacts of shapes and meshes, s; physics takes no less than twice its
            time step.
        max_contacts: most contacts of an environment; None: as many as the model may need.
        use_gjk_collision: False: convex shapes meet by Minkowski portal refinement where that is exact; else by GJK.
        use_hibernation: whether resting bodies fall asleep.
        enable_neutral_collision: True or None: links that overlap at first touch; False is refused.
        dt, gravity: override `SimOptions`.
    """

    enable_collision: bool = True
    enable_joint_limit: bool = True
    enable_self_collision: bool = True
    enable_adjacent_collision: bool = False
    disable_constraint: bool = False
    integrator: str = "implicitfast"
    constraint_solver: str = "Newton"
    iterations: int = 100
    tolerance: float | None = None
    ls_iterations: int = 50
    ls_tolerance: float = 0.01
    noslip_iterations: int = 0
    noslip_tolerance: float = 1e-6
    friction_cone: str = "pyramidal"
    enable_torsional_friction: bool = False
    enable_rolling_friction: bool = False
    impratio: float | None = None
    constraint_timeconst: float = 0.01
    max_contacts: int | None = None
    use_gjk_collision: bool | None = None
    use_hibernation: bool = False
    enable_neutral_collision: bool | None = None
    dt: float | None = None
    gravity: Any = None

    def __post_init__(self) -> None:
        """Refuse options that no physics has.

        Raises:
            ValueError: with the argument.
        """
        for name, known in (("integrator", INTEGRATORS), ("constraint_solver", SOLVERS), ("friction_cone", CONES)):
            if getattr(self, name) not in known:
                raise ValueError(f"RigidOptions: {name}={getattr(self, name)!r}{nearest(getattr(self, name), known)}")
        for name in (
            *("enable_collision", "enable_joint_limit", "enable_self_collision", "enable_adjacent_collision"),
            *("disable_constraint", "enable_torsional_friction", "enable_rolling_friction", "use_hibernation"),
        ):
            put(self, **{name: as_flag(f"RigidOptions: {name}", getattr(self, name))})
        put(self, iterations=as_count("RigidOptions: iterations", self.iterations))
        put(self, ls_iterations=as_count("RigidOptions: ls_iterations", self.ls_iterations))
        put(self, noslip_iterations=as_count("RigidOptions: noslip_iterations", self.noslip_iterations, least=0))
        positive = ("tolerance", "impratio", "ls_tolerance", "noslip_tolerance", "constraint_timeconst")
        put_numbers(self, *positive, above=0.0)
        if self.max_contacts is not None:
            put(self, max_contacts=as_count("RigidOptions: max_contacts", self.max_contacts))
        if self.enable_neutral_collision is not None and not self.enable_neutral_collision:
            raise ValueError(
                "RigidOptions: enable_neutral_collision=False: links that overlap at first touch here; leave pairs out "
                "by the file's <exclude>, by contype, or all of an entity's by enable_self_collision=False"
            )


CELLS_OF_A_PARTICLE = 0.64
"""The default size of a particle, in cells."""


@record
class MPMOptions:
    """Matter (`materials.MPM`): its grid, its bounds, its time step.

    Attributes:
        dt: length of a substep of matter, s, a whole part of the physics' time step; None: that time step.
        gravity: (3,) m/s2; None: that of `SimOptions`.
        particle_size: side of the cube that a particle stands for, m; None: 0.64 cells of the grid.
        grid_density: cells of the grid in a metre.
        enable_CPIC: False: matter on both sides of a thin body touches itself; True is refused.
        lower_bound, upper_bound: corners of the box that matter cannot leave, (3,) m.
    """

    dt: float | None = None
    gravity: Any = None
    particle_size: float | None = None
    grid_density: float = 64
    enable_CPIC: bool = False
    lower_bound: Any = (-1.0, -1.0, 0.0)
    upper_bound: Any = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse impossible options.

        Raises:
            ValueError: with the argument.
            NotImplementedError: thin bodies are to divide matter.
        """
        put_numbers(self, "dt", "particle_size", "grid_density", above=0.0)
        for name in ("lower_bound", "upper_bound"):
            put(self, **{name: numbers("MPMOptions", name, getattr(self, name), 3)})
        if self.gravity is not None:
            put(self, gravity=numbers("MPMOptions", "gravity", self.gravity, 3))
        if not all(low < high for low, high in zip(self.lower_bound, self.upper_bound, strict=True)):
            raise ValueError(
                f"MPMOptions: lower_bound={self.lower_bound} must be below upper_bound={self.upper_bound} along every "
                "axis"
            )
        if as_flag("MPMOptions: enable_CPIC", self.enable_CPIC):
            raise NotImplementedError(
                "MPMOptions: enable_CPIC=True: thin bodies do not divide matter; make them thicker than 1.5 cells, or "
                "take a higher grid_density"
            )

    @property
    def spacing(self) -> float:
        """The size of a particle, m."""
        return CELLS_OF_A_PARTICLE / self.grid_density if self.particle_size is None else self.particle_size


@record
class LegacyCouplerOptions:
    """The contact of matter with rigid bodies.

    Attributes:
        rigid_mpm: whether they touch.
    """

    rigid_mpm: bool = True

    def __post_init__(self) -> None:
        """Raise ValueError for something that is not True or False."""
        put(self, rigid_mpm=as_flag("LegacyCouplerOptions: rigid_mpm", self.rigid_mpm))


CouplerOptions = LegacyCouplerOptions


@record
class VisOptions:
    """Pictures of a scene.

    Attributes:
        segmentation_level: "link", "entity" or "geom": the meaning of the numbers of a segmented picture.
        background_color: red, green and blue of the background, from 0 to 1; None: a sky.
        ambient_light: red, green and blue of light from all sides, from 0 to 1; None: a sky's.
        shadow: whether there are shadows.
        plane_reflection: whether planes mirror, on a page none do; None: as their surfaces say, faintly if they say
            nothing.
        show_world_frame, world_frame_size: whether the world's axes are drawn, and how long, m.
        show_link_frame, link_frame_size: whether the axes of all links are drawn, and how long, m.
        contact_force_scale: m of an arrow for each newton of the contacts that `visualize_contact` shows.
        split_envs: whether cameras have a picture of each environment, also where `build` was given an `env_spacing`;
            else these stand side by side in one picture.
        rendered_envs_idx: the environments that are shown; None: all.
        show_cameras: whether a page shows the views of cameras, as edges.
        visualize_mpm_boundary: whether the edges of the box are drawn that matter cannot leave.
        particle_size_scale: factor of the diameters with which particles are drawn.
        lights: none: `Scene.add_light` adds them.
    """

    segmentation_level: str = "link"
    background_color: Any = None
    ambient_light: Any = None
    shadow: bool = True
    plane_reflection: bool | None = None
    show_world_frame: bool = False
    world_frame_size: float = 1.0
    show_link_frame: bool = False
    link_frame_size: float = 0.2
    show_cameras: bool = False
    split_envs: bool = False
    rendered_envs_idx: Any = None
    contact_force_scale: float = 0.01
    visualize_mpm_boundary: bool = False
    particle_size_scale: float = 1.0
    lights: Any = ()

    def __post_init__(self) -> None:
        """Raise if options are impossible for pictures.

        Raises:
            ValueError: with the argument.
        """
        if self.segmentation_level not in LEVELS:
            raise ValueError(
                f"VisOptions: segmentation_level={self.segmentation_level!r}{nearest(self.segmentation_level, LEVELS)}"
            )
        for name in ("background_color", "ambient_light"):
            if getattr(self, name) is not None:
                put(self, **{name: numbers("VisOptions", name, getattr(self, name), 3)})
                if not all(0 <= part <= 1 for part in getattr(self, name)):
                    raise ValueError(f"VisOptions: {name}={getattr(self, name)!r}: red, green and blue are from 0 to 1")
        for name in ("shadow", "show_cameras", "show_world_frame", "show_link_frame", "visualize_mpm_boundary"):
            put(self, **{name: as_flag(f"VisOptions: {name}", getattr(self, name))})
        if self.plane_reflection is not None:
            put(self, plane_reflection=as_flag("VisOptions: plane_reflection", self.plane_reflection))
        if len(self.lights):
            raise ValueError("VisOptions: lights: lights are added by scene.add_light, a call for each")
        sizes = ("world_frame_size", "link_frame_size", "contact_force_scale", "particle_size_scale")
        put_numbers(self, *sizes, above=0.0)


@record
class ViewerOptions:
    """The viewer of a scene.

    Attributes:
        res: width and height, pixels.
        camera_pos, camera_lookat, camera_up: where its camera stands and looks at, (3,) m.
        camera_fov: degrees from the lower to the upper edge.
        realtime_factor: simulated seconds in one of the viewer.
    """

    res: Any = None
    camera_pos: Any = (3.5, 0.5, 2.5)
    camera_lookat: Any = (0.0, 0.0, 0.5)
    camera_up: Any = (0.0, 0.0, 1.0)
    camera_fov: float = 40.0
    realtime_factor: float | None = 1.0

    def __post_init__(self) -> None:
        """Raise if options are impossible for a viewer.

        Raises:
            ValueError: with the argument.
        """
        for name in ("camera_pos", "camera_lookat", "camera_up"):
            put(self, **{name: numbers("ViewerOptions", name, getattr(self, name), 3)})
        put_numbers(self, "camera_fov", above=0.0, most=179.0)


@record
class ProfilingOptions:
    """The options that Genesis has for measurements of speed; `tumble bench` measures here."""


def __getattr__(name: str) -> Any:
    """Refuse options of Genesis that are not here, with the nearest that are; raises AttributeError."""
    raise AttributeError(refusal_of_options(name))
