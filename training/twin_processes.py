"""Environments of Gymnasium's own class in several processes: threads would wait for each other, for Python's lock."""

import pickle
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from ..physics.machine.children import can_start_python, python_command
from ..physics.machine.cores import usable_cores

FEWEST = 10
"""Environments that a process steps at least; to start it takes half a second."""
PROGRAM = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
WORKER = Path(__file__).with_name("twin_worker.py")


def processes_for(num_envs: int) -> int:
    """Return how many processes step so many environments: one for each core."""
    return max(1, min(usable_cores(), num_envs // FEWEST)) if can_start_python() else 1


class TwinProcesses(VectorEnv[Any, Any, Any]):
    """The results of a `SyncVectorEnv`, to the bit.

    Args:
        twin: the id of Gymnasium's task.
        one: a vector environment of it, which has been made with the options; it is closed.
        num_envs: number of environments.
        options: of Gymnasium's class.
        processes: groups of environments.
    """

    def __init__(self, twin: str, one: VectorEnv, num_envs: int, options: dict[str, Any], processes: int) -> None:
        self.num_envs, self.metadata = num_envs, one.metadata
        self.single_observation_space, self.single_action_space = one.single_observation_space, one.single_action_space
        one.close()
        self._starts: list[int] = np.linspace(0, num_envs, processes + 1).astype(int).tolist()
        self._sizes = [end - start for start, end in pairwise(self._starts)]
        command = python_command(PROGRAM, str(WORKER))
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._children: list[Any] = [subprocess.Popen(command, **pipes) for _ in range(processes)]
        self._send([(twin, size, options) for size in self._sizes])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all environments: number k by `seed + k`."""
        seeds = [None if seed is None else seed + start for start in self._starts[:-1]]
        self._send([("reset", {"seed": seed, "options": options}) for seed in seeds])
        observations, infos = zip(*self._received(), strict=True)
        return np.concatenate(observations), joined_infos(infos, self._sizes)

    def step(self, actions: np.ndarray) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments."""
        self._send([("step", {"actions": part}) for part in np.split(np.asarray(actions), self._starts[1:-1])])
        *arrays, infos = zip(*self._received(), strict=True)
        observations, rewards, terminated, truncated = map(np.concatenate, arrays)
        return observations, rewards, terminated, truncated, joined_infos(infos, self._sizes)

    def close_extras(self, **kwargs: Any) -> None:
        """End the processes."""
        for child in self._children:
            child.stdin.close()
        for child in self._children:
            child.stdout.close()
            child.wait()

    def _send(self, requests: Sequence[Any]) -> None:
        for child, request in zip(self._children, requests, strict=True):
            pickle.dump(request, child.stdin, pickle.HIGHEST_PROTOCOL)
            child.stdin.flush()

    def _received(self) -> list[Any]:
        try:
            return [pickle.load(child.stdout) for child in self._children]
        except EOFError:
            raise RuntimeError(
                "a process with environments of Gymnasium ended; standard error has its last words"
            ) from None


def joined_infos(parts: Sequence[dict[str, Any]], sizes: Sequence[int]) -> dict[str, Any]:
    """Return infos of groups of environments as one; a group without an entry has zeros, and False in its mask.

    Args:
        parts: infos of each group, as Gymnasium's vector environments return them.
        sizes: of the groups.
    """
    joined: dict[str, Any] = {}
    for name, first in {name: part[name] for part in reversed(parts) for name in part}.items():
        if isinstance(first, dict):
            joined[name] = joined_infos([part.get(name, {}) for part in parts], sizes)
        else:
            empty = np.full((max(sizes), *first.shape[1:]), None if first.dtype == object else 0, first.dtype)
            rows = [part.get(name, empty[:size]) for part, size in zip(parts, sizes, strict=True)]
            joined[name] = np.concatenate(rows)
    return joined
