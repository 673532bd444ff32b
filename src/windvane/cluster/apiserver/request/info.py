"""RequestInfo: the path and method of a request, parsed once, before it is known what is served.

Authorization uses it, and so does the lookup of the kind: what is allowed is what is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote

from windvane.api.field_selector import FieldSelector
from windvane.api.names import path_segment_problems
from windvane.client.transport import Request
from windvane.cluster.apiserver.request.options import Query, is_on, read_query

VERBS: Mapping[str, str] = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
VERBS_IN_PATH = frozenset({"proxy", "watch"})
"""Verbs in old paths, such as /api/v1/watch/pods."""
ABOUT_NAMESPACES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """A request in the words of the Kubernetes API: a verb and a resource, or a verb and a path."""

    method: str
    path: str
    """The whole path, unescaped."""
    segments: tuple[str, ...]
    """The parts of the path as it was sent, each unescaped."""
    query: Query
    is_resource: bool = False
    """Whether the path is that of a resource, served or not."""
    verb_in_path: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    in_namespace: bool = False
    """Whether the resource is in the namespace, and not the namespace itself."""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    more: tuple[str, ...] = ()
    """What comes after the subresource."""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Read a request."""
        path, query = unquote(request.path), read_query(request.query)
        segments = tuple(unquote(segment) for segment in request.path.strip("/").split("/"))
        if segments[0] == "api" and len(segments) > 2:
            group, version, rest = "", segments[1], segments[2:]
        elif segments[0] == "apis" and len(segments) > 3:
            group, version, rest = segments[1], segments[2], segments[3:]
        else:
            return cls(request.method, path, segments, query)
        verb_in_path = rest[0] if rest[0] in VERBS_IN_PATH and len(rest) > 1 else ""
        rest = rest[1:] if verb_in_path else rest
        # `namespaces/x` is the namespace itself, `namespaces/x/pods` is in it, `namespaces/x/status` is about it.
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 1 else ""
        in_namespace = rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ABOUT_NAMESPACES
        resource, name, subresource, *more = [*(rest[2:] if in_namespace else rest), "", ""]
        return cls(
            request.method,
            path,
            segments,
            query,
            is_resource=True,
            verb_in_path=verb_in_path,
            group=group,
            version=version,
            namespace=namespace,
            in_namespace=in_namespace,
            resource=resource,
            name=name,
            subresource=subresource,
            more=tuple(each for each in more if each),
        )

    @property
    def verb(self) -> str:
        """The verb of RBAC: `list`, `deletecollection`; for non-resource paths the method in lower case."""
        if not self.is_resource:
            return self.method.lower()
        if self.verb_in_path:
            return self.verb_in_path
        verb = VERBS.get(self.method, "")
        if self.name:
            return verb
        if verb == "get":
            return "watch" if is_on(self.query, "watch") else "list"
        return "deletecollection" if verb == "delete" else verb

    @property
    def selected_name(self) -> str:
        """The name in the path, or the one that the field selector of a list or a watch selects."""
        if self.name or self.verb_in_path or VERBS.get(self.method) != "get":
            return self.name
        try:
            selector = FieldSelector.parse(self.query.get("fieldSelector", ""))
        except ValueError:
            return ""
        for each in selector.requirements:
            if each.field == "metadata.name" and each.operator == "=" and not path_segment_problems(each.value):
                return each.value
        return ""
