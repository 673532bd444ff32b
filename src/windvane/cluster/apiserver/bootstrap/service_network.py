"""Moves Services to another network, when a cluster starts with another than before.

Addresses are immutable for clients, so they are changed before the server takes requests. Each Service keeps its host
number: 127.200.0.10 becomes 127.201.0.10, if that is free.
"""

import logging
from ipaddress import IPv4Address, IPv4Network

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.service_addresses import SERVICES, ServiceAddresses
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

log = logging.getLogger(__name__)


async def move_services(store: Store, catalog: Catalog, writer: Writer, network: IPv4Network) -> None:
    """Give all Services addresses of this network that have others."""
    addresses = ServiceAddresses(store, network)

    def moved(wire: Wire) -> Wire:
        spec = wire["spec"]
        spec["clusterIP"] = str(network[int(IPv4Address(spec["clusterIP"])) & int(network.hostmask)])
        if addresses.assign(wire):  # another has that
            spec["clusterIP"] = ""
            addresses.assign(wire)
        return wire

    count = 0
    for entry in store.entries(SERVICES):
        wire = msgspec.json.decode(entry.value)
        address = wire["spec"].get("clusterIP") or "None"
        if address != "None" and IPv4Address(address) not in network:
            place = wire["metadata"]
            target = Target(catalog.types["", "v1", "services"], place["namespace"], place["name"])
            await writer.amend(target, moved)
            count += 1
    if count:
        log.warning("%d Services have new addresses: those of this cluster are in %s now", count, network)
