"""Laws of materials beside formulas on whole matrices, by SciPy; the same laws in compiled code."""

import ctypes
import math

import numpy as np
import pytest
import scipy.linalg

from tumble.physics.machine.codegen.llvm import load, optimized_machine_code
from tumble.physics.machine.codegen.words import FLOAT, FLOATS, Module
from tumble.soft.mpm.laws.arithmetic import Compiled
from tumble.soft.mpm.laws.laws import HARDEST, LAWS, LOOSE, PACKED
from tumble.soft.mpm.laws.tensors import PLACES, advanced, determinant_change, eigen, from_eigen

from .arithmetic import Numpy

MU, LAM = 3.0, 2.0
ONE = np.eye(3)
NUMBERS = {
    "corotated": (MU, LAM),
    "neo_hookean": (MU, LAM),
    "clipped": (MU, LAM, 0.1, 0.05),
    "von_mises": (MU, LAM, 0.4),
    "liquid": (LAM, 0.7),
    "sand": (MU, LAM, 0.3),
    "snow": (MU, LAM, 0.1, 0.05, 4.0),
}
EXACT = 1e-12
"""Double precision, after four sweeps of Jacobi's method."""
SINGLE = 3e-6
"""Of the largest stress: single precision, with exp and log to two units."""


def deformations(count=200, size=0.3):
    """Random gradients F of deformation, (count, 3, 3), with a positive determinant, and a little one."""
    rng = np.random.default_rng(0)
    F = ONE + size * rng.standard_normal((4 * count, 3, 3))
    return np.concatenate([F[np.linalg.det(F) > 0.2][: count - 1], (ONE + 1e-7 * rng.standard_normal((3, 3)))[None]])


def packed(tensors):
    """Symmetric tensors (n, 3, 3) as lists of entries."""
    return [tensors[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def whole(entries):
    return np.array([[entries[PLACES[i][j]] for j in range(3)] for i in range(3)]).transpose(2, 0, 1)


def strain_of(F):
    return packed(F @ F.transpose(0, 2, 1) - ONE)


def dev(h):
    return h - np.trace(h) / 3 * ONE


def hencky_stress(h):
    return 2 * MU * h + LAM * np.trace(h) * ONE


def corotated(F, mu=MU, lam=LAM):
    R, _ = scipy.linalg.polar(F)
    J = np.linalg.det(F)
    return 2 * mu * (F - R) @ F.T + lam * J * (J - 1) * ONE


def clip(F, lower, higher):
    U, s, Vt = np.linalg.svd(F)
    return U @ np.diag(np.clip(s, 1 - lower, 1 + higher)) @ Vt


def returned(h, limit):
    """Logarithmic strain whose deviator is at most `limit` long."""
    size = np.linalg.norm(dev(h))
    return h if size <= limit else h - dev(h) * (1 - limit / size)


def oracle(name, F, volume):
    """Strain, volume and stress after an elastic step to F."""
    b, J = F @ F.T, np.linalg.det(F)
    if name == "corotated":
        return b - ONE, volume, corotated(F)
    if name == "neo_hookean":
        return b - ONE, volume, MU * (b - ONE) + LAM * math.log(J) * ONE
    if name == "clipped":
        C = clip(F, *NUMBERS[name][2:])
        return C @ C.T - ONE, volume, corotated(C)
    if name == "snow":
        lower, higher, hardening = NUMBERS[name][2:]
        C = clip(F, lower, higher)
        plastic = volume + math.log(J / np.linalg.det(C))
        plastic = min(max(plastic, PACKED), LOOSE)
        harder = min(math.exp(hardening * (1 - math.exp(plastic))), HARDEST)
        return C @ C.T - ONE, plastic, corotated(C, MU * harder, LAM * harder)
    h = 0.5 * scipy.linalg.logm(b).real
    if name == "von_mises":
        h = returned(h, math.sqrt(2 / 3) * NUMBERS[name][2] / (2 * MU))
        return scipy.linalg.expm(2 * h) - ONE, volume, hencky_stress(h)
    h = h + volume / 3 * ONE
    trace = np.trace(h)
    gained = 0.0
    if trace >= 0:
        h, gained = 0 * h, trace
    else:
        h = returned(h, -NUMBERS[name][2] * (3 * LAM + 2 * MU) / (2 * MU) * trace)
    return scipy.linalg.expm(2 * h) - ONE, gained, hencky_stress(h)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "liquid"])
def test_laws_are_those_of_whole_matrices(name):
    F = deformations()
    volume = np.random.default_rng(1).uniform(-0.05, 0.05, len(F)) * (name in ("sand", "snow"))
    found = LAWS[name].law(Numpy, strain_of(F), volume, NUMBERS[name], None)
    strain, after, stress = whole(found[0]), found[1], whole(found[2])
    for k, f in enumerate(F):
        exact = oracle(name, f, volume[k])
        scale = 1 + np.abs(exact[2]).max()
        np.testing.assert_allclose(strain[k], exact[0], atol=EXACT * 10)
        np.testing.assert_allclose(after[k], exact[1], atol=EXACT * 10)
        np.testing.assert_allclose(stress[k], exact[2], atol=100 * EXACT * scale)


def test_a_liquid_resists_volume_and_rates():
    rng = np.random.default_rng(0)
    rate = rng.standard_normal((50, 3, 3))
    rate = rate + rate.transpose(0, 2, 1)
    volume = rng.uniform(-0.2, 0.2, 50)
    lam, viscosity = NUMBERS["liquid"]
    _, _, stress = LAWS["liquid"].law(Numpy, [], volume, (lam, viscosity), packed(rate))
    J = (1 + volume)[:, None, None]
    shear = rate - np.trace(rate, axis1=1, axis2=2)[:, None, None] / 3 * ONE
    np.testing.assert_allclose(whole(stress), lam * J * (J - 1) * ONE + 2 * viscosity * shear, atol=EXACT * 10)


def test_a_yield_stress_is_that_of_a_pulled_bar():
    """Von Mises' stress of what flows is the yield stress."""
    F = deformations(50)
    _, _, stress = LAWS["von_mises"].law(Numpy, strain_of(F), np.zeros(len(F)), NUMBERS["von_mises"], None)
    mises = [math.sqrt(1.5) * np.linalg.norm(dev(s)) for s in whole(stress)]
    assert max(mises) == pytest.approx(NUMBERS["von_mises"][2], rel=1e-10)


def test_strain_advances_as_the_deformation_does():
    rng = np.random.default_rng(0)
    F, L = deformations(50), 0.1 * rng.standard_normal((50, 3, 3))
    found = advanced(strain_of(F), [[L[:, i, j] for j in range(3)] for i in range(3)])
    np.testing.assert_allclose(whole(found), whole(strain_of((ONE + L) @ F)), atol=EXACT)
    np.testing.assert_allclose(determinant_change(strain_of(F)), np.linalg.det(F) ** 2 - 1, atol=10 * EXACT)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e3])
def test_eigenvalues_are_those_of_lapack(scale):
    """Equal ones, and those of a tensor of zeros, too."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((200, 3, 3))
    a = scale * (a + a.transpose(0, 2, 1))
    a[0], a[1], a[2] = 0.0, scale * ONE, scale * np.diag([1.0, 1.0, 2.0])
    values, columns = eigen(Numpy, packed(a))
    np.testing.assert_allclose(np.sort(np.array(values).T), np.linalg.eigvalsh(a), atol=scale * EXACT)
    np.testing.assert_allclose(whole(from_eigen(values, columns)), a, atol=scale * EXACT)


@pytest.fixture(scope="module")
def compiled():
    """Call of a law in compiled code: strains (6, 8), volumes (8,) to 13 rows of results."""
    module = Module()
    for name, kind in LAWS.items():
        with module.function(name, public=True, given=FLOATS, found=FLOATS) as (f, given, found):
            strain = [given.vector(8 * k, 8) for k in range(6)]
            rate = [given.vector(8 * (7 + k), 8) for k in range(6)]
            numbers = [f.constant(x, FLOAT.vector(8)) for x in NUMBERS[name]]
            new, volume, stress = kind.law(Compiled(f), strain, given.vector(48, 8), numbers, rate)
            for k, x in enumerate([*new, volume, *stress]):
                f.store(found + 8 * k, x)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    return dict(zip(LAWS, map(call, load(optimized_machine_code(module.text()), *LAWS)), strict=True))


@pytest.mark.parametrize("name", LAWS)
def test_compiled_laws_are_numpys(compiled, name):
    F = deformations(160)
    rng = np.random.default_rng(2)
    volume, rate = rng.uniform(-0.05, 0.05, len(F)), 0.1 * rng.standard_normal((6, len(F)))
    given = np.concatenate([strain_of(F), volume[None], rate]).astype(np.float32)
    exact = LAWS[name].law(Numpy, list(given[:6].astype(float)), given[6].astype(float), NUMBERS[name], given[7:])
    exact = np.array([*exact[0], exact[1], *exact[2]])
    for k in range(0, len(F) - 7, 8):
        part, found = np.ascontiguousarray(given[:, k : k + 8]), np.zeros((13, 8), np.float32)
        compiled[name](part.ctypes.data, found.ctypes.data)
        scale = 1 + np.abs(exact[:, k : k + 8]).max()
        np.testing.assert_allclose(found, exact[:, k : k + 8], atol=SINGLE * scale)
