"""Polylines of many environments at once, (n, m, k): paths of m vertices, the last repeated where one has fewer."""

import torch


def arc_lengths(lines: torch.Tensor) -> torch.Tensor:
    """Return the length from the beginning to each vertex, (n, m), in the Euclidean norm of coordinates."""
    steps = (lines[:, 1:] - lines[:, :-1]).norm(dim=-1)
    return torch.nn.functional.pad(steps.cumsum(1), (1, 0))


def compact(lines: torch.Tensor) -> torch.Tensor:
    """Return the lines without vertices that repeat the one before them, as narrow as the longest allows."""
    new = torch.nn.functional.pad((lines[:, 1:] != lines[:, :-1]).any(-1), (1, 0), value=True)
    count = new.sum(1)
    order = torch.sort((~new).long(), dim=1, stable=True).indices
    place = torch.minimum(torch.arange(int(count.max()), device=lines.device), count[:, None] - 1)
    return take(lines, order.gather(1, place))


def take(lines: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return the vertices (n, c, k) of some numbers (n, c)."""
    return lines.gather(1, index[..., None].expand(-1, -1, lines.shape[-1]))


def points_at(lines: torch.Tensor, lengths: torch.Tensor, along: torch.Tensor) -> torch.Tensor:
    """Return the points (n, c, k) at lengths `along` (n, c) from the beginning."""
    after = torch.searchsorted(lengths, along.contiguous(), right=True).clamp(max=lines.shape[1] - 1)
    before = (after - 1).clamp(min=0)
    begin, width = lengths.gather(1, before), lengths.gather(1, after) - lengths.gather(1, before)
    share = torch.where(width > 0, (along - begin) / width, 0.0).clamp(0.0, 1.0)[..., None]
    return take(lines, before) + share * (take(lines, after) - take(lines, before))


def replace(lines: torch.Tensor, begin: torch.Tensor, end: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Return lines in which straight edges replace the part between the lengths `begin` and `end` (n,), if chosen."""
    lengths = arc_lengths(lines)
    between = (lengths > begin[:, None]) & (lengths < end[:, None]) & chosen[:, None]
    corners = points_at(lines, lengths, torch.stack((begin, end), 1))
    outside = torch.where(chosen[:, None], torch.stack((begin, end), 1), torch.inf)
    keys = torch.cat((torch.where(between, torch.inf, lengths), outside), 1)
    # vertices of equal length keep their order, corners come after them; dropped vertices go to the end
    order = torch.sort(keys, dim=1, stable=True)
    kept = torch.isfinite(order.values)
    place = torch.where(kept, torch.arange(keys.shape[1], device=lines.device), 0)
    last = place.amax(1, keepdim=True)
    vertices = take(torch.cat((lines, corners), 1), order.indices)
    return compact(take(vertices, torch.where(kept, place, last)))


def sampled(lines: torch.Tensor, count: int) -> torch.Tensor:
    """Return `count` waypoints (n, count, k) by arc length; the vertices are among them, if they are not more.

    Waypoints are evenly spaced between two vertices, and almost evenly along the whole.
    """
    n, m, _ = lines.shape
    lengths = arc_lengths(lines)
    total, device = lengths[:, -1:], lines.device
    even = points_at(lines, lengths, torch.linspace(0.0, 1.0, count, dtype=lines.dtype, device=device) * total)
    # the waypoint of each vertex: the nearest, apart from each other, the first and the last at the ends
    ranks = torch.nn.functional.pad((lines[:, 1:] != lines[:, :-1]).any(-1), (1, 0)).long().cumsum(1)
    wanted = (lengths / total.clamp(min=torch.finfo(lines.dtype).tiny) * (count - 1)).round().long()
    wanted = torch.minimum(wanted, count - 1 - ranks[:, -1:] + ranks)
    wanted = torch.cummax(wanted - ranks, dim=1).values + ranks
    # waypoints between two vertices
    index = torch.arange(count, device=device).expand(n, count).contiguous()
    after = torch.searchsorted(wanted, index, right=True).clamp(max=m - 1)
    before = (after - 1).clamp(min=0)
    begin, end = wanted.gather(1, before), wanted.gather(1, after)
    share = ((index - begin).to(lines.dtype) / (end - begin).clamp(min=1).to(lines.dtype))[..., None]
    found = take(lines, before) + share * (take(lines, after) - take(lines, before))
    found = torch.where(ranks[:, -1:, None] < count, found, even)
    found[:, 0], found[:, -1] = lines[:, 0], lines[:, -1]
    return found
