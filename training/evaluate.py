"""Evaluation of a policy. The same loop plays it in Tumble and, unchanged, in MuJoCo: a simulator that others wrote.

In MuJoCo Gymnasium's own class judges the v5 tasks, and the task's code every other one; also these, if a run has
managers (`[randomize]`, `[observe]`, `[delay]`), which run around the task's code only.

Each environment plays one episode that counts, its first, so that
short episodes are not counted more often than long ones.
"""

import inspect
import json
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import mujoco
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from ..envs.registry import MANAGERS, make_task
from ..envs.task.task import options_of
from ..physics.machine.disk import read_regular
from ..physics.machine.libraries import pip_install
from ..physics.machine.waiting import Waiting
from .checkpoint import write_text_atomically
from .config import RunConfig
from .errors import TumbleUserError
from .learning.learner import place_solver
from .policy import Policy, newest_policy
from .runs import Run
from .tasks import gymnasium_twin, load_task, make_vec, task_id
from .twin_processes import TwinProcesses, processes_for


class Played(NamedTuple):
    """Episodes, one of each environment."""

    returns: np.ndarray  # (num_envs,)
    lengths: np.ndarray  # (num_envs,) int64, steps
    sums: dict[str, np.ndarray]  # (num_envs,) of each number of `info`: its sum over the episode's steps
    ends: dict[str, np.ndarray]  # (num_envs,): what it is at the end

    @property
    def successes(self) -> np.ndarray | None:
        """Flags of the episodes that ended in success, (num_envs,) bool; None if the task reports no success."""
        return self.ends["success"] > 0 if "success" in self.ends else None

    def infos(self) -> dict[str, tuple[float, float]]:
        """Return the mean over all steps and the mean at the ends of episodes, for each number of `info`."""
        steps = self.lengths.sum()
        return {name: (float(self.sums[name].sum() / steps), float(self.ends[name].mean())) for name in self.sums}


def joined(parts: Sequence[Played]) -> Played:
    """Return the episodes of several batches as one."""
    returns, lengths = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    sums, ends = ({name: np.concatenate([part[k][name] for part in parts]) for name in parts[0][k]} for k in (2, 3))
    return Played(returns, lengths, sums, ends)


class Readings:
    """The numbers, one for each environment, that `info` has during the first episode of each."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.sums: dict[str, np.ndarray] = {}
        self.ends: dict[str, np.ndarray] = {}

    def add(self, infos: dict[str, Any], playing: np.ndarray, ended: np.ndarray) -> None:
        """Add a step's numbers of first episodes that go on, or have just ended (then in `final_info`)."""
        last = infos.get("final_info", {})
        for name in {**infos, **last}:
            now = np.asarray(infos.get(name, last.get(name)))
            if name.startswith("_") or now.shape != (self.num_envs,) or now.dtype.kind not in "biuf":
                continue
            value = np.where(ended, last[name], now) if name in last else now
            self.sums[name] = self.sums.get(name, 0.0) + np.where(playing, value, 0.0)
            self.ends[name] = np.where(playing & ended, value, self.ends.get(name, 0.0))


SIMULATORS = ("tumble", "mujoco", "mujoco-task")
FIRST_SEED = 10_000  # far from the seeds of training runs
BATCH = 100  # environments that play at the same time
LONGEST = 100_000  # steps after which an episode is taken to be endless


class EvaluationError(TumbleUserError, RuntimeError):
    """An evaluation that cannot be made; the message says what is missing."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one policy in one simulator."""

    task: str  # its id
    simulator: str
    step: int  # environment steps of training
    seed: int  # episode k starts from seed + k
    deterministic: bool
    returns: list[float]
    lengths: list[int]
    environment: str = ""  # the id of Gymnasium's task that was played instead; "": the task's own code
    successes: list[bool] | None = None  # `info["success"]` at the end of each episode; None: the task reports none
    infos: dict[str, tuple[float, float]] | None = None  # of each number of `info`: mean of all steps, mean at the ends
    options: dict[str, Any] | None = None  # the task's, where others than the run's were played

    @classmethod
    def of(cls, played: Played, **head: Any) -> "Evaluation":
        """Return the scores of episodes, with the other values by name."""
        successes = None if played.successes is None else played.successes.tolist()
        return cls(
            returns=played.returns.tolist(),
            lengths=played.lengths.tolist(),
            successes=successes,
            infos=played.infos(),
            **head,
        )

    @property
    def success_rate(self) -> float | None:
        """Share of the episodes that ended in success; None if the task reports no success."""
        return float(np.mean(self.successes)) if self.successes else None

    @property
    def mean(self) -> float:
        """Mean return of an episode."""
        return float(np.mean(self.returns))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; not a number for a single episode."""
        return float(np.std(self.returns, ddof=1) / math.sqrt(len(self.returns))) if len(self.returns) > 1 else math.nan

    def summary(self) -> dict[str, Any]:
        """Return the contents of the JSON file: the figures first, then every episode."""
        error = self.standard_error
        figures = {
            "episodes": len(self.returns),
            "mean": self.mean,
            "standard_error": None if math.isnan(error) else error,
            "minimum": min(self.returns),
            "maximum": max(self.returns),
            "mean_length": float(np.mean(self.lengths)),
            "success_rate": self.success_rate,
        }
        values = asdict(self)
        details = {name: values.pop(name) for name in ("returns", "lengths", "successes")}
        return values | figures | details


def evaluate(
    run: Run,
    simulator: str = "tumble",
    episodes: int = 100,
    seed: int = FIRST_SEED,
    deterministic: bool = True,
    checkpoint: Path | None = None,
    options: dict[str, Any] | None = None,
) -> Evaluation:
    """Play a checkpoint of a run: in Tumble on the device of the run, or on the processor where there is no GPU.

    Args:
        run: The training run.
        simulator: "tumble"; "mujoco": MuJoCo's C, where Gymnasium's own class plays a v5 task, and the task's code any
            other; "mujoco-task": the task's code over MuJoCo's C.
        episodes: How many.
        seed: Episode k starts from `seed + k`.
        deterministic: Whether to take the most likely action, as is usual, or to sample.
        checkpoint: Its folder; by default the newest intact one.
        options: Options of the task that replace the run's, such as another friction.

    Raises:
        EvaluationError: The simulator or the task in it is not there; episodes do not end; or actions are to be sampled
            from a policy that has only one for each observation.
        TaskError: A user's task cannot be made.
        CheckpointError: The run has no intact checkpoint.

    A task in a user's module or file is imported: that runs its code, so make sure that the run's `config.toml` is
    yours.
    """
    if episodes < 1:
        raise EvaluationError(f"episodes must be at least 1, not {episodes}")
    config, checkpoint = with_options(run.config, options), checkpoint or newest_policy(run)
    if torch.cuda.is_available():  # a policy that was trained on a GPU may be played on a machine without
        place_solver(config.device)
    if config.algo == "td3" and not deterministic:
        raise EvaluationError("a TD3 policy gives one action for each observation; there is nothing to sample")
    torch.manual_seed(seed)  # sampled actions are part of the experiment
    episodes_played, policy, twin = [], None, twin_of(config, simulator)
    for first in range(0, episodes, BATCH):
        num_envs = min(BATCH, episodes - first)
        envs = make_envs(config, simulator, num_envs, processes_for(num_envs))
        try:
            if policy is None:
                policy = Policy(config, checkpoint, envs.single_observation_space, envs.single_action_space)
            with _torch_threads(config.threads):
                episodes_played.append(play(policy, envs, seed + first, deterministic))
        finally:
            envs.close()
    assert policy is not None
    task = task_id(config.task)
    head = {"task": task, "simulator": simulator, "step": policy.step, "seed": seed, "deterministic": deterministic}
    return Evaluation.of(joined(episodes_played), **head, environment=twin or "", options=options)


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    """Give torch so many threads, as training did; with more, small networks are slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def play(policy: Policy, envs: VectorEnv, seed: int, deterministic: bool) -> Played:
    """Play one episode in each environment.

    Raises:
        EvaluationError: An episode did not end within `LONGEST` steps.
    """
    observations, _ = envs.reset(seed=seed)
    returns, lengths = np.zeros(envs.num_envs), np.zeros(envs.num_envs, dtype=np.int64)
    playing = starts = np.ones(envs.num_envs, dtype=bool)
    readings = Readings(envs.num_envs)

    def progress() -> str:
        return f" ({envs.num_envs - playing.sum()} have ended, after {lengths.max()} steps at most)"

    with Waiting(f"playing {envs.num_envs} episodes", progress):
        for _ in range(LONGEST):
            actions = policy.act(observations, deterministic, starts)
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            returns += np.where(playing, rewards, 0.0)
            lengths += playing
            starts = terminated | truncated
            readings.add(infos, playing, starts)
            playing = playing & ~starts
            if not playing.any():
                return Played(returns, lengths, readings.sums, readings.ends)
    raise EvaluationError(
        f"{playing.sum()} episodes have not ended after {LONGEST:,} steps: register the task with "
        "max_episode_steps=..., or train it with --option max_episode_steps=..."
    )


def with_options(config: RunConfig, options: dict[str, Any] | None) -> RunConfig:
    """Return a run's configuration with other options of the task, and other managers: randomize=False for none.

    Raises:
        EvaluationError: One of them names the simulator, which an evaluation has an argument for.
    """
    if "simulator" in (options or {}):
        raise EvaluationError(f"simulator is no option of an evaluation: choose by --in ({', '.join(SIMULATORS)})")
    if not options:
        return config
    replaced: dict[str, Any] = {name: {} for name in MANAGERS if name in options}
    return config.replace(env=config.env | options, **replaced)


def make_envs(config: RunConfig, simulator: str, num_envs: int, processes: int = 1, /, **options: Any) -> VectorEnv:
    """Make a run's task in a simulator, whichever it was trained in, numpy in and out, with the run's task options.

    Environments of Gymnasium's own class are stepped in so many processes, with the same results.

    Raises:
        EvaluationError: The simulator is unknown, or is not installed; or Gymnasium's task refuses an option.
        TaskError: The task cannot be made there; MuJoCo may lack its features.
    """
    options |= config.environment() | {"num_envs": num_envs}
    twin = twin_of(config, simulator)
    if twin is None:
        options |= {"output": "numpy", "autoreset_mode": AutoresetMode.SAME_STEP}
        return make_vec(config.task, **options | {"simulator": "tumble" if simulator == "tumble" else "mujoco"})
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    options.pop("simulator", None)
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    with (
        _needing_gymnasiums(twin),
        _refusing(twin),
        _warning_once(),
        Waiting(f"making {num_envs} environments of {twin} in MuJoCo"),
    ):
        ours = make_task(load_task(config.task).kwargs["task"], {})
        known = options_of(type(ours))  # with their types, which the twin does not check
        make_task(ours, {name: value for name, value in options.items() if name in known})
        first = options | ({"num_envs": 1} if processes > 1 else {})
        envs = gym.make_vec(twin, vectorization_mode="sync", vector_kwargs=same_step, **first)
        if processes == 1:
            return envs
        options.pop("num_envs")
        return TwinProcesses(twin, envs, num_envs, options, processes)


def twin_of(config: RunConfig, simulator: str) -> str | None:
    """Return the id of Gymnasium's task that plays a run's task in a simulator; None: the task's own code does.

    Gymnasium's has to take all options of the run.

    Raises:
        EvaluationError: The simulator is unknown, or Gymnasium's tasks are not installed.
    """
    if simulator not in SIMULATORS:
        raise EvaluationError(f"unknown simulator {simulator!r}: choose {', '.join(SIMULATORS)}")
    twin = gymnasium_twin(config.task) if simulator == "mujoco" else None
    if twin is None:
        return None
    with _needing_gymnasiums(twin):
        kind: Any = gym.envs.registration.load_env_creator(str(gym.registry[twin].entry_point))
    known = {name for base in kind.__mro__ for name in inspect.signature(base.__init__).parameters}
    return twin if config.environment().keys() <= known | {"max_episode_steps", "simulator"} else None


@contextmanager
def _needing_gymnasiums(twin: str) -> Iterator[None]:
    """Say what to install if Gymnasium's task lacks a package."""
    try:
        yield
    except (ImportError, gym.error.DependencyNotInstalled) as error:
        hint = f"{pip_install('mujoco')}; --in mujoco-task does without"
        raise EvaluationError(f"Gymnasium's {twin} needs MuJoCo's full package ({error}); {hint}") from None


@contextmanager
def _refusing(twin: str) -> Iterator[None]:
    """Name Gymnasium's task where an option is refused, or where the task cannot be made of it."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, AssertionError, gym.error.Error) as error:
        raise EvaluationError(f"Gymnasium's {twin} cannot be made with these options: {error}") from error


@contextmanager
def _warning_once() -> Iterator[None]:
    """Pass on each of MuJoCo's warnings once; MuJoCo would print it for every environment and write it to a log."""
    messages: dict[str, None] = {}
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: messages.setdefault(message))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
    for message in messages:
        warnings.warn(f"MuJoCo: {message}", RuntimeWarning, stacklevel=3)


def save_evaluation(run: Run, evaluation: Evaluation) -> str:
    """Write `evaluation-<simulator>.json` into the run folder, unless one of more episodes is there.

    The name has other options, and sampled actions: their scores belong to other experiments. One of more episodes is
    replaced if the policy has been trained further since.

    Returns:
        A line that says where the scores are.
    """
    suffix = "" if evaluation.deterministic else "-stochastic"
    suffix += "".join(f"-{name}={value}" for name, value in (evaluation.options or {}).items())
    suffix = re.sub(r"[^-=.,\w]+", "_", suffix)
    path = run.folder / f"evaluation-{evaluation.simulator}{suffix}.json"
    episodes, step = _episodes_and_step(path)
    if episodes > len(evaluation.returns) and step >= evaluation.step:
        return f"{path} keeps its {episodes} episodes of step {step:,}: evaluate as many to replace them"
    write_text_atomically(path, json.dumps(evaluation.summary(), indent=2) + "\n")
    return str(path)


def _episodes_and_step(path: Path) -> tuple[int, int]:
    """Return the number of episodes in a file of scores, and the training step of their policy; 0, 0 without a file."""
    try:
        score = json.loads(read_regular(path))
        return int(score["episodes"]), int(score["step"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 0, 0


def agreement(a: Evaluation, b: Evaluation) -> str:
    """Say in a line whether two means agree within 5 % or two standard errors of their difference.

    A single episode has no standard error; then only the 5 % decide.
    """
    difference = abs(a.mean - b.mean)
    share = difference / max(abs(a.mean), abs(b.mean), 1e-12)
    if math.isnan(a.standard_error) or math.isnan(b.standard_error):
        verdict = "agree" if share <= 0.05 else "DIFFER"
        return f"the means {verdict}: {100 * share:.1f} % apart; one episode has no standard error, play more"
    errors = difference / math.hypot(a.standard_error, b.standard_error) if difference else 0.0
    verdict = "agree" if share <= 0.05 or errors <= 2.0 else "DIFFER"
    return f"the means {verdict}: {100 * share:.1f} % apart, {errors:.1f} standard errors"
