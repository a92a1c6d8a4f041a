"""Entities whose shape differs from environment to environment: one kind of shape, of several sizes and masses.

All environments have the model of the first shape. Other shapes are per-environment parameters:
`geom_size`, masses and inertias, and the start of the entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..materials import Rigid
from ..morphs import Box, Capsule, Cylinder, Ellipsoid, Morph, Primitive, Sphere
from ..options import RigidOptions
from ..surfaces import Surface
from .primitives import primitive_spec

KINDS = (Box, Sphere, Capsule, Cylinder, Ellipsoid)
"""Shapes that may differ from environment to environment."""
OWN = ("pos", "quat", "euler", "size", "lower", "upper", "radius", "height")
"""Arguments of shapes that may differ."""
_OF_BODY = ("body_mass", "body_inertia", "body_ipos", "body_iquat")


@dataclass(frozen=True)
class Variants:
    """The shapes of one entity, by the numbers of their compiled models.

    Attributes:
        name: of the entity.
        numbers: by MuJoCo's names, (number of shapes, ...): sizes, masses and inertias of its body and geom.
        places: position and quaternion at which each begins, (number of shapes, 7).
    """

    name: str
    numbers: dict[str, np.ndarray]
    places: np.ndarray

    def apply(self, solver: Any) -> dict[str, np.ndarray]:
        """Give the environments of a solver, or of MuJoCo's, their shapes: in blocks as even as can be, in order.

        Return the numbers of the model that now differ between environments, (num_envs, ...) by MuJoCo's names.
        """
        mj, count = solver.model.mj, solver.num_envs
        shape_of_env = shares(len(self.places), count)
        body = next(body for body in range(1, mj.nbody) if mj.body(body).name.startswith(f"{self.name}/"))
        geom, joint = int(mj.body_geomadr[body]), int(mj.body_jntadr[body])
        parameters = {name: _present(solver, name) for name in self.numbers}
        for name, values in self.numbers.items():
            parameters[name][:, body if name in _OF_BODY else geom] = values[shape_of_env]
        if np.ptp(self.places, axis=0).any():  # else all begin where the first one does
            parameters |= self._starts(solver, body, joint, shape_of_env)
        changed = {name: rows for name, rows in parameters.items() if np.ptp(rows, axis=0).any()}
        if changed:
            solver.update_parameters(changed)
            solver.reset()  # environments begin at the places of their shapes
        return changed

    def _starts(self, solver: Any, body: int, joint: int, chosen: np.ndarray) -> dict[str, np.ndarray]:
        """Return the numbers of the model by which environments begin where their shapes are put."""
        if joint >= 0:
            first = int(solver.model.mj.jnt_qposadr[joint])
            qpos0 = _present(solver, "qpos0")
            qpos0[:, first : first + 7] = self.places[chosen]
            return {"qpos0": qpos0}
        parameters = {name: _present(solver, name) for name in ("body_pos", "body_quat")}
        parameters["body_pos"][:, body], parameters["body_quat"][:, body] = (
            self.places[chosen, :3],
            self.places[chosen, 3:],
        )
        return parameters


def _present(solver: Any, name: str) -> np.ndarray:
    """Return numbers of the model of all environments of a solver, (num_envs, ...), a copy."""
    return solver.get_parameters(name).cpu().numpy().copy()


def shares(shapes: int, count: int) -> np.ndarray:
    """Return the number of each environment's shape, (count,): blocks as even as can be, the first ones the larger."""
    base, more = divmod(count, shapes)
    return np.repeat(np.arange(shapes), [base + (shape < more) for shape in range(shapes)])


def variants_of(
    name: str, morphs: Sequence[Morph], material: Rigid, surface: Surface, options: RigidOptions
) -> Variants:
    """Return the variants of an entity.

    Raises:
        TypeError: shapes of several kinds, or of a kind whose sizes cannot be set per environment.
        ValueError: shapes that differ in more than size and place.
    """
    kind = type(morphs[0])
    for number, morph in enumerate(morphs):
        where = f"entity '{name}': morph {number} of {len(morphs)}"
        if type(morph) not in KINDS:
            known = ", ".join(each.__name__ for each in KINDS)
            raise TypeError(
                f"{where} is a {type(morph).__name__}: only {known} can have sizes per environment; "
                "meshes and files would need other vertices, joints or contacts: put all into one scene instead"
            )
        if type(morph) is not kind:
            raise TypeError(
                f"{where} is a {type(morph).__name__}, and the first a {kind.__name__}: environments share one kind "
                "of shape, and differ in sizes and masses"
            )
        for field in fields(kind):
            if field.name not in OWN and getattr(morph, field.name) != getattr(morphs[0], field.name):
                said = f"{field.name}={getattr(morph, field.name)!r}, and the first {getattr(morphs[0], field.name)!r}"
                raise ValueError(f"{where} has {said}: shapes may differ only in size and place")
    shapes = [morph for morph in morphs if isinstance(morph, Primitive)]
    models = [primitive_spec(shape, material, surface, options).compile() for shape in shapes]
    numbers = {name: np.stack([getattr(model, name)[1] for model in models]) for name in _OF_BODY}
    numbers["geom_size"] = np.stack([model.geom_size[0] for model in models])
    return Variants(name, numbers, np.stack([np.concatenate(morph.place) for morph in morphs]))
