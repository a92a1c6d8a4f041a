"""Tasks of a user's own, for tests: with goals, memory, pictures, several blocks, inputs, and actions of their own."""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete

from tumble.envs import CameraView, Noise, ResetResult, Start, StepResult, Task, TaskState, row_norm
from tumble.physics import Model


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


class Leashed(Held):
    """The held arm, whose episodes end by the task's word alone.

    An episode is cut short after `cut` steps and where the shoulder turns beyond `far`; it fails where the elbow bends
    beyond `bend`. With `cut_fails` what would be cut short fails.
    """

    cut: int = 1_000_000
    far: float = 1e9  # rad
    bend: float = 1e9  # rad
    cut_fails: bool = False

    def reset(self, noise: Noise) -> Start:
        """Nearly straight, at step 0."""
        return Start(noise.uniform(-0.1, 0.1, 2), noise.uniform(-1, 1, 2), {"steps": noise.integers(0, 1, 1)[:, 0]})

    def step(self, state: TaskState, action) -> StepResult:
        """One more step."""
        result, steps = super().step(state, action), state.memory["steps"] + 1
        cut, fallen = (steps >= self.cut) | (abs(state.qpos[:, 0]) > self.far), abs(state.qpos[:, 1]) > self.bend
        if self.cut_fails:
            return result._replace(terminated=fallen | cut, memory={"steps": steps})
        return result._replace(terminated=fallen, truncated=cut, memory={"steps": steps})


PUCK = """<mujoco model="puck">
  <option timestep="0.01"/>
  <worldbody>
    <camera name="above" pos="0 0 3"/>
    <body name="marker" mocap="true" pos="0.5 0 0.1">
      <geom type="sphere" size="0.05" contype="0" conaffinity="0"/>
    </body>
    <body name="puck">
      <joint name="x" type="slide" axis="1 0 0" damping="1"/>
      <joint name="y" type="slide" axis="0 1 0" damping="1"/>
      <geom type="sphere" size="0.1" mass="1"/>
    </body>
  </worldbody>
  <equality><joint joint1="x" joint2="y" active="false"/></equality>
  <actuator><motor joint="x" gear="5" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>"""


class Pushed(Task):
    """A puck on two slides, which gusts push, is to follow a marker that moves; its track has an edge.

    The marker comes from `reset` and `step`, a slope that follows from where the puck starts from `begin`, gusts and a
    rod that joins the slides from `step`.
    """

    reads = ("xpos", "mocap_pos", "xfrc_applied")

    frame_skip: int = 3
    xml_file: str = "none"
    gust: float = 4.0  # N
    edge: float = 0.25  # m, from the start

    def load_model(self, **options) -> Model:
        """The text above."""
        return Model.from_mjcf(PUCK, **options)

    def bind(self) -> None:
        """Prepare forces of 1 N on the puck, along x and along y, among those on all bodies."""
        self.marker, self.puck = self.model.body("marker").id, self.model.body("puck").id
        along = np.zeros((2, self.model.nbody, 6))
        along[0, self.puck, 0] = along[1, self.puck, 1] = 1
        self.along = [self.array(one) for one in along]

    def reset(self, noise: Noise) -> Start:
        """The puck near the middle, the marker anywhere."""
        qpos, marker = noise.uniform(-0.05, 0.05, 2), noise.uniform(-1, 1, 3)
        memory = {"marker": marker, "steps": noise.integers(0, 5, 1)[:, 0]}
        return Start(qpos, 0 * qpos, memory, inputs={"mocap_pos": marker[:, None]})

    def begin(self, state: TaskState) -> ResetResult:
        """A slope that is the steeper, the further out the puck starts."""
        return ResetResult(self.observation(state), inputs={"qfrc_applied": 10 * state.qpos})

    def observation(self, state: TaskState):
        """Coordinates, the marker's place as it is set and as it was evaluated, and the push."""
        marker, place = state.fields["mocap_pos"][:, 0], state.fields["xpos"][:, self.marker]
        push = state.fields["xfrc_applied"][:, self.puck, :2]
        return self.xp.concat((state.coordinates, marker, place, push), axis=1)

    def step(self, state: TaskState, action) -> StepResult:
        """A gust in every fifth step, and a rod in the two after it; the marker wanders."""
        steps = state.memory["steps"] + 1
        force = self.array(self.gust * state.noise.normal(2)) * self.array(steps % 5 == 0)[:, None]
        push = sum(part * force[:, k, None, None] for k, part in enumerate(self.along))
        marker = state.memory["marker"] + self.array(0.02 * state.noise.uniform(-1, 1, 3))
        rod = (steps % 5 == 1) | (steps % 5 == 2)
        terms = {"reward": -row_norm(state.qpos - state.memory["marker"][:, :2])}
        return StepResult(
            self.observation(state),
            terms,
            memory={"marker": marker, "steps": steps},
            truncated=row_norm(state.qpos) > self.edge,
            inputs={"mocap_pos": marker[:, None], "xfrc_applied": push, "eq_active": rod[:, None]},
        )
