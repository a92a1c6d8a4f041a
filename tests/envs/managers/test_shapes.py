"""Randomization where environments have shapes, masses and inertias of their own to begin with."""

import copy

import numpy as np

import tumble
from tumble.envs import Randomization, Start, StepResult, Task
from tumble.envs.managers import randomize as dr
from tumble.scene import Scene, morphs


class Boxes(Task):
    """A small box falls in two environments, a large one in the other two; masses are drawn."""

    least: float = 0.5

    def build_scene(self):
        """One entity of two shapes."""
        scene = Scene()
        boxes = [morphs.Box(size=(edge,) * 3, pos=(0, 0, 1)) for edge in (0.1, 0.2)]
        scene.add_entity(boxes, name="box")
        return scene

    def bind(self):
        """Masses at resets and anew at every third step; friction once."""
        terms = dr.mass(self.least, 1.5, when=(0.03, 0.03), name="share"), dr.friction(0.3, 0.9, when="start")
        self.randomization = Randomization(self, *terms)

    def reset(self, noise):
        """Begin with the model's first coordinates."""
        qpos = self.init_qpos + 0 * noise.uniform(0, 1, self.model.nq)
        return Start(qpos, 0 * qpos[:, 1:])

    def reset_after(self, last, noise):
        """With masses of their own."""
        return self.randomization.begin(self.reset(noise), last, noise)

    def observation(self, state):
        """All there is."""
        return state.qpos

    def step(self, state, action):
        """Nothing but what is drawn."""
        state, changes = self.randomization.step(state)
        terms, info = {"reward": state.qpos[:, 2]}, {"share": state.memory["share"]}
        return StepResult(self.observation(state), terms, info=info, memory=state.memory, **changes)


def assert_shares(envs, share, base):
    """Masses and inertias are the shapes' own, times what was drawn."""
    for name, own in base.items():
        found = envs.solver.get_parameters(name).numpy()[:, -1]
        np.testing.assert_allclose(found, own * share.reshape(-1, *[1] * (own.ndim - 1)), rtol=1e-6)


def test_shapes_keep_their_own_masses():
    """They are what a share is of, at resets of all or some, at intervals, after a change of options and in copies."""
    density, edge = 600.0, np.array([0.1, 0.1, 0.2, 0.2])
    mass = density * edge**3
    base = {"body_mass": mass, "body_inertia": (mass * edge**2 / 6)[:, None] * np.ones(3)}
    envs = tumble.make_vec(Boxes, 4, output="numpy", simulator="mujoco", autoreset_mode="DISABLED")
    envs.reset(seed=3)
    drawn = []
    for either in (envs, copy.deepcopy(envs)):
        for mask in ([True] * 4, [False, True, True, False]):
            either.reset(options={"reset_mask": np.array(mask)})
            for _ in range(4):
                share = either.step(np.zeros((4, 0)))[-1]["share"]
                assert_shares(either, share, base)
                drawn.append(share)
    assert len(np.unique(np.concatenate(drawn))) > 10
    envs.set_attr("least", 1.4)
    envs.reset(seed=3)
    share = envs.step(np.zeros((4, 0)))[-1]["share"]
    assert (share > 1.39).all()
    assert_shares(envs, share, base)


def test_copies_have_the_shapes_of_what_they_copy():
    """Sizes, and the masses that a share is of, in later episodes too; a snapshot and a saved state bring them back."""
    options = {"output": "numpy", "simulator": "mujoco", "autoreset_mode": "DISABLED"}
    envs, other, one = (tumble.make_vec(Boxes, count, **options) for count in (4, 4, 1))
    envs.reset(seed=3)
    before, edge = envs.snapshot(), np.array([0.1, 0.1, 0.2, 0.2])

    def require(found, edges):
        """Play another episode; return what was seen."""
        found.reset()
        for _ in range(4):
            *seen, info = found.step(np.zeros((4, 0)))
            assert_shares(found, info["share"], {"body_mass": 600.0 * edges**3})
        np.testing.assert_allclose(found.solver.get_parameters("geom_size")[:, -1, 0], edges / 2, rtol=1e-12)
        return [*seen, info["share"]]

    require(envs, edge)
    envs.branch(0, [1, 3])
    copied = np.array([0.1, 0.1, 0.2, 0.1])
    seen = require(envs, copied)
    assert all(np.array_equal(part[0], part[3]) for part in seen)
    other.load_state_dict(envs.state_dict())
    for mine, theirs in zip(require(envs, copied), require(other, copied), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    envs.restore(before)
    require(envs, edge)
    one.reset(seed=8)
    envs.restore(one.snapshot(), [2])
    require(envs, np.array([0.1, 0.1, 0.1, 0.2]))
    for each in (envs, other, one):
        each.close()
