"""One kernel for most models: code that a model does not need loops over nothing, and changes no result of it.

Kernels are what tests spend their time on. The slow proofs take each model's own kernel.
"""

from dataclasses import replace

from tumble.physics.model.features import Features

WIDE = dict.fromkeys(
    (
        *("ball_joints", "hulls", "solids", "pairs_by_hand", "joint_forces", "friction_loss", "equality"),
        *("tendons", "spatial_tendons", "wrapping", "tendon_armature", "activation"),
    ),
    True,
)
"""Optional code that does no harm where nothing asks for it."""
_of = Features.of


def wide_features(model, single):
    """The features of a model, and all of these."""
    return replace(_of(model, single), **WIDE)


def share_kernels() -> None:
    """From here on, in this process, let solvers be made with them."""
    Features.of = staticmethod(wide_features)  # type: ignore[method-assign]
