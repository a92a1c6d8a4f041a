"""The sources of the environments of a check: given ones, Gymnasium's registry, or a user's function."""

import inspect
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from .outcomes import NotApplicable

ASKED = ("autoreset_mode", "max_episode_steps", "render_mode")
"""The arguments that checks ask for; a source that cannot give it says so."""


class Source:
    """The base of sources.

    Attributes:
        name: the name of the environments in reports.
        makes: True if the source can make further ones, which the check must close.
    """

    name: str
    makes = True

    def __init__(self) -> None:
        self.made: list[VectorEnv] = []

    def make(self, **asked: Any) -> VectorEnv:
        """Make vector environments with some of `ASKED`.

        Raises:
            NotApplicable: that cannot be asked of them.
        """
        try:
            envs = self._make(asked)
        except NotApplicable:
            raise
        except Exception as error:
            if not asked:
                raise
            words = ", ".join(f"{name}={value}" for name, value in asked.items())
            first = (str(error).strip() or "no message").splitlines()[0][:160]
            raise NotApplicable(f"they cannot be made with {words} ({type(error).__name__}: {first})") from error
        require_vector(envs)
        self.made.append(envs)
        return envs

    def _make(self, asked: dict[str, Any]) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        """Close all that were made."""
        for envs in self.made:
            if not getattr(envs, "closed", False):
                envs.close()


class Given(Source):
    """Environments that a user made; they are checked as they are, and never closed."""

    makes = False

    def __init__(self, envs: VectorEnv) -> None:
        super().__init__()
        self.name, self._envs = str(envs), envs

    def make(self, **asked: Any) -> VectorEnv:
        """Return the given environments.

        Raises:
            NotApplicable: others are asked for.
        """
        if asked:
            raise NotApplicable("environments were given, and these checks make some: give an id or a function")
        return self._envs


class Registered(Source):
    """An id of Gymnasium's registry, with options of `gymnasium.make_vec`."""

    def __init__(self, identity: str, options: dict[str, Any]) -> None:
        super().__init__()
        words = "".join(f", {name}={value!r}" for name, value in options.items() if name != "num_envs")
        self.name, self._id, self._options = f"{identity}{words}", identity, options
        self._of_singles: bool | None = None

    def _make(self, asked: dict[str, Any]) -> Any:
        options, asked = dict(self._options), dict(asked)
        if "autoreset_mode" in asked:
            if self._of_singles is None:
                envs = self.make()
                self._of_singles = isinstance(envs.unwrapped, SyncVectorEnv | AsyncVectorEnv)
            if self._of_singles:
                mode = {"autoreset_mode": asked.pop("autoreset_mode")}
                options["vector_kwargs"] = {**options.get("vector_kwargs", {}), **mode}
        return gymnasium.make_vec(self._id, **(options | asked))


class Factory(Source):
    """A function that makes vector environments; arguments in its signature may be passed."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__()
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function, self._options = function, options
        parameters = inspect.signature(function).parameters
        anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        self._takes = set(ASKED) if anything else set(parameters)

    def _make(self, asked: dict[str, Any]) -> Any:
        if missing := [name for name in asked if name not in self._takes]:
            raise NotApplicable(f"the function takes no {' and no '.join(missing)}")
        return self._function(**self._options, **asked)


def source_of(envs: Any, options: dict[str, Any]) -> Source:
    """Return the source that a user's argument stands for.

    Raises:
        TypeError: it is neither vector environments, nor an id, nor a function.
    """
    if isinstance(envs, VectorEnv):
        if wrong := sorted(set(options) - {"num_envs"}):
            raise TypeError(f"options {wrong} are for an id or a function; environments were given")
        return Given(envs)
    if isinstance(envs, str):
        return Registered(envs, options)
    if callable(envs):
        signature = inspect.signature(envs).parameters
        passed = {name: value for name, value in options.items() if name != "num_envs" or name in signature}
        return Factory(envs, passed)
    raise TypeError(
        f"envs: expected a gymnasium VectorEnv, an id such as 'CartPole-v1', or a function that makes one, not "
        f"{type(envs).__name__}"
    )


def require_vector(envs: Any) -> None:
    """Raise unless the value is a vector environment.

    Raises:
        TypeError: it is of another type; the message names it.
    """
    if not isinstance(envs, VectorEnv):
        raise TypeError(f"expected a gymnasium.vector.VectorEnv, and this is {type(envs).__name__}")
