"""SimVectorEnv: many environments of one task on one solver, as a Gymnasium VectorEnv."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ...physics import RigidSolver
from ...physics.machine.normal_mode import in_normal_mode
from ...physics.machine.runtime import ensure_runtime_near
from ..arguments import parse_autoreset_mode, time_limit, torch_device, whole
from ..batch.batch import TaskBatch
from ..batch.packing import PackedOutput
from ..batch.reset_options import KNOWN, require_known
from ..batch.seeds import spread_seeds
from ..registry import TaskLike
from . import attributes
from .base_env import BaseEnv
from .differentiable import DifferentiableEnvs
from .episodes import Episodes
from .managed_task import make_managed
from .pictures import METADATA, VECTOR_RENDER_MODES, Pictures, VectorPictures, check_render_mode
from .snapshots import Snapshots
from .vector_names import VectorNames

OUTPUTS = ("torch", "numpy")


@in_normal_mode
class SimVectorEnv(VectorNames, BaseEnv, VectorEnv):  # type: ignore[misc]  # np_random_seed: of each, like SyncVectorEnv
    """A batch of environments that step together: torch tensors (or numpy arrays) in and out.

    Behaves as Gymnasium's `SyncVectorEnv` of the v5 task would, step by step, but for these:

    - the autoreset mode is SAME_STEP unless chosen otherwise;
    - observations, rewards and infos are in the solver's precision, which `tumble.init` decides;
    - `final_obs` is one dense tensor (num_envs, ...), or one for each name of a `Dict`, with the mask `_final_obs`, as
      every other info is; keys that speak of the same environments share one mask;
    - `options` is not changed by `reset`, masks may be torch or numpy, and an all-False mask resets no environment;
    - stepping a finished environment under DISABLED raises `ResetNeeded`, and a closed one `ClosedEnvironmentError`;
    - actions that are not finite are refused, with the environment and the actuator;
    - under NEXT_STEP the action of an environment that is being reset is ignored and not checked;
    - `reset(options={"elapsed_steps": ...})` begins episodes part of the way to their time limit;
    - there are no single environments inside: `set_attr` sets one value for all, `call` refuses `reset` and `step`, and
      no environment draws from `np_random`;
    - `render` pictures `render_envs` and raises without a render mode; no mode collects a `_list` of pictures.

    Gymnasium's own vector wrappers are numpy code. Wrappers that remember something, wrappers that go through
    observations one by one and `DictInfoToList` need output="numpy"; observation wrappers need NEXT_STEP or DISABLED,
    and `NormalizeObservation` NEXT_STEP. Wrappers that go through actions one by one take numpy actions, with either
    output. The wrappers in `tumble.wrappers` take both outputs and all modes.

    An environment whose state stops being finite is terminated and marked in `info["fault"]`, a bit mask (see
    `faults`). Returned tensors are the caller's own: no later step writes to them.

    `copy.deepcopy` and `pickle` give independent environments that go on from the same state, as of a `SingleEnv`:
    they are made by the same arguments, and then load the state. Closed ones are refused.

    Attributes:
        batch (TaskBatch): the task on its solver.
        task (Task): a copy of the given task that is bound to the model.
        solver (RigidSolver): the solver that moves the environments.
        episodes (Episodes): resets, steps, time limits and saved states.
        pictures (VectorPictures): the pictures of `render` and its relatives.
        snapshots (Snapshots): states that are taken, put back and copied.
        device (torch.device): where returned tensors lie; the CPU with numpy output. skrl learns there.

    Args:
        task: a name of the table of tasks, such as "Ant"; or a class derived from `Task`, or an instance of one.
        num_envs: how many environments.
        max_episode_steps: an episode is truncated after so many steps; None or -1: never.
        autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, as a member or by name.
        output: the library, "torch" or "numpy", of all arrays that `reset` and `step` return, in infos too. Actions may
            be of either library at any time.
        device: where returned tensors lie; None: where the solver lies, which `tumble.init` decides. If nothing has
            called it and no environment was made before, "cuda" puts the solver on the GPU too, for numpy output as
            well. From a solver that lies elsewhere all that is returned is copied.
        render_mode: "rgb_array"; "depth_array", metres along the optical axis; "human", a window that shows every step
            (needs pygame); or None.
        render_envs: the environments that `render` shows; None: the first 16 at most. Gymnasium's vector `RecordVideo`
            and `HumanRendering` want a picture of each: give `range(num_envs)` where there are more than 16.
        width: of a picture, in pixels.
        height: of a picture, in pixels.
        camera_id: number of the model's camera to look through.
        camera_name: name of the model's camera to look through.
        renderer: "rays"; "path", for path tracing; or a dict of the options of `PathTracer`, such as {"samples": 256}.
        model_options: options that override the model file's, e.g. {"timestep": 0.005}.
        simulator: "tumble"; or "mujoco", where MuJoCo's C moves the same task, in double precision on the processor.
        randomize: numbers of the model, pushes and wrenches that are drawn around the task's methods, whichever it is:
            `[dr.friction(0.4, 1.0), Push(speed=(0, 0.5))]`, or a table, {"friction": [0.4, 1.0]}.
        observe: noise, bias and history of observations: a `Term`, or terms by parts and columns, {"0:3": Term(...)}.
        delay: a `Latency` of actions and observations, or a table, {"action": [0, 2]}.
        task_options: the task's options; the registered v5 tasks have Gymnasium's.

    Raises:
        ValueError, TypeError: an argument is wrong; the message says what is allowed.
    """

    metadata = METADATA | {"render_modes": list(VECTOR_RENDER_MODES)}

    def __init__(
        self,
        task: TaskLike,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        output: str = "torch",
        device: str | torch.device | None = None,
        render_mode: str | None = None,
        render_envs: Sequence[int] | None = None,
        width: int = 480,
        height: int = 480,
        camera_id: int | None = None,
        camera_name: str | None = None,
        renderer: str | Mapping[str, Any] = "rays",
        model_options: dict[str, Any] | None = None,
        simulator: str = "tumble",
        randomize: Any = None,
        observe: Any = None,
        delay: Any = None,
        **task_options: Any,
    ) -> None:
        """Make the environments; the arguments are described above."""
        check_render_mode(render_mode, VECTOR_RENDER_MODES)
        if output not in OUTPUTS:
            raise ValueError(f"output={output!r}: there is {' and '.join(OUTPUTS)}")
        self.num_envs = num_envs = whole("num_envs", num_envs)
        limit = time_limit(max_episode_steps)
        target_device = None if device is None else torch_device(device)
        if target_device is not None:
            ensure_runtime_near(str(target_device))
        mode = parse_autoreset_mode(autoreset_mode)
        own, managers = make_managed(task, task_options, randomize=randomize, observe=observe, delay=delay)
        self.batch = TaskBatch(own, num_envs, model_options, simulator, managers=managers)
        self.task, self.solver = self.batch.task, cast("RigidSolver", self.batch.solver)
        packed = PackedOutput(self.batch.kind, target_device or self.solver.device, output)
        self.device = packed.device
        self._describe(mode, packed.in_torch)
        pictures = Pictures(self.batch, width, height, camera_id, camera_name, renderer)
        self.pictures = VectorPictures(pictures, render_mode, render_envs, self.metadata)
        show = self.pictures.render if render_mode == "human" else None
        self.episodes = Episodes(self.batch, mode, limit, packed, show)
        self.snapshots = Snapshots(self.episodes)

    def _describe(self, autoreset_mode: AutoresetMode, in_torch: bool) -> None:
        """Set the attributes that Gymnasium's tools read: metadata and spaces."""
        self.metadata = dict[str, Any](
            render_modes=list(VECTOR_RENDER_MODES),
            render_fps=round(1 / self.task.dt),
            autoreset_mode=autoreset_mode,
            torch=in_torch,
        )
        self.single_observation_space = self.batch.observation_space
        self.single_action_space = self.batch.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: None goes on with each environment's seed, to the next episode's noise; a number s gives environment i
                the seed s + i; a list gives one to each, and None in it leaves that environment's as it is.
            options: {"reset_mask": (num_envs,) bool, torch or numpy} resets only where it is True.
                {"elapsed_steps": (num_envs,) integers} counts so many steps of the time limit as taken: episodes
                that begin together then end at different times, which makes training steadier.

        Returns:
            Observations of all environments (num_envs, ...) and the info of the environments that were reset.
        """
        self.episodes.require_open()
        require_known(options, KNOWN, "vector environments")
        seeds = spread_seeds(seed, self.num_envs)
        result = self.episodes.reset(seeds, options)
        if seeds[0] is not None:
            super().reset(seed=seeds[0])
        return result

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment.

        Args:
            actions: (num_envs, controls), torch on any device or numpy.

        Returns:
            Observations, rewards, terminations, truncations, info; each (num_envs, ...). Rewards have the precision of
            the observations' numbers, the solver's.

        Raises:
            ResetNeeded: before the first reset; or under DISABLED for environments that have finished.
            ValueError, TypeError: the actions are not as they should be; nothing has moved.
        """
        return self.episodes.step(actions)

    def differentiable(self, num_envs: int | None = None) -> DifferentiableEnvs:
        """Return environments of the same task, with a solver of their own, that torch differentiates.

        Args:
            num_envs: how many; None: as many as here.

        Raises:
            NotImplementedError: the task or its model has no derivatives; the message says why.
        """
        limit, options = self.episodes.max_steps, self._arguments[1].get("model_options")
        return DifferentiableEnvs(
            self.task,
            num_envs or self.num_envs,
            max_episode_steps=limit,
            model_options=options,
            **self.batch.managers.options._asdict(),
        )

    call = attributes.call
    get_attr = attributes.get_attr
    set_attr = attributes.set_attr

    def close_extras(self, **kwargs: Any) -> None:
        """Give the solver's memory back, and close the window."""
        self.episodes.closed = True
        self.solver.close()
        self.pictures.close()

    def __del__(self) -> None:
        """Close nothing, as with Gymnasium 1.4; 1.2 closes collected environments, even after a failed constructor."""

    def _snapshot(self) -> dict[str, Any]:
        """Return the present state, or only the seeds if no episode has begun; and which environments are shown."""
        self.episodes.require_open()
        state = None if self.episodes.observation is None else self.state_dict()
        own = {"shown": self.render_envs.tolist(), "reporter": self.episodes.reporter}
        return {"state": state, "streams": self.batch.streams.state_dict(), **own}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a state that `_snapshot` returned."""
        self.render_envs, self.episodes.reporter = snapshot["shown"], snapshot["reporter"]
        if snapshot["state"] is not None:
            self.load_state_dict(snapshot["state"])
        else:
            self.batch.take_streams(snapshot["streams"])
