"""The flat names of an entity: `entity.get_pos` is `entity.state.get_pos`, and so on."""

from ...physics.base.flat_names import flat_names
from ..compat.names import GENESIS_NAMES
from ..model.ranges import KINDS
from .contacts import EntityContacts
from .control import EntityControl
from .dynamics import EntityDynamics
from .index import EntityIndex
from .parameters import EntityParameters
from .planning import EntityPlanning
from .state import EntityState

_RANGES = "".join(f"{kind}_start {kind}_end " for kind in KINDS)


@flat_names(**GENESIS_NAMES["EntityNames"])
@flat_names(
    index=_RANGES
    + "world solver is_built is_free n_links n_qs n_dofs"
    + " n_geoms n_vgeoms n_verts n_faces n_edges n_vverts n_vfaces n_equalities",
    state="""
        get_pos get_quat get_vel get_ang set_pos set_quat get_qpos set_qpos
        get_links_pos get_links_quat get_links_vel get_links_ang get_links_acc get_links_acc_ang
        get_dofs_position get_dofs_velocity get_dofs_acc get_dofs_force
        set_dofs_position set_dofs_velocity zero_all_dofs_velocity
    """,
    control="""
        control_dofs_force control_dofs_velocity control_dofs_position control_dofs_position_velocity
        set_dofs_kp set_dofs_kv set_dofs_force_range get_dofs_kp get_dofs_kv get_dofs_force_range
        get_dofs_control_force get_dofs_act_gain get_dofs_act_bias
    """,
    parameters="""
        set_dofs_stiffness set_dofs_damping set_dofs_armature set_dofs_frictionloss set_dofs_limit
        get_dofs_stiffness get_dofs_damping get_dofs_armature get_dofs_frictionloss get_dofs_limit get_dofs_invweight
        set_links_mass set_links_COM set_links_inertia set_mass_shift set_COM_shift set_mass
        get_links_mass get_links_COM get_links_inertia get_links_invweight get_mass
        set_friction_ratio set_friction set_friction_torsional set_friction_rolling
    """,
    dynamics="""
        get_jacobian get_mass_mat get_kinetic_energy get_potential_energy get_total_energy apply_links_external_wrench
    """,
    contacts="""
        get_contacts get_links_net_contact_force detect_collision
        get_AABB get_vAABB get_verts get_vverts
    """,
    planning="inverse_kinematics inverse_kinematics_multilink plan_path",
)
class EntityNames:
    """Names for members of an entity's objects. Shapes, units and errors are written there."""

    index: EntityIndex
    state: EntityState
    control: EntityControl
    parameters: EntityParameters
    dynamics: EntityDynamics
    contacts: EntityContacts
    planning: EntityPlanning
