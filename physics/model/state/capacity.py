"""Capacities of the scratch arrays whose use depends on the state: contacts, Hessian entries, near pairs.

Most states need little of the largest number that a model could need: twenty humanoids touch the floor with a few
points each, and not each other with every limb. So a driver starts with a guess, and enlarges the arrays when a tile
needs more. The results of a tile for which they were too small are discarded (`within_capacity`), and the tile is
computed again; results do not depend on the capacities.
"""

from typing import NamedTuple

import numpy as np

from ...base.math import func
from ...files.mjmodel.pairs import collides, explicit_pairs, repeated_explicit_pairs
from ...mechanics.collision.pair_table import PAIR_TABLE
from ..features import has_pulls
from ..model import Model
from ..solver_choice import CG, MUJOCO, TILTS
from ..tables.pack import row_pairs

MOST_LANES = 16
"""The largest number of environments in a tile."""
SPARE_CONTACTS, CONTACTS_OF_GEOM = 32, 4
"""The first number of contact slots: SPARE_CONTACTS, and CONTACTS_OF_GEOM for every geom that moves and collides."""
SPARE_ENTRIES = 256
"""The first number of entries of the Hessian: these, and twice the entries of a Hessian without contacts."""
NEAR_OF_GEOM = 16
"""The first number of near pairs of a sweep, for every geom that it covers."""
NEAR_OF_GRID = 4
"""The first number of static geoms near a moving one, in every lane."""
GROWTH = 1.5
"""The least factor by which a capacity grows, so that it does so seldom."""


class Capacity(NamedTuple):
    """The capacities of the scratch of a worker.

    Attributes:
        contacts: contact slots of a tile, ncon.
        entries: entries of the Hessian, nH.
        pairs: pairs of geoms that a sweep finds near, nlisted, and that a grid does, nhit.
    """

    contacts: int
    entries: int
    pairs: int = 0

    def for_more(self, needed: "Capacity", most: "Capacity") -> "Capacity":
        """Return the room for the needs: larger by GROWTH at least where this is too small, but at most `most`."""
        pairs = zip(self, needed, most, strict=True)
        return Capacity(
            *(min(top, max(need, int(GROWTH * mine))) if need > mine else mine for mine, need, top in pairs)
        )


def most_capacity(model: Model, lanes: int = MOST_LANES) -> Capacity:
    """Return the room that no state exceeds.

    It has all contacts that a tile may keep and one more, and all entries of a matrix.
    """
    again = row_pairs(model.mj, explicit_pairs(model.mj)[repeated_explicit_pairs(model.mj)])
    ways = model.manifold == TILTS, model.hfield == MUJOCO
    bound = int((model.row_pairs + again) @ [row.most_contacts(*ways) for row in PAIR_TABLE])
    bound *= 2 if has_pulls(model) else 1  # lanes beyond the margin have separate slots
    nv = model.sizes["nv"]
    entries = _uncoupled(model) if model.solver == CG else nv * (nv + 1) // 2
    found = int(model.row_pairs.sum()) - model.sizes["npair"]
    found *= lanes if model.sizes["nstatic"] else 1  # each lane has separate entries
    return Capacity(min(bound, lanes * min(bound, model.max_contacts) + 1), entries, found)


def first_capacity(model: Model) -> Capacity:
    """Return the first room: a few contacts for every geom that moves, and some entries for dofs that they couple."""
    mj, most = model.mj, most_capacity(model)
    moves = mj.body_dofnum[mj.body_weldid[mj.geom_bodyid]] > 0
    geoms = int(np.count_nonzero(moves & collides(mj)))
    guess = SPARE_CONTACTS + CONTACTS_OF_GEOM * geoms, SPARE_ENTRIES + 2 * _uncoupled(model)
    near = NEAR_OF_GEOM * model.sizes["nsweep"] + MOST_LANES * NEAR_OF_GRID * model.sizes["ngridgeom"]
    return Capacity(*map(min, (*guess, near), most))


def _uncoupled(model: Model) -> int:
    """Return the number of entries of the Hessian without contacts."""
    depth = np.ones(model.sizes["nv"], int)
    for dof, parent in enumerate(np.ravel(model.values["dof_coupledid"])):
        if parent >= 0:
            depth[dof] += depth[parent]
    return int(depth.sum())


@func
def clear_required(work):
    """Set the needs to 0: no capacity has been exceeded."""
    work.need_ncon[0] = 0
    work.need_nH[0] = 0
    work.need_nlisted[0] = 0


@func
def within_capacity(work):
    """Return True if the capacities were sufficient; if not, the results of the tile are invalid."""
    return work.need_ncon[0] + work.need_nH[0] + work.need_nlisted[0] == 0
