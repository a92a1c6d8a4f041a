"""Learn to reach a goal with sparse rewards, with hindsight and without; draw the share of successes over the steps."""

import argparse

import numpy as np
import stable_baselines3 as sb3
from matplotlib.figure import Figure
from stable_baselines3.common.callbacks import BaseCallback

import tumble
from tumble.training.sb3_bridge import TumbleVecEnv

parser = argparse.ArgumentParser()
parser.add_argument("--task", default="ArmReachGoal")
parser.add_argument("--steps", type=int, default=60_000)
parser.add_argument("--every", type=int, default=4_000)
parser.add_argument("--seeds", nargs="*", type=int, default=[1])
asked = parser.parse_args()


class Successes(BaseCallback):
    """Now and then, play an episode in each of 100 environments; keep the share that ends at its goal."""

    def __init__(self):
        super().__init__()
        self.judge = TumbleVecEnv(tumble.make_vec(asked.task, 100))
        self.curve = []  # (steps, share)

    def _on_step(self):
        if self.num_timesteps % asked.every == 0:
            self.judge.seed(10_000)
            seen, over = self.judge.reset(), np.zeros(100, bool)
            while not over.any():  # all episodes have the same length
                actions, _ = self.model.predict(seen, deterministic=True)
                seen, rewards, over, _ = self.judge.step(actions)
            self.curve.append((self.num_timesteps, float((rewards == 0).mean())))
            print(*self.curve[-1], flush=True)
        return True


def learnt(hindsight, seed):
    """The curve of one run: SAC, a replay buffer with the goals that were reached instead, or one without."""
    replay = {"replay_buffer_class": sb3.HerReplayBuffer} if hindsight else {}
    envs, judge = TumbleVecEnv(tumble.make_vec(asked.task, 8)), Successes()
    model = sb3.SAC(
        "MultiInputPolicy",
        envs,
        learning_starts=1_000,
        gradient_steps=4,
        learning_rate=1e-3,
        ent_coef="auto_0.05",
        gamma=0.95,
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
        **replay,
    )
    model.learn(asked.steps, callback=judge)
    envs.close()
    judge.judge.close()
    return np.array(judge.curve)


figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
for label, hindsight, color in (("with hindsight", True, "C0"), ("without", False, "C1")):
    curves = [learnt(hindsight, seed) for seed in asked.seeds]
    steps, shares = curves[0][:, 0], np.array([curve[:, 1] for curve in curves])
    axes.plot(steps, shares.mean(axis=0), color=color, label=label)
    axes.fill_between(steps, shares.min(axis=0), shares.max(axis=0), color=color, alpha=0.2)
    print(f"{label:15}", *(f"{share:.2f}" for share in shares[:, -1]), flush=True)
axes.set(title=f"{asked.task}, SAC", xlabel="environment steps", ylabel="successes", ylim=(0, 1.02))
axes.grid(alpha=0.3)
axes.legend()
figure.savefig("hindsight.png", dpi=90)
