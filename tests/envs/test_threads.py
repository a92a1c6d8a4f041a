"""Environments that are made in one thread and used in another: the same numbers as in one, whichever thread was first.

Every case is a program of its own with a time limit, as in `test_processes`.
"""

import pytest

from .test_processes import run

pytestmark = pytest.mark.long

THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

def elsewhere(function, *arguments):
    results = []
    thread = Thread(target=lambda: results.append(function(*arguments)))
    thread.start()
    thread.join()
    return results[0]
"""


def in_threads(program: str, tmp_path) -> str:
    return run(f"{THREADS}\n{program}", tmp_path)


def test_made_in_the_main_thread_and_used_in_another(tmp_path):
    """First steps, then pictures; and a failure in Taichi's thread is the caller's, and the thread goes on."""
    in_threads(
        """
env = gymnasium.make("tumble/Hopper-v0")
np.testing.assert_array_equal(elsewhere(play, env), play(env))
batch = tumble.make_vec("Hopper", 40)
elsewhere(batch.reset)
elsewhere(batch.step, torch.zeros(40, 3))
batch.step(torch.zeros(40, 3))

env = gymnasium.make("tumble/Hopper-v0", render_mode="rgb_array")
env.reset(seed=0)
there = elsewhere(env.render)
np.testing.assert_array_equal(there, env.render())
assert there.std() > 0

from tumble.physics.machine.taichi_thread import in_taichis_thread
try:
    in_taichis_thread(lambda: 1 / 0)
except ZeroDivisionError:
    pass
else:
    raise AssertionError("it was lost")
play_own()
""",
        tmp_path,
    )


@pytest.mark.slow
def test_made_in_a_thread_that_has_ended(tmp_path):
    """First thing in the process, so that Taichi is started there; then a larger batch, whose memory is new."""
    in_threads(
        """
env = elsewhere(gymnasium.make, "tumble/Hopper-v0")
here = play(env)
np.testing.assert_array_equal(elsewhere(play_own), here)
batch = elsewhere(tumble.make_vec, "Hopper", 40)
batch.reset(seed=3)
batch.step(torch.zeros(40, 3))
np.testing.assert_array_equal(play_own(), here)
""",
        tmp_path,
    )


def test_precision_chosen_in_a_thread(tmp_path):
    """And chosen anew in the main thread, where the environment of before is refused by name."""
    in_threads(
        """
elsewhere(lambda: tumble.init(precision="64"))
env = tumble.make_vec("Hopper", 2, output="numpy")
assert play(env).dtype == np.float64
tumble.init(precision="32")
try:
    env.reset()
except RuntimeError as error:
    assert "belongs to an earlier tumble.init" in str(error)
else:
    raise AssertionError("it was not refused")
assert play_own().dtype == np.float32
""",
        tmp_path,
    )


def test_threads_side_by_side(tmp_path):
    """Eight environments and two batches, made and stepped in four threads at once; one thread's numbers."""
    in_threads(
        """
def rollout(seed):
    envs = tumble.make_vec("Hopper", 40 if seed % 4 == 0 else 1, output="numpy")
    envs.reset(seed=seed)
    actions = np.random.default_rng(seed).uniform(-1, 1, (60, envs.num_envs, 3)).astype(np.float32)
    return np.concatenate([envs.step(action)[0] for action in actions])

with ThreadPoolExecutor(4) as pool:
    together = list(pool.map(rollout, range(10)))
for seed, result in enumerate(together):
    np.testing.assert_array_equal(result, rollout(seed))
""",
        tmp_path,
    )


def test_a_child_that_a_thread_forks(tmp_path):
    """The thread in which Taichi lives stays behind; the child starts one of its own."""
    in_threads(
        """
here = elsewhere(play_own)

def fork():
    queue = multiprocessing.get_context("fork").Queue()
    child = multiprocessing.get_context("fork").Process(target=play_own, args=(queue,))
    child.start()
    there = queue.get(timeout=200)
    child.join()
    return there, child.exitcode

there, code = elsewhere(fork)
assert code == 0
np.testing.assert_array_equal(there, here)
""",
        tmp_path,
    )
