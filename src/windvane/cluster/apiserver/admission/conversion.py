"""Converts objects for webhooks and policies to the version that their rules match."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource_type import ResourceType


async def converted(type_: ResourceType, wire: Wire, version: ResourceType) -> Wire:
    """An object of `type_` as `version`, which is the same kind in another version or group."""
    if type_ is version:
        return wire
    if type_.versions is not None and type_.versions.convert is not None:
        return await type_.versions.convert(type_, wire, version)
    rest = {key: value for key, value in wire.items() if key not in ("apiVersion", "kind")}
    form = version.strategy.from_storage(type_.strategy.to_storage(rest))
    return {"apiVersion": version.kind.api_version, "kind": version.kind.name, **form}
