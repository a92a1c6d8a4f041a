"""Jacobians of a step by MJX on JAX, in a Python that has both: `python mjx_peer.py FILE NUM_ENVS ROUNDS`.

Tumble's own Python need not have JAX, so `gradients` starts this file with another one, from a file in MJCF and a file
of states. It prints JSON: seconds of each round for the Jacobians of all environments, and the seconds to compile.
"""

import json
import sys
import time

import jax  # type: ignore[import-not-found]
import mujoco
import numpy as np
from mujoco import mjx


def main() -> None:
    """Time the Jacobians, and print them."""
    file, states, rounds = sys.argv[1], np.load(sys.argv[2]), int(sys.argv[3])
    jax.config.update("jax_enable_x64", True)
    mjm = mujoco.MjModel.from_xml_path(file)
    mjm.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model, start = mjx.put_model(mjm), mjx.make_data(mjm)

    def step(qpos: jax.Array, qvel: jax.Array, ctrl: jax.Array) -> tuple[jax.Array, jax.Array]:
        end = mjx.step(model, start.replace(qpos=qpos, qvel=qvel, ctrl=ctrl))
        return end.qpos, end.qvel

    jacobians = jax.jit(jax.vmap(jax.jacfwd(step, argnums=(0, 1, 2))))
    inputs = states["qpos"], states["qvel"], states["ctrl"]
    began = time.perf_counter()
    found = jax.block_until_ready(jacobians(*inputs))
    compiling = time.perf_counter() - began
    seconds = []
    for _ in range(rounds):
        began = time.process_time()
        jax.block_until_ready(jacobians(*inputs))
        seconds.append(time.process_time() - began)
    finite = all(bool(np.isfinite(np.asarray(part)).all()) for part in jax.tree_util.tree_leaves(found))
    print(json.dumps({"seconds": seconds, "compiling": compiling, "finite": finite}))


if __name__ == "__main__":
    main()
