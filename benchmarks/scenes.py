"""Physics steps of crowded scenes against MuJoCo's own C loop: piles, several robots in one file, a long chain.

The tasks' robots touch a floor with a few points. Here bodies touch each other, and every environment has a different
history, so that no two environments of a tile have the same contacts.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from .. import assets
from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from .ground_scenes import humanoid_on_ground, quadruped_on_ground, scatter_over_ground
from .hull_scenes import add_hulls, arm, quadruped
from .linked_scenes import biped, gripper_arm, hand
from .models import SETTINGS, scatter
from .physics import compare, new_result
from .results import BenchmarkResult, Table

TIMESTEP = 0.004  # seconds, of the scenes that are built here
SETTLING = 150  # physics steps from the shaken start to the states that are compared
SHAKEN, SPIN, SWING = 0.01, 3.0, 0.1
"""Standard deviations of the first states: metres (or rad of a hinge), and rad/s of bodies and of hinges;
bodies move at 1 m/s."""
PITCH = 0.22  # metres between neighbours in a pile


class BenchmarkScene(NamedTuple):
    """A scene, how many times MuJoCo's speed it should have on one thread, and how its environments begin.

    `begin(solver, steps)` brings them to their states; None: by random actions, or from shaken starts. On fields of
    heights and of distances Tumble chooses other contacts than MuJoCo does: there the work is not `alike`.
    """

    build: Callable[[], mujoco.MjSpec]
    faster: float
    begin: Callable[[RigidSolver, int], None] | None = None
    alike: bool = True


def run(models: Sequence[str], num_envs: int, steps: int, rounds: int, threads: int) -> BenchmarkResult:
    """Compare every scene; the arguments as in `physics.run`, the names as in `SCENES`."""
    init(precision="32", threads=threads)
    result = new_result(num_envs, threads, f"{SETTLING} steps with random actions, or from shaken starts")
    result.tables.append(scratch := Table("Scratch of a thread after all that", {"model": "", "MB": ".2f"}))
    for name in models:
        spec = SCENES[name].build()
        spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON  # MuJoCo's; Tumble chooses its solver
        solver = RigidSolver(Model.from_mjspec(spec, **SETTINGS | {"solver": "auto"}), num_envs)
        begin = SCENES[name].begin
        if begin:
            begin(solver, SETTLING)
        elif solver.model.mj.nu:
            scatter(solver, SETTLING)
        else:
            shake(solver)
            solver.step(SETTLING)
        compare(result, name, solver, steps, rounds, threads, SCENES[name].faster, SCENES[name].alike)
        scratch.rows.append({"model": name, "MB": solver._driver.scratch_bytes / 1e6})
    return result


def shake(solver: RigidSolver) -> None:
    """Give every environment another start: positions near the reference ones, and random velocities."""
    mj, rng = solver.model.mj, np.random.default_rng(0)
    qpos = np.tile(mj.qpos0, (solver.num_envs, 1))
    qvel = rng.standard_normal((solver.num_envs, mj.nv))
    for joint in range(mj.njnt):
        q, v = mj.jnt_qposadr[joint], mj.jnt_dofadr[joint]
        free = mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        width = 3 if free else 1
        qpos[:, q : q + width] += SHAKEN * rng.standard_normal((solver.num_envs, width))
        if free:
            qvel[:, v + 3 : v + 6] *= SPIN
        else:
            qvel[:, v] *= SWING
    solver.set_state(qpos=qpos, qvel=qvel)


# -- the scenes --------------------------------------------------------------------------------------------------------


def _empty() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = TIMESTEP
    return spec


def _plane(spec: mujoco.MjSpec, pos: tuple[float, ...] = (0, 0, 0), normal: tuple[float, ...] = (0, 0, 1)) -> None:
    geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], pos=pos)
    geom.alt.type, geom.alt.zaxis = mujoco.mjtOrientation.mjORIENTATION_ZAXIS, normal


def _free_body(spec: mujoco.MjSpec, pos: tuple[float, ...], kind: mujoco.mjtGeom, size: list[float]) -> None:
    body = spec.worldbody.add_body(pos=pos)
    body.add_freejoint()
    body.add_geom(type=kind, size=size, mass=1)


def pile(kind: mujoco.mjtGeom, size: list[float], count: int) -> mujoco.MjSpec:
    """Bodies of 1 kg that fall into a bin of five planes, four by four in a layer."""
    spec = _empty()
    _plane(spec)
    wide = 3 * PITCH + 0.15
    for pos, normal in (((-0.15, 0, 0), (1, 0, 0)), ((wide, 0, 0), (-1, 0, 0))):
        _plane(spec, pos, normal)
        _plane(spec, (pos[1], pos[0], 0), (normal[1], normal[0], 0))
    for i in range(count):
        layer, place = divmod(i, 16)
        _free_body(spec, (place % 4 * PITCH, place // 4 * PITCH, 0.1 + layer * PITCH), kind, size)
    return spec


def pile_of_hulls(count: int) -> mujoco.MjSpec:
    """Return a pile as `pile` does, of meshes with 20 to 60 corners."""
    spec = pile(BOX, [0.1, 0.08, 0.06], count)
    bodies = [geom for geom in spec.geoms if geom.type == BOX]
    for geom, mesh in zip(bodies, add_hulls(spec, count), strict=True):
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh
    return spec


def pile_of_rings(count: int) -> mujoco.MjSpec:
    """Return a pile as `pile` does, of rings that collide by distance fields."""
    spec = pile(BOX, [0.1, 0.1, 0.03], count)
    bodies = [geom for geom in spec.geoms if geom.type == BOX]
    mesh = spec.add_mesh(name="ring", scale=[0.1, 0.1, 0.1])
    mesh.make_supertorus(32, 0.3, 1.0, 1.0)
    for geom in bodies:
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_SDF, mesh.name
    return spec


def boxes_apart(count: int) -> mujoco.MjSpec:
    """Boxes side by side on a plane, which touch nothing else."""
    spec = _empty()
    _plane(spec)
    for i in range(count):
        _free_body(spec, (i % 6, i // 6, 0.1), BOX, [0.1, 0.1, 0.1])
    for geom in spec.geoms:
        floor = geom.type == mujoco.mjtGeom.mjGEOM_PLANE
        geom.contype, geom.conaffinity = int(floor), int(not floor)
    return spec


def pyramid(layers: int) -> mujoco.MjSpec:
    """Boxes of 1 kg, each on two of the layer below, the lowest on a plane."""
    spec = _empty()
    _plane(spec)
    for layer in range(layers):
        for i in range(layers - layer):
            _free_body(spec, (0.22 * (i + 0.5 * layer), 0, 0.1 + 0.2 * layer), BOX, [0.1, 0.1, 0.1])
    return spec


def robots(file: str, count: int) -> mujoco.MjSpec:
    """So many robots of a task in one file, two metres apart."""
    spec = mujoco.MjSpec.from_file(str(assets.find(file)))
    for i in range(1, count):
        other = mujoco.MjSpec.from_file(str(assets.find(file)))
        frame = spec.worldbody.add_frame(pos=[2 * (i % 4), 2 * (i // 4), 0])
        frame.attach_body(other.worldbody.first_body(), f"{i}-", "")
    return spec


def chain(count: int) -> mujoco.MjSpec:
    """A hanging chain of links of 0.1 m, whose hinges turn about two axes by turns; links do not touch."""
    spec = _empty()
    body = spec.worldbody
    for i in range(count):
        body = body.add_body(pos=[0, 0, -0.1 if i else 0])
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[i % 2, 1 - i % 2, 0], damping=0.1)
        link = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[0.02, 0, 0], fromto=[0, 0, 0, 0, 0, -0.1])
        link.contype = link.conaffinity = 0
    return spec


SPHERE, CAPSULE, BOX = (getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("SPHERE", "CAPSULE", "BOX"))
SCENES = {
    "boxes-30": BenchmarkScene(lambda: boxes_apart(30), 10.0),
    "spheres-27": BenchmarkScene(lambda: pile(SPHERE, [0.1, 0, 0], 27), 3.0),
    "spheres-64": BenchmarkScene(lambda: pile(SPHERE, [0.1, 0, 0], 64), 3.0),
    "capsules-27": BenchmarkScene(lambda: pile(CAPSULE, [0.05, 0.05, 0], 27), 3.0),
    "bin-boxes-27": BenchmarkScene(lambda: pile(BOX, [0.1, 0.08, 0.06], 27), 2.0),
    "bin-boxes-64": BenchmarkScene(lambda: pile(BOX, [0.1, 0.08, 0.06], 64), 2.0),
    "bin-hulls-27": BenchmarkScene(lambda: pile_of_hulls(27), 2.0),
    "bin-rings-27": BenchmarkScene(lambda: pile_of_rings(27), 2.0, alike=False),
    "arm-hulls": BenchmarkScene(lambda: arm(TIMESTEP), 5.0),
    "quadruped-boxes": BenchmarkScene(lambda: quadruped(TIMESTEP), 5.0),
    "hand-tendons": BenchmarkScene(lambda: hand(TIMESTEP), 5.0),
    "biped-closed": BenchmarkScene(lambda: biped(TIMESTEP), 5.0),
    "arm-welded": BenchmarkScene(lambda: gripper_arm(TIMESTEP), 5.0),
    "pyramid-55": BenchmarkScene(lambda: pyramid(10), 2.0),
    "humanoids-3": BenchmarkScene(lambda: robots("humanoid.xml", 3), 8.0),
    "humanoids-10": BenchmarkScene(lambda: robots("humanoid.xml", 10), 6.0),
    "chain-100": BenchmarkScene(lambda: chain(100), 6.0),
    "quadruped-rough": BenchmarkScene(
        lambda: quadruped_on_ground(TIMESTEP, 200), 8.0, scatter_over_ground, alike=False
    ),
    "quadruped-rough-2000": BenchmarkScene(
        lambda: quadruped_on_ground(TIMESTEP, 2000), 8.0, scatter_over_ground, alike=False
    ),
    "humanoid-rough": BenchmarkScene(lambda: humanoid_on_ground(200), 5.0, scatter_over_ground, alike=False),
}
