"""What a request is about in the words of RBAC: a verb and a resource, or a verb and a path.

This is read from the request alone, not from what is served: whether somebody may ask comes before whether there is
anything to ask for. It must see the same in a path as `target.find_target` does, or one could ask for one thing and
get another.
"""

from dataclasses import dataclass
from urllib.parse import unquote

from windvane.api.field_selector import FieldSelector
from windvane.api.names import path_segment_problems
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.options import is_on, read_query
from windvane.cluster.apiserver.verbs import VERBS

# Words that old paths have in place of `?watch=true`, as in /api/v1/watch/pods.
VERBS_IN_PATH = frozenset({"proxy", "watch"})
ABOUT_NAMESPACES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class Attributes:
    """Somebody who wants to do something."""

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


def attributes_of(request: Request, user: User) -> Attributes:
    """What a request of this user's is about."""
    path = unquote(request.path)
    parts = [unquote(part) for part in request.path.strip("/").split("/")]
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return Attributes(user, request.method.lower(), path)
    verb = VERBS.get(request.method, "")
    if rest[0] in VERBS_IN_PATH and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in ABOUT_NAMESPACES:
            rest = rest[2:]
    resource, name, subresource, *_ = [*rest, "", ""]
    if verb == "proxy":
        subresource = ""
    if not name and verb == "get":
        verb, name = _of_list(request)
    elif not name and verb == "delete":
        verb = "deletecollection"
    return Attributes(user, verb, None, group, version, resource, subresource, namespace, name)


def _of_list(request: Request) -> tuple[str, str]:
    """Whether it is a list or a watch, and the one name that its field selector leaves."""
    query = read_query(request.query)
    verb = "watch" if is_on(query, "watch") else "list"
    try:
        selector = FieldSelector.parse(query.get("fieldSelector", ""))
    except ValueError:
        return verb, ""
    for each in selector.requirements:
        if each.field == "metadata.name" and each.operator == "=" and not path_segment_problems(each.value):
            return verb, each.value
    return verb, ""
