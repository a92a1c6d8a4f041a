"""Pictures of single and vector environments, and Gymnasium's recorders on them."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble

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
