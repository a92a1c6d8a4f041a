"""Model-predictive path integral control (Williams et al., 2017): plan in copies of an environment, step, repeat."""

import numpy as np

import tumble


class Planner:
    """Plans for environment 0 of a batch in copies of it.

    Args:
        task: what is planned in.
        samples: environments, each of which tries one sequence of actions.
        horizon: environment steps of a sequence.
        knots: places of a sequence at which noise is drawn; between them it is interpolated.
        sigma: standard deviation of the noise, of the actions' unit.
        temperature: how much a worse return counts, in standard deviations of the returns: near 0 the best one wins.
    """

    def __init__(self, task, samples=256, horizon=50, knots=8, sigma=0.6, temperature=0.2, seed=0):
        self.envs = tumble.make_vec(task, samples, autoreset_mode="NEXT_STEP", output="numpy")
        space, self.sigma, self.temperature = self.envs.single_action_space, sigma, temperature
        self.low, self.high = space.low, space.high
        self.mean = np.zeros((horizon, *space.shape), np.float32)
        self.rng, self.samples, self.knots = np.random.default_rng(seed), samples, knots
        place = np.linspace(0, knots - 1, horizon)
        near = np.minimum(place.astype(int), knots - 2)
        self.blend = np.zeros((horizon, knots), np.float32)  # (horizon, knots): linear interpolation
        self.blend[np.arange(horizon), near] = 1 - (place - near)
        self.blend[np.arange(horizon), near + 1] = place - near
        self.envs.reset(seed=seed)

    def plan(self):
        """Improve the mean sequence from where environment 0 is; return the return that is expected of it."""
        envs, n = self.envs, self.samples
        drawn = self.rng.standard_normal((n, self.knots, self.mean.shape[1]), np.float32)
        tried = np.clip(self.mean + self.sigma * np.einsum("hk,nka->nha", self.blend, drawn), self.low, self.high)
        tried[0] = self.mean
        here, returns, alive = envs.snapshot(0), np.zeros(n), np.ones(n, bool)
        envs.branch(0)
        for step in range(tried.shape[1]):
            _, reward, terminated, _, _ = envs.step(tried[:, step])
            returns += alive * reward
            alive &= ~terminated
        envs.restore(here)
        weights = np.exp((returns - returns.max()) / (self.temperature * returns.std() + 1e-9))
        weights /= weights.sum()
        self.mean = np.einsum("n,nha->ha", weights, tried)
        return returns @ weights

    def act(self):
        """Plan, take the first action in environment 0, and shift the plan; return what the step returned there."""
        self.plan()
        observation, reward, terminated, _, info = self.envs.step(np.repeat(self.mean[:1], self.samples, axis=0))
        self.mean = np.concatenate((self.mean[1:], self.mean[-1:]))
        return observation[0], reward[0], terminated[0], {name: value[0] for name, value in info.items()}
