"""Every number of a model that the kernels read, declared once.

Sizes: nq, nv, nu, nbody, njnt, ngeom as in MuJoCo; npair: pairs of geoms that can touch; nhand: those that
the model gives by hand; nlimit: one-sided joint limits; nfriction: dofs with friction loss; neq: equalities; neqdof:
dofs of all of them; nvert: mesh vertices; ncorner: vertices of all their faces; ntree: kinematic trees that move.
"""

from ..fields import Field

_F = Field


def _id(name: str, dims: tuple[str, ...], doc: str) -> Field:
    """A field of ids or of small numbers of things."""
    return Field(name, dims, 1, "", doc, small=True)


INTEGERS: tuple[Field, ...] = (
    _id("body_parentid", ("nbody",), "parent body"),
    _id("body_rootid", ("nbody",), "root of the body's kinematic tree"),
    _id("body_jntadr", ("nbody",), "first joint"),
    _id("body_jntnum", ("nbody",), "number of joints"),
    _id("body_dofadr", ("nbody",), "first dof"),
    _id("body_dofnum", ("nbody",), "number of dofs"),
    _F("body_lastdof", ("nbody",), 1, "", "last dof that moves the body, its own or a parent's; -1: none"),
    _F("body_mocapid", ("nbody",), 1, "", "which mocap body it is; -1: none"),
    _id("body_is_free", ("nbody",), "1: its only joint is free"),
    _id(
        "body_is_single_free",
        ("nbody",),
        "1: a free body, welded children included, with no joint below it (midpoint rule)",
    ),
    _id("jnt_type", ("njnt",), "0 free, 1 ball, 2 slide, 3 hinge"),
    _id("jnt_at_origin", ("njnt",), "1: its anchor is the origin of its body"),
    _id(
        "jnt_actgravcomp",
        ("njnt",),
        "what gravity compensation counts as: 0 a passive force, 1 its actuators', 2 nothing",
    ),
    _id("jnt_qposadr", ("njnt",), "first coordinate"),
    _id("jnt_dofadr", ("njnt",), "first dof"),
    _id("dof_bodyid", ("nv",), "body that the dof moves"),
    _id("dof_jntid", ("nv",), "its joint"),
    _id("dof_is_rotation", ("nv",), "1: a rotation about the joint's anchor, 0: a translation"),
    _id("dof_depth", ("nv",), "entries of the dof's row of M: the dof, its parent, and so on to the root"),
    _F("dof_parentid", ("nv",), 1, "", "next dof towards the root, -1: none"),
    _id("dof_treeid", ("nv",), "kinematic tree that the dof belongs to"),
    _id("tree_dofadr", ("ntree",), "first dof of the tree, the root of all its others"),
    _id("tree_dofnum", ("ntree",), "number of dofs"),
    _id("tree_is_body", ("ntree",), "1: a free body, welded children included, with no joint below it"),
    _id("actuator_type", ("nu",), "type of the joint it drives, as jnt_type"),
    _id("actuator_inparent", ("nu",), "1: the gear's axis is given in the parent frame"),
    _id("actuator_qposadr", ("nu",), "first coordinate of its joint"),
    _id("actuator_dofadr", ("nu",), "first dof of its joint"),
    _id("geom_bodyid", ("ngeom",), "body that carries the geom"),
    _id("geom_rootid", ("ngeom",), "root of the kinematic tree that its body belongs to"),
    _id("geom_type", ("ngeom",), "MuJoCo's number of its type"),
    _id("geom_condim", ("ngeom",), "contact dimension: 1, 3, 4 or 6"),
    _F("geom_priority", ("ngeom",), 1, "", "who has the higher one gives a contact its parameters"),
    _id("geom_collides", ("ngeom",), "1: member of a pair that can touch"),
    _F("geom_vertadr", ("ngeom",), 1, "", "first vertex of its mesh"),
    _F("geom_vertnum", ("ngeom",), 1, "", "number of vertices of its mesh's hull"),
    _F("geom_gridadr", ("ngeom",), 1, "", "first of its mesh's directions in grid_vert; -1: its vertices are few"),
    _F("grid_vert", ("ngrid",), 1, "", "vertex that is farthest in a direction, counted from the mesh's first"),
    _F("pair_start", ("npairtype1",), 1, "", "first pair of every row of the dispatch table"),
    _id("pair_geom1", ("npair",), "geom of the smaller type"),
    _id("pair_geom2", ("npair",), "geom of the larger type"),
    _F("hand_start", ("ngeom",), 1, "", "first of the pairs by hand in which the geom is geom 1"),
    _id("hand_count", ("ngeom",), "how many there are"),
    _id("hand_geom2", ("nhand",), "geom 2 of a pair by hand"),
    _id("hand_pair", ("nhand",), "its number among the model's, where its parameters are"),
    _id("pair_dim", ("nhand",), "contact dimension of a pair by hand"),
    _id(
        "sweep_geom", ("nsweep",), "geoms that a sweep covers, in ascending order; others know them by their place here"
    ),
    _id("sweep_weldid", ("nsweep",), "body that the geom's is welded to, as body_weldid"),
    _F("sweep_contype", ("nsweep",), 1, "", "as geom_contype"),
    _F("sweep_conaffinity", ("nsweep",), 1, "", "as geom_conaffinity"),
    _F("sweep_skipadr", ("nsweep",), 1, "", "first of the geoms behind it that it cannot touch for another reason"),
    _F("sweep_skipnum", ("nsweep",), 1, "", "how many there are"),
    _id("skip_place", ("nskip",), "place of such a geom"),
    _id("hand_place", ("nhandplace",), "places of both geoms of each pair by hand"),
    _id("type_row", ("ntyperow",), "row of the dispatch table of two geom types, the smaller one first"),
    _id("limit_jnt", ("nlimit",), "joint"),
    _id("limit_qposadr", ("nlimit",), "first coordinate of the joint"),
    _id("limit_dofadr", ("nlimit",), "first dof of the joint"),
    _F("limit_side", ("nlimit",), 1, "", "-1 lower, 1 upper, 0 ball joint"),
    _id("friction_dofadr", ("nfriction",), "dof that has friction loss"),
    _id("eq_rows", ("neq",), "rows of an equality: 1 joints, 3 connect, 6 weld; 0: it couples nothing that moves"),
    _id("eq_body1", ("neq",), "first body of connect and weld"),
    _id("eq_body2", ("neq",), "second body"),
    _id("eq_qpos1", ("neq",), "coordinate of the first joint"),
    _F("eq_qpos2", ("neq",), 1, "", "coordinate of the second joint; -1: there is none"),
    _F("eq_dofadr", ("neq",), 1, "", "first of its dofs in eq_dof"),
    _id("eq_dofnum", ("neq",), "how many there are"),
    _id("eq_dof", ("neqdof",), "dofs that equalities act on, in descending order in each"),
    _id("eq_side", ("neqdof",), "bodies that the dof moves: 1 the first, 2 the second, 3 both"),
    _F("dof_coupledid", ("nv",), 1, "", "as dof_parentid, with the branches made one that equalities couple"),
    _F("vert_corneradr", ("nvert",), 1, "", "first of the faces around the vertex"),
    _F("vert_cornernum", ("nvert",), 1, "", "number of faces around the vertex"),
    _F("corner_poly", ("ncorner",), 1, "", "the face: its number among those of all meshes"),
    _F("corner_before", ("ncorner",), 1, "", "vertex of the face before this one, counted from the mesh's first"),
    _F("corner_next", ("ncorner",), 3, "", "vertices of the face that follow, counted from the mesh's first; -1: none"),
    _F("poly_vertadr", ("npoly",), 1, "", "first of the face's vertices in poly_vert"),
    _F("poly_vertnum", ("npoly",), 1, "", "how many it has"),
    _F("poly_vert", ("npolyvert",), 1, "", "vertices of all faces, counterclockwise, counted from the mesh's first"),
)

REALS: tuple[Field, ...] = (
    _F("gravity", ("one",), 3, "m/s^2", "gravitational acceleration, zero when disabled"),
    _F("qpos0", ("nq",), 1, "m or rad", "reference coordinates"),
    _F("qpos_spring", ("nq",), 1, "m or rad", "coordinates at which springs are at rest"),
    _F("body_pos", ("nbody",), 3, "m", "position in the parent frame"),
    _F("body_quat", ("nbody",), 4, "", "orientation in the parent frame"),
    _F("body_ipos", ("nbody",), 3, "m", "centre of mass in the body frame"),
    _F("body_iquat", ("nbody",), 4, "", "principal axes in the body frame"),
    _F("body_mass", ("nbody",), 1, "kg", "mass"),
    _F("body_inertia", ("nbody",), 3, "kg m^2", "principal moments"),
    _F("body_gravcomp", ("nbody",), 1, "", "share of its weight that a force takes off"),
    _F("body_invweight0", ("nbody",), 1, "1/kg", "mean inverse inertia of translations at qpos0"),
    _F("body_subtreemass", ("nbody",), 1, "kg", "mass of the body and all below it"),
    _F("jnt_pos", ("njnt",), 3, "m", "anchor in the body frame"),
    _F("jnt_axis", ("njnt",), 3, "", "axis in the body frame"),
    _F("jnt_stiffness", ("njnt",), 1, "N/m or N m/rad", "spring constant, zero when disabled"),
    _F("jnt_actfrcrange", ("njnt",), 2, "N or N m", "range of all actuators' force, +-1e30 where there is none"),
    _F("dof_armature", ("nv",), 1, "kg or kg m^2", "rotor inertia"),
    _F("dof_damping", ("nv",), 1, "N s/m or N m s/rad", "damping, zero when disabled"),
    _F("actuator_gear", ("nu",), 6, "", "force or torque on the joint's dofs for a unit force"),
    _F("actuator_gain", ("nu",), 3, "", "gain = c0 + c1 length + c2 velocity"),
    _F("actuator_bias", ("nu",), 3, "", "bias = c0 + c1 length + c2 velocity"),
    _F("actuator_ctrlrange", ("nu",), 2, "", "control range, +-1e30 where there is none"),
    _F("actuator_forcerange", ("nu",), 2, "N or N m", "force range, +-1e30 where there is none"),
    _F("actuator_period", ("nu",), 1, "rad", "period of a setpoint servo on a ball joint, else 0"),
    _F("geom_pos", ("ngeom",), 3, "m", "position in the body frame"),
    _F("geom_quat", ("ngeom",), 4, "", "orientation in the body frame"),
    _F("geom_size", ("ngeom",), 3, "m", "size, by type as in MuJoCo"),
    _F("geom_rbound", ("ngeom",), 1, "m", "radius of the bounding sphere; 0: a plane"),
    _F("geom_half", ("ngeom",), 3, "m", "half sides of a box around its origin, in the geom frame"),
    _F("geom_margin", ("ngeom",), 1, "m", "contacts closer than both geoms' margins are constraints"),
    _F("geom_detect", ("ngeom",), 1, "m", "contacts closer than both geoms' margins and gaps are detected"),
    _F("geom_friction", ("ngeom",), 3, "", "sliding, spinning and rolling coefficient"),
    _F("geom_solmix", ("ngeom",), 1, "", "weight of its solver parameters"),
    _F("geom_solref", ("ngeom",), 2, "", "time constant (s) and damping ratio, or -stiffness and -damping"),
    _F("geom_solimp", ("ngeom",), 5, "", "impedance: dmin, dmax, width (m), midpoint, power"),
    _F("pair_friction", ("nhand",), 5, "", "of a pair by hand: two sliding, one spinning, two rolling coefficients"),
    _F("pair_margin", ("nhand",), 1, "m", "of a pair by hand, as geom_margin of both geoms"),
    _F("pair_detect", ("nhand",), 1, "m", "of a pair by hand, as geom_detect of both geoms"),
    _F("pair_solref", ("nhand",), 2, "", "of a pair by hand, as geom_solref"),
    _F("pair_solimp", ("nhand",), 5, "", "of a pair by hand, as geom_solimp"),
    _F("limit_value", ("nlimit",), 1, "m or rad", "the limit"),
    _F("limit_margin", ("nlimit",), 1, "m or rad", "rows appear within this distance"),
    _F("limit_solimp", ("nlimit",), 5, "", "impedance, as geom_solimp"),
    _F("limit_stiffness", ("nlimit",), 1, "1/s^2", "K of the reference acceleration"),
    _F("limit_damping", ("nlimit",), 1, "1/s", "B of the reference acceleration"),
    _F("limit_diagonal", ("nlimit",), 1, "1/kg or 1/(kg m^2)", "approximate A: the dof's invweight0"),
    _F("friction_loss", ("nfriction",), 1, "N or N m", "largest force of the friction, dof_frictionloss"),
    _F("friction_D", ("nfriction",), 1, "kg or kg m^2", "stiffness of its row, as block_D"),
    _F("friction_damping", ("nfriction",), 1, "1/s", "B of its reference acceleration -B v"),
    _F("eq_polycoef", ("neq",), 5, "", "of joints: coefficients of the polynomial"),
    _F("eq_anchor", ("neq",), 6, "m", "points that are held together, in the frames of both bodies"),
    _F("eq_orientation", ("neq",), 8, "", "frames that a weld holds alike, in the frames of both bodies"),
    _F("eq_torquescale", ("neq",), 1, "m", "what a turn of a weld counts as"),
    _F("eq_diagonal", ("neq",), 2, "1/kg or 1/(kg m^2)", "approximate A of rows that slide, and of those that turn"),
    _F("eq_solimp", ("neq",), 5, "", "impedance, as geom_solimp"),
    _F("eq_stiffness", ("neq",), 1, "1/s^2", "K of the reference acceleration"),
    _F("eq_damping", ("neq",), 1, "1/s", "B of the reference acceleration"),
    _F("vert_pos", ("nvert",), 3, "m", "mesh vertex in the geom frame"),
    _F("corner_normal", ("ncorner",), 3, "", "outward normal of the face in the geom frame"),
)

PRECISE = ("qpos0", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "geom_pos", "geom_quat")
"""Fields whose rounding to single precision moves geoms: `Features.mixed_precision` reads them with their rests."""
REALS += tuple(
    _F(f"{f.name}_rest", f.dims, f.width, f.unit, f"what rounding takes off {f.name}")
    for f in REALS
    if f.name in PRECISE
)

OPTIONS: tuple[Field, ...] = (
    _F("timestep", ("one",), 1, "s", "length of a physics step"),
    _F("impratio", ("one",), 1, "", "impedance of friction over that of the normal direction"),
    _F("least_timeconst", ("one",), 1, "s", "lower bound of a contact's time constant: two steps, or 0 (flag refsafe)"),
    _F("tolerance", ("one",), 1, "", "Newton's tolerance, scaled as MuJoCo does"),
    _F("ls_tolerance", ("one",), 1, "", "line search tolerance"),
    _F("ccd_tolerance", ("one",), 1, "m", "what distances and depths of convex shapes are exact to"),
    _F("condition", ("one",), 1, "", "largest condition number of M to be expected (`model/condition.py`)"),
    _F("noslip_tolerance", ("one",), 1, "", "improvement of a sweep of noslip that ends it"),
    _F("solver_scale", ("one",), 1, "1/kg", "scale of gradients and improvements; 0: one over the trace of M"),
)
