"""Room in the scratch for what the state decides upon: contacts, and the dofs that they couple.

Most states need little of what a model could ever need: twenty humanoids touch the floor with a few points each, and
not one another with every limb. So a driver begins with room for a guess, and makes more when a tile needs it. A tile
that does not find room is left as it was (`fits`), and done again later; results do not depend on the room.
"""

from typing import NamedTuple

import numpy as np

from ..math import func
from ..mjmodel.pairs import collides, pairs_by_hand, repeated_by_hand
from ..model.features import has_pulls
from ..model.model import Model
from ..model.pack import row_pairs
from ..model.pair_table import PAIR_TABLE
from ..model.solver_choice import CG, TILTS

MOST_LANES = 16
"""Environments in the widest tile."""
SPARE_CONTACTS, CONTACTS_OF_GEOM = 32, 4
"""Contact slots to begin with: these, and so many for every geom that moves and collides."""
SPARE_ENTRIES = 256
"""Entries of the Hessian to begin with: these, and twice those of the mass matrix."""
NEAR_OF_GEOM = 16
"""Pairs that a sweep finds near, to begin with, for every geom."""
GROWTH = 1.5
"""Least factor by which room grows, so that it seldom does."""


class Room(NamedTuple):
    """Capacities of the scratch of a worker.

    Attributes:
        contacts: contact slots of a tile, ncon.
        entries: entries of the Hessian, nH.
        pairs: pairs of geoms that a sweep finds near, nlisted.
    """

    contacts: int
    entries: int
    pairs: int = 0

    def for_more(self, needed: "Room", most: "Room") -> "Room":
        """Room for what is needed, larger by a factor where this is not, but never more than `most`."""
        pairs = zip(self, needed, most, strict=True)
        return Room(*(min(top, max(need, int(GROWTH * mine))) if need > mine else mine for mine, need, top in pairs))


def most_room(model: Model, lanes: int = MOST_LANES) -> Room:
    """What no state exceeds: all contacts that a tile may keep and one more, and all entries of a matrix."""
    again = row_pairs(model.mj, pairs_by_hand(model.mj)[repeated_by_hand(model.mj)])
    bound = int((model.row_pairs + again) @ [row.most_contacts(model.manifold == TILTS) for row in PAIR_TABLE])
    bound *= 2 if has_pulls(model) else 1  # lanes beyond the margin have slots of their own
    nv = model.sizes["nv"]
    entries = _uncoupled(model) if model.solver == CG else nv * (nv + 1) // 2
    swept = int(model.row_pairs.sum()) - model.sizes["npair"]
    return Room(min(bound, lanes * min(bound, model.max_contacts) + 1), entries, swept)


def first_room(model: Model) -> Room:
    """A guess: a few contacts for every geom that moves, and some entries for dofs that they couple."""
    mj, most = model.mj, most_room(model)
    moves = mj.body_dofnum[mj.body_weldid[mj.geom_bodyid]] > 0
    geoms = int(np.count_nonzero(moves & collides(mj)))
    guess = SPARE_CONTACTS + CONTACTS_OF_GEOM * geoms, SPARE_ENTRIES + 2 * _uncoupled(model)
    return Room(*map(min, (*guess, NEAR_OF_GEOM * model.sizes["nsweep"]), most))


def _uncoupled(model: Model) -> int:
    """Entries of a Hessian when nothing touches."""
    depth = np.ones(model.sizes["nv"], int)
    for dof, parent in enumerate(np.ravel(model.values["dof_coupledid"])):
        if parent >= 0:
            depth[dof] += depth[parent]
    return int(depth.sum())


@func
def clear_needs(work):
    """The tile has found room so far."""
    work.need_ncon[0] = 0
    work.need_nH[0] = 0
    work.need_nlisted[0] = 0


@func
def fits(work):
    """Whether the tile has found room for everything; where not, what is computed for it means nothing."""
    return work.need_ncon[0] + work.need_nH[0] + work.need_nlisted[0] == 0
