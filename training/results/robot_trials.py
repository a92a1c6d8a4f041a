"""Trials of robots: each is loaded, dropped for a second, held by its keyframe for a second, and drawn."""

import time
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from ...assets.robots import KnownRobot
from ...physics import Model, RigidSolver
from ...physics.model.loading.loading import compile_spec, open_mjcf
from ...physics.rendering import BatchRenderer, Camera, Show, save_png
from ...physics.run.settings import NON_FINITE

SECONDS = 1.0
_SAMPLES = 3  # rays along a pixel's side
_DRAWN = 3  # groups of geoms that are usually drawn, 0 to 2


class RobotSizes(NamedTuple):
    """The sizes of a model.

    Attributes:
        dofs: numbers that say how it moves (nv).
        actuators: how many.
        keyframes: their names, or numbers such as "#0".
        coordinates: numbers that say how it stands (nq).
        bodies: how many move or stand.
        geoms: shapes that collide or are seen.
        sensors: how many.
        mass: of all bodies, kg.
        timestep: of its file, s.
    """

    dofs: int
    actuators: int
    keyframes: tuple[str, ...] = ()
    coordinates: int = 0
    bodies: int = 0
    geoms: int = 0
    sensors: int = 0
    mass: float = 0.0
    timestep: float = 0.0

    @classmethod
    def of(cls, mj: mujoco.MjModel) -> "RobotSizes":
        """Return the sizes of a compiled model."""
        keys = tuple(mj.key(key).name or f"#{key}" for key in range(mj.nkey))
        counts = (mj.nq, mj.nbody - 1, mj.ngeom, mj.nsensor)
        return cls(mj.nv, mj.nu, keys, *counts, float(mj.body_mass.sum()), float(mj.opt.timestep))


class Trial(NamedTuple):
    """The outcome of a trial.

    Attributes:
        name: of the robot.
        sizes: of its model; None: it could not be loaded.
        seconds: of loading, compiling, stepping and drawing.
        fell: the largest change of a coordinate by the drop, m or rad; None: it was not dropped.
        moved: that from the keyframe that held it, of hinges and slides; None: it has no keyframe.
        picture: the picture of the end, (height, width, 3) uint8; None: it was not drawn.
        failure: what went wrong, in one sentence; "": nothing.
    """

    name: str
    sizes: RobotSizes | None = None
    seconds: float = 0.0
    fell: float | None = None
    moved: float | None = None
    picture: np.ndarray | None = None
    failure: str = ""


def try_robot(robot: KnownRobot, width: int = 320, height: int = 240) -> Trial:
    """Load, drop, hold and draw a robot, on the floor of its scene or on one of ours.

    Nothing is raised but interrupts: what goes wrong is told in the trial.
    """
    start, trial = time.perf_counter(), Trial(robot.name)
    try:
        model = stage(robot)
        mj = model.mj
        trial = trial._replace(sizes=RobotSizes.of(mj))
        solver = RigidSolver(model, 1)
        trial = trial._replace(fell=dropped(solver))
        if mj.nkey:
            trial = trial._replace(moved=held(solver))
        trial = trial._replace(picture=picture_of(solver, width, height))
    except Exception as error:  # whatever a file of others brings about is told in the table
        said = " ".join(str(error).split()) or type(error).__name__
        trial = trial._replace(failure=said)
    return trial._replace(seconds=time.perf_counter() - start)


def stage(robot: KnownRobot) -> Model:
    """Load a robot in its scene, if there is one here; else on a floor beneath its lowest point, if it has none."""
    scene = robot._replace(file=robot.scene)
    path = scene.path if robot.scene and scene.is_here else robot.path
    spec = open_mjcf(path)
    mj = compile_spec(spec, str(path))  # before it is copied: copies of a spec lose what names nothing
    if not np.isin(mj.geom_type, [int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)]).any():
        low, _ = bounds(mj)
        grey = [0.55, 0.6, 0.62, 1.0]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], pos=[0, 0, low[2]], rgba=grey)
    return Model.from_mjspec(spec)


def drawn_groups(mj: mujoco.MjModel) -> tuple[int, ...]:
    """Return the groups of geoms to draw: of a model with a skin, which is not drawn, also what it has under it."""
    bare = (mj.geom_contype == 0) & (mj.geom_conaffinity == 0) & (mj.nskin > 0)
    return tuple(sorted({*range(_DRAWN), *mj.geom_group[bare].tolist()}))


def shown_geoms(mj: mujoco.MjModel) -> np.ndarray:
    """Return a mask (ngeom,) of geoms of the robot that are drawn: not of the world, nor of targets (mocap bodies)."""
    of_a_body = (mj.geom_bodyid > 0) & (mj.body_mocapid[mj.geom_bodyid] < 0)
    return of_a_body & np.isin(mj.geom_group, drawn_groups(mj)) & (mj.geom_type != int(mujoco.mjtGeom.mjGEOM_PLANE))


def bounds(mj: mujoco.MjModel, data: mujoco.MjData | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box around what is drawn of a robot, along the axes of the world, (3,) m each.

    Args:
        mj: a compiled model.
        data: its present state; None: the reference state.
    """
    if data is None:
        data = mujoco.MjData(mj)
        mujoco.mj_forward(mj, data)
    shown = shown_geoms(mj)
    if not shown.any():
        return np.zeros(3), np.zeros(3)
    turn = data.geom_xmat[shown].reshape(-1, 3, 3)
    middle = data.geom_xpos[shown] + np.einsum("gij,gj->gi", turn, mj.geom_aabb[shown, :3])
    half = np.einsum("gij,gj->gi", np.abs(turn), mj.geom_aabb[shown, 3:])
    return (middle - half).min(0), (middle + half).max(0)


def dropped(solver: RigidSolver) -> float:
    """Drop a robot for a second from its reference state, its controls at zero.

    Returns:
        The largest change of a coordinate, m or rad.

    Raises:
        ValueError: its state stopped being finite.
    """
    solver.reset()
    return _change(solver, "dropped", np.arange(solver.model.mj.nq))


def held(solver: RigidSolver) -> float:
    """Hold a robot by its first keyframe for a second, with the keyframe's controls.

    Returns:
        The largest change of a coordinate of a hinge or a slide, m or rad.

    Raises:
        ValueError: its state stopped being finite.
    """
    solver.reset_to_keyframe(0)
    mj = solver.model.mj
    return _change(solver, "held by its keyframe", mj.jnt_qposadr[mj.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE)])


def _change(solver: RigidSolver, how: str, columns: np.ndarray) -> float:
    """Step for a second; return the largest change of some coordinates. The message of an error begins with `how`."""
    before = solver.qpos[0].cpu().numpy()
    solver.step(max(round(SECONDS / solver.model.mj.opt.timestep), 1))
    after = solver.qpos[0].cpu().numpy()
    if not np.isfinite(after).all() or int(solver.faults[0]) & NON_FINITE:
        raise ValueError(f"{how}: its state stopped being finite")
    return float(np.abs(after - before)[columns].max(initial=0.0))


def picture_of(solver: RigidSolver, width: int, height: int) -> np.ndarray:
    """Draw a robot as it is, whole, from its left front; (height, width, 3) uint8.

    Raises:
        ValueError: nothing of it is seen.
    """
    mj = solver.model.mj
    data = mujoco.MjData(mj)
    data.qpos[:] = solver.qpos[0].cpu().numpy()
    mujoco.mj_forward(mj, data)
    low, high = bounds(mj, data)
    distance = 1.1 * float(np.linalg.norm(high - low)) / (2.0 * np.tan(np.radians(45.0) / 2.0))
    camera = Camera(
        lookat=tuple((low + high) / 2.0), distance=max(distance, 0.05), azimuth=140.0, elevation=-15.0, trackbodyid=-1
    )
    show, near = Show(geom_groups=drawn_groups(mj), tendons=True), 0.02 * distance
    renderer = BatchRenderer(solver.model, width, height, camera=camera, samples=_SAMPLES, show=show, near=near)
    drawn = {name: tensor[0].cpu().numpy() for name, tensor in renderer.draw(solver, ("rgb", "segmentation")).items()}
    seen = drawn["segmentation"][drawn["segmentation"] >= 0]
    if not shown_geoms(mj)[seen].any():
        raise ValueError("nothing of it is seen in its picture")
    return drawn["rgb"]


def save_pictures(trials: list[Trial], folder: Path) -> list[Path]:
    """Write the pictures of trials into a folder, by the names of the robots."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        save_png(folder / f"{trial.name.replace(':', '-').replace('/', '-')}.png", trial.picture)
        for trial in trials
        if trial.picture is not None
    ]
