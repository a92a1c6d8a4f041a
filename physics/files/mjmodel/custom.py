"""Custom elements of MJCF: numbers and names that MuJoCo keeps and does not read.

A mechanism that MuJoCo does not have gets its model from them: a text that names elements, and numerics with a number
for each of these. A fault of a file raises `CustomElementError`, to which the loader adds the file's name.
"""

import mujoco
import numpy as np

_NUMERIC, _TEXT = int(mujoco.mjtObj.mjOBJ_NUMERIC), int(mujoco.mjtObj.mjOBJ_TEXT)


class CustomElementError(ValueError):
    """A custom element that the mechanism which reads it cannot use."""


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


def named_elements(mjm: mujoco.MjModel, text: str, kind: str) -> np.ndarray:
    """Return the ids (n,) of the elements that a text names, in its order; an empty array if there is no such text.

    Args:
        mjm: the model.
        text: name of the custom text.
        kind: "body", "joint", "geom", "site", "tendon" or "actuator".

    Raises:
        CustomElementError: there is no element of one of the names, or a name stands there twice.
    """
    words, object_type = custom_words(mjm, text), int(getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"))
    ids = np.array([mujoco.mj_name2id(mjm, object_type, word) for word in words], int)
    for place, word in enumerate(words):
        if ids[place] < 0:
            raise CustomElementError(f"custom text '{text}': no {kind} is named '{word}'")
        if word in words[:place]:
            raise CustomElementError(f"custom text '{text}' names {kind} '{word}' twice")
    return ids


def number_of_each(mjm: mujoco.MjModel, name: str, text: str, default: float | None = None) -> np.ndarray:
    """Return a number (n,) for each element that a text names: the numbers of a numeric, or its only one for all.

    Args:
        mjm: the model.
        name: name of the custom numeric.
        text: name of the custom text.
        default: the number of all if there is no such numeric; None: there must be one.

    Raises:
        CustomElementError: the numeric is missing, or has another count of numbers.
    """
    numbers, count = custom_numbers(mjm, name), len(custom_words(mjm, text))
    if not len(numbers) and count:
        if default is None:
            raise CustomElementError(f"custom text '{text}' asks for a custom numeric '{name}', and there is none")
        return np.full(count, default)
    if len(numbers) != count and len(numbers) != 1:
        raise CustomElementError(
            f"custom numeric '{name}' has {len(numbers)} numbers for the {count} names of custom text '{text}'"
        )
    return np.broadcast_to(numbers, count).copy()
