"""The sweep finds what the list of all pairs has, to the last bit, and MuJoCo's contacts."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.benchmarks.scenes import SPHERE, pile, shake
from tumble.physics import Model, RigidSolver
from tumble.physics.mechanics.collision.broad import broad_phase
from tumble.physics.model.state.capacity import Capacity
from tumble.physics.run.tiles import growing

from .starts import run_in_columns
from .test_clutter import CONVERGED, ROUNDING, SOLUTION, mujoco_at, relative, sorted_rows

NUM_ENVS = 10


ROUND, CORNERS = ("SPHERE", "CAPSULE"), ("SPHERE", "CAPSULE", "CYLINDER", "BOX")


def crowd(shapes, margin=0.0):
    """Bodies in a bin: most have two geoms, some do not meet; with corners among them, some that meet by hand."""
    spec, rng = pile(SPHERE, [0.08, 0, 0], 24), np.random.default_rng(2)
    kinds = [getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in shapes]
    for i, body in enumerate(spec.bodies[1:]):
        body.name, body.geoms[0].name = f"body {i}", f"geom {i}"
        if i % 3:
            body.add_geom(type=kinds[i % len(kinds)], size=rng.uniform(0.03, 0.07, 3), pos=[0.05, 0, 0.02])
        if i % 7 == 0:
            body.geoms[0].contype, body.geoms[0].conaffinity = 2, 3
        body.geoms[0].condim = int(rng.choice([1, 3, 4]))
    spec.worldbody.add_geom(type=kinds[-1], size=[0.1, 0.1, 0.1], pos=[0.2, 0.2, 0])
    for i in range(0, 20, 4):
        spec.add_exclude(bodyname1=f"body {i}", bodyname2=f"body {i + 1}")
        if shapes == CORNERS:
            other = i + (1 if i % 8 else 2)
            spec.add_pair(geomname1=f"geom {i}", geomname2=f"geom {other}", condim=3, margin=0.01)
    for geom in spec.geoms:
        geom.margin = margin
    return spec


def same(a, b):
    """Whether two solvers show the same bits."""
    mine, theirs = a.contacts, b.contacts
    names = ("geom", "pos", "frame", "dist", "friction", "force", "mask")
    equal = [torch.equal(getattr(mine, name), getattr(theirs, name)) for name in names]
    return all(equal) and torch.equal(a.qpos, b.qpos) and torch.equal(a.qvel, b.qvel)


@pytest.fixture(scope="module", params=[ROUND, pytest.param(CORNERS, marks=pytest.mark.slow)], ids=["round", "corners"])
def both(request):
    """The same crowd by the list and by the sweep, which begins with room for few pairs."""
    tumble.init(precision="64")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "first_capacity", lambda model: Capacity(1, int(model.values["dof_depth"].sum()), 1))
        solvers = []
        for which in ("pairs", "sweep"):
            model = Model.from_mjspec(crowd(request.param), solver="cg", broad_phase=which, **CONVERGED)
            solvers.append(RigidSolver(model, NUM_ENVS))
            shake(solvers[-1])
            solvers[-1].step(60)
    return solvers


def test_bits_are_those_of_the_list(both):
    """Also after some environments began anew, and with whatever order there was from the step before."""
    listed, swept = both
    assert swept.model.sizes["npair"] < 0.3 * listed.model.sizes["npair"]
    assert swept._driver._room.grown > 0
    assert same(listed, swept) and listed.contacts.mask.sum() > 20 * NUM_ENVS
    for solver in both:
        solver.reset([1, 2, 7])
    assert torch.equal(swept.get("sweep_order", [2])[0].flatten(), torch.as_tensor(swept.model.sweep_order).double())
    count, rng = swept.model.sizes["nsweep"], np.random.default_rng(5)
    swept._driver.write("sweep_order", np.array([rng.permutation(count) for _ in range(4)], np.float64), np.arange(4))
    for solver in both:
        solver.step(30)
    assert same(listed, swept)
    assert torch.equal(
        swept.get("sweep_order").sort(dim=1).values, torch.arange(count).double().expand(NUM_ENVS, count)
    )


def test_contacts_and_accelerations_are_mujocos(both):
    """Pairs by hand, excludes and masks included."""
    swept = both[1]
    swept.forward()
    for env in (0, 5):
        found = swept.inspect(env)
        data = mujoco_at(swept.model, found)
        ours = sorted_rows(found["contact_geom"], found["contact_pos"], found["contact_dist"], found["contact_frame"])
        theirs = sorted_rows(data.contact.geom, data.contact.pos, data.contact.dist, data.contact.frame)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING)
        assert relative(found["qacc"], data.qacc) < SOLUTION


@pytest.mark.parametrize("both", [ROUND], indirect=True, ids=["round"])
def test_all_pairs_are_found_where_everything_is_near(both):
    """With huge margins: those of the list, and all that MuJoCo has."""
    found = []
    for same_kernel in both:
        which = same_kernel.model.broad_phase
        model = Model.from_mjspec(crowd(ROUND, margin=20.0), solver="cg", broad_phase=which, max_contacts=5000)
        solver = RigidSolver(model, 4)
        solver.forward()
        found.append(solver.contacts)
    listed, swept = found
    assert torch.equal(listed.geom, swept.geom) and torch.equal(listed.dist, swept.dist)
    mjm = model.mj
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    theirs = {tuple(pair) for pair in data.contact.geom.tolist()}
    ours = {tuple(pair) for pair in swept.geom[0][swept.mask[0]].tolist()}
    assert theirs == ours and len(ours) > 500


@pytest.mark.slow
def test_neighbours_lanes_and_drivers_do_not_matter():
    """Bitwise, in single precision: by the list, alone, among others, and one thread an environment as on a GPU."""
    tumble.init(precision="32")
    spec = pile(SPHERE, [0.1, 0, 0], 20)
    model, listed = (Model.from_mjspec(spec, solver="cg", broad_phase=which) for which in ("sweep", "pairs"))
    many, same_ones = RigidSolver(model, 21), RigidSolver(listed, 21)
    for solver in (many, same_ones):
        shake(solver)
        start = solver.qpos, solver.qvel
        solver.step(50)
    assert same(many, same_ones)
    few = RigidSolver(model, 2, lanes=1)
    few.set_state(start[0][[3, 20]], start[1][[3, 20]])
    few.step(50)
    assert torch.equal(many.qpos[[3, 20]], few.qpos)
    expected = few.qpos
    assert few.contacts.mask.sum() > 20
    run_in_columns(precision="32")
    column = RigidSolver(model, 2)
    column.set_state(start[0][[3, 20]], start[1][[3, 20]])
    column.step(50)
    assert torch.equal(column.qpos, expected)


def test_long_lists_are_swept_over(monkeypatch):
    spec = pile(SPHERE, [0.1, 0, 0], 20)
    assert Model.from_mjspec(spec).broad_phase == "pairs"
    monkeypatch.setattr(broad_phase, "LONG", 190)  # 20 spheres make as many pairs
    assert Model.from_mjspec(spec).broad_phase == "sweep"
    assert Model.from_mjspec(spec, broad_phase="pairs").broad_phase == "pairs"
    monkeypatch.setattr(broad_phase, "MOST_LISTED", 200)
    with pytest.raises(ValueError, match=r"option broad_phase='pairs': 290 pairs .*, and 200 are the most; .*'sweep'"):
        Model.from_mjspec(spec, broad_phase="pairs")
    with pytest.raises(ValueError, match="option broad_phase: 'tree' is neither 'pairs' nor 'sweep' nor 'grid'"):
        Model.from_mjspec(spec, broad_phase="tree")
