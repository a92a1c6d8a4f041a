"""Random models that mix everything the engine supports; a seed gives the same model for ever.

Physically sane, so that comparisons in float64 down to 1e-9 mean something: masses within two orders of magnitude,
no joint without inertia, no geoms deep inside each other in the reference pose (such bodies are excluded from each
other). The sizes stay within 16 bodies, 24 degrees of freedom and 16 geoms.
"""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np

MAX_BODIES, MAX_DOFS, MAX_GEOMS = 14, 24, 16


FURTHER = 1_000_000
"""Models from this number on have what joined later: elliptic cones, equalities, moving and adhesive surfaces."""


def random_model(seed: int) -> str:
    """Return the MJCF of the random model number ``seed``."""
    return _Builder(seed).build() if seed < FURTHER else _Further(seed).build()


def _text(values: object) -> str:
    """Return numbers as MJCF writes them, four digits long: short files, and the same number for everybody."""
    return " ".join(f"{v:.4g}" for v in np.atleast_1d(np.asarray(values, dtype=float)))


class _Builder:
    """Draws one model."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng([seed, 20231])
        self.seed = seed
        self.later = np.random.default_rng([seed, 20261])  # what joined since: the rest stays as it was
        self.bodies = self.dofs = self.geoms = 0
        self.joints: list[tuple[str, str]] = []
        self.body_names: list[str] = []
        self.direct = self.chance(0.2)  # solref as stiffness and damping

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def log_uniform(self, low: float, high: float) -> float:
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def build(self) -> str:
        root = ET.Element("mujoco", model=f"random_{self.seed}")
        ET.SubElement(root, "compiler", angle="radian", autolimits="true")
        self._option(root)
        asset = ET.SubElement(root, "asset")
        ET.SubElement(asset, "mesh", name="gem", vertex=self._gem())
        world = ET.SubElement(root, "worldbody")
        self._planes(world)
        for tree in range(int(self.rng.integers(1, 4))):
            if self.bodies < MAX_BODIES - 2 and self.dofs < MAX_DOFS - 6:
                self._body(world, depth=0, tree=tree)
        ET.SubElement(world, "camera", name="eye", pos=_text(self._vector(2)), quat=_text(self._quat()))
        self._actuators(root)
        contact = ET.SubElement(root, "contact")
        if self.chance(0.3) and len(self.body_names) > 1:
            a, b = self.rng.choice(len(self.body_names), 2, replace=False)
            ET.SubElement(contact, "exclude", body1=self.body_names[a], body2=self.body_names[b])
        self._separate(root, contact)
        self._further(root)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode")

    def _option(self, root: ET.Element) -> None:
        gravity = (0, 0, -9.81) if self.chance(0.7) else (*self._vector(1)[:2], -self.uniform(2, 12))
        option = ET.SubElement(
            root, "option", timestep=_text(self.rng.choice([0.001, 0.002, 0.004])), gravity=_text(gravity)
        )
        if self.chance(0.3):
            option.set("impratio", _text(self.uniform(1, 8)))
        if self.chance(0.15):
            flag = str(self.rng.choice(["eulerdamp", "refsafe", "clampctrl", "spring", "gravity", "warmstart"]))
            ET.SubElement(option, "flag", {flag: "disable"})

    def _planes(self, world: ET.Element) -> None:
        for k in range(int(self.rng.integers(1, 3)) if self.chance(0.9) else 0):
            tilt = 0.1 * self._vector(1)
            axis = (tilt[0], tilt[1], 1) if k == 0 else (1, tilt[1], 0.5)
            plane = ET.SubElement(world, "geom", type="plane", size="5 5 1", zaxis=_text(axis))
            plane.set("pos", _text((0, 0, 0) if k == 0 else (-1.2, 0, 0)))
            plane.set("contype", "3")
            plane.set("conaffinity", "0")
            self._contact_parameters(plane)
            self.geoms += 1

    def _body(self, parent: ET.Element, depth: int, tree: int) -> None:
        name = f"b{self.bodies}"
        self.body_names.append(name)
        self.bodies += 1
        pos = (0.7 * tree, self.uniform(-0.2, 0.2), self.uniform(0.15, 0.5)) if depth == 0 else 0.25 * self._vector(1)
        body = ET.SubElement(parent, "body", name=name, pos=_text(pos))
        if self.chance(0.6):
            body.set("quat", _text(self._quat()))
        self._joints(body, depth)
        if self.chance(0.15):
            self._inertial(body)
        for k in range(int(self.rng.integers(1, 3))):
            if k == 0 or self.geoms < MAX_GEOMS:
                self._geom(body)
        if self.chance(0.3):
            ET.SubElement(body, "site", name=f"s{self.bodies}", pos=_text(0.1 * self._vector(1)), euler="0.1 0.2 0.3")
        if self.chance(0.15):
            mode = str(self.rng.choice(["fixed", "track", "trackcom"]))
            ET.SubElement(body, "camera", mode=mode, pos=_text(self._vector(1)), quat=_text(self._quat()))
        for _ in range(int(self.rng.choice([0, 1, 1, 2]))):
            if depth < 5 and self.bodies < MAX_BODIES and self.dofs < MAX_DOFS - 3 and self.geoms < MAX_GEOMS:
                self._body(body, depth + 1, tree)

    def _joints(self, body: ET.Element, depth: int) -> None:
        room = MAX_DOFS - self.dofs
        if depth == 0 and room >= 6 and self.chance(0.45):
            self._joint(body, "free", 6)
            return
        if depth > 0 and self.chance(0.1):
            return  # welded to its parent
        if room >= 3 and self.chance(0.25):
            self._joint(body, "ball", 3)
            return
        for _ in range(min(room, int(self.rng.choice([1, 1, 1, 2, 3])))):
            self._joint(body, str(self.rng.choice(["hinge", "hinge", "slide"])), 1)

    def _joint(self, body: ET.Element, kind: str, dofs: int) -> None:
        name = f"j{len(self.joints)}"
        self.joints.append((name, kind))
        self.dofs += dofs
        joint = ET.SubElement(body, "joint", name=name, type=kind)
        if kind in ("hinge", "slide"):
            joint.set("axis", _text(self._vector(1)))
        if kind != "free" and self.chance(0.5):
            joint.set("pos", _text(0.08 * self._vector(1)))
        if self.chance(0.1 if kind == "free" else 0.35):
            joint.set("stiffness", _text(self.log_uniform(0.2, 20)))
            if kind in ("hinge", "slide") and self.chance(0.5):
                joint.set("springref", _text(self.uniform(-0.5, 0.5)))
        if self.chance(0.1 if kind == "free" else 0.6):
            joint.set("damping", _text(self.log_uniform(0.01, 1)))
        if self.chance(0.1 if kind == "free" else 0.5):
            joint.set("armature", _text(self.log_uniform(0.002, 0.1)))
        self._friction_loss(joint, kind)
        if kind in ("hinge", "slide") and self.chance(0.2):
            joint.set("ref", _text(self.uniform(-0.4, 0.4)))
        if kind != "free" and self.chance(0.45):
            width = self.uniform(0.2, 1.2)
            joint.set("range", _text((0, width) if kind == "ball" else (-width * self.uniform(0.2, 1), width)))
            self._solver_parameters(joint, "solreflimit", "solimplimit", stiff=4000)
            if self.chance(0.3):
                joint.set("margin", _text(self.uniform(0, 0.1)))

    def _friction_loss(self, joint: ET.Element, kind: str) -> None:
        rng = self.later
        if rng.random() < (0.05 if kind == "free" else 0.2):
            joint.set("frictionloss", _text(10 ** rng.uniform(-2, 0.7)))
            if rng.random() < 0.4:
                joint.set("solreffriction", _text((rng.uniform(0.005, 0.1), rng.uniform(0.5, 2))))
            if rng.random() < 0.4:
                joint.set("solimpfriction", _text((rng.uniform(0.3, 0.95), 0.95, *rng.choice([0.0, 0.01], 1))))

    def _inertial(self, body: ET.Element) -> None:
        small = self.uniform(0.005, 0.03)
        inertia = small * np.array([1, self.uniform(1, 1.5), self.uniform(1.1, 1.8)])
        ET.SubElement(
            body,
            "inertial",
            mass=_text(self.uniform(0.3, 2)),
            pos=_text(0.05 * self._vector(1)),
            quat=_text(self._quat()),
            diaginertia=_text(inertia),
        )

    def _geom(self, body: ET.Element) -> None:
        kind = str(self.rng.choice(["sphere", "capsule", "capsule", "box", "cylinder", "mesh"]))
        geom = ET.SubElement(body, "geom", type=kind, density=_text(self.log_uniform(300, 2000)))
        sizes = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}
        if kind == "mesh":
            geom.set("mesh", "gem")
        else:
            geom.set("size", _text(self.rng.uniform(0.04, 0.12, sizes[kind])))
        geom.set("pos", _text(0.08 * self._vector(1)))
        geom.set("quat", _text(self._quat()))
        # bit 1: everything round; bit 2: what touches planes only
        masks = ("1", "1") if kind in ("sphere", "capsule") else ("0", "2")
        if self.chance(0.1):
            masks = ("0", masks[1])
        geom.set("contype", masks[0])
        geom.set("conaffinity", masks[1])
        self._contact_parameters(geom)
        self.geoms += 1

    def _contact_parameters(self, geom: ET.Element) -> None:
        geom.set("condim", str(self.rng.choice([1, 3, 3, 4, 6])))
        geom.set(
            "friction", _text((self.uniform(0.1, 1.5), self.log_uniform(0.001, 0.1), self.log_uniform(1e-4, 0.05)))
        )
        self._solver_parameters(geom, "solref", "solimp", stiff=8000)
        if self.chance(0.3):
            geom.set("solmix", _text(self.uniform(0, 3)))
        if self.chance(0.2):
            geom.set("priority", str(self.rng.integers(-1, 2)))
        if self.chance(0.3):
            geom.set("margin", _text(self.uniform(0, 0.03)))
        if self.chance(0.2):
            geom.set("gap", _text(self.uniform(0, 0.03)))

    def _solver_parameters(self, element: ET.Element, solref: str, solimp: str, stiff: float) -> None:
        if self.direct:
            element.set(solref, _text((-self.log_uniform(100, stiff), -self.log_uniform(5, 100))))
        elif self.chance(0.5):
            element.set(solref, _text((self.log_uniform(0.005, 0.1), self.uniform(0.4, 2))))
        if self.chance(0.5):
            low, high = sorted(self.rng.uniform(0.3, 0.99, 2))
            width, power = self.log_uniform(0.001, 0.1), self.rng.choice([1, 2, 3])
            element.set(solimp, _text((low, high, width, self.uniform(0.2, 0.8), power)))

    def _actuators(self, root: ET.Element) -> None:
        actuator = ET.SubElement(root, "actuator")
        for name, kind in self.joints:
            if not self.chance(0.15 if kind == "free" else 0.5):
                continue
            sort = str(self.rng.choice(["motor", "position", "velocity", "general"]))
            drive = ET.SubElement(actuator, sort, joint=name)
            turning = kind in ("free", "ball")
            # little leverage on rotations: servos of many times the stiffness of a small body's inertia blow up
            leverage = 0.1 if turning else 2.0
            drive.set("gear", _text(self.rng.uniform(-1, 1, {"free": 6, "ball": 3}[kind] if turning else 1) * leverage))
            if sort == "position":
                drive.set("kp", _text(self.uniform(0.5, 10)))
                drive.set("kv", _text(self.uniform(0, 0.5)))
            elif sort == "velocity":
                drive.set("kv", _text(self.uniform(0.05, 1)))
            elif sort == "general":
                drive.set("gaintype", "affine")
                drive.set("gainprm", _text(self.rng.uniform(-1, 1, 3) * (3, 0.5, 0.3)))
                drive.set("biastype", "affine")
                drive.set("biasprm", _text((self.uniform(-1, 1), -self.uniform(0, 3), -self.uniform(0, 0.5))))
            if self.chance(0.6):
                drive.set("ctrlrange", _text((-self.uniform(0.3, 1), self.uniform(0.3, 1))))
            if self.chance(0.3):
                drive.set("forcerange", _text((-self.uniform(0.3, 3), self.uniform(0.3, 3))))

    def _further(self, root: ET.Element) -> None:
        """Add nothing."""

    def _separate(self, root: ET.Element, contact: ET.Element) -> None:
        """Exclude bodies from each other, and from the world, where geoms are deep inside each other at first."""
        mjm = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
        data = mujoco.MjData(mjm)
        mujoco.mj_forward(mjm, data)
        done = set()
        for c in data.contact:
            bodies = tuple(sorted(int(b) for b in mjm.geom_bodyid[c.geom]))
            radii = mjm.geom_rbound[c.geom]  # a plane's is 0
            deep = -c.dist > (0.1 * radii.min() if 0 not in bodies else 0.5 * radii.max())
            if deep and bodies not in done:
                done.add(bodies)
                ET.SubElement(contact, "exclude", body1=mjm.body(bodies[0]).name, body2=mjm.body(bodies[1]).name)

    def _vector(self, scale: float) -> np.ndarray:
        return self.rng.uniform(-scale, scale, 3)

    def _quat(self) -> np.ndarray:
        quat = self.rng.standard_normal(4)
        return quat / np.linalg.norm(quat)

    def _gem(self) -> str:
        """Return the vertices of a convex mesh with about eight corners on an ellipsoid."""
        points = self.rng.standard_normal((9, 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return _text((points * self.rng.uniform(0.06, 0.12, 3)).reshape(-1))


class _Further(_Builder):
    """Draws a model with more of MuJoCo in it, by a generator of its own."""

    def _further(self, root: ET.Element) -> None:
        rng = np.random.default_rng([self.seed, 20271])
        if rng.random() < 0.7:
            root.find("option").set("cone", "elliptic")  # type: ignore[union-attr]
        for k, geom in enumerate(root.iter("geom")):  # the first has both, so that few kernels serve all these models
            if rng.random() < 0.15 or k == 0:
                geom.set("adhesion", _text(rng.uniform(0.1, 3)))
            if rng.random() < 0.15 or k == 0:
                geom.set("surfacevel", _text(rng.uniform(-1, 1, 6) * (rng.random(6) < 0.7)))
        for k, joint in enumerate(root.iter("joint")):
            for name in ("stiffness", "damping"):
                if rng.random() < 0.2 or k == 0:
                    joint.set(name, _text((float(joint.get(name, 0)), *rng.uniform(0, 0.3, 2))))
        equality = ET.SubElement(root, "equality")
        single = [name for name, kind in self.joints if kind in ("hinge", "slide")]
        for _ in range(int(rng.integers(1, 4))):
            kind, names = str(rng.choice(["connect", "weld", "joint"])), single if len(single) > 1 else []
            tie = ET.Element(kind, solref=_text((rng.uniform(0.01, 0.1), rng.uniform(0.6, 1.5))))
            if kind == "joint" and names:
                first, second = rng.choice(len(names), 2, replace=False)
                tie.set("joint1", names[first])
                if rng.random() < 0.7:
                    tie.set("joint2", names[second])
                tie.set("polycoef", _text((*rng.uniform(-0.1, 0.1, 1), *rng.uniform(-1, 1, 2), 0, 0)))
            elif kind != "joint" and len(self.body_names) > 1:
                first, second = rng.choice(len(self.body_names), 2, replace=False)
                tie.set("body1", self.body_names[first])
                if rng.random() < 0.7:
                    tie.set("body2", self.body_names[second])
                tie.set("anchor", _text(rng.uniform(-0.2, 0.2, 3)))
            else:
                continue
            equality.append(tie)
