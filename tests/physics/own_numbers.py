"""Environments with model numbers of their own, and a compiled MuJoCo model for each: `set_parameters`' oracle."""

import mujoco
import numpy as np

XML = """<mujoco>
<compiler angle="radian"/>
<option timestep="0.002" integrator="implicitfast"><flag island="enable"/></option>
<worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.8"/>
  <camera name="follows" mode="trackcom" pos="0 -3 1"/>
  <body name="trunk" pos="0 0 0.35">
    <freejoint/>
    <geom type="capsule" size="0.1 0.15" quat="0.9 0.1 0.4 0"/>
    <camera name="rides" mode="track" pos="0 -2 0.5"/>
    <body name="hip" pos="0.3 0 0" quat="0.95 0.1 0.2 0">
      <joint name="hip" axis="0 1 0" pos="-0.05 0 0" range="-0.4 0.3" limited="true" stiffness="3" damping="0.4"
       armature="0.02" springref="0.2" ref="0.1" actuatorfrcrange="-4 5" frictionloss="0.4"/>
      <geom type="capsule" size="0.06 0.1" pos="0.1 0 0" quat="0.7 0 0.7 0.1"/>
      <body name="foot" pos="0.3 0 -0.05">
        <joint name="ankle" type="ball" range="0 0.5" limited="true" stiffness="1.5" damping="0.1" armature="0.01"
         frictionloss="0.05"/>
        <geom type="sphere" size="0.08" pos="0.03 0.02 -0.05" condim="4"/>
        <site name="foot" pos="0.05 0 0"/>
      </body>
    </body>
    <body name="rod" pos="-0.2 0.1 0" gravcomp="0.5">
      <joint name="slide" type="slide" axis="0 0.2 1" range="-0.1 0.1" limited="true" damping="1" margin="0.01"/>
      <geom type="cylinder" size="0.05 0.12" contype="0" conaffinity="2"/>
      <site name="rod" pos="0 0 0.1"/>
    </body>
  </body>
  <geom name="floor2" type="plane" size="5 5 1" pos="0 0 -0.05" contype="2" conaffinity="0" condim="1"/>
  <body name="crate" pos="1 0 0.1">
    <freejoint/>
    <geom type="box" size="0.1 0.12 0.09" contype="0" conaffinity="2" condim="1"/>
  </body>
  <body name="ball" pos="0 0 0.6"><freejoint/><geom name="ball" type="sphere" size="0.1" condim="6"/></body>
</worldbody>
<contact><pair geom1="ball" geom2="floor" condim="6" friction="1 0.6 0.01 0.002 0.001"/></contact>
<tendon>
  <fixed name="sum" range="-0.05 0.1" limited="true" stiffness="4 1" damping="0.3" frictionloss="0.2" margin="0.01"
   springlength="-0.02 0.05"><joint joint="hip" coef="0.7"/><joint joint="slide" coef="-1.2"/></fixed>
  <spatial name="cord" range="0 0.5" limited="true" stiffness="10" damping="0.5" springlength="0.1 0.3">
    <site site="rod"/><site site="foot"/></spatial>
</tendon>
<equality>
  <joint joint1="hip" joint2="slide" polycoef="0.05 0.4 0.1" solref="0.2 1"/>
  <weld body1="crate" body2="ball" relpose="0 0 0.4 1 0.1 0 0" solref="0.3 1" torquescale="0.5"/>
</equality>
<actuator>
  <motor joint="hip" gear="5" ctrlrange="-1 1" ctrllimited="true" forcerange="-3 4" forcelimited="true"/>
  <position joint="hip" kp="8" kv="0.3"/>
  <position joint="ankle" kp="2" gear="1 0.3 0.2"/>
  <velocity joint="slide" kv="3"/>
  <general joint="ankle" gainprm="2" gear="0 1 0"/>
  <position site="foot" refsite="rod" kp="4" kv="0.2" gear="1 0 0.5 0.2 -0.3 0.1"/>
  <position site="foot" refsite="rod" kp="0.5" gear="0 0 0 0.4 0.2 1"/>
  <motor cranksite="foot" slidersite="rod" cranklength="0.8" gear="2"/>
  <adhesion body="foot" ctrlrange="0 1" gain="5"/>
  <pid joint="hip" kp="5" kv="0.4" input="pos vel ff" ctrlrange="-1 1" ctrllimited="true"/>
  <pid joint="ankle" kp="1.5" kv="0.05" gear="0.2 1 0.4"/>
  <dcmotor joint="slide" motorconst="0.9" resistance="0.4" input="pos vel voltage" controller="4 0 0.5 0 0 3"
   cogging="0.5 9 0.2"/>
</actuator>
</mujoco>"""
"""Every type of joint, limit and actuator, contacts of every kind of narrow phase, simple bodies, moving cameras."""


def random_numbers(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """(count, *shape) each, of all that a file can say: dofs of a joint have equal damping, say."""

    def scaled(name: str, spread: float = 0.3) -> np.ndarray:
        own = np.array(getattr(mjm, name))
        return own * np.exp(rng.uniform(-spread, spread, (count, *own.shape)))

    def moved(name: str, by: float) -> np.ndarray:
        own = np.array(getattr(mjm, name))
        return own + rng.normal(0, by, (count, *own.shape))

    def turned(name: str) -> np.ndarray:
        quat = moved(name, 0.1)
        return quat / np.linalg.norm(quat, axis=-1, keepdims=True)

    numbers = {n: scaled(n) for n in ("body_mass", "jnt_stiffness", "actuator_gear", "actuator_ctrlrange")}
    numbers |= {n: scaled(n) for n in ("geom_size", "jnt_range", "actuator_forcerange", "jnt_actfrcrange")}
    numbers["body_gravcomp"] = scaled("body_gravcomp")
    numbers["gravity"] = mjm.opt.gravity * rng.uniform(0.5, 1.5, (count, 1))
    numbers["body_inertia"] = mjm.body_inertia * np.exp(rng.uniform(-0.3, 0.3, (count, mjm.nbody, 1)))
    numbers |= {"body_ipos": moved("body_ipos", 0.02), "body_iquat": turned("body_iquat")}
    numbers |= {"body_pos": moved("body_pos", 0.02), "body_quat": turned("body_quat")}
    numbers |= {"geom_pos": moved("geom_pos", 0.02), "geom_quat": turned("geom_quat")}
    for name in ("body_ipos", "body_iquat", "body_pos", "body_quat"):
        numbers[name][:, 0] = getattr(mjm, name)[0]
    plane = mjm.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    numbers["geom_size"][:, plane] = mjm.geom_size[plane]
    for name in ("dof_damping", "dof_armature"):
        numbers[name] = getattr(mjm, name) * np.exp(rng.uniform(-0.5, 0.5, (count, mjm.njnt)))[:, mjm.dof_jntid]
    gain, bias = np.tile(mjm.actuator_gainprm, (count, 1, 1)), np.tile(mjm.actuator_biasprm, (count, 1, 1))
    share = rng.uniform(0.6, 1.5, (count, mjm.nactuator))
    gain[..., 0] *= share
    bias[..., :3] *= share[..., None]
    numbers |= {"actuator_gainprm": gain, "actuator_biasprm": bias}
    numbers["jnt_solref"] = np.tile(mjm.jnt_solref, (count, 1, 1)) * rng.uniform(0.7, 1.5, (count, 1, 2))
    numbers["jnt_solimp"] = np.tile(mjm.jnt_solimp, (count, 1, 1))
    numbers["jnt_solimp"][..., 4] = rng.choice([1.0, 2.0, 3.0], (count, mjm.njnt))
    numbers["jnt_solimp"][..., 2] = rng.choice([0.0, 0.001, 0.01], (count, mjm.njnt))
    numbers["jnt_margin"] = np.tile(mjm.jnt_margin, (count, 1)) + rng.uniform(0, 0.05, (count, mjm.njnt))
    numbers |= _contacts(mjm, count, rng) | _coordinates(mjm, numbers, rng) | _friction_losses(mjm, count, rng)
    return numbers | _equalities(mjm, count, rng) | _tendons(mjm, count, rng)


def _contacts(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What both geoms of a contact mix: standard and direct solver parameters, curves of several powers."""
    shape = (count, mjm.ngeom)
    direct = rng.random((count, 1)) < 0.2
    solref = np.stack((rng.uniform(0.01, 0.04, shape), rng.uniform(0.5, 1.5, shape)), -1)
    solimp = np.tile(mjm.geom_solimp, (count, 1, 1))
    solimp[..., 1] += rng.uniform(-0.03, 0.03, shape)
    solimp[..., 2] = rng.choice([0.0, 0.001, 0.01], shape)
    solimp[..., 4] = rng.choice([1.0, 2.0, 3.0], shape)
    stiffness, damping = 50.0 / solref[..., 0], 60.0 * solref[..., 1]
    own = (count, mjm.npair)
    return {
        "pair_friction": mjm.pair_friction * np.exp(rng.uniform(-0.5, 0.5, (*own, 5))),
        "pair_solref": np.stack((rng.uniform(0.01, 0.04, own), rng.uniform(0.5, 1.5, own)), -1),
        "pair_solimp": solimp[:, : mjm.npair],
        "pair_margin": rng.uniform(0, 0.02, own),
        "pair_gap": rng.uniform(0, 0.01, own),
        "geom_friction": mjm.geom_friction * np.exp(rng.uniform(-0.5, 0.5, (*shape, 3))),
        "geom_solref": np.where(direct[..., None], -np.stack((stiffness, damping), -1), solref),
        "geom_solimp": solimp,
        "geom_solmix": rng.choice([0.0, 0.5, 1.0, 2.0], shape),
        "geom_margin": rng.uniform(0, 0.02, shape),
        "geom_gap": rng.uniform(0, 0.01, shape),
    }


def _friction_losses(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Of joints, all their dofs alike; none at all in some environments."""

    def of_dofs(values: np.ndarray) -> np.ndarray:
        return values[:, mjm.dof_jntid]

    shape = (count, mjm.njnt)
    solimp = np.tile(mjm.jnt_solimp, (count, 1, 1))
    solimp[..., :2] = np.sort(rng.uniform(0.4, 0.95, (*shape, 2)), axis=-1)
    solimp[..., 2] = rng.choice([0.0, 0.001], shape)
    share = np.exp(rng.uniform(-0.5, 0.5, shape)) * (rng.random(shape) < 0.8)
    return {
        "dof_frictionloss": mjm.dof_frictionloss * of_dofs(share),
        "dof_solref": of_dofs(np.stack((rng.uniform(0.01, 0.05, shape), rng.uniform(0.5, 1.5, shape)), -1)),
        "dof_solimp": of_dofs(solimp),
    }


def _equalities(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Polynomials of joints; anchors, relative poses and torquescale of welds."""
    data = np.tile(mjm.eq_data, (count, 1, 1))
    data[..., :11] += rng.normal(0, 0.03, (count, mjm.neq, 11)) * (data[..., :11] != 0)
    weld = mjm.eq_type == int(mujoco.mjtEq.mjEQ_WELD)
    data[:, weld, 6:10] /= np.linalg.norm(data[:, weld, 6:10], axis=-1, keepdims=True)
    shape = (count, mjm.neq)
    solimp = np.tile(mjm.eq_solimp, (count, 1, 1))
    solimp[..., 2] = rng.choice([0.0, 0.001, 0.1], shape)
    solimp[..., 4] = rng.choice([1.0, 2.0, 3.0], shape)
    solref = np.stack((rng.uniform(0.1, 0.4, shape), rng.uniform(0.5, 1.5, shape)), -1)
    return {"eq_data": data, "eq_solref": solref, "eq_solimp": solimp}


def _tendons(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Springs, dampers, limits and friction losses of tendons; no loss in some environments."""
    shape = (count, mjm.ntendon)
    solimp = np.tile(mjm.tendon_solimp_lim, (count, 1, 1))
    solimp[..., 2] = rng.choice([0.0, 0.001, 0.1], shape)
    solimp[..., 4] = rng.choice([1.0, 2.0, 3.0], shape)
    share = {name: np.exp(rng.uniform(-0.5, 0.5, shape)) for name in ("stiffness", "damping", "range", "frictionloss")}
    return {
        "tendon_stiffness": mjm.tendon_stiffness * share["stiffness"],
        "tendon_damping": mjm.tendon_damping * share["damping"],
        "tendon_range": mjm.tendon_range * share["range"][..., None],
        "tendon_frictionloss": mjm.tendon_frictionloss * share["frictionloss"] * (rng.random(shape) < 0.8),
        "tendon_lengthspring": mjm.tendon_lengthspring + rng.uniform(0, 0.05, (*shape, 1)),
        "tendon_margin": rng.uniform(0, 0.05, shape),
        "tendon_solref_lim": np.stack((rng.uniform(0.02, 0.1, shape), rng.uniform(0.5, 1.5, shape)), -1),
        "tendon_solimp_lim": solimp,
        "tendon_solref_fri": np.stack((rng.uniform(0.01, 0.05, shape), rng.uniform(0.5, 1.5, shape)), -1),
        "tendon_solimp_fri": solimp[:, ::-1],
    }


def _coordinates(mjm: mujoco.MjModel, numbers: dict[str, np.ndarray], rng: np.random.Generator) -> dict:
    """qpos0 and qpos_spring: a free body begins where its frame is, and its spring rests there."""
    count = len(numbers["body_pos"])
    qpos0, spring = np.tile(mjm.qpos0, (count, 1)), np.tile(mjm.qpos_spring, (count, 1))
    for j in range(mjm.njnt):
        adr, body = mjm.jnt_qposadr[j], mjm.jnt_bodyid[j]
        if mjm.jnt_type[j] == int(mujoco.mjtJoint.mjJNT_FREE):
            pose = np.concatenate((numbers["body_pos"][:, body], numbers["body_quat"][:, body]), axis=1)
            qpos0[:, adr : adr + 7] = spring[:, adr : adr + 7] = pose
        elif mjm.jnt_type[j] != int(mujoco.mjtJoint.mjJNT_BALL):
            qpos0[:, adr] += rng.uniform(-0.1, 0.1, count)
            spring[:, adr] += rng.uniform(-0.1, 0.1, count)
    return {"qpos0": qpos0, "qpos_spring": spring}


def compiled(xml: str, numbers: dict[str, np.ndarray], env: int) -> mujoco.MjModel:
    """The model of one environment: the file with its numbers, compiled by MuJoCo."""
    own = {name: values[env] for name, values in numbers.items()}
    spec = mujoco.MjSpec.from_string(xml)
    plain = spec.compile()
    if "gravity" in own:
        spec.option.gravity = own["gravity"]
    for b, body in enumerate(spec.bodies[1:], start=1):
        body.simple, body.explicitinertial = 0, 1
        for field, name in (("mass", "body_mass"), ("inertia", "body_inertia"), ("ipos", "body_ipos")):
            setattr(body, field, own.get(name, getattr(plain, name))[b])
        body.gravcomp = own.get("body_gravcomp", plain.body_gravcomp)[b]
        body.iquat = own.get("body_iquat", plain.body_iquat)[b]
        body.pos, body.quat = own.get("body_pos", plain.body_pos)[b], own.get("body_quat", plain.body_quat)[b]
    for g, geom in enumerate(spec.geoms):
        for field in ("size", "pos", "quat", "friction", "solref", "solimp", "margin", "gap", "solmix"):
            if f"geom_{field}" in own:
                setattr(geom, field, own[f"geom_{field}"][g])
    for p, pair in enumerate(spec.pairs):
        for field in ("friction", "solref", "solimp", "margin", "gap"):
            if f"pair_{field}" in own:
                setattr(pair, field, own[f"pair_{field}"][p])
    for e, equality in enumerate(spec.equalities):
        for field in ("data", "solref", "solimp"):
            if f"eq_{field}" in own:
                old = np.array(getattr(equality, field))
                setattr(equality, field, own[f"eq_{field}"][e][: len(old)])
    for t, tendon in enumerate(spec.tendons):
        _edit_tendon(tendon, own, t)
    for j, joint in enumerate(spec.joints):
        _edit_joint(joint, plain, own, j)
    for u, actuator in enumerate(spec.actuators):
        first = {"gear": plain.actuator_outadr[u], "ctrlrange": plain.actuator_ctrladr[u]}
        for field in ("gear", "gainprm", "biasprm", "ctrlrange", "forcerange"):
            if f"actuator_{field}" in own:
                setattr(actuator, field, own[f"actuator_{field}"][first.get(field, u)])
    return spec.compile()


def _edit_tendon(tendon: mujoco.MjsTendon, own: dict[str, np.ndarray], t: int) -> None:
    for field, name in (
        *(("stiffness", "stiffness"), ("damping", "damping"), ("range", "range"), ("frictionloss", "frictionloss")),
        *(("margin", "margin"), ("springlength", "lengthspring"), ("solref_limit", "solref_lim")),
        *(("solimp_limit", "solimp_lim"), ("solref_friction", "solref_fri"), ("solimp_friction", "solimp_fri")),
    ):
        if f"tendon_{name}" in own:
            old, new = np.array(getattr(tendon, field)), own[f"tendon_{name}"][t]
            setattr(tendon, field, new if old.shape == np.shape(new) else [new, *old[1:]])


def _edit_joint(joint: mujoco.MjsJoint, plain: mujoco.MjModel, own: dict[str, np.ndarray], j: int) -> None:
    dof, adr = plain.jnt_dofadr[j], plain.jnt_qposadr[j]
    turns = plain.jnt_type[j] in (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL))
    for field, name, i in (
        *(("stiffness", "jnt_stiffness", j), ("range", "jnt_range", j), ("margin", "jnt_margin", j)),
        *(("solref_limit", "jnt_solref", j), ("solimp_limit", "jnt_solimp", j)),
        ("actfrcrange", "jnt_actfrcrange", j),
        *(("damping", "dof_damping", dof), ("armature", "dof_armature", dof)),
        *(("frictionloss", "dof_frictionloss", dof), ("solref_friction", "dof_solref", dof)),
        ("solimp_friction", "dof_solimp", dof),
    ):
        if name in own:
            old = np.array(getattr(joint, field))
            setattr(joint, field, own[name][i] if old.shape == np.shape(own[name][i]) else [own[name][i], *old[1:]])
    if not turns:
        joint.ref, joint.springref = own.get("qpos0", plain.qpos0)[adr], own.get("qpos_spring", plain.qpos_spring)[adr]
