"""The flat names of a scene: `scene.step` is `scene.lifecycle.step`, and so on."""

from ...physics.base.flat_names import flat_names
from ..compat.names import GENESIS_NAMES
from .contents import SceneContents
from .drawing import SceneDrawing
from .files import SceneFiles
from .lifecycle import SceneLifecycle
from .lighting import SceneLighting
from .matter import SceneMatter
from .recording import SceneRecording
from .viewing import SceneViewing


@flat_names(**GENESIS_NAMES["SceneNames"])
@flat_names(
    contents="""
        sim_options rigid_options vis_options viewer_options profiling_options renderer mpm_options coupler_options
        dt substeps requires_grad
        entity_names variants has_lights is_built world rigid_solver n_envs segmentation segmentation_idx_dict
    """,
    lifecycle="step reset backward get_state register_pre_step_callback get_time read_sensors t close",
    files="describe export save_checkpoint write_mjcf trajectory",
    recording="add_recorder start_recording stop_recording",
    lighting="add_light add_mesh_light",
    matter="add_emitter emitters mpm_solver solvers particle_groups",
    viewing="viewer page_objects view visualizer",
    drawing="""
        debug_objects draw_debug_line draw_debug_arrow draw_debug_frame draw_debug_frames draw_debug_sphere
        draw_debug_spheres draw_debug_points draw_debug_box draw_debug_mesh draw_debug_trajectory draw_debug_path
        draw_debug_frustum update_debug_objects clear_debug_object clear_debug_objects
    """,
)
class SceneNames:
    """Names for members of a scene's objects. Shapes, units and errors are written there."""

    contents: SceneContents
    lifecycle: SceneLifecycle
    files: SceneFiles
    recording: SceneRecording
    lighting: SceneLighting
    matter: SceneMatter
    viewing: SceneViewing
    drawing: SceneDrawing
