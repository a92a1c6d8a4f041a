"""Wrong arguments of environments are refused in one sentence with the argument's name, when environments are made."""

from typing import ClassVar

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import CameraView

from ..cases import cases
from .own_tasks import Held, Pointer

ENVIRONMENTS = [
    ({"num_envs": True}, "num_envs=True: it must be a whole number"),
    ({"num_envs": np.True_}, "num_envs=.*True.*: it must be a whole number"),
    ({"num_envs": [2]}, "num_envs=.*: it must be a whole number"),
    ({"num_envs": torch.ones(2)}, "num_envs=.*: it must be a whole number"),
    ({"max_episode_steps": True}, "max_episode_steps=True: it must be a whole number"),
    ({"max_episode_steps": "5"}, "max_episode_steps='5': it must be a whole number"),
    ({"device": "meta"}, "device='meta': tensors there have shapes and no numbers"),
    ({"device": ["cpu"]}, "device=.*torch has no tensors there"),
    ({"device": "gpu"}, "device='gpu': torch has no tensors there"),
    ({"output": None}, "output=None: there is torch and numpy"),
    ({"autoreset_mode": 1}, "autoreset_mode=1: there is NEXT_STEP"),
    ({"camera_name": "above", "camera_id": 0}, "not both"),
    ({"camera_name": "below"}, "the model has no camera 'below'; nearest: above"),
    ({"camera_name": 5}, "cameras: id 5"),
    ({"camera_id": 9}, "cameras: id 9"),
    ({"camera_id": 0.5}, "camera must be None, a name, an id"),
    ({"camera_id": True}, "camera must be None, a name, an id"),
    ({"default_camera_config": {"distanc": 1.0}}, "camera config has no field 'distanc'; nearest: distance"),
    ({"default_camera_config": {"trackbodyid": "leg"}}, "trackbodyid: the model has no body 'leg'"),
    ({"default_camera_config": {"distance": float("nan")}}, "camera distance"),
    ({"width": True}, "width=True: it must be a whole number"),
    ({"width": 10**6, "height": 10**6}, "a picture can have 67,108,864 pixels at most"),
    ({"render_envs": "0"}, "render_envs='0': expected whole numbers"),
    ({"render_envs": [None]}, "expected whole numbers"),
    ({"render_envs": [1j]}, "expected whole numbers"),
    (
        {"render_envs": torch.zeros(1, dtype=torch.int64, device="meta")},
        "render_envs=tensor.*expected whole numbers",
    ),
    ({"model_options": "timestep"}, "model_options='timestep': expected options by name"),
    ({"model_options": {"timestep": -1}}, "option timestep: -1 is not above 0"),
    ({"model_options": {"timestep": None}}, "option timestep: None is not a number"),
    ({"frame_skip": 2.5}, "frame_skip must be a whole number"),
    ({"stiffness": 1j}, "stiffness must be a number"),
]


@cases("options, words", ENVIRONMENTS)
def test_when_they_are_made(options, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        tumble.make_vec(Held, **({"num_envs": 2} | options)).close()
    assert "\n" not in str(caught.value)


def test_a_single_environment_has_its_camera_when_it_is_made():
    for options in ({"camera_name": "below"}, {"camera_id": 9}):
        with pytest.raises(ValueError, match="camera"):
            gymnasium.make("tumble/Hopper-v0", **options)


VIEWS = {
    "the model has no camera 'below'": CameraView(8, 8, "below"),
    "camera config has no field 'x'": CameraView(8, 8, {"x": 1}),
    "width=0: it must be at least 1": CameraView(0, 8),
    "width=8.5: expected a whole number": CameraView(8.5, 8),
    "needed is a CameraView": "above",
}


@cases("words", VIEWS)
def test_a_camera_of_a_task(words):
    """Refused with its name among the task's cameras."""

    class Blind(Pointer):
        cameras: ClassVar = {"above": CameraView(8, 8, "above"), "other": VIEWS[words]}

    with pytest.raises((ValueError, TypeError), match=rf"cameras\['other'\].*{words}"):
        tumble.make_vec(Blind, 2)


ACTIONS = {
    "None": None,
    "complex": np.zeros((2, 2), complex),
    "dates": np.zeros((2, 2), "datetime64[s]"),
    "strings": np.full((2, 2), "1"),
    "Nones": [[None, 1.0], [1.0, 1.0]],
    "unequal rows": [[1.0], [1.0, 2.0]],
    "a complex tensor": torch.zeros(2, 2, dtype=torch.complex64),
    "a tensor without numbers": torch.zeros(2, 2, device="meta"),
    "bools": np.zeros((2, 2), bool),
}


@pytest.fixture(scope="module")
def held():
    envs = tumble.make_vec(Held, 2)
    envs.reset(seed=0)
    yield envs
    envs.close()


@cases("what", ACTIONS)
def test_actions(held, what):
    before = held.solver.state_dict()["memory"]
    with pytest.raises((ValueError, TypeError), match="actions") as caught:
        held.step(ACTIONS[what])
    assert "\n" not in str(caught.value)
    assert torch.equal(held.solver.state_dict()["memory"], before)
