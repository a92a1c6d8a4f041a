"""What tests of the GPU driver share."""

import pytest
import torch

import tumble
from tumble.physics.run.taichi_kernel import TaichiKernel

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
    for name in ("__call__", "bind"):
        method = getattr(TaichiKernel, name)

        def with_near(kernel, given, *rows, method=method):
            assert len({t.device.type for t in given if isinstance(t, torch.Tensor)}) == 1
            return method(kernel, [near(t).contiguous() if isinstance(t, torch.Tensor) else t for t in given], *rows)

        monkeypatch.setattr(TaichiKernel, name, with_near)
    return register()
