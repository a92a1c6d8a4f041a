"""The task with managers that is timed: it has what it is to have, and a run gives its figures."""

import pytest

from tumble.benchmarks.managers import Hop, run


def test_the_task_has_seven_dofs_three_sensors_and_nine_rays():
    mj = Hop().load_model().mj
    assert (mj.nv, mj.nu, mj.nsensor) == (7, 4, 3)
    assert len(Hop.rays["ground"].points) == 9


@pytest.mark.slow
def test_a_run_times_steps_in_which_episodes_end():
    result = run(16, 40, 1)
    (row,), (verdict,) = result.tables[0].rows, result.verdicts
    assert row["episodes that end in it"] > 0 and row["CPU ms a partial reset"] > 0
    assert row["environment steps a CPU second"] == pytest.approx(16e3 / verdict.value)
