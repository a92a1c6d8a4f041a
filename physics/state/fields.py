"""Every quantity that a step computes, declared once, with MuJoCo's names where it has them.

All of them are lane numbers in the scratch of a worker: one tile of environments at a time passes through it, so
the working set stays in the cache however large the batch is. `INDICES` are plain integers, one for all lanes.

Sizes: those of the model, and ncon: contact slots; njac: numbers in all contact Jacobians; nM and
ntriangle: entries of the mass matrix, and of a triangle; nqfine: nq where positions
need double precision (`Features.fine`), else 0.
A contact slot belongs to one pair of geoms in every lane; lanes without that contact have zero stiffness in it.
"""

from ..fields import Field

_F = Field

COORDINATES: tuple[Field, ...] = (
    _F("qpos", ("nq",), 1, "m or rad", "generalised coordinates"),
    _F("qvel", ("nv",), 1, "m/s or rad/s", "generalised velocities"),
    _F("qacc_warmstart", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration at which the solver may start"),
    _F("ctrl", ("nu",), 1, "", "controls"),
)
"""What an environment is between steps: the first rows of the scratch and of the solver's memory."""

EVALUATION: tuple[Field, ...] = (
    _F("eval_qpos", ("nq",), 1, "m or rad", "coordinates of the last evaluation"),
    _F("eval_qvel", ("nv",), 1, "m/s or rad/s", "velocities of the last evaluation"),
    _F("eval_warm", ("nv",), 1, "m/s^2 or rad/s^2", "qacc_warmstart of the last evaluation"),
    _F("eval_ctrl", ("nu",), 1, "", "controls of the last evaluation"),
    _F("eval_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "Runge-Kutta's mean acceleration; NOT_INTEGRATED without a step"),
)
"""Where the derived quantities were last computed, in the order of COORDINATES, and what was integrated there."""

REMAINDERS: tuple[Field, ...] = (
    _F("qpos_rest", ("nq",), 1, "m or rad", "what rounding took off qpos; 0 in double precision"),
    _F("qvel_rest", ("nv",), 1, "m/s or rad/s", "what rounding took off qvel; 0 in double precision"),
    _F("eval_rest", ("nqfine",), 1, "m or rad", "what rounding took off the coordinates of a later Runge-Kutta stage"),
)
"""In single precision the state is the sum of two numbers: a step adds less than qpos can show (Kahan 1965), and what
it cannot show is kept here for the next one. Forces are evaluated at qpos and qvel alone, but in fine kernels
(`Features.fine`) the later stages of a Runge-Kutta step at qpos + eval_rest."""

NOT_INTEGRATED = 1e30
"""Entry of eval_qacc after an evaluation that no step followed."""

KINEMATICS: tuple[Field, ...] = (
    _F("xpos", ("nbody",), 3, "m", "position of the body frame"),
    _F("xquat", ("nbody",), 4, "", "orientation of the body frame"),
    _F("xipos", ("nbody",), 3, "m", "centre of mass of the body"),
    _F("root_offset", ("nbody",), 3, "m", "position of the body frame from the root of its tree"),
    _F("inertial_offset", ("nbody",), 3, "m", "centre of mass of the body from the root of its tree"),
    _F("com_offset", ("nbody",), 3, "m", "centre of mass of the body and all below it from the root of its tree"),
    _F("anchor_offset", ("njnt",), 3, "m", "joint anchor from the root of its tree"),
    _F("xaxis", ("njnt",), 3, "", "joint axis"),
    _F("geom_xpos", ("ngeom",), 3, "m", "position of a geom that can collide"),
    _F("geom_offset", ("ngeom",), 3, "m", "the same from the root of its tree"),
    _F("geom_axis", ("ngeom",), 3, "", "z axis of a geom that can collide"),
    _F("subtree_com", ("nbody",), 3, "m", "centre of mass of the body and all below it"),
    _F("own_inertia", ("nbody",), 6, "kg m^2", "inertia about the body's centre of mass, world's axes"),
    _F("cinert", ("nbody",), 10, "kg m^2, kg m, kg", "inertia about the tree's centre of mass"),
    _F("cdof", ("nv",), 6, "rad, m", "motion subspace of the dof about the tree's centre of mass"),
)

DYNAMICS: tuple[Field, ...] = (
    _F("subtree_inertia", ("nbody",), 6, "kg m^2", "of the body and all below it about their centre of mass"),
    # L before M: `tree_matrix.factor` takes what it factors from behind the factor
    _F("L", ("nM",), 1, "", "unit factor of M or of its implicit variant: L^T D L"),
    _F("M", ("nM",), 1, "kg or kg m^2", "mass matrix: every dof's row, from its diagonal to the root"),
    _F("D_inv", ("nv",), 1, "", "inverse of the diagonal of that factorisation"),
    _F("cvel", ("nbody",), 6, "rad/s, m/s", "spatial velocity about the tree's centre of mass"),
    _F("body_acc", ("nbody",), 6, "rad/s^2, m/s^2", "acceleration of the body's centre of mass"),
    _F("cfrc", ("nbody",), 6, "N m, N", "force that the body and all below it need for that"),
    _F("needed", ("nv",), 1, "N or N m", "joint force that the acceleration in hand needs (inverse dynamics)"),
    _F("residual", ("nv",), 1, "N or N m", "smooth force that the acceleration in hand does not explain"),
    _F("qfrc_bias", ("nv",), 1, "N or N m", "Coriolis, centrifugal and gravitational force"),
    _F("qfrc_passive", ("nv",), 1, "N or N m", "springs and dampers"),
    _F("actuator_force", ("nu",), 1, "N or N m", "scalar force of the actuator"),
    _F("actuator_slope", ("nu",), 1, "N s/m", "derivative of that force by the actuator's velocity"),
    _F("moment", ("nu", "six"), 1, "", "derivative of the length by the dofs of a ball or free joint"),
    _F("qfrc_actuator", ("nv",), 1, "N or N m", "actuator forces on the dofs"),
    _F("qfrc_smooth", ("nv",), 1, "N or N m", "all forces but the constraints'"),
    _F("qacc_smooth", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration without constraints"),
)

CONTACTS: tuple[Field, ...] = (
    _F("con_dist", ("ncon",), 1, "m", "distance, negative when penetrating"),
    _F("con_pos", ("ncon",), 3, "m", "midpoint between the surfaces"),
    _F("con_frame", ("ncon",), 9, "", "rows: normal from geom 1 to geom 2, two tangents"),
    _F("con_present", ("ncon",), 1, "", "mask: detected in this lane"),
    _F("con_D", ("ncon",), 1, "kg", "stiffness of all rows, 0 where the contact is not a constraint"),
    _F("con_ref", ("ncon",), 6, "m/s^2", "minus the reference acceleration along the axes of the contact space"),
    _F("con_x", ("ncon",), 6, "m/s^2", "relative acceleration minus the reference, in contact space"),
    _F("con_Jv", ("ncon",), 6, "m/s^2", "change of con_x along the search direction"),
    _F("con_weight", ("ncon",), 11, "kg", "second derivative of its cost: normal, cross and friction entries"),
    _F("con_force", ("ncon",), 6, "N, N m", "force in contact space: normal, two sliding, spinning, two rolling"),
    _F("con_J", ("njac",), 1, "", "Jacobians of the contact spaces, one after the other"),
)

LIMITS: tuple[Field, ...] = (
    _F("lim_dist", ("nlimit",), 1, "m or rad", "distance to the limit, negative beyond it"),
    _F("lim_D", ("nlimit",), 1, "kg or kg m^2", "stiffness, 0 where the limit is not active"),
    _F("lim_J", ("nlimit",), 3, "", "derivative of the distance by the joint's dofs"),
    _F("lim_ref", ("nlimit",), 1, "m/s^2 or rad/s^2", "minus the reference acceleration"),
    _F("lim_x", ("nlimit",), 1, "m/s^2 or rad/s^2", "J qacc minus the reference acceleration"),
    _F("lim_Jv", ("nlimit",), 1, "m/s^2 or rad/s^2", "change of lim_x along the search direction"),
    _F("lim_weight", ("nlimit",), 1, "kg or kg m^2", "second derivative of its cost"),
    _F("lim_force", ("nlimit",), 1, "N or N m", "force along lim_J"),
)

SOLVER: tuple[Field, ...] = (
    _F("shift", ("nv",), 1, "m/s^2 or rad/s^2", "qacc less where the solver started"),
    _F("M_shift", ("nv",), 1, "N or N m", "M shift"),
    _F("gradient", ("nv",), 1, "N or N m", "gradient of the cost"),
    _F("search", ("nv",), 1, "m/s^2 or rad/s^2", "Newton direction"),
    _F("M_search", ("nv",), 1, "N or N m", "M search"),
    # H_L before H: `tree_matrix.factor` takes what it factors from behind the factor
    _F("H_L", ("ntriangle",), 1, "", "unit factor of the Hessian"),
    _F("H", ("ntriangle",), 1, "kg or kg m^2", "Hessian M + J^T D J, by rows as M, those of its own tree"),
    _F("H_inv", ("nv",), 1, "", "inverse of the diagonal of that factorisation"),
    _F("weight_change", ("cone",), 1, "kg", "change of the con_weight in hand"),
    _F("whole", ("one",), 1, "", "mask: the first step is taken whole, without a line search"),
    _F("last_step", ("one",), 1, "", "mask: rests after one more step along the direction at hand"),
    _F("qacc", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration"),
    _F("qfrc_constraint", ("nv",), 1, "N or N m", "constraint forces on the dofs"),
    _F("cfrc_ext", ("nbody",), 6, "N m, N", "contact force on the body about the tree's centre of mass"),
    _F("solver_niter", ("one",), 1, "", "Newton iterations"),
)

INTEGRATION: tuple[Field, ...] = (
    _F("start_qpos", ("nq",), 1, "m or rad", "coordinates at the start of the step"),
    _F("start_qvel", ("nv",), 1, "m/s or rad/s", "velocities at the start of the step"),
    _F("drive_qvel", ("nv",), 1, "m/s or rad/s", "velocities that positions advance with"),
    _F("drive_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration that velocities advance with"),
    _F("mean_qvel", ("nv",), 1, "m/s or rad/s", "Runge-Kutta's weighted velocity"),
    _F("mean_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "Runge-Kutta's weighted acceleration"),
    _F("fault", ("one",), 1, "", "mask: stopped because its state was not finite"),
    _F("block", ("six", "six"), 1, "", "unsymmetric 6x6 system of a free body"),
)

FINE = (
    *("xpos", "xquat", "root_offset", "geom_xpos", "geom_offset", "geom_axis"),
    *("cvel", "body_acc", "cfrc", "needed"),
)
"""Quantities on the way from coordinates to distances, and to the forces that joints need; see `Features.fine`."""
SMOOTH = frozenset(("qfrc_bias", "qfrc_smooth", "qacc_smooth"))
"""Quantities that are computed only where they are asked for (`smooth.smooth_acceleration`)."""
RESTS: tuple[Field, ...] = tuple(
    _F(f"{f.name}_rest", f.dims, f.width, f.unit, f"what rounding took off {f.name}")
    for f in (*KINEMATICS, *DYNAMICS)
    if f.name in FINE
)

QUANTITIES: tuple[Field, ...] = (
    *COORDINATES,
    *EVALUATION,
    *REMAINDERS,
    *KINEMATICS,
    *DYNAMICS,
    *CONTACTS,
    *LIMITS,
    *SOLVER,
    *INTEGRATION,
)
SCRATCH: tuple[Field, ...] = (*QUANTITIES, *RESTS)
"""All lane numbers of a worker; the rests have values in fine kernels alone, and nobody can ask for them."""

INDICES: tuple[Field, ...] = (
    _F("tree_count", ("nv",), 1, "", "entries of the row of M, its diagonal included", small=True),
    _F("tree_index", ("nv", "nv"), 1, "", "their columns in descending order", small=True),
    _F("tree_start", ("nv",), 1, "", "where the row starts"),
    _F("tree_untouched", ("nv",), 1, "", "columns of the row, from its own upward, that no larger dof has", small=True),
    _F("tree_order", ("nv",), 1, "", "dofs by their depth in the tree", small=True),
    _F("fill_count", ("nv",), 1, "", "entries of the row of the Hessian, its diagonal included", small=True),
    _F("fill_index", ("nv", "nv"), 1, "", "their columns in descending order", small=True),
    _F("fill_start", ("nv",), 1, "", "where the row starts"),
    _F("fill_untouched", ("nv",), 1, "", "columns of the row, from its own upward, that no larger dof has", small=True),
    _F("fill_order", ("nv",), 1, "", "dofs by their depth in the Hessian's tree", small=True),
    _F("fill_parent", ("nv",), 1, "", "parent in the Hessian's tree, -1: none"),
    _F("fill_npair", ("one",), 1, "", "contact slots that the Hessian's tree was made for"),
    _F("fill_pair", ("ncon",), 1, "", "their pairs"),
    _F("con_pair", ("ncon",), 1, "", "pair of the contact slot"),
    _F("con_column", ("nv",), 1, "", "of the contact in hand: entries of the Hessian's row of each dof", small=True),
    _F("con_jadr", ("ncon",), 1, "", "first number of its Jacobian"),
    _F("lim_row", ("nlimit",), 1, "", "limit of the slot", small=True),
    _F("tile_ncon", ("one",), 1, "", "contact slots in use in this tile"),
    _F("tile_nlim", ("one",), 1, "", "limit slots in use in this tile", small=True),
)
