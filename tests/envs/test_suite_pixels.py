"""The suite's tasks that are seen through a camera: pictures, and else the task that they are derived from."""

import numpy as np
import pytest

import tumble

PLAIN = {
    "CartPoleSwingUpPixels": ("CartPoleSwingUp", {}),
    "PendulumSwingUpPixels": ("PendulumSwingUp", {}),
    "ReacherPixels": ("ReacherHard", {"target_size": 0.05}),
}


@pytest.mark.parametrize("name", PLAIN)
def test_pictures_of_the_same_episodes(name):
    """Rewards and infos are the plain task's; pictures change from step to step, and final ones are kept."""
    plain, options = PLAIN[name]
    envs, others = (
        tumble.make_vec(task, 3, output="numpy", max_episode_steps=4, **more)
        for task, more in ((name, {}), (plain, options))
    )
    assert envs.single_observation_space.shape == (64, 64, 3) and envs.single_observation_space.dtype == np.uint8
    picture, _ = envs.reset(seed=4)
    others.reset(seed=4)
    envs.action_space.seed(0)
    pictures = [picture]
    for step in range(6):
        action = envs.action_space.sample()
        picture, reward, _, truncated, info = envs.step(action)
        _, wanted, _, _, other = others.step(action)
        np.testing.assert_array_equal(reward, wanted)
        assert info.keys() == other.keys() and truncated.all() == (step == 3)
        if step == 3:
            assert info["final_obs"].shape == (3, 64, 64, 3) and (info["final_obs"] != picture).any()
        pictures.append(picture)
    assert (pictures[3] != pictures[0]).any(axis=(1, 2, 3)).all()
    envs.close()
    others.close()


def test_the_size_of_the_reachers_target_is_seen():
    """The radius that is rewarded is the radius that is drawn."""
    for size in (0.05, 0.02):
        envs = tumble.make_vec("ReacherPixels", 1, target_size=size, output="numpy")
        picture, _ = envs.reset(seed=0)
        red = (picture[..., 0].astype(int) - picture[..., 2] > 60).sum() - 2  # the finger is of a like color
        pixel = 64 / (2 * 0.85 * np.tan(np.radians(22.5)))  # a meter, in pixels
        assert red == pytest.approx(np.pi * (size * pixel) ** 2, rel=0.5)
        assert envs.task.reach == pytest.approx(size + 0.01)
        envs.close()


@pytest.mark.parametrize("pixels", [-3, True])
def test_what_is_no_number_of_pixels_is_refused(pixels):
    with pytest.raises(ValueError, match="it is a number, such as 84, or 0"):
        tumble.make_vec("WalkerWalk", 1, pixels=pixels)
