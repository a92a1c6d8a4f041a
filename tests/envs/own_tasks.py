"""Tasks of a user's own, for tests: with goals, memory, pictures, several blocks, and actions of their own."""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete

from tumble.envs import CameraView, Noise, ResetResult, Start, StepResult, Task, TaskState, row_norm


class Pointer(Task):
    """An arm of two hinges, told by numbers which way to push, brings its tip to a goal that it sees in a picture too.

    Actions: 0 to 8, a torque of -1, 0 or 1 at each hinge. Observation: `arm`, `goal`, `last_action` and `picture`.
    """

    reads = ("site_xpos",)
    cameras: ClassVar = {"above": CameraView(width=12, height=10, camera="above")}

    xml_file: str = "pointer.xml"
    frame_skip: int = 4
    reach: float = 0.35
    jitter: float = 0.01

    @property
    def action_space(self) -> Discrete:
        """Two hinges, three torques each."""
        return Discrete(9)

    def bind(self) -> None:
        """Find the tip."""
        self.tip = self.model.site("tip").id

    def reset(self, noise: Noise) -> Start:
        """A random posture and goal."""
        qpos = noise.uniform(-1, 1, self.model.nq)
        goal = noise.uniform(-self.reach, self.reach, 2)
        nothing = noise.integers(4, 5, 1)
        return Start(qpos, np.zeros(self.model.nv), {"goal": goal, "last_action": nothing[:, 0], "steps": nothing * 0})

    def control(self, state: TaskState, action):
        """Torques -1, 0, 1."""
        return self.array(self.xp.stack((action // 3 - 1, action % 3 - 1), axis=1))

    def distance(self, state: TaskState):
        """From the tip to the goal, (n,) m."""
        return row_norm(state.fields["site_xpos"][:, self.tip, :2] - state.memory["goal"])

    def begin(self, state: TaskState) -> ResetResult:
        """What is seen first, and how far the goal is."""
        distance = self.distance(state)
        return ResetResult(self.observation(state), {"distance": distance}, {"distance": distance})

    def observation(self, state: TaskState):
        """Four blocks; the arm is measured with some noise."""
        xp = self.xp
        measured = state.qpos + self.jitter * state.noise.normal(self.model.nq)
        return {
            "arm": xp.concat((measured, state.qvel), axis=1),
            "goal": state.memory["goal"],
            "last_action": self.array(state.memory["last_action"])[:, None],
            "picture": state.images["above"],
        }

    def step(self, state: TaskState, action) -> StepResult:
        """Progress towards the goal; ends there."""
        distance = self.distance(state)
        progress = state.memory["distance"] - distance
        state = state.remember(last_action=action, distance=distance, steps=state.memory["steps"] + 1)
        terms = {"reward_progress": progress, "reward_near": self.xp.exp(-distance)}
        return StepResult(self.observation(state), terms, distance < 0.05, {"distance": distance}, memory=state.memory)


class Held(Task):
    """The same arm under position targets that a controller of the task follows at every physics step.

    The observation space is the task's own, of a `Box` with bounds; the reward is one term.
    """

    control_each_substep = True

    xml_file = "pointer.xml"
    frame_skip = 5
    stiffness: float = 3.0

    @property
    def action_space(self) -> Box:
        """Angles, rad."""
        return Box(-1.5, 1.5, (2,), np.float32)

    @property
    def observation_space(self) -> Box:
        """Angles and velocities."""
        return Box(-100, 100, (4,), np.float64)

    def reset(self, noise: Noise) -> Start:
        """At rest."""
        return Start(self.init_qpos, np.zeros(self.model.nv))

    def control(self, state: TaskState, action):
        """A spring with a damper."""
        return self.stiffness * (action - state.qpos) - 0.3 * state.qvel

    def observation(self, state: TaskState):
        """All there is."""
        return state.coordinates

    def step(self, state: TaskState, action) -> StepResult:
        """The nearer, the better."""
        return StepResult(self.observation(state), {"reward": -row_norm(action - state.qpos)})


class Counter(Task):
    """Counts the steps of the episode and shows the count; the actions 3 and 4 end the episode. Nothing moves.

    The reward is the action; `reset` says "begun", a step says "action".
    """

    xml_file = "pointer.xml"

    @property
    def action_space(self) -> Discrete:
        """0 to 4."""
        return Discrete(5)

    def reset(self, noise: Noise) -> Start:
        """At rest, having counted nothing."""
        return Start(self.init_qpos, np.zeros(self.model.nv), {"count": noise.integers(0, 1, 1)[:, 0]})

    def control(self, state: TaskState, action):
        """No torque."""
        return 0 * state.qpos

    def begin(self, state: TaskState) -> ResetResult:
        """Nothing was counted."""
        return ResetResult(self.observation(state), {"begun": 1 + state.memory["count"]})

    def observation(self, state: TaskState):
        """How many steps there were, (n, 1)."""
        return self.array(state.memory["count"])[:, None]

    def step(self, state: TaskState, action) -> StepResult:
        """One more."""
        state = state.remember(count=state.memory["count"] + 1)
        terms = {"reward": self.array(action)}
        return StepResult(self.observation(state), terms, action >= 3, {"action": action}, memory=state.memory)


class Seen(Pointer):
    """The pointer, of which the agent sees the picture alone."""

    def observation(self, state: TaskState):
        """The picture, (n, 10, 12, 3)."""
        return state.images["above"]
