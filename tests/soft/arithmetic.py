"""Numpy as the arithmetic of laws and shapes."""

import numpy as np


class Numpy:
    """The functions that laws call, on arrays."""

    sqrt, abs, exp, log1p, expm1 = np.sqrt, np.abs, np.exp, np.log1p, np.expm1
    minimum, maximum, select = np.minimum, np.maximum, np.where
