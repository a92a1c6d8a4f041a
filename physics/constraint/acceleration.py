"""The acceleration under all forces, by the solver that the model has (`model.solver_choice`)."""

import taichi as ti

from .conjugate_gradients import acceleration_by_gradients
from .newton import acceleration_by_newton


@ti.func
def acceleration(model: ti.template(), work: ti.template()):
    """qacc, qfrc_constraint, block_force and solver_niter; before: qacc where to start, qfrc_unbalanced there."""
    if ti.static(model.has.cg):
        acceleration_by_gradients(model, work)
    else:
        acceleration_by_newton(model, work)
