"""What is kept of every environment between launches: groups of fields, the first rows of the scratch as well.

Sizes are those of `fields`.
"""

from dataclasses import replace

from ..fields import Field
from ..parts import PARTS
from ..parts.part import Memory

_F = Field


def twin(field: Field) -> Field:
    """Return the field that keeps the value of the last evaluation: `eval_` and its name."""
    return replace(field, name=f"eval_{field.name}", doc=f"{field.name} of the last evaluation")


def _begin(field: Field) -> Field:
    """Return the field that keeps the value where the last step began, in `BEGIN`."""
    return replace(field, name=f"begin_{field.name}", dims=(f"{field.dims[0]}begin",), doc=f"{field.name} there")


MEMORIES: tuple[Memory, ...] = tuple(memory for part in PARTS for memory in part.memory)
"""The memory of mechanisms (`physics/parts`)."""
REMEMBERED = tuple(
    (
        *(part.name, memory.field.name, memory.field.dims[0]),
        ("guarded",) * memory.guarded + ("aged",) * memory.aged + ("staged",) * memory.staged,
        tuple(f"{prefix}_{memory.field.name}" for prefix in ("eval", "start", "begin")),
    )
    for part in PARTS
    for memory in part.memory
)
"""The same for kernels: feature, names of the field and of its size, the flags that are True, and names of twins."""

STATE: tuple[Field, ...] = (
    _F("qpos", ("nq",), 1, "m or rad", "generalised coordinates"),
    _F("qvel", ("nv",), 1, "m/s or rad/s", "generalised velocities"),
    _F("qacc_warmstart", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration at which the solver may start"),
    *(memory.field for memory in MEMORIES),
)
"""Quantities that a step moves."""
INPUTS: tuple[Field, ...] = (
    _F("ctrl", ("nu",), 1, "", "controls"),
    _F("mocap_pos", ("nmocap",), 3, "m", "position of a mocap body"),
    _F("mocap_quat", ("nmocap",), 4, "", "orientation of a mocap body"),
    _F("eq_active", ("neq",), 1, "", "above 0.5: the equality holds"),
)
"""Quantities that users write and a step reads."""
COORDINATES: tuple[Field, ...] = (*STATE, *INPUTS)
"""Quantities from which an evaluation starts."""
APPLIED: tuple[Field, ...] = (
    _F("qfrc_applied", ("nv",), 1, "N or N m", "forces on the dofs that the user applies"),
    _F("xfrc_applied", ("nbody",), 6, "N, N m", "force at a body's centre of mass and torque that the user applies"),
)
CONTROLS: tuple[Field, ...] = (
    _F("dof_mode", ("nv",), 1, "", "control of a dof without an actuator: 0 none, 1 force, 2 velocity, 3 position"),
    _F("dof_target", ("nv",), 1, "N, N m, m/s, rad/s, m or rad", "the force, velocity or position that is wanted"),
    _F("dof_kp", ("nv",), 1, "N/m or N m/rad", "gain of the position"),
    _F("dof_kv", ("nv",), 1, "N s/m or N m s/rad", "gain of the velocity"),
    _F("dof_force_range", ("nv",), 2, "N or N m", "what the control's force is kept within"),
)
FORCES: tuple[Field, ...] = (*APPLIED, *CONTROLS)
"""Inputs that most batches never have: as long as none is written, no step reads them."""

EVALUATION: tuple[Field, ...] = (
    _F("eval_qpos", ("nq",), 1, "m or rad", "coordinates of the last evaluation"),
    _F("eval_qvel", ("nv",), 1, "m/s or rad/s", "velocities of the last evaluation"),
    _F("eval_warm", ("nv",), 1, "m/s^2 or rad/s^2", "qacc_warmstart of the last evaluation"),
    *(twin(memory.field) for memory in MEMORIES),
    _F("eval_ctrl", ("nu",), 1, "", "controls of the last evaluation"),
    _F("eval_mocap_pos", ("nmocap",), 3, "m", "mocap_pos of the last evaluation"),
    _F("eval_mocap_quat", ("nmocap",), 4, "", "mocap_quat of the last evaluation"),
    _F("eval_eq_active", ("neq",), 1, "", "eq_active of the last evaluation"),
    _F("eval_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "Runge-Kutta's mean acceleration; NOT_INTEGRATED without a step"),
)
"""Coordinates of the last evaluation, in the order of COORDINATES, and the acceleration integrated there."""

REMAINDERS: tuple[Field, ...] = (
    _F("qpos_rest", ("nq",), 1, "m or rad", "what rounding took off qpos; 0 in double precision"),
    _F("qvel_rest", ("nv",), 1, "m/s or rad/s", "what rounding took off qvel; 0 in double precision"),
    _F("eval_rest", ("nqrest",), 1, "m or rad", "what rounding took off the coordinates of a later Runge-Kutta stage"),
)
"""In single precision the state is the sum of two numbers: a step adds less than qpos can show (Kahan 1965), and
these fields keep the rounding error for the next one. Forces are evaluated at qpos and qvel alone, but in mixed
precision the later stages of a Runge-Kutta step are evaluated at qpos + eval_rest."""

BEGIN: tuple[Field, ...] = (
    _F("begin_qpos", ("nqbegin",), 1, "m or rad", "coordinates at the beginning of the last step"),
    _F("begin_qvel", ("nvbegin",), 1, "m/s or rad/s", "velocities there"),
    _F("begin_warm", ("nvbegin",), 1, "m/s^2 or rad/s^2", "qacc_warmstart there"),
    *(_begin(memory.field) for memory in MEMORIES if memory.staged),
)
"""Where the sensors of a Runge-Kutta step are evaluated, in its first stage; the last evaluation is its last stage."""

BROAD_PHASE: tuple[Field, ...] = (
    _F("sweep_order", ("nsweep",), 1, "", "places of the geoms that a sweep covers, as they follow along its axis"),
    _F("sweep_axis", ("nsweepone",), 1, "", "axis of the world along which they are swept over"),
)
"""Where a sweep begins in the next step. Results do not depend on it."""

NARROW_PHASE: tuple[Field, ...] = (
    _F("pair_axis", ("nwarm",), 1, "", "axis across which a convex pair was last apart (`warm_start`); 0: it was not"),
)
"""Where the search for a contact of two convex shapes begins in the next step. Results do not depend on it."""

EVALUATED_FORCES: tuple[Field, ...] = (
    _F("eval_qfrc_applied", ("nv",), 1, "N or N m", "qfrc_applied of the last evaluation"),
    _F("eval_xfrc_applied", ("nbody",), 6, "N, N m", "xfrc_applied of the last evaluation"),
    *(_F(f"eval_{f.name}", f.dims, f.width, f.unit, f"{f.name} of the last evaluation") for f in CONTROLS),
)

MEMORY: dict[str, tuple[Field, ...]] = {
    "STATE": STATE,
    "INPUTS": INPUTS,
    "FORCES": FORCES,
    "KEPT": (*EVALUATION, *REMAINDERS, *BEGIN, *BROAD_PHASE, *NARROW_PHASE),
    "KEPT_FORCES": EVALUATED_FORCES,
}
"""The groups of an environment's memory, which are the first rows of the scratch as well. Another, PARAMETERS, has the
numbers of the model that it has of its own; it lies apart, as few environments have any."""

NOT_INTEGRATED = 1e30
"""Entry of eval_qacc after an evaluation that no step followed."""
