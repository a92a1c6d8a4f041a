"""One environment in MuJoCo: its model, its data, and where its derived quantities were evaluated."""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np

from ...physics.model.tables.kernel_numbers import is_option
from ..faults import CONTACTS_FULL, NON_FINITE

PARTS = int(mujoco.mjtState.mjSTATE_INTEGRATION)
LARGEST = 1e10  # MuJoCo's mjMAXVAL: a number beyond it counts as diverged
_W = mujoco.mjtWarning
_FULL = [int(_W.mjWARN_CONTACTFULL), int(_W.mjWARN_CNSTRFULL)]
_BAD = [int(_W.mjWARN_BADQPOS), int(_W.mjWARN_BADQVEL), int(_W.mjWARN_BADQACC), int(_W.mjWARN_BADCTRL)]
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_NO_MIDPHASE = int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
_BOXED = ("body_ipos", "body_iquat", "geom_pos", "geom_quat", "geom_size", "geom_margin", "geom_gap")
"""Numbers on which the boxes of the middle phase depend; MuJoCo's compiler makes these, and `mj_setConst` does not."""


class MujocoWorld:
    """An environment that `mujoco.mj_step` moves.

    After a step the derived quantities in `data` are those of its last evaluation, as MuJoCo leaves them.

    Attributes:
        model: its `MjModel`, shared with other environments until `set_env_parameters` replaces it.
        data: its `MjData`.
        names: of its per-environment parameters; then only this environment has the model.
        faults: bits of the errors since the reset, as in `RigidSolver.faults`.
        warned: how often MuJoCo gave each warning; a view of its numbers.
        watches: True if steps note where each evaluation was; MuJoCo's callback for it is of the whole process.
        evaluated: MuJoCo's state vector at the last evaluation, or where the step began that made it, (size,).
        moved: True if the derived quantities are those of a step from `evaluated`; False: of that state itself.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Put it into the reference state."""
        self.faults, self.moved, self.watches = 0, False, False
        self._shared = model
        self.share()
        self.forward()

    def share(self) -> None:
        """Return to the model that all environments share."""
        self.names: set[str] = set()
        self._use(self._shared)

    def _use(self, model: mujoco.MjModel) -> None:
        """Take a model, with data for it."""
        self.model, self.data = model, mujoco.MjData(model)
        self.warned = self.data.warning.number
        self._start, self.evaluated = (np.zeros(mujoco.mj_stateSize(model, PARTS)) for _ in range(2))
        self._last_qpos, self._last_qvel = self.data.qpos.copy(), self.data.qvel.copy()

    # -- moving -------------------------------------------------------------------------------------------------------

    def reset(self, qpos: np.ndarray, qvel: np.ndarray, inputs: Mapping[str, np.ndarray]) -> None:
        """Reset to coordinates, under inputs; all else is the model's."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        self.put(inputs)
        self.faults = 0
        self.forward()

    def put(self, values: Mapping[str, np.ndarray]) -> None:
        """Write fields of `MjData` by name."""
        for name, value in values.items():
            getattr(self.data, name)[:] = value

    def forward(self) -> None:
        """Bring the derived quantities to the present state."""
        self._note(self.evaluated)
        mujoco.mj_forward(self.model, self.data)
        self.moved = False
        self._see_full()

    def begin(self) -> None:
        """Note the state that steps begin in."""
        self._note(self._start)

    def advance(self, n: int) -> None:
        """Take n physics steps; `stepping.step` takes the last one."""
        mujoco.mj_step(self.model, self.data, n)

    def begin_last(self) -> None:
        """Note the state that the last step begins in."""
        self._note(self.evaluated)

    def take_last(self) -> None:
        """Take the physics step whose evaluation the derived quantities show."""
        if self.watches:
            with _each_evaluation(self._remember):
                mujoco.mj_step(self.model, self.data)
        else:
            mujoco.mj_step(self.model, self.data)
        self.moved = True

    def check(self, n: int) -> None:
        """Look for faults of the n steps since `begin`; stand still if state or inputs are not finite."""
        if not self._sound():
            self._hold(n)
        self._see_full()

    def _hold(self, n: int) -> None:
        """Take the steps again one by one, and stand still before the first that fails."""
        self._return(self._start)
        for _ in range(n):
            self.warned[_BAD] = 0
            self._note(self.evaluated)
            mujoco.mj_step(self.model, self.data)
            if not self._sound():
                break
        self.faults |= NON_FINITE
        self._return(self.evaluated)
        self.forward()
        self.warned[_BAD] = 0

    def _sound(self) -> bool:
        """Return True if state and inputs are finite, and MuJoCo has warned of no number that was not."""
        if np.count_nonzero(self.warned) and self.warned[_BAD].any():
            return False
        moved = np.concatenate((self.data.qpos, self.data.qvel))
        return bool(np.isfinite(self.evaluated).all() and (np.abs(moved) <= LARGEST).all())

    def _see_full(self) -> None:
        """Note that contacts found no room in MuJoCo's memory."""
        if np.count_nonzero(self.warned) and self.warned[_FULL].any():
            self.faults |= CONTACTS_FULL

    # -- its present state --------------------------------------------------------------------------------------------

    def _note(self, place: np.ndarray) -> None:
        """Copy the present state."""
        mujoco.mj_getState(self.model, self.data, place, PARTS)

    def _return(self, state: np.ndarray) -> None:
        """Take a state."""
        mujoco.mj_setState(self.model, self.data, state, PARTS)

    def state(self) -> np.ndarray:
        """Return a copy of MuJoCo's state vector."""
        state = np.empty_like(self.evaluated)
        self._note(state)
        return state

    def go_on(self, state: np.ndarray, evaluated: np.ndarray, moved: bool) -> None:
        """Take a state with the derived quantities that it had, which are computed again.

        Args:
            state: the present one.
            evaluated: as the attribute.
            moved: as the attribute.
        """
        self.evaluated[:], self.moved = evaluated, moved
        self._return(evaluated)
        if moved:
            self.take_last()
        else:
            mujoco.mj_forward(self.model, self.data)
        self._return(state)

    @contextmanager
    def at_present(self) -> Iterator[None]:
        """Bring positions, velocities, forces of actuators and what follows to the present state within this block."""
        evaluated, self.data = self.data, copy.copy(self.data)
        try:
            mujoco.mj_step1(self.model, self.data)
            mujoco.mj_fwdActuation(self.model, self.data)
            yield
        finally:
            self.data = evaluated

    def watch(self) -> None:
        """Know from now on at which coordinates each step was evaluated last; see `evaluated_at`."""
        if not self.watches:
            self.watches = self.model.opt.integrator == _RK4
            if self.watches and self.moved:
                self.go_on(self.state(), self.evaluated.copy(), True)

    def evaluated_at(self) -> tuple[np.ndarray, np.ndarray]:
        """Return qpos and qvel at the last evaluation: with RK4 those of its last stage."""
        if self.watches and self.moved:
            return self._last_qpos, self._last_qvel
        nq, nv = self.model.nq, self.model.nv  # the state vector begins with the time, qpos and qvel
        return self.evaluated[1 : 1 + nq], self.evaluated[1 + nq : 1 + nq + nv]

    def _remember(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Copy the coordinates of an evaluation."""
        self._last_qpos[:], self._last_qvel[:] = data.qpos, data.qvel

    # -- per-environment parameters -----------------------------------------------------------------------------------

    def set_env_parameters(self, numbers: Mapping[str, np.ndarray], fresh: Callable[[], mujoco.MjModel]) -> None:
        """Set numbers of the model by MuJoCo's names; dependent numbers are recomputed by `mj_setConst`.

        State and time go on, and the derived quantities are those of the last evaluation with the new numbers.

        Args:
            numbers: of fields of mjModel and mjOption.
            fresh: makes a model for this environment.

        Raises:
            ValueError: MuJoCo cannot change such a number of this model.
        """
        state, evaluated = self.state(), self.evaluated.copy()
        if not self.names:
            self._use(fresh())
        self.names.update(numbers)
        model = self.model
        for name, value in numbers.items():
            getattr(model.opt if is_option(name) else model, name)[:] = value
        if any(name in _BOXED for name in numbers):
            model.opt.disableflags |= _NO_MIDPHASE
        inertia, of_file = float(model.stat.meaninertia), not np.isclose(_mean(model.dof_M0), model.stat.meaninertia)
        try:
            mujoco.mj_setConst(model, self.data)
        except mujoco.FatalError as error:
            raise ValueError(f"{', '.join(numbers)}: {error}") from error
        if of_file:
            model.stat.meaninertia = inertia
        self.go_on(state, evaluated, self.moved)


def _mean(numbers: np.ndarray) -> float:
    return float(numbers.mean()) if len(numbers) else 0.0


@contextmanager
def _each_evaluation(note: Callable[[Any, Any], None]) -> Iterator[None]:
    """Set MuJoCo's callback for controls, so that it calls a function in each evaluation."""
    before = mujoco.get_mjcb_control()
    mujoco.set_mjcb_control(note)
    try:
        yield
    finally:
        mujoco.set_mjcb_control(before)
