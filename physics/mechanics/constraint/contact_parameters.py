"""The parameters of a contact: from its explicit pair (MJCF's <pair>), or mixed from its two geoms.

MuJoCo documentation, Modeling: Contact parameters. `pair` is the result of `pair_of_contact`: -1 to mix the geoms'.
"""

import taichi as ti

from ...base.math import func

MINIMUM = 1e-15  # MuJoCo's mjMINVAL
LEAST_IMPEDANCE, MOST_IMPEDANCE = 1e-4, 0.9999  # mjMINIMP, mjMAXIMP
LEAST_FRICTION = 1e-5  # mjMINMU
DEFAULT_SOLREF = (0.02, 1.0)


@func
def contact_dimension(model, pair: ti.i32, g1: ti.i32, g2: ti.i32):
    """Return condim: that of the geom of higher priority, or the larger of both."""
    first, second = model.geom_condim[g1], model.geom_condim[g2]
    dim = _by_priority(model, g1, g2, first, second, ti.max(first, second))
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            dim = model.pair_dim[pair]
    return dim


@func
def share_of_first(model, g1: ti.i32, g2: ti.i32):
    """Return the weight in [0, 1] of geom 1 in mixed solver parameters: by priority, or by solmix."""
    zero = model.geom_solmix[g1] * 0.0
    first = ti.select(model.geom_solmix[g1] < MINIMUM, zero, model.geom_solmix[g1])
    second = ti.select(model.geom_solmix[g2] < MINIMUM, zero, model.geom_solmix[g2])
    both = first + second
    share = ti.select(both > 0.0, first / ti.select(both > 0.0, both, zero + 1.0), zero + 0.5)
    return _by_priority(model, g1, g2, zero + 1.0, zero, share)


@func
def _by_priority(model, g1: ti.i32, g2: ti.i32, first, second, mixed):
    """Return `first` or `second`, that of the geom of higher priority, or `mixed` if both have the same."""
    value = mixed
    priority = model.geom_priority[g1] - model.geom_priority[g2]
    if priority > 0:
        value = first
    elif priority < 0:
        value = second
    return value


@func
def friction(model, pair: ti.i32, g1: ti.i32, g2: ti.i32, c):
    """Return friction coefficient c (Python integer): 0 sliding, 1 spinning, 2 rolling.

    It is that of the geom of higher priority, or the larger of both. An explicit pair has two sliding and two rolling
    coefficients, of which this is the first.
    """
    first, second = model.geom_friction.at(g1, c), model.geom_friction.at(g2, c)
    mu = _by_priority(model, g1, g2, first, second, ti.max(first, second))
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            mu = model.pair_friction.at(pair, (0, 2, 3)[c])
    return ti.max(mu, LEAST_FRICTION)


@func
def put_other_friction(model, work, pair: ti.i32, block: ti.i32):
    """Set the second sliding and the second rolling coefficient of an explicit pair."""
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            for axis in ti.static((1, 4)):
                mu = work.real(ti.max(model.pair_friction.at(pair, axis), LEAST_FRICTION))
                work.block_friction.at(block, axis)._assign(mu)


@func
def solref(model, pair: ti.i32, g1: ti.i32, g2: ti.i32, share):
    """Return the mixed `solref`: time constant (s) and damping ratio, or -stiffness and -damping; see `reference`."""
    first0, first1 = model.geom_solref.at(g1, 0), model.geom_solref.at(g1, 1)
    second0, second1 = model.geom_solref.at(g2, 0), model.geom_solref.at(g2, 1)
    mixed0 = share * first0 + (1.0 - share) * second0
    mixed1 = share * first1 + (1.0 - share) * second1
    # Geoms of equal priority: mixed if both are in the standard format, else the smaller of both.
    if model.geom_priority[g1] == model.geom_priority[g2]:
        standard = (first0 > 0.0) & (second0 > 0.0)
        mixed0 = ti.select(standard, mixed0, ti.min(first0, second0))
        mixed1 = ti.select(standard, mixed1, ti.min(first1, second1))
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            mixed0, mixed1 = model.pair_solref.at(pair, 0), model.pair_solref.at(pair, 1)
    return mixed0, mixed1


@func
def friction_damping(model, pair: ti.i32, damping, dmax):
    """Return the damping of the friction axes of an elliptic contact: by `solreffriction`, if its pair has one."""
    across = damping
    if ti.static(model.has.friction_reference):
        if pair >= 0:
            first, second = model.pair_solreffriction.at(pair, 0), model.pair_solreffriction.at(pair, 1)
            own = reference(model, first, second, dmax)[1]
            unclear = (first > 0.0) ^ (second > 0.0)  # MuJoCo takes that of the normal then, as without one
            none = ((first == 0.0) & (second == 0.0)) | unclear
            across = ti.select(none, damping, own)
    return across


@func
def solimp(model, pair: ti.i32, g1: ti.i32, g2: ti.i32, share, c):
    """Return impedance parameter c (dmin, dmax, width, midpoint, power), clamped to the ranges that MuJoCo enforces."""
    value = share * model.geom_solimp.at(g1, c) + (1.0 - share) * model.geom_solimp.at(g2, c)
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            value = model.pair_solimp.at(pair, c)
    if ti.static(c == 2):
        value = ti.max(value, 0.0)
    elif ti.static(c == 4):
        value = ti.max(value, 1.0)
    else:
        value = ti.min(ti.max(value, LEAST_IMPEDANCE), MOST_IMPEDANCE)
    return value


@func
def reference(model, first, second, dmax):
    """Return stiffness K and damping B of the reference acceleration -B v - K d (x - margin), from a `solref`."""
    unclear = (first > 0.0) ^ (second > 0.0)  # MuJoCo takes its default then
    timeconst = ti.select(unclear, first * 0.0 + DEFAULT_SOLREF[0], first)
    dampratio = ti.select(unclear, second * 0.0 + DEFAULT_SOLREF[1], second)
    # Positive numbers are time constant and damping ratio, others -stiffness and -damping.
    slow = ti.max(timeconst, model.least_timeconst[0])
    frequency = slow * dampratio
    standard = 1.0 / ti.max(dmax * dmax * frequency * frequency, MINIMUM)
    stiffness = ti.select(timeconst > 0.0, standard, -timeconst / ti.max(dmax * dmax, MINIMUM))
    damping = ti.select(dampratio > 0.0, 2.0 / ti.max(dmax * slow, MINIMUM), -dampratio / ti.max(dmax, MINIMUM))
    return stiffness, damping
