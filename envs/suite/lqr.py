"""The linear-quadratic regulators of the control suite: masses on a line, of which the first are driven."""

from typing import Any

import mujoco
import numpy as np

from ..arrays import Array, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .suite_task import SuiteTask

STIFFNESS = (15.0, 25.0)  # N/m, of the joints' springs, drawn for every episode
CONTROL_COST, TARGET = 0.1, 1e-6  # share of controls in the cost; an episode ends at a state of this size


class LinearRegulator(SuiteTask):
    """Masses in a row slide on springs to the middle. Same tasks as the control suite's lqr_2_1 and lqr_6_2.

    Observation: positions and velocities of the `bodies`. The first `actuated` of them are driven by forces without
    bounds. Reward: 1 - |positions|² / 2 - 0.1 |forces|² / 2. Ends at a state below 1e-6. Starts: at rest, positions on
    a sphere of radius √2. Stiffnesses are drawn for every episode; the suite draws them when an environment is made.
    """

    xml_file: str = "dm_control:lqr.xml"
    frame_skip: int = 1
    bodies: int = 2
    actuated: int = 1

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Put each mass on the one before.

        Raises:
            ValueError: there are no masses, or fewer than forces.
        """
        if not 1 <= self.actuated <= self.bodies:
            raise ValueError(f"{type(self).__name__}: actuated={self.actuated} must be 1 to bodies={self.bodies}")
        parent: Any = spec.worldbody
        for k in range(self.bodies):
            parent = parent.add_body(name=f"body_{k}", pos=(0.25, 0, 0 if k else 0.1))
            parent.add_joint(name=f"joint_{k}", stiffness=np.array([np.mean(STIFFNESS), 0, 0]))
            parent.add_geom(name=f"geom_{k}")
            if k < self.actuated:
                motor = spec.add_actuator(name=f"motor_{k}", target=f"joint_{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
                motor.set_to_motor()

    def reset(self, noise: Noise) -> Start:
        """Draw positions and stiffnesses."""
        drawn = noise.normal(self.bodies)
        qpos = 2**0.5 * drawn / row_norm(drawn)[:, None]
        return Start(qpos, 0 * qpos, parameters={"jnt_stiffness": noise.uniform(*STIFFNESS, self.bodies)})

    def features(self, state: TaskState) -> Array:
        """Return positions and velocities, (n, 2 bodies)."""
        return state.coordinates

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Charge for distance and force."""
        cost = {"reward_state": 1 - row_sum(state.qpos * state.qpos) / 2}
        cost["reward_control"] = -CONTROL_COST * row_sum(action * action) / 2
        return StepResult(self.observation(state), cost, terminated=row_norm(state.coordinates) < TARGET)
