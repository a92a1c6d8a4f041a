"""The smallest claims of docs/reference/far.md."""

import pytest

from ..starts import run_with
from .far import SCENES, measure

STEPS, ENVS = 100, 4
CLAIMED = {
    ("box, level floor", 1000.0): (1e-6, 1e-7),
    ("box, slope of 20 degrees", 10.0): (1e-6, 2e-6),
    ("box on a fixed box", 10.0): (1e-6, 2e-6),
}
"""Scene and distance from the origin, m: largest errors of angles (rad) and of depths (m), three times the page's."""


@pytest.mark.parametrize("scene, distance", CLAIMED)
def test_single_precision_holds_as_far_as_the_page_says(scene, distance):
    run_with("32")
    angle, depth = CLAIMED[scene, distance]
    far = measure(SCENES[scene], distance, STEPS, ENVS)
    assert far.other == 0
    assert far.angle < angle and far.depth < depth


def test_what_is_too_far_is_seen():
    """The measure would tell if single precision were worse: on a slope 5 km away it is, by hundreds of times."""
    run_with("32")
    assert measure(SCENES["box, slope of 20 degrees"], 5000.0, STEPS, ENVS).angle > 1e-4
