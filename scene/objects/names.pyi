# fmt: off
# ruff: noqa
"""Flat names of `SceneNames`, for editors and type checkers: written by `python -m tests.flat_names`."""

import collections.abc
import numpy
import os
import torch
import trimesh
import trimesh.base
import tumble.physics
import tumble.physics.solver.solver
import tumble.scene.checks
import tumble.scene.entity.entity
import tumble.scene.files.trajectory
import tumble.scene.materials.mpm
import tumble.scene.model.variants
import tumble.scene.morphs.morph
import tumble.scene.objects.contents
import tumble.scene.objects.drawing
import tumble.scene.objects.files
import tumble.scene.objects.lifecycle
import tumble.scene.objects.lighting
import tumble.scene.objects.matter
import tumble.scene.objects.recording
import tumble.scene.objects.viewing
import tumble.scene.options
import tumble.scene.pictures.camera
import tumble.scene.pictures.debug
import tumble.scene.pictures.segmentation
import tumble.scene.recorders.manager
import tumble.scene.recorders.options
import tumble.scene.renderers
import tumble.scene.surfaces
import tumble.scene.world
import tumble.viewer
import tumble.viewer.live
import typing

class SceneNames:
    contents: tumble.scene.objects.contents.SceneContents
    lifecycle: tumble.scene.objects.lifecycle.SceneLifecycle
    files: tumble.scene.objects.files.SceneFiles
    recording: tumble.scene.objects.recording.SceneRecording
    lighting: tumble.scene.objects.lighting.SceneLighting
    matter: tumble.scene.objects.matter.SceneMatter
    viewing: tumble.scene.objects.viewing.SceneViewing
    drawing: tumble.scene.objects.drawing.SceneDrawing
    sim_options: tumble.scene.options.SimOptions
    rigid_options: tumble.scene.options.RigidOptions
    vis_options: tumble.scene.options.VisOptions
    viewer_options: tumble.scene.options.ViewerOptions
    profiling_options: tumble.scene.options.ProfilingOptions
    renderer: tumble.scene.renderers.Renderer
    mpm_options: tumble.scene.options.MPMOptions
    coupler_options: tumble.scene.options.LegacyCouplerOptions
    @property
    def dt(self) -> float: """Seconds that a step simulates."""
    @property
    def substeps(self) -> int: """Physics steps in a step."""
    @property
    def requires_grad(self) -> bool: """True if the state is part of torch's graph (`SimOptions`)."""
    @property
    def entity_names(self) -> list[str]: """Names of the entities."""
    variants: list[tumble.scene.model.variants.Variants]
    @property
    def has_lights(self) -> bool: """True if the scene has lights, which replace the sun."""
    @property
    def is_built(self) -> bool: """True after `Scene.build`."""
    @property
    def world(self) -> tumble.scene.world.World: """The built scene, as its entities see it."""
    @property
    def rigid_solver(self) -> tumble.physics.solver.solver.RigidSolver: """The solver of the built scene: a `tumble.physics.RigidSolver`."""
    @property
    def n_envs(self) -> int: """Number of environments, as `Scene.build` was given."""
    @property
    def segmentation(self) -> tumble.scene.pictures.segmentation.Segmentation: """The meaning of segmented pictures."""
    @property
    def segmentation_idx_dict(self) -> dict[int, typing.Any]: """By number in a segmented picture, the part that it stands for: `Segmentation.idx_dict`."""
    def step(self, update_visualizer: bool = True, refresh_visualizer: bool = True) -> None: """Simulate `dt` seconds in all environments, after the callbacks of `register_pre_step_callback`."""
    def reset(self, state: collections.abc.Mapping[str, torch.Tensor] | None = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Put environments into the state in which they were built, or into one of `get_state`."""
    def backward(self, loss: torch.Tensor, *args: typing.Any, **kwargs: typing.Any) -> None: """Do what `loss.backward(*args, **kwargs)` does, in a scene with `SimOptions(requires_grad=True)`."""
    def get_state(self, envs_idx: tumble.scene.checks.Indices = None) -> dict[str, torch.Tensor]: """Return all that the future of environments depends on, to the bit; `reset` goes on from there."""
    def register_pre_step_callback(self, callback: collections.abc.Callable[[], None]) -> None: """Call a function without arguments before each step."""
    def get_time(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the simulated seconds since the reset of environments, (n,) float64; () without a batch."""
    def read_sensors(self, envs_idx: tumble.scene.checks.Indices = None, *, entity_idx: int | None = None, is_ground_truth: bool = False) -> dict[str, torch.Tensor]: """Return the readings of all sensors, side by side, by `gs.sensors.types`: "IMU" and so on, (n, m) each."""
    t: int
    def close(self) -> None: """Write recordings, and free the memory. Any other use of it and its entities is an error."""
    def describe(self) -> str: """Return the scene as text, from which `load` makes it again."""
    def export(self, path: str | os.PathLike) -> None: """Write all that the scene was made of into a file, from which `Scene.load` makes it again."""
    def save_checkpoint(self, path: str | os.PathLike) -> None: """Write all that the future of the scene depends on into a file; `load_checkpoint` goes on to the last bit."""
    def write_mjcf(self, path: str | os.PathLike) -> None: """Write the compiled scene as an MJCF file, which MuJoCo opens: `tumble.physics.Model.write_mjcf`."""
    trajectory: tumble.scene.files.trajectory.SceneTrajectory | None
    def add_recorder(self, data_func: collections.abc.Callable[[], typing.Any], rec_options: tumble.scene.recorders.options.RecorderOptions) -> tumble.scene.recorders.manager.FunctionRecorder: """Keep a function's results, after steps from now on, until `stop_recording` or `close`."""
    def start_recording(self, data_func: tumble.scene.recorders.options.TrajectoryFile | collections.abc.Callable[[], typing.Any], rec_options: tumble.scene.recorders.options.RecorderOptions | None = None) -> tumble.scene.recorders.manager.FunctionRecorder: """Keep all positions in a `gs.recorders.TrajectoryFile`: `start_recording(TrajectoryFile(filename="a.npz"))`."""
    def stop_recording(self) -> None: """Write all files of recorders, and end them."""
    def add_light(self, pos: tumble.scene.checks.Numbers, dir: tumble.scene.checks.Numbers, color: tumble.scene.checks.Numbers = ..., intensity: float = ..., directional: bool = False, castshadow: bool = True, cutoff: float = ..., attenuation: float = ...) -> None: """Add a light, which becomes one of the model's; pictures then have no sun, and no light of the sky."""
    def add_mesh_light(self, morph: tumble.scene.morphs.morph.Morph | None = None, color: collections.abc.Sequence[float] = ..., intensity: float = ..., revert_dir: bool = False, double_sided: bool = False, cutoff: float = ...) -> tumble.scene.entity.entity.RigidEntity: """Add a shape that shines: an entity that stands still and touches nothing. Path tracing lets it light others."""
    def add_emitter(self, material: tumble.scene.materials.mpm.Base, max_particles: int = ..., surface: tumble.scene.surfaces.Surface | None = None, name: str | None = None) -> typing.Any: """Add a source of particles, which `emit` and `emit_omni` of the returned `Emitter` bring into being."""
    @property
    def emitters(self) -> list[typing.Any]: """All emitters, in the order in which they were added."""
    @property
    def mpm_solver(self) -> typing.Any: """The solver of the built scene's matter."""
    @property
    def solvers(self) -> list[typing.Any]: """The solvers of the built scene: that of rigid bodies, and that of matter if it has any."""
    @property
    def particle_groups(self) -> list[typing.Any]: """The particles of the built scene as renderers and pages draw them; none in a scene without matter."""
    viewer: tumble.scene.objects.viewing.Page | None
    def page_objects(self) -> list[tumble.scene.pictures.debug.DebugObject]: """Return the objects that its page shows: drawn by `draw_debug_*`, and by `VisOptions` cameras and axes."""
    def view(self, act: collections.abc.Callable[[typing.Any], typing.Any] | None = None, **options: typing.Any) -> tumble.viewer.live.Viewer: """Show the scene in a browser, and move it from its present state: `tumble.viewer.view`, with its arguments."""
    @property
    def visualizer(self) -> tumble.scene.objects.viewing.Visualizer: """The cameras of the scene, and its page."""
    @property
    def debug_objects(self) -> list[tumble.scene.pictures.debug.DebugObject]: """All that is drawn."""
    def draw_debug_line(self, start: tumble.scene.checks.Numbers, end: tumble.scene.checks.Numbers, radius: float = ..., color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw a line between two points (3,)."""
    def draw_debug_arrow(self, pos: tumble.scene.checks.Numbers, vec: tumble.scene.checks.Numbers = ..., radius: float = ..., color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw an arrow from a point (3,) along a vector (3,)."""
    def draw_debug_frame(self, T: tumble.scene.checks.Numbers, axis_length: float = ..., origin_size: float = ..., axis_radius: float = ..., color: tumble.scene.checks.Numbers | None = None) -> tumble.scene.pictures.debug.DebugObject: """Draw the axes of a pose (4, 4): x in red, y in green, z in blue, or all in one colour."""
    def draw_debug_frames(self, Ts: collections.abc.Sequence[float | numpy.generic | collections.abc.Sequence | numpy.ndarray | torch.Tensor] | numpy.ndarray | torch.Tensor, axis_length: float = ..., origin_size: float = ..., axis_radius: float = ..., color: tumble.scene.checks.Numbers | None = None) -> list[tumble.scene.pictures.debug.DebugObject]: """Draw the axes of poses (n, 4, 4)."""
    def draw_debug_sphere(self, pos: tumble.scene.checks.Numbers, radius: float = ..., color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw a sphere at a point (3,)."""
    def draw_debug_spheres(self, poss: tumble.scene.checks.Numbers, radius: float = ..., color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw spheres at points (n, 3)."""
    def draw_debug_points(self, poss: tumble.scene.checks.Numbers, colors: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw points (n, 3) in one colour or in colours (n, 4)."""
    def draw_debug_box(self, bounds: tumble.scene.checks.Numbers, color: tumble.scene.checks.Numbers = ..., wireframe: bool = True, wireframe_radius: float = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw a box by its lower and upper corner (2, 3), as its edges or solid."""
    def draw_debug_mesh(self, mesh: trimesh.base.Trimesh, pos: tumble.scene.checks.Numbers = ..., T: tumble.scene.checks.Numbers | None = None) -> tumble.scene.pictures.debug.DebugObject: """Draw the edges of a `trimesh.Trimesh`."""
    def draw_debug_trajectory(self, poss: tumble.scene.checks.Numbers, radius: float = ..., color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw a line through points (n, 3)."""
    def draw_debug_path(self, qposs: tumble.scene.checks.Numbers, entity: tumble.scene.entity.entity.RigidEntity, link_idx: int = ..., density: float = ..., frame_scaling: float = ...) -> list[tumble.scene.pictures.debug.DebugObject]: """Draw the axes of a link along a path of `plan_path`; all else is where it is now, in the first environment."""
    def draw_debug_frustum(self, camera: tumble.scene.pictures.camera.Camera, color: tumble.scene.checks.Numbers = ...) -> tumble.scene.pictures.debug.DebugObject: """Draw the view of a camera of the scene, up to a metre away, as edges."""
    def update_debug_objects(self, objs: collections.abc.Sequence[tumble.scene.pictures.debug.DebugObject], poses: collections.abc.Sequence[float | numpy.generic | collections.abc.Sequence | numpy.ndarray | torch.Tensor] | numpy.ndarray | torch.Tensor) -> None: """Move a drawn object to poses (n, 4, 4), which replace its former ones."""
    def clear_debug_object(self, obj: tumble.scene.pictures.debug.DebugObject | collections.abc.Sequence[tumble.scene.pictures.debug.DebugObject]) -> None: """Remove objects that a call has drawn."""
    def clear_debug_objects(self) -> None: """Take away all that is drawn."""
    def destroy(self) -> None: """Write recordings, and free the memory. Any other use of it and its entities is an error."""
