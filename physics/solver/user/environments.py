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
from .overrides import Fields, Overrides


@dataclass(eq=False)
class Environments:
    """A batch of environments of one model.

    Attributes:
        model: what they simulate.
        num_envs: how many there are.
        runtime: the settings that they were made with.
        driver: keeps their memory, and computes.
        numbers: brings users' numbers into the driver's form.
        overrides: numbers of the model that they have of their own.
        edits: counts the calls that changed coordinates.
        lasting: fields that a reset leaves as they are (`memory.LASTING`), of those written so far.
        share: True once numbers that they share are where the model's were.
        differing: True once the driver has numbers of each.
    """

    model: Model
    num_envs: int
    runtime: Runtime
    driver: Driver
    numbers: HostNumbers
    overrides: Overrides
    edits: int = 1
    lasting: set[str] = field(default_factory=set)
    share: bool = False
    differing: bool = False

    def __post_init__(self) -> None:
        self.device: torch.device = self.runtime.torch_device
        self.dtype: torch.dtype = self.runtime.torch_dtype

    def chosen(self, envs_idx: Any) -> tuple[Any, int]:
        """Return indices (n,) of environments, None for all, and n; errors are those of `as_environments`."""
        index = self.numbers.environments(envs_idx, self.num_envs)
        return index, self.num_envs if index is None else len(index)

    def write(self, name: str, rows: Any, index: Any) -> None:
        """Write a field of memory: numbers in any form, (n, k) or what broadcasts to that."""
        if name in LASTING:
            self.lasting.add(name)
        self.driver.write(name, self.numbers.numbers(rows), index)

    def write_columns(self, name: str, columns: np.ndarray, entries: Any, index: Any) -> None:
        """Write single numbers (k,) of a field of memory that exist: (n, k) or what broadcasts to that."""
        if name in LASTING:
            self.lasting.add(name)
        self.driver.write_columns(name, columns, entries, index)

    def begin(self, fields: Mapping[str, Any], index: Any) -> None:
        """Write fields of environments that were just reset; their derived quantities then belong to them."""
        for name, rows in fields.items():
            for twin in (name, f"eval_{name}"):
                self.driver.write(twin, self.numbers.numbers(rows), index)

    def own(self, names: Sequence[str], index: Any) -> dict[str, torch.Tensor]:
        """Return those of the model's numbers that environments have of their own, (n, ...) each, by name."""
        return {name: rows.to(self.device, self.dtype) for name, rows in self.own_in_double(names, index).items()}

    def own_in_double(self, names: Sequence[str], index: Any) -> dict[str, torch.Tensor]:
        """Return what `own` does in double precision, in the processor's memory."""
        known = [name for name in names if name in self.overrides] if self.overrides else []
        return {name: torch.from_numpy(self.overrides.get(name, on_host(index))) for name in known}

    def checked_parameters(self, parameters: Mapping[str, Any], index: Any) -> dict[str, np.ndarray]:
        """Return a user's numbers for the environments `index`; errors are those of `Parameters.set`."""
        self.runtime.require()
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters: expected numbers by name, as in a dict, not {type(parameters).__name__}")
        return self.overrides.checked(parameters, on_host(index))

    def set_env_parameters(self, given: Mapping[str, np.ndarray], index: Any) -> None:
        """Give the environments `index` numbers that `checked_parameters` returned."""
        self.put(*self.overrides.set(given, on_host(index)), index)

    def put(self, fields: Fields, anew: bool, index: Any) -> None:
        """Let launches read what `Overrides.set` or `load` returned for the environments `index`."""
        if self._share(index):
            self.share = True
        elif anew or not self.differing:
            self.driver.set_env_parameters(self.overrides.fields(), self.overrides.features())
            self.differing = True
            return
        self.driver.write_own(fields, index)

    def _share(self, index: Any) -> bool:
        """Return True if numbers of the environments `index` go where the model's are, which needs no other kernel.

        All environments must have the same numbers. The first call for some of them is likely to be followed by calls
        for others, with other numbers.
        """
        if self.differing or not self.overrides.alike:
            return False
        everyone = index is None or self.num_envs == 1
        return self.share or (everyone and not self.driver.prefers(self.overrides.features()))

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
