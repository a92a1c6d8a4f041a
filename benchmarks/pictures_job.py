"""The process of `pictures.py` that draws one model with a number of threads; it prints its rows as JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import mujoco
import numpy as np
import torch
import trimesh

from ..physics.machine.runtime import init
from ..physics.rendering import BatchRenderer, Camera
from .timing import take_turns

PEER_ENVS = 8
"""Environments that a peer draws, one after the other, in one stretch."""
_GROUPS = np.array([1, 1, 1, 0, 0, 0], np.uint8)
_FIELDS = ("geom_xpos", "geom_xmat", "subtree_com")
_ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
MESHES = "of meshes"


class Poses:
    """Environments in random poses, as a renderer reads them."""

    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, mj: mujoco.MjModel, num_envs: int) -> None:
        self.model, self.num_envs, self.data = SimpleNamespace(mj=mj), num_envs, []
        rng = np.random.default_rng(0)
        rows: dict[str, list[np.ndarray]] = {name: [] for name in _FIELDS}
        for env in range(num_envs):
            data = mujoco.MjData(mj)
            mujoco.mj_integratePos(mj, data.qpos, rng.normal(0.0, 0.2, mj.nv), 1.0)
            mujoco.mj_forward(mj, data)
            for name, found in rows.items():
                found.append(np.array(getattr(data, name)))
            if env < PEER_ENVS:
                self.data.append(data)
        self._fields = {name: torch.as_tensor(np.stack(found), dtype=self.dtype) for name, found in rows.items()}

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return fields by MuJoCo's names."""
        return {name: self._fields[name] for name in names}


def load(name: str) -> mujoco.MjModel:
    """Return one of Gymnasium's models; "... of meshes" has meshes of about a thousand triangles for capsules."""
    base, _, meshes = name.partition(" ")
    spec = mujoco.MjSpec.from_file(str(_ASSETS / f"{base}.xml"))
    if meshes != MESHES:
        return spec.compile()
    plain = spec.copy().compile()
    kinds = mujoco.mjtGeom
    for number, geom in enumerate(spec.geoms):
        kind, (radius, half, _) = int(plain.geom_type[number]), plain.geom_size[number]
        if kind not in (int(kinds.mjGEOM_CAPSULE), int(kinds.mjGEOM_SPHERE)):
            continue
        if kind == int(kinds.mjGEOM_SPHERE):
            shape = trimesh.creation.icosphere(3, radius)
        else:
            shape = trimesh.creation.capsule(2 * half, radius, count=[24, 24])
        spec.add_mesh(name=f"shape {number}", uservert=shape.vertices.ravel(), userface=shape.faces.ravel())
        geom.type, geom.meshname, geom.fromto = kinds.mjGEOM_MESH, f"shape {number}", np.full(6, np.nan)
        geom.pos, geom.quat = plain.geom_pos[number], plain.geom_quat[number]
    return spec.compile()


def main() -> None:
    """Measure the job in the argument, in JSON."""
    job = json.loads(sys.argv[1])
    threads = job["threads"]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)
    init(precision="32", threads=threads)
    mj = load(job["model"])
    poses = Poses(mj, job["num_envs"])
    rows = [_row(job["model"], poses, size, job["rounds"], threads) for size in job["sizes"]]
    print(json.dumps(rows))


def _row(model: str, poses: Poses, size: int, rounds: int, threads: int) -> dict[str, Any]:
    """Return the figures of one size."""
    camera = Camera(distance=5.0, azimuth=120.0, elevation=-20.0)
    renderer = BatchRenderer(poses.model, size, size, camera=camera)
    sides = {
        "colour": lambda: _timed(lambda: renderer.draw(poses, ("rgb", "depth"))),
        "depth": lambda: _timed(lambda: renderer.draw(poses, ("depth", "segmentation"))),
        "rays": _rays_side(poses, renderer, threads),
    }
    drawing = _opengl_side(poses, size, camera)
    if drawing is not None:
        sides["opengl"] = drawing
    found = take_turns(sides, rounds)
    count, few = poses.num_envs, len(poses.data)
    rates = {name: (count if name in ("colour", "depth") else few) / each.median for name, each in found.items()}
    opengl = rates.get("opengl")
    return {
        "model": model,
        "size": f"{size} x {size}",
        "threads": threads,
        "colour + depth/s": rates["colour"],
        "mujoco.Renderer/s": opengl,
        "ratio": None if opengl is None else rates["colour"] / opengl,
        "depth + geoms/s": rates["depth"],
        "mj_multiRay/s": rates["rays"],
        "depth ratio": rates["depth"] / rates["rays"],
        "spread": {name: each.spread for name, each in found.items()},
    }


def _timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _opengl_side(poses: Poses, size: int, camera: Camera) -> Callable[[], float] | None:
    """Return `mujoco.Renderer`'s side; None if OpenGL does not run here."""
    try:
        renderer = mujoco.Renderer(poses.model.mj, size, size)
    except Exception as error:  # whatever EGL's drivers raise
        print(f"mujoco.Renderer does not run here: {error}", file=sys.stderr)
        return None
    view = mujoco.MjvCamera()
    view.type, view.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, 1
    view.distance, view.azimuth, view.elevation = camera.distance, camera.azimuth, camera.elevation

    def work() -> None:
        for data in poses.data:
            renderer.disable_depth_rendering()
            renderer.update_scene(data, view)
            renderer.render()
            renderer.enable_depth_rendering()
            renderer.render()

    return lambda: _timed(work)


def _rays_side(poses: Poses, renderer: BatchRenderer, threads: int) -> Callable[[], float]:
    """Return `mj_multiRay`'s side, whose environments are shared among threads."""
    eye, view = renderer.camera_poses(poses)
    rays = (renderer.rays().reshape(1, -1, 3).double() @ view.double().transpose(1, 2)).numpy()
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    count, places = rays.shape[1], eye.double().numpy()
    room = [(np.zeros(count, np.int32), np.zeros(count)) for _ in poses.data]
    pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def cast(env: int) -> None:
        geoms, far = room[env]
        vec, all_of_it = rays[env].ravel(), float(mujoco.mjMAXVAL)
        mj, data = poses.model.mj, poses.data[env]
        mujoco.mj_multiRay(mj, data, places[env], vec, _GROUPS, 1, -1, geoms, far, None, count, all_of_it)

    def work() -> None:
        for _ in (pool.map if pool else map)(cast, range(len(poses.data))):
            pass

    return lambda: _timed(work)
