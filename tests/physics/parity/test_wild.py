"""What decides who is right about a contact."""

import mujoco
import numpy as np

from .reference import Contact, contacts_of
from .wild import smaller_overlap

TWO_BOXES = """<mujoco><worldbody><geom type="box" size=".5 .5 .1"/>
<body pos="0 0 .19"><freejoint/><geom type="ellipsoid" size=".2 .15 .1"/></body></worldbody></mujoco>"""


def turned(contact: Contact, angle: float) -> Contact:
    """The contact with its normal turned about the y axis."""
    normal = np.array([np.sin(angle), 0, np.cos(angle)]) * np.sign(contact.frame[2])
    frame = np.concatenate([normal, contact.frame[3:]])
    return Contact(contact.geom, contact.pos, frame, contact.dist, contact.friction, contact.margin, contact.rows)


def test_the_normal_with_the_smaller_overlap_is_right():
    mjm = mujoco.MjModel.from_xml_string(TWO_BOXES)
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    (exact,) = contacts_of(data, elliptic=False)
    off, farther = turned(exact, 0.01), turned(exact, 0.02)
    assert smaller_overlap(mjm, data, [exact], [off])
    assert smaller_overlap(mjm, data, [off], [farther])
    assert not smaller_overlap(mjm, data, [off], [exact])
    assert not smaller_overlap(mjm, data, [off], [off])  # nothing tells
    assert not smaller_overlap(mjm, data, [exact], [])  # a contact that only one has
