"""Names on a solver for the groups of its state tensors: `solver.links_state.pos.to_torch()`."""

from .tensors import DynState, StateGroup, StateTensors


class StateNames:
    """The names of groups of `StateTensors`; `docs/scene/state_tensors.md` lists their members."""

    tensors: StateTensors

    @property
    def dyn_state(self) -> DynState:
        """The groups that change, by shorter names: `dyn_state.links.pos` is `links_state.pos`."""
        return self.tensors.dyn_state

    @property
    def links_state(self) -> StateGroup:
        """The state of links: pose, velocity, forces."""
        return self.tensors.groups["links_state"]

    @property
    def joints_state(self) -> StateGroup:
        """The state of joints: anchors, axes."""
        return self.tensors.groups["joints_state"]

    @property
    def dofs_state(self) -> StateGroup:
        """The state of dofs: positions, velocities, forces, controls."""
        return self.tensors.groups["dofs_state"]

    @property
    def geoms_state(self) -> StateGroup:
        """The state of geoms: poses, bounds."""
        return self.tensors.groups["geoms_state"]

    @property
    def vgeoms_state(self) -> StateGroup:
        """Poses of what is drawn."""
        return self.tensors.groups["vgeoms_state"]

    @property
    def contacts_state(self) -> StateGroup:
        """Contacts, by slots; `contacts` has the environments first."""
        return self.tensors.groups["contacts_state"]

    @property
    def constraints_state(self) -> StateGroup:
        """The state of constraints: forces, counts."""
        return self.tensors.groups["constraints_state"]

    @property
    def links_info(self) -> StateGroup:
        """Structure and masses of links."""
        return self.tensors.groups["links_info"]

    @property
    def joints_info(self) -> StateGroup:
        """Structure of joints."""
        return self.tensors.groups["joints_info"]

    @property
    def dofs_info(self) -> StateGroup:
        """Numbers of dofs, gains of their controls."""
        return self.tensors.groups["dofs_info"]

    @property
    def geoms_info(self) -> StateGroup:
        """Shapes and contact numbers of geoms."""
        return self.tensors.groups["geoms_info"]

    @property
    def vgeoms_info(self) -> StateGroup:
        """Structure of what is drawn."""
        return self.tensors.groups["vgeoms_info"]

    @property
    def constraints(self) -> StateGroup:
        """The state of constraints: `constraints_state`."""
        return self.tensors.groups["constraints_state"]
