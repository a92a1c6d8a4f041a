"""A process of `TwinProcesses`: some environments of Gymnasium's own class. It is run as a file and imports no Tumble.

Requests come through standard input and answers leave through standard output, as pickles; it ends with its input.
"""

import os
import pickle
import signal
import sys

import gymnasium as gym
import mujoco
from gymnasium.vector import AutoresetMode


def main() -> None:
    """Make the environments of the first request, and do the others: a call of one of their methods each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the parent, which ends the input
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a class prints
    mujoco.set_mju_user_warning(lambda message: None)  # the parent has them from its own environment
    twin, num_envs, options = pickle.load(requests)
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    envs = gym.make_vec(twin, num_envs=num_envs, vectorization_mode="sync", vector_kwargs=same_step, **options)
    while True:
        try:
            name, arguments = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(getattr(envs, name)(**arguments), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main()
