"""What access control decides about: a user, and a verb with a resource, or with a path."""

from dataclasses import dataclass

from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.request.info import RequestInfo


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a user wants to do."""

    user: User
    verb: str
    path: str | None = None
    """What is asked for, if it is no resource: `/version`, say. None if it is one."""
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
    """What a request of this user's is about. That is known from the request alone, not from what is served."""
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
