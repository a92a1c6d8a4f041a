"""Networks in compiled functions: a pass forward, a pass backward, and Adam.

The parameters of a network are one vector: for each layer its weights in panels (`products.py`), then its biases, as
many as the panels have columns; then numbers of no layer, such as the logarithms of standard deviations. Gradient and
moments are vectors of the same order. Numbers between the columns and the end of a panel are 0, and stay 0.
"""

from ...physics.machine.codegen.words import DOUBLE, FLOAT, FLOATS, INT, Function, Module, Record, array_of
from .products import Products

LAYER = Record(
    "Layer",
    inputs=INT,
    outputs=INT,
    activation=INT,  # index in ACTIVATIONS; their number: none, as in the last layer
    weights=FLOATS,
    biases=FLOATS,
    weights_gradient=FLOATS,
    biases_gradient=FLOATS,
    transposed=FLOATS,  # of the weights
    x=FLOATS,  # its input (rows, inputs), in panels
    y=FLOATS,  # its output
    z=FLOATS,  # the slope of the activation at y, and later that of the loss in front of the activation
)
NETWORK = Record(
    "Network",
    layers=INT,
    layer=array_of(LAYER),
    capacity=INT,  # rows of x, y, z
    count=INT,  # of parameters, a multiple of 8
    parameters=FLOATS,
    gradient=FLOATS,
    mean=FLOATS,  # Adam's moments of the gradient
    square=FLOATS,
    squared_norm=DOUBLE,  # of the gradient
)
OPTIMIZER = Record("Optimizer", scale=DOUBLE, rate=DOUBLE, root=DOUBLE, epsilon=DOUBLE)
"""The numbers of one step of Adam: the factor of the gradient that limits its norm; the rate divided by 1 - beta1^k; 1
divided by the square root of 1 - beta2^k; epsilon."""
BETA_1, BETA_2 = 0.9, 0.999
LANES = 8
"""Numbers of a vector of parameters that are updated at a time."""


class Networks:
    """The compiled functions.

    Attributes:
        forward: fill y and z of all layers for the first n rows of the first layer's x.
        backward: add to the gradient, for the slopes z of the last layer.
        transpose: renew the transposed weights, after a change of parameters.
        clear: set a vector of n numbers to 0.
        add: add a vector of n numbers to another.
        norm: set `squared_norm`.
        adam: take a step.
    """

    def __init__(self, module: Module, products: Products) -> None:
        self.forward = _forward(module, products)
        self.backward = _backward(module, products)
        self.transpose = _transpose(module, products)
        self.clear = _clear(module)
        self.add = _add(module)
        self.norm = _norm(module)
        self.adam = _adam(module)


def _forward(module: Module, products: Products) -> Function:
    with module.function("forward", network=NETWORK, n=INT) as (f, network, n):
        capacity, layers = network.capacity, network.layer
        with f.loop(0, network.layers) as k:
            layer = layers[k]
            x, inputs, weights, outputs = layer.x, layer.inputs, layer.weights, layer.outputs
            biases, y, z, activation = layer.biases, layer.y, layer.z, layer.activation
            for number, product in enumerate(products.forward):
                with f.when(activation.equals(number)):
                    f.call(product, x, capacity, n, inputs, weights, outputs, biases, y, z)
    return f


def _backward(module: Module, products: Products) -> Function:
    with module.function("backward", network=NETWORK, n=INT) as (f, network, n):
        capacity, layers, count = network.capacity, network.layer, network.layers
        with f.loop(0, count) as i:
            k = count - 1 - i
            layer = layers[k]
            x, z, inputs, outputs = layer.x, layer.z, layer.inputs, layer.outputs
            gw, gb = layer.weights_gradient, layer.biases_gradient
            f.call(products.gradient, x, z, capacity, n, inputs, outputs, gw, gb)
            with f.when(k > 0):
                below = layers[k - 1].z
                f.call(products.backward, z, capacity, n, outputs, layer.transposed, inputs, z, below, below)
    return f


def _transpose(module: Module, products: Products) -> Function:
    write = module.function("transpose_all", public=True, network=NETWORK)
    with write as (f, network), f.loop(1, network.layers) as k:
        layer = network.layer[k]
        f.call(products.transpose, layer.weights, layer.transposed, layer.inputs, layer.outputs)
    return f


def _clear(module: Module) -> Function:
    with module.function("clear", x=FLOATS, n=INT) as (f, x, n):
        zero = f.constant(0.0, FLOAT.vector(LANES))
        with f.loop(0, n, LANES) as i:
            f.store(x + i, zero)
    return f


def _add(module: Module) -> Function:
    with module.function("add", x=FLOATS, y=FLOATS, n=INT) as (f, x, y, n), f.loop(0, n, LANES) as i:
        f.store(x + i, x.vector(i, LANES) + y.vector(i, LANES))
    return f


def _norm(module: Module) -> Function:
    """Write the sum of the gradient's squares: lanes of doubles, which are added."""
    with module.function("norm", network=NETWORK) as (f, network):
        gradient, lanes = network.gradient, DOUBLE.vector(LANES)
        sums = f.variable(lanes, 0.0)
        with f.loop(0, network.count, LANES) as i:
            g = f.convert(gradient.vector(i, LANES), DOUBLE)
            sums.set(f.fma(g, g, sums.value))
        network.squared_norm = f.sum(sums.value)
    return f


def _adam(module: Module) -> Function:
    """Write m <- m + (1 - b1)(g - m), v <- b2 v + (1 - b2) g^2, p <- p - rate m / (root sqrt(v) + epsilon).

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1. `rate` and `root` have its
    corrections for the start; g is the gradient times `scale`.
    """
    with module.function("adam", network=NETWORK, optimizer=OPTIMIZER) as (f, network, optimizer):
        scale, rate, root, epsilon = (
            f.splat(f.convert(x, FLOAT), LANES)
            for x in (optimizer.scale, optimizer.rate, optimizer.root, optimizer.epsilon)
        )
        parameters, gradient, mean, square = network.parameters, network.gradient, network.mean, network.square
        with f.loop(0, network.count, LANES) as i:
            g, m, v = gradient.vector(i, LANES) * scale, mean.vector(i, LANES), square.vector(i, LANES)
            m = f.fma(g - m, 1 - BETA_1, m)
            v = f.fma(g * g, 1 - BETA_2, v * BETA_2)
            f.store(mean + i, m)
            f.store(square + i, v)
            change = rate * m / f.fma(f.sqrt(v), root, epsilon)
            f.store(parameters + i, parameters.vector(i, LANES) - change)
    return f
