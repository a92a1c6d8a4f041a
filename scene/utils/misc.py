"""Arrays of tensors."""

from typing import Any

import numpy as np
import torch


def tensor_to_array(x: torch.Tensor, dtype: Any = None) -> np.ndarray:
    """Return a tensor as an array of numpy, wherever it is, in a given type of numpy's, or in its own."""
    return np.asarray(x.detach().cpu(), dtype)


def tensor_to_cpu(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor in the memory of the processor, without gradients."""
    return x.detach().cpu()
