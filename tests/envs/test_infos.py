"""The infos of a batch: values, masks, and who is spoken of. `test_autoreset` compares them with SyncVectorEnv's."""

import numpy as np
import pytest
import torch

from tumble.envs.batch.infos import InfoBuilder
from tumble.envs.batch.packing import Packer

# -- The infos of a batch: values, masks, and who is spoken of


KINDS = pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])


def infos_of(kind) -> InfoBuilder:
    """Three environments: two numbers, a pair, and a whole number."""
    values = {"a": [1.0, 2, 3], "n": [4, 5, 6], "pair": [[1.0, 2], [3, 4], [5, 6]], "b": [7.0, 8, 9]}
    return InfoBuilder({key: kind(value) for key, value in values.items()}, kind([True] * 3))


def plain(infos: InfoBuilder) -> dict:
    """As lists."""
    return infos.info(lambda array: array.tolist())


@KINDS
def test_everything_of_everyone(kind):
    """Values as they were given, whatever their kind and shape."""
    info = plain(infos_of(kind))
    assert set(info) == {"a", "n", "pair", "b", "_a", "_n", "_pair", "_b"}
    assert info["a"] == [1, 2, 3] and info["n"] == [4, 5, 6] and info["b"] == [7, 8, 9]
    assert info["pair"] == [[1, 2], [3, 4], [5, 6]]
    assert all(info[f"_{key}"] == [True] * 3 for key in ("a", "n", "pair", "b"))


@KINDS
def test_split_and_put(kind):
    """What is cut out is zero where it was, and the other way round; what is put may be said of others already."""
    infos, rows, mask = infos_of(kind), kind([1]), kind([False, True, False])
    those = plain(infos.split(rows, mask))
    infos.put({"a": kind([5.0]), "new": kind([[1.0, 1]])}, rows, mask)
    info = plain(infos)
    assert those["pair"] == [[0, 0], [3, 4], [0, 0]] and those["n"] == [0, 5, 0]
    assert all(those[f"_{key}"] == [False, True, False] for key in ("a", "n", "pair", "b"))
    assert info["a"] == [1, 5, 3] and info["_a"] == [True] * 3
    assert info["b"] == [7, 0, 9] and info["_b"] == [True, False, True]
    assert info["new"] == [[0, 0], [1, 1], [0, 0]] and info["_new"] == [False, True, False]


@KINDS
def test_a_key_that_speaks_of_nobody_is_left_out(kind):
    """All are cut out; only what is put remains."""
    infos, rows, mask = infos_of(kind), kind([0, 1, 2]), kind([True] * 3)
    assert plain(infos.split(rows, mask)) == plain(infos_of(kind))
    infos.put({"b": kind([1.0, 2, 3])}, rows, mask)
    assert plain(infos) == {"b": [1, 2, 3], "_b": [True] * 3}


@KINDS
def test_the_given_values_are_copied(kind):
    """Nothing that happens to the infos is seen outside."""
    value = kind([1.0, 2, 3])
    infos = InfoBuilder({"a": value}, kind([True] * 3))
    infos.split(kind([0]), kind([True, False, False]))
    assert value.tolist() == [1, 2, 3]


@KINDS
def test_faults(kind):
    """Told of those who have one, among those who are asked about."""
    infos, everyone = InfoBuilder({}, kind([False] * 3)), kind([True] * 3)
    infos.put_faults(None)
    infos.put_faults(kind([0, 0, 2]), kind([True, True, False]))
    assert plain(infos) == {}
    infos.put_faults(kind([1, 0, 2]), everyone)
    assert plain(infos) == {"fault": [1, 0, 2], "_fault": [True, False, True]}


# -- Results copied to another device at once: the same numbers, types and structure, in new memory


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
