"""What `constraint.noslip` works with: quantities and integers of a worker's scratch, as in `fields`.

Sizes are 0 where models have no noslip: nslipcon: contact slots; nslipblock: blocks; nslipdof and nslipy: dofs and
numbers in the rows of friction of all blocks; nslipv: nv; nsliptree: ntree; nslipaxis and nslipentry: axes of friction
of a contact at most, and entries of a symmetric matrix of them.
"""

from ..fields import Field

_F = Field

NOSLIP: tuple[Field, ...] = (
    _F("slip_u", ("nslipv",), 1, "", "factor of M times the change of qacc that forces have made so far"),
    _F("slip_start", ("nslipv",), 1, "", "the same before the first sweep"),
    _F("slip_column", ("nslipv",), 1, "", "the current row of a Jacobian"),
    _F("slip_y", ("nslipy",), 1, "", "rows of friction, J over the factor of M, on the dofs of slip_dof"),
    _F("slip_A", ("nslipblock",), 15, "1/kg", "J M^-1 J' of the axes of friction of a block, by rows to the diagonal"),
    _F("slip_island", ("nsliptree",), 1, "", "as tree_island"),
    _F("slip_gain", ("nsliptree",), 1, "J/s^2", "decrease of the cost of the tree's blocks in the current sweep"),
    _F("slip_trace", ("nsliptree",), 1, "kg", "trace of the tree's M"),
    _F("slip_done", ("nsliptree",), 1, "", "mask: its island rests"),
    _F("slip_left", ("nslipaxis",), 1, "m/s^2 or rad/s^2", "residual of each axis of the current contact"),
    _F("slip_b", ("nslipaxis",), 1, "", "linear part of its cost"),
    _F("slip_v", ("nslipaxis",), 1, "", "its friction over the coefficients, a trial"),
    _F("slip_w", ("nslipaxis",), 1, "", "the trial over the factor of slip_P"),
    _F("slip_force", ("nslipaxis",), 1, "N, N m", "its friction"),
    _F("slip_P", ("nslipentry",), 1, "", "factor of its scaled slip_A, shifted"),
    _F("slip_pivot", ("nslipaxis",), 1, "", "pivots of that factor"),
)
NOSLIP_INDICES: tuple[Field, ...] = (
    _F("slip_order", ("nslipcon",), 1, "", "contact slots in MuJoCo's order"),
    _F("slip_bodies", ("nslipcon",), 1, "", "what slots are ordered by: both bodies"),
    _F("slip_geoms", ("nslipcon",), 1, "", "then both geoms, or below 0 the pair by hand"),
    _F("slip_front", ("nslipv",), 1, "", "where the ways from a tendon's dofs to their roots have come to; -1: a root"),
    _F("slip_dof", ("nslipdof",), 1, "", "dofs of the rows of each block, in descending order"),
    _F("slip_dofadr", ("nslipblock",), 1, "", "where those of a block begin"),
    _F("slip_dofnum", ("nslipblock",), 1, "", "how many they are"),
    _F("slip_yadr", ("nslipblock",), 1, "", "first number of its rows in slip_y"),
    _F("tile_slipdof", ("one",), 1, "", "entries of slip_dof in use in this tile"),
    _F("tile_slipy", ("one",), 1, "", "entries of slip_y in use in this tile"),
)
NOSLIP_ROOM = frozenset(("nslipcon", "nslipblock", "nslipdof", "nslipy"))
"""Sizes that grow with the contacts."""
