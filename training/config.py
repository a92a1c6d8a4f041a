"""A run's configuration: one TOML file per task and algorithm, read into dataclasses and checked.

The packaged files are `training/configs/<task>-<algorithm>.toml`, or `<suite>-<algorithm>.toml` for all tasks of a
suite. A run keeps its snapshot in the same form, so that `tumble train --config runs/.../config.toml` repeats it.
"""

import dataclasses
import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

from ..envs.registry import MANAGERS
from .toml_dataclass import ConfigError, change, read_toml, require, to_toml

CONFIG_FOLDER = Path(__file__).parent / "configs"
ALGORITHMS = ("ppo", "sac", "td3", "recurrent_ppo")
OFF_POLICY = ("sac", "td3")
LEARNERS, OFF_POLICY_LEARNERS = ("sb3", "lean", "compiled"), ("sb3", "compiled")
ACTIVATIONS = ("tanh", "relu", "elu", "silu")
MOST_WIDTH, MOST_WEIGHTS = 2**16, 2**28
"""The most neurons of a layer and weights of a network: so many weights take 1 GiB, and Adam's moments twice that."""
MOST_TRANSITIONS = 10**9
"""In a buffer of any kind. The number that fits into memory depends on the task; more than these fit nowhere."""
MOST_THREADS = 1024


def _require_room(name: str, transitions: int) -> None:
    """Refuse a buffer that no machine has the memory for."""
    require(transitions <= MOST_TRANSITIONS, f"{name} is {transitions:,}; {MOST_TRANSITIONS:,} are the most")


@dataclass(frozen=True)
class NormalizeConfig:
    """Running normalisation of the learner's inputs (Stable-Baselines3's `VecNormalize`)."""

    observations: bool = True
    rewards: bool = True
    clip_observations: float = 10.0
    clip_rewards: float = 10.0


@dataclass(frozen=True)
class PolicyConfig:
    """The networks: hidden widths of actor and critic, activation, first standard deviation (PPO), Adam's epsilon.

    `actor_parts` and `critic_parts` name the parts of a `Dict` observation that each network sees. Empty: the actor
    sees the part `policy` and the critic the part `critic` if the observation has both, else both see everything.
    """

    hidden: tuple[int, ...] = (64, 64)
    critic_hidden: tuple[int, ...] = ()  # empty: the same as the actor's
    activation: str = "tanh"
    log_std_init: float = 0.0
    adam_eps: float = 1e-5
    actor_parts: tuple[str, ...] = ()
    critic_parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self.activation in ACTIVATIONS, f"policy.activation must be one of {', '.join(ACTIVATIONS)}")
        for name, widths in (("hidden", self.hidden), ("critic_hidden", self.critic_hidden)):
            good = all(isinstance(width, int) and 0 < width <= MOST_WIDTH for width in widths)
            require(
                good, f"policy.{name}: a layer has 1 to {MOST_WIDTH:,} units, as a whole number, not {list(widths)}"
            )
            weights = sum(a * b for a, b in pairwise(widths))
            require(
                weights <= MOST_WEIGHTS,
                f"policy.{name}: layers of {list(widths)} units have {weights:,} weights between them; "
                f"{MOST_WEIGHTS:,} are the most",
            )


@dataclass(frozen=True)
class _PPOValues:
    """The values of every kind of PPO."""

    table = "ppo"  # no field: the name in messages

    n_steps: int = 128
    batch_size: int = 1024
    n_epochs: int = 10
    learning_rate: float = 3e-4
    learning_rate_end: float | None = None
    clip_range: float = 0.2
    clip_range_end: float | None = None
    gamma: float = 0.99
    gae_lambda: float = 0.95
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float | None = None
    clip_range_vf: float | None = None
    normalize_advantage: bool = True

    def __post_init__(self) -> None:
        table, sizes = self.table, (self.n_steps, self.batch_size, self.n_epochs)
        require(min(sizes) > 0, f"{table}: n_steps, batch_size, n_epochs must be > 0")
        require(self.learning_rate > 0, f"{table}.learning_rate must be positive")
        good = 0 < self.gamma <= 1 and 0 <= self.gae_lambda <= 1
        require(good, f"{table}: gamma and gae_lambda lie between 0 and 1")


@dataclass(frozen=True)
class PPOConfig(_PPOValues):
    """Proximal policy optimisation (Schulman et al., 2017). `*_end` is the last value of a linear schedule, if set.

    An iteration collects `n_steps` from each environment and passes over them `n_epochs` times in minibatches. The
    learner "sb3" is Stable-Baselines3's own class; "lean" makes the same update with a gradient written out by hand
    (`lean_ppo.py`), and differs by rounding. "compiled" does this, and collects, in machine code (`compiled_ppo.py`),
    with other random numbers for its actions. What it cannot do, such as pictures, goes on as with "lean".

    `desired_kl` steers the learning rate instead of a schedule: after a minibatch whose policies differ by more than
    twice this KL divergence the rate is divided by 1.5, below half of it multiplied, between 1e-5 and 1e-2 (rsl_rl's
    rule, with the estimate that the log shows as `approx_kl`).
    """

    learner: str = "sb3"
    desired_kl: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.learner in LEARNERS, f"ppo.learner must be one of {', '.join(LEARNERS)}, not {self.learner!r}")
        require(self.desired_kl >= 0, "ppo.desired_kl must not be negative; 0: the learning rate follows its schedule")
        steered = self.desired_kl == 0 or self.learner == "compiled"
        require(steered, 'ppo.desired_kl needs ppo.learner = "compiled"')


@dataclass(frozen=True)
class RecurrentPPOConfig(_PPOValues):
    """PPO with an LSTM before the hidden layers of each network (sb3-contrib's `RecurrentPPO`).

    The values are as in `PPOConfig`. A minibatch is `batch_size` consecutive steps, so that gradients pass through up
    to `n_steps` of them. Without `critic_lstm` the critic has a plain layer instead.
    """

    table = "recurrent_ppo"

    lstm_hidden_size: int = 64
    n_lstm_layers: int = 1
    critic_lstm: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = (self.lstm_hidden_size, self.n_lstm_layers)
        require(min(sizes) > 0, "recurrent_ppo: lstm_hidden_size and n_lstm_layers must be > 0")


@dataclass(frozen=True)
class _OffPolicyConfig:
    """The options of algorithms that learn from a buffer of steps.

    After each step of all environments, `gradient_steps` updates are made (-1: as many as steps were taken). The buffer
    has the last `buffer_size` steps, those of all processes if several train together. The learner "sb3" is
    Stable-Baselines3's own class; "compiled" makes the updates in machine code (`compiled_off_policy.py`), with other
    random numbers for their noise. What it cannot do, such as pictures, goes on as with "sb3".
    """

    name: ClassVar[str]

    buffer_size: int = 1_000_000
    learning_starts: int = 10_000
    batch_size: int = 256
    learning_rate: float = 3e-4
    gamma: float = 0.99
    tau: float = 0.005
    train_freq: int = 1
    gradient_steps: int = 1
    learner: str = "sb3"

    def __post_init__(self) -> None:
        known = ", ".join(OFF_POLICY_LEARNERS)
        good = self.learner in OFF_POLICY_LEARNERS
        require(good, f"{self.name}.learner must be one of {known}, not {self.learner!r}")
        require(min(self.buffer_size, self.batch_size, self.train_freq) > 0, f"{self.name}: sizes must be positive")
        _require_room(f"{self.name}.buffer_size", self.buffer_size)
        require(self.learning_rate > 0, f"{self.name}.learning_rate must be positive")
        require(0 < self.gamma <= 1 and 0 < self.tau <= 1, f"{self.name}: gamma and tau lie between 0 and 1")


@dataclass(frozen=True)
class SACConfig(_OffPolicyConfig):
    """Soft actor-critic (Haarnoja et al., 2018), with the entropy coefficient learned."""

    name: ClassVar[str] = "sac"


@dataclass(frozen=True)
class TD3Config(_OffPolicyConfig):
    """Twin delayed deep deterministic policy gradient (Fujimoto et al., 2018).

    `action_noise` is the standard deviation of the Gaussian noise that exploration adds to actions, and
    `target_policy_noise` that of the noise on the target's actions, which is clipped at `target_noise_clip`; actions
    range from -1 to 1 here. The actor learns at each `policy_delay`-th update.
    """

    name: ClassVar[str] = "td3"

    policy_delay: int = 2
    action_noise: float = 0.1
    target_policy_noise: float = 0.2
    target_noise_clip: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.policy_delay > 0, "td3: policy_delay must be positive")
        noises = (self.action_noise, self.target_policy_noise, self.target_noise_clip)
        require(all(noise >= 0 for noise in noises), "td3: noises must not be negative")


@dataclass(frozen=True)
class EvaluationConfig:
    """The interval of evaluations during training (environment steps; 0: none), and their number of episodes.

    The best policy so far is kept in the run folder's `best`.
    """

    every_steps: int = 0
    episodes: int = 20

    def __post_init__(self) -> None:
        require(self.every_steps >= 0, "evaluation.every_steps must not be negative; 0: never")
        require(self.episodes > 0, "evaluation.episodes must be positive")


@dataclass(frozen=True)
class LogConfig:
    """Loggers besides the run folder's: `wandb` names a project of Weights & Biases; "": none."""

    wandb: str = ""


@dataclass(frozen=True)
class CheckpointConfig:
    """The times of checkpoints, always at the end of an iteration, and how many are kept.

    One is written each `every_steps` environment steps and at the end of the run; the newest `keep` of these stay.
    Additional ones are written after each tenth of the run and when `every_seconds` have passed without any, as long as
    that takes at most a twentieth of the time; only the newest of these stays, unless there are fewer than `keep` in
    all.
    `every_seconds = inf` writes no additional ones.
    """

    every_steps: int = 500_000
    every_seconds: float = 60.0
    keep: int = 2

    def __post_init__(self) -> None:
        require(self.every_steps > 0 and self.keep > 0, "checkpoint.every_steps and checkpoint.keep must be positive")
        require(self.every_seconds > 0, "checkpoint.every_seconds must be positive; inf: checkpoints only by steps")


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run: on the same kind of machine, the same weights to the last bit.

    `task` is a task as `tasks.find_task` takes it, `env` are options of the environment and of the task. `randomize`,
    `observe` and `delay` are tables of managers, as the environments' arguments of these names take them. `threads` are
    torch's; those of solver and compiled learner are separate, and their results do not depend on them. One is the
    fastest for networks and minibatches as small as PPO's here, and the only number that repeats a run exactly.
    `stagger` cuts the first episodes at evenly spread lengths, so that not all environments start together for ever.
    """

    task: str
    algo: str
    total_steps: int = 1_000_000
    num_envs: int = 64
    seed: int = 0
    device: str = "cpu"
    threads: int = 1
    stagger: bool = True
    env: dict[str, Any] = field(default_factory=dict)
    randomize: dict[str, Any] = field(default_factory=dict)
    observe: dict[str, Any] = field(default_factory=dict)
    delay: dict[str, Any] = field(default_factory=dict)
    normalize: NormalizeConfig = NormalizeConfig()
    policy: PolicyConfig = PolicyConfig()
    ppo: PPOConfig = PPOConfig()
    sac: SACConfig = SACConfig()
    td3: TD3Config = TD3Config()
    recurrent_ppo: RecurrentPPOConfig = RecurrentPPOConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    log: LogConfig = LogConfig()

    def __post_init__(self) -> None:
        require(self.algo in ALGORITHMS, f"algo must be one of {', '.join(ALGORITHMS)}, not {self.algo!r}")
        require(min(self.total_steps, self.num_envs, self.threads) > 0, "total_steps, num_envs, threads must be > 0")
        require(self.threads <= MOST_THREADS, f"threads={self.threads:,}: {MOST_THREADS:,} are the most")
        _require_room("num_envs", self.num_envs)
        if self.algo == "ppo":
            _require_room("num_envs x ppo.n_steps", self.num_envs * self.ppo.n_steps)
        require(self.seed >= 0, "seed must not be negative")
        self._require_managers()

    def _require_managers(self) -> None:
        """Refuse tables of managers with unknown names or wrong values, and those that `env` has too."""
        tables = self.managers()
        for name in tables:
            require(name not in self.env, f"{name!r} is in env too: write it in one of both")
        if not tables:
            return
        from ..envs.managers.options import ManagerOptions  # imports torch, which most commands do without

        try:
            ManagerOptions.of(**tables)
        except (TypeError, ValueError) as error:
            raise ConfigError(str(error)) from None

    def managers(self) -> dict[str, Any]:
        """Return the tables of managers that are not empty, by the names of the environments' arguments."""
        return {name: table for name in MANAGERS if (table := getattr(self, name))}

    def environment(self) -> dict[str, Any]:
        """Return the arguments of the environments: managers, and the options in `env`."""
        return self.managers() | self.env

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read and check a TOML file.

        Raises:
            ConfigError: The file is missing, is not TOML, or has an unknown key or a value of the wrong type.
        """
        return read_toml(cls, Path(path))

    @classmethod
    def packaged(cls, task: str, algo: str) -> Self:
        """Return the packaged configuration of a task such as "tumble/Ant-v0".

        Raises:
            ConfigError: No file is packaged.
        """
        require(algo in ALGORITHMS, f"algo must be one of {', '.join(ALGORITHMS)}, not {algo!r}")
        if algo not in packaged_algorithms(task):
            raise ConfigError(f"no packaged {algo} configuration for {task}; write one and pass it with --config")
        own = _packaged_path(task, algo)
        return cls.load(own) if own.exists() else cls.load(_family_path(task, algo)).replace(task=task)

    @classmethod
    def default(cls, task: str, algo: str) -> Self:
        """Return the configuration of a task without a packaged file.

        The off-policy algorithms get two layers of 256, 16 environments at a time, an update for every second step, and
        no normalisation.

        Raises:
            ConfigError: No such algorithm.
        """
        if algo not in OFF_POLICY:
            return cls(task, algo)
        networks = PolicyConfig(hidden=(256, 256), activation="relu", adam_eps=1e-8)
        config = cls(task, algo, num_envs=16, normalize=NormalizeConfig(False, False), policy=networks)
        return config.change({f"{algo}.gradient_steps": 8})

    def change(self, changes: dict[str, Any]) -> Self:
        """Return a copy with some values changed, each named by its place, such as "ppo.learning_rate".

        Raises:
            ConfigError: No such key, with the nearest ones; one of another algorithm; or a value of the wrong type.
        """
        others = tuple(algo for algo in ALGORITHMS if algo != self.algo)
        for name in changes:
            table = name.partition(".")[0]
            require(table not in others, f"{name!r} changes nothing: the algorithm is {self.algo}, not {table}")
        return change(self, changes, without=others)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some top-level values changed; None leaves a value as it is."""
        return dataclasses.replace(self, **{key: value for key, value in changes.items() if value is not None})

    def to_toml(self) -> str:
        """Return the whole configuration as TOML; of the algorithms, only the chosen one's table."""
        table = dataclasses.asdict(self)
        for algo in ALGORITHMS:
            if algo != self.algo:
                del table[algo]
        return to_toml(table)


def packaged_algorithms(task: str) -> list[str]:
    """Name the algorithms that have a packaged configuration for the task, or for its suite."""
    if not re.fullmatch(r"\w+/[\w-]+", task):
        return []
    return [algo for algo in ALGORITHMS if any(path(task, algo).exists() for path in (_packaged_path, _family_path))]


def _packaged_path(task: str, algo: str) -> Path:
    return CONFIG_FOLDER / f"{task.removeprefix('tumble/').replace('/', '.')}-{algo}.toml"


def _family_path(task: str, algo: str) -> Path:
    """Return the path of the configuration that all tasks of a suite share."""
    return CONFIG_FOLDER / f"{task.partition('/')[0]}-{algo}.toml"
