"""Results that are copied to another device at once: the same numbers, types and structure, in memory of their own."""

import numpy as np
import pytest
import torch

from tumble.envs.batch.packing import Packer

MASK = torch.tensor([True, False, True])
RESULT = (
    {"a": torch.arange(6.0).reshape(3, 2).T.T[:, :1], "b": torch.ones((3, 2, 2), dtype=torch.uint8)},
    torch.arange(3, dtype=torch.float64),
    MASK,
    {"x": torch.arange(3, dtype=torch.int32), "_x": MASK, "final": {"_x": MASK, "none": torch.zeros((3, 0))}},
)


@pytest.mark.parametrize("in_numpy", [False, True])
def test_what_is_packed_is_what_was_given(in_numpy):
    for given in (RESULT, ({"a": RESULT[0]["a"].numpy(), "b": np.ones((3, 2), np.int64)}, MASK.numpy())):
        packed = Packer(torch.device("cpu"), in_numpy)(given)
        mine, theirs = flat(packed), flat(given)
        assert len(mine) == len(theirs) and isinstance(packed, tuple) and packed[0].keys() == given[0].keys()
        for one, other in zip(mine, theirs, strict=True):
            assert isinstance(one, np.ndarray if in_numpy else torch.Tensor)
            np.testing.assert_array_equal(one, other)
            assert torch.as_tensor(one).dtype == torch.as_tensor(other).dtype and one.shape == other.shape


def test_an_array_in_several_places_is_one_array_again():
    packed = Packer(torch.device("cpu"), in_numpy=False)(RESULT)
    assert packed[2] is packed[3]["_x"] is packed[3]["final"]["_x"] is not MASK
    packed[1].zero_()
    assert RESULT[1].any() and packed[0]["a"].any(), "memory of its own"


def test_one_array_is_packed_alone():
    assert Packer(torch.device("meta"), in_numpy=False)(MASK).device.type == "meta"


def flat(result):
    """All arrays, in order."""
    if isinstance(result, dict | tuple):
        return [array for value in (result.values() if isinstance(result, dict) else result) for array in flat(value)]
    return [result]
