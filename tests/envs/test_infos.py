"""The infos of a batch: values, masks, and who is spoken of. `test_autoreset` compares them with SyncVectorEnv's."""

import numpy as np
import pytest
import torch

from tumble.envs.batch.infos import InfoBuilder

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
