"""Hooks: several mechanisms may stand in one."""

from types import SimpleNamespace

from tumble.physics.base.hooks import Hook


def test_mechanisms_that_change_the_same_number_do_it_one_after_the_other():
    """Each gets what those before it have made of the usual number; those that a kernel has not are left out."""
    hook = Hook("(x, usual): return a number instead of `usual`.")
    hook.add("doubled", lambda x, usual: 2 * usual)
    hook.add("missing", lambda x, usual: 1 / 0)
    hook.add("shifted", lambda x, usual: usual + x)

    def found(doubled, shifted):
        return hook.around(SimpleNamespace(doubled=doubled, missing=False, shifted=shifted), lambda x: 10 + x)(3)

    assert [found(False, False), found(True, False), found(False, True), found(True, True)] == [13, 26, 16, 29]
