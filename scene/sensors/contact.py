"""Contact sensors: switches, and forces on links."""

import torch

from ..entity.entity import RigidEntity
from ..world import World
from .evaluated_envs import EvaluatedEnvs
from .links import LinkSensor, require_entity, unturned
from .options import ContactFilter


class _OnContacts(LinkSensor):
    """A sensor of the contacts of a link, except contacts with some other links."""

    def __init__(self, options: ContactFilter, idx: int, entity: RigidEntity | None) -> None:
        super().__init__(options, idx, entity)
        require_entity(self, entity)

    def place(self, world: World) -> None:
        """Look up the bodies of geoms, and the links that are not felt."""
        super().place(world)
        mj, device = world.model.mj, world.solver.device
        others = self.options.filter_link_idx
        if wrong := [link for link in others if not 0 <= link < mj.nbody - 1]:
            raise ValueError(f"{self!r}: filter_link_idx={wrong[0]}: the scene's links are 0 to {mj.nbody - 2}")
        self._bodies = torch.as_tensor(mj.geom_bodyid, device=device).long()
        self._unfelt = torch.as_tensor([link + 1 for link in others], dtype=torch.int64, device=device)

    def sides(self, evaluated: EvaluatedEnvs) -> torch.Tensor:
        """Return +1 for contacts that push the link as geom 2, -1 as geom 1, 0 for others, (k, m)."""
        bodies = self._bodies[evaluated.pressing[0]]
        mine = bodies == self.body
        mine &= ~torch.isin(bodies, self._unfelt).flip(-1)
        return mine[..., 1].to(evaluated.pressing[1].dtype) - mine[..., 0].to(evaluated.pressing[1].dtype)


class ContactSensor(_OnContacts):
    """A switch: `read` returns (n, 1) bool."""

    reads: tuple[str, ...] = ("xpos",)
    shapes = ((1,),)

    def sense(self, evaluated: EvaluatedEnvs) -> torch.Tensor:
        """Return the sum of normal forces on the link, (k, 1) N: MuJoCo's touch, all around."""
        return (self.sides(evaluated).abs() * evaluated.pressing[1]).sum(1, keepdim=True)

    def deliver(self, numbers: torch.Tensor, sensed: torch.Tensor, measured: bool) -> torch.Tensor:
        """Return 1 for numbers above the threshold, (k, 1)."""
        return (numbers > self.options.threshold).to(numbers.dtype)

    def _given(self, flat: torch.Tensor) -> torch.Tensor:
        return super()._given(flat) > 0.5


class ContactForceSensor(_OnContacts):
    """A force sensor: `read` returns (n, 3) N."""

    shapes = ((3,),)

    def place(self, world: World) -> None:
        """Look up the inputs of `ContactSensor`, and the range."""
        super().place(world)
        self._least, self._most = (self._pos.new_tensor(n) for n in (self.options.min_force, self.options.max_force))

    def sense(self, evaluated: EvaluatedEnvs) -> torch.Tensor:
        """Return the sum of contact forces on the link, in the sensor's axes, (k, 3) N."""
        total = (self.sides(evaluated)[..., None] * evaluated.pressing[2]).sum(1)
        return unturned(self.pose(evaluated)[1], total)

    def deliver(self, numbers: torch.Tensor, sensed: torch.Tensor, measured: bool) -> torch.Tensor:
        """Return measured forces within the range, and true ones as they are, (k, 3) N."""
        if not measured:
            return numbers
        bounded = numbers.clamp(-self._most, self._most)
        return torch.where(bounded.abs() < self._least, torch.zeros_like(bounded), bounded)
