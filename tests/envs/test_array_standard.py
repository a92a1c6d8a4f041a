"""The registered tasks are written in the array API standard: they run on its strict implementation, and in torch.

Numbers agree with numpy's to rounding; the two libraries need not have the same bits.
"""

import array_api_strict
import numpy as np
import torch

import tumble
from tumble.envs.arrays import ArrayKind
from tumble.envs.batch.batch import TaskBatch
from tumble.envs.registry import V5, make_task
from tumble.envs.task.task import TaskState

from ..cases import cases

# A step of physics lies between the numbers that the libraries compute, so that they differ by what it makes of a
# rounding of 6e-8: in 15 steps from the start less than this.
ROUNDING = {"rtol": 2e-3, "atol": 2e-3}


class Strict(ArrayKind):
    """The strict library's arrays; numbers come from numpy."""

    def numbers(self, values):
        """Through numpy."""
        return self.xp.asarray(np.asarray(values, np.float32))


@cases("name", V5)
def test_strict_arrays(name):
    """Observation, reward terms, termination, info and memory of a step, and what is seen at its beginning."""
    batch = TaskBatch(make_task(name, {}), 3)
    task, view = batch.task, batch._view
    batch.seed([1, 2, 3], np.arange(3))
    batch.reset(np.arange(3))
    action = np.zeros((3, task.model.nu), np.float32) + 0.3
    memory = {key: value.copy() for key, value in batch._memory.arrays.items()}
    batch.solver.step(task.frame_skip, action)
    state = view.look(memory, batch.streams.present(np.arange(3)))
    twin = make_task(name, {}).bound(task.model, Strict(array_api_strict, array_api_strict.float32, None))
    strict = _strictly(state)
    for mine, theirs in (
        (task.step(state, action), twin.step(strict, array_api_strict.asarray(action))),
        (task.begin(state), twin.begin(strict)),
    ):
        for part, other in zip(mine, theirs, strict=True):
            _assert_equal(part, other)
    batch.solver.close()


def _strictly(state: TaskState) -> TaskState:
    """The same state in strict arrays."""
    convert = array_api_strict.asarray
    named = ({key: convert(value) for key, value in part.items()} for part in (state.fields, {}, state.memory))
    return TaskState(*(convert(np.ascontiguousarray(part)) for part in state[:3]), *named, state.noise)


def _assert_equal(mine, theirs) -> None:
    """Nothing, an array, or arrays by name."""
    if mine is None:
        assert theirs is None
    elif isinstance(mine, dict):
        assert mine.keys() == theirs.keys()
        for key, value in mine.items():
            _assert_equal(value, theirs[key])
    else:
        np.testing.assert_allclose(np.asarray(theirs), mine, rtol=1e-6, atol=1e-6)


@cases("name", V5)
def test_torch_computes_the_same(name):
    """A task that wants torch: same keys, shapes and types, numbers to rounding; one loads what the other saved."""
    options = {"num_envs": 5, "max_episode_steps": 12}
    task = make_task(name, {})
    wanting = type(f"{name}InTorch", (type(task),), {"array_library": "torch"})
    in_numpy = tumble.make_vec(task, **options)
    in_torch = tumble.make_vec(wanting, **options)
    assert in_torch.batch.kind.xp is not np
    in_numpy.action_space.seed(0)
    _assert_alike(in_torch.reset(seed=3), in_numpy.reset(seed=3))
    for step in range(15):
        actions = torch.as_tensor(in_numpy.action_space.sample())
        if step % 5 == 4:
            in_torch.load_state_dict(in_numpy.state_dict())
        _assert_alike(in_torch.step(actions), in_numpy.step(actions))
    in_numpy.close()
    in_torch.close()


def _assert_alike(one, other) -> None:
    """Nested tuples and dicts of tensors, equal to rounding."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            _assert_alike(one[key], other[key])
    elif isinstance(one, tuple):
        for mine, theirs in zip(one, other, strict=True):
            _assert_alike(mine, theirs)
    else:
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one.numpy(), other.numpy(), **ROUNDING)
