"""What Gymnasium's tests of `RecordVideo` and `HumanRendering` check, around ours; see `test_gymnasium_wrappers`.

Films are kept in memory, as the frames of which they would be written; `test_pictures` writes some.
"""

import itertools
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs.arrays import host

from .own_tasks import Pointer

W = gymnasium.wrappers.vector
LIMIT, WIDTH, HEIGHT = 4, 16, 12
OUTPUTS = pytest.mark.parametrize("output", ["torch", pytest.param("numpy", marks=pytest.mark.slow)])
MODES = pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])


@pytest.fixture
def make():
    """Make environments that are pictured, and closed in the end."""
    made = []

    def make(mode: str, output: str = "torch", num_envs: int = 3, **options: Any) -> Any:
        options = {"render_mode": "rgb_array", "width": WIDTH, "height": HEIGHT, "max_episode_steps": LIMIT} | options
        made.append(tumble.make_vec(Pointer, num_envs, autoreset_mode=mode, output=output, **options))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def take_steps(envs: Any, steps: int, mode: str):
    """Take steps; under DISABLED reset what finished. Yield what each step returned."""
    for _ in range(steps):
        result = envs.step(np.array([8, 0, 4]))
        yield result
        done = result[2] | result[3]
        if mode == "DISABLED" and done.any():
            envs.reset(options={"reset_mask": done})


# -- films -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def films(monkeypatch):
    """What was filmed: frames (n, height, width, 3) and frames a second, by the file's name."""
    pytest.importorskip("moviepy")
    from moviepy.video.io import ImageSequenceClip

    kept: dict[str, tuple[np.ndarray, int]] = {}

    class Clip:
        def __init__(self, frames: list[np.ndarray], fps: int) -> None:
            self.film = np.array(frames), fps

        def write_videofile(self, path: str, logger: Any) -> None:
            assert Path(path).name not in kept
            kept[Path(path).name] = self.film

    monkeypatch.setattr(ImageSequenceClip, "ImageSequenceClip", Clip)
    return kept


# Frames of the film from step 0, which ends where episode 1 begins, and of the film of episode 1.
FRAMES = {"SAME_STEP": (3, 4), "NEXT_STEP": (4, 5), "DISABLED": (4, 5)}


@OUTPUTS
@MODES
@pytest.mark.filterwarnings("ignore:.*same-step:UserWarning")
def test_films_of_steps_and_episodes(make, films, tmp_path, mode, output):
    """Named after what began them; they show all environments, and as many frames as the mode has."""
    film = W.RecordVideo(
        make(mode, output),
        str(tmp_path / "films"),
        name_prefix="arm",
        episode_trigger=lambda episode: episode in (1, 3),
        step_trigger=lambda step: step in (0, 9),
    )
    film.reset(seed=0)
    for _, reward, terminated, truncated, _ in take_steps(film, 16, mode):
        for array in (reward, terminated, truncated):
            assert type(array) is {"torch": torch.Tensor, "numpy": np.ndarray}[output] and array.shape == (3,)
    film.close()
    assert set(films) == {"arm-step-0.mp4", "arm-step-9.mp4", "arm-episode-1.mp4", "arm-episode-3.mp4"}
    (first, fps), (episode, _) = films["arm-step-0.mp4"], films["arm-episode-1.mp4"]
    assert (len(first), len(episode)) == FRAMES[mode] and fps == film.metadata["render_fps"]
    twin = make(mode, output)
    twin.reset(seed=0)
    for frame, _ in zip(first[:3], take_steps(twin, 3, mode), strict=True):
        np.testing.assert_array_equal(frame, np.hstack(twin.render()))
    assert (first[0] != first[2]).any()


@MODES
@pytest.mark.filterwarnings("ignore:.*same-step:UserWarning")
def test_films_by_default(make, films, tmp_path, mode):
    """Of the episodes whose number is a cube: 0 and 1 of the first few; of the first environment alone, if asked."""
    film = W.RecordVideo(make(mode), str(tmp_path / "films"), record_first_only=True)
    film.reset(seed=0)
    ends = sum(bool(result[3][0]) for result in take_steps(film, 12, mode))
    film.close()
    assert ends >= 2 and set(films) == {"rl-video-episode-0.mp4", "rl-video-episode-1.mp4"}
    assert films["rl-video-episode-0.mp4"][0].shape[1:] == (HEIGHT, WIDTH, 3)


@MODES
@pytest.mark.filterwarnings("ignore:.*same-step:UserWarning")
def test_films_of_a_given_length(make, films, tmp_path, mode):
    """One film, which ends by itself with the frame after the last of `video_length`."""
    envs = make(mode, max_episode_steps=-1)
    film = W.RecordVideo(envs, str(tmp_path / "films"), step_trigger=lambda step: step == 0, video_length=5)
    film.reset(seed=0)
    recording = [film.recording for _ in take_steps(film, 7, mode)]
    assert recording == [True] * 5 + [False] * 2
    film.close()
    assert {name: len(frames) for name, (frames, _) in films.items()} == {"rl-video-step-0.mp4": 6}


def test_no_films_without_pictures(make, tmp_path):
    """Gymnasium says which render modes would do."""
    pytest.importorskip("moviepy")
    with pytest.raises(ValueError, match="such as rgb_array"):
        W.RecordVideo(make("SAME_STEP", render_mode=None), str(tmp_path))


# -- windows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", [1, 3, 9])
@pytest.mark.parametrize("size", [None, (40, 30), (30, 60), (60, 60)])
def test_a_window_of_any_size(make, window, opencv, num_envs, size):
    """It has the size of one picture or the given one; the first environment's picture is in its corner."""
    shown = W.HumanRendering(make("NEXT_STEP", num_envs=num_envs), screen_size=size)
    assert shown.render_mode == "human"
    shown.reset(seed=0)
    for step in range(2):
        screen = window()
        width, height = shown.scaled_subenv_size
        assert screen.shape == ((HEIGHT, WIDTH, 3) if size is None else (size[1], size[0], 3))
        picture = opencv(shown.env.render()[0], (width, height))
        np.testing.assert_array_equal(screen[:height, :width], picture)
        shown.step(np.full(num_envs, 8 * (step % 2)))


@pytest.mark.parametrize("output", ["torch", "numpy"])
@MODES
def test_a_window_in_every_mode(make, window, opencv, mode, output):
    """After every reset and step, whatever those return."""
    shown = W.HumanRendering(make(mode, output))
    shown.reset(seed=0)
    seen = [window()] + [window() for result in take_steps(shown, 6, mode) if host(result[1]).any()]
    assert len(seen) > 4
    for before, after in itertools.pairwise(seen):
        assert (before != after).any()


def test_no_window_around_a_window(make):
    """Environments that show one by themselves need no second one."""
    with pytest.raises(ValueError, match="but got 'human'"):
        W.HumanRendering(make("SAME_STEP", render_mode="human"))
