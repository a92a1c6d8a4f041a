"""The Hessian's pattern: rows of a tree, and room for every entry that the contacts of a tile couple."""

import numpy as np
import pytest

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.fields import layout
from tumble.physics.state.fields import INDICES

from ..test_architecture import ROOT

ENVS = 16


def crouching(num_envs):
    """Humanoids with hinges far from the reference, so that limbs meet."""
    model = Model.from_mjcf(str(ROOT / "assets" / "humanoid.xml"))
    solver = RigidSolver(model, num_envs, lanes=16)
    rng = np.random.default_rng(3)
    qpos = np.tile(model.mj.qpos0, (num_envs, 1))
    low, high = model.mj.jnt_range[1:].T
    qpos[:, 7:] = rng.uniform(low, high, (num_envs, len(low)))
    qpos[:, 2] += rng.uniform(-0.5, 0.5, num_envs)
    solver.set_state(qpos)
    solver.forward()
    return solver


def pattern_of(solver):
    """Rows of the pattern in the first tile: columns of each dof, and how many coupling contacts it was made for."""
    _, dump = solver._launches.evaluate(("M",), with_indices=True)
    at, nv = layout(INDICES, solver._launches.sizes)[0], solver.model.mj.nv
    first = dump[0].numpy()
    counts = first[at["fill_count"] : at["fill_count"] + nv]
    index = first[at["fill_index"] : at["fill_index"] + nv * nv].reshape(nv, nv)
    starts = first[at["fill_start"] : at["fill_start"] + nv]
    assert starts.tolist() == (np.cumsum(counts) - counts).tolist()
    assert first[at["fill_total"]] == counts.sum()
    order = first[at["fill_order"] : at["fill_order"] + nv]
    assert sorted(order) == list(range(nv)) and (np.diff(counts[order]) >= 0).all()
    return [row[:count].tolist() for row, count in zip(index, counts, strict=True)], first[at["fill_npair"]]


def test_rows_are_paths_to_the_root():
    """A row is its dof and then its parent's row; without coupling contacts it is the dof's ancestors."""
    tumble.init(precision="32")
    standing = RigidSolver(Model.from_mjcf(str(ROOT / "assets" / "humanoid.xml")), ENVS, lanes=16)
    standing.forward()
    for solver in (standing, crouching(ENVS)):
        rows, coupling = pattern_of(solver)
        for i, row in enumerate(rows):
            assert row[0] == i and row == sorted(row, reverse=True)
            assert len(row) == 1 or row[1:] == rows[row[1]]
        values = solver.model.values
        own = [values["dof_ancestor"][i, : values["dof_depth"][i]].tolist() for i in range(solver.model.mj.nv)]
        assert all(set(a) <= set(row) for a, row in zip(own, rows, strict=True))
        assert (rows == own) == (coupling == 0)
        assert (solver is standing) == (coupling == 0)


def test_every_entry_of_the_hessian_has_its_place():
    """M + J' D J of all environments of the tile, from what `inspect` gives."""
    tumble.init(precision="32")
    solver = crouching(ENVS)
    rows, _ = pattern_of(solver)
    place = np.zeros((solver.model.mj.nv,) * 2, bool)
    for i, row in enumerate(rows):
        place[i, row] = True
    outside_the_tree = 0
    for env in range(ENVS):
        found = solver.inspect(env)
        weighted = found["efc_J"] * found["efc_D"][:, None]
        hessian = found["qM"] + found["efc_J"].T @ weighted
        assert not (np.tril(hessian != 0) & ~place).any()
        outside_the_tree += (np.tril(hessian != 0) & (found["qM"] == 0)).sum()
    assert outside_the_tree > 0


@pytest.mark.parametrize("before", ["crouching", "standing"])
def test_the_pattern_follows_the_contacts(before):
    """It is kept from one evaluation to the next: one that starts elsewhere ends with the same bits."""
    tumble.init(precision="32")
    solver = crouching(ENVS)
    state = solver.state_dict()
    solver.step(6)
    expected = solver.qvel
    if before == "standing":
        solver.reset()
    solver.step(4)
    solver.load_state_dict(state)
    for _ in range(6):
        solver.step()
    np.testing.assert_array_equal(solver.qvel, expected)
