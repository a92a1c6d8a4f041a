"""What tests of the GPU driver share."""

import pytest
import torch

import tumble
from tumble.physics.run.columns.gpu_launch import ColumnKernel

from .far_device import near, register


@pytest.fixture
def afterwards():
    """Later tests in this process make their solvers of the runtime that they find."""
    yield
    tumble.init(precision="32")


@pytest.fixture
def far(monkeypatch, afterwards):
    """The device `far_device`; kernels get the addresses of the numbers themselves, as on a GPU.

    All of a kernel's tensors have to be on one device: Taichi would copy those of the processor at every launch.
    """
    for name in ("__call__", "prepare"):
        method = getattr(ColumnKernel, name)

        def with_near(kernel, given, method=method):
            if method.__name__ == "__call__":
                assert len({t.device.type for t in given if isinstance(t, torch.Tensor)}) == 1
            method(kernel, [near(t).contiguous() if isinstance(t, torch.Tensor) else t for t in given])

        monkeypatch.setattr(ColumnKernel, name, with_near)
    return register()
