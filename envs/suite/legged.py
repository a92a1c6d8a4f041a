"""The base class of the suite's dog and quadruped: their hinges, and first observations without actuators."""

import mujoco
import numpy as np

from ..task.task import ResetResult, TaskState
from .free_starts import StartModel
from .suite_task import SuiteTask


class LeggedTask(SuiteTask):
    """A body on a free joint whose other joints are hinges."""

    def bind(self) -> None:
        """Find the hinges, and prepare the model of starts."""
        model = self.model
        self.starts = StartModel(self)
        hinges = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
        self.hinge_qpos = self.indices(model.jnt_qposadr[hinges])
        self.hinge_qvel = self.indices(model.jnt_dofadr[hinges])

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, whose sensors feel no actuators, as in dm_control."""
        sensed = self.starts.sensed(state.qpos, state.qvel)
        return super().begin(state._replace(present={**state.present, "sensordata": sensed}))
