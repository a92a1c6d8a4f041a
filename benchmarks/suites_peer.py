"""EnvPool's environments for `suites.py`: `python suites_peer.py`, in a Python that has envpool.

A line of JSON on standard input names a task (`task`, `num_envs`), or asks for `steps` steps of the last one; the
answer is a line of JSON, with the seconds of the processor that the steps took, or an `error`.
"""

import json
import sys
import time
from typing import Any

import envpool
import numpy as np

DIFFERENT_ACTIONS = 16


def make(task: str, num_envs: int) -> tuple[Any, np.ndarray]:
    """Return environments of a task on one thread, and actions to use in turn."""
    envs = envpool.make(task, env_type="gymnasium", num_envs=num_envs, num_threads=1, seed=0)
    envs.reset()
    space = envs.action_space
    low, high = np.maximum(space.low, -1), np.minimum(space.high, 1)
    noise = np.random.default_rng(0).random((DIFFERENT_ACTIONS, num_envs, *space.shape))
    return envs, (low + (high - low) * noise).astype(space.dtype)


def main() -> None:
    """Answer until standard input ends."""
    envs, actions = None, np.zeros(0)
    for line in sys.stdin:
        job: dict[str, Any] = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if "task" in job:
                envs, actions = make(job["task"], job["num_envs"])
            else:
                assert envs is not None
                began = time.process_time()
                for k in range(job["steps"]):
                    envs.step(actions[k % DIFFERENT_ACTIONS])
                answer = {"seconds": time.process_time() - began}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
