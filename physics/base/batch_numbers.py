"""Users' numbers on their way to a driver: numpy arrays for one on the processor, tensors on its device for another.

Tensors that are on the device already stay there.
"""

from typing import Any

import numpy as np
import torch

from .arguments import as_environments, real_array, require_finite, require_start


class HostNumbers:
    """Arrays of numpy.

    Args:
        dtype: the solver's precision.
    """

    _device: torch.device | None = None

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = np.dtype(np.float32 if dtype == torch.float32 else np.float64)

    def numbers(self, value: Any, name: str = "numbers") -> Any:
        """Return an array of the solver's precision; a view if it is one already. A number too large becomes infinite.

        Raises:
            ValueError: the value has no real numbers; the message begins with `name`.
        """
        if isinstance(value, np.ndarray) and value.dtype == self._dtype:
            return value
        with np.errstate(over="ignore"):
            return real_array(name, value).astype(self._dtype, copy=False)

    def rows(self, name: str, value: Any, count: int, width: int) -> Any:
        """Numbers (count, width), or (width,) for everyone.

        Raises:
            ValueError: for a wrong shape, naming the expected one.
        """
        rows = self.numbers(value, name)
        if tuple(rows.shape) not in ((count, width), (width,)):
            raise ValueError(f"{name}: expected shape ({count}, {width}), got {tuple(rows.shape)}")
        return rows

    def side_by_side(self, count: int, qpos: Any, qvel: Any, nv: int) -> Any:
        """Qpos and qvel, rows or one row for all, as (count, nq + nv); no qvel is zero."""
        rows = np.zeros((count, qpos.shape[-1] + nv), self._dtype)
        rows[:, : qpos.shape[-1]] = qpos
        if qvel is not None:
            rows[:, qpos.shape[-1] :] = qvel
        return rows

    def require_start(self, rows: Any, nq: int, largest: float) -> None:
        """Refuse a start that is not finite, or larger than any state may be; errors as in `require_start`."""
        require_start(rows, nq, largest)

    def require_finite(self, name: str, rows: Any) -> None:
        """Refuse numbers that are not finite; errors as in `require_finite`."""
        require_finite(name, rows)

    def environments(self, envs_idx: Any, num_envs: int) -> Any:
        """Environment indices (k,) on the driver's side; None for all; errors as in `as_environments`."""
        return as_environments(envs_idx, num_envs, self._device)


class DeviceNumbers(HostNumbers):
    """Tensors on a device.

    Args:
        dtype: the solver's precision.
        device: where the solver's numbers are.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(dtype)
        self._torch_dtype, self._device = dtype, device

    def numbers(self, value: Any, name: str = "numbers") -> torch.Tensor:
        """Return a tensor of the solver's precision; errors as in `HostNumbers.numbers`."""
        if not isinstance(value, torch.Tensor) or value.is_meta or value.is_complex():
            value = super().numbers(value, name)
        return torch.as_tensor(value, dtype=self._torch_dtype, device=self._device).detach()

    def side_by_side(self, count: int, qpos: torch.Tensor, qvel: torch.Tensor | None, nv: int) -> torch.Tensor:
        """Qpos and qvel, rows or one row for all, as (count, nq + nv); no qvel is zero."""
        nq = qpos.shape[-1]
        rows = torch.zeros((count, nq + nv), dtype=self._torch_dtype, device=self._device)
        rows[:, :nq] = qpos
        if qvel is not None:
            rows[:, nq:] = qvel
        return rows

    def require_start(self, rows: torch.Tensor, nq: int, largest: float) -> None:
        """Refuse a start that is not finite, or larger than any state may be; this waits for the device."""
        if not bool((rows.abs() <= largest).all()):
            require_start(rows.cpu().numpy(), nq, largest)

    def require_finite(self, name: str, rows: torch.Tensor) -> None:
        """Refuse numbers that are not finite; this waits for the device."""
        if not bool(rows.isfinite().all()):
            require_finite(name, rows.cpu().numpy())


def numbers_for(device: torch.device, dtype: torch.dtype, columns: bool) -> HostNumbers:
    """Return the form in which a driver takes its numbers: in columns, on its device."""
    return DeviceNumbers(dtype, device) if columns else HostNumbers(dtype)
