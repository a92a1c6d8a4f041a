"""Contacts for people: batched tensors made from the contact slots of the scratch."""

from dataclasses import dataclass

import torch

from ...base.fields import layout
from ...model.state.fields import INDICES

SOURCES = (
    *("con_dist", "con_pos", "con_frame", "con_present", "con_pull", "con_own1", "con_own2"),
    *("block_force", "block_friction"),
)
"""Fields that contacts are made of."""


PLACES = ("con_present", "con_own1", "con_own2")
"""Fields that say which geoms touch."""


@dataclass(frozen=True)
class Contacts:
    """Contacts of a batch, n slots each.

    Attributes:
        geom: (num_envs, n, 2) int64, geom ids.
        pos: (num_envs, n, 3) m, midway between the surfaces.
        frame: (num_envs, n, 3, 3), rows: normal from geom 1 to geom 2, two tangents.
        dist: (num_envs, n) m, negative when penetrating.
        friction: (num_envs, n, 5): two sliding, one spinning, two rolling coefficients.
        force: (num_envs, n, 6) N and N m, in the contact frame: normal, two tangential; spin, two rolls. The
            force that pulls a contact with adhesion is subtracted from the normal one.
        mask: (num_envs, n) bool; entries without it are zero and mean nothing, except contacts that are asleep.
        asleep: (num_envs, n) bool, contacts among sleeping bodies: no constraints, and `force` would hold the body if
            it were awake.
    """

    geom: torch.Tensor
    pos: torch.Tensor
    frame: torch.Tensor
    dist: torch.Tensor
    friction: torch.Tensor
    force: torch.Tensor
    mask: torch.Tensor
    asleep: torch.Tensor


def with_asleep(contacts: Contacts, awake: Contacts, sleeps: torch.Tensor, geom_trees: torch.Tensor) -> Contacts:
    """Append the contacts among sleeping bodies to the contacts.

    Args:
        contacts: of bodies that are awake.
        awake: all contacts as if nothing slept.
        sleeps: trees, (num_envs, ntree) bool.
        geom_trees: tree of every geom (ngeom,), below 0 where it has none.
    """
    trees = geom_trees[awake.geom]
    rows = torch.arange(len(sleeps), device=trees.device)[:, None, None]
    still = (trees < 0) | sleeps[rows, trees.clamp(min=0)]
    asleep = awake.mask & still.all(dim=2)
    kept = {}
    for name in ("geom", "pos", "frame", "dist", "friction", "force"):
        value = getattr(awake, name)
        shown = asleep.reshape(*asleep.shape, *[1] * (value.dim() - 2))
        kept[name] = torch.cat((getattr(contacts, name), torch.where(shown, value, torch.zeros_like(value))), 1)
    not_asleep = torch.zeros_like(asleep)
    return Contacts(
        **kept,
        mask=torch.cat((contacts.mask, not_asleep), 1),
        asleep=torch.cat((torch.zeros_like(contacts.mask), asleep), 1),
    )


def touching_geoms(
    num_envs: int, fields: dict[str, torch.Tensor], dump: torch.Tensor, sizes: dict[str, int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return pairs of geoms (num_envs, n, 2) int64 and which of the n slots are contacts (num_envs, n) bool.

    Arguments as in `batched_contacts`, with the fields `PLACES`.
    """
    offsets = layout(INDICES, sizes)[0]
    width = len(fields["con_present"]) // len(dump)
    used = dump[:, offsets["tile_ncon"]].long()
    n = int(used.max()) if len(used) else 0
    seen = (torch.arange(n, device=dump.device) < used[:, None]).repeat_interleave(width, 0)[:num_envs]
    mask = seen & (fields["con_present"][:num_envs, :n] > 0.5)
    if fields["con_own1"].shape[1]:
        geom = torch.stack([fields[name][:num_envs, :n].long() for name in ("con_own1", "con_own2")], -1)
    else:
        places = [dump[:, offsets[name] : offsets[name] + n].long() for name in ("con_geom1", "con_geom2")]
        geom = torch.stack(places, -1).repeat_interleave(width, 0)[:num_envs]
    return torch.where(mask[..., None], geom, 0), mask


def batched_contacts(
    num_envs: int, fields: dict[str, torch.Tensor], dump: torch.Tensor, sizes: dict[str, int]
) -> Contacts:
    """Contacts of all environments, from the fields (tiles W, numbers) and the indices (tiles, integers)."""
    offsets = layout(INDICES, sizes)[0]
    tiles, width = len(dump), len(fields["con_dist"]) // len(dump)
    used = dump[:, offsets["tile_ncon"]].long()
    n = int(used.max()) if len(used) else 0
    slot = torch.arange(n, device=dump.device)
    in_use = (slot < used[:, None])[:, :, None]
    block = torch.where(in_use[:, :, 0], dump[:, offsets["tile_conadr"], None].long() + slot, 0)

    def of_lanes(per_tile: torch.Tensor) -> torch.Tensor:
        return per_tile.repeat_interleave(width, 0)[:num_envs]

    def integers(name: str) -> torch.Tensor:
        return dump[:, offsets[name] : offsets[name] + n].long()

    def field(name: str, components: int) -> torch.Tensor:
        numbers = fields[name]
        return numbers.reshape(len(numbers), numbers.shape[1] // components, components)[:num_envs, :n]

    def of_block(name: str, components: int) -> torch.Tensor:
        numbers = fields[name][:num_envs].reshape(num_envs, -1, components)
        chosen = of_lanes(block)[..., None].expand(num_envs, n, components)
        return numbers.gather(1, chosen) if n else numbers[:, :0]

    dims = of_lanes(dump.gather(1, offsets["block_dim"] + block))
    seen = in_use.expand(tiles, n, width).permute(0, 2, 1).reshape(tiles * width, n)[:num_envs]
    mask = seen & (field("con_present", 1)[..., 0] > 0.5)

    def masked(value: torch.Tensor) -> torch.Tensor:
        return torch.where(mask.reshape(*mask.shape, *[1] * (value.dim() - 2)), value, torch.zeros_like(value))

    if fields["con_own1"].shape[1]:
        geom = torch.cat((field("con_own1", 1), field("con_own2", 1)), -1).long()
    else:
        geom = of_lanes(torch.stack((integers("con_geom1"), integers("con_geom2")), -1))
    force = torch.where(torch.arange(6, device=dump.device) < dims[..., None], of_block("block_force", 6), 0.0)
    if fields["con_pull"].shape[1]:
        force[..., 0] -= field("con_pull", 1)[..., 0]
    return Contacts(
        geom=masked(geom),
        pos=masked(field("con_pos", 3)),
        frame=masked(field("con_frame", 9)).reshape(num_envs, n, 3, 3),
        dist=masked(field("con_dist", 1)[..., 0]),
        friction=masked(of_block("block_friction", 5)),
        force=masked(force),
        mask=mask,
        asleep=torch.zeros_like(mask),
    )
