"""An exported actor acts as the policy does, and a file that does not gets no name."""

import importlib.util
import json

import gymnasium as gym
import numpy as np
import pytest
import torch

from tumble.training import export
from tumble.training.actor_module import Normalizer
from tumble.training.export import ExportError, export_policy
from tumble.training.policy import Policy
from tumble.training.train import train

needs_onnx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript")), reason="needs onnx and onnxscript"
)
needs_sb3_contrib = pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs sb3-contrib")
FORMATS = ["torchscript", pytest.param("onnx", marks=needs_onnx)]
CASES = [
    ("ppo", "one array", "torchscript"),
    ("ppo", "parts", "torchscript"),
    ("sac", "told apart", "torchscript"),
    ("td3", "one array", "torchscript"),
    pytest.param("recurrent_ppo", "parts", "torchscript", marks=needs_sb3_contrib),
    pytest.param("ppo", "one array", "onnx", marks=needs_onnx),
    pytest.param("sac", "parts", "onnx", marks=[needs_onnx, pytest.mark.slow]),
    pytest.param("td3", "told apart", "onnx", marks=needs_onnx),
    pytest.param("recurrent_ppo", "told apart", "onnx", marks=[needs_onnx, needs_sb3_contrib, pytest.mark.slow]),
]


@pytest.fixture
def play_here(monkeypatch):
    """Let exports be checked in environments of a class here; they are numpy, as `make_envs` makes them."""

    def use(kind):
        class Numpy(kind):
            def reset(self, **options):
                first = options["seed"]
                observations, info = super().reset(seed=range(first, first + self.num_envs))
                return numpy(observations), info

            def step(self, actions):
                observations, *values, info = super().step(np.asarray(actions).reshape(self.num_envs, -1))
                return numpy(observations), *(value.numpy() for value in values), info

        monkeypatch.setattr(export, "make_envs", lambda config, simulator, num_envs: Numpy(num_envs))

    return use


def numpy(observations):
    """An observation, or the parts of one, as arrays."""
    if isinstance(observations, dict):
        return {name: part.numpy() for name, part in observations.items()}
    return observations.numpy()


def exported(run, form, path):
    """Export the newest checkpoint in a format; returns what was found out, and the file as a function."""
    (result,) = export_policy(run, run.latest(), **{form: path})
    return result


@pytest.mark.parametrize(("algo", "seen", "form"), CASES)
def test_acts_as_the_policy(
    tmp_path, play_here, pendulums, seen_pendulums, told_apart_pendulums, configs, algo, seen, form
):
    """Statistics, clipping, networks and bounds, on observations far from those that training saw, too."""
    kind = {"one array": pendulums, "parts": seen_pendulums, "told apart": told_apart_pendulums}[seen]
    config = configs[algo].replace(total_steps=256)
    run = train(config, tmp_path / "run", progress=False, envs=kind(config.num_envs)).run
    play_here(kind)
    path = tmp_path / {"torchscript": "policy.pt", "onnx": "policy.onnx"}[form]
    result = exported(run, form, path)
    assert result.path == path and path.exists() and result.observations == 512 and result.difference < 1e-5
    assert [line.name for line in tmp_path.iterdir() if line.name.endswith(".writing")] == []
    envs = kind(1)
    policy = Policy(config, run.latest(), envs.single_observation_space, envs.single_action_space)
    actor = export.ActorModule(policy)
    rng = np.random.default_rng(0)
    far = {name: draw(rng, shape, dtype) for name, (shape, dtype) in actor.input_types.items()} | actor.forget(40)
    expected = policy.act(far if policy.parts != ("",) else far["observation"])
    load = {"torchscript": export._load_torchscript, "onnx": export._load_onnx}[form]
    np.testing.assert_allclose(load(path, actor)[0](far)["action"], expected, atol=1e-4)
    assert np.abs(expected).max() <= 2.0 and len(np.unique(expected)) > 5


def draw(rng, shape, dtype):
    """Forty random pictures, or numbers of which many are clipped."""
    if dtype == np.uint8:
        return rng.integers(0, 256, (40, *shape), np.uint8)
    return (20 * rng.normal(size=(40, *shape))).astype(np.float32)


@pytest.mark.parametrize(
    ("space", "form"),
    [
        (gym.spaces.Discrete(3), "torchscript"),
        (gym.spaces.MultiBinary(2), "torchscript"),
        pytest.param(gym.spaces.MultiDiscrete([3, 2]), "onnx", marks=needs_onnx),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_whole_actions(tmp_path, play_here, pendulums, small_ppo, space, form):
    class Switched(pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            self.single_action_space, self.action_space = space, gym.vector.utils.batch_space(space, num_envs)

        def step(self, actions):
            return super().step(torch.as_tensor(actions).reshape(self.num_envs, -1)[:, :1].float() - 1)

    run = train(small_ppo.replace(total_steps=256), tmp_path / "run", progress=False, envs=Switched(8)).run
    play_here(Switched)
    result = exported(run, form, tmp_path / "policy")
    shape = ", ".join(["n", *map(str, space.shape)])
    assert result.difference == 0 and result.outputs == [f"action ({shape}) int64"]


def test_actions_stay_within_bounds(tmp_path, play_here, pendulums, small_ppo):
    """Bounds that are narrower than what the network gives: both are met, and the exported actor keeps them."""

    class Narrow(pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            self.single_action_space = gym.spaces.Box(-2e-3, 1e-3, (1,), np.float32)
            self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)

    run = train(small_ppo, tmp_path / "run", progress=False, envs=Narrow(8)).run
    play_here(Narrow)
    assert exported(run, "torchscript", tmp_path / "policy.pt").difference < 1e-5
    seen = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)) * 3
    actions = torch.jit.load(tmp_path / "policy.pt")(seen)
    assert float(actions.min()) == np.float32(-2e-3) and float(actions.max()) == np.float32(1e-3)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_acts_otherwise_is_not_left(tmp_path, monkeypatch, play_here, pendulums, small_ppo, form):
    """Here the statistics get lost; what stood there before stays."""
    run = train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8)).run
    play_here(pendulums)
    monkeypatch.setattr(Normalizer, "forward", lambda self, part: part)
    path = tmp_path / "policy.file"
    path.write_text("before")
    with pytest.raises(ExportError, match=r"not written: its actions, as .* differ from the policy's by up to"):
        exported(run, form, path)
    assert path.read_text() == "before" and {one.name for one in tmp_path.iterdir()} == {"run", "policy.file"}


def test_a_torchscript_file_needs_torch_alone_and_says_what_it_is(tmp_path, play_here, pendulums, small_ppo):
    run = train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8)).run
    play_here(pendulums)
    exported(run, "torchscript", tmp_path / "policy.pt")
    extra = {export.METADATA: ""}
    loaded = torch.jit.load(tmp_path / "policy.pt", _extra_files=extra)
    assert json.loads(extra[export.METADATA]) == {
        "task": "test/Pendulum-v0",
        "algorithm": "ppo",
        "training_steps": str(small_ppo.total_steps),
    }
    assert loaded(torch.zeros(5, 3)).shape == (5, 1)


def test_without_the_packages_the_remedy_is_named(tmp_path, monkeypatch, play_here, pendulums, small_ppo):
    run = train(small_ppo.replace(total_steps=128), tmp_path / "run", progress=False, envs=pendulums(8)).run
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name.startswith("onnx") else find(name))
    with pytest.raises(ExportError, match=r'--onnx needs onnx and onnxscript: pip install "tumble\[export\]"'):
        exported(run, "onnx", tmp_path / "policy.onnx")


def test_the_command(workshop, command):
    """A task of one's own, trained for a moment: exported, and refused with a line where a name is wrong."""
    workshop.write("lever.py")
    small = ["--steps", 256, "--num-envs", 8, "--set", "ppo.n_steps=16", "--set", "ppo.batch_size=64", "--no-progress"]
    command("train", "lever.py", "--out", "run", *small)
    printed = command("export", "run", "--task", "lever.py", "--torchscript", "out/lever.pt")
    assert "observation (n, 3) float32" in printed and "action (n, 1) float32" in printed
    assert "checked by torch" in printed and "on 512 observations" in printed
    extra = {export.METADATA: ""}
    torch.jit.load("out/lever.pt", _extra_files=extra)
    assert float(json.loads(extra[export.METADATA])["seconds_per_action"]) > 0
    assert "give --onnx FILE.onnx or --torchscript FILE.pt" in command.mistake("export", "run", "--task", "lever.py")
    assert "must end in .onnx" in command.mistake("export", "run", "--onnx", "policy.pt")
    assert "no best policy was kept" in command.mistake(
        "export", "run", "--task", "lever.py", "--checkpoint", "best", "--torchscript", "a.pt"
    )


@needs_sb3_contrib
@pytest.mark.parametrize("form", FORMATS)
def test_memory_goes_in_and_out(tmp_path, play_here, pendulums, configs, form):
    """Shapes are told; what comes out is what the next step takes, zeros where an episode begins."""
    config = configs["recurrent_ppo"].replace(total_steps=256)
    run = train(config, tmp_path / "run", progress=False, envs=pendulums(8)).run
    play_here(pendulums)
    result = exported(run, form, tmp_path / "policy")
    states = ["hidden_state (1, n, 8) float32", "cell_state (1, n, 8) float32"]
    assert result.inputs == ["observation (n, 3) float32", *states]
    assert result.outputs == ["action (n, 1) float32", *(f"next_{state}" for state in states)]


@needs_onnx
@needs_sb3_contrib
def test_without_onnxruntime_onnx_itself_runs_the_file(tmp_path, monkeypatch, play_here, pendulums, configs):
    config = configs["recurrent_ppo"].replace(total_steps=256)
    run = train(config, tmp_path / "run", progress=False, envs=pendulums(8)).run
    play_here(pendulums)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name))
    result = exported(run, "onnx", tmp_path / "policy.onnx")
    assert "reference implementation (onnxruntime is not installed)" in result.runtime and result.difference < 1e-5


@needs_sb3_contrib
def test_a_file_that_does_not_remember_is_not_left(tmp_path, monkeypatch, play_here, pendulums, configs):
    run = train(configs["recurrent_ppo"], tmp_path / "run", progress=False, envs=pendulums(8)).run
    play_here(pendulums)
    forward = export.ActorModule.forward
    monkeypatch.setattr(
        export.ActorModule, "forward", lambda self, seen, *memory: forward(self, seen, *(0 * one for one in memory))
    )
    with pytest.raises(ExportError, match="not written"):
        exported(run, "torchscript", tmp_path / "policy")
