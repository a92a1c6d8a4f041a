"""An environment has the same bits at every width of the lanes, whatever optional code its kernel has."""

import pytest
import torch

import tumble
from tumble.benchmarks.scenes import BOX, SPHERE, pile, shake
from tumble.physics import Model, RigidSolver
from tumble.physics.model.features import Features

NUM_ENVS, STEPS = 20, 60
ELLIPSOIDS = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>{}</worldbody></mujoco>""".format(
    "".join(
        f'<body pos="{0.15 * (k % 2)} 0 {0.2 + 0.2 * k}"><freejoint/><geom type="{kind}" size=".1 .08 .12"/></body>'
        for k, kind in enumerate(("ellipsoid", "cylinder", "box", "ellipsoid", "capsule"))
    )
)
CASES = {
    "ball_joints": lambda: Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver="newton"),
    "cg": lambda: Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver="cg"),
    "solids": lambda: Model.from_mjspec(pile(BOX, [0.08, 0.05, 0.06], 8), solver="newton"),
    "convex": lambda: Model.from_mjcf(ELLIPSOIDS),
    "mixed_precision": lambda: Model.from_mjcf(ELLIPSOIDS.replace("<geom", '<geom solref="0.004 1"')),
}


@pytest.mark.slow  # longer than `test_who_starts_again_...` (plain) and `test_neighbours_...` (hulls), which are fast
@pytest.mark.parametrize(("precision", "wide"), [("32", 16), ("64", 8)])
@pytest.mark.parametrize("feature", CASES)
def test_the_width_of_the_lanes_does_not_matter(feature, precision, wide):
    """The other tests run at a narrow width: this is what a full register has."""
    tumble.init(precision=precision)
    model = CASES[feature]()
    if (feature, precision) != ("mixed_precision", "64"):
        assert getattr(Features.of(model, precision == "32"), feature)
    found = []
    for lanes in (1, 4, wide):
        solver = RigidSolver(model, NUM_ENVS, lanes=lanes)
        shake(solver)
        solver.step(STEPS)
        assert not solver.any_fault
        found.append(torch.cat([solver.qpos, solver.qvel], 1))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])
