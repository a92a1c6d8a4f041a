"""Every name of the API that scenes follow is here, with its arguments, or stands in the table with a reason."""

import inspect
import re
from pathlib import Path

import pytest

import tumble.scene as gs
from tumble.physics.machine.runtime import init

from ..flat_names import member_named
from . import defaults_table
from .coverage_page import ABSENT, CLASSES, page
from .defaults_table import REASONS, Row, rows
from .test_drone import FILE as DRONE

# -- Every name of the API that scenes follow is here, with its arguments, or stands in the table with a reason


LIST = (Path(__file__).parent / "rigid_api.txt").read_text("utf-8")
ROOT = Path(__file__).resolve().parents[2]
CAUTIOUS = ("skip_forward",)
"""Arguments that setters take beyond the list, where others of the list have them."""


def listed():
    """Class, name and arguments (None: a property) of every line of the list."""
    owner, found = "", []
    for line in LIST.splitlines():
        if line.startswith("["):
            owner = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, arguments = line.partition("(")
            found.append((owner, name, arguments[:-1] if arguments else None))
    return found


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """An entity of each class, and one of its links, joints and geoms, built."""
    init(precision="32")
    scene = gs.Scene(mpm_options=gs.options.MPMOptions(grid_density=16, dt=1e-3))
    ant = scene.add_entity(gs.morphs.MJCF(file="ant.xml"))
    ground = scene.add_entity(gs.morphs.Terrain(height_field=[[0, 1], [1, 0]]))
    file = tmp_path_factory.mktemp("drone") / "drone.urdf"
    file.write_text(DRONE)
    drone = scene.add_entity(gs.morphs.Drone(file=file))
    box = gs.morphs.Box(pos=(0, 0, 0.5), size=(0.1, 0.1, 0.1))
    matter = scene.add_entity(box, material=gs.materials.MPM.Elastic())
    emitter = scene.add_emitter(gs.materials.MPM.Liquid(), max_particles=10)
    camera = scene.add_camera()
    scene.build(n_envs=2)
    one = {"Scene": scene, "Camera": camera}
    one |= {"RigidEntity": ant, "RigidLink": ant.links[1], "RigidJoint": ant.joints[1], "RigidGeom": ant.geoms[1]}
    return one | {"TerrainEntity": ground, "DroneEntity": drone, "MPMEntity": matter, "Emitter": emitter}


def test_the_list_has_all_tables():
    counts = {owner: sum(line[0] == owner for line in listed()) for owner in CLASSES}
    assert counts == {
        "Scene": 66,
        "Camera": 48,
        "RigidEntity": 133,
        "RigidLink": 22,
        "RigidJoint": 29,
        "RigidGeom": 55,
        "TerrainEntity": 3,
        "DroneEntity": 9,
        "MPMEntity": 51,
        "Emitter": 9,
    }


@pytest.mark.parametrize("owner", CLASSES)
def test_names_are_present_or_absent_with_a_reason(parts, owner):
    """With arguments in the same order and with the same defaults; those that are here only have defaults."""
    wrong = []
    for of, name, arguments in listed():
        if of != owner:
            continue
        why, there = ABSENT[owner].get(name), hasattr(parts[owner], name)
        if there != (why is None) or (why is not None and len(why) <= 5):
            wrong.append(f"{name}: {'present, but listed as absent' if there else 'neither here nor there'}")
        elif there and arguments is not None and (owner, name) != ("Scene", "start_recording"):  # `recorders` tests it
            wrong += differences(name, inspect.signature(member_named(CLASSES[owner], name)).parameters, arguments)
    assert not wrong, "\n".join(wrong)


def differences(name, own, arguments):
    """What differs between the parameters of a method and the arguments of the list."""
    wanted = re.findall(r"(\w+)(?:=((?:\([^)]*\)|\[[^]]*\]|[^,(\[])+))?(?:,|$)", arguments)
    names = [parameter for parameter in own if parameter not in ("self", "cls", *CAUTIOUS)]
    asked = [parameter for parameter, _ in wanted if parameter not in CAUTIOUS]
    if names[: len(asked)] != asked:
        return [f"{name}: {names}, not {asked}"]
    empty = inspect.Parameter.empty
    wrong = [f"{name}: {extra} has no default" for extra in names[len(asked) :] if own[extra].default is empty]
    for parameter, default in wanted:
        default = default.replace("link_ref_frame.link_origin", "'link_origin'").strip()
        here = "" if own[parameter].default is empty else repr(own[parameter].default)
        if default != here:
            wrong.append(f"{name}: {parameter}={here}, not {default}")
    return wrong


def test_no_reason_is_left_of_what_is_here_by_now():
    known = {(owner, name) for owner, name, _ in listed()}
    assert {(owner, name) for owner, absent in ABSENT.items() for name in absent} <= known


def test_the_page_is_made_from_the_table():
    assert (ROOT / "docs" / "reference" / "genesis_names.md").read_text("utf-8") == page()


# -- Every default of the API that scenes follow is the same here, or stands in the table with a reason


MANY = 1200
"""The data file has more defaults than this: it was read from the source whole."""


def test_a_default_is_equal_or_has_a_reason():
    """Oracle: the source of that API, as `genesis_defaults.txt` has it."""
    found = rows()
    assert len(found) > MANY
    for row in found:
        assert row.is_equal or len(row.why or "") > 5, f"{row.owner}: {row.name}: there {row.there}, here {row.here}"


def test_no_reason_is_left_of_what_is_equal_by_now():
    """A reason of a class goes before one for all of them."""
    needed = [row for row in rows() if not row.is_equal]
    used = {name if (name := f"{row.owner}.{row.name}") in REASONS else row.name for row in needed}
    assert used == set(REASONS)


EQUAL = [("100.0", "100"), ("[1, 2]", "(1.0, 2.0)"), ("gs.cone.flat", "'flat'")]
OTHER = [("600.0", "200.0"), ("None", None), ("(0.04, 0.08)", "None"), ("gs.cone.flat", "'round'")]


@pytest.mark.parametrize(
    ("there", "here", "equal"), [*((*pair, True) for pair in EQUAL), *((*pair, False) for pair in OTHER)]
)
def test_values_are_told_apart(there, here, equal):
    assert Row("Rigid", "rho", there, here).is_equal == equal


def test_the_page_of_defaults_is_made_from_the_table():
    assert (ROOT / "docs" / "reference" / "genesis_defaults.md").read_text("utf-8") == defaults_table.page()
