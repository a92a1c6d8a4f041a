"""State by groups of items: links, joints, dofs, geoms, contacts; every member a tensor (items, environments, ...).

Link l is MuJoCo's body l + 1: the world is no link. Joints, dofs and geoms have MuJoCo's numbers, vgeoms have those of
`model.geometry.vgeoms`. `state_members` and `info_members` declare the members.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...model.parameters import DERIVED, PARAMETERS
from ...run.interface import STATE as MEMORY
from ..readout.contacts import Contacts
from .coordinates import DofCoordinates
from .environments import Environments
from .info_members import INFO
from .joints import JointControl
from .parameters import Parameters
from .quantities import Quantities
from .queries import Queries
from .state import SolverState
from .state_members import STATE, Member, StateNumbers


class StateTensor:
    """A member of a group, which is computed when it is asked for.

    Attributes:
        name: "group.member".
        member: the declaration of the member.
    """

    def __init__(self, name: str, member: Member, source: StateNumbers) -> None:
        self.name, self.member, self._source = name, member, source

    def __repr__(self) -> str:
        return f"StateTensor({self.name}: {self.member.doc}, {self.member.shape})"

    def to_torch(self) -> torch.Tensor:
        """Return the numbers at the present state, on the solver's device: (items, environments, ...)."""
        found = self.member.read(self._source)
        return found if self.member.static else found.transpose(0, 1)

    def to_numpy(self) -> np.ndarray:
        """Return the result of `to_torch` as an array of numpy."""
        return self.to_torch().detach().cpu().numpy()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `to_torch`."""
        return tuple(self.to_torch().shape)

    def __getitem__(self, place: Any) -> torch.Tensor:
        """Return some numbers: `tensor[item, environment]`."""
        return self.to_torch()[place]


class StateGroup:
    """The members of one group, as attributes: `solver.links_state.pos`."""

    def __init__(self, name: str, members: dict[str, Member], source: StateNumbers) -> None:
        self._name, self._members, self._source = name, members, source

    def __getattr__(self, name: str) -> StateTensor:
        """Return a member.

        Raises:
            AttributeError: for an unknown name, with the names that exist.
        """
        if name.startswith("_") or name not in self._members:
            there = ", ".join(self.__dict__.get("_members", ()))
            raise AttributeError(f"{self.__dict__.get('_name')} has no member {name!r}; there are {there}")
        return StateTensor(f"{self._name}.{name}", self._members[name], self._source)

    def __dir__(self) -> list[str]:
        return list(self._members)

    def __repr__(self) -> str:
        return f"StateGroup({self._name}: {', '.join(self._members)})"


class DynState:
    """The groups by shorter names: `solver.dyn_state.links` is `solver.links_state`."""

    def __init__(self, groups: dict[str, StateGroup]) -> None:
        self.links, self.joints, self.dofs = groups["links_state"], groups["joints_state"], groups["dofs_state"]
        self.geoms, self.vgeoms = groups["geoms_state"], groups["vgeoms_state"]


class StateTensors:
    """All groups of a solver; `docs/reference/state_tensors.md` lists their members.

    Attributes:
        groups: by name; each is an attribute too.
        dyn_state: some of them by shorter names.
    """

    links_state: StateGroup  # pose, velocity, forces
    joints_state: StateGroup  # anchors, axes
    dofs_state: StateGroup  # positions, velocities, forces, controls
    geoms_state: StateGroup  # poses, bounds
    vgeoms_state: StateGroup  # poses of visual geoms
    contacts_state: StateGroup  # by slots; `contacts` of a solver has the environments first
    constraints_state: StateGroup  # forces, counts
    links_info: StateGroup  # structure and masses
    joints_info: StateGroup  # structure
    dofs_info: StateGroup  # numbers of dofs, gains of their controls
    geoms_info: StateGroup  # shapes, contact numbers
    vgeoms_info: StateGroup  # structure
    dyn_state: DynState

    def __init__(self, source: "StateSource") -> None:
        self.groups = {name: StateGroup(name, members, source) for name, members in (STATE | INFO).items()}
        self.dyn_state = DynState(self.groups)
        vars(self).update(self.groups)


@dataclass(eq=False)
class StateSource:
    """The numbers of a solver, as members read them: `state_members.Source`."""

    envs: Environments
    state: SolverState
    quantities: Quantities
    parameters: Parameters
    joints: JointControl
    queries: Queries

    def __post_init__(self) -> None:
        self.model = self.envs.model
        self._coordinates = DofCoordinates(self.model.mj)

    def get(self, name: str) -> torch.Tensor:
        """Return a quantity by MuJoCo's name, or numbers of the model, (num_envs, items, ...)."""
        if name in PARAMETERS or name in DERIVED:
            return self.parameters.get(name).to(self.envs.device, self.envs.dtype)
        if name not in MEMORY:
            self.envs.driver.forward_stale()
        return self.quantities.get(name)

    def fixed(self, numbers: Any) -> torch.Tensor:
        """Return numbers of the model that all environments share, on the device."""
        array = np.array(numbers)
        kind = self.envs.dtype if array.dtype.kind == "f" else torch.bool if array.dtype == bool else torch.int64
        return torch.as_tensor(array, device=self.envs.device).to(kind)

    def positions(self) -> torch.Tensor:
        """Return positions of dofs (num_envs, nv), m or rad."""
        return self._coordinates.get(self.state, np.arange(self.model.mj.nv), None)

    def contacts(self) -> Contacts:
        """Return contacts at the present state."""
        self.envs.driver.forward_stale()
        return self.quantities.contacts

    def bounds(self) -> torch.Tensor:
        """Return bounds of geoms (num_envs, ngeom, 2, 3), m."""
        self.envs.driver.forward_stale()
        return self.queries.geom_aabb()

    def asleep(self) -> torch.Tensor:
        """Return which trees sleep (num_envs, ntree)."""
        return self.state.asleep
