"""Pictures of single and vector environments, and Gymnasium's recorders on them."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import CameraView
from tumble.physics.rendering import BatchRenderer, Look, Show

from .own_tasks import Pointer

SIZE = {"width": 32, "height": 24}


def test_single_environment():
    """One uint8 picture of the asked size; none without a render mode, with Gymnasium's warning."""
    env = gymnasium.make("tumble/Hopper-v0", render_mode="rgb_array", **SIZE)
    env.reset(seed=0)
    frame = env.render()
    assert frame.shape == (24, 32, 3) and frame.dtype == np.uint8
    env.close()
    blind = gymnasium.make("tumble/Hopper-v0").unwrapped
    blind.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert blind.render() is None
    blind.close()


def test_vector_environment():
    """`render` shows `render_envs`, by default the first 16; `render_tensor` any."""
    envs = tumble.make_vec("Hopper", 20, render_mode="rgb_array", **SIZE)
    envs.reset(seed=0)
    frames = envs.render()
    assert isinstance(frames, tuple) and len(frames) == 16
    assert all(frame.shape == (24, 32, 3) and frame.dtype == np.uint8 for frame in frames)
    tensor = envs.render_tensor([3, 19])
    assert tensor.shape == (2, 24, 32, 3) and tensor.dtype == torch.uint8
    np.testing.assert_array_equal(tensor[0].numpy(), frames[3])
    with pytest.raises(IndexError, match="no environment 20"):
        envs.render_tensor([20])
    envs.close()
    few = tumble.make_vec("Hopper", 20, render_mode="rgb_array", render_envs=[5, 1], **SIZE)
    few.reset(seed=0)
    np.testing.assert_array_equal(few.render()[0], frames[5])
    few.close()


class PointerWithTip(Pointer):
    """A pointer whose tip is drawn: a site, red and of 0.1 m."""

    cameras: ClassVar = {"above": CameraView(width=12, height=10, camera="above", sites=True)}
    shows_sites: ClassVar = True

    def edit_spec(self, spec):
        """Paint the tip."""
        spec.site("tip").size, spec.site("tip").rgba = [0.1] * 3, [1.0, 0.0, 0.0, 1.0]


def test_sites_are_drawn_if_a_task_says_so():
    """In `render`, also with other overlays, and in pictures that are observed."""
    red = {}
    for kind in (Pointer, PointerWithTip):
        envs = tumble.make_vec(kind, 1, render_mode="rgb_array", camera_name="above", output="numpy", **SIZE)
        seen, _ = envs.reset(seed=0)
        pictures = [seen["picture"][0], envs.render()[0]]
        envs.dress_pictures(show=Show(frames="world"))
        pictures.append(envs.render()[0])
        red[kind] = [int(((each[..., 0] > 120) & (each[..., 1] < 60)).sum()) for each in pictures]
        envs.close()
    assert min(np.subtract(red[PointerWithTip], red[Pointer])) > 0


def test_several_environments_in_one_picture():
    """In rows, or side by side in one world, where more of the picture is robots; in another look, with labels."""
    envs = tumble.make_vec("Hopper", 4, render_mode="rgb_array", **SIZE)
    envs.reset(seed=0)
    frames, sheet = envs.render_tensor(), envs.render_grid(gap=1)
    assert sheet.shape == (49, 65, 3) and torch.equal(sheet[25:, :32], frames[2])
    assert torch.equal(envs.render_grid([3, 1], columns=1), torch.cat([frames[3], frames[1]]))
    world = envs.render_together([0, 1], spacing=(0.0, 1.0))
    assert world.shape == (24, 32, 3) and not torch.equal(world, frames[0])
    assert torch.equal(envs.render_together([2], spacing=(0.0, 0.0)), frames[2])
    pixels, names = envs.body_pixels([1])
    assert pixels.shape == (1, len(names), 2) and names == ["torso", "thigh", "leg", "foot"]
    torso, foot = pixels[0, 0], pixels[0, 3]
    assert 0 < torso[0] < 32 and 0 < torso[1] < foot[1]  # the torso is above the foot
    envs.dress_pictures(look=Look(exposure=0.2), show=Show(frames="world"))
    dark = envs.render_tensor([0])
    assert dark.float().mean() < 0.8 * frames[0].float().mean()
    envs.dress_pictures()
    assert torch.equal(envs.render_tensor(), frames)
    envs.close()


def test_no_pictures_without_render_mode():
    """A vector environment says how to get them."""
    envs = tumble.make_vec("Hopper", 2)
    envs.reset(seed=0)
    with pytest.raises(gymnasium.error.Error, match="render_mode='rgb_array'"):
        envs.render()
    envs.close()


@pytest.mark.parametrize("name", ["InvertedPendulum", "Ant"])
def test_cameras(name):
    """The model's "track" camera, a configured one, a named one: pictures differ."""
    pictures = []
    for camera in ({}, {"default_camera_config": {"distance": 9.0, "elevation": -60.0}}):
        env = gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array", **SIZE, **camera)
        env.reset(seed=0)
        pictures.append(env.render())
        env.close()
    assert (pictures[0] != pictures[1]).any()


def test_pictures_move(monkeypatch):
    """The picture after some steps is another one."""
    env = gymnasium.make("tumble/Ant-v0", render_mode="rgb_array", **SIZE)
    env.reset(seed=0)
    env.action_space.seed(0)
    before = env.render()
    for _ in range(20):
        env.step(env.action_space.sample())
    assert (env.render() != before).any()
    env.close()


@pytest.mark.parametrize("mode", ["rgb_array", "depth_array"])
def test_lists_of_pictures(mode):
    """`gymnasium.make` collects the pictures of the reset and of every step."""
    env = gymnasium.make("tumble/Hopper-v0", render_mode=f"{mode}_list", **SIZE)
    env.reset(seed=0)
    last = [env.unwrapped.render() for _ in range(3) if env.step(np.zeros(3))][-1]
    frames = env.render()
    assert isinstance(frames, list) and len(frames) == 4
    np.testing.assert_array_equal(frames[-1], last)
    env.close()


def test_depth():
    """Metres along the optical axis, those of the renderer; of one environment and of several."""
    envs = tumble.make_vec("Hopper", 2, render_mode="depth_array", **SIZE)
    envs.reset(seed=0)
    env = gymnasium.make("tumble/Hopper-v0", render_mode="depth_array", **SIZE)
    env.reset(seed=1)
    solver = envs.solver
    wanted = BatchRenderer(solver.model, 32, 24, camera="track", look=Look(endless_planes=True)).depth(solver).numpy()
    assert wanted.shape == (2, 24, 32) and np.isfinite(wanted).any()
    for frame, depth in zip(envs.render(), wanted, strict=True):
        assert frame.dtype == np.float32
        np.testing.assert_array_equal(frame, depth)
    np.testing.assert_array_equal(env.render(), wanted[1])
    env.close()
    envs.close()


@pytest.mark.filterwarnings("ignore:.*You are trying to use 'human' rendering:UserWarning")
def test_window_of_a_single_environment(window):
    """Gymnasium's HumanRendering shows the picture that the environment takes."""
    env = gymnasium.make("tumble/Hopper-v0", render_mode="human", **SIZE)
    env.reset(seed=0)
    for _ in range(2):
        env.step(np.ones(3))
        np.testing.assert_array_equal(window(), env.unwrapped.render())
    env.close()


def test_window_of_a_vector_environment(window):
    """All pictures side by side after every reset and step, a black one in the last place; it closes with the rest."""
    envs = tumble.make_vec("Hopper", 3, render_mode="human", **SIZE)
    envs.reset(seed=0)
    for _ in range(2):
        assert envs.render() is None
        first, second, third = envs.render_tensor().numpy()
        upper, lower = np.hstack((first, second)), np.hstack((third, 0 * third))
        np.testing.assert_array_equal(window(), np.vstack((upper, lower)))
        envs.step(torch.ones(3, 3))
    envs.close()
    import pygame

    assert pygame.display.get_surface() is None


def test_a_window_waits_as_long_as_a_step_takes(window, monkeypatch):
    """Of a step that was changed, too."""
    import pygame

    told = []
    monkeypatch.setattr(pygame.time, "Clock", lambda: SimpleNamespace(tick=told.append))
    envs = tumble.make_vec("Hopper", 1, render_mode="human", **SIZE)
    envs.reset(seed=0)
    envs.set_attr("frame_skip", 8)
    envs.render()
    assert told == [round(1 / 0.008), round(1 / 0.016)]
    envs.close()


def test_no_window_without_pygame(monkeypatch):
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "pygame", None)
    envs = tumble.make_vec("Hopper", 1, render_mode="human", **SIZE)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=r"pip install .tumble\[window\]"):
        envs.reset()
    envs.close()


def test_no_window_without_a_display(monkeypatch):
    """The error says so, not a line of SDL's alone."""
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "none such")
    envs = tumble.make_vec("Hopper", 1, render_mode="human", **SIZE)
    with pytest.raises(gymnasium.error.Error, match=r'needs a display .*; "rgb_array" needs none'):
        envs.reset()
    envs.close()


@pytest.mark.parametrize("kind", ["single", "vector"])
@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.filterwarnings("ignore:.*Overwriting existing videos:UserWarning", "ignore:.*same-step:UserWarning")
def test_record_video(kind, output, tmp_path):
    """Gymnasium's RecordVideo writes an mp4."""
    pytest.importorskip("moviepy")
    if kind == "single":
        env = gymnasium.make("tumble/Hopper-v0", render_mode="rgb_array", **SIZE)
        recorder = gymnasium.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: episode == 0)
    else:
        envs = tumble.make_vec("Hopper", 4, render_mode="rgb_array", output=output, **SIZE)
        recorder = gymnasium.wrappers.vector.RecordVideo(
            envs, str(tmp_path), episode_trigger=lambda episode: episode == 0
        )
    recorder.reset(seed=0)
    recorder.action_space.seed(0)
    for _ in range(12):
        recorder.step(recorder.action_space.sample())
    recorder.close()
    video = next(tmp_path.glob("*.mp4"))
    assert video.stat().st_size > 500
