"""Properties that count parts: how many there are from a start to an end."""

from typing import Any


def count(kind: str, what: str) -> Any:
    """Return a property: the number of an owner's parts of a kind, from `<kind>_start` to `<kind>_end`."""

    def counted(owner: Any) -> int:
        return getattr(owner, f"{kind}_end") - getattr(owner, f"{kind}_start")

    return property(counted, doc=f"Number of {what}.")


def total(kind: str, what: str) -> Any:
    """Return a property: the number of parts of a kind of all geoms of an owner."""
    return property(lambda owner: sum(getattr(geom, f"n_{kind}s") for geom in owner.geoms), doc=f"Number of {what}.")


def bound(kind: str, end: str, what: str) -> Any:
    """Return a property: where the parts of a kind of a geom start or end in the model's store of geometry."""

    def found(geom: Any) -> int:
        return int(getattr(geom.entity.world.model.geometry, f"{kind}_{end}")[geom.idx])

    return property(found, doc=what)
