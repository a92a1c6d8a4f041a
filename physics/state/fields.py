"""Every quantity that a step computes, declared once, with MuJoCo's names where it has them.

All of them are lane numbers in the scratch of a worker: one tile of environments at a time passes through it, so
the working set stays in the cache however large the batch is. `INDICES` are plain integers, one for all lanes.

Sizes: those of the model, and ncon: contact slots; nblock: constraint blocks; ntwosided: constraint rows
that hold both ways; nblockdof and njac: dofs and numbers in the Jacobians of all blocks; nM and nH: entries of the mass
matrix and of the Hessian; nqrest: nq where kernels have mixed precision (`Features.mixed_precision`), else 0; nsolve:
ntree, 1 where conjugate gradients solve; ncgdof, ncgbody, nown and nside: nv, nbody, contacts and twice as many where
conjugate gradients solve, else 0.
nfurther: contacts where two geoms may have several at one place, npull: where a mechanism pulls contacts, else 0;
nmocap: mocap bodies;
ngravcomp: nv where bodies have gravity compensation, else 0;
nimplicitM, nimplicitbody and nimplicitdof: nM, nbody and nv with the integrator implicit, else 0;
nsensed: readings of sensors that read contacts; nlimitsense: nlimit where sensors read limits, else 0;
nqbegin, nvbegin and nabegin: nq, nv and na where the model has sensors and the integrator is Runge-Kutta's, else 0;
nacting: nu where a mechanism changes the controls that act, else 0;
nplastictendon and nplasticdof: ntendon and ntendondof where springs yield and the integrator is Runge-Kutta's, else 0;
nsweep and nsweeprow: geoms that a sweep covers; nlisted: pairs it has found.
ncon, nH, nlisted and what is made of them say how much room there is at present (`room`).
A contact slot belongs to one pair of geoms in every lane; lanes without that contact have zero stiffness in it.
"""

from ..fields import Field
from ..parts import PARTS
from .memory import BEGIN, BROAD_PHASE, COORDINATES, EVALUATED_FORCES, EVALUATION, FORCES, NARROW_PHASE, REMAINDERS
from .noslip_fields import NOSLIP, NOSLIP_INDICES, NOSLIP_ROOM
from .solver_fields import SOLVER, TREES

_F = Field

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

WRAPPING: tuple[Field, ...] = (
    _F("wrap_from", ("one",), 3, "m", "start of the current link, in the frame of its geom"),
    _F("wrap_to", ("one",), 3, "m", "where it ends"),
    _F("wrap_beside", ("one",), 3, "m", "the site beside the geom"),
    _F("wrap_on", ("two",), 3, "m", "where it meets the geom, and where it leaves it"),
    _F("wrap_arc", ("one",), 1, "m", "its length between them; -1: it is straight"),
)
"""What the way around a geom is found with (`kinematics.wrapping`)."""

DYNAMICS: tuple[Field, ...] = (
    _F("subtree_inertia", ("nbody",), 6, "kg m^2", "of the body and all below it about their centre of mass"),
    _F("L", ("nM",), 1, "", "unit factor of M or of its implicit variant: L^T D L"),
    _F("U", ("nimplicitM",), 1, "kg or kg m^2", "upper half of M - dt D of the integrator implicit, and of its factor"),
    _F("M", ("nM",), 1, "kg or kg m^2", "mass matrix: every dof's row, from its diagonal to the root"),
    _F("D_inv", ("nv",), 1, "", "inverse of the diagonal of that factorisation"),
    _F("cvel", ("nbody",), 6, "rad/s, m/s", "spatial velocity about the tree's centre of mass"),
    _F("body_acc", ("nbody",), 6, "rad/s^2, m/s^2", "acceleration of the body's centre of mass"),
    _F("cfrc", ("nbody",), 6, "N m, N", "force that the body and all below it need for that"),
    _F("subtree_momentum", ("nimplicitbody",), 3, "kg m/s", "of the body and all below it"),
    _F("subtree_turning", ("nimplicitbody",), 9, "kg m^2/s", "by columns: torque for a turn (`bias_slopes`)"),
    _F("dof_bend", ("nimplicitdof",), 6, "rad/s^2, m/s^2", "turn of the dof's axis at unit speed (`bias_slopes`)"),
    _F("qfrc_inverse", ("nv",), 1, "N or N m", "inverse dynamics: joint forces for the current acceleration"),
    _F("qfrc_unbalanced", ("nv",), 1, "N or N m", "qfrc_passive + qfrc_actuator - qfrc_inverse"),
    _F("qfrc_bias", ("nv",), 1, "N or N m", "Coriolis, centrifugal and gravitational force"),
    _F("qfrc_passive", ("nv",), 1, "N or N m", "passive forces: springs, dampers, and those of mechanisms"),
    _F("acting_ctrl", ("nacting",), 1, "", "controls that act, where a mechanism changes them"),
    _F("actuator_length", ("nout",), 1, "m or rad", "length of the actuator, times its gear"),
    _F("actuator_velocity", ("nout",), 1, "m/s or rad/s", "rate of that length; 0 without actuation"),
    _F("actuator_force", ("nout",), 1, "N or N m", "scalar force of the actuator"),
    _F("actuator_slope", ("nout",), 1, "N s/m", "derivative of that force by the actuator's velocity"),
    _F("moment", ("nout", "six"), 1, "", "derivative of the length by the dofs of a ball or free joint"),
    _F("qfrc_actuator", ("nv",), 1, "N or N m", "forces of actuators and of controls on the dofs"),
    _F("dof_slope", ("nv",), 1, "N s/m or N m s/rad", "derivative of a control's force by the dof's velocity"),
    _F("qfrc_external", ("nv",), 1, "N or N m", "qfrc_applied, and what xfrc_applied does to the dofs"),
    _F("qfrc_smooth", ("nv",), 1, "N or N m", "all forces but the constraints'"),
    _F("qacc_smooth", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration without constraints"),
    _F("cacc", ("nbody",), 6, "rad/s^2, m/s^2", "acceleration about the tree's centre of mass, less gravity"),
    _F("cfrc_int", ("nbody",), 6, "N m, N", "force of the parent on the body, about that point"),
    _F("subtree_linvel", ("nbody",), 3, "m/s", "velocity of the centre of mass of the body and all below it"),
    _F("subtree_angmom", ("nbody",), 3, "kg m^2/s", "their angular momentum about that centre"),
)

CONTACTS: tuple[Field, ...] = (
    _F("con_dist", ("ncon",), 1, "m", "distance, negative when penetrating"),
    _F("con_pos", ("ncon",), 3, "m", "midpoint between the surfaces"),
    _F("con_frame", ("ncon",), 9, "", "rows: normal from geom 1 to geom 2, two tangents"),
    _F("con_present", ("ncon",), 1, "", "mask: detected in this lane"),
    _F("con_pull", ("npull",), 1, "N", "force of mechanisms that pulls the contact"),
    _F("con_count", ("one",), 1, "", "contacts of the lane that are in the list"),
    _F("con_needed", ("one",), 1, "", "contacts that were detected in the lane"),
)

POINTS: tuple[Field, ...] = (
    _F("point_present", ("npoint",), 1, "", "mask: the lane has this point"),
    _F("point_dist", ("npoint",), 1, "m", "as con_dist"),
    _F("point_pos", ("npoint",), 3, "m", "as con_pos"),
    _F("point_normal", ("npoint",), 3, "", "from geom 1 to geom 2"),
    _F("point_tangent", ("npoint",), 3, "", "direction that the first tangent follows, 0: any"),
)
"""Contacts of the pair of hulls in hand, in their order, on their way to the contact slots."""

HULLS: tuple[Field, ...] = (
    _F("wanted", ("one",), 1, "", "mask of the lanes that a routine looks at one by one"),
    _F("near", ("nhullpair",), 1, "", "mask of an entry of the work list: its pair is near in this lane"),
    _F("box_code", ("one",), 1, "", "axis along which two boxes are farthest apart (`collision.box_axes`)"),
    _F("polygon", ("npolygon",), 3, "m", "corners of a face that is cut by another's edges, along that face"),
    _F("mesh_up", ("one",), 3, "", "normal of the plane in the frame of the mesh"),
    _F("mesh_lowest", ("one",), 1, "", "lowest vertex, counted from the mesh's first"),
    _F("mesh_corner", ("npoint",), 3, "m", "the lowest vertex and its face's others in the frame of the mesh"),
    _F("mesh_corners", ("one",), 1, "", "how many of them there are"),
)
"""What routines of hulls work with."""

CONVEX: tuple[Field, ...] = (
    _F("ccd_frame", ("nccdframe",), 3, "m", "of both geoms the centre, seen from geom 1's, and the three axes"),
    _F("ccd_point", ("nccdpoint",), 3, "m", "corner of the simplex or polytope: a point of geom 1 less one of geom 2"),
    _F("ccd_on1", ("nccdpoint",), 3, "m", "the point of geom 1"),
    _F("ccd_normal", ("nccdface",), 3, "", "outward normal of a face of the polytope"),
    _F("ccd_height", ("nccdface",), 1, "m", "how far the origin is below it"),
    _F(
        "ccd_flat",
        ("nccdlist",),
        3,
        "",
        "outward normals of flat faces of geom 1 that may meet, and behind them of geom 2",
    ),
    _F("ccd_polygon", ("nccdpolygon",), 3, "m", "corners of flat sides that meet (`collision.manifold`)"),
)
"""What GJK and EPA work with (`collision.convex`), of the lane in hand: in double precision always, as a contact's
normal follows from small differences."""

SWEEP: tuple[Field, ...] = (
    _F(
        "sweep_radius",
        ("nsweep",),
        1,
        "m",
        "radius around a geom within which its contacts are, and what rounding needs",
    ),
    _F("sweep_spread", ("nsweepone",), 3, "m^2", "variance of the geoms' positions along each axis"),
    _F(
        "sweep_low",
        ("nsweeprow",),
        1,
        "m",
        "lower ends of geoms along the axis, in ascending order, of the current environment",
    ),
    _F("sweep_x", ("nsweeprow",), 1, "m", "x of their centres, in the same order"),
    _F("sweep_y", ("nsweeprow",), 1, "m", "y of their centres, in the same order"),
    _F("sweep_z", ("nsweeprow",), 1, "m", "z of their centres, in the same order"),
    _F("sweep_reach", ("nsweeprow",), 1, "m", "their radii, in the same order"),
)
"""What a sweep works with (`collision.sweep`)."""

BLOCKS: tuple[Field, ...] = (
    _F("block_D", ("nblock",), 1, "kg or kg m^2", "stiffness of all its rows, 0 where it is not active"),
    _F("block_friction", ("nblock",), 5, "", "coefficients: two sliding, one spinning, two rolling"),
    _F("block_aref", ("nblock",), 6, "m/s^2 or rad/s^2", "reference acceleration"),
    _F("block_jar", ("nblock",), 6, "m/s^2 or rad/s^2", "J qacc - aref"),
    _F("block_Jv", ("nblock",), 6, "m/s^2 or rad/s^2", "J times the search direction"),
    _F("block_weight", ("nblock",), 11, "kg", "second derivative of its cost: normal, cross and friction entries"),
    _F("cone_mu", ("nconeblock",), 1, "", "friction of the round cone that an elliptic one is scaled to"),
    _F("cone_zone", ("nconeblock",), 1, "", "zone that block_weight is for: 0 free, 1 holds, 2 slides"),
    _F("cone_weight", ("nconeblock",), 10, "kg", "entries of block_weight of two different axes of friction"),
    _F("block_force", ("nblock",), 6, "N, N m", "force in contact space: normal, two sliding, spinning, two rolling"),
    _F("block_J", ("njac",), 1, "", "Jacobians, one after the other: for each dof of a block a number for each axis"),
    _F("block_reach", ("ntwosided",), 1, "m/s^2 or rad/s^2", "size of block_jar at which a friction loss is spent"),
)
"""Constraints: equalities, friction losses and joint limits, one axis each, then contacts, block `tile_conadr + k`
being contact k with as many axes as its dimension says. A block is kept in its own space: its pyramid's rows are axis
0 +- friction times another axis."""

SENSED: tuple[Field, ...] = (
    _F("sensed", ("nsensed",), 1, "", "readings of touch and contact sensors, one after the other"),
    _F("limit_pos", ("nlimitsense",), 1, "m or rad", "distance from the limit less its margin; 0: not in force"),
    _F("limit_vel", ("nlimitsense",), 1, "m/s or rad/s", "velocity of that distance"),
    _F("limit_force", ("nlimitsense",), 1, "N or N m", "force of the limit"),
)
"""What sensors read of contacts and limits; nobody else asks for it, and a step does without."""

INTEGRATION: tuple[Field, ...] = (
    _F("start_qpos", ("nq",), 1, "m or rad", "coordinates at the start of the step"),
    _F("start_qvel", ("nv",), 1, "m/s or rad/s", "velocities at the start of the step"),
    _F("drive_qvel", ("nv",), 1, "m/s or rad/s", "velocities that positions advance with"),
    _F("drive_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "acceleration that velocities advance with"),
    _F("mean_qvel", ("nv",), 1, "m/s or rad/s", "Runge-Kutta's weighted velocity"),
    _F("mean_qacc", ("nv",), 1, "m/s^2 or rad/s^2", "Runge-Kutta's weighted acceleration"),
    _F("fault", ("one",), 1, "", "mask: stopped because its state was not finite"),
    _F("contacts_full", ("one",), 1, "", "most contacts that did not find room since the last reset; 0: all did"),
    _F("block", ("six", "six"), 1, "", "unsymmetric 6x6 system of a free body"),
)

PRECISE = (
    *("xpos", "xquat", "root_offset", "geom_xpos", "geom_offset", "geom_axis"),
    *("cvel", "body_acc", "cfrc", "qfrc_inverse"),
)
"""Quantities on the way from coordinates to distances, and to the forces that joints need:
`Features.mixed_precision` computes and keeps them in double precision, and rounds them to hand them out."""
SMOOTH = frozenset(("qfrc_bias", "qfrc_smooth", "qacc_smooth"))
"""Quantities that are computed only where they are asked for (`smooth.smooth_acceleration`)."""
PARAMETERS: tuple[Field, ...] = (
    _F("parameters", ("nparameter",), 1, "", "numbers of the model that environments may have of their own"),
)
"""In kernels of such environments (`Features.parameters`) the first of the model's flat real numbers, in every lane."""

OF_PARTS: tuple[Field, ...] = tuple(field for part in PARTS for field in part.scratch)
"""Quantities of mechanisms (`physics/parts`)."""

QUANTITIES: tuple[Field, ...] = (
    *COORDINATES,
    *FORCES,
    *EVALUATION,
    *REMAINDERS,
    *BEGIN,
    *BROAD_PHASE,
    *NARROW_PHASE,
    *EVALUATED_FORCES,
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
ROOM = NOSLIP_ROOM | frozenset(
    (
        *("ncon", "nblock", "nblockdof", "njac", "nown", "nside", "nconeblock", "nowncone", "nH", "nlisted"),
        *("nhullpair", "npull", "nfurther"),
    )
)
"""Sizes that grow on demand."""
ROOMY = frozenset(f.name for f in QUANTITIES if not ROOM.isdisjoint(f.dims))
"""Quantities of such a size."""
SCRATCH: tuple[Field, ...] = tuple(  # stable: the memory's groups stay first
    sorted(
        (*QUANTITIES, *WRAPPING, *POINTS, *HULLS, *SWEEP, *PARAMETERS),
        key=lambda f: (not ROOM.isdisjoint(f.dims), f in PARAMETERS, f.name in PRECISE),
    )
)
"""All lane numbers of a worker; nobody can ask for those that are no quantities. Those of a size that may change are
the last, so that the others stay where they are; before them are those in PRECISE, side by side."""
DOUBLES: tuple[Field, ...] = (
    _F("precise_parameters", ("nprecise",), 1, "", "the first of `parameters`"),
    *(field for field in SCRATCH if field.name in PRECISE),
)
"""Lane numbers in double precision; in kernels without mixed precision the first field alone."""

INDICES: tuple[Field, ...] = (
    _F("M_rownnz", ("nv",), 1, "", "entries of the row of M, its diagonal included", small=True),
    _F("M_rowadr", ("nv",), 1, "", "where the row starts"),
    _F("M_colind", ("nM",), 1, "", "columns of all entries, in descending order in a row", small=True),
    _F("M_order", ("nv",), 1, "", "dofs by their depth in the tree", small=True),
    _F("H_rownnz", ("nv",), 1, "", "entries of the row of the Hessian, its diagonal included", small=True),
    _F("H_rowadr", ("nv",), 1, "", "where the row starts"),
    _F("H_colind", ("nH",), 1, "", "columns of all entries, in descending order in a row", small=True),
    _F("H_order", ("nv",), 1, "", "dofs by their depth in the Hessian's tree", small=True),
    _F("H_parent", ("nv",), 1, "", "parent in the Hessian's tree, -1: none"),
    _F("depth_place", ("nv",), 1, "", "while a pattern is laid out: where the next row of a depth goes"),
    _F("H_ncouple", ("one",), 1, "", "couplings that the Hessian's tree was made for"),
    _F("H_couple", ("ncon",), 1, "", "the last dofs of both sides of each"),
    _F("tile_ngroup", ("one",), 1, "", "groups: trees that contacts couple in some lane"),
    _F("tree_group", ("ntree",), 1, "", "group of the tree", small=True),
    _F("group_treeadr", ("ntree",), 1, "", "first of the group's trees in group_tree"),
    _F("group_treenum", ("ntree",), 1, "", "how many they are"),
    _F("group_tree", ("ntree",), 1, "", "trees by their group, in ascending order in each", small=True),
    _F("group_dofadr", ("ntree",), 1, "", "first of the group's dofs in group_dof"),
    _F("group_dofnum", ("ntree",), 1, "", "how many they are"),
    _F("group_dof", ("nv",), 1, "", "dofs by their group, in each by their depth in the Hessian's tree", small=True),
    _F("block_tree", ("nblock",), 1, "", "tree that lists the block: the last of those it acts on", small=True),
    _F("tree_blockadr", ("nsolve",), 1, "", "first of the tree's blocks in tree_block"),
    _F("tree_blocknum", ("nsolve",), 1, "", "how many they are"),
    _F("tree_block", ("nblock",), 1, "", "blocks by their tree, in the order of group_tree"),
    _F("con_geom1", ("ncon",), 1, "", "first geom of the contact slot", small=True),
    _F("con_geom2", ("ncon",), 1, "", "its second geom", small=True),
    _F("con_pair", ("nfurther",), 1, "", "its pair by hand; -1: none"),
    _F("con_tether", ("nfurther",), 1, "", "1: it is pulled, and beyond its margin: it has a normal alone"),
    _F("block_dim", ("nblock",), 1, "", "axes of the block", small=True),
    _F("block_dofnum", ("nblock",), 1, "", "dofs that it acts on", small=True),
    _F("block_dofadr", ("nblock",), 1, "", "where they are listed"),
    _F("block_jacadr", ("nblock",), 1, "", "first number of its Jacobian"),
    _F("block_dof", ("nblockdof",), 1, "", "dofs of all blocks, in descending order in each", small=True),
    _F("block_column", ("nv",), 1, "", "entries of the Hessian's row of each dof, for the current block", small=True),
    _F(
        "limit_seen",
        ("nlimitsense",),
        1,
        "",
        "block of a limit, counted from 1; 0: it is far in all lanes",
        small=True,
    ),
    _F("body_sideadr", ("ncgbody",), 1, "", "first entry of the body's list of contacts"),
    _F("body_sidenum", ("ncgbody",), 1, "", "its entries, as many as the lane with the most needs"),
    _F("handed_out", ("one",), 1, "", "1 if the last evaluation is read"),
    _F("rk_stage", ("one",), 1, "", "number of the evaluation in its step, from 0"),
    _F("rk_stages", ("one",), 1, "", "evaluations of a step: 4 of the integrator RK4, else 1"),
    _F("search_again", ("one",), 1, "", "1: a mechanism asks for contacts to be found anew"),
    _F("applied", ("one",), 1, "", "1: some environment of the batch may have applied forces"),
    _F("controlled", ("one",), 1, "", "1: some environment of the batch may have controls of dofs"),
    _F("need_ncon", ("one",), 1, "", "contact slots that the tile needs, 0 where it found room"),
    _F("need_nH", ("one",), 1, "", "entries of the Hessian that the tile needs, 0 where it found room"),
    _F("need_nlisted", ("one",), 1, "", "pairs near each other that the tile needs room for, 0 where it found it"),
    _F("tile_nboth", ("one",), 1, "", "own contacts of two moving bodies, as many as the lane with most has"),
    _F("tile_nown", ("one",), 1, "", "entry behind the last own contact of any lane"),
    _F("tile_ncon", ("one",), 1, "", "contact slots in use in this tile"),
    _F("tile_conadr", ("one",), 1, "", "first block of the contacts: those before are of joints", small=True),
    _F("tile_ndof", ("one",), 1, "", "entries of block_dof in use in this tile"),
    _F("tile_njac", ("one",), 1, "", "entries of block_J in use in this tile"),
)
WORK_LIST: tuple[Field, ...] = (
    _F("near_pair", ("nhullpair",), 1, "", "pair of hulls that the mid phase found near in some lane"),
    _F("tile_nnear", ("one",), 1, "", "entries in use"),
    _F("tile_pair", ("one",), 1, "", "current pair, counted from the first of its group"),
)
"""With `near`, what routines of hulls have to look at."""
CONVEX_INDICES: tuple[Field, ...] = (
    _F("ccd_mark1", ("nccdpoint",), 1, "", "number of the corner of geom 1 that the point is, where it is one"),
    _F("ccd_mark2", ("nccdpoint",), 1, "", "the same of geom 2"),
    _F("ccd_corners", ("nccdface",), 1, "", "the three corners of a face, ten bits each"),
    _F("ccd_flat_face", ("nccdlist",), 1, "", "which face of the geom it is"),
    _F("ccd_seen", ("nccdface",), 1, "", "faces that a new corner may see"),
    _F("ccd_edge", ("nccdedge",), 1, "", "both corners of an edge of the faces that a new corner sees"),
)
"""Of the lane in hand, with `CONVEX`."""
SWEEP_INDICES: tuple[Field, ...] = (
    _F("sweep_place", ("nsweeprow",), 1, "", "places of the geoms in the order of sweep_low"),
    _F("sweep_bits", ("nsweepword",), 1, "", "a bit for each pair of geoms: near in some lane"),
    _F("listed_start", ("npairtype1",), 1, "", "first of the pairs found near for every row of the dispatch table"),
    _F("listed_geom1", ("nlisted",), 1, "", "as pair_geom1", small=True),
    _F("listed_geom2", ("nlisted",), 1, "", "as pair_geom2", small=True),
)
"""Pairs that a sweep finds."""
PART_INDICES = tuple(field for part in PARTS for field in part.indices)
INSPECTED: tuple[Field, ...] = (*INDICES, *PART_INDICES)
"""Integers that are handed out with an evaluation, for `inspect` and the readings of contacts."""
SCRATCH_INDICES: tuple[Field, ...] = (
    *INSPECTED,
    *WORK_LIST,
    *CONVEX_INDICES,
    *SWEEP_INDICES,
    *NOSLIP_INDICES,
)
"""All integers of a worker; nobody can ask for the work list and the polytope."""
