"""The page about your own task is true: its files and commands run as printed."""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import pytest

from tumble.training.cli import main

from .page_programs import as_in_a_new_process, blocks, execute, page

PAGE = page("your_own_task")


def run(command: str, folder: Path) -> str:
    """Run a line of the page in a folder, with this environment's `tumble`; return what it printed."""
    paths = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])), "COLUMNS": "200"}
    outcome = subprocess.run(
        command, shell=True, cwd=folder, env=os.environ | paths, capture_output=True, text=True, timeout=500
    )
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}\n{outcome.stderr}"
    return outcome.stdout


def run_here(command: str, folder: Path) -> str:
    """The same in this process, which has the kernels."""
    shown = io.StringIO()
    with as_in_a_new_process(folder) as patch, contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        patch.setenv("COLUMNS", "200")
        patch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as stopped:
            main()
    assert not stopped.value.code, f"{command}\n{shown.getvalue()}"
    return shown.getvalue()


@pytest.mark.long
@pytest.mark.parametrize(
    ("run", "steps"),
    [
        pytest.param(run_here, "20_480", id="in this process, trained for a while"),
        pytest.param(run, "200_000", id="as printed", marks=pytest.mark.slow),
    ],
)
def test_your_own_task_from_an_empty_folder_to_a_film(run, steps, tmp_path):
    """The two files are as short as promised; the commands train, resume, evaluate and film outside the repository."""
    (model,), (task, *_), (commands,) = (blocks("your_own_task", kind) for kind in ("xml", "python", "sh"))
    assert len(model.splitlines()) <= 30 and len(task.splitlines()) <= 60
    (tmp_path / "crane.xml").write_text(model)
    (tmp_path / "crane.py").write_text(task)
    assert commands.count("--steps 200_000") == 1
    for command in commands.replace("--steps 200_000", f"--steps {steps}").splitlines():
        run(command, tmp_path)
    assert iio.imread(tmp_path / "crane.png").shape == (960, 960, 3)
    scores = tmp_path / "runs" / "crane"
    score, judged = (json.loads((scores / f"evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco"))
    assert score["episodes"] == judged["episodes"] == 100
    assert judged["mean"] == pytest.approx(score["mean"], rel=0.01) and judged["environment"] == ""
    if steps == "200_000":
        assert score["mean"] > 120, "a random policy has less than 40; the page says 138"
    film = iio.imread(tmp_path / "crane.mp4")
    assert len(film) == 150 and film[0].std() > 10 and (film[0] != film[-1]).any()

    (resume,) = re.findall(r"`(tumble train --resume [^`]*)`", PAGE)
    assert resume.count("400_000") == 1
    more = int(steps) + 10_000
    assert f"finished at step {str(more)[0]}" in run(resume.replace("400_000", str(more)), tmp_path)
    listed = run("tumble list crane.py", tmp_path)
    assert "crane.py:me/Crane-v0" in listed
    small = "--num-envs 2 --set ppo.n_steps=16 --set ppo.batch_size=32"
    run(f"tumble train crane.py --steps 32 {small} --option reach=0.5 --out runs/near --no-progress", tmp_path)
    assert "reach = 0.5" in (tmp_path / "runs" / "near" / "config.toml").read_text()


def test_the_ways_to_make_it(tmp_path):
    """Every call that the page shows in a sentence, a command renewed from the noise of steps, and other masses."""
    (model,), (task, renewal, masses, *_) = blocks("your_own_task", "xml"), blocks("your_own_task")
    files = {"crane.xml": model, "crane.py": task}
    calls = re.findall(r"`((?:gymnasium|tumble)\.make[^`]*)`", PAGE)
    assert len(calls) == 3
    program = "import gymnasium, tumble\nfrom crane import Crane\n"
    program += "".join(f"env = {call}\nenv.reset(seed=0)\nenv.step(env.action_space.sample())\n" for call in calls)
    program += f"""
from tumble.envs import StepResult
class Commanded(Crane):
    def reset(self, noise):
        start = super().reset(noise)
        memory = {{"count": noise.integers(97, 98, 1)[:, 0], "command": noise.uniform(-1, 1, 2)}}
        return start._replace(memory=start.memory | memory)
    def step(self, state, action):
        result = super().step(state, action)
{"".join("        " + line + chr(10) for line in renewal.splitlines())}
        return result._replace(memory=result.memory | {{"count": count, "command": command}})
class Varied(Crane):
    def reset(self, noise):
        start = super().reset(noise)
{"".join("        " + line + chr(10) for line in masses.splitlines())}
varied = tumble.make_vec(Varied, 3, max_episode_steps=2)
mass = []
for _ in range(4):
    varied.step(varied.action_space.sample()) if mass else varied.reset(seed=0)
    mass.append(varied.solver.get_parameters("body_mass")[:, 2])
assert [bool((a != b).all()) for a, b in zip(mass, mass[1:])] == [False, True, False]
envs = tumble.make_vec(Commanded, 3)
envs.reset(seed=0)
seen = []
for _ in range(5):
    envs.step(envs.action_space.sample() * 0)
    seen.append(envs.batch._memory.arrays["command"].copy())
assert [bool((a != b).all()) for a, b in zip(seen, seen[1:])] == [False, True, False, False]
"""
    with as_in_a_new_process(tmp_path, files):
        execute(program)


def test_pushes_and_a_target_that_moves(tmp_path):
    """The marker stands where the task remembers it, gusts last a step, the ends of the rail cut episodes short."""
    (model,), (task, _, _, windy, _) = blocks("your_own_task", "xml"), blocks("your_own_task")
    files = {"crane.xml": model, "crane.py": task, "windy.py": windy}
    program = """
import gymnasium, numpy, tumble, windy
envs = gymnasium.make_vec("me/Windy-v0", num_envs=40, output="numpy")
envs.reset(seed=0)
before, pushes, cuts = envs.solver.mocap_pos.numpy(), [], 0
for step in range(100):
    *_, terminated, truncated, info = envs.step(numpy.ones((40, 1)))
    target, marker = envs.batch._memory.arrays["target"], envs.solver.mocap_pos.numpy()
    assert (marker[:, 0, 0] == target[:, 0]).all() and (marker[:, 0, 2] == numpy.float32(0.02)).all()
    assert (marker[~truncated & ~terminated] != before[~truncated & ~terminated])[:, 0, 0].mean() > 0.9
    assert (abs(marker - before)[~truncated & ~terminated] < 0.15).all()
    pushed = envs.solver.xfrc_applied.numpy()
    assert not numpy.delete(pushed, 2, 1).any() and not pushed[:, 2, 1:].any()
    pushes.append(pushed[:, 2, 0] != 0)
    cuts += int((truncated & ~terminated).sum())
    assert not truncated.any() or info["_final_obs"][truncated].all()
    before = marker
assert cuts > 20 and 0.03 < numpy.mean(pushes) < 0.07
env = gymnasium.make("me/Windy-v0")
env.reset(seed=0)
env.step(env.action_space.sample())
"""
    with as_in_a_new_process(tmp_path, files):
        execute(program)


def test_a_load_in_a_pool(tmp_path):
    """The liquid slows the load, is as thick as the episode says, and its middle is seen."""
    (model,), (task, *_, wading) = blocks("your_own_task", "xml"), blocks("your_own_task")
    files = {"crane.xml": model, "crane.py": task, "wading.py": wading}
    program = """
import gymnasium, torch, tumble, wading
from crane import Crane
ways = []
for kind in (wading.Wading, Crane):
    envs = tumble.make_vec(kind, 3)
    observation, _ = envs.reset(seed=0)
    for step in range(12):
        observation, *_ = envs.step(torch.ones(3, 1))
    ways.append(observation[:, 0])
    if kind is wading.Wading:
        assert observation.shape == (3, 9)
        assert torch.allclose(observation[:, 6:], envs.solver.get("particles_pos").mean(1), atol=1e-4)
        assert len(set(envs.solver.get_parameters("water.viscosity").tolist())) == 3
    assert not envs.solver.faults.any()
assert (ways[0] < ways[1]).all(), ways
env = gymnasium.make("me/Wading-v0")
env.reset(seed=0)
env.step(env.action_space.sample())
"""
    with as_in_a_new_process(tmp_path, files):
        execute(program)
