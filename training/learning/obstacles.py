"""Why something of a model of Stable-Baselines3 is not compiled: reasons, and what several models ask for them."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3.common.torch_layers import CombinedExtractor, FlattenExtractor
from torch import nn

from ...physics.machine.codegen.llvm import llvm
from ..compiled.perceptron import CLASSES

logger = logging.getLogger("tumble")


class WithReason:
    """The part that compiled algorithms share: the reason why an update is not compiled."""

    device: torch.device
    _reason: str | None = None

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_reason"]  # type: ignore[misc]

    def reason(self) -> str:
        """Return why the update is not compiled; "" if it is. The logger says it once."""
        if self._reason is None:
            self._reason = next((text for text, applies in self._obstacles() if applies), "")
            if self._reason:
                logger.info("the update is not compiled: %s", self._reason)
        return self._reason

    def _obstacles(self) -> Iterable[tuple[str, bool]]:
        """Return reasons, and whether each applies; a reason is asked for only if those before do not apply."""
        raise NotImplementedError

    def _obstacles_to_networks(
        self, modules: Sequence[nn.Module], optimizers: Sequence[Any]
    ) -> Iterable[tuple[str, bool]]:
        yield "it runs on a GPU", self.device.type != "cpu"
        yield "the networks have layers of other kinds", not all(type(m) in (nn.Linear, *CLASSES) for m in modules)
        yield "the optimizer is not plain Adam", any(_is_special(one, one.param_groups[0]) for one in optimizers)
        yield "this processor has no fused multiply-add", not _has_fma()


def are_rows(space: gym.Space[Any], extractors: Sequence[Any]) -> bool:
    """Say whether networks see rows of numbers, laid side by side if there are several.

    Args:
        space: the observation space.
        extractors: of the networks, Stable-Baselines3's.
    """
    if not isinstance(space, gym.spaces.Dict):
        return all(isinstance(one, FlattenExtractor) for one in extractors) and len(space.shape or ()) == 1
    return all(
        isinstance(one, CombinedExtractor) and all(isinstance(part, nn.Flatten) for part in one.extractors.values())
        for one in extractors
    )


def _is_special(optimizer: Any, group: dict[str, Any]) -> bool:
    """Return whether an optimizer does something else than Adam as it was published."""
    return (
        type(optimizer) is not torch.optim.Adam
        or len(optimizer.param_groups) > 1
        or group["amsgrad"]
        or bool(group["weight_decay"])
        or group["maximize"]
        or tuple(group["betas"]) != (0.9, 0.999)
    )


def _has_fma() -> bool:
    binding = llvm()
    return bool(binding.get_host_cpu_features().get("fma")) or "aarch64" in binding.get_process_triple()
