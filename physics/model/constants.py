"""Constants that follow from a model's numbers, computed by `mj_setConst` for one environment after the other."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from .condition import WORST, condition, conditions, evaluate_mass
from .model import Model
from .parameters import PARAMETERS


class Constants:
    """Computes constants of many environments with a copy of the model that it edits.

    Args:
        model: the model from which the environments differ.
        single: True if the solver uses single precision, for which it needs `condition`.
    """

    def __init__(self, model: Model, single: bool) -> None:
        self._mjm = model.editable()
        self._data = mujoco.MjData(self._mjm)
        self._scale = 0.0
        if single and self._mjm.nv:
            self._scale = float(model.values["condition"][0]) / condition(self._mjm, self._data)

    def derive(self, names: Sequence[str], numbers: Mapping[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
        """Return constants by name, (count, *shape) each.

        Args:
            names: `parameters.constants_of` the changed parameters; `condition` is computed only in single precision.
            numbers: the changed parameters, (count, *shape) each.
            count: number of environments.

        Raises:
            ValueError: MuJoCo cannot change such a number of this model; this object cannot be used afterwards.
        """
        # views of the copy's fields: some to set, and some to read after mj_setConst
        given = {name: numbers[name] for name in numbers if name in PARAMETERS and PARAMETERS[name].derives}
        targets = {name: getattr(self._mjm, name) for name in given}
        sources = {name: getattr(self._mjm, name) for name in names if name != "condition"}
        found = {name: np.zeros((count, *array.shape)) for name, array in sources.items()}
        masses = np.zeros((count, len(self._data.M))) if self._scale and "condition" in names else None
        for env in range(count):
            for name, target in targets.items():
                target[:] = given[name][env]
            try:
                mujoco.mj_setConst(self._mjm, self._data)
            except mujoco.FatalError as error:
                raise ValueError(
                    f"body_ipos, body_iquat: {error}; a model from its file or from an MjSpec is compiled so anyway"
                ) from error
            for name, source in sources.items():
                found[name][env] = source
            if masses is not None:
                self._data.qpos[:] = self._mjm.qpos0
                evaluate_mass(self._mjm, self._data)
                masses[env] = self._data.M
        if masses is not None:
            # the expected values are the ones at qpos0 times the model's ratio of the largest to the one at qpos0
            found["condition"] = np.minimum(self._scale * conditions(self._mjm, masses), WORST)[:, None]
        return found
