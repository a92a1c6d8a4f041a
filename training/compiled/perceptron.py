"""Networks of torch as compiled functions read them: parameters and Adam's moments in panels, and back."""

import itertools
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


Layer = nn.Module | tuple[nn.Linear, ...]
"""A module of torch; several linear layers of the same input are side by side, each at the head of panels of 8."""


class Activations:
    """The numbers of CHUNK rows in a network, in panels: its input, and values and slopes of each layer."""

    def __init__(self, widths: Sequence[int], x: Tensor | None = None) -> None:
        """Make them for the widths of the input and of each layer; x replaces the input."""
        panels = [-(-width // PANEL) * PANEL for width in widths]
        self.values = [torch.zeros(width * CHUNK) for width in panels]
        self.slopes = [torch.zeros(width * CHUNK) for width in panels[1:]]
        if x is not None:
            self.values[0] = x


class Perceptron:
    """A network: linear layers, an activation after each but the last, and parameters of no layer at the end.

    Attributes:
        tensors: torch's parameters, in the order of the vectors: weights and biases of each layer, and the others.
        widths: of the input and of each layer.
        vectors: parameters and Adam's two moments in panels, float32 (3, count).
        networks: the records NETWORK (groups, fields), for groups of rows with a gradient each.
        others: the index of the first parameter of no layer.
    """

    def __init__(
        self,
        modules: Sequence[Layer],
        groups: int,
        others: Sequence[Tensor] = (),
        activations: Sequence[Activations] = (),
    ) -> None:
        """Prepare a network.

        Args:
            modules: its layers, in order.
            groups: of rows.
            others: parameters of no layer.
            activations: of each group; empty: new ones.
        """
        layers = _linear(modules)
        names = [CLASSES[type(module)] for module in modules if type(module) in CLASSES]
        numbers = [list(ACTIVATIONS).index(name) for name in names] + [len(ACTIVATIONS)]
        self.tensors = [p for layer in layers for part in layer for p in (part.weight, part.bias)] + list(others)
        self.widths = widths_of(modules)
        sizes = list(itertools.pairwise(self.widths))
        starts = np.cumsum([0, *((inputs + 1) * padded(outputs) for inputs, outputs in sizes)])
        self.others = int(starts[-1])
        count = padded(self.others + sum(p.numel() for p in others))
        self.vectors = torch.zeros(3, count)
        index = [places(*size, int(start), layer) for size, start, layer in zip(sizes, starts, layers, strict=False)]
        index.append(np.arange(self.others, self.others + sum(p.numel() for p in others)))
        self._index = torch.from_numpy(np.concatenate(index))  # of torch's numbers in a vector
        self._source = torch.full((count,), len(self._index))  # of a vector's numbers in torch's, and a 0 behind them
        self._source[self._index] = torch.arange(len(self._index))
        transposed = [torch.zeros(padded(inputs) * outputs) for inputs, outputs in sizes]
        self._kept: list[list[Any]] = [transposed]  # addresses of all these tensors are in the records
        activations = activations or [Activations(self.widths) for _ in range(groups)]
        self.networks = np.stack([self._network(sizes, starts, numbers, transposed, some) for some in activations])

    def _network(
        self,
        sizes: list[tuple[int, int]],
        starts: np.ndarray,
        numbers: list[int],
        transposed: list[Tensor],
        activations: Activations,
    ) -> np.ndarray:
        """Return a record NETWORK with rows of activations and a gradient of its own."""
        gradient = torch.zeros(self.vectors.shape[1])
        values, slopes = activations.values, activations.slopes
        table = np.zeros((len(sizes), len(LAYER.fields)), np.int64)
        for k, (inputs, outputs) in enumerate(sizes):
            weights = 4 * int(starts[k])
            biases = weights + 4 * inputs * padded(outputs)
            table[k] = LAYER.pack(
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

    @property
    def gradients(self) -> list[Tensor]:
        """The gradient of each group, in the order of the vectors."""
        return [kept[0] for kept in self._kept[1:]]

    @property
    def whole_gradient(self) -> Tensor:
        """The gradient of all groups, in the order of the vectors, between two phases of an update."""
        return self.gradients[0]

    def gradient(self, group: int = 0) -> list[Tensor]:
        """Return a group's gradient as tensors like `tensors`."""
        return self._unpacked(self.gradients[group])

    def read(self, optimizer: torch.optim.Optimizer | None) -> None:
        """Copy parameters, and an optimizer's moments, from torch."""
        sources = [[p.detach() for p in self.tensors]]
        if optimizer:
            states = [optimizer.state.get(p, {}) for p in self.tensors]
            for name in ("exp_avg", "exp_avg_sq"):
                pairs = zip(states, sources[0], strict=True)
                sources.append([state[name] if state else torch.zeros_like(p) for state, p in pairs])
        for vector, tensors in zip(self.vectors, sources, strict=False):
            flat = torch.cat([*(tensor.flatten() for tensor in tensors), torch.zeros(1)])
            torch.index_select(flat, 0, self._source, out=vector)

    def write(self, optimizer: torch.optim.Optimizer | None, steps: int = 0) -> None:
        """Copy parameters, and an optimizer's moments and number of steps, to torch."""
        for p, value in zip(self.tensors, self._unpacked(self.vectors[0]), strict=True):
            p.data.copy_(value)
        if not optimizer:
            return
        for p, mean, square in zip(self.tensors, *map(self._unpacked, self.vectors[1:]), strict=True):
            state = optimizer.state[p]
            if not state:
                state.update(step=torch.tensor(0.0), exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
            state["step"].fill_(float(steps))
            state["exp_avg"].copy_(mean)
            state["exp_avg_sq"].copy_(square)

    def _unpacked(self, vector: Tensor) -> list[Tensor]:
        parts = vector.index_select(0, self._index).split([p.numel() for p in self.tensors])
        return [part.view_as(p) for part, p in zip(parts, self.tensors, strict=True)]


def widths_of(modules: Sequence[Layer]) -> list[int]:
    """Return the widths of a network's input and of each layer, with gaps between the parts of a layer."""
    layers = _linear(modules)
    outputs = [sum(padded(part.out_features) for part in layer[:-1]) + layer[-1].out_features for layer in layers]
    return [layers[0][0].in_features, *outputs] if layers else []


def _linear(modules: Sequence[Layer]) -> list[tuple[nn.Linear, ...]]:
    return [m if isinstance(m, tuple) else (m,) for m in modules if isinstance(m, tuple | nn.Linear)]


def places(inputs: int, outputs: int, start: int, layer: tuple[nn.Linear, ...]) -> np.ndarray:
    """Return where the weights (outputs, inputs), flat, and then the biases of each part of a layer are in the vector.

    Args:
        inputs: of the layer.
        outputs: columns, with those between the parts.
        start: the index of the layer's first parameter.
        layer: the parts.
    """
    index, first, rows = [], 0, np.arange(inputs)[None]
    for part in layer:
        columns = np.arange(first, first + part.out_features)[:, None]
        panel = columns // PANEL * PANEL
        width = np.minimum(padded(outputs) - panel, PANEL)
        index.append((start + panel * inputs + rows * width + (columns - panel)).ravel())
        index.append(start + inputs * padded(outputs) + columns.ravel())
        first += padded(part.out_features)
    return np.concatenate(index)
