"""What holds for the whole repository: imports run one way, importing is light, files keep to the house's sizes."""

import ast
import functools
import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from .cases import cases

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("assets", "benchmarks", "envs", "physics", "scene", "soft", "terrain", "training", "viewer")

# A module may import from its own room and from rooms of lower rank.
RANKS = {
    "assets": -4,
    "physics.machine.libraries": -4,  # how torch, Taichi and MuJoCo are loaded, by every door
    "terrain": -3,  # heights and their place in a model: of numpy and mujoco alone
    "physics.machine.scalars": -2,
    "physics.machine": -1,
    "physics.machine.codegen": 0,  # machine code and threads: it knows nothing of Taichi
    "physics.base": 1,  # arithmetic, kinds of geoms, declarations of fields and stages
    "physics.files": 2,  # of mujoco, numpy and trimesh: no kernel is here, and kernels know nothing of files
    "physics.mechanics.kinematics": 3,  # kernels know no declaration of fields, sizes or features
    "physics.mechanics.dynamics": 4,
    "physics.mechanics.collision": 5,
    "physics.mechanics.constraint": 6,
    "physics.mechanics.sensor_kernels": 7,
    "physics.model.parts": 8,
    "physics.model": 9,
    "physics.model.state": 10,
    "physics.run": 11,
    "physics.gradients": 12,  # derivatives of a step; the stages know nothing of it
    "physics.rendering.rays": 12,
    "physics.rendering": 13,  # reads model and state; it does not know the solver
    "physics.solver.readout": 12,
    "physics.solver.queries": 13,
    "physics.solver.sensors": 14,
    "physics.solver.user": 15,  # the objects of a solver
    "physics.solver": 16,
    "physics.solver.planning": 17,  # above the solver, of which it has one of its own for collisions
    "physics.urdf": 3,  # a former address of physics.files.urdf
    "physics": 20,  # the door: what users import
    "soft.mpm": 11.5,  # matter: it knows no rigid bodies, but how kernels are launched on a GPU
    "soft.coupling": 20.5,  # steps matter and rigid bodies
    "soft": 20.6,
    "viewer": 21,  # shows a solver; scenes and environments open it, and it takes them as things that step
    "scene": 22,  # entities, composed into a model; it knows no task
    "envs": 23,
    "training": 24,
    "benchmarks": 25,  # in clones only: no wheel has it, so no other room may import it
}
OF_THE_REPOSITORY = ("bootstrap.py", ".ci/build_site.py", ".ci/count.py", ".ci/lowest.py", ".ci/typecheck.py")
"""Programs that are no part of the package, and start before it can be imported."""
HEAVY = ("taichi", "torch", "mujoco", "llvmlite", "stable_baselines3", "scipy", "matplotlib")


def sources():
    """Python files of the package's rooms, as (dotted name, path)."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All nodes of a file, the module first; they are kept for the tests of this file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def forget_nodes():
    yield
    nodes_of.cache_clear()


def room_of(module: str) -> str:
    """The longest ranked prefix of a dotted name, such as "physics.model" of "physics.model.loading.loading"."""
    parts = module.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in RANKS), "")


def imports(path: Path, module: str):
    """Modules inside the package that a file imports relatively, anywhere in it, as (dotted name, line)."""
    is_package = path.name == "__init__.py"
    for node in nodes_of(path):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        parts = module.split(".") if module else []
        up = node.level - is_package
        base = parts[: len(parts) - up] if up else parts
        for alias in node.names:
            yield ".".join([*base, *(node.module or "").split("."), alias.name]).replace("..", "."), node.lineno


def test_imports_run_one_way():
    """From its own room and from rooms of lower rank; all offenders are named at once."""
    wrong = []
    for module, path in sources():
        own = room_of(module)
        for target, line in imports(path, module):
            other = room_of(target.strip("."))
            if other and other != own and RANKS[other] >= RANKS[own]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {own} must not import {other}")
    assert not wrong, "\n".join(wrong)


def imported_files(files: dict[str, Path]) -> dict[str, set[str]]:
    """The files that each file imports, anywhere in it and for types too, by their dotted names."""
    return {
        module: {
            target if target in files else target.rpartition(".")[0]
            for target in (target.strip(".") for target, _ in imports(path, module))
        }
        & set(files) - {module}
        for module, path in files.items()
    }


def test_no_files_import_each_other():
    """Two files in a circle are one idea in two places; imports inside functions and for types count."""
    TopologicalSorter(imported_files(dict(sources()))).prepare()  # raises CycleError, with the files


def test_a_circle_is_found(tmp_path):
    for name, text in {
        "one": "if TYPE_CHECKING:\n    from .two import Two",
        "two": "def work():\n    from . import one",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    files = {f"envs.{name}": tmp_path / f"{name}.py" for name in ("one", "two")}
    with pytest.raises(CycleError, match=r"envs\.(one|two)"):
        TopologicalSorter(imported_files(files)).prepare()


def test_parts_are_named_by_their_table_alone():
    """A mechanism is imported by `parts/__init__.py` only."""
    wrong = []
    for module, path in sources():
        for target, line in imports(path, module):
            words = target.strip(".").split(".")
            if words[:3] != ["physics", "model", "parts"] or len(words) < 5 or words[3] == "part":
                continue
            wrong.append(f"{path.relative_to(ROOT)}:{line}: imports the part {words[3]}")
    assert not wrong, "\n".join(wrong)


# Kinds of geoms that rooms above `shapes` may name, and where: what treats a kind unlike all others.
KINDS_NAMED = {
    "PLANE": (  # no solid: it has no centre and no end
        *(
            "files/mjmodel/pairs.py",
            "mechanics/collision/broad/broad_phase.py",
            "solver/readout/bounds.py",
            "solver/queries/kernel.py",
            "rendering/rays/ray_kernel.py",
        ),
        *(
            "rendering/shown/appearance.py",
            "rendering/shown/render_model.py",
            "rendering/cast/scene.py",
            "rendering/cast/raycast.py",
        ),
        *("rendering/path/cast.py", "rendering/path/packets_of_eight.py", "rendering/path/integrator.py"),
    ),
    "BOX": ("rendering/path/cast.py", "rendering/path/packets_of_eight.py"),  # it is its own bounding box
    "MESH": (  # has data of its own
        *(
            "files/geometry/decomposition.py",
            "files/geometry/store.py",
            "files/geometry/visual.py",
            "model/tables/pack.py",
        ),
        *("model/parameters.py", "rendering/rays/query.py", "rendering/rays/ray_kernel.py"),
        *(
            "rendering/shown/appearance.py",
            "rendering/cast/scene.py",
            "rendering/path/cast.py",
            "rendering/path/emitters.py",
        ),
        *("rendering/path/packets_of_eight.py", "rendering/particles/placed.py"),
    ),
    "SPHERE": (  # looks the same when turned, and takes up a cone; MuJoCo draws round shapes in sizes of their own
        *("rendering/cast/scene.py", "mechanics/collision/convex/convex.py", "rendering/shown/appearance.py"),
        *("rendering/path/cast.py", "rendering/path/emitters.py"),
    ),
    "CAPSULE": (  # MuJoCo clips its edge another way; tendons are drawn as capsules
        *("mechanics/collision/convex/manifold.py", "rendering/shown/appearance.py", "rendering/shown/overlays.py"),
    ),
    "CYLINDER": ("rendering/shown/appearance.py", "rendering/shown/overlays.py"),  # what overlays are made of
    "ELLIPSOID": ("rendering/shown/appearance.py", "rendering/shown/overlays.py"),
}


def test_kinds_of_geoms_are_named_by_their_files_and_pairs_alone():
    """Another kind is a file in `physics/base/shapes` with its place in `SHAPES`, and rows of the table of pairs."""
    from tumble.physics.base import shapes

    kinds = {name.rpartition(".")[2].upper(): kind for kind, name in shapes.of_kinds("__name__").items()}
    assert all(getattr(shapes, name) == kind for name, kind in kinds.items())
    wrong = []
    for _, path in sources():
        name = path.relative_to(ROOT / "physics").as_posix() if "physics" in path.parts else ""
        if not name or name.startswith("base/shapes/") or name == "mechanics/collision/pair_table.py":
            continue
        text = path.read_text(encoding="utf-8")
        named = {*re.findall(r"mjGEOM_(\w+)", text)}
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == "shapes":
                named |= {alias.name for alias in node.names}
        wrong += [f"{name} names {kind}" for kind in named & {*kinds} if name not in KINDS_NAMED.get(kind, ())]
    assert not wrong, "\n".join(wrong)


def test_files_of_kinds_define_what_the_table_asks_for():
    """A name that is written in another way would be a function that nothing calls, without an error."""
    from tumble.physics.base import shapes

    explained = {*re.findall(r"`(\w+)(?:\(|`)", shapes.__doc__)}
    for shape in shapes.SHAPES:
        tree = ast.parse(Path(shape.__file__).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"}
        assert functions <= explained, f"{shape.__name__}: {functions - explained}"


def test_every_part_is_in_the_table():
    """A part whose row is missing would be left out without an error: its fields are read by its own code alone."""
    from tumble.physics.model.parts import PARTS

    files = (ROOT / "physics" / "model" / "parts").glob("*.py")
    assert sum("\nPART = Part(" in path.read_text(encoding="utf-8") for path in files) == len(PARTS)


def test_one_file_knows_joint_types():
    """Others ask `physics/base/joints.py`. Zones of friction cones (`mechanics/constraint/cone.py`) have a FREE too."""
    named = re.compile(r"\b_?(FREE|BALL|SLIDE|HINGE)\b|mjtJoint|mjJNT_\w+")
    text = {module: path.read_text(encoding="utf-8") for module, path in sources() if module.startswith("physics.")}
    found = {module for module, code in text.items() if named.search(code)}
    assert found == {"physics.base.joints", "physics.mechanics.constraint.cone"}
    assert (
        "zone == FREE" in text["physics.mechanics.constraint.cone"]
        and "jnt_type" not in text["physics.mechanics.constraint.cone"]
    )
    compared = re.compile(r"(jnt_type|actuator_type)\[[^=<>\n]*\] *[=<>!]=? *\d")
    assert not [module for module, code in text.items() if compared.search(code)]


LANE_LOOPS = ("physics.base.math", "physics.run")


def loops_over_lanes(path: Path):
    """Lines of a file with range(...) up to a number that is named `width` of something that is named `lanes`."""
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            bounds = [n.value for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "width"]
            if any(ast.unparse(of).split(".")[-1].endswith("lanes") for of in bounds):
                yield node.lineno


def test_only_math_and_drivers_loop_over_lanes():
    """Others hand a routine of one lane to `in_each_lane` and its neighbours in `physics/base/math/lanes.py`."""
    found = {module: list(loops_over_lanes(path)) for module, path in sources() if module.startswith("physics.")}
    assert found["physics.base.math.lanes"] and found["physics.run.tiles.tile_pass"]  # the test sees what it forbids
    wrong = [f"{m}: line {n}" for m, lines in found.items() for n in lines if not m.startswith(LANE_LOOPS)]
    assert not wrong, "\n".join(wrong)


LOCAL = "pid dc_motor gravcomp friction_loss fluid delays deadband drag matter sleeping sensor_delays"
"""Mechanisms whose fields no other code names."""


@cases("name", LOCAL.split())
def test_a_mechanism_is_in_four_files_at_most(name):
    """Files of physics that name one of its fields, the table of parts included."""
    from tumble.physics.model.parts import PARTS

    (part,) = (part for part in PARTS if part.name == name)
    fields = {field.name for field in part.all_fields()}
    numbers = {number for names, _ in part.rules.values() for number in names}  # MuJoCo's, which have rows of their own
    words = {path: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for _, path in sources()}
    files = {path.name for path, found in words.items() if "physics" in path.parts and (fields - numbers) & found}
    assert len(files | {"__init__.py"}) <= 4, files


def test_the_core_asks_for_no_mechanism():
    """Outside of their room, kernels ask for tendons, along which others act, and for rows of equalities alone."""
    from tumble.physics.model.parts import PARTS

    asked = {
        name
        for module, path in sources()
        if module.startswith("physics.") and not module.startswith("physics.model.parts")
        for name in re.findall(r"\bhas\.(\w+)", path.read_text(encoding="utf-8"))
    }
    known = {"tendons", "spatial_tendons", "tendon_armature", "wrapping", "equality"}
    assert asked & {each.name for part in PARTS for each in part.features()} <= known


def test_kinds_of_actuators_differ():
    from tumble.physics.model.parts import ACTUATOR_KINDS, PARTS

    types = [kind.gaintype for kind in ACTUATOR_KINDS]
    assert len({*types}) == len(types) and min(types) > 0
    assert len({part.name for part in PARTS}) == len(PARTS)


def test_inside_the_package_imports_are_relative():
    """Neither the bare names of the rooms nor `tumble`: both would be second copies or circles."""
    wrong = []
    for _, path in sources():
        for node in nodes_of(path):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            foreign = [name for name in names if name.split(".")[0] in (*ROOMS, "tumble")]
            wrong += [f"{path.relative_to(ROOT)}:{node.lineno}: import {name} relatively" for name in foreign]
    assert not wrong, "\n".join(wrong)


def test_nobody_imports_the_bare_rooms():
    """Also outside the package: tests and scripts import `tumble...`."""
    for path in [*ROOT.glob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in names:
                assert name.split(".")[0] not in ROOMS, f"{path.relative_to(ROOT)}:{node.lineno}: import tumble.{name}"


def modules_after(statement: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    return set(json.loads(run.stdout.splitlines()[-1]))


def starts_python(node):
    """Whether a node of the syntax tree is a way to start Python in another process."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in ("sys.executable", "os.system") or re.match(
            r"os\.(exec|spawn|posix_spawn|popen)", ast.unparse(node)
        )
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(re.match(r"multiprocessing|concurrent\.futures\.process|torch\.multiprocessing", name) for name in names)


def test_one_file_starts_python():
    """Its children look for no module in the present folder: `tests/physics/test_children.py` tries them."""
    for path in (*(path for _, path in sources()), *ROOT.glob("*.py"), *ROOT.glob(".ci/*.py")):
        lines = [node.lineno for node in nodes_of(path) if starts_python(node)]
        name = str(path.relative_to(ROOT))
        if name in OF_THE_REPOSITORY:
            calls = [node for node in nodes_of(path) if isinstance(node, ast.List) and "'-m'" in ast.unparse(node)]
            assert all("'-P', '-m'" in ast.unparse(node) for node in calls), name
        elif name != "physics/machine/children.py":
            assert lines == [], f"{name}:{lines}: start Python by python_command (physics/machine/children.py)"


def test_importing_tumble_is_light():
    """Registration needs names alone; the engine wakes at the first use."""
    assert not modules_after("import tumble") & set(HEAVY)
    assert not modules_after("import tumble\ntumble.robots.get('tumble:ant').path") & set(HEAVY)


def test_the_command_line_starts_light():
    assert not modules_after("import tumble.training.cli") & set(HEAVY)


def test_importing_the_engine_starts_nothing():
    """No Taichi runtime, no kernel, no field at import; physics prints nothing either."""
    program = (
        "import tumble.physics, tumble.envs.gym.vector_env\n"
        "from taichi.lang import impl\nprint(impl.get_runtime().prog)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    lines = [line for line in run.stdout.splitlines() if not line.startswith("[Taichi] version")]
    assert lines == ["None"]


def test_files_keep_to_one_idea():
    """At most 600 lines a file, under 60 a function, a docstring at the door."""
    wrong = []
    for _, path in sources():
        text = path.read_text(encoding="utf-8")
        (tree, *_), name = nodes_of(path), path.relative_to(ROOT)
        if len(text.splitlines()) > 600:
            wrong.append(f"{name} has {len(text.splitlines())} lines")
        if len(ast.get_docstring(tree) or "") <= 10:
            wrong.append(f"{name}: the module docstring says what the file is about")
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length >= 60:
                    wrong.append(f"{name}: {node.name} has {length} lines")
    assert not wrong, "\n".join(wrong)


NAMED_TWICE = {
    "BatchRenderer": "physics and scene: Genesis's name for cameras of all environments",
    "Camera": "physics and scene: Genesis's name for a camera of a scene",
    "Terrain": "terrain and scene: Genesis's name for a morph",
    "Elastic": "soft and scene: Genesis's name for a material",
    "ElastoPlastic": "soft and scene: Genesis's name for a material",
    "Liquid": "soft and scene: Genesis's name for a material",
    "Sand": "soft and scene: Genesis's name for a material",
    "Snow": "soft and scene: Genesis's name for a material",
}
"""Public names of two classes, and who has them. The list only gets shorter."""


def test_a_public_class_name_is_used_once():
    """A reader who meets a name knows the class."""
    found: dict[str, list[str]] = {}
    for module, path in sources():
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    twice = {name: modules for name, modules in found.items() if len(modules) > 1}
    assert not twice.keys() - NAMED_TWICE, {name: twice[name] for name in twice.keys() - NAMED_TWICE}
    assert not NAMED_TWICE.keys() - twice, "take them out of NAMED_TWICE"
    assert all(len(modules) == 2 for modules in twice.values()), twice


def test_the_batch_names_no_task_field_or_library():
    """What is special to one of them has its place elsewhere: in the task, in `views`, in `arrays`."""
    from tumble.envs.registry import TASKS
    from tumble.physics.model.state.fields import QUANTITIES

    words = set(re.findall(r"\w+", (ROOT / "envs" / "batch" / "batch.py").read_text(encoding="utf-8")))
    assert not words & {*TASKS, *(quantity.name for quantity in QUANTITIES), "numpy", "np", "torch", "in_numpy"}


def test_kernel_files_keep_their_annotations():
    """Taichi 1.7.4 reads kernel annotations as objects; postponed ones break it."""
    for module, path in sources():
        text = path.read_text(encoding="utf-8")
        if "import taichi" in text:
            assert "from __future__ import annotations" not in text, module
