"""The words of URDF, and notes about words that it does not have: a misspelt attribute would be passed over."""

from .faults import UrdfReport, nearest
from .xml_tree import Element

_SHAPES = {
    "box": ("size", ""),
    "capsule": ("length radius", ""),
    "cylinder": ("length radius", ""),
    "mesh": ("filename scale", ""),
    "plane": ("normal", ""),
    "sphere": ("radius", ""),
}
_POSE = ("xyz rpy quat_xyzw", "")
_INERTIA = "ixx ixy ixz iyx iyy iyz izx izy izz"
_GEOMETRY = ("", " ".join(_SHAPES))

WORDS: dict[str, tuple[str, str]] = {
    "robot": ("name version", "link joint material mujoco"),
    "robot/material": ("name", "color texture"),
    "robot/link": ("name", "inertial visual collision contact"),
    "robot/joint": ("name type", "origin parent child axis limit dynamics mimic"),
    "link/inertial": ("", "origin mass inertia"),
    "link/visual": ("name", "origin geometry material"),
    "link/collision": ("name", "origin geometry material"),
    "link/contact": ("", "lateral_friction"),
    "contact/lateral_friction": ("value", ""),
    "inertial/origin": _POSE,
    "inertial/mass": ("value", ""),
    "inertial/inertia": (_INERTIA, ""),
    "visual/origin": _POSE,
    "visual/geometry": _GEOMETRY,
    "visual/material": ("name", "color texture"),
    "collision/origin": _POSE,
    "collision/geometry": _GEOMETRY,
    "collision/material": ("name", "color texture"),
    "material/color": ("rgba", ""),
    "material/texture": ("filename", ""),
    **{f"geometry/{shape}": words for shape, words in _SHAPES.items()},
    "joint/origin": _POSE,
    "joint/parent": ("link", ""),
    "joint/child": ("link", ""),
    "joint/axis": ("xyz", ""),
    "joint/limit": ("lower upper effort velocity", ""),
    "joint/dynamics": ("damping friction", ""),
    "joint/mimic": ("joint multiplier offset", ""),
    "robot/mujoco": ("", "compiler"),
    "mujoco/compiler": ("meshdir strippath balanceinertia", ""),
}
"""Attributes and children of the elements that are read, by the parent's tag and the element's tag."""

ELSEWHERE: dict[str, str] = {
    "robot": "gazebo transmission ros2_control sensor",
    "robot/link": "self_collision_checking collision_checking self_filter sensor gazebo",
    "robot/joint": "safety_controller calibration gazebo hardwareInterface",
    "link/visual": "verbose gazebo",
    "link/collision": "verbose gazebo contact_coefficients",
    "link/contact": "rolling_friction spinning_friction contact_cfm contact_erp inertia_scaling restitution stiffness "
    "damping friction_anchor",
    "robot/mujoco": "option size",
}
"""Children that belong to other programs: they are passed over without a word, with all that is in them."""
OTHERS: dict[str, str] = {
    "robot/link": "type",
    "robot/joint": "dont_collapse",
    "joint/limit": "acceleration deceleration jerk",
    "link/collision": "group mask concave",
    "mujoco/compiler": "discardvisual fusestatic angle autolimits inertiafromgeom boundmass boundinertia texturedir",
}
"""Attributes that belong to other programs."""
LOST: dict[str, str] = {
    "robot/loop_joint": "the loop stays open; close it by a <connect> in the spec that `urdf_spec` returns",
    "robot/cable_length_constraint": "add a <tendon> with a range to the spec that `urdf_spec` returns",
    "robot/force_element": "add a <tendon> with a stiffness to the spec that `urdf_spec` returns",
    "robot/collision_filter_group": "add <exclude> to the spec that `urdf_spec` returns",
}
"""Children of other dialects that change how a robot moves: what to do without them."""


def note_unknown(root: Element, report: UrdfReport) -> None:
    """Note every element and attribute that URDF does not have, with the nearest word that it has.

    Names with a colon are other programs' own.
    """
    pending = [("robot", root)]
    while pending:
        path, element = pending.pop()
        attributes, children = (words.split() for words in WORDS[path])
        others = {*OTHERS.get(path, "").split()}
        for name in element.attributes:
            if name not in attributes and name not in others and ":" not in name and name != "xmlns":
                hint = nearest(name, attributes)
                report.note(element.line, f"<{element.tag}> has an unknown attribute '{name}', which is not read{hint}")
        passed = {*ELSEWHERE.get(path, "").split()}
        for child in reversed(element.children):
            below = f"{element.tag}/{child.tag}"
            if child.tag in children:
                pending.append((below, child))
        for child in element.children:
            if child.tag not in children and child.tag not in passed and ":" not in child.tag:
                lost = LOST.get(f"{element.tag}/{child.tag}")
                hint = f": {lost}" if lost else nearest(child.tag, children)
                named = f" '{child.attributes['name']}'" if lost and "name" in child.attributes else ""
                kind = "an element" if lost else "an unknown element"
                report.note(child.line, f"<{element.tag}> has {kind} <{child.tag}>{named}, which is not read{hint}")
