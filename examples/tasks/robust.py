"""QuadrupedFlat with one thing at a time that differs from episode to episode."""

import tumble
from tumble.envs import DelayedAction, EncoderBias, Push, Wrench
from tumble.envs.managers import randomize as dr
from tumble.envs.walking.quadruped import QuadrupedFlat

# The draws by name; s is the strength.
DRAWN = {
    "friction": lambda s: dr.friction(0.6 * 3.0**-s, 0.6 * 2.0**s, operation="abs", shared=True),
    "mass": lambda s: dr.mass(-1.5 * s, 5.0 * s, "trunk", operation="add"),  # kg
    "com": lambda s: dr.com(-0.06 * s, 0.06 * s, "trunk", operation="add"),  # m
    "inertia": lambda s: dr.inertia("trunk", alpha=(-0.2 * s, 0.2 * s), d=(-0.2 * s, 0.2 * s)),
    "kp": lambda s: dr.kp(1 - 0.35 * s, 1 + 0.35 * s, shared=True),
    "kv": lambda s: dr.kv(1 - 0.45 * s, 1 + s, shared=True),
    "motor_strength": lambda s: dr.motor_strength(1 - 0.35 * s, 1.0),
    "armature": lambda s: dr.armature(1.0, 1 + 3 * s, shared=True),
    "damping": lambda s: dr.damping(0.0, 1.0 * s, operation="add", shared=True),  # N m s/rad
    "gravity": lambda s: dr.gravity((-1.5 * s, -1.5 * s, -1.5 * s), (1.5 * s, 1.5 * s, 1.5 * s), operation="add"),
    "push": lambda s: Push(speed=(0.0, 1.5 * s), when=(2.0, 4.0)),  # m/s
    "wrench": lambda s: Wrench("trunk", force=(-40 * s, 40 * s), when=(2.0, 4.0), duration=(0.2, 1.0)),  # N
}


class Robust(QuadrupedFlat):
    """Differs by `term`: a name in `DRAWN`, or encoder, delay or noise."""

    term: str = ""
    strength: float = 0.0

    def on(self, term):
        """Whether this is what differs, and by how much."""
        return self.strength if term == self.term else 0.0

    def randomization_terms(self):
        """One draw, or none."""
        return [DRAWN[self.term](self.strength)] if self.on(self.term) and self.term in DRAWN else []

    def bind(self):
        """Encoders that are off by up to 0.06 rad, and actions that are late by up to 2 steps of 20 ms."""
        super().bind()
        bias, self.encoder, self.delayed = 0.06 * self.on("encoder"), None, None
        if bias:
            self.encoder = EncoderBias(self, -bias, bias)
        if self.on("delay"):
            self.delayed = DelayedAction(self, 0, round(2 * self.strength))

    def reset_after(self, last, noise):
        """Draw bias and delay, too."""
        start = super().reset_after(last, noise)
        memory = self.encoder.begin(noise) if self.encoder else {}
        memory |= self.delayed.begin(noise, 0 * start.qpos[:, 7:]) if self.delayed else {}
        return start._replace(memory={**start.memory, **memory})

    def control(self, state, action):
        """Targets as the servos take them."""
        targets = super().control(state, self.delayed.acting(state, action) if self.delayed else action)
        return self.encoder.targets(state, targets) if self.encoder else targets

    def observed(self, now, state):
        """What is seen, with the encoders' bias and noise on measurements."""
        if self.encoder:
            now = now._replace(offset=now.offset + state.memory[self.encoder.name])
        seen, level = super().observed(now, state), self.on("noise")
        if not level:
            return seen
        parts = [(3, 0.15), (3, 0.3), (3, 0.08), (12, 0.02), (12, 2.0)]  # velocities, gravity, joints and their speeds
        noise = [scale * level * self.array(state.noise.uniform(-1, 1, width)) for width, scale in parts]
        return self.xp.concat((seen[:, :33] + self.xp.concat(noise, axis=1), seen[:, 33:]), axis=1)

    def step(self, state, action):
        """Remember the action for later."""
        return super().step(self.delayed.step(state, action) if self.delayed else state, action)


tumble.register("me/Robust-v0", Robust, max_episode_steps=1000)
