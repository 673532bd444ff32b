"""Who owns an object's replicas, as its Scale tells it, and back.

A Scale is another view of one field of an object. While it is written, that field has the Scale's name for it; the
managers that come out of it own the field of the object.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.ownership.fields import Path, contains, difference, fields_at
from windvane.cluster.apiserver.ownership.managers import UPDATE, Share, Shares

AUTOSCALING = "autoscaling/v1"
REPLICAS: Path = ("f:spec", "f:replicas")

Paths = Mapping[str, Path | None]
"""Where each version of a kind has its replicas; None where it has no scale."""


def scale_shares(shares: Shares, paths: Paths) -> Shares:
    """The shares in an object's Scale."""
    scaled = {}
    for manager, share in shares.items():
        path = paths.get(share.api_version)
        if path and contains(share.fields, path):
            known = manager._replace(api_version=AUTOSCALING) if manager.operation == UPDATE else manager
            scaled[known] = Share(fields_at(REPLICAS), AUTOSCALING, share.time)
    return scaled


def parent_shares(shares: Shares, scaled: Shares, paths: Paths, api_version: str) -> Shares:
    """The shares in an object, of which that version was scaled, after its Scale has got these."""
    left: Shares = {}
    new = dict(scaled)
    for manager, share in shares.items():
        if share.api_version not in paths:
            continue
        path = paths[share.api_version]
        if path is None or not contains(share.fields, path):
            left[manager] = share
        elif manager in new:
            left[manager] = share
            del new[manager]
        elif fields := difference(share.fields, fields_at(path)):
            left[manager] = share.of(fields)
    place = paths[api_version]
    for manager, share in new.items():
        if place and contains(share.fields, REPLICAS):
            # As on a real server, nobody notes when that was.
            left[manager] = Share(fields_at(place), api_version)
    return left
