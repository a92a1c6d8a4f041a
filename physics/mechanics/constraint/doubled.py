"""The solver's numbers in double precision, for constraints so hard that single precision loses M in M + J' D J.

A pyramid with friction mu has rows of stiffness D in proportion to 1 / mu^2. At rest jar = J qacc - aref is then so
small a difference that single precision has no digit of it, and changes of D leave nothing of M in H. The inputs may be
rounded: a relative change of J, aref, M or forces by 1e-7 gives a neighbouring problem.
"""

import taichi as ti

from ...base.math import func
from ..dynamics.smooth import force_residual
from .rows import count_blocks


@func
def to_double(model, work, to):
    """Copy the inputs of Newton's method to the view `to`, which is `work.doubled`."""
    lanes = to.lanes
    for i in range(model.nv):
        to.qacc[i] = lanes.cast(work.qacc[i])
        to.qfrc_unbalanced[i] = lanes.cast(work.qfrc_unbalanced[i])
    for e in range(model.nM):
        to.M[e] = lanes.cast(work.M[e])
    for k in range(count_blocks(work)):
        to.block_D[k] = lanes.cast(work.block_D[k])
        for c in range(work.block_dim[k]):
            to.block_aref.at(k, c)._assign(lanes.cast(work.block_aref.at(k, c)))
        for c in range(work.block_dim[k] - 1):
            to.block_friction.at(k, c)._assign(lanes.cast(work.block_friction.at(k, c)))
        if ti.static(work.blocks.elliptic):
            to.cone_mu[k] = lanes.cast(work.cone_mu[k])
    if ti.static(work.blocks.two_sided):
        for k in range(work.ntwosided):
            to.block_reach[k] = lanes.cast(work.block_reach[k])
    for e in range(work.tile_njac[0]):
        to.block_J[e] = lanes.cast(work.block_J[e])


@func
def residual_to_double(model, work):
    """Set qfrc_unbalanced of the view `work`, which is `doubled`, to the residual at its qacc."""
    force_residual(model, work.rounded, work.qacc)
    for i in range(model.nv):
        work.qfrc_unbalanced[i] = work.lanes.cast(work.rounded.qfrc_unbalanced[i])


@func
def from_double(model, work, source):
    """Round the results of Newton's method in the view `source`, which is `work.doubled`."""
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc[i] = lanes.cast(source.qacc[i])
        work.qfrc_constraint[i] = lanes.cast(source.qfrc_constraint[i])
    for t in range(model.ntree):
        work.tree_island[t] = lanes.cast(source.tree_island[t])
    for k in range(count_blocks(work)):
        for c in range(work.block_dim[k]):
            work.block_force.at(k, c)._assign(lanes.cast(source.block_force.at(k, c)))
            work.block_jar.at(k, c)._assign(lanes.cast(source.block_jar.at(k, c)))
    work.solver_niter[0] = lanes.cast(source.solver_niter[0])
