"""A page of all defaults of the API that scenes follow, beside those here; and the reader of its source.

    pip download --no-deps genesis-world==1.4.5; unzip -d FOLDER genesis_world-*.whl
    python -m tests.scene.defaults_table read FOLDER > tests/scene/genesis_defaults.txt
    python -m tests.scene.defaults_table page > docs/reference/genesis_defaults.md

The reader parses the source, and imports nothing of it.
"""

import ast
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tumble.scene as gs
from tumble.scene import machine
from tumble.scene.compat.ignored import IGNORED
from tumble.scene.model.gains import URDF_KP, URDF_KV
from tumble.scene.model.primitives import OBJECT_DENSITY, ROBOT_DENSITY

from ..flat_names import member_named
from .coverage_page import CLASSES

DATA = Path(__file__).with_name("genesis_defaults.txt")
GROUPS: dict[str, Any] = {
    "options": gs.options,
    "materials": gs.materials,
    "morphs": gs.morphs,
    "surfaces": gs.surfaces,
    "textures": gs.textures,
    "renderers": gs.renderers,
    "sensors": gs.sensors,
    "recorders": gs.recorders,
}
"""Rooms whose public classes are read; beside them the classes of `coverage_page`, and `gs.init`."""


def _sphere(field: str, **options: Any) -> Any:
    """Return a number of the model of a scene with a sphere."""
    scene = gs.Scene(rigid_options=gs.options.RigidOptions(**options))
    scene.add_entity(gs.morphs.Sphere())
    value = scene.compile().mj
    for part in field.split("."):
        value = getattr(value, part)
    return value


RESOLVED: dict[str, Callable[[], Any]] = {
    "RHO_OBJECT": lambda: OBJECT_DENSITY,
    "RHO_ROBOT": lambda: ROBOT_DENSITY,
    "default_friction": lambda: float(_sphere("geom_friction")[0, 0]),
    "default_friction_torsional": lambda: float(_sphere("geom_friction")[0, 1]),
    "default_friction_rolling": lambda: float(_sphere("geom_friction")[0, 2]),
    "default_dofs_kp": lambda: URDF_KP,
    "default_dofs_kv": lambda: URDF_KV,
    "default_solver_params": lambda: [0.0, float(_sphere("geom_solref")[0, 1]), *_sphere("geom_solimp")[0].tolist()],
    "options.impratio": lambda: [
        float(_sphere("opt.impratio", friction_cone=cone)) for cone in ("elliptic", "pyramidal")
    ],
    "options.tolerance": lambda: [_sphere("opt.tolerance")],
}
"""What replaces a None: constants and functions of that API by name, and how the number here is found."""


def own_classes() -> dict[str, type]:
    """Return the classes here whose defaults are compared, by name."""
    found = dict(CLASSES)
    for room in GROUPS.values():
        for name, kind in vars(room).items():
            if isinstance(kind, type) and not name.startswith("_") and kind.__module__.startswith("tumble.scene"):
                found[name] = kind
    return found | {f"MPM.{name}": kind for name, kind in vars(gs.materials.MPM).items() if getattr(kind, "KIND", "")}


SPELLED = {
    **{"float('inf')": "1e999", "np.inf": "1e999", "inf": "1e999", "tuple()": "()", "dict()": "{}"},
    "DEFAULT_SAMPLER": "'pbs'",  # on Linux
    **{"np.zeros(3)": "(0, 0, 0)", "2 ** 25": "33554432", "2 ** 31": "2147483648"},
}
"""Values that are no literals of Python, as such."""


_SOFT = "of other solvers than those of rigid bodies and MPM"
_INSIDE = "set by the class itself"
_ALWAYS = "always on here"
_NOTHING = "no effect here: accepted so that scripts run"
_TEXTURES = "surfaces have one texture, that of their colour"
_PLACE = "morphs have one place: `pos`, `euler`, `quat`"
_TETS = "of volume meshes of bodies that are not rigid"
_MENDED = "meshes are not changed: hulls are made of the whole mesh"
REASONS: dict[str, str] = {
    "Scene.options": "a scene has options by kind: `sim_options`, `rigid_options`",
    **{f"Scene.{name}_options": _SOFT for name in ("tool", "kinematic", "sph", "fem", "sf", "pbd")},
    "SimOptions.substeps_local": "each step is kept for a backward pass, and its substeps are computed again",
    "SimOptions.floor_height": "a floor is an entity: `gs.morphs.Plane`",
    "enable_neutral_collision": "links that overlap at the start touch; the file or `contype` excludes pairs",
    **dict.fromkeys(
        ("max_collision_pairs", "multiplier_collision_broad_phase", "IK_max_targets"),
        "lists grow as needed; " + _NOTHING,
    ),
    "max_dynamic_constraints": "the model sets the number of constraints; " + _NOTHING,
    "box_box_detection": "faces meet in several points in any case; " + _NOTHING,
    "integrator": "MuJoCo's `implicitfast`; the other name is accepted and means the same",
    "iterations": "Newton's method stops once it has converged; if it is stopped earlier, contacts are too soft",
    "contact_resolution": "contacts are MuJoCo's for convex shapes, `convex` there",
    "contact_pruning_tolerance": "no contact is left out",
    "hibernation_thresh_vel": "MuJoCo's tolerance, 1e-4 m/s, as in Genesis' compatible mode",
    "enable_mujoco_compatibility": _ALWAYS,
    "enable_contact_patch": "faces meet in several points, as MuJoCo's do",
    "broadphase_traversal": "there is one method to find pairs",
    "contact_resolve_time": "`constraint_timeconst` is its name now",
    "use_contact_island": "islands change no result, only speed",
    "plane_reflection": "planes mirror faintly, unless a surface or False says otherwise",
    "background_color": "a sky, unless a colour is given",
    "ambient_light": "the light of the sky, unless a colour is given",
    "VisOptions.lights": "the sky has a sun; `scene.add_light` adds lights",
    "RayTracer.lights": "the sky has a sun; an entity with an `Emission` is another light",
    "show_FPS": "a step prints nothing; `tumble bench` measures",
    "use_visual_raycasting": "rays of sensors meet one kind of shapes: `sensors.Raycaster`",
    **dict.fromkeys(
        ("coup_type", "coup_links", "enable_coup_collision", "coup_collision_links", "contact_resistance"),
        "of a coupler with other solvers",
    ),
    **dict.fromkeys(("update_F_S_Jp", "update_stress", "needs_svd", "idx", "alpha"), _INSIDE),
    **dict.fromkeys(("offset_pos", "offset_euler", "offset_quat"), _PLACE),
    "enable_custom_vverts": "shapes are drawn at their links",
    **dict.fromkeys(("decimate_face_num", "decimate_aggressiveness", "watertighten"), _MENDED),
    "MJCF.decompose_object_error_threshold": "hulls, as in MuJoCo, for which the file was written",
    "recompute_inertia": "an `<inertial>` always counts; without one, shapes and `rho` give the mass",
    "align": "frames are those of the file",
    "file_meshes_are_zup": "a file says how its meshes stand",
    "batch_fixed_verts": "always on here; " + _NOTHING,
    "decompose_nonconvex": "the older name of `convexify` and its thresholds",
    "parse_glb_with_zup": "the older name of `file_meshes_are_zup`",
    "default_armature": "0.1 kg m2 is more than the inertia of most links: robots move as in honey",
    "xacro_args": "xacro files are not read: make a URDF file of them",
    "default_base_ang_damping_scale": "damping is that of the file",
    "COM_link_name": "a drone's mass is where its file has it",
    "propellers_link_names": "the older name of `propellers_link_name`",
    **dict.fromkeys(
        ("order", "mindihedral", "minratio", "nobisect", "quality", "maxvolume", "verbose", "force_retet"), _TETS
    ),
    "group_by_material": "a file is one mesh with several colours",
    "merge_submeshes_for_collision": "all parts of a file are one mesh",
    "from_stored": "nothing is kept on disk",
    "image_path": "a texture without an image is a `ColorTexture`",
    "encoding": "images are in displayed colour",
    "image_array": "images are read from files",
    "image_color": "the surface has the colour",
    "default_roughness": "half glossy, so that highlights show shapes; `roughness` changes it",
    "roughness": "water lies still",
    **dict.fromkeys(("cutoff", "normal_diff_clamp"), "of a path tracer with other lights"),
    **dict.fromkeys(
        ("recon_backend", "generate_foam", "foam_options"), "particles are spheres, or a surface around them"
    ),
    "ior": "opaque surfaces need none; that of water is 1.33",
    **dict.fromkeys(
        (
            *("opacity_texture", "roughness_texture", "metallic_texture", "normal_texture", "emissive_texture"),
            *("specular_texture", "transmission_texture", "thickness_texture"),
        ),
        _TEXTURES,
    ),
    **dict.fromkeys(
        ("specular_trans", "diffuse_trans", "thickness", "subsurface"), "`opacity` and `ior` take their place"
    ),
    "opacity": "the ray caster does not refract: `opacity` shows what is behind",
    "vis_mode": "this class draws collision shapes",
    "emissive": "an `Emission` is white by default",
    **dict.fromkeys(("device_index", "logging_level", "state_limit"), "of the path tracer's process there"),
    **dict.fromkeys(("env_pos", "env_euler", "env_quat"), "the surroundings are infinitely far away"),
    **{f"IMU.{name}": "an IMU has them by part: `acc_`, `gyro_`, `mag_`" for name in ("resolution", "bias", "noise")},
    "IMU.random_walk": "an IMU has them by part: `acc_`, `gyro_`, `mag_`",
    "filename": "required here too: an empty name is refused",
    **dict.fromkeys(("mode", "chunk_size", "max_size"), "a trajectory is one file with all positions"),
    "codec_options": "films are H.264; " + _NOTHING,
    **{f"init({name})": _NOTHING for name in ("debug", "eps", "theme", "logger_verbose_time", "performance_mode")},
    "init(use_deterministic_algorithms)": _ALWAYS,
    "options.tolerance": "MuJoCo's, in its units",
}
"""Why a default is another one, or there is no such argument, by its name, or its class and its name."""


class Source:
    """The classes of a package by name, and some of its functions and constants, read from its text."""

    def __init__(self, folder: Path) -> None:
        self.classes: dict[str, list[tuple[str, ast.ClassDef]]] = {}
        self.others: list[tuple[str, str, str]] = []
        for path in sorted((folder / "genesis").rglob("*.py")):
            where = path.relative_to(folder / "genesis").as_posix()
            for node in ast.parse(path.read_text("utf-8")).body if not where.startswith("ext/") else ():
                self._keep(where, node)

    def _keep(self, where: str, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes.setdefault(node.name, []).append((where, node))
        elif isinstance(node, ast.FunctionDef) and node.name in ("init", *RESOLVED):
            own = _arguments(node) if node.name == "init" else []
            self.others += [(where, f"{node.name}({name})", value) for name, value in own]
            if isinstance(node.body[-1], ast.Return) and node.body[-1].value is not None:
                self.others.append((where, node.name, _value(node.body[-1].value)))
        if where == "engine/solvers/rigid/rigid_solver.py":
            self._keep_assigned(where, node)
        if isinstance(node, ast.Assign) and (name := getattr(node.targets[0], "id", "")) in (*RESOLVED, "__version__"):
            self.others.append((where, name, ast.unparse(node.value)))

    def _keep_assigned(self, where: str, node: ast.stmt) -> None:
        """Keep what options are set to where they are None, in the order of the source."""
        for option in ("impratio", "tolerance"):
            given = [
                ast.unparse(each.value)
                for each in ast.walk(node)
                if isinstance(each, ast.Assign) and getattr(each.targets[0], "attr", "") == option
            ]
            if given:
                self.others.append((where, f"options.{option}", f"[{', '.join(given)}]"))

    def defaults(self, name: str, rooms: tuple[str, ...] = ("",)) -> dict[str, tuple[str, str]]:
        """Return file and default of all fields and arguments of a class and its bases, by name."""
        found: dict[str, tuple[str, str]] = {}
        for where, node in [each for each in self.classes.get(name, []) if each[0].startswith(rooms)][:1]:
            for base in reversed(node.bases):
                inner = base.value if isinstance(base, ast.Subscript) else base
                parent = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", name)
                if parent != name:
                    near = any(file.startswith(rooms) for file, _ in self.classes.get(parent, []))
                    found |= self.defaults(parent, rooms if near and len(rooms) == 1 else ("",))
            for part in node.body:
                found |= {key: (where, value) for key, value in _members(part) if not key.startswith("_")}
        return found


def _members(part: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield names and defaults of a field, or of the arguments of a method."""
    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None:
        yield part.target.id, _value(part.value)
    elif isinstance(part, ast.FunctionDef):
        for name, value in _arguments(part):
            yield name if part.name == "__init__" else f"{part.name}({name})", value


def _value(value: ast.expr) -> str:
    """Return a default; of pydantic's `Field` the one that it has, of an array its numbers."""
    call = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    given = (
        {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords} if isinstance(value, ast.Call) else {}
    )
    if call == "np.full":
        return given["fill_value"]
    if call == "np.array" and isinstance(value, ast.Call):
        return ast.unparse(value.args[0])
    if call == "Field":
        return given.get("default") or (f"{given['default_factory']}()" if "default_factory" in given else "required")
    return ast.unparse(value)


def _arguments(node: ast.FunctionDef) -> list[tuple[str, str]]:
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    pairs = [*zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None]
    return [(arg.arg, ast.unparse(value)) for arg, value in pairs]


def read(folder: Path) -> str:
    """Return the text of the data file: a section for each class, a line for each default."""
    source = Source(folder)
    version = next(value for _, name, value in source.others if name == "__version__")
    lines = [f"# Defaults of genesis-world {version.strip(chr(39))}, from its source by tests/scene/defaults_table.py."]
    for name in own_classes():
        rooms = ("engine/", "vis/") if name in CLASSES else ("options/", "engine/materials/", "recorders/")
        group, _, own = name.rpartition(".")
        found = source.defaults(own, (f"engine/materials/{group}/",) if group else rooms)
        files = list(dict.fromkeys(where for where, _ in found.values()))
        lines += ["", f"[{name}] {' '.join(files)}"] if found else []
        lines += [f"{key} = {' '.join(value.split())}" for key, (_, value) in found.items() if _is_ours(name, key)]
    lines += ["", f"[gs] {' '.join(dict.fromkeys(where for where, name, _ in source.others if name in RESOLVED))}"]
    lines += [f"{name} = {value}" for _, name, value in source.others if name != "__version__"]
    return "\n".join(lines) + "\n"


def _is_ours(name: str, key: str) -> bool:
    """Return True for an argument of a record or a scene, and of a method that the class here has itself."""
    method, _, argument = key.partition("(")
    if not argument:
        return name not in CLASSES or name == "Scene"
    kind = CLASSES.get(name)
    others = [base for base in CLASSES.values() if base is not kind and kind is not None and issubclass(kind, base)]
    return hasattr(kind, method) and not any(hasattr(base, method) for base in others)


@dataclasses.dataclass(frozen=True)
class Row:
    """A default of the API followed, as its source has it, and the one here; None: there is no such argument."""

    owner: str
    name: str
    there: str
    here: str | None

    @property
    def is_equal(self) -> bool:
        """Whether the two are the same value."""
        return self.here is not None and _plain(self.there) == _plain(self.here)

    @property
    def why(self) -> str | None:
        """The reason if the two differ."""
        return REASONS.get(f"{self.owner}.{self.name}", REASONS.get(self.name))


def rows() -> list[Row]:
    """Return all defaults of the data file with those here."""
    found, owner = [], ""
    for line in DATA.read_text("utf-8").splitlines():
        if line.startswith("["):
            owner = line[1:].partition("]")[0]
        elif line and not line.startswith("#"):
            name, _, value = line.partition(" = ")
            found.append(Row(owner, name, value, _own(owner, name)))
    return found


def _own(owner: str, name: str) -> str | None:
    """Return the default of a field or an argument here, as text."""
    method, _, argument = name.rstrip(")").partition("(")
    if owner == "gs":
        return _of_call(machine.init, argument) if method == "init" else repr(RESOLVED[name]())
    kind: Any = own_classes()[owner]
    if argument:
        return _of_call(member_named(kind, method), argument)
    if not dataclasses.is_dataclass(kind):
        return _of_call(kind.__init__, name)
    field = {each.name: each for each in dataclasses.fields(kind)}.get(name)
    if name == "default_roughness":
        return repr(gs.surfaces.Surface.ROUGHNESS)
    if field is None:
        owners = [(each.__name__, name) for each in kind.__mro__]
        return next((repr(IGNORED[owner][0]) for owner in owners if owner in IGNORED), None)
    if name == "roughness" and gs.surfaces.Surface.ROUGHNESS != kind.ROUGHNESS:
        return repr(kind.ROUGHNESS)
    return "required" if field.default is dataclasses.MISSING else repr(field.default)


def _of_call(call: Any, argument: str) -> str | None:
    parameter = inspect.signature(call).parameters.get(argument)
    if parameter is None:
        return None
    return "required" if parameter.default is inspect.Parameter.empty else repr(parameter.default)


def _plain(text: str) -> Any:
    """Return a value from its text: a choice by its name, sequences as tuples."""
    try:
        return _tuples(ast.literal_eval(SPELLED.get(text, text)))
    except ValueError:
        return text.rpartition(".")[2]


def _tuples(value: Any) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list | tuple) else value


def page() -> str:
    """Return the page."""
    found = rows()
    version = DATA.read_text("utf-8").split()[4].rstrip(",")
    same = [row for row in found if row.is_equal]
    other = [row for row in found if not row.is_equal]
    parts = [
        "# Defaults beside Genesis",
        "",
        "Generated by `python -m tests.scene.defaults_table page`: the default of each argument of scenes of rigid",
        f"bodies, in genesis-world {version} (read from its source) and in Tumble.",
        f"{len(same)} of {len(found)} are equal. Each other default, and each argument that one side does not have, "
        "has a reason.",
        "",
        "## Different",
        "",
        "| argument | of | Genesis | Tumble | why |",
        "|---|---|---|---|---|",
        *_table([row for row in other if row.here is not None], with_here=True),
        "",
        "## Not in Tumble",
        "",
        "| argument | of | Genesis | why |",
        "|---|---|---|---|",
        *_table([row for row in other if row.here is None], with_here=False),
        "",
        "## Equal",
        "",
        "| of | source | arguments |",
        "|---|---|---|",
    ]
    for owner, files in _sections().items():
        names = [f"`{row.name}` {_shown(row.here)}" for row in same if row.owner == owner]
        if names:
            shown = f"{len(names)} of methods" if owner in CLASSES and owner != "Scene" else ", ".join(names)
            parts.append(f"| {owner} | {', '.join(f'`{file}`' for file in files)} | {shown} |")
    return "\n".join(parts) + "\n"


def _table(found: list[Row], with_here: bool) -> Iterator[str]:
    """Yield a line for all classes in which an argument differs in the same way."""
    together: dict[tuple[str, ...], list[str]] = {}
    for row in found:
        here = (_shown(row.here),) if with_here else ()
        together.setdefault((row.name, _shown(row.there), *here, str(row.why)), []).append(row.owner)
    for (name, *rest), owners in together.items():
        yield f"| `{name}` | {', '.join(owners)} | {' | '.join(rest)} |"


def _shown(text: str | None) -> str:
    return str(text).replace("|", "\\|")


def _sections() -> dict[str, list[str]]:
    """Return the files of each class of the data file."""
    heads = [line for line in DATA.read_text("utf-8").splitlines() if line.startswith("[")]
    return {head[1:].partition("]")[0]: head.partition("] ")[2].split() for head in heads}


if __name__ == "__main__":
    if sys.argv[1] == "read":
        sys.stdout.write(read(Path(sys.argv[2])))
    else:
        sys.stdout.write(page())
