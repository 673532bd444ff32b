"""What a request says about the form that its answer should have."""

from collections.abc import Mapping

from windvane.api.partial import Metadata
from windvane.api.resource import Object

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def for_one(what: type[Object]) -> Mapping[str, str]:
    """The headers of a request that is answered with objects of a class, one by one."""
    return {**JSON, "Accept": PARTIAL} if issubclass(what, Metadata) else JSON


def for_list(what: type[Object]) -> Mapping[str, str]:
    """The headers of a request that is answered with a list of them."""
    return {**JSON, "Accept": PARTIAL_LIST} if issubclass(what, Metadata) else JSON
