# fmt: off
# ruff: noqa
"""Flat names of `EntityNames`, for editors and type checkers: written by `python -m tests.flat_names`."""

import collections.abc
import numpy
import torch
import tumble.physics.solver.solver
import tumble.scene.checks
import tumble.scene.entity.contacts
import tumble.scene.entity.control
import tumble.scene.entity.dynamics
import tumble.scene.entity.index
import tumble.scene.entity.parameters
import tumble.scene.entity.planning
import tumble.scene.entity.state
import tumble.scene.world
import typing

class EntityNames:
    index: tumble.scene.entity.index.EntityIndex
    state: tumble.scene.entity.state.EntityState
    control: tumble.scene.entity.control.EntityControl
    parameters: tumble.scene.entity.parameters.EntityParameters
    dynamics: tumble.scene.entity.dynamics.EntityDynamics
    contacts: tumble.scene.entity.contacts.EntityContacts
    planning: tumble.scene.entity.planning.EntityPlanning
    @property
    def link_start(self) -> int: """Number in the scene of the first of its links."""
    @property
    def link_end(self) -> int: """One more than the last."""
    @property
    def joint_start(self) -> int: """Number in the scene of the first of its joints."""
    @property
    def joint_end(self) -> int: """One more than the last."""
    @property
    def q_start(self) -> int: """Number in the scene of the first of its coordinates."""
    @property
    def q_end(self) -> int: """One more than the last."""
    @property
    def dof_start(self) -> int: """Number in the scene of the first of its dofs."""
    @property
    def dof_end(self) -> int: """One more than the last."""
    @property
    def geom_start(self) -> int: """Number in the scene of the first of its geoms."""
    @property
    def geom_end(self) -> int: """One more than the last."""
    @property
    def vgeom_start(self) -> int: """Number in the scene of the first of its geoms that are drawn."""
    @property
    def vgeom_end(self) -> int: """One more than the last."""
    @property
    def vert_start(self) -> int: """Number in the scene of the first of its vertices of meshes that touch."""
    @property
    def vert_end(self) -> int: """One more than the last."""
    @property
    def face_start(self) -> int: """Number in the scene of the first of its triangles of meshes that touch."""
    @property
    def face_end(self) -> int: """One more than the last."""
    @property
    def edge_start(self) -> int: """Number in the scene of the first of its edges of meshes that touch."""
    @property
    def edge_end(self) -> int: """One more than the last."""
    @property
    def vvert_start(self) -> int: """Number in the scene of the first of its vertices of meshes that are drawn."""
    @property
    def vvert_end(self) -> int: """One more than the last."""
    @property
    def vface_start(self) -> int: """Number in the scene of the first of its triangles of meshes that are drawn."""
    @property
    def vface_end(self) -> int: """One more than the last."""
    @property
    def equality_start(self) -> int: """Number in the scene of the first of its equalities among its parts."""
    @property
    def equality_end(self) -> int: """One more than the last."""
    @property
    def world(self) -> tumble.scene.world.World: """The built scene."""
    @property
    def solver(self) -> tumble.physics.solver.solver.RigidSolver: """The solver of the built scene; errors as in `world`."""
    @property
    def is_built(self) -> bool: """True if the scene is built."""
    is_free: bool
    @property
    def n_links(self) -> int: """Number of its links."""
    n_qs: int
    n_dofs: int
    @property
    def n_geoms(self) -> int: """Number of its geoms."""
    @property
    def n_vgeoms(self) -> int: """Number of its geoms that are drawn."""
    @property
    def n_verts(self) -> int: """Number of its vertices of meshes that touch."""
    @property
    def n_faces(self) -> int: """Number of its triangles of meshes that touch."""
    @property
    def n_edges(self) -> int: """Number of its edges of meshes that touch."""
    @property
    def n_vverts(self) -> int: """Number of its vertices of meshes that are drawn."""
    @property
    def n_vfaces(self) -> int: """Number of its triangles of meshes that are drawn."""
    @property
    def n_equalities(self) -> int: """Number of its equalities among its parts."""
    def get_pos(self, envs_idx: tumble.scene.checks.Indices = None, *, relative: bool = True) -> torch.Tensor: """Return the position of its first link, (n, 3) m; not `relative`: where the environment is drawn."""
    def get_quat(self, envs_idx: tumble.scene.checks.Indices = None, *, relative: bool = True) -> torch.Tensor: """Return the orientation of its first link, (n, 4); environments are not turned, `relative` or not."""
    def get_vel(self, envs_idx: tumble.scene.checks.Indices = None, *, relative: bool = True) -> torch.Tensor: """Return the velocity of its first link's origin, (n, 3) m/s; environments stand still, `relative` or not."""
    def get_ang(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the angular velocity of its first link, in the world's axes, (n, 3) rad/s."""
    def set_pos(self, pos: tumble.scene.checks.Numbers, envs_idx: tumble.scene.checks.Indices = None, *, zero_velocity: bool = True, relative: bool = True, skip_forward: bool = False) -> None: """Put its first link to a position."""
    def set_quat(self, quat: tumble.scene.checks.Numbers, envs_idx: tumble.scene.checks.Indices = None, *, zero_velocity: bool = True, relative: bool = True, skip_forward: bool = False) -> None: """Turn its first link to a quaternion (n, 4) or (4,), w first, of any length but 0, as `set_pos` moves it."""
    def get_qpos(self, qs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return its coordinates, (n, k) m or rad; quaternions of free and ball joints with w first."""
    def set_qpos(self, qpos: tumble.scene.checks.Numbers, qs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, zero_velocity: bool = True, skip_forward: bool = False) -> None: """Set coordinates of the entity, (n, k) or (k,) m or rad; a quaternion may have any length above 0."""
    def get_links_pos(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, ref: str = 'link_origin', relative: bool = True) -> torch.Tensor: """Return positions of links, (n, k, 3) m."""
    def get_links_quat(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, relative: bool = True) -> torch.Tensor: """Return orientations of links, (n, k, 4); environments are not turned, `relative` or not."""
    def get_links_vel(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, ref: str = 'link_origin', relative: bool = True) -> torch.Tensor: """Return velocities of points that move with links, (n, k, 3) m/s; `ref` as of `get_links_pos`."""
    def get_links_ang(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return angular velocities of links, in the world's axes, (n, k, 3) rad/s."""
    def get_links_acc(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, relative: bool = True) -> torch.Tensor: """Return accelerations of links' origins, (n, k, 3) m/s2: in free fall, gravity."""
    def get_links_acc_ang(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return angular accelerations of links, in the world's axes, (n, k, 3) rad/s2."""
    def get_dofs_position(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return positions of dofs, (n, k) m or rad."""
    def get_dofs_velocity(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return velocities of dofs, (n, k) m/s or rad/s; turns of free joints are about the body's own axes."""
    def get_dofs_acc(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return accelerations of dofs, (n, k) m/s2 or rad/s2, under the present state, inputs and contacts."""
    def get_dofs_force(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the sum of all forces on dofs, (n, k) N or N m: the mass matrix times `get_dofs_acc`."""
    def set_dofs_position(self, position: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, zero_velocity: bool = True, skip_forward: bool = False) -> None: """Write positions of dofs, (n, k) or (k,) m or rad, which `get_dofs_position` describes."""
    def set_dofs_velocity(self, velocity: tumble.scene.checks.Numbers | None = None, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, skip_forward: bool = False) -> None: """Write velocities of dofs, (n, k) or (k,) m/s or rad/s; None: zero."""
    def zero_all_dofs_velocity(self, envs_idx: tumble.scene.checks.Indices = None, *, skip_forward: bool = False) -> None: """Stop the entity."""
    def control_dofs_force(self, force: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Apply forces to dofs, (n, k) or (k,) N or N m, within their ranges."""
    def control_dofs_velocity(self, velocity: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Drive dofs to velocities v*, (n, k) or (k,) m/s or rad/s: the force is kv (v* - v), within the range."""
    def control_dofs_position(self, position: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Drive hinges and slides to positions q*, (n, k) or (k,) rad or m: the force is kp (q* - q) - kv v."""
    def control_dofs_position_velocity(self, position: tumble.scene.checks.Numbers, velocity: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Drive hinges and slides to positions q* with velocities v*: the force is kp (q* - q) + kv (v* - v)."""
    def set_dofs_kp(self, kp: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set gains of positions, (n, k) or (k,) N/m or N m/rad."""
    def set_dofs_kv(self, kv: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set gains of velocities, (n, k) or (k,) N s/m or N m s/rad."""
    def set_dofs_force_range(self, lower: tumble.scene.checks.Numbers, upper: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the bounds of controls' forces, (n, k) or (k,) N or N m each, which may be infinite."""
    def get_dofs_kp(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return gains of positions, (n, k) N/m or N m/rad."""
    def get_dofs_kv(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return gains of velocities, (n, k) N s/m or N m s/rad."""
    def get_dofs_force_range(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> tuple[torch.Tensor, torch.Tensor]: """Return lower and upper bounds of controls' forces, (n, k) N or N m each; -1e30 and 1e30: no bound."""
    def get_dofs_control_force(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the forces of controls at the present state, (n, k) N or N m, within all ranges."""
    def get_dofs_act_gain(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the gain of a servo for positions, which is kp, (n, k) N/m or N m/rad."""
    def get_dofs_act_bias(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]: """Return the bias of a servo for positions, (n, k) each: 0, -kp for the position, -kv for the velocity."""
    def set_dofs_stiffness(self, stiffness: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the stiffness of joints' springs, (n, k) or (k,) N/m or N m/rad; the dofs of a joint share one."""
    def set_dofs_damping(self, damping: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the damping of dofs, (n, k) or (k,) N s/m or N m s/rad."""
    def set_dofs_armature(self, armature: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the inertia of dofs' rotors, (n, k) or (k,) kg or kg m2."""
    def set_dofs_frictionloss(self, frictionloss: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the dry friction of dofs, (n, k) or (k,) N or N m."""
    def set_dofs_limit(self, lower: tumble.scene.checks.Numbers, upper: tumble.scene.checks.Numbers, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the limits of hinges and slides, (n, k) or (k,) rad or m each."""
    def get_dofs_stiffness(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the stiffness of the springs of dofs' joints, (n, k) N/m or N m/rad."""
    def get_dofs_damping(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the damping of dofs, (n, k) N s/m or N m s/rad."""
    def get_dofs_armature(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the inertia of dofs' rotors, (n, k) kg or kg m2."""
    def get_dofs_frictionloss(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the dry friction of dofs, (n, k) N or N m."""
    def get_dofs_limit(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> tuple[torch.Tensor, torch.Tensor]: """Return lower and upper limits of dofs, (n, k) rad or m each; infinite where a dof has no limit."""
    def get_dofs_invweight(self, dofs_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the inverse inertia of dofs at the reference pose, (n, k) 1/kg or 1/(kg m2): dof_invweight0."""
    def set_links_mass(self, mass: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set masses of links, (n, k) or (k,) kg; inertia stays: `set_mass` scales both."""
    def set_links_COM(self, com: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set centres of mass of links in their frames, (n, k, 3) or (k, 3) m."""
    def set_links_inertia(self, inertia: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) or (k, 3, 3) kg m2."""
    def set_mass_shift(self, mass_shift: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set masses of links to their values at `build` plus shifts, (n, k) or (k,) kg."""
    def set_COM_shift(self, com_shift: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set centres of mass of links to their values at `build` plus shifts, (n, k, 3) or (k, 3) m."""
    def set_mass(self, mass: tumble.scene.checks.Numbers, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set the mass of the entity, (n,) or one number, kg: the masses and inertia of its links are scaled."""
    def get_links_mass(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return masses of links, (n, k) kg."""
    def get_links_COM(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return centres of mass of links in their frames, (n, k, 3) m."""
    def get_links_inertia(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return inertia of links about their centres of mass, in their frames' axes, (n, k, 3, 3) kg m2."""
    def get_links_invweight(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return inverse weights of links at the reference pose, (n, k, 2) 1/kg and 1/(kg m2): body_invweight0."""
    def get_mass(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the mass of the entity, (n,) kg."""
    def set_friction_ratio(self, friction_ratio: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Multiply the sliding friction of links' geoms, (n, k) or (k,), as `set_friction` or the file sets it."""
    def set_friction(self, friction: float) -> None: """Set the sliding friction coefficient in all environments."""
    def set_friction_torsional(self, friction_torsional: float) -> None: """Set the torsional friction coefficient, m, in all environments."""
    def set_friction_rolling(self, friction_rolling: float) -> None: """Set the rolling friction coefficient, m, in all environments."""
    def get_jacobian(self, link: tumble.scene.entity.index.LinkIndex, local_point: tumble.scene.checks.Numbers | None = None) -> torch.Tensor: """Return the derivative of a point's velocity and a link's angular velocity by the entity's dof velocities."""
    def get_mass_mat(self, envs_idx: tumble.scene.checks.Indices = None, decompose: bool = False) -> typing.Any: """Return the mass matrix of the entity's dofs, (n, n_dofs, n_dofs) kg, kg m and kg m2."""
    def get_kinetic_energy(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the kinetic energy, armature included, (n,) J."""
    def get_potential_energy(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the energy of the weight, from the world's origin, and of the joints' springs, (n,) J."""
    def get_total_energy(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the sum of kinetic and potential energy, (n,) J."""
    def apply_links_external_wrench(self, force: tumble.scene.checks.Numbers | None = None, torque: tumble.scene.checks.Numbers | None = None, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None, *, pos: tumble.scene.checks.Numbers | None = None, ref: str = 'link_origin', local: bool = False) -> None: """Push and turn links during the next `scene.step`; several calls before it add up."""
    def get_contacts(self, with_entity: tumble.scene.entity.index.HasIndex | None = None, exclude_self_contact: bool = False, is_padded: bool = False) -> dict[str, torch.Tensor]: """Return its contacts at the present state."""
    def get_links_net_contact_force(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the sums of contact forces on links, in the world's axes, (n, n_links, 3) N."""
    def detect_collision(self, env_idx: int = ...) -> numpy.ndarray: """Return pairs of geoms of the scene that touch at the present state of one environment, (k, 2) int64."""
    def get_AABB(self, envs_idx: tumble.scene.checks.Indices = None, *, allow_fast_approx: bool = False) -> torch.Tensor: """Return the bounds of its geoms that touch, (n, 2, 3) m: lower and upper corner; infinite for planes."""
    def get_vAABB(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the bounds of its geoms that are drawn, (n, 2, 3) m: lower and upper corner; infinite for planes."""
    def get_verts(self) -> torch.Tensor: """Return the vertices in the world of its meshes and boxes that touch, (n, vertices, 3) m, by geom."""
    def get_vverts(self, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return the vertices in the world of its meshes that are drawn, (n, vertices, 3) m, by geom."""
    def inverse_kinematics(self, link: tumble.scene.entity.index.LinkIndex, pos: tumble.scene.checks.Numbers | None = None, quat: tumble.scene.checks.Numbers | None = None, local_point: tumble.scene.checks.Numbers | None = None, init_qpos: tumble.scene.checks.Numbers | None = None, respect_joint_limit: bool = True, max_samples: int = ..., max_solver_iters: int = ..., damping: float = ..., pos_tol: float = ..., rot_tol: float = ..., pos_mask: collections.abc.Sequence[bool] = ..., rot_mask: collections.abc.Sequence[bool] = ..., max_step_size: float = ..., seed: int | None = None, dofs_idx_local: tumble.scene.checks.Indices = None, return_error: bool = False, envs_idx: tumble.scene.checks.Indices = None) -> typing.Any: """Return coordinates of the entity that bring a link to a pose, (n, n_qs), or near it."""
    def inverse_kinematics_multilink(self, links: collections.abc.Sequence[tumble.scene.entity.index.LinkIndex], poss: collections.abc.Sequence[float | numpy.generic | collections.abc.Sequence | numpy.ndarray | torch.Tensor | None] | None = None, quats: collections.abc.Sequence[float | numpy.generic | collections.abc.Sequence | numpy.ndarray | torch.Tensor | None] | None = None, local_points: collections.abc.Sequence[float | numpy.generic | collections.abc.Sequence | numpy.ndarray | torch.Tensor | None] | None = None, init_qpos: tumble.scene.checks.Numbers | None = None, respect_joint_limit: bool = True, max_samples: int = ..., max_solver_iters: int = ..., damping: float = ..., pos_tol: float = ..., rot_tol: float = ..., pos_mask: collections.abc.Sequence[bool] = ..., rot_mask: collections.abc.Sequence[bool] = ..., max_step_size: float = ..., seed: int | None = None, dofs_idx_local: tumble.scene.checks.Indices = None, return_error: bool = False, envs_idx: tumble.scene.checks.Indices = None) -> typing.Any: """Return coordinates of the entity that bring several links to poses at once, (n, n_qs), or near them."""
    def plan_path(self, qpos_goal: tumble.scene.checks.Numbers, qpos_start: tumble.scene.checks.Numbers | None = None, max_nodes: int = ..., resolution: float = ..., timeout: float | None = None, max_retry: int = ..., smooth_path: bool = True, num_waypoints: int = ..., ignore_collision: bool = False, planner: str = 'RRTConnect', envs_idx: tumble.scene.checks.Indices = None, return_valid_mask: bool = False, *, ee_link_name: str | None = None, with_entity: tumble.scene.entity.index.HasIndex | None = None, **kwargs: int | None) -> typing.Any: """Return a path of the entity's hinges and slides on which nothing collides, (num_waypoints, n, n_qs)."""
    @property
    def base_link_idx(self) -> int: """Number in the scene of the first of its links."""
    def get_aabb(self, envs_idx: tumble.scene.checks.Indices = None, *, allow_fast_approx: bool = False) -> torch.Tensor: """Return the bounds of its geoms that touch, (n, 2, 3) m: lower and upper corner; infinite for planes."""
    def set_links_inertial_mass(self, mass: tumble.scene.checks.Numbers, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> None: """Set masses of links, (n, k) or (k,) kg; inertia stays: `set_mass` scales both."""
    def get_links_inertial_mass(self, links_idx_local: tumble.scene.checks.Indices = None, envs_idx: tumble.scene.checks.Indices = None) -> torch.Tensor: """Return masses of links, (n, k) kg."""
