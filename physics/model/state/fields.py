"""The declaration of every quantity that a step computes, with MuJoCo's names where it has them.

Quantities are lane numbers in the scratch of a worker, which processes one tile of environments after the other, so
that the working set stays in the cache however large the batch is. Integers (`INDICES`) are shared by all lanes.

Sizes are the model's (`model.fields`), the parts' (`physics/model/parts`), and:

- ncon: contact slots. A slot belongs to one pair of geoms in all lanes; a lane without that contact has zero stiffness
  in it. nblock: constraint blocks; ntwosided: rows of equalities and friction losses; nblockdof and njac: dofs and
  numbers in the Jacobians of all blocks; nconeblock: nblock with elliptic cones, else 0.
- nM and nH: entries of the mass matrix and of the Hessian.
- nsolve: ntree; 1 with conjugate gradients. Only with these, else 0: ncgdof: nv; ncgbody: nbody; nown and nowncone:
  contacts of a lane; nside: contacts of the bodies of a lane, two for each contact.
- nfurther: ncon if two geoms may have several contacts at one place; npull: ncon if a mechanism pulls contacts.
- nqrest: nq with mixed precision (`Features.mixed_precision`), else 0.
- nimplicitM, nimplicitbody and nimplicitdof: nM, nbody and nv with the integrator implicit, else 0.
- nstart: 1 if the model has sensors and the integrator is Runge-Kutta's, else 0.
- nacting: nu if a mechanism changes the controls, else 0.
- nsensed: readings of sensors that read contacts; nlimitsense: nlimit if sensors read limits, else 0.
- nsweep and nsweeprow: geoms that a sweep covers; nlisted: pairs that it finds near.
- ngridcon: ncon with a grid of static geoms, else 0; ngridone: 1 with a grid, else 0; ngridgeom: moving geoms that meet
  static ones of the grid; nstatichit: static geoms found near them, of all lanes; nstaticstart: lists of these, one for
  each moving geom and lane, and one; nstaticlane: lanes; nstaticnear: static geoms, and one; nclasspair: pairs of
  moving geoms and classes.
- with noslip, else 0: nslipcon: contact slots; nslipblock: blocks; nslipdof and nslipy: dofs and numbers in the rows of
  friction of all blocks; nslipv: nv; nsliptree: ntree; nslipaxis: the largest number of axes of friction of a contact;
  nslipentry: entries of a symmetric matrix of that size.

The sizes in `GROWING_SIZES` are current capacities and may grow (`capacity`).
"""

from dataclasses import replace

from ...base.fields import Field
from ..parts import PARTS
from .memory import MEMORY, START

_F = Field

KINEMATICS: tuple[Field, ...] = (
    _F("xpos", ("nbody",), 3, "m", "position of the body frame"),
    _F("xquat", ("nbody",), 4, "", "orientation of the body frame"),
    _F("xmat", ("nbody",), 9, "", "axes of the body frame: a rotation matrix by rows"),
    _F("site_xpos", ("nsite",), 3, "m", "position of the site"),
    _F("site_xmat", ("nsite",), 9, "", "axes of the site: a rotation matrix by rows"),
    _F("xipos", ("nbody",), 3, "m", "centre of mass of the body"),
    _F("root_offset", ("nbody",), 3, "m", "position of the body frame from the root of its tree"),
    _F("inertial_offset", ("nbody",), 3, "m", "centre of mass of the body from the root of its tree"),
    _F("com_offset", ("nbody",), 3, "m", "centre of mass of the body and all below it from the root of its tree"),
    _F("anchor_offset", ("njnt",), 3, "m", "joint anchor from the root of its tree"),
    _F("xaxis", ("njnt",), 3, "", "joint axis"),
    _F("geom_xpos", ("ngeom",), 3, "m", "position of a geom that can collide"),
    _F("geom_offset", ("ngeom",), 3, "m", "position of that geom from the root of its tree"),
    _F("geom_axis", ("ngeom",), 3, "", "z axis of a geom that can collide"),
    _F("subtree_com", ("nbody",), 3, "m", "centre of mass of the body and all below it"),
    _F("own_inertia", ("nbody",), 6, "kg m^2", "inertia about the body's centre of mass, world's axes"),
    _F("cinert", ("nbody",), 10, "kg m^2, kg m, kg", "inertia about the tree's centre of mass"),
    _F("cdof", ("nv",), 6, "rad, m", "motion subspace of the dof about the tree's centre of mass"),
)

WRAPPING: tuple[Field, ...] = (
    _F("wrap_from", ("one",), 3, "m", "start of the current link of a tendon, in the frame of its geom"),
    _F("wrap_to", ("one",), 3, "m", "end of that link, in the same frame"),
    _F("wrap_beside", ("one",), 3, "m", "side site of the link, in the same frame"),
    _F("wrap_on", ("two",), 3, "m", "points where the path meets the geom and leaves it"),
    _F("wrap_arc", ("one",), 1, "m", "length of the path on the geom; -1: the path is straight"),
)
"""Arguments and results of the search for a tendon's path around a geom (`kinematics.wrapping`)."""

DYNAMICS: tuple[Field, ...] = (
    _F("subtree_inertia", ("nbody",), 6, "kg m^2", "inertia of the body and all below it about their centre of mass"),
    _F("L", ("nM",), 1, "", "unit triangular factor of M, or of its implicit variant, as L^T D L"),
    _F("U", ("nimplicitM",), 1, "kg or kg m^2", "upper half of M - dt D of the integrator implicit, and of its factor"),
    _F("M", ("nM",), 1, "kg or kg m^2", "mass matrix: every dof's row, from its diagonal to the root"),
    _F("D_inv", ("nv",), 1, "", "inverse of D in M = L^T D L"),
    _F("cvel", ("nbody",), 6, "rad/s, m/s", "spatial velocity about the tree's centre of mass"),
    _F("body_acc", ("nbody",), 6, "rad/s^2, m/s^2", "acceleration of the body's centre of mass"),
    _F("cfrc", ("nbody",), 6, "N m, N", "force that the accelerations of the body and all below it need"),
    _F("subtree_momentum", ("nimplicitbody",), 3, "kg m/s", "linear momentum of the body and all below it"),
    _F("subtree_turning", ("nimplicitbody",), 9, "kg m^2/s", "tensor T of `dynamics.bias_slopes`, by columns"),
    _F("dof_bend", ("nimplicitdof",), 6, "rad/s^2, m/s^2", "rate of the dof's axis (`dynamics.bias_slopes`)"),
    _F("qfrc_inverse", ("nv",), 1, "N or N m", "inverse dynamics: joint forces for the current acceleration"),
    _F("qfrc_unbalanced", ("nv",), 1, "N or N m", "qfrc_passive + qfrc_actuator - qfrc_inverse"),
    _F("qfrc_bias", ("nv",), 1, "N or N m", "Coriolis, centrifugal and gravitational force"),
    _F("qfrc_passive", ("nv",), 1, "N or N m", "passive forces: springs, dampers, and mechanisms"),
    _F("acting_ctrl", ("nacting",), 1, "", "controls after the mechanisms that change them"),
    _F("actuator_length", ("nout",), 1, "m or rad", "length of the actuator, times its gear"),
    _F("actuator_velocity", ("nout",), 1, "m/s or rad/s", "rate of that length; 0 without actuation"),
    _F("actuator_force", ("nout",), 1, "N or N m", "scalar force of the actuator"),
    _F("actuator_slope", ("nout",), 1, "N s/m", "derivative of that force by the actuator's velocity"),
    _F("moment", ("nout", "six"), 1, "", "derivative of length by the dofs of a ball or free joint"),
    _F("qfrc_actuator", ("nv",), 1, "N or N m", "forces of actuators and of controls on the dofs"),
    _F("dof_slope", ("nv",), 1, "N s/m or N m s/rad", "derivative of a control's force by the dof's velocity"),
    _F("qfrc_external", ("nv",), 1, "N or N m", "qfrc_applied, and xfrc_applied mapped to the dofs"),
    _F("qfrc_smooth", ("nv",), 1, "N or N m", "sum of all forces but constraint forces"),
    _F("qacc_smooth", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration without constraints"),
    _F("cacc", ("nbody",), 6, "rad/s^2, m/s^2", "acceleration about the tree's centre of mass, less gravity"),
    _F("cfrc_int", ("nbody",), 6, "N m, N", "force of the parent on the body, about the tree's centre of mass"),
    _F("subtree_linvel", ("nbody",), 3, "m/s", "velocity of the centre of mass of the body and all below it"),
    _F("subtree_angmom", ("nbody",), 3, "kg m^2/s", "angular momentum of the subtree about its centre of mass"),
)

CONTACTS: tuple[Field, ...] = (
    _F("con_dist", ("ncon",), 1, "m", "distance, negative when penetrating"),
    _F("con_pos", ("ncon",), 3, "m", "midpoint between the surfaces"),
    _F("con_frame", ("ncon",), 9, "", "rows: normal from geom 1 to geom 2, two tangents"),
    _F("con_present", ("ncon",), 1, "", "mask: detected in this lane"),
    _F("con_pull", ("npull",), 1, "N", "force with which mechanisms pull the contact"),
    _F(
        "con_own1",
        ("ngridcon",),
        1,
        "",
        "first geom of the contact in the lane, if a slot has a class of static ones",
    ),
    _F("con_own2", ("ngridcon",), 1, "", "second geom of the contact in the lane"),
    _F("con_count", ("one",), 1, "", "number of contacts of the lane in the list"),
    _F("con_needed", ("one",), 1, "", "number of contacts detected in the lane"),
)

POINTS: tuple[Field, ...] = (
    _F("point_present", ("npoint",), 1, "", "mask: the lane has this point"),
    _F("point_dist", ("npoint",), 1, "m", "as con_dist"),
    _F("point_pos", ("npoint",), 3, "m", "as con_pos"),
    _F("point_normal", ("npoint",), 3, "", "from geom 1 to geom 2"),
    _F("point_tangent", ("npoint",), 3, "", "hint for the first tangent of the frame; 0: none"),
)
"""Contacts of the current pair of hulls, in their order, before they are appended to the contact slots."""

HULLS: tuple[Field, ...] = (
    _F("wanted", ("one",), 1, "", "mask of the lanes for which a routine runs one by one"),
    _F("near", ("nhullpair",), 1, "", "mask of an entry of the work list: its pair is near in this lane"),
    _F("box_code", ("one",), 1, "", "code of the axis of least overlap of two boxes (`collision.box_axes`)"),
    _F("polygon", ("npolygon",), 3, "m", "corners of a face clipped by another face, in coordinates of the latter"),
    _F("mesh_up", ("one",), 3, "", "normal of the plane in the frame of the mesh"),
    _F("mesh_lowest", ("one",), 1, "", "vertex nearest to the plane, counted from the mesh's first"),
    _F("mesh_corner", ("npoint",), 3, "m", "that vertex, then others of one of its faces, in the frame of the mesh"),
    _F("mesh_corners", ("one",), 1, "", "number of entries of mesh_corner"),
    _F("box_center", ("nground",), 3, "m", "centre of the box around a geom, in the frame of a height field"),
    _F("box_half", ("nground",), 3, "m", "half sides of that box"),
)
"""Intermediate values of the collision routines of hulls."""

CONVEX: tuple[Field, ...] = (
    _F("ccd_frame", ("nccdframe",), 3, "m", "centre, from geom 1's, and three axes of geom 1, then of geom 2"),
    _F("ccd_point", ("nccdpoint",), 3, "m", "corner of the simplex or polytope: point of geom 1 minus point of geom 2"),
    _F("ccd_on1", ("nccdpoint",), 3, "m", "point of geom 1 of that corner"),
    _F("ccd_normal", ("nccdface",), 3, "", "outward normal of a face of the polytope"),
    _F("ccd_height", ("nccdface",), 1, "m", "distance of the origin below the plane of that face"),
    _F("ccd_flat", ("nccdlist",), 3, "", "outward normals of flat faces that may touch: geom 1's, then geom 2's"),
    _F("ccd_polygon", ("nccdpolygon",), 3, "m", "corners of the flat sides that touch (`collision.manifold`)"),
)
"""Variables of GJK and EPA (`collision.convex`) for the lane that is being processed. They are always in double
precision, since a contact's normal is computed from small differences."""
PIECES: tuple[Field, ...] = (
    _F("piece_corner", ("npiece",), 3, "m", "corner of a piece of a height field, from the piece's centre"),
    _F("hit_dist", ("nhit",), 1, "m", "distance of a candidate for a contact (`collision.candidates`)"),
    _F("hit_pos", ("nhit",), 3, "m", "its position"),
    _F("hit_normal", ("nhit",), 3, "", "its normal"),
    _F("hit_apart", ("nhit",), 1, "m^2", "square of its distance from the nearest candidate that is chosen"),
)
"""Variables of pairs whose contacts are chosen among candidates, as the variables in `CONVEX`."""

SWEEP: tuple[Field, ...] = (
    _F("sweep_radius", ("nsweep",), 1, "m", "radius of a sphere that holds all contacts of a geom"),
    _F("sweep_spread", ("nsweepone",), 3, "m^2", "variance of the geoms' positions along each axis"),
    _F("sweep_low", ("nsweeprow",), 1, "m", "lower ends of geoms along the axis, ascending"),
    _F("sweep_x", ("nsweeprow",), 1, "m", "x of their centres, in that order"),
    _F("sweep_y", ("nsweeprow",), 1, "m", "y of their centres, in that order"),
    _F("sweep_z", ("nsweeprow",), 1, "m", "z of their centres, in that order"),
    _F("sweep_reach", ("nsweeprow",), 1, "m", "their radii, in that order"),
)
"""Intermediate values of a sweep (`collision.sweep`)."""

BLOCKS: tuple[Field, ...] = (
    _F("block_D", ("nblock",), 1, "kg or kg m^2", "stiffness of all rows of the block; 0: not active"),
    _F("block_friction", ("nblock",), 5, "", "friction coefficients: two sliding, one spinning, two rolling"),
    _F("block_aref", ("nblock",), 6, "m/s^2 or rad/s^2", "reference acceleration"),
    _F("block_jar", ("nblock",), 6, "m/s^2 or rad/s^2", "J qacc - aref"),
    _F("block_Jv", ("nblock",), 6, "m/s^2 or rad/s^2", "J times the search direction"),
    _F("block_weight", ("nblock",), 11, "kg", "second derivative of the cost: normal, cross and friction entries"),
    _F("cone_mu", ("nconeblock",), 1, "", "friction coefficient of the round cone to which an elliptic one is scaled"),
    _F("cone_zone", ("nconeblock",), 1, "", "zone of the cone for block_weight: 0 free, 1 sticks, 2 slides"),
    _F("cone_weight", ("nconeblock",), 10, "kg", "entries of block_weight between two different axes of friction"),
    _F("block_force", ("nblock",), 6, "N, N m", "force in contact space: normal, two sliding, spinning, two rolling"),
    _F("block_J", ("njac",), 1, "", "Jacobians of the blocks in sequence: for each dof of a block one number per axis"),
    _F("block_reach", ("ntwosided",), 1, "m/s^2 or rad/s^2", "largest |block_jar| in the quadratic range of a loss"),
)
"""Constraint blocks: equalities, friction losses and limits, one axis each, then contacts. Block `tile_conadr + k` is
contact k, with as many axes as its condim. Quantities of a contact are along its axes; the rows of a pyramid
are axis 0 +- friction times another axis."""

SENSED: tuple[Field, ...] = (
    _F("sensed", ("nsensed",), 1, "", "readings of touch and contact sensors, in sequence"),
    _F("limit_pos", ("nlimitsense",), 1, "m or rad", "distance from the limit minus its margin; 0: not active"),
    _F("limit_vel", ("nlimitsense",), 1, "m/s or rad/s", "velocity of that distance"),
    _F("limit_force", ("nlimitsense",), 1, "N or N m", "force of the limit"),
)
"""Quantities of contacts and limits that only sensors read; a step does not compute them."""

INTEGRATION: tuple[Field, ...] = (
    _F("drive_qvel", ("nv",), 1, "m/s or rad/s", "velocities by which positions are integrated"),
    _F("drive_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration by which velocities are integrated"),
    _F("mean_qvel", ("nv",), 1, "m/s or rad/s", "Runge-Kutta's weighted velocity"),
    _F("mean_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "Runge-Kutta's weighted acceleration"),
    _F("fault", ("one",), 1, "", "mask: the environment is stopped because its state was not finite"),
    _F(
        "contacts_full",
        ("one",),
        1,
        "",
        "most contacts detected in a step since the last reset, if above max_contacts",
    ),
    _F("block", ("six", "six"), 1, "", "unsymmetric 6x6 system of a free body"),
)

PRECISE = (
    *("xpos", "xquat", "root_offset", "geom_xpos", "geom_offset", "geom_axis", "static_pos", "static_quat"),
    *("cvel", "body_acc", "cfrc", "qfrc_inverse"),
)
"""Quantities between the coordinates and the distances of geoms, and quantities of inverse dynamics. Kernels with
`Features.mixed_precision` compute and store them in double precision, and round them when they return them."""
SMOOTH = frozenset(("qfrc_bias", "qfrc_smooth", "qacc_smooth"))
"""Quantities that are computed only on request (`smooth.smooth_acceleration`)."""
PARAMETERS: tuple[Field, ...] = (
    _F("parameters", ("nparameter",), 1, "", "values of the model's fields that environments may override"),
)
"""With `Features.parameters` each lane has a copy of the first of the model's flat real numbers."""

OF_PARTS: tuple[Field, ...] = tuple(field for part in PARTS for field in part.scratch)
"""Quantities of mechanisms (`physics/model/parts`)."""
_OF_OWN_NUMBERS = frozenset(field.name for part in PARTS if part.wanted_with for field in part.scratch)


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


TREES: tuple[Field, ...] = (
    _F("tree_island", ("nsolve",), 1, "", "least tree of the tree's island in the lane"),
    _F("tree_part", ("nsolve",), 4, "", "terms of the tree in sums over its island"),
    _F("tree_scale", ("nsolve",), 1, "1/kg", "scale of gradients and improvements"),
    _F("tree_gradient", ("nsolve",), 1, "", "scaled length of the gradient"),
    _F("tree_improvement", ("nsolve",), 1, "J/s^2", "decrease of the cost in the last step"),
    _F("tree_niter", ("nsolve",), 1, "", "number of iterations"),
    _F("tree_done", ("nsolve",), 1, "", "mask: converged"),
    _F("tree_full_step", ("nsolve",), 1, "", "mask: take a step of length 1, without a line search"),
    _F("tree_polish", ("nsolve",), 1, "", "mask: converged after one more step along the current direction"),
    _F("tree_step", ("nsolve",), 1, "", "step length along the current direction"),
    _F("tree_change", ("nsolve",), 1, "J/s^2", "change of the cost in that step"),
    _F("tree_linear", ("nsolve",), 1, "J/s^2", "derivative at step 0 of the cost without constraints"),
    _F("tree_quadratic", ("nsolve",), 1, "J/s^2", "second derivative of that cost"),
    _F("tree_enough", ("nsolve",), 1, "J/s^2", "largest derivative of the cost that counts as zero"),
    _F("tree_low", ("nsolve",), 1, "", "lower end of the bracket: the cost still falls there"),
    _F("tree_high", ("nsolve",), 1, "", "upper end of the bracket: the cost rises there"),
    _F("tree_move", ("nsolve",), 1, "", "change of the step from the previous trial to this one, with elliptic cones"),
    _F(
        "tree_curve",
        ("nsolve",),
        1,
        "J/s^2",
        "second derivative of the blocks' cost, plus tree_part column 3, at the previous trial; -1e30: none",
    ),
    _F("tree_settled", ("nsolve",), 1, "", "mask: the step length is final"),
)
"""Variables of a solver for each tree; trees of one island have equal values in all but `tree_part`. Conjugate
gradients solve all trees as one."""

SOLVER: tuple[Field, ...] = (
    _F("dqacc", ("nv",), 1, "m/s^2 or rad/s^2", "qacc minus its value at the solver's start"),
    _F("M_dqacc", ("nv",), 1, "N or N m", "M dqacc"),
    _F("gradient", ("nv",), 1, "N or N m", "gradient of the cost"),
    _F("search", ("nv",), 1, "m/s^2 or rad/s^2", "Newton direction"),
    _F("M_search", ("nv",), 1, "N or N m", "M search"),
    _F("H_L", ("nH",), 1, "", "unit triangular factor of the Hessian"),
    _F("H", ("nH",), 1, "kg or kg m^2", "Hessian M + J^T D J, stored by rows as M, in the pattern of H_colind"),
    _F("H_inv", ("nv",), 1, "", "inverse of D in H = L^T D L"),
    _F("weight_change", ("cone",), 1, "kg", "change of the current block_weight"),
    _F("cone_row", ("six",), 1, "", "change of a block's weight times a column of its Jacobian, axis by axis"),
    _F("cross_change", ("cone",), 1, "kg", "change of the current cone_weight"),
    _F("own_behind", ("one",), 2, "", "end of the lane's contacts of two moving bodies, and of all its contacts"),
    _F("own_slot", ("nown",), 1, "", "contact slot of the lane's own k-th contact"),
    _F("own_body", ("nown",), 2, "", "both bodies; 0: the body does not move"),
    _F("own_arm", ("nown",), 6, "m", "contact position from the centre of mass of either body's tree"),
    _F("own_frame", ("nown",), 9, "", "as con_frame"),
    _F("own_D", ("nown",), 5, "kg", "stiffness of the rows of each axis after the first"),
    _F("own_friction", ("nown",), 5, "", "as block_friction"),
    _F("own_mu", ("nowncone",), 1, "", "as cone_mu"),
    _F("own_jar", ("nown",), 6, "m/s^2 or rad/s^2", "as block_jar"),
    _F("own_Jv", ("nown",), 6, "m/s^2 or rad/s^2", "as block_Jv"),
    _F("own_force", ("nown",), 6, "N, N m", "as block_force"),
    _F("own_push", ("nown",), 6, "N m, N", "torque and force on geom 2 in the world's axes"),
    _F("side_contact", ("nside",), 1, "", "own contact of the lane that acts on the body of the list"),
    _F("side_arm", ("nside",), 3, "m", "contact position from the centre of mass of the body's tree"),
    _F("side_sign", ("nside",), 1, "", "+1: the body carries geom 2, -1: it carries geom 1"),
    _F("body_sides", ("ncgbody",), 1, "", "number of contacts of the lane that act on the body"),
    _F("cg_change", ("ncgdof",), 1, "N or N m", "change of the gradient in the last step"),
    _F("cg_scaled", ("ncgdof",), 1, "m/s^2 or rad/s^2", "gradient divided by the preconditioner"),
    _F(
        "cg_motion",
        ("ncgbody",),
        6,
        "rad/s^2, m/s^2",
        "body motion along the search direction, about its tree's centre of mass",
    ),
    _F("cg_wrench", ("ncgbody",), 6, "N m, N", "wrench of all contacts on the body, about its tree's centre of mass"),
    _F("cg_stiffness", ("ncgbody",), 21, "kg m^2, kg m, kg", "6x6 stiffness of all contacts of the body"),
    _F("qacc", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration"),
    _F("qfrc_constraint", ("nv",), 1, "N or N m", "constraint forces on the dofs"),
    _F("cfrc_ext", ("nbody",), 6, "N m, N", "contact force on the body about the tree's centre of mass"),
    _F("solver_niter", ("one",), 1, "", "iterations of the constraint solver"),
)


QUANTITIES: tuple[Field, ...] = (
    *(field for group in MEMORY.values() for field in group),
    *START,
    *KINEMATICS,
    *DYNAMICS,
    *CONTACTS,
    *BLOCKS,
    *TREES,
    *SOLVER,
    *NOSLIP,
    *SENSED,
    *INTEGRATION,
    *OF_PARTS,
)
GROWING_SIZES = NOSLIP_GROWING_SIZES | frozenset(
    (
        *("ncon", "nblock", "nblockdof", "njac", "nown", "nside", "nconeblock", "nowncone", "nH", "nlisted"),
        *("nhullpair", "npull", "nfurther", "ngridcon", "nstatichit"),
    )
)
"""Sizes that grow on demand (`capacity`)."""
GROWING_FIELDS = frozenset(f.name for f in QUANTITIES if not GROWING_SIZES.isdisjoint(f.dims))
"""Quantities with a size in `GROWING_SIZES`."""


GRID: tuple[Field, ...] = (
    _F("grid_low", ("ngridgeom",), 3, "m", "lower corner of a box around a moving geom and its margin"),
    _F("grid_high", ("ngridgeom",), 3, "m", "upper corner of that box"),
    _F("grid_center", ("ngridgeom",), 3, "m", "centre of the moving geom"),
    _F("grid_axes", ("ngridgeom",), 9, "", "axes of the moving geom"),
    _F("grid_half", ("ngridgeom",), 3, "m", "half sides of a box around its core"),
    _F("grid_reach", ("ngridgeom",), 1, "m", "its radius around the core, and its margin"),
    _F("grid_under", ("ngridone",), 6, "", "first and last block under a tree along x, and along y; range of z there"),
    _F("grid_range", ("ngridgeom",), 5, "", "first and last cell under the box along x, and along y; 1: there are any"),
    _F("static_pos", ("ngridone",), 3, "m", "geom_pos of the lane's static geom in the pair that is being processed"),
    _F("static_quat", ("ngridone",), 4, "", "geom_quat of it"),
    _F("static_size", ("ngridone",), 3, "m", "geom_size of it"),
    _F("static_half", ("ngridone",), 3, "m", "geom_half of it"),
    _F("static_rbound", ("ngridone",), 1, "m", "geom_rbound of it"),
    _F("static_detect", ("ngridone",), 1, "m", "geom_detect of it"),
    _F("static_found", ("ngridone",), 2, "", "the lane's geoms in contacts that are appended; -1: the slot's geoms"),
)
"""Intermediate values of the search in a grid of static geoms (`collision.static_grid`)."""

GRID_INDICES: tuple[Field, ...] = (
    _F(
        "static_hit",
        ("nstatichit",),
        1,
        "",
        "static geom near a moving one: its index in static_geom",
        small=True,
    ),
    _F("static_pair", ("nstatichit",), 1, "", "pair of the moving geom and the class of the static one"),
    _F(
        "static_start",
        ("nstaticstart",),
        1,
        "",
        "first of these entries for each moving geom and lane",
    ),
    _F("static_next", ("nstaticlane",), 1, "", "next entry of the lane for the current pair"),
    _F("static_near", ("nstaticnear",), 1, "", "static geoms whose boxes meet that of a moving geom, by index"),
    _F("class_hit", ("nclasspair",), 1, "", "1: a static geom of the class is near the moving geom in some lane"),
    _F("tile_nstatic", ("ngridone",), 1, "", "entries of static_hit in use"),
    _F("tile_more", ("ngridone",), 1, "", "1: some lane has more entries for the current pair"),
)
"""Static geoms that a grid finds near moving ones, for each lane separately."""


SCRATCH: tuple[Field, ...] = tuple(  # a stable sort: the memory's groups stay first
    sorted(
        (*QUANTITIES, *WRAPPING, *POINTS, *HULLS, *SWEEP, *GRID, *PARAMETERS),
        key=lambda f: (
            not GROWING_SIZES.isdisjoint(f.dims),
            f in PARAMETERS or f.name in _OF_OWN_NUMBERS,
            f.name in PRECISE,
        ),
    )
)
"""All lane numbers of a worker; users can read only `QUANTITIES`. Fields whose size may grow, or which only
environments with own numbers may need, are the last, so that the addresses of the others, which outputs keep, do not
change; the fields in `PRECISE` are before them, next to each other."""
SOLVING: tuple[Field, ...] = tuple(
    field
    for field in SCRATCH
    if field in TREES
    or field.name
    in (
        *("M", "qacc", "qfrc_unbalanced", "qfrc_constraint", "solver_niter"),
        *("dqacc", "M_dqacc", "gradient", "search", "M_search", "H", "H_L", "H_inv"),
        *("block_D", "block_friction", "block_aref", "block_jar", "block_Jv", "block_weight", "block_force"),
        *("block_J", "block_reach", "cone_mu", "cone_zone", "cone_weight", "weight_change", "cone_row", "cross_change"),
    )
)
"""The numbers of Newton's method, which kernels with `Features.double_solver` copy to `DOUBLED`."""
DOUBLED: tuple[Field, ...] = tuple(replace(field, name=f"double_{field.name}") for field in SOLVING)
"""The same in double precision (`Workspace.doubled`)."""
ROUNDED: tuple[Field, ...] = tuple(field for field in SCRATCH if field.name in PRECISE)
DOUBLES: tuple[Field, ...] = (
    _F("precise_parameters", ("nprecise",), 1, "", "the first of `parameters`, in double precision"),
    *ROUNDED,
    *DOUBLED,
)
"""Lane numbers in double precision: numbers of the model, of mixed precision, and of a solver in double
precision. A scratch has them only as far as its kernels need them."""

INDICES: tuple[Field, ...] = (
    _F("M_rownnz", ("nv",), 1, "", "number of entries of the row of M, diagonal included", small=True),
    _F("M_rowadr", ("nv",), 1, "", "first entry of the row"),
    _F("M_colind", ("nM",), 1, "", "columns of the entries, descending within a row", small=True),
    _F("M_order", ("nv",), 1, "", "dofs sorted by depth in the tree", small=True),
    _F("H_rownnz", ("nv",), 1, "", "number of entries of the row of the Hessian, diagonal included", small=True),
    _F("H_rowadr", ("nv",), 1, "", "first entry of the row"),
    _F("H_colind", ("nH",), 1, "", "columns of the entries, descending within a row", small=True),
    _F("H_order", ("nv",), 1, "", "dofs sorted by depth in the Hessian's tree", small=True),
    _F("H_parent", ("nv",), 1, "", "parent in the Hessian's tree, -1: none"),
    _F("depth_place", ("nv",), 1, "", "while a pattern is made: entry of the next row of a depth"),
    _F("H_ncouple", ("one",), 1, "", "number of couplings for which the Hessian's tree was made"),
    _F("H_couple", ("ncon",), 1, "", "last dof of either side of each coupling, packed"),
    _F("tile_ngroup", ("one",), 1, "", "number of groups: sets of trees that constraints couple in some lane"),
    _F("tree_group", ("ntree",), 1, "", "group of the tree", small=True),
    _F("group_treeadr", ("ntree",), 1, "", "first of the group's trees in group_tree"),
    _F("group_treenum", ("ntree",), 1, "", "number of trees in the group"),
    _F("group_tree", ("ntree",), 1, "", "trees sorted by group, ascending within a group", small=True),
    _F("group_dofadr", ("ntree",), 1, "", "first of the group's dofs in group_dof"),
    _F("group_dofnum", ("ntree",), 1, "", "number of dofs in the group"),
    _F("group_dof", ("nv",), 1, "", "dofs sorted by group, then by depth in the Hessian's tree", small=True),
    _F("block_tree", ("nblock",), 1, "", "tree that lists the block: the last one on which it acts", small=True),
    _F("tree_blockadr", ("nsolve",), 1, "", "first of the tree's blocks in tree_block"),
    _F("tree_blocknum", ("nsolve",), 1, "", "number of blocks of the tree"),
    _F("tree_block", ("nblock",), 1, "", "blocks sorted by tree, in the order of group_tree"),
    _F("con_geom1", ("ncon",), 1, "", "first geom of the contact slot", small=True),
    _F("con_geom2", ("ncon",), 1, "", "second geom of the contact slot", small=True),
    _F("con_pair", ("nfurther",), 1, "", "explicit pair of the contact; -1: none"),
    _F("con_tether", ("nfurther",), 1, "", "1: pulled by a mechanism, and beyond its margin: only a normal force"),
    _F("block_dim", ("nblock",), 1, "", "axes of the block", small=True),
    _F("block_dofnum", ("nblock",), 1, "", "number of dofs on which the block acts", small=True),
    _F("block_dofadr", ("nblock",), 1, "", "first of its dofs in block_dof"),
    _F("block_jacadr", ("nblock",), 1, "", "first number of the block's Jacobian in block_J"),
    _F("block_dof", ("nblockdof",), 1, "", "dofs of all blocks, descending within a block", small=True),
    _F("block_column", ("nv",), 1, "", "columns of the current block's dofs, from the end of a row of H", small=True),
    _F("limit_seen", ("nlimitsense",), 1, "", "block of a limit, from 1; 0: far in all lanes", small=True),
    _F("body_sideadr", ("ncgbody",), 1, "", "first entry of the body's list of contacts"),
    _F("body_sidenum", ("ncgbody",), 1, "", "length of that list: the largest number of contacts in any lane"),
    _F("handed_out", ("one",), 1, "", "1: the caller reads the last evaluation"),
    _F("rk_stage", ("one",), 1, "", "number of the evaluation within its step, from 0"),
    _F("rk_stages", ("one",), 1, "", "evaluations of a step: 4 of the integrator RK4, else 1"),
    _F("search_again", ("one",), 1, "", "1: a mechanism asks for collision detection to be repeated"),
    _F("applied", ("one",), 1, "", "1: some environment of the batch may have applied forces"),
    _F("controlled", ("one",), 1, "", "1: some environment of the batch may have controls of dofs"),
    _F("need_ncon", ("one",), 1, "", "contact slots that the tile needs; 0: as many as there are suffice"),
    _F("need_nH", ("one",), 1, "", "entries of the Hessian that the tile needs; 0: as many as there are suffice"),
    _F("need_nlisted", ("one",), 1, "", "entries of listed_geom1 or static_hit that it needs; 0: there are enough"),
    _F("tile_nboth", ("one",), 1, "", "end of the own contacts between two moving bodies: the largest of all lanes"),
    _F("tile_nown", ("one",), 1, "", "end of the own contacts: the largest of all lanes"),
    _F("tile_ncon", ("one",), 1, "", "contact slots in use in this tile"),
    _F("tile_conadr", ("one",), 1, "", "first contact block, after equalities, losses and limits", small=True),
    _F("tile_ndof", ("one",), 1, "", "entries of block_dof in use in this tile"),
    _F("tile_njac", ("one",), 1, "", "entries of block_J in use in this tile"),
)
WORK_LIST: tuple[Field, ...] = (
    _F("near_pair", ("nhullpair",), 1, "", "pair of hulls that the mid phase found near in some lane (the work list)"),
    _F("tile_nnear", ("one",), 1, "", "entries of the work list in use"),
    _F("tile_pair", ("one",), 1, "", "pair that is being processed, counted from the first of its group"),
)
"""The work list of hulls, with the mask `near` (`collision.work_list`)."""
CONVEX_INDICES: tuple[Field, ...] = (
    _F("ccd_mark1", ("nccdpoint",), 1, "", "number of the corner of geom 1 at which the point is, if it is at one"),
    _F("ccd_mark2", ("nccdpoint",), 1, "", "the same for geom 2"),
    _F("ccd_corners", ("nccdface",), 1, "", "three corners of a face of the polytope, ten bits each"),
    _F("ccd_flat_face", ("nccdlist",), 1, "", "number of the geom's face whose normal is in ccd_flat"),
    _F("ccd_seen", ("nccdface",), 1, "", "faces of the polytope that may be visible from a new corner"),
    _F("ccd_edge", ("nccdedge",), 1, "", "both corners of an edge of the horizon, the border of the visible faces"),
)
"""Integers of GJK and EPA, with `CONVEX`, of the lane that is being processed."""
PIECE_INDICES: tuple[Field, ...] = (
    _F("piece_size", ("one",), 1, "", "number of corners of the piece of a height field"),
    _F("hit_count", ("one",), 1, "", "number of candidates for contacts of the current pair"),
)
"""Integers with `PIECES`."""
SWEEP_INDICES: tuple[Field, ...] = (
    _F("sweep_place", ("nsweeprow",), 1, "", "places of the geoms (entries of sweep_geom) in the order of sweep_low"),
    _F("sweep_bits", ("nsweepword",), 1, "", "one bit for each pair of geoms: 1 if near in some lane"),
    _F("listed_start", ("npairtype1",), 1, "", "first near pair of every row of the dispatch table"),
    _F("listed_geom1", ("nlisted",), 1, "", "geom of the smaller type of a near pair", small=True),
    _F("listed_geom2", ("nlisted",), 1, "", "geom of the larger type of a near pair", small=True),
)
"""Pairs of geoms that a sweep finds near."""
PART_INDICES = tuple(field for part in PARTS for field in part.indices)
"""Integers of mechanisms (`physics/model/parts`)."""
INSPECTED: tuple[Field, ...] = (*INDICES, *PART_INDICES)
"""Integers that an evaluation returns, for `inspect` and for reading contacts."""
SCRATCH_INDICES: tuple[Field, ...] = (
    *INSPECTED,
    *WORK_LIST,
    *CONVEX_INDICES,
    *PIECE_INDICES,
    *SWEEP_INDICES,
    *GRID_INDICES,
    *NOSLIP_INDICES,
)
"""All integers of a worker. The work list and the polytope are not outputs of an evaluation."""
