"""Gymnasium's vector wrappers are refused with what to do instead where the environments inside cannot serve them.

Those wrappers are numpy code, and those of observations do not know SAME_STEP. Around environments that they cannot
serve they would fail later, inside numpy or torch, or with words that do not say what to do. All of them but one read
the autoreset mode or the render modes from the environments' metadata when they are made; so the metadata refuses them.
`DictInfoToList` reads nothing then; it is found among the callers of the first `reset`.

Stable-Baselines3 refuses vector environments in words of its own, in which only the name of their class is ours; so
that name says how they are taken.
"""

import sys
from abc import ABCMeta
from types import FrameType
from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.vector_env import VectorObservationWrapper
from gymnasium.wrappers import vector
from gymnasium.wrappers.vector.array_conversion import ArrayConversion

from ..physics.process import normal_mode

_NUMPY_CODE = (
    vector.NormalizeObservation,
    vector.NormalizeReward,
    vector.RecordEpisodeStatistics,
    vector.VectorizeTransformObservation,  # and what derives from it, such as FlattenObservation
)
_FILMS = (vector.HumanRendering, vector.RecordVideo)
_OURS = ("NormalizeObservation", "NormalizeReward", "RecordEpisodeStatistics")  # what tumble.wrappers has as well
_MODE = "autoreset_mode"
_ASKED = (_MODE, "render_modes")  # the keys that a wrapper of Gymnasium reads while it is made


class VectorKind(ABCMeta):
    """The class of the classes of vector environments and their wrappers; `repr` adds what SB3's error lacks."""

    def __repr__(cls) -> str:
        """Return the class's name, and what Stable-Baselines3 takes in the place of its objects."""
        bridge = "tumble.training.sb3_bridge.TumbleVecEnv(envs)"
        return f"<class '{cls.__module__}.{cls.__qualname__}', which Stable-Baselines3 takes as {bridge}>"


class Metadata(dict[str, Any]):
    """The metadata of vector environments, which refuses wrappers of Gymnasium that would fail."""

    def __getitem__(self, key: str) -> Any:
        """Read a value; a wrapper of Gymnasium that is being made gets it only if it can work."""
        if key in _ASKED:
            _check(sys._getframe(1))
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Read a value like [], with a default."""
        if key in _ASKED:
            _check(sys._getframe(1))
        return super().get(key, default)


def _check(asking: FrameType) -> None:
    """Refuse the constructor of a wrapper of Gymnasium that cannot work on these environments.

    Args:
        asking: the frame of the function that reads the metadata; nothing is refused unless it is such a constructor.

    Raises:
        ValueError: the wrapper cannot work; the message says what it needs, and what there is instead.
    """
    wrapper = asking.f_locals.get("self")
    inside = asking.f_code.co_name == "__init__" and asking.f_globals.get("__name__", "").startswith("gymnasium.")
    if not inside or not isinstance(wrapper, VectorWrapper):
        return
    name, envs, converted = type(wrapper).__name__, wrapper.env, False
    while isinstance(envs, VectorWrapper):
        envs, converted = envs.env, converted or isinstance(envs, ArrayConversion)
    if isinstance(wrapper, _FILMS):
        _check_pictures(name, envs)
    metadata = dict(envs.metadata)
    lacking = []
    if isinstance(wrapper, _NUMPY_CODE) and metadata.get("torch") and not converted:
        lacking.append("output='numpy'")
    modes = _modes(wrapper)
    if metadata[_MODE] not in modes:
        lacking.append(f"autoreset_mode={' or '.join(repr(mode.name) for mode in modes)}")
    if lacking:
        instead = f"tumble.wrappers.{name} works on them as they are; or " if name in _OURS else ""
        raise ValueError(
            f"Gymnasium's {name} cannot work on these environments ({metadata[_MODE].name}, "
            f"{'torch' if metadata.get('torch') else 'numpy'} output): {instead}make them with {', '.join(lacking)}"
        )


def check_reset(metadata: dict[str, Any]) -> None:
    """Refuse a reset that comes through `DictInfoToList`, which takes infos apart in numpy, where they are torch's.

    Called by the `reset` of environments: its callers, innermost first, are the `reset` of the wrappers around it.

    Args:
        metadata: of the environments that are reset.

    Raises:
        ValueError: with what it needs.
    """
    if not metadata.get("torch"):
        return
    caller: FrameType | None = sys._getframe(1)
    while caller is not None and (caller.f_code.co_name == "reset" or caller.f_globals is vars(normal_mode)):
        wrapper = caller.f_locals.get("self")
        if isinstance(wrapper, ArrayConversion):
            return
        if isinstance(wrapper, vector.DictInfoToList):
            raise ValueError(
                "Gymnasium's DictInfoToList cannot work on these environments (torch output): make them with "
                "output='numpy'"
            )
        caller = caller.f_back


def _modes(wrapper: VectorWrapper) -> tuple[AutoresetMode, ...]:
    """The autoreset modes that a wrapper of Gymnasium knows."""
    if isinstance(wrapper, vector.NormalizeObservation):
        return (AutoresetMode.NEXT_STEP,)
    if isinstance(wrapper, VectorObservationWrapper):
        return (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)
    return tuple(AutoresetMode)


def _check_pictures(name: str, envs: VectorEnv) -> None:
    """Refuse the wrapper `name`, which shows all environments, where `render` pictures only some."""
    shown = len(getattr(envs, "render_envs", range(envs.num_envs)))
    if envs.render_mode is not None and shown != envs.num_envs:
        raise ValueError(
            f"{name} wants a picture of each of the {envs.num_envs} environments, and render() shows {shown}: "
            f"make them with render_envs=range({envs.num_envs}), or show fewer environments"
        )
