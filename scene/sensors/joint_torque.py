"""Joint torque sensors: the effort between a drive and its joint."""

import numpy as np
import torch

from ...physics.machine.scalars import as_whole
from ..entity.entity import RigidEntity
from ..world import World
from .evaluated_envs import EvaluatedEnvs
from .links import require_entity
from .options import JointTorque
from .sensor import Sensor


class JointTorqueSensor(Sensor):
    """A sensor of efforts at dofs: `read` returns (n, number of dofs), N m or N.

    A drive gives qfrc_actuator. On the way to the joint its armature takes armature * qacc, and the gear's friction and
    damping take theirs.
    """

    reads: tuple[str, ...] = ("qfrc_actuator", "qacc", "eval_qvel")

    def __init__(self, options: JointTorque, idx: int, entity: RigidEntity | None) -> None:
        super().__init__(options, idx, entity)
        self._carrier = entity = require_entity(self, entity)
        given = options.dofs_idx_local
        dofs = (
            range(entity.n_dofs) if given is None else [as_whole("JointTorque: dofs_idx_local", dof) for dof in given]
        )
        self.dofs_idx_local = list(dofs)
        if wrong := [dof for dof in self.dofs_idx_local if not 0 <= dof < entity.n_dofs]:
            raise IndexError(f"{self!r}: dofs_idx_local={wrong[0]}: entity '{entity.name}' has {entity.n_dofs} dofs")
        if not self.dofs_idx_local:
            raise ValueError(f"{self!r}: entity '{entity.name}' has no dofs to sense")

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the readings of one environment."""
        return ((len(self.dofs_idx_local),),)

    def place(self, world: World) -> None:
        """Look up the dofs, and which of them have friction."""
        values, device = world.model.values, world.solver.device
        dofs = np.array(self.dofs_idx_local) + self._carrier.dof_start
        self._dofs = torch.as_tensor(dofs, device=device)
        both = zip(values["friction_dofadr"], values["friction_tendon"], strict=True)
        rows = {int(dof): row for row, (dof, tendon) in enumerate(both) if tendon < 0}
        places = [place for place, dof in enumerate(dofs) if dof in rows]
        blocks = [int(world.model.sizes["ne"]) + rows[int(dofs[place])] for place in places]
        self._places, self._blocks = (torch.as_tensor(n, dtype=torch.int64, device=device) for n in (places, blocks))
        self.reads = (*JointTorqueSensor.reads, "block_force") if places else JointTorqueSensor.reads

    def sense(self, evaluated: EvaluatedEnvs) -> torch.Tensor:
        """Return the efforts, (k, number of dofs)."""
        armature, damping = self._own(evaluated, "dof_armature"), self._own(evaluated, "dof_damping")
        taken = armature * self._of(evaluated, "qacc") + damping * self._of(evaluated, "eval_qvel")
        effort = self._of(evaluated, "qfrc_actuator") - taken
        if len(self._places):
            effort = effort.index_add(1, self._places, evaluated["block_force"][:, self._blocks, 0])
        return effort

    def _of(self, evaluated: EvaluatedEnvs, name: str) -> torch.Tensor:
        return evaluated[name][:, self._dofs]

    def _own(self, evaluated: EvaluatedEnvs, name: str) -> torch.Tensor:
        """Return numbers of the dofs, of every environment's own, (k, number of dofs)."""
        solver = evaluated.world.solver
        return solver.parameters.get(name, evaluated.envs).to(solver.device, solver.dtype)[:, self._dofs]
