"""Export of a trained actor to ONNX or TorchScript, for programs that have neither Tumble nor Stable-Baselines3.

A file is written under a temporary name, loaded again, and run beside the policy on observations of the run's own task.
It gets its name only if its actions are the policy's, to rounding.
"""

import importlib.util
import json
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from ..physics.machine.disk import replacing
from ..physics.machine.libraries import pip_install
from .actor_module import ActorModule, Positional
from .errors import TumbleUserError
from .evaluate import FIRST_SEED, make_envs
from .policy import Policy
from .runs import Run
from .tasks import task_id

CHECKED_ENVS, CHECKED_STEPS = 8, 64
TOLERANCE = 1e-4  # of the action's range: float32 sums in another order differ by some 1e-6, wrong statistics by 1e-2
METADATA = "tumble.json"  # in a TorchScript file; in an ONNX file the same values are its metadata

Outputs = dict[str, np.ndarray]
Runner = Callable[[Outputs], Outputs]  # inputs by name to outputs by name


class ExportError(TumbleUserError, RuntimeError):
    """An export that cannot be made, or whose actions differ from the policy's; no file is left behind."""


@dataclass(frozen=True)
class Exported:
    """A file that was written and checked.

    Attributes:
        path: The file.
        inputs: Name, shape and type of each input, such as "observation (n, 27) float32".
        outputs: The same of each output.
        runtime: The runtime that ran the file.
        observations: How many observations it was checked on.
        difference: The largest difference of an action from the policy's, as a share of the action's range; for whole
            actions 0.
    """

    path: Path
    inputs: list[str]
    outputs: list[str]
    runtime: str
    observations: int
    difference: float


def export_policy(
    run: Run, checkpoint: Path, onnx: Path | None = None, torchscript: Path | None = None
) -> list[Exported]:
    """Export the deterministic actor of a checkpoint, and check each file against the policy.

    Args:
        run: The training run.
        checkpoint: The checkpoint's folder.
        onnx: The ONNX file to write.
        torchscript: The TorchScript file to write.

    Raises:
        ExportError: A package is missing, or a file's actions are not the policy's.
        TaskError: A user's task cannot be made; its environments give the observations for the check.
        CheckpointError: The checkpoint cannot be loaded.
    """
    if onnx is not None:
        _require_onnx()
    envs = make_envs(run.config, "tumble", CHECKED_ENVS)
    try:
        policy = Policy(run.config, checkpoint, envs.single_observation_space, envs.single_action_space)
        actor = ActorModule(policy)
        about = _about(run, policy, actor, envs)
        formats = [(onnx, _write_onnx, _load_onnx), (torchscript, _write_torchscript, _load_torchscript)]
        return [
            _export(path, write, load, actor, policy, envs, about) for path, write, load in formats if path is not None
        ]
    finally:
        envs.close()


def _export(
    path: Path, write: Any, load: Any, actor: ActorModule, policy: Policy, envs: VectorEnv, about: dict[str, str]
) -> Exported:
    """Write a file, check it and give it its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        write(temporary, actor, about)
        run, runtime = load(temporary, actor)
        difference, observations, shapes = compare(run, policy, actor, envs)
        if not difference <= TOLERANCE:  # not a number is no agreement either
            raise ExportError(
                f"{path}: not written: its actions, as {runtime} computes them, differ from the policy's by up to "
                f"{difference:.1e} of their range, more than {TOLERANCE:g}"
            )
    return Exported(path, shapes[0], shapes[1], runtime, observations, difference)


def compare(run: Runner, policy: Policy, actor: ActorModule, envs: VectorEnv) -> tuple[float, int, Any]:
    """Run an exported actor beside the policy, while the policy plays.

    Returns:
        The largest difference of an action, as a share of its range; the number of observations; and the descriptions
        of inputs and outputs.
    """
    shown, _ = envs.reset(seed=FIRST_SEED)
    shapes: tuple[list[str], list[str]] = ([], [])
    largest, space = 0.0, envs.single_action_space
    starts, memory = np.ones(envs.num_envs, dtype=bool), actor.forget(envs.num_envs)
    for step in range(CHECKED_STEPS):
        inputs = actor.named(policy.seen(shown)) | memory
        action = policy.act(shown, starts=starts)
        outputs = run(inputs)
        largest = max(largest, _difference(outputs["action"], action, space))
        if step == 0:
            first = {name: array[:, :1] if name in memory else array[:1] for name, array in inputs.items()}
            largest = max(largest, _difference(run(first)["action"], action[:1], space))  # a robot's batch is one
            shapes = _describe(inputs, actor), _describe(outputs, actor)
        shown, _, terminated, truncated, _ = envs.step(action)
        starts = terminated | truncated
        memory = {name: np.where(starts[:, None], 0, outputs[f"next_{name}"]).astype(np.float32) for name in memory}
    return largest, CHECKED_STEPS * envs.num_envs, shapes


def _difference(actions: np.ndarray, expected: np.ndarray, space: Any) -> float:
    """Return the largest difference of actions as a share of their range; for whole actions the share that differs."""
    if actions.shape != expected.shape:
        return float("inf")
    if space.dtype.kind != "f":
        return float(np.mean(actions != expected))
    return float(np.max(np.abs(actions - expected) / np.maximum(space.high - space.low, 1e-12)))


def _describe(arrays: Outputs, actor: ActorModule) -> list[str]:
    """Say name, shape and type of each array, with "n" for the number of observations."""
    lines = []
    for name, array in arrays.items():
        shape = [str(size) for size in array.shape]
        shape[rows_axis(name, actor)] = "n"
        lines.append(f"{name} ({', '.join(shape)}) {array.dtype}")
    return lines


def rows_axis(name: str, actor: ActorModule) -> int:
    """Return the axis of an input or output along which the observations lie."""
    return 1 if name.removeprefix("next_") in actor.memory else 0


def _about(run: Run, policy: Policy, actor: ActorModule, envs: VectorEnv) -> dict[str, str]:
    """Return the metadata of a file."""
    about = {"task": task_id(run.config.task), "algorithm": run.config.algo, "training_steps": str(policy.step)}
    period = getattr(getattr(envs.unwrapped, "task", None), "dt", None)
    if period is not None:
        about["seconds_per_action"] = str(float(period))
    return about


def _example(actor: ActorModule, rows: int = 2) -> Outputs:
    """Return inputs of the right shapes."""
    return {name: np.zeros((rows, *shape), dtype) for name, (shape, dtype) in actor.input_types.items()} | actor.forget(
        rows
    )


# -- TorchScript -----------------------------------------------------------------------------------------------------


def _write_torchscript(path: Path, actor: ActorModule, about: dict[str, str]) -> None:
    """Trace the actor: one tensor in, or a dictionary of them."""
    example = actor.arguments({name: torch.as_tensor(array) for name, array in _example(actor).items()})
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch recommends torch.export, which C++ cannot load
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        traced = torch.jit.trace(actor, example, check_trace=False)
        torch.jit.save(traced, str(path), _extra_files={METADATA: json.dumps(about)})


def _load_torchscript(path: Path, actor: ActorModule) -> tuple[Runner, str]:
    """Load a TorchScript file as a function of named arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = torch.jit.load(str(path))

    def run(inputs: Outputs) -> Outputs:
        with torch.no_grad():
            results = loaded(*actor.arguments({name: torch.as_tensor(array) for name, array in inputs.items()}))
        results = results if isinstance(results, tuple) else (results,)
        return {name: result.numpy() for name, result in zip(actor.output_names, results, strict=True)}

    return run, f"torch {torch.__version__}"


# -- ONNX ------------------------------------------------------------------------------------------------------------


def _require_onnx() -> None:
    """Refuse an export for which a package is missing.

    Raises:
        ExportError: The message has the command that installs it.
    """
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise ExportError(
            f"--onnx needs {' and '.join(missing)}: {pip_install('export')}; --torchscript needs nothing more"
        )


def _write_onnx(path: Path, actor: ActorModule, about: dict[str, str]) -> None:
    """Export the actor with the number of observations left open; weights and metadata are in the one file."""
    import onnx

    example = _example(actor)
    arguments = tuple(torch.as_tensor(array) for array in example.values())
    rows = torch.export.Dim("n")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns that torchvision is not installed
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            Positional(actor),
            arguments,
            input_names=list(example),
            output_names=list(actor.output_names),
            dynamic_shapes=(tuple({rows_axis(name, actor): rows} for name in example),),
            dynamo=True,
            verbose=False,
        )
        assert program is not None
        program.save(str(path), external_data=False)
    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, about)
    onnx.save(model, str(path))


def _load_onnx(path: Path, actor: ActorModule) -> tuple[Runner, str]:
    """Load an ONNX file as a function of named arrays: by onnxruntime, else by onnx's own reference implementation."""
    names = list(actor.output_names)
    if importlib.util.find_spec("onnxruntime") is None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        reference = ReferenceEvaluator(str(path))
        runtime = f"onnx {onnx.__version__}'s reference implementation (onnxruntime is not installed)"
        return (lambda inputs: dict(zip(names, reference.run(names, inputs), strict=True))), runtime
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    runtime = f"onnxruntime {onnxruntime.__version__}"
    return (lambda inputs: dict(zip(names, session.run(names, inputs), strict=True))), runtime
