"""Every name of the API that scenes follow is here, with its arguments, or stands in the table with a reason."""

import inspect
import re
from pathlib import Path

import pytest

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.scene.coverage import ABSENT, CLASSES, page

from .test_drone import FILE as DRONE

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
    scene = gs.Scene()
    ant = scene.add_entity(gs.morphs.MJCF(file="ant.xml"))
    ground = scene.add_entity(gs.morphs.Terrain(height_field=[[0, 1], [1, 0]]))
    file = tmp_path_factory.mktemp("drone") / "drone.urdf"
    file.write_text(DRONE)
    drone = scene.add_entity(gs.morphs.Drone(file=file))
    camera = scene.add_camera()
    scene.build(n_envs=2)
    one = {"Scene": scene, "Camera": camera}
    one |= {"RigidEntity": ant, "RigidLink": ant.links[1], "RigidJoint": ant.joints[1], "RigidGeom": ant.geoms[1]}
    return one | {"TerrainEntity": ground, "DroneEntity": drone}


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
    }


@pytest.mark.parametrize(("owner", "name", "arguments"), listed(), ids=lambda value: str(value)[:30])
def test_a_name_is_present_or_absent_with_a_reason(parts, owner, name, arguments):
    why = ABSENT[owner].get(name)
    there = owner in parts and hasattr(parts[owner], name)
    assert there == (why is None), (
        f"{owner}.{name}: {'present, but listed as absent' if there else 'neither here nor there'}"
    )
    if why is not None:
        assert len(why) > 5
    elif arguments is not None:
        own = inspect.signature(getattr(CLASSES[owner], name)).parameters
        if name == "start_recording" and owner == "Scene":
            return  # `recorders` tests both forms
        wanted = re.findall(r"(\w+)(?:=((?:\([^)]*\)|\[[^]]*\]|[^,(\[])+))?(?:,|$)", arguments)
        names = [parameter for parameter in own if parameter != "self" and parameter not in CAUTIOUS]
        asked = [parameter for parameter, _ in wanted if parameter not in CAUTIOUS]
        assert names[: len(asked)] == asked, (names, asked)
        for parameter, default in wanted:
            default = default.replace("link_ref_frame.link_origin", "'link_origin'").strip()
            assert default == (
                "" if own[parameter].default is inspect.Parameter.empty else repr(own[parameter].default)
            )
        assert all(own[extra].default is not inspect.Parameter.empty for extra in names[len(asked) :])


def test_no_reason_is_left_of_what_is_here_by_now():
    known = {(owner, name) for owner, name, _ in listed()}
    assert {(owner, name) for owner, absent in ABSENT.items() for name in absent} <= known


def test_the_page_is_made_from_the_table():
    assert (ROOT / "docs" / "reference" / "genesis_names.md").read_text("utf-8") == page()
