"""Sliders for the controls and joints of the chosen environment."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from .session import Session

MOST_SLIDERS = 80
_SHORT = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}
_REACH = {int(mujoco.mjtJoint.mjJNT_HINGE): np.pi, int(mujoco.mjtJoint.mjJNT_SLIDE): 3.0}
"""Reach of a slider for a joint without a range: rad, m."""
Do = Callable[[Callable[[], None]], None]


def control_sliders(gui: Any, session: Session, chosen: Callable[[], int], do: Do, by_hand: Callable[[], None]) -> None:
    """Add a slider for each control; one that is moved takes the controls over (`by_hand`).

    Args:
        gui: viser's.
        session: takes the values.
        chosen: returns the environment that they are for.
        do: has a job done between two frames.
        by_hand: is called when a slider is moved.
    """
    names, low, high = session.controls
    for i, name in enumerate(names[:MOST_SLIDERS]):
        start = float(session.wanted[0, i])
        step = float((high[i] - low[i]) / 200)
        slider = gui.add_slider(name, float(low[i]), float(high[i]), step, start)

        def moved(event: Any, i: int = i) -> None:
            if event.client is None:
                return  # set by the program
            slider, value = event.target, event.target.value

            def write() -> None:
                session.want(chosen(), i, _within(slider, value))
                by_hand()

            do(write)

        slider.on_update(moved)


class JointSliders:
    """A slider for each hinge and slide, which shows where the joint is, and moves it."""

    def __init__(self, gui: Any, session: Session, chosen: Callable[[], int], do: Do) -> None:
        self._session, self._chosen = session, chosen
        self._sliders: list[tuple[int, Any]] = []
        mj = session.mj
        for j in [j for j in range(mj.njnt) if int(mj.jnt_type[j]) in _SHORT][:MOST_SLIDERS]:
            reach = _REACH[int(mj.jnt_type[j])]
            low, high = mj.jnt_range[j] if mj.jnt_limited[j] else (-reach, reach)
            address = int(mj.jnt_qposadr[j])
            start = float(np.clip(mj.qpos0[address], low, high))
            name = mj.joint(j).name or f"joint {j}"
            slider = gui.add_slider(name, float(low), float(high), float((high - low) / 200), start)

            def moved(event: Any, address: int = address) -> None:
                if event.client is not None:
                    slider, value = event.target, event.target.value
                    do(lambda: session.set_joint(chosen(), address, _within(slider, value)))

            slider.on_update(moved)
            self._sliders.append((address, slider))

    def update(self) -> None:
        """Set the sliders to the joints' coordinates."""
        if not self._sliders:
            return
        qpos = self._session.solver.qpos[self._chosen()].double().cpu().numpy()
        for address, slider in self._sliders:
            value = round(float(np.clip(qpos[address], slider.min, slider.max)), 4)
            if abs(value - slider.value) > slider.step:
                slider.value = value


def _within(slider: Any, value: Any) -> float:
    """Return a value that a page gave a slider, kept within its bounds.

    Raises:
        ValueError: it is not finite.
    """
    if not np.isfinite(float(value)):
        raise ValueError(f"the slider {slider.label!r} was set to {value}")
    return float(np.clip(float(value), slider.min, slider.max))
