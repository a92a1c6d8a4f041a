"""Custom elements of MJCF: numbers and names that MuJoCo keeps and does not read."""

import mujoco
import numpy as np

_NUMERIC, _TEXT = int(mujoco.mjtObj.mjOBJ_NUMERIC), int(mujoco.mjtObj.mjOBJ_TEXT)


def custom_numbers(mjm: mujoco.MjModel, name: str) -> np.ndarray:
    """Return the numbers (n,) of `<custom><numeric name="..." data="..."/>`; none if there is no such element."""
    k = mujoco.mj_name2id(mjm, _NUMERIC, name)
    if k < 0:
        return np.zeros(0)
    first = mjm.numeric_adr[k]
    return np.array(mjm.numeric_data[first : first + mjm.numeric_size[k]], np.float64)


def custom_words(mjm: mujoco.MjModel, name: str) -> list[str]:
    """Return the words of `<custom><text name="..." data="..."/>`; none if there is no such element."""
    k = mujoco.mj_name2id(mjm, _TEXT, name)
    if k < 0:
        return []
    first = mjm.text_adr[k]
    return bytes(mjm.text_data[first : first + mjm.text_size[k]]).split(b"\0")[0].decode().split()
