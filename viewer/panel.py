"""The panel: a person's requests to the loop. Callbacks leave jobs, which the loop does between two frames."""

import re
from collections.abc import Callable
from typing import Any

import mujoco

from .session import BY_HAND, Session
from .sliders import Do, JointSliders, control_sliders

SPEEDS = {"1/16": 1 / 16, "1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "1": 1.0, "2": 2.0, "4": 4.0}
SPEEDS["as fast as it goes"] = float("inf")
ALL = "side by side"
MOST_LETTERS = 400
"""Letters of an error that the page shows."""


class Panel:
    """Buttons, choices and sliders.

    Attributes:
        playing: True while time passes.
        steps: frames to take while it does not.
        speed: simulated seconds a second; infinite for no limit.
        env: the environment that sliders, curves and contacts are for.
    """

    def __init__(self, server: Any, session: Session, do: Do, rearrange: Callable[[], None], playing: bool) -> None:
        self._gui, self._session, self._do, self._rearrange = server.gui, session, do, rearrange
        self.playing, self.steps, self.speed, self.env = playing, 0, 1.0, 0
        self.side_by_side = session.num_envs > 1
        self.reset_wanted: Callable[[], None] = lambda: None
        tabs = server.gui.add_tab_group()
        with tabs.add_tab("Run"):
            self._run()
            self._problem = server.gui.add_markdown("", visible=False)
            self.status = server.gui.add_markdown("")
            self.plots_place = server.gui.add_folder("Curves")
        with tabs.add_tab("Move"):
            self._move()
        self.show_tab = tabs.add_tab("Show")
        with tabs.add_tab("Model"):
            server.gui.add_markdown(summary(session.mj))
            server.gui.add_markdown(tree(session.mj))

    def _run(self) -> None:
        gui = self._gui
        self._play = gui.add_button("Pause" if self.playing else "Play", color="teal")
        step = gui.add_button_group("or", ("Step", "Reset"))
        speed = self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1")
        self._play.on_click(lambda _: self._do(lambda: self.play(not self.playing)))
        step.on_click(lambda _: self._do(self._one_step if step.value == "Step" else lambda: self.reset_wanted()))
        speed.on_update(lambda _: self._do(lambda: self._set_speed(speed.value)))
        if self._session.num_envs > 1:
            names = [ALL, *(f"environment {i}" for i in range(self._session.num_envs))]
            choice = gui.add_dropdown("show", names, initial_value=ALL)
            choice.on_update(lambda _: self._do(lambda: self._choose(names.index(choice.value) - 1)))
        self._way: Any = None
        if len(self._session.ways) > 1:
            self._way = gui.add_dropdown("actions", self._session.ways, initial_value=self._session.way)
            self._way.on_update(lambda _: self._do(self._set_way))

    def _move(self) -> None:
        session, gui = self._session, self._gui
        gui.add_markdown("Drag a body with the left button to pull it.")
        if len(session.controls[0]):
            with gui.add_folder("Controls"):
                control_sliders(gui, session, lambda: self.env, self._do, self._by_hand)
        with gui.add_folder("Joints"):
            self.joints = JointSliders(gui, session, lambda: self.env, self._do)
        if session.mj.nkey:
            names = [session.mj.key(k).name or f"key {k}" for k in range(session.mj.nkey)]
            with gui.add_folder("Keyframes"):
                key = gui.add_dropdown("keyframe", names, initial_value=names[0])
                go = gui.add_button("Go there")
            go.on_click(lambda _: self._do(lambda: session.to_keyframe(names.index(key.value), self.env)))

    def play(self, on: bool) -> None:
        """Start or stop time."""
        self.playing = on
        self._play.label = "Pause" if on else "Play"

    def _one_step(self) -> None:
        self.play(False)
        self.steps += 1

    def pace(self, speed: float) -> None:
        """Set the speed, and the choice of it if it is one of the offered ones."""
        for name, offered in SPEEDS.items():
            if offered == speed:
                self._speed.value = name
        self.speed = speed

    def _set_speed(self, name: str) -> None:
        self.speed = SPEEDS[name]

    def _choose(self, env: int) -> None:
        self.side_by_side, self.env = env < 0, max(env, 0)
        self._rearrange()

    def _set_way(self) -> None:
        ways = self._session.ways
        self._session.way = ways[ways.index(self._way.value)]

    def tell(self, error: Exception | None) -> None:
        """Show an error above the other words of the page; None: it shows none any more."""
        self._problem.visible = error is not None
        if error is not None:
            self._problem.content = f"**{type(error).__name__}**: {escaped(str(error)[:MOST_LETTERS])}"

    def _by_hand(self) -> None:
        if self._way is not None and self._way.value != BY_HAND:
            self._way.value = BY_HAND


MOST_LINES = 300


def escaped(text: str) -> str:
    """Return markdown that shows a text literally: the page would otherwise run HTML in it."""
    return re.sub(r"[^A-Za-z0-9 .-]", lambda letter: f"&#{ord(letter[0])};", text)


def summary(mj: mujoco.MjModel) -> str:
    """Return the sizes of a model, as markdown."""
    sizes = {"bodies": mj.nbody - 1, "joints": mj.njnt, "dofs": mj.nv, "geoms": mj.ngeom, "controls": mj.nu}
    sizes |= {"sensors": mj.nsensor, "equalities": mj.neq, "tendons": mj.ntendon}
    words = ", ".join(f"{count} {name}" for name, count in sizes.items() if count)
    return f"**{escaped(_name(mj))}**: {words}; step {1000 * mj.opt.timestep:g} ms"


def tree(mj: mujoco.MjModel) -> str:
    """Return the bodies of a model as a nested list in markdown."""
    depth = [0] * mj.nbody
    lines = []
    for b in range(1, mj.nbody):
        depth[b] = depth[mj.body_parentid[b]] + 1
        joints = range(mj.body_jntadr[b], mj.body_jntadr[b] + mj.body_jntnum[b]) if mj.body_jntnum[b] else ()
        kinds = [f"{escaped(mj.joint(j).name or str(j))} ({_kind(mj, j)})" for j in joints]
        facts = [f"{mj.body_mass[b]:.3g} kg"]
        facts += [", ".join(kinds)] if kinds else []
        facts += [f"{mj.body_geomnum[b]} geoms"] if mj.body_geomnum[b] else []
        lines.append(f"{'  ' * (depth[b] - 1)}- **{escaped(mj.body(b).name or f'body {b}')}**: {'; '.join(facts)}")
    left = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"- and {left} more"] if left > 0 else []))


def state(solver: object, mj: mujoco.MjModel, env: int) -> str:
    """Return the time of an environment and the speed of its fastest dof, in words."""
    time = float(solver.time[env])  # type: ignore[attr-defined]
    qvel = solver.qvel[env]  # type: ignore[attr-defined]
    speed = float(qvel.abs().max()) if mj.nv else 0.0
    return f"time {time:.2f} s, fastest dof {speed:.2f} rad/s or m/s"


def _name(mj: mujoco.MjModel) -> str:
    return mj.names[: mj.names.index(0)].decode(errors="replace") or "model"


def _kind(mj: mujoco.MjModel, joint: int) -> str:
    return mujoco.mjtJoint(mj.jnt_type[joint]).name.removeprefix("mjJNT_").lower()
