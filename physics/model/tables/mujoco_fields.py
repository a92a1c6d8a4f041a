"""The use that Tumble makes of every field and flag of MuJoCo's mjModel and mjOption.

A test asks MuJoCo for its list of fields and requires that each matches exactly one row, so that none is ignored by
oversight. A pattern with a star stands for a family of fields.

Roles:

- ``READ``: the solver or the renderer reads it.
- ``DERIVED``: follows from other fields (addresses, bounding volumes, sparsity); Tumble computes or lacks it.
- ``PICTURE``: only appearance.
- ``DATA``: names, sizes, user data, keyframes: cannot change the motion.
- ``JUDGED``: a rule of ``rules.py`` reads it and refuses values that Tumble does not support.
- ``IDLE``: acts only together with something that a rule refuses.
"""

import enum
from fnmatch import fnmatchcase

import mujoco

from ..parts import PARTS

READ, DERIVED, PICTURE, DATA, JUDGED, IDLE = "read", "derived", "picture", "data", "judged", "idle"


def _rows(role: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), role)


OF_PARTS = tuple(
    name for part in PARTS for name in (*part.mujoco.split(), *(parameter.name for parameter in part.parameters))
)
"""The fields that mechanisms read (`physics/model/parts`)."""

MODEL: dict[str, str] = {
    **{name: READ for name in OF_PARTS if not hasattr(mujoco.MjOption, name)},
    # sizes and flags
    **_rows(READ, "nmocap nq nv nu nbody njnt ngeom nsite ncam nmesh nmeshvert nmeshface opt stat"),
    **_rows(READ, "nactuator nout nhistory"),
    **_rows(JUDGED, "nflex npair ntendon"),
    **_rows(DERIVED, "flg_surfacevel flg_adhesion"),
    **_rows(
        DERIVED, "nbvh nbvhstatic nbvhdynamic noct ntree nM nB nC nD nexclude nJten nwrap nJmom nemax njmax nconmax"
    ),
    **_rows(DERIVED, "npolygonmax nmeshdegmax narena nbuffer buffer signature nnames nnames_map npaths"),
    **_rows(DERIVED, "nmeshnormal nmeshtexcoord nmeshgraph nmeshpoly nmeshpolyvert nmeshpolymap"),
    **_rows(IDLE, "nflexnode nflexvert nflexedge nflexelem nflexelemdata nflexstiffness nflexbending nefm0dof nefm0L"),
    **_rows(IDLE, "nefmCvert nflexelemedge nflexshelldata nflextexcoord nJfe nplugin npluginattr npluginstate"),
    **_rows(READ, "nhfield"),
    **_rows(DERIVED, "nhfielddata"),
    **_rows(PICTURE, "nlight nskin nskinvert nskintexvert nskinface nskinbone nskinbonevert ntex ntexdata nmat vis"),
    **_rows(READ, "nsensor nsensordata"),
    **_rows(DATA, "nnumeric nnumericdata ntext ntextdata ntuple ntupledata nkey nuserdata nuser_*"),
    # reference pose and bodies
    **_rows(READ, "qpos0 qpos_spring body_parentid body_rootid body_weldid body_jntnum body_jntadr body_dofnum"),
    **_rows(READ, "body_dofadr body_pos body_quat body_ipos body_iquat body_mass body_subtreemass body_inertia"),
    **_rows(READ, "body_invweight0 body_treeid body_geomnum body_geomadr"),
    **_rows(READ, "body_mocapid"),
    **_rows(JUDGED, "body_plugin"),
    **_rows(DERIVED, "body_simple body_sameframe body_margin body_contype body_conaffinity body_bvhadr body_bvhnum"),
    **_rows(DATA, "body_user"),
    **_rows(DERIVED, "bvh_* oct_* tree_bodyadr tree_bodynum tree_dofadr tree_dofnum"),
    # joints and degrees of freedom
    **_rows(READ, "jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_pos jnt_axis"),
    **_rows(READ, "jnt_stiffness dof_bodyid dof_jntid dof_parentid dof_treeid dof_armature"),
    **_rows(READ, "dof_damping dof_invweight0 dof_M0"),
    **_rows(IDLE, "jnt_actuatorid"),
    **_rows(DERIVED, "flg_gravcomp ngravcomp dof_Madr dof_simplenum"),
    **_rows(DATA, "jnt_group jnt_user"),
    # geoms, sites, cameras
    **_rows(READ, "geom_type geom_contype geom_conaffinity geom_condim geom_bodyid geom_dataid geom_matid"),
    **_rows(READ, "geom_priority geom_solmix geom_solref geom_solimp geom_size geom_rbound geom_pos geom_quat"),
    **_rows(READ, "geom_friction geom_margin geom_gap geom_group geom_rgba geom_aabb"),
    **_rows(JUDGED, "geom_plugin"),
    **_rows(DERIVED, "geom_sameframe site_sameframe"),
    **_rows(READ, "site_type site_size"),
    **_rows(PICTURE, "geom_castshadow site_dataid site_matid site_group site_rgba"),
    **_rows(DATA, "geom_user site_user cam_user"),
    **_rows(READ, "site_bodyid site_pos site_quat cam_mode cam_bodyid cam_targetbodyid cam_pos cam_quat cam_poscom0"),
    **_rows(READ, "cam_pos0 cam_mat0 cam_fovy cam_projection"),
    **_rows(PICTURE, "cam_ipd cam_resolution cam_output cam_sensorsize cam_intrinsic"),
    # shapes and appearance
    **_rows(READ, "mesh_vertadr mesh_vertnum mesh_vert mesh_faceadr mesh_facenum mesh_face mesh_graphadr mesh_graph"),
    **_rows(DERIVED, "mesh_bvhadr mesh_bvhnum mesh_octadr mesh_octnum mesh_extrema mesh_scale mesh_pos mesh_quat"),
    **_rows(DERIVED, "mesh_pathadr mesh_poly*"),
    **_rows(PICTURE, "mesh_normaladr mesh_normalnum mesh_texcoordadr mesh_texcoordnum mesh_normal mesh_texcoord"),
    **_rows(PICTURE, "mesh_facenormal mesh_facetexcoord light_* skin_* tex_* mat_*"),
    **_rows(READ, "hfield_nrow hfield_ncol hfield_adr hfield_data hfield_size"),
    **_rows(DERIVED, "hfield_pathadr"),
    **_rows(IDLE, "flex_* flexedge_* efm0_* efmC_perm"),
    # explicit pairs, equalities, tendons
    **_rows(READ, "exclude_signature pair_dim pair_geom1 pair_geom2 pair_solref pair_solimp pair_margin pair_gap"),
    **_rows(READ, "pair_friction pair_solreffriction"),
    **_rows(JUDGED, "eq_type"),
    **_rows(DERIVED, "pair_signature"),
    **_rows(DERIVED, "tendon_type tendon_treenum tendon_treeid"),
    **_rows(IDLE, "tendon_actuatorid"),
    **_rows(PICTURE, "tendon_matid tendon_group tendon_width tendon_rgba"),
    **_rows(DATA, "tendon_user"),
    # actuators
    **_rows(
        READ,
        "actuator_trntype actuator_trnid actuator_gainprm actuator_biasprm actuator_forcelimited actuator_forcerange",
    ),
    **_rows(READ, "actuator_ctrllimited actuator_ctrlrange actuator_gear"),
    **_rows(JUDGED, "actuator_dyntype actuator_gaintype actuator_biastype"),
    **_rows(JUDGED, "actuator_plugin"),
    **_rows(READ, "actuator_damping actuator_dampingpoly actuator_armature actuator_group actuator_outadr"),
    **_rows(READ, "actuator_ctrladr actuator_ctrlnum actuator_outnum actuator_actnum actuator_ctrlspec"),
    **_rows(DERIVED, "actuator_length0"),
    **_rows(DATA, "actuator_user"),
    # sensors, stored data
    **_rows(READ, "sensor_type sensor_datatype sensor_objtype sensor_objid sensor_reftype sensor_refid sensor_intprm"),
    **_rows(READ, "sensor_dim sensor_adr sensor_cutoff"),
    **_rows(DERIVED, "sensor_needstage"),
    **_rows(
        DATA, "sensor_noise sensor_plugin sensor_user numeric_* text_* tuple_* key_* name_*adr names names_map paths"
    ),
    **_rows(IDLE, "plugin plugin_*"),
    **_rows(READ, "M_rownnz"),
    **_rows(DERIVED, "B_* M_rowadr M_colind D_* mapM2M mapM2D mapD2M"),
}

OPTION: dict[str, str] = {
    **{name: READ for name in OF_PARTS if hasattr(mujoco.MjOption, name)},
    **_rows(READ, "timestep impratio tolerance ls_tolerance gravity solver iterations ls_iterations disableflags"),
    **_rows(READ, "cone noslip_iterations noslip_tolerance magnetic"),
    **_rows(JUDGED, "integrator enableflags disableactuator"),
    **_rows(IDLE, "o_margin o_solref o_solimp o_friction sdf_*"),
    **_rows(READ, "ccd_tolerance ccd_iterations"),
    **_rows(DATA, "jacobian"),
}


class Flag(enum.Enum):
    """The effect of a disable or enable flag in Tumble."""

    HONOURED = "the engine follows it"
    WITHOUT_EFFECT = "cannot change the motion of a model that is accepted"
    REFUSED = "a model that sets it is refused"


def _flags(meaning: Flag, names: str) -> dict[str, Flag]:
    return dict.fromkeys(names.split(), meaning)


# Names as in MJCF's <flag>; without equality or frictionloss, elements of that kind are unused instead of refused.
DISABLE_FLAGS: dict[str, Flag] = {
    **_flags(Flag.HONOURED, "constraint limit contact spring damper gravity clampctrl warmstart filterparent"),
    **_flags(Flag.HONOURED, "actuation refsafe eulerdamp equality frictionloss multiccd sensor"),
    **_flags(Flag.WITHOUT_EFFECT, "midphase autoreset nativeccd island"),
}
ENABLE_FLAGS: dict[str, Flag] = {
    **_flags(Flag.WITHOUT_EFFECT, "energy fwdinv invdiscrete"),
    **_flags(Flag.HONOURED, "sleep"),
    **_flags(Flag.REFUSED, "override diagexact ipc speculative"),
}


def role(table: dict[str, str], field: str) -> str | None:
    """Return the role of ``field``, or None if no row or more than one row of ``table`` matches it."""
    if field in table:
        return table[field]
    found = [table[pattern] for pattern in table if "*" in pattern and fnmatchcase(field, pattern)]
    return found[0] if len(found) == 1 else None
