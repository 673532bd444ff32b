"""Authorization attributes: a user, and a verb on a resource or a path."""

from dataclasses import dataclass

from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.request.info import RequestInfo


@dataclass(frozen=True, slots=True)
class Attributes:
    """What an authorizer decides about."""

    user: User
    verb: str
    path: str | None = None
    """The path of a non-resource request, such as `/version`; None for resources."""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def combined_resource(self) -> str:
        """The resource as rules name it, such as `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(info: RequestInfo, user: User) -> Attributes:
    """The attributes of a request, from its RequestInfo alone, whether it is served or not."""
    if not info.is_resource:
        return Attributes(user, info.verb, info.path)
    subresource = "" if info.verb_in_path == "proxy" else info.subresource
    return Attributes(
        user,
        info.verb,
        group=info.group,
        version=info.version,
        resource=info.resource,
        subresource=subresource,
        namespace=info.namespace,
        name=info.selected_name,
    )
