"""Contacts as constraints: the Jacobian of contact space, stiffness, reference acceleration, friction.

A slot stands for a class of static geoms that have the same contact numbers (`collision.static_contacts`). If
there are per-environment parameters, the geoms of a class may differ, and `OwnGeoms` gathers those of each lane.
"""

from typing import Any

import taichi as ti

from ...base.fields import FieldView
from ...base.hooks import CONTACT_PULL, CONTACT_VELOCITY
from ...base.math import Lanes, func
from ...base.math.lanes import let, traced
from ...base.stage import stage
from ..collision.contacts import complete_frame
from ..collision.explicit_pairs import contact_margin, contact_pull, pair_of_contact
from .bodies import FURTHER_AXES, contact_component, contact_velocity
from .contact_parameters import (
    contact_dimension,
    friction,
    friction_damping,
    put_other_friction,
    reference,
    share_of_first,
    solimp,
    solref,
)
from .impedance import MINIMUM, impedance, regularizer

SOFTEST = {True: 1e-4, False: 2.4e-3}
"""The least mu^2 / impratio by which the rows of a pyramid are scaled in single precision, with `double_solver` and
without it: there rows are no harder than `model.features.HARD` at MuJoCo's default impedance, whatever friction an
environment is given, and by conjugate gradients. With it bodies would else rest at a depth that is lost in rounding
(5e-9 m), and leave the ground at times. Normal forces change by a relative 1e-5 or 2e-4 at most; a body that would
stick with less friction slips at up to 5e-7 / mu or 1.2e-5 / mu m/s."""


@stage(
    reads=(
        "qvel subtree_com cdof cvel con_dist con_pos con_present con_geom1 con_geom2 con_pair",
        "con_tether con_own1 con_own2 tile_ncon tile_conadr",
    ),
    writes="block_D cone_mu block_J block_dofnum block_dofadr block_jacadr block_dof",
    updates="con_frame con_pull block_friction block_aref block_dim tile_ndof tile_njac",
    hooks=(CONTACT_PULL, CONTACT_VELOCITY),
)
def contact_blocks(model, work):
    """Append a block for every contact slot, after the blocks of the limits."""
    first = work.tile_conadr[0]
    for k in range(work.tile_ncon[0]):
        block = first + k
        g1, g2 = work.con_geom1[k], work.con_geom2[k]
        pair = pair_of_contact(model, work, k)
        dim = contact_dimension(model, pair, g1, g2)
        if ti.static(not CONTACT_PULL.is_empty(model.has)):
            if work.con_tether[k] == 1:
                dim = 1
        work.block_dim.put(block, dim)
        # Jacobian and J qvel; conjugate gradients need only the velocity.
        frame = complete_frame(work, k)
        if ti.static(model.has.cg):
            contact_velocity(model, work, k, block)
            work.block_dofnum.put(block, 0)
        else:
            _jacobian(model, work, k, block, dim, frame)
        for change in ti.static(CONTACT_VELOCITY.of(model.has)):
            change(model, work, k, block, dim, frame)
        _parameters(of_lanes(model, work, k), work, k, pair, block, dim)


@func
def _parameters(model, work, k: ti.i32, pair: ti.i32, block: ti.i32, dim: ti.i32):
    """Set block_D, block_friction and block_aref, which holds the velocity J qvel on entry."""
    g1, g2 = work.con_geom1[k], work.con_geom2[k]
    # Impedance at the penetration depth.
    share = share_of_first(model, g1, g2)
    dmin, dmax, width, midpoint, power = [solimp(model, pair, g1, g2, share, c) for c in range(5)]
    depth = work.con_dist[k] - contact_margin(model, pair, g1, g2)
    imp = impedance(model, work.lanes, dmin, dmax, width, midpoint, power, depth)
    # Stiffness: one over the regulariser, of a pyramid's rows scaled by friction.
    slide, spin, roll = [friction(model, pair, g1, g2, c) for c in range(3)]
    diagonal = model.body_invweight0[model.geom_bodyid[g1]] + model.body_invweight0[model.geom_bodyid[g2]]
    pyramid = slide * 0.0 + 1.0
    if ti.static(not model.has.elliptic):
        if dim > 1:
            diagonal = diagonal * (1.0 + slide * slide)
            pyramid = 2.0 * slide * slide / ti.max(model.impratio[0], MINIMUM)
            if ti.static(not work.lanes.double):
                pyramid = ti.max(pyramid, 2.0 * ti.static(SOFTEST[model.has.double_solver]))
    # Active within the margin, or while an adhesive contact pulls.
    active = work.con_present[k] * work.lanes.mask(depth < 0.0)
    if ti.static(not CONTACT_PULL.is_empty(model.has)):
        work.con_pull[k] = work.con_present[k] * contact_pull(model, work, pair, g1, g2)
        active = ti.max(active, work.lanes.mask(work.con_pull[k] != 0.0))
    stiffness = 1.0 / (regularizer(imp, diagonal) * pyramid)
    work.block_D[block] = ti.select(active > 0.5, stiffness, work.real(0.0))
    # Friction coefficients of the five axes.
    mu, torsion, rolling = work.real(slide), work.real(spin), work.real(roll)
    work.block_friction.put_numbers(block, 0, [mu, mu, torsion, rolling, rolling])
    put_other_friction(model, work, pair, block)
    if ti.static(model.has.elliptic):
        mu = work.real(1.0)
        if dim > 1:
            mu = work.block_friction.at(block, 0) / ti.sqrt(ti.max(model.impratio[0], MINIMUM))
        work.cone_mu[block] = mu
    # Reference acceleration: spring and damper along the normal, damper across it.
    first, second = solref(model, pair, g1, g2, share)
    spring, damping = reference(model, first, second, dmax)
    work.block_aref.at(block, 0)._assign(-(work.block_aref.at(block, 0) * damping + imp * depth * spring))
    across = friction_damping(model, pair, damping, dmax)
    for c in range(1, dim):
        work.block_aref.at(block, c)._assign(-(work.block_aref.at(block, c) * across))
    if ti.static(not CONTACT_PULL.is_empty(model.has)):
        rows = 1 if ti.static(model.has.elliptic) else ti.max(2 * (dim - 1), 1)
        shift = work.con_pull[k] / (stiffness * rows)  # so that the pressure is that without the pull
        work.block_aref.at(block, 0)._assign(work.block_aref.at(block, 0) + shift)


@func
def _jacobian(model, work, k: ti.i32, block: ti.i32, dim: ti.i32, frame):
    """Set the Jacobian of a contact, and block_aref to J qvel: the velocity of geom 2 relative to geom 1.

    The dofs are the ones that move one geom and not the other, in descending order: the ancestors of both bodies are
    traversed side by side until they meet.
    """
    dof_address, address = work.tile_ndof[0], work.tile_njac[0]
    work.block_dofadr[block] = dof_address
    work.block_jacadr[block] = address
    pos = work.con_pos[k]
    for c in range(dim):
        work.block_aref.at(block, c)._assign(work.real(0.0))
    i = model.body_lastdof[model.geom_bodyid[work.con_geom1[k]]]
    j = model.body_lastdof[model.geom_bodyid[work.con_geom2[k]]]
    count = 0
    # Take the larger of both bodies' next dofs, until both paths have met.
    while i != j:
        dof, sign = j, 1.0
        if i > j:
            dof, sign = i, -1.0
            i = model.dof_parentid[i]
        else:
            j = model.dof_parentid[j]
        work.block_dof.put(dof_address + count, dof)
        # The dof's motion at the contact, component by component.
        motion = work.cdof[dof] * sign
        arm = pos - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        slide = motion.lin + motion.rot.cross(arm)
        speed = work.qvel[dof]
        to = address + count * dim
        _entry(work, block, 0, to, contact_component(frame, slide, motion.rot, 0), speed)
        for least, axes in ti.static(FURTHER_AXES):
            if dim > least:
                for c in ti.static(axes):
                    _entry(work, block, c, to, contact_component(frame, slide, motion.rot, c), speed)
        count += 1
    work.block_dofnum.put(block, count)
    work.tile_ndof[0] = dof_address + count
    work.tile_njac[0] = address + count * dim


@func
def _entry(work, block: ti.i32, c, address: ti.i32, value, speed):
    """Store one entry of the Jacobian, and add its product with a dof's velocity to axis c of block_aref."""
    work.block_J[address + c] = value
    work.block_aref.at(block, c)._assign(work.block_aref.at(block, c) + value * speed)


GATHERED = ("geom_margin", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp")


@traced
def of_lanes(model: Any, work: Any, k: Any) -> Any:
    """Return the model for the contact numbers of slot k: itself, unless the geoms of its lanes may differ in them."""
    return OwnGeoms(model, work, k) if model.has.grid and model.has.parameters else model


class OwnGeoms:
    """A model whose contact numbers are gathered from the geom that each lane has in a slot.

    Args:
        model: the model, with own numbers of environments.
        work: the workspace.
        k: the slot.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, model: Any, work: Any, k: Any) -> None:
        self._model, self._lanes = model, work.lanes
        self._geoms = (
            let(work.con_geom1[k]),
            *(let(ti.cast(field[k], ti.i32)) for field in (work.con_own1, work.con_own2)),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._model, name)
        return _Gathered(found, self._lanes, self._geoms) if name in GATHERED else found


class _Gathered:
    """A field of geoms that reads, per lane, the item of the lane's geom."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, field: FieldView, lanes: Lanes, geoms: tuple) -> None:
        self._field, self._lanes, self._geoms = field, lanes, geoms

    @traced
    def __getitem__(self, g: Any) -> Any:
        return self.at(g, 0)

    @traced
    def at(self, g: Any, column: int) -> Any:
        """Return one plain number of an item; g is the slot's geom 1 or 2."""
        first, own1, own2 = self._geoms
        items = let(ti.select(g == first, own1, own2))
        return self._field.gather(self._lanes, items, column, 1)[0]
