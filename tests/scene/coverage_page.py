"""A table of what Genesis has and Tumble's scenes have not, and of what is different, each with its reason.

`python -m tests.scene.coverage_page docs/reference/genesis_names.md` writes the page from this table and the classes; a
test goes through the list of all names.
"""

import inspect
import sys
from pathlib import Path

from tumble.scene.entity.drone_entity import DroneEntity
from tumble.scene.entity.entity import RigidEntity
from tumble.scene.entity.geoms import RigidGeom
from tumble.scene.entity.handles import RigidJoint, RigidLink
from tumble.scene.entity.mpm_entity import MPMEntity
from tumble.scene.entity.terrain_entity import TerrainEntity
from tumble.scene.matter.emitter import Emitter
from tumble.scene.pictures.camera import Camera
from tumble.scene.scene import Scene

from ..flat_names import member_named

CLASSES: dict[str, type] = {
    "Scene": Scene,
    "Camera": Camera,
    "RigidEntity": RigidEntity,
    "RigidLink": RigidLink,
    "RigidJoint": RigidJoint,
    "RigidGeom": RigidGeom,
    "TerrainEntity": TerrainEntity,
    "DroneEntity": DroneEntity,
    "MPMEntity": MPMEntity,
    "Emitter": Emitter,
}
"""The classes by name; methods of kinematic entities, of which there are none, are those of rigid ones."""

_GAINS = "a servo has kp and kv (`set_dofs_kp`, `set_dofs_kv`); general gains are those of a file's actuators"
_WEIGHT = "it follows from masses and inertia, as in MuJoCo: set those"
_SDF = "distance fields are drawn by no call of scenes; `model.geometry` and `docs/physics.md` have them"

_TRIMESH = "`get_trimesh` has it"

_RIGID = "scenes have rigid bodies and matter of `materials.MPM`"
_MUSCLE = "there is no material that contracts"
_SKIN = "particles are drawn as spheres, or a surface around them: they carry no mesh"

ABSENT: dict[str, dict[str, str]] = {
    "Scene": {
        "add_stage": "there is no reader of USD",
        "add_force_field": "`register_pre_step_callback` with `apply_links_external_wrench` applies any force",
        "active_solvers": "`solvers` has those of what the scene has",
        "show_FPS": "a step prints nothing; `tumble bench` measures",
        "timings": "`tumble bench` measures; a step keeps no times",
        "desc": "`describe` returns the scene as text",
        **dict.fromkeys(
            ("tool_solver", "kinematic_solver", "sph_solver", "fem_solver", "pbd_solver"),
            _RIGID,
        ),
    },
    "Camera": {
        "build": "`Scene.build` does it; a camera that is added later is ready at once",
        "focal_len": "`f` is the same",
        "distance_center_to_plane": "`render` returns depths along the optical axis",
        "update_recording": "`render` adds a picture",
        "projection_matrix": "`intrinsics` has its numbers; rays have no clipping planes",
    },
    "RigidEntity": {
        "get_state": "`scene.get_state` has the state of all entities, to the bit",
        "set_vverts": "what is drawn follows from links: vertices cannot be moved one by one",
        "set_dofs_act_gain": _GAINS,
        "set_dofs_act_bias": _GAINS,
        "set_dofs_invweight": _WEIGHT,
        "set_links_invweight": _WEIGHT,
        "desc": "morph, material and surface are attributes of the entity",
        "main_morph": "`morph` is the same",
        "joints_by_links": "`link.joints` has them, of each of `links`",
        "is_local_collision_mask": "masks are MuJoCo's contype and conaffinity, of the whole scene",
    },
    "RigidLink": {
        "get_invweight": "`get_links_invweight` of its entity",
        **dict.fromkeys(("n_verts", "n_faces", "n_edges"), "each of `link.geoms` has them"),
    },
    "RigidJoint": {
        "dofs_length": "kinematics need none; `n_dofs` is the number of dofs",
    },
    "RigidGeom": {
        "sdf_trimesh": _SDF,
        "visualize_sdf": _SDF,
        "uvs": "`model.geometry.vgeoms.uv` has those of what is drawn",
        "is_convex": "all geoms are but planes, height fields and meshes with distance fields",
        **dict.fromkeys(("init_edges", "init_normals", "init_center_pos"), _TRIMESH),
        "verts_state_start": "vertices in the world are computed where they are asked for: `get_verts`",
        "verts_state_end": "vertices in the world are computed where they are asked for: `get_verts`",
    },
    "DroneEntity": {
        "update_propeller_vgeoms": "propellers are drawn as they stand: their turning is not simulated",
    },
    "TerrainEntity": {},
    "MPMEntity": {
        **dict.fromkeys(("set_actuation", "set_particles_actu", "get_particles_actu"), _MUSCLE),
        **dict.fromkeys(("set_muscle_group", "get_muscle_group", "set_muscle_direction", "set_muscle"), _MUSCLE),
        **dict.fromkeys(("set_free", "get_free"), "particles cannot be held: a fixed body that they surround can"),
        **dict.fromkeys(
            ("set_particle_constraints", "remove_particle_constraints"), "no springs hold particles at links"
        ),
        **dict.fromkeys(("vmesh", "n_vverts", "n_vfaces", "vvert_start", "vvert_end"), _SKIN),
        **dict.fromkeys(("vface_start", "vface_end"), _SKIN),
        "sim": "`scene` is the same",
        "desc": "morph, material and surface are attributes of the entity",
        "sensors": "matter carries no sensors",
        "read_sensors": "matter carries no sensors",
    },
    "Emitter": {"set_entity": "`Scene.add_emitter` makes both"},
}
"""Names that are not here, by class, with the reason."""

DIFFERENT = (
    ("`start_recording` of a scene", "takes a function and options, too, as `add_recorder`"),
    ("`load_checkpoint`", "asked of the class makes the scene, too; asked of a scene goes on in that"),
    ("`load_trajectory`", "returns a scene with a `trajectory`, whose `show(frame)` puts the scene there"),
    ("`add_mesh_light`", "adds an entity that shines to all sides, and returns it"),
    ("recorders of plots", "`gs.recorders` has files: `CSVFile`, `NPZFile`, `VideoFile`, `TrajectoryFile`; no windows"),
    ("`near`, `far` of a camera", "are kept; pictures reach as far as there is something"),
    ("`skip_forward`", "changes nothing: poses are computed when they are asked for"),
    ("`allow_fast_approx`", "changes nothing: bounds are as tight as shapes allow"),
    (
        "getters after `step`",
        "all belong to the present state, contacts and forces too; elsewhere those are the last step's",
    ),
    ("`set_links_mass`", "changes only masses; `set_mass` of an entity or a link scales inertia with them"),
    ("`set_dofs_limit`, `set_dofs_frictionloss`", "refuse dofs whose file has none: no constraint is there for them"),
    ("`set_dofs_force_range`", "leaves the effort of a URDF joint, or MJCF's `actuatorfrcrange`, in force beside it"),
    ("`set_pos` of a fixed entity", "mounts it elsewhere in the environments named, by per-environment parameters"),
    (
        "gradients (`requires_grad`, `backward`)",
        "tensors are torch's own; a backward pass may follow any reset, and leaves the state as it is",
    ),
    ("applied wrenches", "last for the next `scene.step` with all its substeps"),
    ("`pos` of wrenches", "is the point itself, in the world or, with `local`, in the link's frame"),
    ("numbers that are not finite", "are refused before anything is written"),
    ("`attach`", "takes a link on the last branch of the carrier, so that numbers of parts stay consecutive"),
    ("setters of links, geoms and joints", "take `envs_idx` too, where numbers may differ by environment"),
    ("setters of matter", "act at once, there with the next step; `particles_idx_local` is of all named environments"),
    ("`get_state` of matter", "has `strain` and `volume` in place of `F` and `Jp`"),
    ("`emit`, `emit_omni`, `reset` of an emitter", "take `envs_idx` too; an emitter's memory is part of the state"),
)
"""The names that are here and behave otherwise."""


def names(owner: type) -> list[str]:
    """Return the public names of a class."""
    return [name for name in dir(owner) if not name.startswith("_")]


def page() -> str:
    """Return the page."""
    parts = [
        "# Coverage of the Genesis API",
        "",
        "Generated by `python -m tests.scene.coverage_page`. Every name that scenes, cameras, rigid entities, links,",
        "joints, geoms, entities of MPM and emitters have in Genesis 1.x is present, except those in the first table:",
        "what Tumble cannot do, and names that no public script uses.",
        "",
        "## Absent",
        "",
        "| class | name | why |",
        "|---|---|---|",
    ]
    parts += [f"| {owner} | `{name}` | {why} |" for owner, absent in ABSENT.items() for name, why in absent.items()]
    parts += [
        "",
        "## Different",
        "",
        "| what | how |",
        "|---|---|",
        *(f"| {what} | {how} |" for what, how in DIFFERENT),
    ]
    parts += ["", "## Present", ""]
    for owner, kind in CLASSES.items():
        own = [
            name
            for name in names(kind)
            if not issubclass(kind, RigidEntity) or kind is RigidEntity or name not in dir(RigidEntity)
        ]
        calls = [f"`{name}`" for name in own if inspect.isfunction(member_named(kind, name))]
        others = [f"`{name}`" for name in own if not inspect.isfunction(member_named(kind, name))]
        parts += [f"**{owner}**: {', '.join(calls)}; properties {', '.join(others)}.", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
