"""The rigid bodies as a solver of matter sees them, such as sand or soft bodies, and the wrenches by which it acts."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from ...base.rotations import quat_mul, quat_to_rows, rotate
from ..readout.body_inertia import BodyInertia
from ..readout.derived import shaped
from .columns import as_columns
from .environments import Environments
from .graph_driver import GraphDriver

WRENCH = "matter_wrench"
_MOTION = ("xipos", "inertial_offset", "com_offset", "cvel", "cacc", "cdof", "M")
_GEOM = ("geom_pos", "geom_quat")
_REFUSAL = (
    "coupling: bodies of this model have no wrench of matter; load it with the option matter=True, as in "
    "Model.from_mjcf(path, matter=True)"
)


class CoupledBodies(NamedTuple):
    """The motion and inertia of k bodies in n environments, in the world's frame.

    Attributes:
        com: centres of mass, m, (n, k, 3).
        velocity: of the centre of mass (m/s), then angular (rad/s), (n, k, 6).
        acceleration: their rates if there were no matter, m/s^2 and rad/s^2, (n, k, 6): qacc of the present state, with
            gravity, actuators, joints' constraints and contacts. With an implicit integrator, or Euler's and damped
            joints, the rate over a step is a little less, as these take dampers at the end of the step.
        root: a lower triangular factor L of the inverse inertia at the centre of mass: L L' f is how the velocity
            changes by an impulse f (N s, N m s), (n, k, 6, 6).
    """

    com: torch.Tensor
    velocity: torch.Tensor
    acceleration: torch.Tensor
    root: torch.Tensor


class GeomPoses(NamedTuple):
    """The poses of g geoms in n environments.

    Attributes:
        pos: positions, m, (n, g, 3).
        mat: orientations, rotation matrices from the geom's frame to the world's, (n, g, 3, 3).
    """

    pos: torch.Tensor
    mat: torch.Tensor


@dataclass
class _Bodies:
    """Bodies as indices: (k,) each, and (6 k,) columns of their wrenches."""

    bodies: torch.Tensor
    roots: torch.Tensor
    inertia: BodyInertia
    columns: Any


class _Geoms(NamedTuple):
    """Geoms and their bodies as indices, (g,), and their poses on these, (1, g, 3) and (1, g, 4)."""

    geoms: torch.Tensor
    bodies: torch.Tensor
    pos: torch.Tensor
    quat: torch.Tensor


class Coupling:
    """The bodies of all environments as a solver of matter sees them, for models loaded with `matter=True`.

    Before each step a coupler reads bodies and poses, lets its matter push against the geoms, and hands the result
    over; the step is taken with it:

        bodies, poses = solver.coupling.bodies(ids), solver.coupling.poses(geoms)
        ...
        solver.coupling.push(ids, wrench)
        solver.step()

    The wrenches persist until they are overwritten, or until a reset. They act in every evaluation of a step, beside
    the user's `xfrc_applied`, are part of `qfrc_passive`, `cfrc_ext` and saved states, and wake sleeping trees;
    `solver.get("matter_wrench")` returns them. A wrench that is not finite stops its environment at the next step.
    """

    def __init__(self, envs: Environments) -> None:
        self._envs = envs
        self._known: dict[bytes, _Bodies] = {}
        self._geoms: dict[bytes, _Geoms] = {}

    def bodies(self, body_ids: Any) -> CoupledBodies:
        """Return motion and inertia of bodies at the present state, as if no matter pushed any body.

        The wrenches that were pushed stay as they are. As `forward` does, this brings the derived quantities to the
        present state.

        Args:
            body_ids: numbers of k bodies.

        Raises:
            ValueError: the model was loaded without `matter=True`.
            IndexError: for a body that does not exist.
            NotImplementedError: of a solver with `requires_grad=True`, whose state is part of torch's graph.
        """
        chosen, driver = self._chosen(body_ids), self._envs.driver
        if isinstance(driver, GraphDriver) and driver.records:
            raise NotImplementedError(
                "coupling.bodies: motion and inertia of bodies are no part of torch's graph; call it under "
                "torch.no_grad(), and the gradient of what follows from them is left out"
            )
        driver.forward_stale()
        evaluated = driver.evaluate_as_if(WRENCH, 0.0, _MOTION, integers=False).fields
        q = shaped({name: values[: self._envs.num_envs] for name, values in evaluated.items()})
        arms = (q["inertial_offset"][:, chosen.bodies] - q["com_offset"][:, chosen.roots]).contiguous()
        spin, drift = q["cvel"][:, chosen.bodies].split(3, -1)
        turn, rise = q["cacc"][:, chosen.bodies].split(3, -1)
        speed = drift + torch.linalg.cross(spin, arms)
        # cacc is that of the point fixed to the body, and of a world that rises against gravity
        rate = rise - q["cacc"][:, :1, 3:] + torch.linalg.cross(turn, arms) + torch.linalg.cross(spin, speed)
        root = chosen.inertia.factors(q["M"], q["cdof"], arms).to(self._envs.dtype)
        motion = torch.cat((speed, spin), -1), torch.cat((rate, turn), -1)
        return CoupledBodies(q["xipos"][:, chosen.bodies], *motion, root)

    def poses(self, geom_ids: Any) -> GeomPoses:
        """Return poses of geoms at the present state.

        Args:
            geom_ids: numbers of g geoms.

        Raises:
            ValueError: the model was loaded without `matter=True`.
            IndexError: for a geom that does not exist.
        """
        self._require()
        envs, model = self._envs, self._envs.model
        ids = as_columns("geom", geom_ids, int(model.mj.ngeom))
        key = ids.tobytes()
        if key not in self._geoms:
            self._geoms[key] = self._found_geoms(ids)
        geoms = self._geoms[key]
        envs.driver.forward_stale()
        q = shaped(envs.driver.evaluate(("xpos", "xquat"), None))
        own = envs.own(_GEOM, None)
        pos, quat = (own[n][:, geoms.geoms] if n in own else fixed for n, fixed in zip(_GEOM, geoms[2:], strict=True))
        turned = q["xquat"][:, geoms.bodies]
        place = q["xpos"][:, geoms.bodies] + rotate(turned, pos.expand(len(turned), -1, -1))
        return GeomPoses(place, quat_to_rows(quat_mul(turned, quat)).unflatten(-1, (3, 3)))

    def push(self, body_ids: Any, wrench: Any) -> None:
        """Set the wrenches of matter on bodies in all environments; those of other bodies stay.

        Args:
            body_ids: numbers of k bodies.
            wrench: force at the centre of mass (N), then torque about it (N m), world frame, (num_envs, k, 6).

        Raises:
            ValueError: the model was loaded without `matter=True`; or for a wrong shape, naming the expected one.
            IndexError: for a body that does not exist.
        """
        chosen, envs = self._chosen(body_ids), self._envs
        rows = envs.numbers.numbers(wrench, "wrench")
        wanted = (envs.num_envs, len(chosen.bodies), 6)
        if tuple(rows.shape) != wanted:
            raise ValueError(f"wrench: expected shape {wanted}, got {tuple(rows.shape)}")
        envs.driver.write_columns(WRENCH, chosen.columns, rows.reshape(wanted[0], -1), None)

    @torch.inference_mode(False)
    def _found_geoms(self, ids: np.ndarray) -> _Geoms:
        """Return geoms as indices, with their poses on their bodies."""
        envs, mj = self._envs, self._envs.model.mj
        bodies = torch.as_tensor(mj.geom_bodyid[ids], dtype=torch.int64, device=envs.device)
        pos, quat = (torch.as_tensor(getattr(mj, n)[None, ids], dtype=envs.dtype, device=envs.device) for n in _GEOM)
        return _Geoms(torch.as_tensor(ids, device=envs.device), bodies, pos, quat)

    def _require(self) -> None:
        if not self._envs.model.matter:
            raise ValueError(_REFUSAL)

    def _chosen(self, body_ids: Any) -> _Bodies:
        """Return bodies as indices; they are kept, as a coupler asks for the same ones in every step."""
        self._require()
        ids = as_columns("body", body_ids, int(self._envs.model.mj.nbody))
        key = ids.tobytes()
        if key not in self._known:
            self._known[key] = self._found_bodies(ids)
        return self._known[key]

    @torch.inference_mode(False)
    def _found_bodies(self, ids: np.ndarray) -> _Bodies:
        """Return bodies as indices."""
        envs, device = self._envs, self._envs.device
        columns = (6 * ids[:, None] + np.arange(6)).reshape(-1)
        on_device = envs.runtime.columns and not isinstance(envs.driver, GraphDriver)
        return _Bodies(
            torch.as_tensor(ids, device=device),
            torch.as_tensor(envs.model.mj.body_rootid[ids], dtype=torch.int64, device=device),
            BodyInertia(envs.model, ids, device),
            torch.as_tensor(columns, device=device) if on_device else columns,
        )
