"""Does the vocabulary vectorise? Nanoseconds per environment at every width, against one lane and against numpy.

Operands are loaded from scratch and results stored there, as in the engine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import taichi as ti
import torch

from ..physics import Model
from ..physics.base.math import Lanes
from ..physics.machine.machine import default_lanes
from ..physics.machine.runtime import Runtime, init
from .inside import make_scratch
from .models import load
from .operations import (
    OPERATIONS,
    PATTERN,
    RESULT_WIDTH,
    WIDTHS_OF_OPERANDS,
    Arrays,
    Operands,
    first_rows,
    numpy_tree_factor,
)
from .results import BenchmarkResult, Table, Verdict
from .smooth import SmoothChunk
from .timing import Sample, clock, take_turns

NUM_ENVS = 1024
REPEATS = {True: 20, False: 400}
"""Passes over all environments in one timed stretch, of the factor and of the others."""
SMOOTH_LIMIT, SMOOTH_LAUNCHES = 0.7, 20
TOLERANCE = {"32": 2e-5, "64": 1e-12}
"""Largest difference of lanes and numpy relative to the largest number: rounding in another order."""


def run(widths: Sequence[int], precisions: Sequence[str], rounds: int) -> BenchmarkResult:
    """Measure the vocabulary and the smooth chunk on one core.

    Args:
        widths: lanes.
        precisions: "32", "64".
        rounds: of which medians are taken.
    """
    at_width = {f"W = {width}": ".3g" for width in widths}
    words = Table(
        f"Nanoseconds per environment, one core, {NUM_ENVS} environments (default width: "
        f"{', '.join(f'{default_lanes(p)} at {p} bits' for p in precisions)})",
        {
            "operation": "",
            "bits": "",
            **at_width,
            "numpy": ".3g",
            "fastest over one lane": ".1f",
            "over numpy": ".0f",
            "spread": ".0%",
        },
    )
    chunk = Table(
        "Humanoid, kinematics to solve: microseconds per environment, one core",
        {"bits": "", **{name: ".3f" for name in at_width}, "error": ".1e", "spread": ".0%"},
    )
    result = BenchmarkResult([words, chunk])
    model = load("Humanoid")
    for precision in precisions:
        runtime = init(precision=precision, threads=1)
        words.rows += _vocabulary(runtime, model, widths, rounds)
        chunk.rows.append(row := _smooth(runtime, model, widths, rounds))
        default = f"W = {default_lanes(precision)}"
        if precision == "32" and default in row:
            what = f"humanoid, kinematics to solve, float32, {default}: microseconds per environment"
            result.verdicts.append(Verdict(what, row[default], SMOOTH_LIMIT, at_least=False))
    return result


def _smooth(runtime: Runtime, model: Model, widths: Sequence[int], rounds: int) -> dict[str, Any]:
    chunks = {f"W = {width}": SmoothChunk(model, NUM_ENVS, width) for width in widths}
    sides = {name: lambda chunk=chunk: chunk.seconds(SMOOTH_LAUNCHES) for name, chunk in chunks.items()}
    samples = take_turns(sides, rounds)
    row = {name: sample.median / (NUM_ENVS * SMOOTH_LAUNCHES) * 1e6 for name, sample in samples.items()}
    seconds = {name: sample.seconds for name, sample in samples.items()}
    error = max(chunk.error for chunk in chunks.values())
    spread = max(sample.spread for sample in samples.values())
    return {"bits": runtime.precision, **row, "error": error, "spread": spread, "seconds": seconds}


def _vocabulary(runtime: Runtime, model: Model, widths: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    operands = random_operands(model, np.float32 if runtime.precision == "32" else np.float64)
    words = {width: Words(runtime, model, width, operands) for width in widths}
    rows = []
    for number, operation in enumerate(OPERATIONS):
        passes = REPEATS[operation.arrays is None]
        sides = {f"W = {width}": word.side(number, passes) for width, word in words.items()}
        sides["numpy"] = _numpy_side(number, operands, model, passes)
        expected = numpy_result(number, operands, model)
        for word in words.values():
            word.check(number, expected)
        rows.append(_row(operation.name, runtime.precision, take_turns(sides, rounds), passes))
    return rows


def _row(name: str, bits: str, samples: dict[str, Sample], passes: int) -> dict[str, Any]:
    figures = {side: sample.median / (passes * NUM_ENVS) * 1e9 for side, sample in samples.items()}
    fastest = min(value for side, value in figures.items() if side != "numpy")
    row = {"operation": name, "bits": bits, **figures, "over numpy": figures["numpy"] / fastest}
    row["fastest over one lane"] = figures["W = 1"] / fastest if "W = 1" in figures else None
    row["spread"] = max(sample.spread for sample in samples.values())
    return row | {"seconds": {side: sample.seconds for side, sample in samples.items()}}


class Words:
    """All operations at one width, over scratch that holds the operands."""

    def __init__(self, runtime: Runtime, model: Model, width: int, operands: Arrays) -> None:
        self._width, self._tiles, self._size = width, NUM_ENVS // width, model.mj.nv
        lanes = Lanes(width, runtime.dtype)
        self._rows = first_rows(self._tiles, self._size)
        self._scratch = make_scratch(lanes, self._rows["end"], self._size * (self._size + len(PATTERN)))
        lists = model.dof_paths()
        self._entries = np.repeat(np.arange(self._size), [len(row) for row in lists]), np.concatenate(lists)
        self._fill(model, operands)
        self._kernel = make_kernel(lanes, self._scratch, self._tiles, self._size)
        self._precision = runtime.precision

    def side(self, number: int, passes: int) -> Callable[[], float]:
        """Seconds of so many passes of operation `number` over all environments."""
        return lambda: clock(lambda: self._kernel(number, passes))

    def check(self, number: int, expected: np.ndarray) -> None:
        """Compare the results of the operation with numpy's (components, environments).

        Raises:
            AssertionError: they differ by more than rounding.
        """
        self._kernel(number, 1)
        numbers = self._scratch.numbers.to_numpy().reshape(-1, self._width)
        if OPERATIONS[number].arrays is None:
            rows, columns = self._entries
            first = self._rows["L"]
            found = numbers[first : first + len(rows)][rows > columns]
            expected = expected[rows, columns][rows > columns, : self._width]
        else:
            first = self._rows["out"]
            found = numbers[first : first + self._tiles * RESULT_WIDTH].reshape(self._tiles, RESULT_WIDTH, self._width)
            found = found.transpose(1, 0, 2).reshape(RESULT_WIDTH, NUM_ENVS)[: len(expected)]
        error = np.abs(found - expected).max() / np.abs(expected).max()
        if not error < TOLERANCE[self._precision]:
            name = OPERATIONS[number].name
            raise AssertionError(
                f"{name}, W = {self._width}, {self._precision} bits: differs from numpy by {error:.1e}"
            )

    def _fill(self, model: Model, operands: Arrays) -> None:
        numbers = np.zeros((self._rows["end"], self._width), operands["quat"].dtype)
        for name, width in WIDTHS_OF_OPERANDS.items():
            tiled = operands[name].reshape(width, self._tiles, self._width).transpose(1, 0, 2)
            numbers[self._rows[name] : self._rows[name] + self._tiles * width] = tiled.reshape(-1, self._width)
        first, matrix = self._rows["M"], operands["matrix"][self._entries]
        numbers[first : first + len(matrix)] = matrix[:, : self._width]
        self._scratch.numbers.from_torch(torch.from_numpy(numbers if self._width > 1 else numbers[:, 0].copy()))
        depth, columns = model.values["dof_depth"], np.concatenate(model.dof_paths())
        start, order = np.cumsum(depth) - depth, np.argsort(depth, kind="stable")
        integers = np.zeros(self._size * (self._size + len(PATTERN)), np.int32)
        parts = np.concatenate([depth, start, order, columns])
        integers[: len(parts)] = parts
        self._scratch.indices.from_torch(torch.from_numpy(integers))


def make_kernel(lanes: Lanes, scratch: Any, tiles: int, size: int) -> Any:
    """A kernel that runs operation `which` over all tiles, `passes` times."""

    @ti.kernel
    def run_operation(which: ti.i32, passes: ti.i32):
        ti.loop_config(serialize=True)
        for _ in range(1):
            at = Operands(scratch, tiles, size)
            for number, operation in ti.static(enumerate(OPERATIONS)):
                if which == number:
                    for _pass in range(passes):
                        for t in range(tiles):
                            operation.lanes(lanes, at, t)

    return run_operation


def random_operands(model: Model, dtype: type) -> Arrays:
    """Operands (components, NUM_ENVS), and mass matrices (nv, nv, NUM_ENVS) of the model at its reference, varied."""
    rng = np.random.default_rng(0)
    operands = {name: rng.normal(size=(width, NUM_ENVS)) for name, width in WIDTHS_OF_OPERANDS.items()}
    for name in ("quat", "quat2"):
        operands[name] /= np.linalg.norm(operands[name], axis=0)
    size = model.mj.nv
    pattern = np.zeros((size, size))
    for i, ancestors in enumerate(model.dof_paths()):
        pattern[i, ancestors] = 0.05
    matrix = pattern[..., None] * rng.uniform(0.5, 1.5, (size, size, NUM_ENVS))
    matrix[np.arange(size), np.arange(size)] += 1.0
    return {name: np.ascontiguousarray(value, dtype) for name, value in {**operands, "matrix": matrix}.items()}


def numpy_result(number: int, operands: Arrays, model: Model) -> np.ndarray:
    """Return the result of operation `number` in numpy."""
    arrays = OPERATIONS[number].arrays
    return numpy_tree_factor(operands["matrix"], model.dof_paths()) if arrays is None else arrays(operands)


def _numpy_side(number: int, operands: Arrays, model: Model, passes: int) -> Callable[[], float]:
    def stretch() -> float:
        few = max(1, passes // 20)
        return clock(lambda: numpy_result(number, operands, model), few) * passes / few

    return stretch
