"""Gymnasium's own vector wrappers: those that cannot work are refused with what can; all others work."""

import copy
import pickle
import warnings
from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble

W = gymnasium.wrappers.vector
NEEDS = {  # wrapper: how it is made, whether it needs numpy output, which modes it knows
    "RecordEpisodeStatistics": (W.RecordEpisodeStatistics, True, "SAME_STEP NEXT_STEP DISABLED"),
    "NormalizeReward": (W.NormalizeReward, True, "SAME_STEP NEXT_STEP DISABLED"),
    "NormalizeObservation": (W.NormalizeObservation, True, "NEXT_STEP"),
    "FlattenObservation": (W.FlattenObservation, True, "NEXT_STEP DISABLED"),
    "DtypeObservation": (lambda envs: W.DtypeObservation(envs, np.float64), True, "NEXT_STEP DISABLED"),
    "TransformObservation": (lambda envs: W.TransformObservation(envs, lambda x: 2 * x), False, "NEXT_STEP DISABLED"),
    "ClipReward": (lambda envs: W.ClipReward(envs, -1, 1), False, "SAME_STEP NEXT_STEP DISABLED"),
    "ClipAction": (W.ClipAction, False, "SAME_STEP NEXT_STEP DISABLED"),
    "RescaleAction": (lambda envs: W.RescaleAction(envs, -2.0, 2.0), False, "SAME_STEP NEXT_STEP DISABLED"),
}
OURS = ("RecordEpisodeStatistics", "NormalizeReward", "NormalizeObservation")


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
@pytest.mark.parametrize("name", NEEDS)
def test_wrappers_work_or_say_what_they_need(name, mode, output):
    """The message leads to `tumble.wrappers` where there is one, and names the options that would do."""
    wrap, numpy_code, modes = NEEDS[name]
    envs = tumble.make_vec("Hopper", 3, autoreset_mode=mode, output=output)
    lacks_numpy, lacks_mode = numpy_code and output == "torch", mode not in modes.split()
    if lacks_numpy or lacks_mode:
        with pytest.raises(ValueError, match=f"Gymnasium's {name} cannot work on these environments") as refusal:
            wrap(envs)
        words = str(refusal.value)
        assert f"({mode}, {output} output)" in words
        assert (f"tumble.wrappers.{name} works on them" in words) == (name in OURS)
        assert ("output='numpy'" in words) == lacks_numpy
        assert all((f"'{known}'" in words) == lacks_mode for known in modes.split())
    else:
        wrapped = wrap(envs)
        wrapped.reset(seed=0)
        for _ in range(5):
            wrapped.step(torch.zeros(3, 3) if output == "torch" else np.zeros((3, 3), np.float32))
    envs.close()


def test_wrappers_inside_do_not_hide_it():
    """Nor is anything refused that gets numpy arrays by conversion."""
    envs = tumble.make_vec("Hopper", 3)
    with pytest.raises(ValueError, match=r"tumble\.wrappers\.RecordEpisodeStatistics"):
        W.RecordEpisodeStatistics(W.ClipReward(envs, -1, 1))
    import array_api_compat.numpy
    import array_api_compat.torch

    converted = W.ArrayConversion(envs, array_api_compat.torch, array_api_compat.numpy)
    wrapped = W.RecordEpisodeStatistics(converted)
    wrapped.reset(seed=0)
    assert isinstance(wrapped.step(np.zeros((3, 3), np.float32))[0], np.ndarray)
    envs.close()


@pytest.mark.parametrize("use", [copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data)), dict])
def test_metadata_is_a_dict(use: Callable):
    """It can be read, copied and pickled by anybody."""
    envs = tumble.make_vec("Hopper", 2)
    assert use(envs.metadata) == {
        "render_modes": ["human", "rgb_array", "depth_array"],
        "render_fps": 125,
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "torch": True,
    }
    assert envs.metadata.get("autoreset_mode") is AutoresetMode.SAME_STEP
    envs.close()


def test_films_of_too_many_environments(tmp_path):
    """RecordVideo and HumanRendering want a picture of each, and are told how to get them; then there is a film."""
    pytest.importorskip("moviepy")
    options = {"render_mode": "rgb_array", "width": 16, "height": 16, "autoreset_mode": "NEXT_STEP"}
    many = tumble.make_vec("Hopper", 18, **options)
    words = r"each of the 18 environments, and render\(\) shows 16: make them with render_envs=range\(18\)"
    with pytest.raises(ValueError, match=f"RecordVideo wants a picture of {words}"):
        W.RecordVideo(many, str(tmp_path / "films"))
    with pytest.raises(ValueError, match=f"HumanRendering wants a picture of {words}"):
        W.HumanRendering(many)
    many.close()
    all_of_them = tumble.make_vec("Hopper", 18, render_envs=range(18), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        film = W.RecordVideo(all_of_them, str(tmp_path / "films"), video_length=3)
        film.reset(seed=0)
        for _ in range(4):
            film.step(np.zeros((18, 3)))
        film.close()
    assert len(list((tmp_path / "films").glob("*.mp4"))) == 1


@pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
def test_infos_as_lists_need_numpy(mode):
    """It asks for nothing when it is made, and is refused at its first reset, whatever is between; numpy works."""
    words = r"Gymnasium's DictInfoToList cannot work on these environments \(torch output\): .* output='numpy'"
    envs = tumble.make_vec("Hopper", 3, autoreset_mode=mode)
    for wrapped in (
        W.DictInfoToList(envs),
        W.DictInfoToList(W.ClipReward(tumble.wrappers.RecordEpisodeStatistics(envs), -1, 1)),
        tumble.wrappers.NormalizeReward(W.DictInfoToList(envs)),
    ):
        with pytest.raises(ValueError, match=words):
            wrapped.reset(seed=0)
        with torch.inference_mode(), pytest.raises(ValueError, match=words):
            wrapped.reset(seed=0)
    envs.reset(seed=0)  # by itself it is as good as before
    envs.close()
    in_numpy = tumble.make_vec("Hopper", 3, autoreset_mode=mode, output="numpy")
    wrapped = W.DictInfoToList(in_numpy)
    _, infos = wrapped.reset(seed=0)
    assert len(infos) == 3 and "x_position" in infos[2]
    *_, infos = wrapped.step(np.zeros((3, 3), np.float32))
    assert all("reward_forward" in info for info in infos)
    in_numpy.close()


def test_infos_as_lists_of_converted_environments():
    """What is brought from torch to numpy on the way works."""
    import array_api_compat.numpy
    import array_api_compat.torch

    envs = tumble.make_vec("Hopper", 3)
    wrapped = W.DictInfoToList(W.ArrayConversion(envs, array_api_compat.torch, array_api_compat.numpy))
    _, infos = wrapped.reset(seed=0)
    assert len(infos) == 3 and isinstance(infos[0]["x_position"], np.floating)
    envs.close()
