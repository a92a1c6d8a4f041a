"""Options of Genesis' scripts that change nothing here. They are accepted; each warns once, with the reason."""

import ast
import warnings
from typing import Any

import numpy as np

_TABLE = """
Scene           | show_FPS=False                                  | a step prints nothing; `tumble bench` measures
ProfilingOptions| show_FPS=False, FPS_tracker_alpha=0.95          | `tumble bench` measures
init            | performance_mode=False, use_deterministic_algorithms=False | the machine is used so in any case
init            | debug=None, eps=None, theme=None, logger_verbose_time=None | there is no such setting
RigidOptions    | max_collision_pairs=None, multiplier_collision_broad_phase=None | lists grow as they must
RigidOptions    | max_dynamic_constraints=None, IK_max_targets=None | lists grow as they must
RigidOptions    | batch_links_info=False, batch_joints_info=False, batch_dofs_info=False | this is always so
RigidOptions    | box_box_detection=None, enable_multi_contact=True | faces meet in several points in any case
RigidOptions    | sparse_solve=None                               | the solver chooses
ViewerOptions   | refresh_rate=60, max_FPS=None                   | the browser chooses how often it draws
ViewerOptions   | run_in_thread=None, enable_help_text=True       | the scene is shown in a browser, not in a window
ViewerOptions   | enable_default_keybinds=True, enable_gui=False  | the scene is shown in a browser, not in a window
add_camera      | GUI=False, debug=False                          | no window is opened
BatchRenderer   | use_rasterizer=False                            | the ray caster draws all pictures
RayTracer       | rr_depth=0, rr_threshold=0.95                   | dark paths end at random after three scatterings
RayTracer       | env_radius=1000.0                               | the surroundings are infinitely far away
MPMOptions      | use_sparse_grid=False, leaf_block_size=8        | nodes that no particle reaches cost nothing
LegacyCouplerOptions | rigid_sph=True, rigid_pbd=True, rigid_fem=True | matter is of materials.MPM
LegacyCouplerOptions | mpm_sph=True, mpm_pbd=True, fem_mpm=True, fem_sph=True | matter is of materials.MPM
VisOptions      | render_particle_as="sphere", n_support_neighbors=12 | particles are spheres, or a surface around them
VisOptions      | visualize_sph_boundary=False, visualize_pbd_boundary=False | matter is of materials.MPM
Surface         | smooth=True, double_sided=None                  | meshes have the normals of their files, and one side
Morph           | batch_fixed_verts=None, requires_jac_and_IK=None | this is always so
FileMorph       | decimate=None, decimate_face_num=None           | hulls are made of the whole mesh
FileMorph       | decimate_aggressiveness=None, watertighten=None | hulls are made of the whole mesh
Terrain         | uv_scale=1.0, name=None                         | nothing is kept on disk
RecorderOptions | buffer_size=0, buffer_full_wait_time=0.1        | nothing waits for another thread
VideoFile       | name="", codec="", bitrate=1.0, codec_options=None | films are H.264 of a good quality
SensorOptions   | draw_debug=False                                | pictures do not show readings
IMU             | debug_acc_color=(1.0, 0.0, 0.0, 0.6), debug_acc_scale=0.01 | pictures do not show readings
IMU             | debug_gyro_color=(0.0, 1.0, 0.0, 0.6), debug_gyro_scale=0.01 | pictures do not show readings
IMU             | debug_mag_color=(0.0, 0.0, 1.0, 0.6), debug_mag_scale=0.5 | pictures do not show readings
Contact         | debug_sphere_radius=0.05, debug_color=(1.0, 0.0, 1.0, 0.5) | pictures do not show readings
ContactForce    | debug_color=(1.0, 0.0, 1.0, 0.5), debug_scale=0.01 | pictures do not show readings
Raycaster       | debug_sphere_radius=0.02, debug_ray_start_color=(0.5, 0.5, 1.0, 1.0) | pictures do not show readings
Raycaster       | debug_ray_hit_color=(1.0, 0.5, 0.5, 1.0)        | pictures do not show readings
"""
"""Class or call; options, with the values by which scripts ask for nothing; the reason."""


def _rows() -> dict[tuple[str, str], tuple[Any, str]]:
    """Return value and reason by class or call and option."""
    found: dict[tuple[str, str], tuple[Any, str]] = {}
    for line in _TABLE.strip().splitlines():
        owner, options, why = (part.strip() for part in line.split("|"))
        call = ast.parse(f"f({options})", mode="eval").body
        assert isinstance(call, ast.Call)
        found |= {(owner, str(each.arg)): (ast.literal_eval(each.value), why) for each in call.keywords}
    return found


IGNORED = _rows()
_warned: set[tuple[str, str]] = set()


def names_of(owner: str) -> list[str]:
    """Return the options of a class or call that change nothing."""
    return [name for of, name in IGNORED if of == owner]


def ignore(owner: str, given: dict[str, Any], stacklevel: int = 3) -> None:
    """Warn the caller's caller of options of a class or call that change nothing, of each once."""
    for name, value in given.items():
        neutral, why = IGNORED[owner, name]
        if np.array_equal(value, neutral) or (owner, name) in _warned:
            continue
        _warned.add((owner, name))
        warnings.warn(f"{owner}: {name}={value!r} changes nothing: {why}", UserWarning, stacklevel=stacklevel)


def without_ignored(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a class that have an effect; warn of each other argument."""
    owners = [each.__name__ for each in kind.__mro__]
    kept = dict(given)
    for name in given:
        owner = next((owner for owner in owners if (owner, name) in IGNORED), None)
        if owner is not None:
            ignore(owner, {name: kept.pop(name)}, stacklevel=5)
    return kept
