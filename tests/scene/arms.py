"""A scene with joints of all kinds for tests of entities, and MuJoCo at the states of its environments."""

import mujoco
import numpy as np

import tumble.scene as gs

ARM = """<mujoco model="arm"><compiler angle="radian"/>
<default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="base" pos="0 0 .6"><geom type="box" size=".1 .1 .05"/>
  <body name="upper" pos="0 0 .1">
    <joint name="turn" axis="0 0 1" damping=".2" armature=".01" range="-2 2" limited="true"/>
    <geom name="rod" type="capsule" size=".04 .2" pos=".2 0 0" euler="0 1.57 0"/>
    <body name="fore" pos=".4 0 .1">
      <joint name="reach" type="slide" axis="1 0 .2" stiffness="30" springref=".1" damping="1"/>
      <joint name="bend" axis="0 1 0" pos="0 .02 0" frictionloss=".3" stiffness="2" actuatorfrcrange="-3 4"/>
      <geom type="capsule" size=".03 .15" pos=".15 0 0" euler="0 1.57 0"/>
      <body name="wrist" pos=".3 0 0"><joint name="wrist" type="ball" damping=".05" stiffness=".4"/>
        <inertial pos=".05 .01 0" mass=".4" diaginertia=".003 .002 .0015" euler=".3 .2 .1"/>
        <geom type="sphere" size=".05" pos=".05 0 0" contype="1" conaffinity="1"/>
        <geom type="ellipsoid" size=".02 .03 .04" pos=".1 0 0"/>
      </body></body></body></body>
</worldbody></mujoco>"""


def arm_scene(folder, n_envs, spacing=(0.0, 0.0)):
    """A plane, the arm, a box and a ball, in so many environments."""
    path = folder / "arm.xml"
    path.write_text(ARM)
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.004))
    scene.add_entity(gs.morphs.Plane(), name="floor")
    scene.add_entity(gs.morphs.MJCF(file=path, pos=(0.5, -0.2, 0), euler=(0, 0, 30)), name="arm")
    scene.add_entity(gs.morphs.Box(size=(0.2, 0.3, 0.4), pos=(0, 2, 0.5), euler=(10, 20, 30)), name="box")
    scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, -2, 0.09)), gs.materials.Rigid(rho=500), name="ball")
    scene.build(n_envs=n_envs, env_spacing=spacing)
    return scene


def scatter(scene, seed=0):
    """Give all environments random states near the file's; return qpos and qvel, (n, numbers) each."""
    mj, count, rng = scene.rigid_solver.model.mj, scene.rigid_solver.num_envs, np.random.default_rng(seed)
    qpos = mj.qpos0 + 0.2 * rng.standard_normal((count, mj.nq))
    for joint, kind in enumerate(mj.jnt_type):
        if kind < 2:  # free or ball
            place = mj.jnt_qposadr[joint] + (3 if kind == 0 else 0)
            qpos[:, place : place + 4] /= np.linalg.norm(qpos[:, place : place + 4], axis=1, keepdims=True)
    ball = scene.get_entity("ball")
    qpos[:, ball.q_start + 2] = 0.095  # it touches the floor
    qvel = rng.standard_normal((count, mj.nv))
    scene.rigid_solver.set_state(qpos, qvel)
    return qpos, qvel


def twins(scene, change=None):
    """MuJoCo's data of every environment, evaluated at its state; `change` (model, data, env) comes before that."""
    solver, found = scene.rigid_solver, []
    for env in range(solver.num_envs):
        model = solver.model.editable()
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = solver.qpos[env].numpy(), solver.qvel[env].numpy()
        if change is not None:
            change(model, data, env)
        mujoco.mj_forward(model, data)
        found.append((model, data))
    return found
