"""Tasks on scenes: the places of entities in the arrays of states, by name."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco

if TYPE_CHECKING:
    from ...scene import Scene

SEPARATOR = "/"


@dataclass(frozen=True)
class SceneEntity:
    """The places of an entity in the arrays of a task's state, by the names that its file has, without the entity's.

    Attributes:
        name: of the entity.
        qpos, qvel: its columns of `state.qpos` and `state.qvel`.
        bodies: its rows of `xpos`, `xquat`, `cvel` and so on.
        geoms: its rows of `geom_xpos` and so on.
        controls: its columns of controls; empty if it has no actuators.
        links: the row of each link.
        joints: the columns of each joint, of `state.qpos` and of `state.qvel`.
        geom, site, actuator: the number of each.
        sensors: the columns of each in `sensordata`.
    """

    name: str
    qpos: slice
    qvel: slice
    bodies: slice
    geoms: slice
    controls: slice
    links: Mapping[str, int]
    joints: Mapping[str, tuple[slice, slice]]
    geom: Mapping[str, int]
    site: Mapping[str, int]
    actuator: Mapping[str, int]
    sensors: Mapping[str, slice]

    @property
    def q_start(self) -> int:
        """Its first column of `state.qpos`."""
        return int(self.qpos.start)

    @property
    def q_end(self) -> int:
        """One more than its last column of `state.qpos`."""
        return int(self.qpos.stop)

    @property
    def dof_start(self) -> int:
        """Its first column of `state.qvel`."""
        return int(self.qvel.start)

    @property
    def dof_end(self) -> int:
        """One more than its last column of `state.qvel`."""
        return int(self.qvel.stop)

    @property
    def body(self) -> int:
        """The row of its first link."""
        return int(self.bodies.start)


class NamedParts(dict[str, Any]):
    """Numbers by names; an unknown name is refused with the nearest."""

    def __init__(self, owner: str, kind: str, found: Mapping[str, Any]) -> None:
        super().__init__(found)
        self._owner, self._kind = owner, kind

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"entity '{self._owner}' has no {self._kind} {name!r}; {nearest(name, self)}")

    def __reduce__(self) -> tuple:
        return NamedParts, (self._owner, self._kind, dict(self))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    return f"nearest: {', '.join(close)}" if close else f"there is {', '.join(names) or 'none'}"


def scene_entity(mj: mujoco.MjModel, name: str) -> SceneEntity:
    """Return the places of an entity of a scene.

    Raises:
        KeyError: for an unknown name, with the nearest.
    """
    names = list(dict.fromkeys(mj.body(body).name.split(SEPARATOR)[0] for body in range(1, mj.nbody)))
    if name not in names:
        raise KeyError(f"the scene has no entity {name!r}; {nearest(name, names)}")
    start = f"{name}{SEPARATOR}"

    def own(kind: str, count: int) -> dict[str, int]:
        named = ((getattr(mj, kind)(number).name, number) for number in range(count))
        return {full.removeprefix(start): number for full, number in named if full.startswith(start)}

    links, joints = own("body", mj.nbody), own("joint", mj.njnt)
    rows = set(links.values())
    qs, dofs = [*mj.jnt_qposadr.tolist(), mj.nq], [*mj.jnt_dofadr.tolist(), mj.nv]
    columns = {
        joint: (slice(qs[number], qs[number + 1]), slice(dofs[number], dofs[number + 1]))
        for joint, number in joints.items()
    }
    parts: dict[str, Mapping[str, Any]] = {
        "link": links,
        "joint": columns,
        "geom": own("geom", mj.ngeom),
        "site": own("site", mj.nsite),
        "actuator": own("actuator", mj.nu),
        "sensor": {
            sensor: slice(int(mj.sensor_adr[number]), int(mj.sensor_adr[number] + mj.sensor_dim[number]))
            for sensor, number in own("sensor", mj.nsensor).items()
        },
    }
    return SceneEntity(
        name,
        _together([q for q, _ in columns.values()]),
        _together([dof for _, dof in columns.values()]),
        _together([slice(row, row + 1) for row in rows]),
        _together([slice(geom, geom + 1) for geom, body in enumerate(mj.geom_bodyid.tolist()) if body in rows]),
        _together([slice(number, number + 1) for number in _actuators(mj, start, set(joints.values()))]),
        *(NamedParts(name, kind, named) for kind, named in parts.items()),
    )


def _actuators(mj: mujoco.MjModel, start: str, joints: set[int]) -> list[int]:
    """Return the numbers of actuators that have an entity's name, or none and one of its joints."""
    on_joints = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    ids = []
    for number in range(mj.nu):
        name = mj.actuator(number).name
        on_joint = int(mj.actuator_trntype[number]) in on_joints and int(mj.actuator_trnid[number, 0]) in joints
        if name.startswith(start) or (not name and on_joint):
            ids.append(number)
    return ids


def _together(parts: list[slice]) -> slice:
    """Return the slice that joins adjacent slices; slice(0, 0) for an empty list."""
    return slice(min(part.start for part in parts), max(part.stop for part in parts)) if parts else slice(0, 0)


def require_scene(scene: Any, task: str) -> "Scene":
    """Return the scene that a task's `build_scene` returned, after checks.

    Raises:
        TypeError: it is no scene.
        ValueError: it is built already, or has emitters or sensors, which only scenes have.
    """
    from ...scene import Scene

    if not isinstance(scene, Scene):
        raise TypeError(f"{task}.build_scene returned {scene!r}; needed is a tumble.scene.Scene")
    if scene.is_built:
        raise ValueError(
            f"{task}.build_scene: the scene is built; return it without a call of build(), as the environments are the "
            "task's"
        )
    if scene.emitters:
        raise ValueError(
            f"{task}.build_scene: the scene has an emitter, which only scenes drive; give particles that do not exist "
            "yet, and `set_particles(active=...)` brings them"
        )
    if scene.sensors:
        raise ValueError(
            f"{task}.build_scene: the scene has sensors, which only scenes read; name quantities in `reads` and rays "
            "in `rays`, or read `sensordata` of an MJCF file's sensors"
        )
    return scene
