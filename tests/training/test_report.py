"""The report groups runs by their settings, ranks them by evaluations, and holds every run with what is known of it."""

import csv
import json

import numpy as np
import pytest
import scipy.stats

from tumble.training.best import EVALUATIONS
from tumble.training.commands.report import find_runs, groups_of, write_report
from tumble.training.config import RunConfig
from tumble.training.evaluate import Evaluation, save_evaluation
from tumble.training.results.curves import half_width, mean_curve
from tumble.training.results.interquartile import interquartile, interquartile_mean
from tumble.training.runs import Run
from tumble.training.seeds import SeedBatch
from tumble.training.train import train


def test_report_of_two_seeds(tmp_path, pendulums, small_ppo):
    runs = []
    for seed in (1, 0):
        outcome = train(small_ppo.replace(seed=seed), tmp_path / str(seed), progress=False, envs=pendulums(8))
        runs.append(outcome.run)
    told = {"success": (0.1, 0.5), "reward_x": (1.0, 1.0), "pose_error": (0.1234, 0.9), "level": (3.0, 4.0)}
    score = Evaluation(small_ppo.task, "tumble", 768, 0, True, [10.0, 12.0], [5, 6], "", [True, False], told)
    save_evaluation(runs[0], score)
    save_evaluation(runs[0], Evaluation(small_ppo.task, "mujoco", 800, 0, True, [11.0, 12.0], [5, 6]))
    scores, page, picture, *_ = write_report([run.folder for run in runs], tmp_path / "report")
    rows = json.loads(scores.read_text())["runs"]
    assert [row["seed"] for row in rows] == [0, 1] and rows[0]["steps"] == small_ppo.total_steps
    assert rows[1]["tumble"]["mean"] == 11.0 and "tumble" not in rows[0]
    assert rows[1]["steps"] == 800  # evaluated at a checkpoint beyond the curve's last line
    lines = [line for line in page.read_text().splitlines() if line.startswith("| test/")]
    assert lines[0].startswith("| test/Pendulum-v0 | PPO | 2 | 768 |")
    assert "not evaluated" in lines[1] and "| 11 ± 1 | 12 ± 0 | 4.3 % | 50 % | pose_error 0.123, level 4 |" in lines[2]
    assert rows[0]["cpu_seconds"] > 0
    assert picture.read_bytes()[1:4] == b"PNG"


def pretend(folder, config, evaluations, training, seconds=60.0):
    """A run folder with these returns at steps 100, 200 and so on, a minute apart."""
    run = Run(folder)
    folder.mkdir(parents=True)
    run.keep_config(config)
    for name, column, values in (
        (EVALUATIONS, "mean", evaluations),
        ("progress.jsonl", "rollout/ep_rew_mean", training),
    ):
        points = [{"step": 100 * (k + 1), "seconds": seconds * (k + 1), column: v} for k, v in enumerate(values)]
        (folder / name).write_text("".join(json.dumps(point) + "\n" for point in points))
    return run


def settings(tmp_path):
    """Three seeds of two settings: the second fails, and its episodes, which end early, have the higher mean."""
    good, bad = RunConfig("tumble/Ant-v0", "ppo"), RunConfig("tumble/Ant-v0", "ppo").change({"ppo.learning_rate": 1.0})
    for name, config, evaluations, training in (
        ("good", good, [10, 20, 30], [1, 2, 3]),
        ("bad", bad, [9, 8, 7], [5] * 3),
    ):
        batch = SeedBatch.create(config, [1, 2, 3], tmp_path / name)
        for seed in batch.seeds:
            batch.run(seed).folder.rmdir()
            pretend(batch.run(seed).folder, config.replace(seed=seed), [v + seed for v in evaluations], training)
    return tmp_path / "bad", tmp_path / "good"


def test_settings_are_ranked_by_evaluations(tmp_path):
    """Folders of seeds are taken; the group has what differs in its name, and its interval is SciPy's."""
    paths = write_report(settings(tmp_path), tmp_path / "report")
    groups = json.loads(paths[0].read_text())["groups"]
    assert [group["group"] for group in groups] == ["PPO, learning_rate=0.0003", "PPO, learning_rate=1.0"]
    assert [group["headline"]["mean"] for group in groups] == [32.0, 9.0] and "training_return" not in groups[0]
    expected = scipy.stats.t.interval(0.95, 2, loc=32.0, scale=scipy.stats.sem([31, 32, 33]))
    np.testing.assert_allclose(groups[0]["headline"]["interval"], expected, rtol=1e-6)
    page = paths[1].read_text()
    assert page.index("learning_rate=0.0003 | 3") < page.index("learning_rate=1.0 | 3") and "32.0 ± 2.48" in page
    with paths[3].open() as file:
        points = list(csv.DictReader(file))
    assert len(points) == 18 and {point["curve"] for point in points} == {"evaluation"}
    assert points[0] | {"task": "", "setting": ""} == {
        "task": "", "setting": "", "seed": "1", "curve": "evaluation", "step": "100", "minutes": "1.0", "return": "11.0"
    }  # fmt: skip
    with paths[4].open() as file:
        ends = [row for row in csv.DictReader(file) if row["setting"].endswith("0.0003")][199::200]
    assert [(row["axis"], float(row["place"]), float(row["mean"])) for row in ends] == [
        ("steps", 300.0, 32.0), ("minutes", 3.0, 32.0)
    ]  # fmt: skip
    np.testing.assert_allclose([float(ends[0]["low"]), float(ends[0]["high"])], expected, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11, 40])
def test_the_interquartile_mean_is_the_trimmed_one(count):
    scores = np.random.default_rng(count).gamma(2.0, size=(7, count))
    np.testing.assert_allclose(interquartile_mean(scores), scipy.stats.trim_mean(scores, 0.25, axis=1), rtol=1e-14)


@pytest.mark.parametrize("count", [3, 10])
def test_the_interval_of_one_task_is_scipys(count):
    """The tolerance is that of 10,000 draws, some four standard errors of a quantile."""
    scores = np.random.default_rng(count).normal(100.0, 10.0, count)
    wanted = scipy.stats.bootstrap(
        (scores,), lambda x, axis: scipy.stats.trim_mean(x, 0.25, axis=axis), n_resamples=10_000, method="percentile",
        rng=np.random.default_rng(5),
    )  # fmt: skip
    figures = interquartile([scores.tolist()])
    assert figures["mean"] == pytest.approx(scipy.stats.trim_mean(scores, 0.25))
    deviation = wanted.standard_error
    np.testing.assert_allclose(figures["interval"], wanted.confidence_interval, atol=0.15 * deviation)
    assert interquartile([[3.0]]) == {"mean": 3.0, "interval": None}


RLIABLE = (1.58626791, 1.31611655, 1.9143255)
"""Interquartile mean and interval of `stratified`, of rliable 1.2.0 with 5,000 draws."""


@pytest.fixture
def stratified():
    """Eight runs of three tasks."""
    return np.random.default_rng(1).gamma(2.0, 1.0, (8, 3))


def test_the_stratified_interval_is_rliables(stratified):
    """The tolerance of the ends is that of 5,000 draws."""
    figures = interquartile(stratified.T.tolist())
    assert figures["mean"] == pytest.approx(RLIABLE[0], abs=1e-8)
    np.testing.assert_allclose(figures["interval"], RLIABLE[1:], atol=0.02)


def test_the_stratified_interval_is_that_of_rliable_where_it_is_installed(stratified):
    library, metrics = pytest.importorskip("rliable.library"), pytest.importorskip("rliable.metrics")
    points, intervals = library.get_interval_estimates(
        {"A": stratified}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=5000
    )
    figures = interquartile(stratified.T.tolist())
    assert figures["mean"] == pytest.approx(points["A"][0])
    np.testing.assert_allclose(figures["interval"], intervals["A"][:, 0], atol=0.02)


def test_settings_are_compared_over_tasks_of_the_control_suite(tmp_path):
    """Returns of tasks whose episodes are shorter count as shares too; other tasks have no such scale."""
    batches = []
    for task, limit, returns in (
        ("tumble/PointMass-v0", 500, [100, 200, 250]),
        ("tumble/WalkerWalk-v0", 1000, [500, 700]),
        ("tumble/Ant-v0", 1000, [9000, 9000]),
    ):
        for algo, factor in (("ppo", 1.0), ("sac", 0.5)):
            for seed, score in enumerate(returns):
                config = RunConfig(task, algo, seed=seed, env={"max_episode_steps": 500} if limit == 500 else {})
                batches.append(
                    pretend(tmp_path / f"{limit}{task[7:]}{algo}{seed}", config, [factor * score], []).folder
                )
    paths = write_report(batches, tmp_path / "report")
    report = json.loads(paths[0].read_text())
    ppo, sac = sorted(report["over_tasks"], key=lambda row: row["group"])
    assert ppo["tasks"] == ["tumble/PointMass-v0", "tumble/WalkerWalk-v0"] and ppo["runs"] == 5
    assert ppo["mean"] == pytest.approx((0.4 + 0.5 + 0.5) / 3) and sac["mean"] == pytest.approx(ppo["mean"] / 2)
    assert ppo["interval"][0] <= ppo["mean"] <= ppo["interval"][1]
    lines = paths[1].read_text().splitlines()
    assert [
        line for line in lines if line.startswith("| PPO | tumble/PointMass-v0, tumble/WalkerWalk-v0 | 5 | 0.467 [")
    ]
    ant = next(group for group in report["groups"] if group["task"] == "tumble/Ant-v0" and group["group"] == "PPO")
    assert ant["headline"]["interquartile"] == {"mean": 9000.0, "interval": [9000.0, 9000.0]}
    assert any(
        line.startswith("| tumble/Ant-v0 | PPO | 2 |") and line.endswith("| 9000.0 [9000.0, 9000.0] |")
        for line in lines
    )


def test_runs_of_the_same_seed_all_count(tmp_path):
    """As those of two machines, which differ in threads."""
    config = RunConfig("tumble/Ant-v0", "ppo")
    for name, threads, returns in (("a", 1, [1, 2]), ("b", 2, [3, 6])):
        pretend(tmp_path / name, config.replace(threads=threads), returns, [])
    paths = write_report([tmp_path / "a", tmp_path / "b"], tmp_path / "report")
    (group,) = json.loads(paths[0].read_text())["groups"]
    assert group["headline"]["mean"] == 4.0 and group["headline"]["seeds"] == 2
    with paths[3].open() as points, paths[4].open() as means:
        assert [row["return"] for row in csv.DictReader(points)] == ["1.0", "2.0", "3.0", "6.0"]
        rows = list(csv.DictReader(means))
    assert {row["seeds"] for row in rows} == {"2"} and float(rows[199]["mean"]) == 4.0


@pytest.mark.parametrize("count", [2, 3, 5, 30, 1000])
def test_the_interval_is_students(count):
    """The tolerance is that of the integral on 100,001 angles."""
    deviation, wanted = 3.0, scipy.stats.t.ppf(0.975, count - 1) * 3.0 / np.sqrt(count)
    assert half_width(deviation, count) == pytest.approx(wanted, rel=1e-6)


def test_the_mean_is_over_the_steps_that_all_have():
    curves = [(np.array([0, 10, 20]), np.array([0.0, 10.0, 20.0])), (np.array([5, 25]), np.array([1.0, 1.0]))]
    steps, mean, half = mean_curve(curves)
    assert (steps[0], steps[-1]) == (5, 20)
    np.testing.assert_allclose(mean, (steps + 1) / 2)
    wanted = scipy.stats.t.ppf(0.975, 1) * np.abs(steps - 1) / 2
    np.testing.assert_allclose(half, wanted, rtol=1e-6)
    assert np.isnan(mean_curve(curves[:1])[2]).all(), "one curve has no interval"


def test_groups_differ_in_what_is_learnt(tmp_path):
    """Seeds, threads and checkpoints do not tell settings apart; algorithms and options of the task do."""
    plain = RunConfig("tumble/Ant-v0", "ppo")
    configs = [plain, plain.replace(seed=4, threads=2).change({"checkpoint.keep": 9}), plain.replace(env={"level": 2})]
    configs.append(RunConfig("tumble/Ant-v0", "sac"))
    runs = [pretend(tmp_path / str(k), config, [], []) for k, config in enumerate(configs)]
    found = {group.name: [run.folder.name for run in group.runs] for group in groups_of(runs)}
    assert found == {"PPO, env.level=none": ["0", "1"], "PPO, env.level=2": ["2"], "SAC": ["3"]}
    assert len(find_runs([runs[0].folder, runs[0].folder / ".." / "0"])) == 1


def test_evaluations_without_a_time_get_that_of_the_curve(tmp_path):
    """As those of earlier versions."""
    run = pretend(tmp_path / "old", RunConfig("tumble/Ant-v0", "ppo"), [4.0, 5.0], [1.0, 2.0])
    path = run.folder / EVALUATIONS
    path.write_text("".join(json.dumps(json.loads(x) | {"seconds": 0.0}) + "\n" for x in path.read_text().splitlines()))
    (group,) = groups_of([run])
    assert group.curves[0][1].minutes.tolist() == [1.0, 2.0]


@pytest.mark.slow
def test_the_pendulum_that_evaluates_best_is_ranked_first(tmp_path, command):
    """Three seeds of two settings, trained; the smaller learning rate learns nothing."""
    short = ["--seeds", "1-3", "--steps", 30_000, "--num-envs", 16, "--evaluate-every", 6000, "--jobs", 2]
    short += ["--set", "ppo.n_steps=64", "--set", "ppo.batch_size=256", "--set", "evaluation.episodes=8"]
    for rate in (1e-6, 1e-3):
        rates = ["--set", f"ppo.learning_rate={rate}", "--set", f"ppo.learning_rate_end={rate}"]
        command("train", "InvertedPendulum", *short, *rates, "--out", tmp_path / str(rate))
    command("report", tmp_path / "1e-06", tmp_path / "0.001", "--out", tmp_path / "report")
    first, second = json.loads((tmp_path / "report" / "scores.json").read_text())["groups"]
    assert "learning_rate=0.001" in first["group"] and "learning_rate=1e-06" in second["group"]
    assert first["headline"]["mean"] > 500 > 100 > second["headline"]["mean"]
