"""The two things that can be compared with MuJoCo: Tumble, and MuJoCo itself (to prove that the comparison sees).

Both have one face: `load` states, `forward`, `get` a batched field, `inspect` one state, `step` once.
"""

from dataclasses import replace
from typing import Any, Protocol

import mujoco
import numpy as np
import torch

from tumble.physics.files.mjmodel.pairs import pair_margin

from . import reference
from .reference import Contact, States

_ROWS = ("efc_type", "efc_D", "efc_aref", "efc_force", "efc_state", "efc_frictionloss")


class Subject(Protocol):
    """What `run.run_parity` compares with MuJoCo."""

    def load(self, states: States) -> None:
        """Put state i into environment i."""

    def forward(self) -> None:
        """Evaluate everything in the loaded states."""

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Step once from where it is; return qpos and qvel."""

    def control(self, ctrl: np.ndarray) -> None:
        """Set the controls (n, nu)."""

    def get(self, name: str) -> np.ndarray:
        """Return a batched field (n, ...)."""

    def inspect(self, i: int) -> dict[str, Any]:
        """Return cdof, qM, contacts (a list of Contact) and rows (a dict) of environment i."""


class Tumble:
    """A RigidSolver with as many environments as there are states."""

    def __init__(self, mjm: mujoco.MjModel, count: int):
        from tumble.physics import Model, RigidSolver

        self.mjm = mjm
        self.solver = RigidSolver(Model.from_mjmodel(mjm, hfield="mujoco"), num_envs=count)

    def load(self, states: States) -> None:
        """Put state i into environment i; warm starts are cleared with it."""
        self.solver.reset()
        parts = {name: self._tensor(getattr(states, name)) for name in ("qpos", "qvel", "act", "plastic")}
        self.solver.set_state(**parts)
        if self.mjm.nhistory:
            self.solver.set_mj_state(states.history, int(mujoco.mjtState.mjSTATE_HISTORY))
        self.solver.ctrl = self._tensor(states.ctrl)

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, dtype=self.solver.dtype)

    def forward(self) -> None:
        """Evaluate everything."""
        self.solver.forward()

    def control(self, ctrl: np.ndarray) -> None:
        """Set the controls."""
        self.solver.ctrl = self._tensor(ctrl)

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Step once."""
        self.solver.step(1)
        return self._array(self.solver.qpos), self._array(self.solver.qvel)

    def get(self, name: str) -> np.ndarray:
        """Return a batched field."""
        return self._array(self.solver.get(name))

    def _array(self, tensor: torch.Tensor) -> np.ndarray:
        return tensor.cpu().numpy().astype(np.float64)

    def inspect(self, i: int) -> dict[str, Any]:
        """Return one environment."""
        found = {k: np.asarray(v, dtype=np.float64) for k, v in self.solver.inspect(i).items()}
        rows = {k: found[k] for k in _ROWS}
        rows["efc_J"] = found["efc_J"].reshape(len(found["efc_type"]), self.mjm.nv)
        return {"cdof": found["cdof"], "qM": found["qM"], "rows": rows, "contacts": self._contacts(found)}

    def _contacts(self, found: dict[str, np.ndarray]) -> list[Contact]:
        """Return the contacts with their rows."""
        geoms = found["contact_geom"].astype(int).reshape(-1, 2)
        first = found["contact_efc_address"].astype(int)
        condim = found["contact_dim"].astype(int)
        elliptic = reference.is_elliptic(self.mjm)
        count = [reference.rows_of_contact(elliptic, dim) * (at >= 0) for dim, at in zip(condim, first, strict=True)]
        margin = pair_margin(self.mjm, geoms)
        return [
            Contact(
                (int(pair[0]), int(pair[1])),
                found["contact_pos"][k],
                found["contact_frame"][k].reshape(9),
                float(found["contact_dist"][k]),
                found["contact_friction"][k],
                float(margin[k]),
                slice(max(first[k], 0), max(first[k], 0) + count[k]),
            )
            for k, pair in enumerate(geoms)
        ]


class StandIn:
    """MuJoCo behind the same face; ``spoil`` may change what `get`, `inspect` and `step` return."""

    def __init__(self, mjm: mujoco.MjModel, count: int, spoil: dict[str, float] | None = None):
        self.mjm, self.count, self.spoil = mjm, count, spoil or {}

    def load(self, states: States) -> None:
        """Keep the states."""
        self.states = states

    def forward(self) -> None:
        """Evaluate everything."""
        found = reference.evaluate(self.mjm, self.states)
        self.fields, self.contacts, self.rows = found.fields, found.contacts, found.rows

    def control(self, ctrl: np.ndarray) -> None:
        """Set the controls."""
        self.states = replace(self.states, ctrl=ctrl)

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Step once, from a cold solver."""
        stepped = reference.step(self.mjm, self.states)
        self.fields = stepped.fields
        self.states = replace(
            self.states,
            qpos=stepped.qpos,
            qvel=stepped.qvel,
            act=stepped.fields["act"],
            plastic=stepped.fields["plastic"],
        )
        return self._spoiled("next_qpos", stepped.qpos), self._spoiled("next_qvel", stepped.qvel)

    def get(self, name: str) -> np.ndarray:
        """Return a batched field."""
        return self._spoiled(name, self.fields[name])

    def inspect(self, i: int) -> dict[str, Any]:
        """Return one state."""
        rows = {k: self._spoiled(k, v) if k.startswith("efc") else v for k, v in self.rows[i].items()}
        contacts = [
            Contact(
                c.geom,
                self._spoiled("contact_pos", c.pos),
                self._spoiled("contact_frame", c.frame),
                float(self._spoiled("contact_dist", np.array([c.dist]))[0]),
                self._spoiled("contact_friction", c.friction),
                c.margin,
                c.rows,
            )
            for c in self.contacts[i]
        ]
        if "contact_set" in self.spoil:
            contacts = contacts[1:]
        out = {"rows": rows, "contacts": contacts}
        return out | {name: self._spoiled(name, self.fields[name][i]) for name in reference.INSPECTED}

    def _spoiled(self, name: str, value: np.ndarray) -> np.ndarray:
        return value * (1 + self.spoil[name]) if name in self.spoil else value
