"""Tasks on scenes, for tests: a slider with a motor pushes a cube; and cubes of several sizes fall."""

import numpy as np

import tumble.scene as gs
from tumble.envs import ResetResult, Start, StepResult, Task

SLIDER = """
<mujoco model="slider">
  <default><geom density="800"/></default>
  <worldbody>
    <body name="paddle" pos="-0.3 0 0.1">
      <joint name="slide" type="slide" axis="1 0 0" range="-0.2 0.6" damping="1"/>
      <geom name="face" type="box" size="0.02 0.1 0.08"/>
      <site name="tip" pos="0.02 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="slide" gear="20" ctrlrange="-1 1"/></actuator>
  <sensor><touch name="felt" site="tip"/></sensor>
</mujoco>
"""


class PushCube(Task):
    """Push a cube along x."""

    file: str = "slider.xml"
    frame_skip: int = 4
    reads = ("xpos", "sensordata")

    def build_scene(self):
        scene = gs.Scene(gs.options.SimOptions(dt=0.005))
        scene.add_entity(gs.morphs.Plane(), name="floor")
        scene.add_entity(gs.morphs.MJCF(file=self.file), name="slider")
        scene.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 0.05)), name="cube")
        return scene

    def bind(self):
        self.cube, self.slider = self.scene_entity("cube"), self.scene_entity("slider")
        self.paddle = self.slider.links["paddle"]

    def reset(self, noise):
        aside = noise.uniform(-0.05, 0.05, 2)
        qpos = self.init_qpos + 0.0 * aside[:, :1]
        qpos[:, self.cube.q_start : self.cube.q_start + 2] += aside
        return Start(qpos, self.xp.zeros(self.model.nv, dtype=qpos.dtype))

    def observation(self, state):
        return self.xp.concat((state.qpos[:, self.cube.qpos], state.qvel[:, self.slider.qvel]), axis=1)

    def begin(self, state):
        return ResetResult(self.observation(state))

    def step(self, state, action):
        gap = state.fields["xpos"][:, self.cube.body, 0] - state.fields["xpos"][:, self.paddle, 0]
        return StepResult(self.observation(state), {"forward": state.qpos[:, self.cube.q_start], "near": -gap})


class SizesTask(Task):
    """Let a cube of one of three sizes fall, and a ball of one of two beside it."""

    reads = ("xpos",)
    sizes: tuple = (0.1, 0.2, 0.3)

    def build_scene(self):
        scene = gs.Scene(gs.options.SimOptions(dt=0.005))
        scene.add_entity(gs.morphs.Plane())
        boxes = [gs.morphs.Box(size=(edge, 0.2, 0.1), pos=(edge, 0, 0.3)) for edge in self.sizes]
        scene.add_entity(boxes, gs.materials.Rigid(rho=500), name="box")
        posts = [gs.morphs.Capsule(radius=r, height=0.4, pos=(0, 1, 0.2), fixed=True) for r in (0.05, 0.1)]
        scene.add_entity(posts, name="post")
        return scene

    def bind(self):
        self.box = self.scene_entity("box")

    @property
    def action_space(self):
        import gymnasium

        return gymnasium.spaces.Discrete(1)

    def control(self, state, action):
        return self.xp.zeros((len(state.qpos), 0), dtype=state.qpos.dtype)

    def reset(self, noise):
        return Start(self.init_qpos + 0.0 * noise.uniform(0, 1, 1), np.zeros(self.model.nv))

    def observation(self, state):
        return state.qpos[:, self.box.qpos]

    def step(self, state, action):
        return StepResult(self.observation(state), {"alive": 1.0 + 0.0 * state.qpos[:, 0]})
