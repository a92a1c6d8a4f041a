"""The class Model: the constant numbers of a mechanism, compiled by MuJoCo and laid out for the kernels."""

import copy
import os
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from ... import assets
from ..files.geometry.decomposition import Decompose, Hulls, MeshOptions
from ..files.geometry.store import GeometryStore
from ..files.mjmodel.custom import CustomElementError
from ..files.mjmodel.pairs import largest_explicit, pair_condim, reference_overlaps
from ..files.mjmodel.solver_params import MAXIMP, MINIMP, MINVAL, reference_params
from ..machine.scalars import as_flag
from ..machine.waiting import Waiting
from ..mechanics.collision.broad.broad_phase import choose_broad_phase, reference_order, split
from .condition import LOST, closed_condition
from .element_locations import Elements
from .loading.export_mjcf import write_mjcf
from .loading.loading import (
    MUJOCO_ERRORS,
    LoadedModel,
    check_supported,
    label_of,
    load_mjcf,
    load_mjmodel,
    load_mjspec,
    load_urdf,
    one_line,
    take_urdf_options,
)
from .loading.sanity import ModelLoadError, reject_beyond_single
from .solver_choice import NO_CHOICES, Choices, choose_solver, default_max_contacts, take_choices
from .tables.pack import check_size, contact_pairs, pack, row_pairs


class Model:
    """A model that Tumble can simulate.

    Make one with `from_name`, `from_mjcf`, `from_urdf`, `from_mjspec` or `from_mjmodel`; options of the file
    (`timestep`, `integrator`, `iterations`, `tolerance`, `gravity`, `disableflags`, ... as in MuJoCo's mjOption) can be
    overridden by keyword; `solver="auto"`, `max_contacts`, `broad_phase`, `convex`, `manifold`, `hfield`, `matter` and
    `ignore_reference_overlaps` are Tumble's own. With the last, pairs of geoms that overlap at the reference pose
    (qpos0) make no contacts; `notes` lists them.

    Attributes:
        mj: the compiled `mujoco.MjModel`; treat it as read-only.
        notes: sentences about differences between the simulation and the file's requests.
        unused: parts of the file that cannot change the motion and are not read.
        solver: "newton" or "cg" (conjugate gradients): that of the option `solver`; else the file's, if it is not
            Newton, which is also MuJoCo's default; else, or with the option "auto", by the rule of `solver_choice`.
            "newton" in any case where islands may sleep or equalities are very hard.
        max_contacts: the most contacts that an environment can have at once: the option `max_contacts`, or a rule.
        broad_phase: "pairs", a list of all pairs of geoms that can touch, "sweep", which finds the near ones, or
            "grid", which finds the static geoms near a moving one: the option `broad_phase`, or the rule of
            `broad_phase.choose_broad_phase`. Contacts are the same, with "grid" in another order.
        convex: "gjk" or "mpr": the option `convex`.
        manifold: "mujoco" or "tilts": the option `manifold`.
        hfield: "surface" or "mujoco": the option `hfield`.
        matter: True if matter that another solver moves may push bodies (`solver.coupling`): the option `matter`.
        closed_condition: the condition of the Hessian with all equalities (`condition.closed_condition`).
        ignored_pairs: pairs of geoms (n, 2) that make no contacts because of `ignore_reference_overlaps`.
        row_pairs: pairs of geoms that can touch, for each row of the pair table.
        rubs: True if contacts with friction are possible.
        hardest_contact: the largest `pair_hardness` of all possible contacts.
        stiffest: the largest stiffness (1/s^2) of the reference acceleration among all possible contacts.
        sweep_order: the order of geoms along x in which a sweep starts in the reference state.
        sizes: named sizes of the fields of `model.fields`.
        values: those fields, as numpy arrays.
    """

    def __init__(self, loaded: LoadedModel, strict: bool = True, choices: Choices = NO_CHOICES) -> None:
        """Check and lay out a loaded model; use the `from_...` constructors instead."""
        strict = as_flag("strict", strict)
        loaded, support = check_supported(loaded, strict)
        share_frames(loaded.mjm)
        self.mj, self._spec, self._places = loaded.mjm, loaded.spec, loaded.places
        self.notes = [*loaded.notes, *support.notes]
        self.convex, self.manifold, self.hfield = choices.convex, choices.manifold, choices.hfield
        self.matter = choices.matter
        self.unused = [str(finding) for finding in support.unused]
        try:
            ignored = reference_overlaps(self.mj) if choices.ignore_reference_overlaps else None
            self.ignored_pairs = np.zeros((0, 2), int) if ignored is None else ignored
            pairs = contact_pairs(self.mj, ignored)
            self.broad_phase = choose_broad_phase(self.mj, pairs, choices.broad_phase)
            self.rubs = bool((pair_condim(self.mj, pairs) > 1).any())
            self.row_pairs, self.stiffest = row_pairs(self.mj, pairs), pair_stiffness(self.mj, pairs).max(initial=0.0)
            self.hardest_contact = float(pair_hardness(self.mj, pairs).max(initial=0.0))
            self.closed_condition = closed_condition(self.mj)
            self.sizes, self.values = pack(self.mj, split(self.mj, pairs, self.broad_phase), loaded.fields)
            self.sizes["nmatter"] *= self.matter
        except (MemoryError, RuntimeError, np.linalg.LinAlgError, CustomElementError, *MUJOCO_ERRORS) as error:
            raise ModelLoadError(f"{loaded.source.label}: {one_line(error)}") from error
        self.solver, notes = choose_solver(self.mj, choices.solver, self.closed_condition > LOST)
        self.notes += [*notes, *_overlap_notes(self.mj, ignored)]
        self.sweep_order = reference_order(self.mj, self.values["sweep_geom"])
        self.max_contacts = choices.max_contacts or default_max_contacts(self.mj)
        check_size(loaded.source.label, self.values)

    @cached_property
    def geometry(self) -> GeometryStore:
        """The geometry of the model, colliding and visual apart; made at the first access."""
        return GeometryStore.of(self.mj)

    def dof_paths(self) -> list[list[int]]:
        """Return for every dof the dofs that move its body up to it, in descending order: itself, its parent, ..."""
        paths: list[list[int]] = []
        for dof, parent in enumerate(self.mj.dof_parentid):
            paths.append([dof, *(paths[parent] if parent >= 0 else [])])
        return paths

    def require_single(self) -> None:
        """Raise ModelLoadError if a number is finite, and infinite in single precision; it names the element."""
        reject_beyond_single(Elements(self.mj, self._spec, self._places), self.values)

    def editable(self) -> mujoco.MjModel:
        """Return a copy of the compiled model whose numbers may be changed before `mujoco.mj_setConst`.

        MuJoCo compiles bodies whose centre of mass is at the origin of their frame as "simple" and then assumes that it
        stays there; so the copy is compiled without. A model that came compiled stays as it is.
        """
        if self._spec is None or not self.mj.body_simple[1:].any():
            return copy.copy(self.mj)
        spec = self._spec.copy()
        for body in spec.bodies[1:]:
            body.simple = 0
        return spec.compile()

    def write_mjcf(self, path: str | os.PathLike) -> None:
        """Write the model as an MJCF file, with all digits, and its meshes and images into "<name>_assets" beside it.

        MuJoCo compiles the same model from it, which is verified. Options of Tumble's own (`convex` and the like) are
        not in it.

        Raises:
            ModelWriteError: the model came compiled, or MJCF cannot hold it.
        """
        write_mjcf(self._spec, path)

    @classmethod
    def from_name(cls, name: str, **options: Any) -> "Model":
        """Compile a robot by its name, such as "menagerie:unitree_g1" (`tumble.robots`), without a floor of our own.

        Args:
            name: of a robot, of another file of its folder ("menagerie:unitree_g1/scene"), or of any file of a source
                ("dm_control:dog.xml").
            options: as of `from_mjcf`.

        Raises:
            ModelLoadError: there is no such robot, or its files are not on this machine, and the message says what to
                do; or one of `from_mjcf`.
            UnsupportedModelError: as of `from_mjcf`.
            ValueError: as of `from_mjcf`.
        """
        try:
            path = assets.find_model(name)
        except FileNotFoundError as error:
            raise ModelLoadError(str(error)) from error
        return cls.from_mjcf(path, **options)

    @classmethod
    def from_mjcf(
        cls,
        path_or_xml: str | os.PathLike,
        *,
        strict: bool = True,
        decompose: Decompose = None,
        maxhullvert: Hulls = None,
        distance_fields: Decompose = None,
        **options: object,
    ) -> "Model":
        """Compile an MJCF file, or a string of XML.

        Its meshes may also be glb, gltf, ply, off, dae, or STL as text.

        Args:
            path_or_xml: path of the file, or the XML itself.
            strict: refuse a model that uses something unsupported, naming all of it; False drops it with a warning.
            decompose: meshes or geoms that collide as convex pieces instead of as their hull, by name: a list, or a
                mapping to options of `coacd.run_coacd` such as {"mug": {"threshold": 0.1}}; True for all that collide.
            distance_fields: meshes or geoms that collide by a signed distance field of their surface, hollows included,
                by name: a list, or a mapping to options such as {"mug": {"error": 1e-4}} (mean error at the surface, m)
                or {"mug": {"resolution": 96}} (cells along the longest side); True for all that collide. Geoms of type
                `sdf` collide so in any case; False: they collide as hulls.
            maxhullvert: the most vertices of the hull of every mesh, or of meshes by name, as MJCF's mesh attribute.
            options: overrides of mjOption's fields, and Tumble's own. convex="mpr": pairs of convex shapes without a
                closed form use Minkowski portal refinement, and GJK and EPA only if that is not exact; "gjk" (default):
                always these. manifold="tilts": if such a pair has one contact, turns by `collision.tilts.ANGLE` add up
                to four more; "mujoco" (default): the contacts that MuJoCo has. hfield="mujoco": height fields touch by
                a prism for each triangle, as in MuJoCo; "surface" (default): by their surface (docs/physics.md).
                matter=True: bodies have a wrench of matter that another solver moves (`solver.coupling`).

        Raises:
            ModelLoadError: the file or one of a mesh is missing or broken, MuJoCo cannot compile it, or it has numbers
                that no mechanism has.
            UnsupportedModelError: the model uses features that Tumble does not simulate yet.
            ValueError: unknown or impossible option.
        """
        choices, options = take_choices(options)
        meshes = MeshOptions.of(decompose, maxhullvert, distance_fields)
        with Waiting(f"loading {label_of(path_or_xml)}"):
            return cls(load_mjcf(path_or_xml, meshes, **options), strict, choices)

    @classmethod
    def from_urdf(
        cls,
        path_or_xml: str | os.PathLike,
        *,
        strict: bool = True,
        decompose: Decompose = None,
        maxhullvert: Hulls = None,
        distance_fields: Decompose = None,
        **options: object,
    ) -> "Model":
        """Compile a URDF file, or a string of URDF (docs/physics.md).

        Args:
            path_or_xml: path of the file, or the XML itself.
            strict: as in `from_mjcf`.
            decompose: as in `from_mjcf`.
            maxhullvert: as in `from_mjcf`.
            distance_fields: as in `from_mjcf`.
            options: of `urdf_spec` (packages, fixed, merge_fixed_links, links_to_keep, balance_inertia,
                actuators, ...), and of `from_mjcf`.

        Raises:
            ModelLoadError: the file, or a mesh that touches, is missing or broken, or it describes no mechanism.
            ValueError: unknown or impossible option.

        Warns:
            UrdfWarning: with everything in the file that is not read; the same sentences are in `notes`.
        """
        choices, options = take_choices(options)
        urdf, options = take_urdf_options(options)
        meshes = MeshOptions.of(decompose, maxhullvert, distance_fields)
        with Waiting(f"loading {label_of(path_or_xml)}"):
            return cls(load_urdf(path_or_xml, urdf, meshes, **options), strict, choices)

    @classmethod
    def from_mjspec(
        cls,
        spec: mujoco.MjSpec,
        *,
        strict: bool = True,
        decompose: Decompose = None,
        maxhullvert: Hulls = None,
        distance_fields: Decompose = None,
        **options: object,
    ) -> "Model":
        """Compile an MjSpec; see `from_mjcf`."""
        choices, options = take_choices(options)
        meshes = MeshOptions.of(decompose, maxhullvert, distance_fields)
        with Waiting(f"loading {label_of(spec)}"):
            return cls(load_mjspec(spec, meshes, **options), strict, choices)

    @classmethod
    def from_mjmodel(cls, mjm: mujoco.MjModel, *, strict: bool = True, **options: object) -> "Model":
        """Take a compiled MjModel (copied); see `from_mjcf`."""
        choices, options = take_choices(options)
        with Waiting(f"loading {label_of(mjm)}"):
            return cls(load_mjmodel(mjm, **options), strict, choices)


def _overlap_notes(mjm: mujoco.MjModel, pairs: np.ndarray | None) -> list[str]:
    if pairs is None or not len(pairs):
        return []
    names = [[mujoco.mj_id2name(mjm, mujoco.mjtObj.mjOBJ_GEOM, int(g)) or f"#{g}" for g in pair] for pair in pairs]
    listed = ", ".join(f"'{first}' and '{second}'" for first, second in names)
    return [f"no contacts between geoms that overlap at the reference pose (ignore_reference_overlaps): {listed}"]


_BODY = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODY)
_INERTIA = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA)
_BODY_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODYROT)
_INERTIA_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIAROT)
_ORIGIN, _STRAIGHT = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def share_frames(mjm: mujoco.MjModel) -> None:
    """Write the replacing poses into fields that MuJoCo ignores and Tumble reads; MuJoCo's results do not change."""
    _share(mjm.body_sameframe, np.arange(mjm.nbody), mjm.body_ipos, mjm.body_iquat, mjm)
    _share(mjm.geom_sameframe, mjm.geom_bodyid, mjm.geom_pos, mjm.geom_quat, mjm)
    _share(mjm.site_sameframe, mjm.site_bodyid, mjm.site_pos, mjm.site_quat, mjm)


def _share(same: np.ndarray, body: np.ndarray, pos: np.ndarray, quat: np.ndarray, mjm: mujoco.MjModel) -> None:
    """Replace poses of elements marked in `same`, (n,), by the body's origin or the inertial frame of body `body`."""
    at, inertia = same == _BODY, same == _INERTIA
    pos[at], pos[inertia] = _ORIGIN, mjm.body_ipos[body[inertia]]
    turned, inertial = at | (same == _BODY_TURN), inertia | (same == _INERTIA_TURN)
    quat[turned], quat[inertial] = _STRAIGHT, mjm.body_iquat[body[inertial]]


MINMU = 1e-5  # mjMINMU


def pair_stiffness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the stiffness K (1/s^2) of the reference acceleration of contacts of pairs of geoms (n, 2).

    Kernels mix the parameters of both geoms in the same way: see `constraint.contact_parameters`.
    """
    (first, second), mix = pairs.T, _share_of_first(mjm, pairs)[:, None]
    equal = mjm.geom_priority[first] == mjm.geom_priority[second]
    ref1, ref2 = mjm.geom_solref[first], mjm.geom_solref[second]
    standard = (ref1[:, :1] > 0) & (ref2[:, :1] > 0) | ~equal[:, None]
    solref = np.where(standard, mix * ref1 + (1 - mix) * ref2, np.minimum(ref1, ref2))
    dmax = mix[:, 0] * mjm.geom_solimp[first, 1] + (1 - mix[:, 0]) * mjm.geom_solimp[second, 1]
    mixed = reference_params(mjm, solref, np.clip(dmax, MINIMP, MAXIMP))[0]
    own = reference_params(mjm, mjm.pair_solref, np.clip(mjm.pair_solimp[:, 1], MINIMP, MAXIMP))[0]
    return largest_explicit(mjm, own, pairs, mixed)


def pair_hardness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the hardness of contacts of pairs of geoms (n, 2): D of a row times its inverse inertia, a plain number.

    The rows of a pyramid with friction mu have D in proportion to impratio / mu^2.
    """
    (first, second), mix = pairs.T, _share_of_first(mjm, pairs)
    impedance = np.clip(mjm.geom_solimp[:, :2].max(axis=1), MINIMP, MAXIMP)
    mixed = mix * impedance[first] + (1 - mix) * impedance[second]
    mixed = _hardness(mjm, mixed, _pair_friction(mjm, pairs), pair_condim(mjm, pairs))
    own = np.clip(mjm.pair_solimp[:, :2].max(axis=1), MINIMP, MAXIMP)
    own = _hardness(mjm, own, mjm.pair_friction[:, 0], mjm.pair_dim)
    return largest_explicit(mjm, own, pairs, mixed)


def _hardness(mjm: mujoco.MjModel, impedance: np.ndarray, friction: np.ndarray, dim: np.ndarray) -> np.ndarray:
    """Return the hardness of contacts with these impedances, friction coefficients and dimensions, (n,) each."""
    hardness = impedance / (1.0 - impedance)
    mu2 = np.maximum(friction, MINMU) ** 2
    pyramid = (mjm.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL) & (dim > 1)
    return np.where(pyramid, hardness * mjm.opt.impratio / (2.0 * mu2 * (1.0 + mu2)), hardness)


def _share_of_first(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the share (n,) of the first geom in the mixed parameters of contacts of pairs (n, 2)."""
    first, second = pairs.T
    priority = mjm.geom_priority[first] - mjm.geom_priority[second]
    weight = np.where(mjm.geom_solmix < MINVAL, 0.0, mjm.geom_solmix)
    both = weight[first] + weight[second]
    mix = np.where(both == 0.0, 0.5, weight[first] / np.where(both == 0.0, 1.0, both))
    return np.where(priority > 0, 1.0, np.where(priority < 0, 0.0, mix))


def _pair_friction(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the sliding friction of pairs (n, 2): that of the geom of higher priority, or the larger one."""
    mu, priority = mjm.geom_friction[:, 0][pairs], mjm.geom_priority[pairs]
    chosen = np.where(priority[:, 0] > priority[:, 1], mu[:, 0], mu[:, 1])
    return np.where(priority[:, 0] == priority[:, 1], mu.max(axis=1, initial=0.0), chosen)
