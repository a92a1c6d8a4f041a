"""Names of Meta-World's tasks, and which of them its sets have."""

from typing import NamedTuple

from ..nearest import nearest

KINDS = {
    "assembly-v3": "tools.SawyerAssembly",
    "basketball-v3": "grasping.SawyerBasketball",
    "bin-picking-v3": "grasping.SawyerBinPicking",
    "box-close-v3": "grasping.SawyerBoxClose",
    "button-press-topdown-v3": "buttons.SawyerButtonPressTopdown",
    "button-press-topdown-wall-v3": "buttons.SawyerButtonPressTopdownWall",
    "button-press-v3": "buttons.SawyerButtonPress",
    "button-press-wall-v3": "buttons.SawyerButtonPressWall",
    "coffee-button-v3": "buttons.SawyerCoffeeButton",
    "coffee-pull-v3": "grasping.SawyerCoffeePull",
    "coffee-push-v3": "grasping.SawyerCoffeePush",
    "dial-turn-v3": "turning.SawyerDialTurn",
    "disassemble-v3": "tools.SawyerDisassemble",
    "door-close-v3": "doors.SawyerDoorClose",
    "door-lock-v3": "doors.SawyerDoorLock",
    "door-open-v3": "doors.SawyerDoorOpen",
    "door-unlock-v3": "doors.SawyerDoorUnlock",
    "hand-insert-v3": "grasping.SawyerHandInsert",
    "drawer-close-v3": "doors.SawyerDrawerClose",
    "drawer-open-v3": "doors.SawyerDrawerOpen",
    "faucet-open-v3": "turning.SawyerFaucetOpen",
    "faucet-close-v3": "turning.SawyerFaucetClose",
    "hammer-v3": "tools.SawyerHammer",
    "handle-press-side-v3": "buttons.SawyerHandlePressSide",
    "handle-press-v3": "buttons.SawyerHandlePress",
    "handle-pull-side-v3": "buttons.SawyerHandlePullSide",
    "handle-pull-v3": "buttons.SawyerHandlePull",
    "lever-pull-v3": "turning.SawyerLeverPull",
    "pick-place-wall-v3": "sweeping.SawyerPickPlaceWall",
    "pick-out-of-hole-v3": "grasping.SawyerPickOutOfHole",
    "pick-place-v3": "grasping.SawyerPickPlace",
    "plate-slide-v3": "plates.SawyerPlateSlide",
    "plate-slide-side-v3": "plates.SawyerPlateSlideSide",
    "plate-slide-back-v3": "plates.SawyerPlateSlideBack",
    "plate-slide-back-side-v3": "plates.SawyerPlateSlideBackSide",
    "peg-insert-side-v3": "pegs.SawyerPegInsertSide",
    "peg-unplug-side-v3": "pegs.SawyerPegUnplugSide",
    "soccer-v3": "sweeping.SawyerSoccer",
    "stick-push-v3": "tools.SawyerStickPush",
    "stick-pull-v3": "tools.SawyerStickPull",
    "push-v3": "sweeping.SawyerPush",
    "push-wall-v3": "sweeping.SawyerPushWall",
    "push-back-v3": "sweeping.SawyerPushBack",
    "reach-v3": "reaching.SawyerReach",
    "reach-wall-v3": "reaching.SawyerReachWall",
    "shelf-place-v3": "grasping.SawyerShelfPlace",
    "sweep-into-v3": "sweeping.SawyerSweepInto",
    "sweep-v3": "sweeping.SawyerSweep",
    "window-open-v3": "doors.SawyerWindowOpen",
    "window-close-v3": "doors.SawyerWindowClose",
}
"""By Meta-World's names of the tasks, in its order: module and class."""

_TEN = (
    "reach push pick-place door-open drawer-open drawer-close button-press-topdown peg-insert-side window-open "
    "window-close"
)
_TWENTY_FIVE = (
    f"{_TEN} coffee-pull pick-out-of-hole disassemble pick-place-wall basketball stick-pull button-press-wall "
    "faucet-open door-lock lever-pull sweep-into faucet-close coffee-button button-press-topdown-wall dial-turn"
)
_TEN_TO_MEET = (
    "reach push pick-place door-open drawer-close button-press-topdown peg-insert-side window-open sweep basketball"
)
_FORTY_FIVE = (
    "assembly basketball button-press-topdown button-press-topdown-wall button-press button-press-wall coffee-button "
    "coffee-pull coffee-push dial-turn disassemble door-close door-open drawer-close drawer-open faucet-open "
    "faucet-close hammer handle-press-side handle-press handle-pull-side handle-pull lever-pull pick-place-wall "
    "pick-out-of-hole push-back pick-place plate-slide plate-slide-side plate-slide-back plate-slide-back-side "
    "peg-insert-side peg-unplug-side soccer stick-push stick-pull push-wall push reach-wall reach shelf-place "
    "sweep-into sweep window-open window-close"
)


class TaskSet(NamedTuple):
    """The tasks of a set, by their names without the version."""

    train: str
    test: str = ""


SETS = {
    "MT10": TaskSet(_TEN),
    "MT25": TaskSet(_TWENTY_FIVE),
    "MT50": TaskSet(" ".join(name.removesuffix("-v3") for name in KINDS)),
    "ML10": TaskSet(_TEN_TO_MEET, "drawer-open door-close shelf-place sweep-into lever-pull"),
    "ML25": TaskSet(_TWENTY_FIVE, "basketball door-close shelf-place sweep button-press"),
    "ML45": TaskSet(_FORTY_FIVE, "bin-picking box-close hand-insert door-lock door-unlock"),
}
"""Sets of several tasks, which are in the order of their environments."""


def members(name: str, split: str = "train", env_name: str | None = None) -> list[str]:
    """Return the names of a set's tasks, in its order.

    Args:
        name: of the set, such as "MT10"; "MT1" and "ML1" have the task `env_name`.
        split: "train" or "test".
        env_name: such as "reach-v3".

    Raises:
        ValueError: there is no such set, split or task.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split={split!r}: there is 'train' and 'test'")
    if name in ("MT1", "ML1"):
        if (name, split) == ("MT1", "test"):
            raise ValueError("MT1 has no tasks to test on")
        if env_name not in KINDS:
            raise ValueError(f"{name} has one task, env_name={env_name!r}; there {nearest(str(env_name), KINDS)}")
        return [env_name]
    if env_name is not None:
        raise ValueError(f"env_name={env_name!r}: only MT1 and ML1 have it, not {name}")
    if name not in SETS:
        raise ValueError(f"no set {name!r}; there are MT1, ML1, {', '.join(SETS)}")
    found = getattr(SETS[name], split).split()
    if not found:
        raise ValueError(f"{name} has no tasks to test on")
    return [f"{member}-v3" for member in found]


def is_multi_task(name: str) -> bool:
    """Return True for sets whose observations have the goal, MT1 to MT50; False for those for meta-learning."""
    return name.startswith("MT")
