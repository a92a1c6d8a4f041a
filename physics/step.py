"""One physics step on one screen.

MuJoCo's pipeline in textbook order (MuJoCo documentation, Computation: Simulation pipeline).
"""

import taichi as ti

from .collision.narrow_phase import narrow_phase
from .constraint.contact_rows import contact_rows
from .constraint.limits import limit_rows
from .constraint.newton import constrained_acceleration
from .dynamics.actuation import actuation
from .dynamics.bias import body_velocities
from .dynamics.mass_matrix import mass_matrix
from .dynamics.passive import passive_force
from .dynamics.smooth import smooth_acceleration
from .integrate import advance, implicit_acceleration, runge_kutta_stage
from .kinematics.center_of_mass import center_of_mass
from .kinematics.forward import forward_kinematics, geom_frames
from .state.sizes import RK4
from .state.snapshot import hold_faulty, keep_evaluation, keep_start, report_mean_acceleration


@ti.func
def forward(model: ti.template(), work: ti.template()):
    """Everything that follows from qpos, qvel and ctrl: positions, velocities, forces, accelerations."""
    forward_kinematics(model, work)
    geom_frames(model, work)
    center_of_mass(model, work)
    mass_matrix(model, work)
    narrow_phase(model, work)
    body_velocities(model, work)
    contact_rows(model, work)
    limit_rows(model, work)
    actuation(model, work)
    passive_force(model, work)
    smooth_acceleration(model, work)
    constrained_acceleration(model, work)


@ti.func
def step(model: ti.template(), work: ti.template(), substeps: ti.i32):
    """`substeps` steps under the same controls; 0 evaluates at the present state without moving."""
    dt = model.timestep[0]
    stages = 1
    if model.integrator == RK4 and substeps > 0:
        stages = 4
    evaluations = ti.max(substeps, 1) * stages
    for evaluation in range(evaluations):
        stage = evaluation % stages
        if stage == 0:
            keep_start(model, work)
        if evaluation == evaluations - 1:
            keep_evaluation(model, work)
        forward(model, work)
        if substeps > 0:
            fraction = ti.cast(1.0, work.lanes.dtype)
            if stages == 4:
                fraction = runge_kutta_stage(model, work, stage, dt)
            else:
                implicit_acceleration(model, work, dt)
            advance(model, work, dt * fraction, ti.cast(stage == stages - 1, ti.i32))
            if stage == stages - 1:
                hold_faulty(model, work)
    report_mean_acceleration(model, work)
