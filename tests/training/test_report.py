"""The report holds every run, with what is known of it."""

import json

from tumble.training.evaluate import Evaluation, save_evaluation
from tumble.training.report import write_report
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
    scores, page, picture = write_report(runs, tmp_path / "report")
    rows = json.loads(scores.read_text())
    assert [row["seed"] for row in rows] == [0, 1] and rows[0]["steps"] == small_ppo.total_steps
    assert rows[1]["tumble"]["mean"] == 11.0 and "tumble" not in rows[0]
    assert rows[1]["steps"] == 800  # evaluated at a checkpoint beyond the curve's last line
    lines = [line for line in page.read_text().splitlines() if line.startswith("| test/")]
    assert "not evaluated" in lines[0] and "| 11 ± 1 | 12 ± 0 | 4.3 % | 50 % | pose_error 0.123, level 4 |" in lines[1]
    assert rows[0]["cpu_seconds"] > 0
    assert picture.read_bytes()[1:4] == b"PNG"
