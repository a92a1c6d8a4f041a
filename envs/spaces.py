"""The spaces of a task: observations in the solver's precision, actions in float32 as in Gymnasium's v5 tasks."""

import numpy as np
import torch
from gymnasium.spaces import Box

from .arena import Arena


def observation_space(arena: Arena) -> Box:
    """Unbounded numbers, one for each column of the task's observation."""
    dtype = np.float64 if arena.solver.dtype == torch.float64 else np.float32
    return Box(-np.inf, np.inf, (arena.task.observation_size,), dtype)


def action_space(arena: Arena) -> Box:
    """The actuators' control ranges; an actuator without a range takes any number."""
    mj = arena.model.mj
    limited = mj.actuator_ctrllimited.astype(bool)
    low = np.where(limited, mj.actuator_ctrlrange[:, 0], -np.inf).astype(np.float32)
    high = np.where(limited, mj.actuator_ctrlrange[:, 1], np.inf).astype(np.float32)
    return Box(low, high, dtype=np.float32)
