"""A paddle on a rail pushes a cube to a mark: a task on a scene."""

from pathlib import Path

import tumble
import tumble.scene as gs
from tumble.envs import Start, StepResult, Task


class Push(Task):
    """Push a cube to a mark."""

    frame_skip: int = 4  # physics steps, of dt / substeps of the scene
    mark: float = 0.3
    reads = ("xpos",)
    camera = {"lookat": (0.1, 0.0, 0.05), "distance": 1.3, "azimuth": 120.0, "elevation": -25.0}

    def build_scene(self):
        """Return the floor, the paddle, and a cube of one size or another."""
        scene = gs.Scene(gs.options.SimOptions(dt=0.005))
        scene.add_entity(gs.morphs.Plane(), name="floor")
        scene.add_entity(gs.morphs.MJCF(file=Path(__file__).with_name("slider.xml")), name="slider")
        cubes = [gs.morphs.Box(size=(edge, 0.1, 0.1), pos=(0.0, 0.0, 0.05)) for edge in (0.08, 0.12)]
        scene.add_entity(cubes, gs.materials.Rigid(rho=300), name="cube")
        return scene

    def bind(self):
        """Look up both entities."""
        self.cube, self.slider = self.scene_entity("cube"), self.scene_entity("slider")

    def reset(self, noise):
        """Place the cube within 0.1 m."""
        qpos = self.init_qpos + 0.0 * noise.uniform(0, 1, 1)  # (n, nq)
        qpos[:, self.cube.q_start] += noise.uniform(-0.1, 0.1, 1)[:, 0]
        return Start(qpos, 0.0 * self.init_qpos[: self.model.nv])

    def observation(self, state):
        """Return paddle and cube, and their velocities: (n, 6)."""
        paddle = state.fields["xpos"][:, self.slider.links["paddle"], :1]
        place = state.qpos[:, self.cube.q_start : self.cube.q_start + 2]
        moving = (state.qvel[:, self.slider.qvel], state.qvel[:, self.cube.dof_start : self.cube.dof_start + 2])
        return self.xp.concat((paddle, place, *moving), axis=1)

    def step(self, state, action):
        """Reward a cube near the mark."""
        off = abs(state.qpos[:, self.cube.q_start] - self.mark)
        reached = self.xp.astype(off < 0.02, off.dtype)
        return StepResult(
            self.observation(state), {"near": -off, "reached": reached, "effort": -0.01 * action[:, 0] ** 2}
        )


tumble.register("me/Push-v0", Push, max_episode_steps=100)
