"""Programs of pages, and the examples of tasks, that take longer: they run, shortened, and do what the pages say.

`test_pages.py` runs the programs of all other pages as they stand; `test_docs.py` and `test_mechanism_page.py` follow
the two longest.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import imageio.v3 as iio
import mujoco
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import tumble
from tumble.envs.arrays import host
from tumble.envs.managers import randomize
from tumble.training.cli import main

from .page_programs import EXAMPLES, ROOT, as_in_a_new_process, blocks, examples, execute, page
from .physics.starts import run_with


def in_a_process(program: list[str], folder: Path) -> str:
    """Run a program with its arguments in a folder; return what it printed."""
    done = subprocess.run([sys.executable, *program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_line(patch: pytest.MonkeyPatch, command: str) -> None:
    """Run a command of `tumble` in this process."""
    patch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code, command


# -- hindsight --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hindsight_trains_and_draws(tmp_path):
    """With few steps, here; the shares are of 100 episodes each."""
    printed = in_a_process([str(EXAMPLES / "hindsight.py"), "--steps", "2000", "--every", "1000"], tmp_path)
    assert re.findall(r"^(?:with hindsight|without) +[01]\.\d\d$", printed, flags=re.MULTILINE)
    assert len(re.findall(r"^[12]000 [01]\.\d+$", printed, flags=re.MULTILINE)) == 4
    assert (tmp_path / "hindsight.png").read_bytes()[1:4] == b"PNG"


# -- inverse kinematics -----------------------------------------------------------------------------------------------


def test_the_arm_reaches_the_grid_and_goes_around_the_box(capsys):
    """As MuJoCo judges it: the grip is at every point, pointing down, and the path touches nothing."""
    run_with("32")
    names = execute("\n".join(blocks("planning")[1:]))
    printed = capsys.readouterr().out
    assert "30 of 30 reached" in printed and "planned: 0 of 300 waypoints collide" in printed
    assert int(re.search(r"straight: (\d+) of 300", printed).group(1)) > 0
    mj = names["model"].mj
    data, site = mujoco.MjData(mj), mj.site("grip").id
    for qpos, target in zip(names["found"].qpos.double().numpy(), names["targets"].double().numpy(), strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(mj, data)
        assert np.linalg.norm(data.site_xpos[site] - target) < 5.1e-4 and data.site_xmat[site][8] < -0.9999
    for qpos in names["path"].qpos[0].double().numpy():
        data.qpos[:] = qpos
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_comPos(mj, data)
        mujoco.mj_collision(mj, data)
        assert data.ncon == 0
    for solver in (names["arm"], names["check"]):
        solver.close()


# -- managers ---------------------------------------------------------------------------------------------------------


def test_the_managed_robot_stands_pushed_and_randomized(tmp_path):
    """Most of the time, without corrections; the critic knows the friction, the policy sees noise, and gains change."""
    with as_in_a_new_process(tmp_path, examples("dog.xml", "walk.py")):
        import walk

        envs = tumble.make_vec(walk.Walk, 8, max_episode_steps=500, autoreset_mode="SAME_STEP", output="numpy")
        observation, _ = envs.reset(seed=0)
        assert {name: part.shape[1] for name, part in observation.items()} == {"policy": 69, "critic": 53}
        solver, ended, gains = envs.solver, 0, []
        for _ in range(400):
            observation, _, terminated, _, info = envs.step(np.zeros((8, 12), np.float32))
            ended += terminated.sum()
            gains.append(solver.get_parameters("actuator_biasprm")[:, 0, 2].numpy())
            floor = solver.get_parameters("geom_friction")[:, envs.task.model.geom("floor").id, 0]
            np.testing.assert_allclose(observation["critic"][:, 48], floor, rtol=1e-6)
            assert (observation["policy"][:, :3] != observation["critic"][:, :3]).any()
        assert not solver.faults.any() and ended < 10
        assert (np.diff(np.array(gains), axis=0) != 0).sum(0).max() <= 3
        assert (np.diff(np.array(gains), axis=0) != 0).any()
        assert set(info) >= {"tracking_error", "difficulty", "reward_track", "reward_air_time"}

        runs = []  # a seed determines everything
        for _ in range(2):
            envs.reset(seed=3)
            actions = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 8, 12)).astype(np.float32)
            runs.append([envs.step(action)[0]["critic"] for action in actions])
        np.testing.assert_array_equal(*runs)
        envs.close()


@pytest.mark.slow
def test_the_managed_robot_is_an_environment_and_trains(tmp_path):
    """By the command of the page, for a shorter time."""
    with as_in_a_new_process(tmp_path, examples("dog.xml", "walk.py")) as patch:
        import walk  # noqa: F401 - registers the task

        env = gym.make("me/Walk-v0")
        check_env(env.unwrapped, skip_render_check=True)
        env.close()
        (command,) = re.findall(r"`(tumble train walk.py .*?)`", page("your_own_task"))
        command_line(patch, command.replace("2_000_000", "100_000").replace("runs/walk", str(tmp_path / "walk")))


def test_the_tables_of_managers_name_what_there_is():
    """Every function of terms is in the table, and every option that terms have."""
    own = {
        name
        for name, function in vars(randomize).items()
        if not name.startswith("_") and getattr(function, "__annotations__", {}).get("return") is randomize.Randomize
    }
    assert len(own) > 10
    table = page("your_own_task").partition("| `dr.` |")[2].partition("\n\n")[0]
    assert own <= set(re.findall(r"\w+", table))
    options = page("your_own_task").partition("| option | values |")[2].partition("\n\n")[0]
    fields = {name for name in randomize.Randomize.__dataclass_fields__ if not name.startswith("_")}
    named = re.findall(r"`(\w+)`", re.sub(r"\|[^|]*\|$", "|", options, flags=re.M))
    assert fields - {"parameter", "low", "high"} == set(named)


# -- path tracing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "pictures").glob("*.py")), ids=lambda path: path.stem)
def test_a_path_traced_picture_is_drawn(path, tmp_path, monkeypatch):
    """A small sketch of few samples, cleaned by our own filter."""
    monkeypatch.chdir(tmp_path)
    small, sizes = re.subn(r"\b640,\s+400\b", "48, 30", path.read_text("utf-8"))
    quick, counts = re.subn(r"samples=\d+", 'samples=2, denoise="filter"', small)
    assert (sizes, counts) == (1, 1)
    execute(quick)
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 1000


# -- planning ---------------------------------------------------------------------------------------------------------


def test_the_calls_for_planning_run_as_printed():
    """The first program of the page; what it restores is what it took."""
    names = execute(blocks("planning")[0])
    assert names["observations"].shape == (64, 11)
    names["envs"].close()


def test_the_planner_is_as_short_as_promised():
    promised = int(re.search(r"a controller of (\d+) lines", page("planning")).group(1))
    assert len(examples("mppi.py")["mppi.py"].splitlines()) <= promised


def test_the_pole_is_swung_up(tmp_path):
    """In 4 s, with fewer sequences than on the page; the motor cannot lift it at once."""
    with as_in_a_new_process(tmp_path, examples("dog.xml", "mppi.py", "planned_walk.py", "swing_up.py")):
        import mppi
        import swing_up

        planner = mppi.Planner(swing_up.SwingUp(), samples=48, horizon=50, sigma=0.7)
        upright = np.array([planner.act()[3]["upright"] for _ in range(200)])
        planner.envs.close()
    assert upright[:20].max() < 0.5 and upright[-40:].min() > 0.98


def test_the_dog_walks(tmp_path):
    """It stands up to its height and goes ahead for a second."""
    with as_in_a_new_process(tmp_path, examples("dog.xml", "mppi.py", "planned_walk.py", "swing_up.py")):
        import mppi
        import planned_walk

        planner = mppi.Planner(planned_walk.Walk(), samples=48, horizon=25, knots=6, sigma=0.3)
        steps = [planner.act() for _ in range(55)]
        planner.envs.close()
    places = [info["place"] for *_, info in steps]
    assert not any(terminated for _, _, terminated, _ in steps)
    assert places[-1] > 0.2 and places[-1] - places[45] > 0.04
    assert min(info["height"] for *_, info in steps) > 0.25


# -- robustness -------------------------------------------------------------------------------------------------------


def play(robust, term, strength):
    """Stand for 40 steps of 8 environments: all observations, and the environments' numbers."""
    envs = tumble.make_vec(robust.Robust, 8, term=term, strength=strength, max_episode_steps=1000)
    try:
        seen = [envs.reset(seed=0)[0]]
        seen += [envs.step(torch.full((8, 12), 0.1 * (-1) ** k))[0] for k in range(40)]
        mass, gains = (envs.solver.get_parameters(name) for name in ("body_mass", "actuator_gainprm"))
        return torch.stack(seen), mass, gains[..., 0]
    finally:
        envs.close()


def test_terms_of_robustness_differ_as_they_say(tmp_path):
    """Each in what it names; with a strength of 0 nothing differs from the packaged task."""
    with as_in_a_new_process(tmp_path, examples("robust.py")):
        import robust

        plain, mass, gains = play(robust, "", 0.0)
        envs = tumble.make_vec("tumble/QuadrupedFlat-v0", 8)
        try:
            assert torch.equal(envs.reset(seed=0)[0], plain[0])
        finally:
            envs.close()
        _, heavier, same = play(robust, "mass", 1.0)
        added = (heavier - mass)[:, 1].numpy()
        assert np.ptp(added) > 1.0 and added.min() > -1.5 and added.max() < 5.0 and torch.equal(same, gains)
        _, _, servos = play(robust, "kp", 1.0)
        share = (servos / gains).numpy()
        assert share.min() > 0.65 and share.max() < 1.35 and np.ptp(share) > 0.2
        late, *_ = play(robust, "delay", 1.0)
        assert torch.equal(late[0], plain[0]) and not torch.equal(late[1], plain[1])
        noisy, *_ = play(robust, "noise", 1.0)
        error = (noisy[0] - plain[0]).abs().numpy()
        assert 0.1 < error[:, :3].max() < 0.15 and 1.0 < error[:, 21:33].max() < 2.0 and error[:, 33:].max() == 0
        biased, *_ = play(robust, "encoder", 1.0)
        off = (biased[0] - plain[0]).abs().numpy()
        assert 0.04 < off[:, 9:21].max() < 0.06 and off[:, :9].max() == 0


@pytest.mark.slow
def test_the_program_of_robustness_trains_and_draws(tmp_path):
    """With one term and few steps, here."""
    arguments = ["--terms", "push", "--strengths", "0", "2", "--steps", "24576", "--episodes", "4"]
    printed = in_a_process([str(EXAMPLES / "robustness.py"), *arguments], tmp_path)
    assert (tmp_path / "robustness.png").read_bytes()[1:4] == b"PNG"
    assert sum(line.startswith("push") for line in printed.splitlines()) == 2


# -- rough ground -----------------------------------------------------------------------------------------------------


def test_the_robot_walks_and_goes_up_a_level(tmp_path):
    """Without corrections, for 20 s: it stands at every start and walks at the lowest level, which is nearly flat."""
    with as_in_a_new_process(tmp_path, examples("dog.xml", "rough.py")):
        import rough

        envs = tumble.make_vec(rough.Rough, 40, max_episode_steps=1000, autoreset_mode="SAME_STEP")
        batch, ground = envs.unwrapped.batch, rough.GROUND
        envs.reset(seed=1)
        before = {name: host(array).copy() for name, array in batch._memory.arrays.items()}
        for step in range(1000):
            _, _, terminated, _, _ = envs.step(np.zeros((40, 12), np.float32))
            if step == 50:
                assert not host(terminated).any()
                state = batch._view.look(batch._memory.arrays, batch.streams.present(np.arange(40)))
                feet = host(envs.unwrapped.solver.get("site_xpos"))
                above = feet[..., 2] - ground.height_at(feet[..., :2].astype(float))
                # two of four feet, 0.023 m thick, are on the ground
                assert above.min() > 0.0 and (above < 0.04).sum() > 60
                seen = host(batch.task.observation(state))[:, -28:]
                assert abs(seen.mean()) < 0.5 and seen.std() > 0.02
        assert not host(envs.unwrapped.solver.faults).any()
        after, easy = batch._memory.arrays["terrain_levels"], before["terrain_levels"] == 0
        assert (after[easy] == 1).mean() > 0.6 and easy.sum() > 5
        envs.close()


def test_rays_see_the_rough_ground_as_the_page_says(tmp_path):
    program = next(block for block in blocks("ground", "py") if block.startswith("rays = "))
    names = execute(program, {name: getattr(tumble.envs, name) for name in ("RayScan", "ring_points")})
    with as_in_a_new_process(tmp_path, examples("dog.xml", "rough.py")):
        import rough

        class Seeing(rough.Rough):
            rays = names["rays"]

        envs = tumble.make_vec(Seeing, 12, max_episode_steps=1000)
        batch = envs.unwrapped.batch
        envs.reset(seed=0)
        for _ in range(30):
            envs.step(np.zeros((12, 12), np.float32))
        state = batch._view.look(batch._memory.arrays, batch.streams.present(np.arange(12)))
        shapes = {name: way.shape for name, way in state.rays.items()}
        assert shapes == {"scan": (12, 187), "feet": (12, 4, 4), "ahead": (12, 1)}
        trunk = state.fields["xpos"][:, 1], state.fields["xmat"][:, 1]
        scan = batch.task.ground.scan(*trunk, batch.task.array(tumble.envs.grid_points()))
        np.testing.assert_allclose(host(state.rays["scan"]), host(scan), atol=1e-3)
        assert 0.2 < np.median(host(state.rays["scan"])) < 0.4
        envs.close()


@pytest.mark.slow
def test_rough_ground_trains_as_printed(tmp_path):
    """The trained policy walks on higher levels than the trot alone."""
    for name, text in examples("dog.xml", "rough.py").items():
        (tmp_path / name).write_text(text)
    paths = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    (commands,) = blocks("ground", "sh")
    for command in commands.splitlines():
        subprocess.run(shlex.split(command), cwd=tmp_path, env=os.environ | paths, check=True, timeout=3000)
    score = json.loads((tmp_path / "runs" / "rough" / "evaluation-tumble.json").read_text())
    assert score["mean"] > 1100, "the page says 1,240"
    assert (tmp_path / "rough.mp4").stat().st_size > 10_000


# -- tasks on scenes --------------------------------------------------------------------------------------------------


def test_a_paddle_pushes_cubes_of_two_sizes(tmp_path):
    """In MuJoCo, whose kernels need no compiling; the same in Tumble is `tests/scene/test_tasks.py`."""
    with as_in_a_new_process(tmp_path, examples("slider.xml", "push.py")):
        import push

        envs = tumble.make_vec("me/Push-v0", num_envs=4, simulator="mujoco")
        observation, _ = envs.reset(seed=0)
        sizes = envs.unwrapped.solver.get_parameters("geom_size")[:, envs.unwrapped.task.cube.geoms.start, 0]
        assert sizes.tolist() == [0.04, 0.04, 0.06, 0.06] and issubclass(push.Push, tumble.envs.Task)
        for _ in range(60):
            before = np.asarray(observation)
            aim = np.clip(20 * (0.23 - before[:, :1]) - 3 * before[:, 3:4], -1, 1)
            observation, reward, *_ = envs.step(aim.astype(np.float32))
        assert (np.asarray(observation)[:, 1] > 0.2).all() and (np.asarray(reward) > -0.1).all()
        envs.close()


@pytest.mark.slow
def test_the_commands_of_a_task_on_a_scene_train_evaluate_and_draw(tmp_path):
    with as_in_a_new_process(tmp_path, examples("slider.xml", "push.py")) as patch:
        (commands,) = blocks("scenes", "sh")
        for command in commands.replace("100_000", "4_096").splitlines():
            command_line(patch, command)
        written = {file.name for file in (tmp_path / "runs" / "push").iterdir()}
        assert {"evaluation-tumble.json", "evaluation-mujoco.json"} <= written
        assert iio.imread(tmp_path / "push.png").std() > 10


# -- clusters ---------------------------------------------------------------------------------------------------------


def launched(folder: Path, script: str, srun: str = 'echo "$@"', **variables: str) -> list[str]:
    """Return what a script of SLURM runs by `srun`, word by word; or what a program in place of `srun` prints."""
    for name, program in (("srun", srun), ("scontrol", "echo localhost; echo another")):
        (folder / name).write_text(f"#!/bin/sh\n{program}\n")
        (folder / name).chmod(0o755)
    environment = {"SLURM_CPUS_PER_TASK": "2", "PATH": f"{folder}:{os.environ['PATH']}"} | variables
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_the_script_of_seeds_begins_runs_and_goes_on_with_them(tmp_path):
    script, folder, begun = blocks("clusters", "sh")[0], "runs/quadruped/seed-3", []
    for _ in range(2):
        begun.append(launched(tmp_path, script, SLURM_ARRAY_TASK_ID="3"))
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "config.toml").touch()
    assert all(words[:3] == ["--cpus-per-task=2", "tumble", "train"] for words in begun)
    assert begun[0][3:6] == ["QuadrupedFlat", "--seed", "3"] and begun[0][-3:] == ["--out", folder, "--no-progress"]
    assert begun[1][3:] == ["--resume", folder, "--no-progress"]


@pytest.mark.slow
def test_the_script_of_nodes_trains_on_all_of_them(tmp_path):
    """Two nodes of one process each are two launchers on this machine, which meet at one port."""
    (tmp_path / "torchrun").write_text(f'#!/bin/sh\nexec {sys.executable} -m torch.distributed.run "$@"\n')
    (tmp_path / "torchrun").chmod(0o755)
    script = blocks("clusters", "sh")[1].replace("QuadrupedFlat", "CartPoleBalance --num-envs 8 --steps 4_096")
    nodes = 'shift; "$@" & "$@"; wait'
    variables = {"SLURM_CPUS_PER_TASK": "1", "SLURM_NNODES": "2", "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]"}
    home = {name: os.environ[name] for name in ("HOME", "TUMBLE_CACHE") if name in os.environ}
    launched(tmp_path, script, nodes, **variables, **home)
    assert list((tmp_path / "runs" / "quadruped").rglob("state-1.pt")), "the checkpoint has the state of process 1"
    assert "batch_size = 2048" in (tmp_path / "runs" / "quadruped" / "config.toml").read_text("utf-8")


def test_the_script_of_workers_starts_the_sweep(tmp_path):
    words = launched(tmp_path, blocks("clusters", "sh")[2])
    assert words == ["--cpus-per-task=2", "tumble", "sweep", "point_mass.toml", "--out", "runs/point_mass"]


# -- viewers ----------------------------------------------------------------------------------------------------------


def test_replays_and_live_views_run(tmp_path, monkeypatch):
    """The replay is recorded and as small as the page says; the view of a solver, and of a scene's own steps, end."""
    monkeypatch.chdir(tmp_path)
    replay, *live = blocks("pictures", "py", "## Replay")
    names = execute(replay)
    text = (tmp_path / "hoppers.html").read_text("utf-8")
    assert "<title>Hoppers at random</title>" in text and "http://" not in text and "https://" not in text
    shown = names["replay"]
    assert shown.frames == 50 and shown.envs == [0] and "reward_forward" in shown.curves
    assert len(shown.html()) < 150_000  # 0.13 MB of an ant's ten seconds: 4 times as many frames, 3 times as many geoms
    pytest.importorskip("viser")
    for program in live[:2]:
        execute(program, names)
    assert names["time"] >= 0
    assert names["scene"].t == 30 and not names["scene"].viewer.is_alive()
    names["envs"].close()
