"""The control suite as the reference: dm_control's own tasks, put into the states of ours."""

import importlib.util
import os
from functools import cache
from typing import Any

import mujoco
import numpy as np

THEIRS = {
    "CartPoleBalance": ("cartpole", "balance"),
    "CartPoleSwingUp": ("cartpole", "swingup"),
    "PendulumSwingUp": ("pendulum", "swingup"),
    "AcrobotSwingUp": ("acrobot", "swingup"),
    "FingerSpin": ("finger", "spin"),
    "BallInCup": ("ball_in_cup", "catch"),
    "PointMass": ("point_mass", "easy"),
    "ReacherHard": ("reacher", "hard"),
    "WalkerWalk": ("walker", "walk"),
    "WalkerRun": ("walker", "run"),
    "CheetahRun": ("cheetah", "run"),
    "FishSwim": ("fish", "swim"),
}
"""The suite's domain and task of each of ours."""


def available() -> bool:
    """Return True if dm_control and what its suite imports are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("dm_control", "dm_env"))


@cache
def suite() -> Any:
    """Import dm_control's suite under any MuJoCo of the same format of files.

    It wants to index fields of the model that later releases of MuJoCo do not have.
    """
    os.environ.setdefault("MUJOCO_GL", "disable")
    from dm_control.mujoco.wrapper.mjbindings import sizes

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    for name, kept in (("mjmodel", model), ("mjdata", mujoco.MjData(model))):
        fields = sizes.array_sizes[name]
        for field in [field for field in fields if not hasattr(kept, field)]:
            del fields[field]
    from dm_control import mujoco as engine
    from dm_control import suite as theirs

    engine.Physics.contexts = None  # which a task asks for, and which needs OpenGL
    return theirs


class Reference:
    """One of dm_control's tasks, with its physics in a state of ours."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self.env = suite().load(*THEIRS[name], task_kwargs={"random": seed})
        self.env.reset()
        self.physics, self.task = self.env.physics, self.env.task
        self.model = self.physics.model.ptr
        self.model.opt.tolerance, self.model.opt.iterations = 1e-12, 200

    def put(self, qpos: np.ndarray, qvel: np.ndarray, target: np.ndarray | None = None) -> None:
        """Put the physics into a state with nothing remembered; the target is a place (2 or 3,)."""
        if target is not None:
            self.physics.named.model.geom_pos["target"][: len(target)] = target
        with self.physics.reset_context():
            self.physics.data.qpos[:], self.physics.data.qvel[:] = qpos, qvel

    def see(self, control: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the observation and the reward of the present state, as after a step under a control."""
        self.physics.set_control(control)
        return self.observation(), float(self.task.get_reward(self.physics))

    def step(self, control: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Return observation, reward, and True where the task itself ended the episode, of a step under a control."""
        self.env._step_count = 0
        result = self.env.step(control)
        return self.observation(), float(result.reward), result.last()

    def observation(self) -> np.ndarray:
        """Return the observation of the present state, its parts in their order side by side."""
        parts = self.task.get_observation(self.physics).values()
        return np.concatenate([np.ravel(part) for part in parts])


class Original(Reference):
    """One of dm_control's tasks by the id of ours, with its physics in states of ours."""

    def __init__(self, identity: str, task: Any) -> None:
        domain, _, name = identity.removeprefix("dm_control/").removesuffix("-v0").partition("-")
        self.env = suite().load(domain, name, task_kwargs={"random": 0})
        self.env.reset()
        self.physics, self.task, self.ours = self.env.physics, self.env.task, task
        self.model = self.physics.model.ptr
        self.model.opt.tolerance, self.model.opt.iterations = 1e-12, 200
        if task.model.nhfield and task.model.hfield_data.any():
            self._take_terrain()
        names = [self.model.sensor(k).name for k in range(self.model.nsensor)]
        self._felt = []  # columns of sensors of forces and accelerations here, and in our model
        for name in names:
            sensor = self.model.sensor(name)
            if int(self.model.sensor_needstage[sensor.id]) == int(mujoco.mjtStage.mjSTAGE_ACC):
                mine, width = task.model.sensor(name), int(sensor.dim[0])
                self._felt += [(int(sensor.adr[0]) + k, int(mine.adr[0]) + k) for k in range(width)]

    def _take_terrain(self) -> None:
        """Take the heights of our terrain."""
        model, own = self.model, self.ours.model
        model.hfield_data[:], model.hfield_size[:] = own.hfield_data, own.hfield_size
        model.geom("terrain").pos[:] = own.geom("terrain").pos

    def states_of(self, solver: Any) -> list[tuple[np.ndarray, ...]]:
        """Return qpos, qvel and act of each environment."""
        return list(zip(*(solver.get(name).numpy() for name in ("qpos", "qvel", "act")), strict=True))

    def place(self, envs: Any, i: int) -> dict[str, Any]:
        """Return what an episode of ours placed or drew, to be written into dm_control's model."""
        solver, own, found = envs.unwrapped.solver, self.ours.model, {}
        for body in np.flatnonzero(own.body_mocapid >= 0):
            k = int(own.body_mocapid[body])
            found[own.body(body).name] = solver.mocap_pos[i, k].numpy(), solver.mocap_quat[i, k].numpy()
        memory = envs.unwrapped.batch._memory.arrays
        if "directions" in memory:
            found["wrap_prm"] = np.asarray(memory["directions"][i]).ravel()
        if hasattr(self.ours, "bodies") and hasattr(self.ours, "actuated"):
            found["jnt_stiffness"] = solver.get_parameters("jnt_stiffness")[i].numpy()
        return found

    def placed(self, names: dict[str, Any]) -> dict[str, Any]:
        """Return what dm_control's episode placed or drew, by the names of `place`."""
        model, found = self.model, {}
        for name, value in names.items():
            if name in ("wrap_prm", "jnt_stiffness"):
                found[name] = getattr(model, name)[: len(value)]
                continue
            kind = self._kind_of(name)
            part = getattr(model, kind)(name)
            found[name] = part.pos, part.quat if kind == "body" else value[1]
        return found

    @staticmethod
    def flat(place: dict[str, Any]) -> list[np.ndarray]:
        """Return all numbers of a place, side by side."""
        return [np.ravel(np.concatenate([np.ravel(part) for part in value])) for value in place.values()]

    def _kind_of(self, name: str) -> str:
        """Return which kind of thing dm_control's model has by a name: a body, a geom or a site."""
        for kind, count in (("body", self.model.nbody), ("geom", self.model.ngeom)):
            if name in [getattr(self.model, kind)(k).name for k in range(count)]:
                return kind
        return "site"

    def put(self, state: tuple[np.ndarray, ...], place: dict[str, Any]) -> None:
        """Put the physics into a state with nothing remembered."""
        named, model = self.physics.named.model, self.model
        for name, value in place.items():
            if name in ("wrap_prm", "jnt_stiffness"):
                getattr(model, name)[: len(value)] = value.reshape(getattr(model, name)[: len(value)].shape)
            else:
                kind = self._kind_of(name)
                getattr(named, f"{kind}_pos")[name] = value[0]
                if kind == "body":
                    named.body_quat[name] = value[1]
        with self.physics.reset_context():
            self.physics.data.qpos[:], self.physics.data.qvel[:], self.physics.data.act[:] = state

    def see(self, control: np.ndarray, felt: np.ndarray) -> tuple[np.ndarray, float]:
        """Return observation and reward of the present state, with forces as ours felt them."""
        self.physics.set_control(control)
        for here, there in self._felt:
            self.physics.data.sensordata[here] = felt[there]
        return self.observation(), float(self.task.get_reward(self.physics))
