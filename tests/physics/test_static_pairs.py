"""Skipping the pairs of a far static geom changes nothing, and misses nothing that MuJoCo finds."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.tables import pack

from .test_static_grid import compared

NUM_ENVS, STEPS = 10, 25


def terrain() -> mujoco.MjSpec:
    """A floor of 9 x 9 boxes with a sphere and a capsule, two bodies of several geoms, and one pair by hand."""
    spec, rng = mujoco.MjSpec(), np.random.default_rng(0)
    spec.option.timestep = 0.004
    kinds = {name: getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "SPHERE", "CAPSULE", "ELLIPSOID")}
    for (i, j), height in np.ndenumerate(rng.uniform(-0.03, 0.03, (9, 9))):
        pos = [0.2 * (i - 4), 0.2 * (j - 4), height - 0.05]
        spec.worldbody.add_geom(name=f"box {i} {j}", type=kinds["BOX"], size=[0.1, 0.1, 0.05], pos=pos)
    for k, name in enumerate(("SPHERE", "CAPSULE")):
        spec.worldbody.add_geom(type=kinds[name], size=[0.1, 0.1, 0.1], pos=[0.5 * k - 0.25, 0.3, 0.02])
    for k in range(2):
        body = spec.worldbody.add_body(pos=[0.4 * k - 0.2, 0, 0.08])
        body.add_freejoint()
        for place, (name, kind) in enumerate(kinds.items()):
            at = [0.12 * (place - 1.5), 0.05 * k, 0]
            body.add_geom(name=f"{name} {k}", type=kind, size=[0.05, 0.04, 0.05], pos=at, margin=0.01 * k)
    spec.add_pair(geomname1="box 0 0", geomname2="SPHERE 0", margin=5.0)  # seen from wherever the sphere is
    return spec


@pytest.fixture(scope="module")
def starts() -> tuple[torch.Tensor, torch.Tensor]:
    """Both bodies anywhere over the floor, and beyond its edge, (envs, nq) and (envs, nv)."""
    rng, model = np.random.default_rng(1), terrain().compile()
    qpos = np.tile(model.qpos0, (NUM_ENVS, 1))
    for first in (0, 7):
        qpos[:, first : first + 2] += rng.uniform(-0.9, 0.9, (NUM_ENVS, 2))
        quat = rng.standard_normal((NUM_ENVS, 4))
        qpos[:, first + 3 : first + 7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, rng.standard_normal((NUM_ENVS, model.nv))


def moved(starts: tuple, precision: str = "64") -> RigidSolver:
    tumble.init(precision=precision)
    solver = RigidSolver(Model.from_mjspec(terrain()), NUM_ENVS)
    solver.set_state(qpos=starts[0], qvel=starts[1])
    solver.step(STEPS)
    solver.forward()
    return solver


def numbers_of(solver: RigidSolver) -> dict[str, torch.Tensor]:
    contacts = {name: getattr(solver.contacts, name) for name in ("geom", "pos", "frame", "dist", "mask")}
    return {name: numbers.clone() for name, numbers in (contacts | {"qpos": solver.qpos, "qvel": solver.qvel}).items()}


def test_the_pairs_of_a_static_geom_are_a_run_unless_by_hand():
    values = Model.from_mjspec(terrain()).values
    first, second = values["pair_geom1"].ravel(), values["pair_geom2"].ravel()
    run, static = values["pair_run"].ravel(), values["run_static"].ravel()
    assert run.sum() > 0.5 * len(run)
    for p in np.flatnonzero(run):
        members = np.column_stack((first, second))[p : p + run[p]]
        assert (members == static[p]).any(axis=1).all() and static[p] < 83
        assert run[p] >= pack.LONG_RUN and not run[p + 1 : p + run[p]].any()
        assert not any(set(pair) == {0, 84} for pair in members.tolist())  # the pair by hand: of box 0 0 and SPHERE 0
    assert set(values["run_geom"].ravel()) == set(range(83, 91))


@pytest.mark.parametrize("precision", ["64", pytest.param("32", marks=pytest.mark.slow)])
def test_bits_are_those_without_runs(starts, monkeypatch, precision):
    mine = numbers_of(moved(starts, precision))
    with monkeypatch.context() as patch:
        patch.setattr(pack, "LONG_RUN", 10**6)
        theirs = numbers_of(moved(starts, precision))
    assert mine["mask"].sum() > NUM_ENVS
    for name, numbers in mine.items():
        assert torch.equal(numbers, theirs[name]), name


def test_contacts_are_mujocos(starts):
    solver = moved(starts)
    assert sum(len(dist) for *_, dist in compared(solver)) > NUM_ENVS
