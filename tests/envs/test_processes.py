"""Environments in forked, spawned and served processes: they work, or say at once what to do.

Every case is a program of its own with a time limit: what fails here hangs.
"""

import subprocess
import sys
import textwrap
from typing import Any

import pytest

from ..widths import WIDTH

pytestmark = pytest.mark.long
SECONDS = 240  # a child may have to compile the kernel

HEAD = f"""
import multiprocessing, os, sys
import numpy as np
import gymnasium, torch, tumble
from tumble.physics.machine import runtime
runtime.default_lanes = lambda precision: {WIDTH}  # a batch has the kernels that the tests have

def play(env, steps=5):
    env.reset(seed=3)
    return [env.step(np.full(env.action_space.shape, 0.1, np.float32))[0] for _ in range(steps)][-1]

def play_own(queue=None):
    env = gymnasium.make("tumble/Hopper-v0")
    observation = play(env)
    env.close()
    if queue is not None:
        queue.put(observation)
    return observation
"""


def run(program: str, tmp_path) -> str:
    """Run a program in a process of its own; return what it printed."""
    file = tmp_path / "program.py"
    file.write_text(f'{HEAD}\nif __name__ == "__main__":\n{textwrap.indent(textwrap.dedent(program), "    ")}')
    outcome = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def played() -> list[float]:
    """What `play_own` returns in this process."""
    names: dict[str, Any] = {}
    exec(HEAD, names)
    return names["play_own"]().tolist()


@pytest.mark.parametrize(
    "context", ["fork", *(pytest.param(name, marks=pytest.mark.slow) for name in ("forkserver", "spawn"))]
)
def test_gymnasiums_asynchronous_environments(context, played, tmp_path):
    """First thing in a process; the same numbers as in this one."""
    run(
        f"""
        envs = gymnasium.make_vec(
            "tumble/Hopper-v0", num_envs=2, vectorization_mode="async", vector_kwargs={{"context": "{context}"}}
        )
        envs.reset(seed=[3, 3])
        for _ in range(5):
            observations, *_ = envs.step(np.full((2, 3), 0.1, np.float32))
        envs.close()
        assert observations.tolist() == [{played}] * 2
        """,
        tmp_path,
    )


@pytest.mark.parametrize("precision", [pytest.param("32", marks=pytest.mark.slow), "64"])
def test_a_child_makes_environments_of_its_own(precision, tmp_path):
    """After its parent has made and stepped some, vector ones among them; with the parent's settings. Twice."""
    run(
        f"""
        def play_two(queue=None):
            observation = play(tumble.make_vec("Hopper", 2, output="numpy"))
            if queue is not None:
                queue.put(observation)
            return observation

        tumble.init(precision="{precision}", lanes={WIDTH})
        here, batch = play_two(), tumble.make_vec("Hopper", 40)
        batch.reset(seed=3)
        batch.step(torch.zeros(40, 3))
        context = multiprocessing.get_context("fork")
        for _ in range(2):
            queue = context.Queue()
            child = context.Process(target=play_two, args=(queue,))
            child.start()
            there = queue.get(timeout=200)
            child.join()
            assert child.exitcode == 0 and there.dtype == np.float{precision}
            np.testing.assert_array_equal(there, here)
        batch.step(torch.zeros(40, 3))
        """,
        tmp_path,
    )


@pytest.mark.slow  # `test_threads.py` has the refusal after another start
def test_environments_of_a_parent_and_of_an_earlier_start_are_refused(tmp_path):
    """By `reset` and by `step`, at once and by name, whether they were stepped before or not.

    The parent goes on with its own until `tumble.init` is called again; then it refuses them too.
    """
    printed = run(
        """
        def use_all():
            for env in envs:
                for use in (lambda: env.step(np.zeros(env.action_space.shape, np.float32)), lambda: env.reset(seed=1)):
                    try:
                        use()
                    except RuntimeError as error:
                        print(error)
            sys.stdout.flush()

        envs = [tumble.make_vec("Hopper", 40), gymnasium.make("tumble/Hopper-v0"), gymnasium.make("tumble/Hopper-v0")]
        for env in envs:
            env.reset(seed=0)
        envs[0].step(torch.zeros(40, 3))
        sys.stdout.flush()
        if os.fork() == 0:
            use_all()
            os._exit(0)
        assert os.wait()[1] == 0
        play(envs[1])
        tumble.init(precision="64")
        use_all()
        """,
        tmp_path,
    )
    assert printed.count("made before this process was forked") == 6
    assert "Make the solver (or environment) in the process that uses it" in printed
    assert printed.count("belongs to an earlier tumble.init") == 6


def test_workers_of_a_data_loader_and_a_child_that_exits(tmp_path):
    """Environments made in torch's workers, and in a forked child, after one was used in the main process.

    The child ends by leaving the interpreter, not by `os._exit`: nothing waits for threads of the parent.
    """
    run(
        """
        class Episodes(torch.utils.data.IterableDataset):
            def __iter__(self):
                yield torch.from_numpy(play_own())

        here = play_own()
        for there in torch.utils.data.DataLoader(Episodes(), num_workers=2, batch_size=None, timeout=200):
            np.testing.assert_array_equal(there.numpy(), here)
        if os.fork() == 0:
            play_own()
            sys.exit(0)
        assert os.wait()[1] == 0
        """,
        tmp_path,
    )
