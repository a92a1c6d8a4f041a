"""The fields of `constraint.noslip`: quantities and integers of a worker's scratch, as in `fields`.

Sizes are 0 in models without noslip; else nslipcon: contact slots; nslipblock: blocks; nslipdof and nslipy: dofs and
numbers in the rows of friction of all blocks; nslipv: nv; nsliptree: ntree; nslipaxis: the largest number of axes of
friction of a contact; nslipentry: entries of a symmetric matrix of that size.
"""

from ...base.fields import Field

_F = Field

NOSLIP: tuple[Field, ...] = (
    _F("slip_u", ("nslipv",), 1, "", "factor of M times the change of qacc since the start of noslip"),
    _F("slip_start", ("nslipv",), 1, "", "slip_u before the first sweep"),
    _F("slip_column", ("nslipv",), 1, "", "the current row of a Jacobian"),
    _F("slip_y", ("nslipy",), 1, "", "rows of friction divided by the factor of M, on the dofs in slip_dof"),
    _F("slip_A", ("nslipblock",), 15, "1/kg", "J M^-1 J' of the axes of friction of a block, by rows to the diagonal"),
    _F("slip_island", ("nsliptree",), 1, "", "as tree_island"),
    _F("slip_gain", ("nsliptree",), 1, "J/s^2", "decrease of the cost of the tree's blocks in the current iteration"),
    _F("slip_trace", ("nsliptree",), 1, "kg", "trace of the tree's M"),
    _F("slip_done", ("nsliptree",), 1, "", "mask: the tree's island has converged"),
    _F("slip_left", ("nslipaxis",), 1, "m/s^2 or rad/s^2", "residual of each axis of the current contact"),
    _F("slip_b", ("nslipaxis",), 1, "", "linear part of the contact's cost"),
    _F("slip_v", ("nslipaxis",), 1, "", "friction force divided by the coefficients, at the current trial"),
    _F("slip_w", ("nslipaxis",), 1, "", "slip_v divided by the factor in slip_P"),
    _F("slip_force", ("nslipaxis",), 1, "N, N m", "friction force of the current contact"),
    _F("slip_P", ("nslipentry",), 1, "", "factor of the contact's slip_A, scaled and shifted"),
    _F("slip_pivot", ("nslipaxis",), 1, "", "pivots of that factor"),
)
NOSLIP_INDICES: tuple[Field, ...] = (
    _F("slip_order", ("nslipcon",), 1, "", "contact slots in MuJoCo's order"),
    _F("slip_bodies", ("nslipcon",), 1, "", "first sort key of a slot: both bodies, packed"),
    _F("slip_geoms", ("nslipcon",), 1, "", "second sort key: both geoms, packed, or below 0 the explicit pair"),
    _F("slip_front", ("nslipv",), 1, "", "current dofs on the paths from a block's dofs to the roots; -1: past it"),
    _F("slip_dof", ("nslipdof",), 1, "", "dofs of the rows of each block, in descending order"),
    _F("slip_dofadr", ("nslipblock",), 1, "", "first dof of the block in slip_dof"),
    _F("slip_dofnum", ("nslipblock",), 1, "", "number of dofs of the block in slip_dof"),
    _F("slip_yadr", ("nslipblock",), 1, "", "first number of the block's rows in slip_y"),
    _F("tile_slipdof", ("one",), 1, "", "entries of slip_dof in use in this tile"),
    _F("tile_slipy", ("one",), 1, "", "entries of slip_y in use in this tile"),
)
NOSLIP_GROWING_SIZES = frozenset(("nslipcon", "nslipblock", "nslipdof", "nslipy"))
"""Sizes that grow with the number of contacts."""
