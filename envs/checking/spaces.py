"""Checks of descriptions of vector environments: attributes, spaces, metadata."""

import numbers

import gymnasium
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .outcomes import Check, Failed, check
from .subject import Subject
from .trees import shown

_SPACES = ("observation_space", "single_observation_space", "action_space", "single_action_space")


@check(
    "attributes",
    requires="num_envs is a whole number above 0, and four attributes are gymnasium spaces: observation_space, "
    "action_space, and both with single_ in front",
    because="VectorEnv documents num_envs and the four spaces as what users read to understand the implementation",
)
def attributes(subject: Subject) -> str:
    """Read the attributes."""
    envs = subject.envs
    count = getattr(envs, "num_envs", None)
    if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
        raise Failed(f"num_envs is {count!r}", "set num_envs to the number of environments")
    for name in _SPACES:
        if not isinstance(space := getattr(envs, name, None), gymnasium.Space):
            raise Failed(f"{name} is {shown(space)}", f"set {name} to a gymnasium.Space")
    return f"num_envs={count}"


def _batched(name: str) -> Check:
    """Make the check of a batched space, "observation" or "action"."""

    def run(subject: Subject) -> str:
        envs = subject.envs
        single, space = getattr(envs, f"single_{name}_space"), getattr(envs, f"{name}_space")
        wanted = batch_space(single, envs.num_envs)
        if space == wanted:
            return f"{_brief(space)} of {_brief(single)}"
        if name == "observation" and type(space) is type(wanted) and is_space_dtype_shape_equiv(space, wanted):
            return "of the same shapes and types; the bounds differ between environments"
        raise Failed(
            f"{name}_space is {_brief(space)}; of {envs.num_envs} times {_brief(single)} it is {_brief(wanted)}",
            f"set {name}_space = gymnasium.vector.utils.batch_space(single_{name}_space, num_envs)",
        )

    return check(
        f"batched {name} space",
        requires=f"{name}_space is the batch of num_envs times single_{name}_space",
        because=f"VectorEnv documents {name}_space as the batched space of the vector environment and "
        f"single_{name}_space as that of a sub-environment; batch_space makes one of the other",
        needs=("attributes",),
    )(run)


batched_observation_space, batched_action_space = _batched("observation"), _batched("action")


@check(
    "autoreset mode",
    requires="metadata['autoreset_mode'] is a member of gymnasium.vector.AutoresetMode",
    because="VectorEnv: the mode used by a vector environment should be available in metadata['autoreset_mode'], as "
    "learners have to know it; make_vec warns where it is missing",
)
def autoreset_mode(subject: Subject) -> str:
    """Read the mode."""
    metadata = subject.envs.metadata
    if not isinstance(metadata, dict) or "autoreset_mode" not in metadata:
        raise Failed(
            f"metadata has no 'autoreset_mode': {shown(metadata)}",
            "set metadata['autoreset_mode'] to a member of AutoresetMode; with a copy of the class's metadata, if "
            "instances differ",
        )
    mode = metadata["autoreset_mode"]
    if not isinstance(mode, AutoresetMode):
        raise Failed(f"metadata['autoreset_mode'] is {mode!r}", "use the member, such as AutoresetMode.NEXT_STEP")
    return mode.name


@check(
    "render modes",
    requires="metadata['render_modes'] is a list of names, and render_mode is None or one of them",
    because="Gymnasium's metadata lists the render modes that make and make_vec may ask for",
)
def render_modes(subject: Subject) -> str:
    """Compare the mode with the list."""
    metadata, mode = subject.envs.metadata or {}, subject.envs.render_mode
    modes = metadata.get("render_modes", [])
    if not isinstance(modes, list | tuple) or not all(isinstance(name, str) for name in modes):
        raise Failed(f"metadata['render_modes'] is {modes!r}", "list the names of the render modes")
    if mode is not None and mode not in modes:
        raise Failed(f"render_mode is {mode!r}, and metadata['render_modes'] {list(modes)}", "list this mode too")
    return f"{mode} of {list(modes)}"


def _brief(space: gymnasium.Space) -> str:
    """Describe a space by its kind, shape and type."""
    if isinstance(space, gymnasium.spaces.Dict):
        return "Dict(" + ", ".join(f"{name}: {_brief(part)}" for name, part in space.items()) + ")"
    if isinstance(space, gymnasium.spaces.Tuple):
        return "Tuple(" + ", ".join(_brief(part) for part in space) + ")"
    if isinstance(space, gymnasium.spaces.Box):
        return f"Box({space.shape}, {space.dtype})"
    return shown(space)


CHECKS = (attributes, batched_observation_space, batched_action_space, autoreset_mode, render_modes)
