"""The flat names of a solver: `solver.ctrl` is `solver.inputs.ctrl`, and so on."""

from ...base.flat_names import flat_names
from .coupling import Coupling
from .gradients import Gradients
from .inputs import Inputs
from .joints import JointControl
from .parameters import Parameters
from .quantities import Quantities
from .queries import Queries
from .sensors import Sensors
from .state import SolverState
from .tensors import StateTensors


@flat_names(
    state="""
        qpos qvel act plastic qacc_warmstart time faults contacts_needed any_fault edits asleep wake coordinates
        reset reset_to_keyframe mj_state set_mj_state state_dict load_state_dict save load
    """,
    inputs="ctrl mocap_pos mocap_quat eq_active qfrc_applied xfrc_applied set_inputs=set",
    joints="""
        control_dofs_force=control_force control_dofs_velocity=control_velocity control_dofs_position=control_position
        control_dofs_position_velocity=control_position_velocity release_dofs=release
        set_dofs_kp=set_kp set_dofs_kv=set_kv set_dofs_force_range=set_force_range
        get_dofs_kp=get_kp get_dofs_kv=get_kv get_dofs_force_range=get_force_range
    """,
    parameters="set_parameters=set update_parameters=update get_parameters=get",
    quantities="get get_many get_present view refresh contacts solver_niter inspect",
    sensors="sensordata=data sensor=read",
    queries="ray distance overlap geom_aabb geom_verts",
    tensors="""
        dyn_state links_state joints_state dofs_state geoms_state vgeoms_state contacts_state constraints_state
        links_info joints_info dofs_info geoms_info vgeoms_info constraints=constraints_state
    """,
)
class SolverNames:
    """Names for members of a solver's parts. Shapes, units and errors are written there."""

    state: SolverState
    inputs: Inputs
    joints: JointControl
    parameters: Parameters
    quantities: Quantities
    queries: Queries
    sensors: Sensors
    tensors: StateTensors
    gradients: Gradients
    coupling: Coupling
