"""The static filters are MuJoCo's: with huge margins its contacts are exactly the possible pairs."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model
from tumble.physics.files.mjmodel.pairs import (
    explicit_pair_number,
    idle_explicit_pairs,
    pair_condim,
    pair_margin,
    possible_pairs,
)
from tumble.physics.mechanics.collision.narrow_phase import ROUTINES
from tumble.physics.mechanics.collision.pair_table import NO_ROW, PAIR_TABLE, rows_of
from tumble.physics.model.rules import has_narrow_phase

from ...cases import cases
from ...models.random_models import random_model
from ..parity.catalogue import load, names

NO_DOFS = 3
"""MuJoCo's reason to leave a contact out: no joint moves one of its geoms against the other."""
ALL = [*names("purpose"), *names("packaged"), *(f"random {seed}" for seed in range(20))]


@cases("name", ALL)
def test_pairs_are_those_that_mujoco_lets_through(name):
    mjm = load(name)
    data = mujoco.MjData(mjm)
    mjm.geom_margin[:] = mjm.pair_margin[:] = 100
    mjm.body_margin[:] = 200
    mujoco.mj_forward(mjm, data)
    pairs = possible_pairs(mjm)
    seen: dict[tuple[int, int], int] = {}
    for c in data.contact:
        if c.exclude != NO_DOFS:  # of several pairs by hand the largest
            geoms = int(c.geom[0]), int(c.geom[1])
            seen[geoms] = max(c.dim, seen.get(geoms, 0))
    assert set(map(tuple, pairs.tolist())) == set(seen)
    condim = pair_condim(mjm, pairs)
    assert all(seen[tuple(pair)] == dim for pair, dim in zip(pairs.tolist(), condim, strict=True))
    assert has_narrow_phase(mjm, pairs).all()


@cases("flags", [{}, {"filterparent": "disable"}, {"contact": "disable"}])
@cases("seed", range(20))
def test_pairs_under_flags_and_masks(seed, flags):
    rng = np.random.default_rng(seed)
    mjm = mujoco.MjModel.from_xml_string(random_model(seed))
    for flag in flags:
        mjm.opt.disableflags |= int(mujoco.mjtDisableBit.__members__[f"mjDSBL_{flag.upper()}"])
    mjm.geom_contype[:] = rng.integers(0, 4, mjm.ngeom)
    mjm.geom_conaffinity[:] = rng.integers(0, 4, mjm.ngeom)
    mjm.body_contype[:] = mjm.body_conaffinity[:] = 3
    mjm.geom_margin[:], mjm.body_margin[:] = 100, 200
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    seen = {(int(c.geom[0]), int(c.geom[1])) for c in data.contact}
    pairs = possible_pairs(mjm)
    assert has_narrow_phase(mjm, pairs).all()
    assert _certain(mjm, pairs) <= seen <= {tuple(p) for p in pairs.tolist()}


def _certain(mjm, pairs):
    """Pairs that touch when margins are huge.

    Of two boxes apart no face need lie over one of the other's: then MuJoCo has no contact, whatever the margin.
    """
    both_boxes = (mjm.geom_type[pairs] == int(mujoco.mjtGeom.mjGEOM_BOX)).all(axis=1)
    return {tuple(p) for p in pairs[~both_boxes].tolist()}


@cases("seed", range(20))
def test_pairs_by_hand_pass_all_filters_and_have_their_own_parameters(seed):
    """Of one body, welded, excluded or filtered by masks: what MuJoCo makes rows of, once, with the pair's numbers."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec.from_string(random_model(seed))
    for k, geom in enumerate(spec.geoms):
        geom.name = f"geom {k}"
    everything = np.array([(i, j) for i in range(len(spec.geoms)) for j in range(i)])
    for i, j in rng.permutation(everything)[: rng.integers(1, 30)]:
        spec.add_pair(
            geomname1=f"geom {i}", geomname2=f"geom {j}", condim=rng.choice([1, 3, 4, 6]), margin=rng.uniform(100, 200)
        )
    mjm = spec.compile()
    mjm.geom_contype[:] = rng.integers(0, 4, mjm.ngeom)
    mjm.body_contype[:] = mjm.body_conaffinity[:] = 3
    mjm.geom_margin[:], mjm.body_margin[:] = 100, 200
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    found = [c for c in data.contact if c.exclude != NO_DOFS]
    seen = {(int(c.geom[0]), int(c.geom[1])): (c.dim, c.includemargin) for c in found}
    pairs = possible_pairs(mjm)
    assert _certain(mjm, pairs) <= seen.keys() <= {tuple(p) for p in pairs.tolist()}
    numbers = zip(pair_condim(mjm, pairs).tolist(), pair_margin(mjm, pairs).tolist(), strict=True)
    assert all(seen.get(tuple(p), own) == own for p, own in zip(pairs.tolist(), numbers, strict=True))
    assert (explicit_pair_number(mjm, pairs) >= 0).sum() + len(idle_explicit_pairs(mjm)) == mjm.npair


OVERLAPPING = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="thigh" pos="0 0 0.5"><freejoint/><geom name="thigh" size="0.1"/>
    <body name="shank" pos="0.1 0 -0.1"><joint/><geom type="capsule" size="0.05 0.1"/>
      <body name="foot" pos="0 0 -0.2"><joint/><geom name="foot" size="0.1" pos="-0.05 0 0.13"/></body>
    </body>
  </body>
  <body name="ball" pos="0 0.18 0.5"><freejoint/><geom name="ball" size="0.1"/></body>
  <body name="resting" pos="0.5 0 0.1"><freejoint/><geom name="resting" size="0.1"/></body>
  <body name="wanted" pos="0.5 0.05 0.15"><freejoint/><geom name="wanted" size="0.1"/></body>
</worldbody><contact><pair geom1="wanted" geom2="resting"/>{}</contact></mujoco>"""


@cases("option", [{}, {"ignore_reference_overlaps": True}])
def test_overlaps_at_the_reference_are_ignored_where_asked(option):
    """As if MuJoCo's model excluded their bodies; what rests at the reference, or is a pair by hand, stays."""
    model = Model.from_mjcf(OVERLAPPING.format(""), **option)
    excludes = '<exclude body1="thigh" body2="foot"/><exclude body1="thigh" body2="ball"/>' if option else ""
    mjm = mujoco.MjModel.from_xml_string(OVERLAPPING.format(excludes))
    mjm.geom_margin[:] = mjm.pair_margin[:] = 100
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    pairs = np.column_stack((model.values["pair_geom1"], model.values["pair_geom2"]))
    assert sorted(map(tuple, pairs.tolist())) == sorted({(int(a), int(b)) for a, b in data.contact.geom})
    assert [("'thigh' and 'foot'" in note, "'thigh' and 'ball'" in note) for note in model.notes] == [
        (True, True)
    ] * len(option)
    with pytest.raises(ValueError, match="option ignore_reference_overlaps: 1 is not True or False"):
        Model.from_mjcf(OVERLAPPING, ignore_reference_overlaps=1)


def test_the_pair_table_is_whole():
    """Every row has its routine, every routine its row; types are in MuJoCo's order, and each pair stands once."""
    assert {row.routine for row in PAIR_TABLE} == set(ROUTINES)
    types = np.array([row.types for row in PAIR_TABLE])
    assert (types[:, 0] <= types[:, 1]).all()
    assert rows_of(*types.T).tolist() == list(range(len(PAIR_TABLE)))
    everything = np.indices((int(mujoco.mjtGeom.mjNGEOMTYPES),) * 2).reshape(2, -1)
    assert (rows_of(*everything) != NO_ROW).sum() == len(PAIR_TABLE)
