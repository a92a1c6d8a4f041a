"""Contacts as constraints: Jacobian of the contact space, stiffness, reference acceleration."""

import taichi as ti

from ..collision.contacts import complete_frame
from .impedance import impedance, regularizer


@ti.func
def contact_rows(model: ti.template(), work: ti.template()):
    """con_frame, con_D, con_J and con_ref of every slot."""
    address = 0
    for k in range(work.tile_ncon[0]):
        p = work.con_pair[k]
        work.con_jadr[k] = address
        frame = complete_frame(work, k)
        depth = work.con_dist[k] - model.pair_margin[p]
        imp = impedance(model, work.lanes, model.pair_solimp, p, depth)
        active = work.con_present[k] * work.lanes.mask(depth < 0.0)
        stiffness = 1.0 / (regularizer(imp, model.pair_diagonal[p]) * model.pair_regularizer[p])
        work.con_D[k] = ti.select(active > 0.5, stiffness, work.real(0.0))
        _jacobian(model, work, k, p, frame)
        pull = imp * depth * model.pair_stiffness[p]
        for c in range(model.pair_condim[p]):
            work.con_ref.at(k, c)._assign(work.con_ref.at(k, c) * model.pair_damping[p])
        work.con_ref.at(k, 0)._assign(work.con_ref.at(k, 0) + pull)
        address += model.pair_dofnum[p] * model.pair_condim[p]


@ti.func
def _jacobian(model: ti.template(), work: ti.template(), k: ti.i32, p: ti.i32, frame: ti.template()):
    """Velocity of geom 2 relative to geom 1 in contact space: its derivative by each dof, and its value in con_ref."""
    dim = model.pair_condim[p]
    address = work.con_jadr[k]
    first = model.pair_dofadr[p]
    pos = work.con_pos[k]
    for c in range(dim):
        work.con_ref.at(k, c)._assign(work.real(0.0))
    for e in range(model.pair_dofnum[p]):
        dof = model.pairdof_id[first + e]
        motion = work.cdof[dof] * model.pairdof_sign[first + e]
        arm = pos - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        slide = motion.lin + motion.rot.cross(arm)
        speed = work.qvel[dof]
        _entry(work, k, 0, address + e * dim, frame.x.dot(slide), speed)
        if dim > 1:
            _entry(work, k, 1, address + e * dim, frame.y.dot(slide), speed)
            _entry(work, k, 2, address + e * dim, frame.z.dot(slide), speed)
        if dim > 3:
            _entry(work, k, 3, address + e * dim, frame.x.dot(motion.rot), speed)
        if dim > 4:
            _entry(work, k, 4, address + e * dim, frame.y.dot(motion.rot), speed)
            _entry(work, k, 5, address + e * dim, frame.z.dot(motion.rot), speed)


@ti.func
def _entry(
    work: ti.template(), k: ti.i32, c: ti.template(), address: ti.i32, value: ti.template(), speed: ti.template()
):
    work.con_J[address + c] = value
    work.con_ref.at(k, c)._assign(work.con_ref.at(k, c) + value * speed)
