"""Networks of torch as compiled functions read them: parameters and Adam's moments in panels, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .functions import ACTIVATIONS
from .networks import LAYER, NETWORK
from .products import CHUNK, PANEL, padded

CLASSES = {nn.Tanh: "tanh", nn.ReLU: "relu", nn.ELU: "elu", nn.SiLU: "silu"}
"""Names of torch's activations."""


class Perceptron:
    """A network: linear layers, an activation after each but the last, and parameters of no layer at the end.

    Attributes:
        tensors: torch's parameters, in the order of the vectors: weights and biases of each layer, and the others.
        vectors: parameters and Adam's two moments in panels, float32 (3, count).
        networks: the records NETWORK (groups, fields), for groups of rows with a gradient each.
        others: the index of the first parameter of no layer.
    """

    def __init__(self, modules: Sequence[nn.Module], groups: int, others: Sequence[Tensor] = ()) -> None:
        linear = [module for module in modules if isinstance(module, nn.Linear)]
        names = [CLASSES[type(module)] for module in modules if type(module) in CLASSES]
        numbers = [list(ACTIVATIONS).index(name) for name in names] + [len(ACTIVATIONS)]
        self.tensors = [p for layer in linear for p in (layer.weight, layer.bias)] + list(others)
        sizes = [(layer.in_features, layer.out_features) for layer in linear]
        starts = np.cumsum([0, *((inputs + 1) * padded(outputs) for inputs, outputs in sizes)])
        self.others = int(starts[-1])
        count = padded(self.others + sum(p.numel() for p in others))
        self.vectors = torch.zeros(3, count)
        index = [places(*size, int(start)) for size, start in zip(sizes, starts[:-1], strict=True)]
        index.append(np.arange(self.others, self.others + sum(p.numel() for p in others)))
        self._index = torch.from_numpy(np.concatenate(index))
        transposed = [torch.zeros(padded(inputs) * outputs) for inputs, outputs in sizes]
        self._kept: list[list[Any]] = [transposed]  # addresses of all these tensors are in the records
        self.networks = np.stack([self._network(sizes, starts, numbers, transposed) for _ in range(groups)])

    def _network(
        self, sizes: list[tuple[int, int]], starts: np.ndarray, numbers: list[int], transposed: list[Tensor]
    ) -> np.ndarray:
        """Return a record NETWORK with rows of activations and a gradient of its own."""
        gradient = torch.zeros(self.vectors.shape[1])
        panels = [-(-width // PANEL) * PANEL for width in (sizes[0][0], *(outputs for _, outputs in sizes))]
        values = [torch.zeros(width * CHUNK) for width in panels]
        slopes = [torch.zeros(width * CHUNK) for width in panels[1:]]
        layers = []
        for k, (inputs, outputs) in enumerate(sizes):
            weights = 4 * int(starts[k])
            biases = weights + 4 * inputs * padded(outputs)
            layer = LAYER.pack(
                inputs=inputs,
                outputs=outputs,
                activation=numbers[k],
                weights=self.vectors[0].data_ptr() + weights,
                biases=self.vectors[0].data_ptr() + biases,
                weights_gradient=gradient.data_ptr() + weights,
                biases_gradient=gradient.data_ptr() + biases,
                transposed=transposed[k].data_ptr(),
                x=values[k].data_ptr(),
                y=values[k + 1].data_ptr(),
                z=slopes[k].data_ptr(),
            )
            layers.append(layer)
        table = np.stack(layers)
        self._kept.append([gradient, *values, *slopes, table])
        parameters, mean, square = (vector.data_ptr() for vector in self.vectors)
        return NETWORK.pack(
            layers=len(sizes),
            layer=table,
            capacity=CHUNK,
            count=self.vectors.shape[1],
            parameters=parameters,
            gradient=gradient.data_ptr(),
            mean=mean,
            square=square,
            squared_norm=0,
        )

    def gradient(self, group: int = 0) -> list[Tensor]:
        """Return a group's gradient as tensors like `tensors`."""
        return self._unpacked(self._kept[1 + group][0])

    def read(self, optimizer: torch.optim.Optimizer) -> None:
        """Copy parameters and moments from torch."""
        zeros = [torch.zeros_like(p) for p in self.tensors]
        states = [optimizer.state.get(p, {}) for p in self.tensors]
        sources = [[p.detach() for p in self.tensors]]
        for name in ("exp_avg", "exp_avg_sq"):
            sources.append([state.get(name, zero) for state, zero in zip(states, zeros, strict=True)])
        for vector, tensors in zip(self.vectors, sources, strict=True):
            vector[self._index] = torch.cat([tensor.flatten() for tensor in tensors])

    def write(self, optimizer: torch.optim.Optimizer, steps: int) -> None:
        """Copy parameters, moments and the number of steps to torch."""
        for p, value, mean, square in zip(
            self.tensors, *(self._unpacked(vector) for vector in self.vectors), strict=True
        ):
            p.data.copy_(value)
            state = optimizer.state[p]
            if not state:
                state.update(step=torch.tensor(0.0), exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
            state["step"].fill_(float(steps))
            state["exp_avg"].copy_(mean)
            state["exp_avg_sq"].copy_(square)

    def _unpacked(self, vector: Tensor) -> list[Tensor]:
        parts = vector[self._index].split([p.numel() for p in self.tensors])
        return [part.view_as(p) for part, p in zip(parts, self.tensors, strict=True)]


def places(inputs: int, outputs: int, start: int) -> np.ndarray:
    """Return where a layer's weights (outputs, inputs), flat, and then its biases are in the vector of parameters."""
    columns, rows = np.arange(outputs)[:, None], np.arange(inputs)[None]
    panel = columns // PANEL * PANEL
    width = np.minimum(padded(outputs) - panel, PANEL)
    weights = start + panel * inputs + rows * width + (columns - panel)
    return np.concatenate([weights.ravel(), start + inputs * padded(outputs) + np.arange(outputs)])
