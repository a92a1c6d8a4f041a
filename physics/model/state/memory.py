"""Per-environment memory that persists between kernel launches: groups of fields.

The same rows are the first rows of a worker's scratch: a launch loads them, steps, and stores them. Sizes are as in
`fields`.
"""

from dataclasses import replace

from ...base.fields import Field
from ..parts import PARTS
from ..parts.part import Memory

_F = Field


def twin(field: Field) -> Field:
    """Return the field that keeps the value of the last evaluation: `eval_` and its name."""
    return replace(field, name=f"eval_{field.name}", doc=f"{field.name} of the last evaluation")


MEMORIES: tuple[Memory, ...] = tuple(memory for part in PARTS for memory in part.memory)
"""The memory of mechanisms (`physics/model/parts`)."""
REMEMBERED = tuple(
    (
        *(part.name, memory.field.name, memory.field.dims[0]),
        ("guarded",) * memory.guarded + ("aged",) * memory.aged + ("staged",) * memory.staged,
        tuple(f"{prefix}_{memory.field.name}" for prefix in ("eval", "start")),
    )
    for part in PARTS
    for memory in part.memory
)
"""The memory of mechanisms for kernels: feature, names of the field and of its size, flags that are True, and the names
of its twins for the last evaluation (eval_) and the start of the step (start_)."""

STATE: tuple[Field, ...] = (
    _F("qpos", ("nq",), 1, "m or rad", "generalised coordinates"),
    _F("qvel", ("nv",), 1, "m/s or rad/s", "generalised velocities"),
    _F("qacc_warmstart", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration at which the constraint solver starts"),
    *(memory.field for memory in MEMORIES),
)
"""Quantities that a step integrates or updates."""
INPUTS: tuple[Field, ...] = (
    _F("ctrl", ("nu",), 1, "", "controls"),
    _F("mocap_pos", ("nmocap",), 3, "m", "position of a mocap body"),
    _F("mocap_quat", ("nmocap",), 4, "", "orientation of a mocap body"),
    _F("eq_active", ("neq",), 1, "", "above 0.5: the equality is active"),
)
"""Quantities that users write and steps read."""
COORDINATES: tuple[Field, ...] = (*STATE, *INPUTS)
"""Quantities from which an evaluation computes all others."""
APPLIED: tuple[Field, ...] = (
    _F("qfrc_applied", ("nv",), 1, "N or N m", "generalised force that the user applies to the dof"),
    _F("xfrc_applied", ("nbody",), 6, "N, N m", "force at the body's centre of mass and torque that the user applies"),
)
CONTROLS: tuple[Field, ...] = (
    _F("dof_mode", ("nv",), 1, "", "control of a dof without an actuator: 0 none, 1 force, 2 velocity, 3 position"),
    _F("dof_target", ("nv",), 1, "N, N m, m/s, rad/s, m or rad", "target force, velocity or position of that control"),
    _F("dof_target_vel", ("nv",), 1, "m/s or rad/s", "velocity to which a control of position comes there"),
    _F("dof_kp", ("nv",), 1, "N/m or N m/rad", "position gain of that control"),
    _F("dof_kv", ("nv",), 1, "N s/m or N m s/rad", "velocity gain of that control"),
    _F("dof_force_range", ("nv",), 2, "N or N m", "range to which the force of that control is clamped"),
)
FORCES: tuple[Field, ...] = (*APPLIED, *CONTROLS)
"""Inputs that most batches never write; until one is written, no step reads them."""

EVALUATION: tuple[Field, ...] = (
    _F("eval_qpos", ("nq",), 1, "m or rad", "coordinates of the last evaluation"),
    _F("eval_qvel", ("nv",), 1, "m/s or rad/s", "velocities of the last evaluation"),
    _F("eval_warm", ("nv",), 1, "m/s^2 or rad/s^2", "qacc_warmstart of the last evaluation"),
    *(twin(memory.field) for memory in MEMORIES),
    _F("eval_ctrl", ("nu",), 1, "", "controls of the last evaluation"),
    _F("eval_mocap_pos", ("nmocap",), 3, "m", "mocap_pos of the last evaluation"),
    _F("eval_mocap_quat", ("nmocap",), 4, "", "mocap_quat of the last evaluation"),
    _F("eval_eq_active", ("neq",), 1, "", "eq_active of the last evaluation"),
    _F(
        "eval_qacc",
        ("nv",),
        1,
        "m/s^2 or rad/s^2",
        "Runge-Kutta's mean acceleration; NOT_INTEGRATED: no step followed",
    ),
)
"""The state and inputs of the last evaluation, in the order of `COORDINATES`, and the acceleration integrated there."""

REMAINDERS: tuple[Field, ...] = (
    _F("qpos_rest", ("nq",), 1, "m or rad", "rounding error of qpos, to be added to it; 0 in double precision"),
    _F("qvel_rest", ("nv",), 1, "m/s or rad/s", "rounding error of qvel, to be added to it; 0 in double precision"),
    _F("eval_rest", ("nqrest",), 1, "m or rad", "rounding error of the coordinates of a later Runge-Kutta stage"),
)
"""Rounding errors of the state in single precision (compensated summation, Kahan 1965): a change of qpos in a step may
be below its resolution, so the error of the sum is kept and added in the next step. Forces are evaluated at qpos and
qvel; in mixed precision the later stages of a Runge-Kutta step are evaluated at qpos + eval_rest, and with
`Features.double_solver` all stages, of which the first has qpos_rest there."""

START: tuple[Field, ...] = (
    _F("start_qpos", ("nq",), 1, "m or rad", "coordinates at the start of the last step"),
    _F("start_qvel", ("nv",), 1, "m/s or rad/s", "velocities at the start of the last step"),
    _F(
        "start_warm", ("nv",), 1, "m/s^2 or rad/s^2", "qacc_warmstart at the start of the last step, if sensors need it"
    ),
    *(
        replace(
            memory.field, name=f"start_{memory.field.name}", doc=f"{memory.field.name} at the start of the last step"
        )
        for memory in MEMORIES
        if memory.staged
    ),
)
"""The state at the start of a step, which the scratch has and, if `nstart` is 1, the memory, too: sensors of a
Runge-Kutta step are evaluated there (the last evaluation is that of the last stage)."""

BROAD_PHASE: tuple[Field, ...] = (
    _F("sweep_order", ("nsweep",), 1, "", "places of the geoms that a sweep covers, sorted along its axis"),
    _F("sweep_axis", ("nsweepone",), 1, "", "axis of the world along which geoms are sorted: 0, 1 or 2"),
)
"""The order and axis from which a sweep starts in the next step. Results do not depend on them."""

NARROW_PHASE: tuple[Field, ...] = (
    _F("pair_axis", ("nwarm",), 1, "", "code of the axis that last separated a convex pair (`convex`); 0: none"),
)
"""The axis from which the search of a convex pair starts in the next step. Results do not depend on it."""

EVALUATED_FORCES: tuple[Field, ...] = (
    _F("eval_qfrc_applied", ("nv",), 1, "N or N m", "qfrc_applied of the last evaluation"),
    _F("eval_xfrc_applied", ("nbody",), 6, "N, N m", "xfrc_applied of the last evaluation"),
    *(_F(f"eval_{f.name}", f.dims, f.width, f.unit, f"{f.name} of the last evaluation") for f in CONTROLS),
)

MEMORY: dict[str, tuple[Field, ...]] = {
    "STATE": STATE,
    "INPUTS": INPUTS,
    "FORCES": FORCES,
    "KEPT": (*EVALUATION, *REMAINDERS, *BROAD_PHASE, *NARROW_PHASE),
    "KEPT_FORCES": EVALUATED_FORCES,
}
"""The groups of an environment's memory, which are also the first rows of the scratch. Another group, PARAMETERS, holds
the model's numbers that the environment overrides; it is stored separately, since few environments have any."""

NOT_INTEGRATED = 1e30
"""The value of eval_qacc after an evaluation that no step followed."""
