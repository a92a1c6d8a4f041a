"""The environments of a solver, as its objects share them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from ...base.arguments import on_host
from ...base.batch_numbers import HostNumbers
from ...machine.runtime import Runtime
from ...model.model import Model
from ...rendering.rays.query import RayCaster
from ...run.driver import Driver
from ..queries.distances import DistanceQuery
from .memory import LASTING
from .overrides import Overrides


@dataclass(eq=False)
class Environments:
    """A batch of environments of one model.

    Attributes:
        model: the model that they simulate.
        num_envs: the number of environments.
        runtime: the settings that they were made with.
        driver: keeps their memory, and computes.
        numbers: converts users' numbers to the driver's form.
        overrides: per-environment parameters.
        edits: counts the calls that changed coordinates.
        lasting: fields that a reset leaves as they are (`memory.LASTING`), of those written so far.
    """

    model: Model
    num_envs: int
    runtime: Runtime
    driver: Driver
    numbers: HostNumbers
    overrides: Overrides
    edits: int = 1
    lasting: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.device: torch.device = self.runtime.torch_device
        self.dtype: torch.dtype = self.runtime.torch_dtype

    def chosen(self, envs_idx: Any) -> tuple[Any, int]:
        """Return indices (n,) of environments, None for all, and n; errors as in `as_environments`."""
        index = self.numbers.environments(envs_idx, self.num_envs)
        return index, self.num_envs if index is None else len(index)

    def write(self, name: str, rows: Any, index: Any) -> None:
        """Write a field of memory: numbers in any form, (n, k) or broadcastable to it."""
        if name in LASTING:
            self.lasting.add(name)
        self.driver.write(name, self.numbers.numbers(rows), index)

    def write_columns(self, name: str, columns: np.ndarray, entries: Any, index: Any) -> None:
        """Write single numbers (k,) of a field of memory that exist: (n, k) or broadcastable to it."""
        if name in LASTING:
            self.lasting.add(name)
        self.driver.write_columns(name, columns, entries, index)

    def begin(self, fields: Mapping[str, Any], index: Any) -> None:
        """Write fields of environments that were just reset; their derived quantities then belong to them."""
        for name, rows in fields.items():
            for twin in (name, f"eval_{name}"):
                self.driver.write(twin, self.numbers.numbers(rows), index)

    def own(self, names: Sequence[str], index: Any) -> dict[str, torch.Tensor]:
        """Return the model's numbers that are per-environment parameters, (n, ...) each, by name."""
        return {name: rows.to(self.device, self.dtype) for name, rows in self.own_in_double(names, index).items()}

    def own_in_double(self, names: Sequence[str], index: Any) -> dict[str, torch.Tensor]:
        """Return the results of `own` in double precision, in the processor's memory."""
        known = [name for name in names if name in self.overrides] if self.overrides else []
        return {name: torch.from_numpy(self.overrides.get(name, on_host(index))) for name in known}

    @cached_property
    def input_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of one environment's inputs, by name."""
        mj = self.model.mj
        rows = {"mocap_pos": (int(mj.nmocap), 3), "mocap_quat": (int(mj.nmocap), 4), "xfrc_applied": (int(mj.nbody), 6)}
        return {"ctrl": (int(mj.nu),), "eq_active": (int(mj.neq),), "qfrc_applied": (int(mj.nv),), **rows}

    @cached_property
    def caster(self) -> RayCaster:
        """Casts rays at the geoms; its kernel is compiled, or loaded, when it is first needed."""
        return RayCaster(self.runtime, self.model.mj)

    @cached_property
    def distances(self) -> DistanceQuery:
        """Measures the distances of geoms; its kernel is compiled, or loaded, when it is first needed."""
        return DistanceQuery(self.runtime, self.model, self.device)
