"""Broken URDF files: an error of one sentence each, with the file and the line."""

import os
import random
import re
import threading

import numpy as np
import pytest

from tumble.physics.files.urdf import UrdfError, UrdfWarning, urdf_spec
from tumble.physics.files.urdf.xml_tree import LARGEST
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.physics.model.model import Model

from ...cases import cases

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINK = f'<link name="b">{INERTIAL}</link>'
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{}</joint>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def robot(*lines: str) -> str:
    """A robot with a link `a` in line 2, and more from line 3 on."""
    return "\n".join(['<robot name="r">', f'<link name="a">{INERTIAL}</link>', *lines, "</robot>"])


def shape(geometry: str) -> str:
    return robot(f'<link name="b">{INERTIAL}<collision><geometry>{geometry}</geometry></collision></link>')


BROKEN = {
    "truncated": ('<robot name="r">\n<link name="a">', r"line 2: its XML is broken or truncated: no element found"),
    "not XML": ('<robot name="r">\n<link name=a/></robot>', r"line 2: its XML is broken or truncated: not well-formed"),
    "entities": ('<!DOCTYPE r [<!ENTITY a "aaaa">]>\n<robot/>', r"line 1: it declares a document type or entities"),
    "billion laughs": (
        '<?xml version="1.0"?>\n<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<robot name="&b;"/>',
        r"line 2: it declares a document type",
    ),
    "deep": ("<robot>" + "<link>" * 200, r"line 1: <link> is one element too many: 64 in each other"),
    "another root": ("<link name='a'/>", r"line 1: the root of a URDF file is <robot>, and this one's is <link>"),
    "MJCF": ("<mujoco/>", r"line 1: this is an MJCF file; load it by from_mjcf"),
    "SDF": ("<sdf version='1.6'/>", r"line 1: this is an SDF file; convert it"),
    "xacro element": (robot('<xacro:include filename="x"/>'), r"line 3: <xacro:include> is xacro.*xacro robot\.urdf\."),
    "xacro value": (robot('<link name="${name}"/>'), r"line 3: '\$\{name\}' is xacro"),
    "no links": ("<robot name='r'/>", r"line 1: <robot> has no <link>"),
    "nameless link": (robot("<link/>"), r"line 3: <link> has no attribute 'name'"),
    "two links of a name": (robot("<link name='a'/>"), r"line 3: a link 'a' is already in line 2"),
    "two joints of a name": (
        robot(LINK, LINK.replace('"b"', '"c"'), JOINT.format(LIMIT), JOINT.format(LIMIT).replace('"b"', '"c"')),
        r"line 6: a joint 'j' is already in line 5",
    ),
    "two roots": (robot(LINK), r"2 links have no parent, and a robot has one root: 'a' \(line 2\), 'b' \(line 3\)"),
    "two parents": (
        robot(LINK, JOINT.format(LIMIT), JOINT.format(LIMIT).replace('"j"', '"k"')),
        r"line 5: link 'b' has two parents: 'a' by joint 'j' in line 4, and 'a' by joint 'k'; URDF has no loops",
    ),
    "circle": (
        robot(
            LINK,
            LINK.replace('"b"', '"c"'),
            JOINT.format(LIMIT).replace('"a"', '"c"'),
            JOINT.format(LIMIT).replace('"b"', '"c"').replace('"a"', '"b"').replace('"j"', '"k"'),
        ),
        r"line 3: links are in a circle: (b -> c -> b|c -> b -> c)",
    ),
    "joined to itself": (
        robot(LINK, JOINT.format(LIMIT).replace('"b"', '"a"')),
        r"line 4: joint 'j' joins link 'a' to",
    ),
    "a world with a parent": (
        robot('<link name="world"/>', JOINT.format(LIMIT).replace('"b"', '"world"')),
        r"line 3: a link 'world' is the world, and cannot have a parent",
    ),
    "no such parent": (
        robot(LINK.replace('"b"', '"base_link"'), JOINT.format(LIMIT).replace('"a"', '"base_lnk"')),
        r"line 4: joint 'j' has the parent 'base_lnk', and there is no such link; did you mean 'base_link'\?",
    ),
    "no child": (robot('<joint name="j" type="fixed"><parent link="a"/></joint>'), r"line 3: joint 'j' has no <child>"),
    "a type that there is not": (
        robot(LINK, JOINT.format(LIMIT).replace("revolute", "revolut")),
        r"line 4: joint 'j' has the type 'revolut'; there are .*; did you mean 'revolute'\?",
    ),
    "limits upside down": (
        robot(LINK, JOINT.format('\n<limit lower="1" upper="-2" effort="1" velocity="1"/>')),
        r"line 5: joint 'j' has its lower limit 1 above its upper limit -2",
    ),
    "no room": (robot(LINK, JOINT.format('<limit lower="2" upper="2"/>')), r"line 4: joint 'j' cannot move: both"),
    "axis 0": (robot(LINK, JOINT.format(LIMIT).replace("0 0 1", "0 0 0")), r"line 4: the axis of joint 'j' is 0"),
    "negative damping": (
        robot(LINK, JOINT.format(LIMIT + '<dynamics damping="-1"/>')),
        r"line 4: <dynamics damping='-1'> is negative",
    ),
    "NaN": (
        robot(LINK, JOINT.format('<origin xyz="0 nan 0"/>' + LIMIT)),
        r"line 4: <origin xyz='0 nan 0'>: 'nan' is not",
    ),
    "infinite mass": (
        robot('<link name="b"><inertial><mass value="inf"/></inertial></link>'),
        r"line 3: .*'inf' is not",
    ),
    "a comma": (robot(LINK, JOINT.format('<origin xyz="0, 1, 2"/>' + LIMIT)), r"line 4: .*'0,' is not a finite number"),
    "two numbers": (
        robot(LINK, JOINT.format('<origin rpy="0 1"/>' + LIMIT)),
        r"line 4: <origin rpy='0 1'> has 2 numbers, and 3 are needed",
    ),
    "huge number": (shape('<sphere radius="1e300"/>'), r"line 3: .*'1e300' is a number without bounds"),
    "negative mass": (
        robot('<link name="b"><inertial><mass value="-1"/></inertial></link>'),
        r"line 3: link 'b' has a mass of -1 kg",
    ),
    "impossible inertia": (
        robot(LINK.replace('izz="1"', 'izz="3"'), JOINT.format(LIMIT)),
        r"line 3: link 'b' has an inertia that no body has: .* 1, 1, 3 violate A \+ B >= C: 2 < 3 kg m\^2; correct it, "
        r"or pass balance_inertia=True",
    ),
    "negative inertia": (
        robot(LINK.replace('ixy="0"', 'ixy="2"'), JOINT.format(LIMIT)),
        r"line 3: link 'b' has an inertia that no body has: its moments of inertia -1, 1, 3 are not all positive",
    ),
    "nothing to move": (
        robot("<link name='b'/>", JOINT.format(LIMIT)),
        r"line 3: link 'b' moves by joint 'j', and neither it nor a link fixed to it has a mass",
    ),
    "negative size": (shape('<box size="1 -1 1"/>'), r"line 3: <box> has a negative size"),
    "a shape that there is not": (shape('<cilinder radius="1" length="1"/>'), r"line 3: .*did you mean 'cylinder'\?"),
    "no geometry": (robot('<link name="b"><collision/></link>'), r"line 3: <collision> has no <geometry>"),
    "follows nothing": (
        robot(LINK, JOINT.format(LIMIT + '\n<mimic joint="jj"/>')),
        r"line 5: joint 'j' follows 'jj', and there is no such joint; did you mean 'j'\?",
    ),
    "follows itself": (
        robot(LINK, JOINT.format(LIMIT + '<mimic joint="j"/>')),
        r"line 4: joints follow each other in a circle: j -> j",
    ),
    "empty": ("  <", r"its XML is broken"),
}


@cases("name", BROKEN)
def test_a_broken_file_is_one_sentence(name, tmp_path):
    text, expected = BROKEN[name]
    path = tmp_path / "broken.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UrdfError) as caught:
        urdf_spec(path)
    message = str(caught.value)
    assert re.match(re.escape(str(path)) + r"(, line \d+)?: ", message) and re.search(expected, message), message
    assert "\n" not in message and len(message) - len(str(path)) < 330


FILES = {
    "empty": (b"", "it is empty"),
    "not UTF-8": (b'<robot name="r">\n<link name="\xe9"/></robot>', "line 2: byte 0xe9 is not UTF-8; save the file as"),
    "binary": (b"\0\1\2\3" * 20, "it is no text"),
    "another encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', "its XML is broken"),
}


@cases("name", FILES)
def test_a_file_of_odd_bytes(name, tmp_path):
    data, expected = FILES[name]
    (tmp_path / "odd.urdf").write_bytes(data)
    with pytest.raises(UrdfError, match=rf"odd\.urdf.*{expected}"):
        urdf_spec(tmp_path / "odd.urdf")


def test_what_is_no_file(tmp_path):
    with pytest.raises(UrdfError, match=r"there is no such file \(URDF as a string begins with '<'\)"):
        urdf_spec(tmp_path / "missing.urdf")
    with pytest.raises(UrdfError, match="this is a folder"):
        urdf_spec(tmp_path)
    with pytest.raises(TypeError, match="path of a URDF file"):
        urdf_spec(3)
    huge = tmp_path / "huge.urdf"
    with huge.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UrdfError, match=r"bytes, and .* are the most"):
        urdf_spec(huge)
    pipe = tmp_path / "pipe.urdf"
    os.mkfifo(pipe)
    answer = []

    def read() -> None:
        with pytest.raises(UrdfError, match="a device or a pipe"):
            urdf_spec(pipe)
        answer.append("refused")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(20.0)
    assert answer == ["refused"]


@cases("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_other_encodings_that_xml_has(encoding, tmp_path):
    text = robot(
        '<link name="b\u00e9"/>', '<joint name="f" type="fixed"><parent link="a"/><child link="b\u00e9"/></joint>'
    )
    path = tmp_path / "encoded.urdf"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>\n{text}'.encode(encoding))
    assert [site.name for site in urdf_spec(path).sites] == ["b\u00e9"]


def test_words_that_are_not_urdfs_are_noted_by_line():
    """All in one warning, with the nearest word; other programs' own are passed over."""
    text = robot(
        '<link name="b" colour="1">',
        f"{INERTIAL}<colision/><visual><geometry><box size='1 1 1'/></geometry><material name='rd'/></visual></link>",
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xzy="0 0 1" drake:x="1"/></joint>',
        "<gazebo><anything/></gazebo><transmission/><drake:thing/><jiont/>",
        "<material name='red'><color rgba='1 0 0 1'/></material>",
    )
    with pytest.warns(Warning) as caught:
        urdf_spec(text)
    (message,) = [str(each.message) for each in caught]
    for sentence in (
        "line 3: <link> has an unknown attribute 'colour', which is not read",
        "line 4: <link> has an unknown element <colision>, which is not read; did you mean 'collision'?",
        "line 5: <origin> has an unknown attribute 'xzy', which is not read; did you mean 'xyz'?",
        "line 6: <robot> has an unknown element <jiont>, which is not read; did you mean 'joint'?",
        "line 4: no material 'rd' is defined; did you mean 'red'?",
    ):
        assert sentence in message
    assert message.count("line ") == 5


def test_what_other_dialects_let_move_is_named():
    """No misleading nearest word, but what is lost and what to do."""
    for word, advice in (("loop_joint", "the loop stays open; close it by a <connect>"), ("force_element", "<tendon>")):
        with pytest.warns(UrdfWarning) as caught:
            urdf_spec(robot(f'<{word} name="l1" type="revolute"><link1 link="a"/></{word}>'))
        (message,) = [str(each.message) for each in caught]
        assert f"line 3: <robot> has an element <{word}> 'l1', which is not read: " in message and advice in message
        assert "did you mean" not in message


LOOKS = {
    "five numbers": ('<geometry><box size="1 1 1"/></geometry>', "1 0 0 1 1", "has 5 numbers, and 4 are needed", 1),
    "no number": (
        '<geometry><box size="1 1 1"/></geometry>',
        "red",
        "'red' is not a finite number; the colour is grey",
        1,
    ),
    "no geometry": ("", "1 0 0 1", "line 4: <visual> has no <geometry>; this <visual> of link 'a' is left out", 0),
    "a size too many": ('<geometry><box size="1 1 1 1"/></geometry>', "1 0 0 1", "has 4 numbers, and 3 are needed", 0),
    "an odd origin": ('<origin xyz="0, 1"/><geometry><sphere radius="1"/></geometry>', "1 0 0 1", "'0,' is not", 0),
    "a moving plane": ("<geometry><plane/></geometry>", "1 0 0 1", "a <plane> has to stand still; this one", 0),
    "no file": ('<geometry><mesh filename="m.stl"/></geometry>', "1 0 0 1", "1 file missing, whose shapes or text", 0),
}


@cases("name", LOOKS)
def test_no_robot_is_refused_for_its_looks(name):
    """A warning with the line, and the robot moves and touches as the same file without its visual shape."""
    inside, rgba, expected, seen = LOOKS[name]
    collision = "<collision><geometry><sphere radius='0.5'/></geometry></collision>"
    text = robot(f"<link name='b'>{INERTIAL}{collision}</link>", JOINT.format(LIMIT))
    text = text.replace('name="a"', 'name="root"').replace("'b'", "'a'").replace('"a"', '"root"').replace('"b"', '"a"')
    visual = f'<visual>{inside}<material name="m"><color rgba="{rgba}"/></material></visual>'
    with pytest.warns(UrdfWarning) as caught:
        mjm = urdf_spec(text.replace("</link>\n<joint", f"\n{visual}</link>\n<joint"), fixed=True).compile()
    (message,) = [str(each.message) for each in caught]
    assert expected in message and mjm.ngeom == 1 + seen
    plain = urdf_spec(text, fixed=True).compile()
    assert np.array_equal(mjm.body_mass, plain.body_mass) and np.array_equal(mjm.geom_size[-1], plain.geom_size[0])
    assert mjm.geom_group.tolist() == [2, 3] * seen + [0] * (1 - seen)
    if seen:
        assert mjm.geom_rgba[0].tolist() == [0.5, 0.5, 0.5, 1.0]


def test_a_warning_has_an_end():
    text = robot(*(f"<material name='m' wrong{i}='1'/>" for i in range(50)))
    with pytest.warns(UrdfWarning) as caught:
        model = Model.from_urdf(text)
    (message,) = [str(each.message) for each in caught]
    assert message.count("unknown attribute") == 30 and message.endswith("and 20 notes more")
    assert caught[0].filename == __file__ and len([note for note in model.notes if "unknown attribute" in note]) == 50


def test_models_refuse_the_same():
    with pytest.raises(ModelLoadError, match=r"URDF string, line 3: a link 'a' is already in line 2"):
        Model.from_urdf(robot("<link name='a'/>"))
    with pytest.raises(ModelLoadError, match="load it by from_urdf"):
        Model.from_mjcf(robot())
    for wrong, right in (("gravty", "gravity"), ("fixd", "fixed")):
        with pytest.raises(ValueError, match=f"unknown option '{wrong}'; did you mean '{right}'"):
            Model.from_urdf(robot(), **{wrong: 0})


OPTIONS = {
    "actuators": ("motr", "did you mean 'motor'"),
    "scale": (0.0, "above 0"),
    "least_mass": (float("nan"), "expected a number of 0 or more"),
    "links_to_keep": ("b", "expected names"),
    "missing": ("ignore", "expected 'error' or 'skip'"),
    "packages": ({"p": "/nowhere/at/all"}, "there is no such folder"),
}


@cases("name", OPTIONS)
def test_impossible_options(name):
    value, expected = OPTIONS[name]
    with pytest.raises(ValueError, match=expected):
        urdf_spec(robot(), **{name: value})
    with pytest.raises(TypeError, match="did you mean"):
        urdf_spec(robot(), **{name + "x": value})
    with pytest.raises(UrdfError, match="links_to_keep: there is no link 'aa'; did you mean 'a'"):
        urdf_spec(robot(), links_to_keep=["aa"])


def test_files_with_random_faults_are_read_or_refused():
    """Words of a good file are exchanged, doubled, lost, or replaced: nothing but `UrdfError` is ever raised."""
    from .test_links import CAMERA, LIMITED
    from .two_ways import random_robot, urdf

    rng = random.Random(4)
    good = [CAMERA, LIMITED, urdf(random_robot(np.random.default_rng(1), 6, True, mimics=True))]
    odd = [
        "nan",
        "-1",
        "1e999",
        "",
        "world",
        "a",
        '"',
        "<",
        "/>",
        "&",
        "fixed",
        "floating",
        "planar",
        "\ufffd",
        "0",
        "${x}",
    ]
    refused = 0
    for _ in range(400):
        text = rng.choice(good)
        words = re.split(r"(\W)", text)
        for _ in range(rng.randint(1, 3)):
            place, other = rng.randrange(10, len(words)), rng.randrange(10, len(words))
            words[place] = rng.choice([words[other], rng.choice(odd), words[place] * 2, ""])
        try:
            urdf_spec("".join(words))
        except UrdfError as error:
            refused += 1
            assert "\n" not in str(error)
    assert 100 < refused < 400
