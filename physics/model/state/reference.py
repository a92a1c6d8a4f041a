"""The memory of an environment in its model's reference state (qpos0)."""

import mujoco
import numpy as np

from ...files.mjmodel.flags import UNLIMITED
from ..model import Model
from ..parts import ACTUATOR_KINDS
from ..tables.kernel_numbers import mujoco_numbers
from .memory import MEMORIES, NOT_INTEGRATED


def reference_memory(model: Model) -> dict[str, np.ndarray]:
    """Return the fields of `state.memory.MEMORY` that are not zero in the reference state, one flat array each."""
    mj = model.mj
    mocap = np.argsort(mj.body_mocapid)[mj.nbody - mj.nmocap :]
    coordinates = {"qpos": mj.qpos0, "mocap_pos": mj.body_pos[mocap], "mocap_quat": mj.body_quat[mocap]}
    coordinates["ctrl"] = _neutral_controls(mj)
    for memory in MEMORIES:
        if memory.reset is not None:
            names, compute = memory.reset
            numbers = (coordinates["ctrl"] if name == "ctrl" else mujoco_numbers(mj, name) for name in names)
            coordinates[memory.field.name] = compute(mj, *(each[None] for each in numbers))[0]
    coordinates["eq_active"] = np.array(mj.eq_active0, np.float64)
    unlimited = np.tile([-UNLIMITED, UNLIMITED], mj.nv)
    return {
        "dof_force_range": unlimited,
        "eval_dof_force_range": unlimited,
        **{name: np.ravel(numbers) for name, numbers in coordinates.items()},
        **{f"eval_{name}": np.ravel(numbers) for name, numbers in coordinates.items()},
        "eval_qacc": np.full(mj.nv, NOT_INTEGRATED),
        "sweep_order": np.ravel(model.sweep_order),
    }


def _neutral_controls(mj: mujoco.MjModel) -> np.ndarray:
    """Return the controls after a reset, (nu,)."""
    ctrl = np.zeros(mj.nu)
    for kind in ACTUATOR_KINDS:
        if kind.neutral is not None:
            kind.neutral(mj, ctrl)
    return ctrl
