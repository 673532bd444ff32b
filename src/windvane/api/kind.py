"""A kind is the address of a type of objects: group, version, names and scope, and the paths they imply."""

import re
from dataclasses import dataclass
from urllib.parse import quote

_BUILT_IN_GROUP = re.compile(r"(^|\.)(k8s|kubernetes)\.io$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Everything about a kind that a request needs."""

    group: str
    """Empty for the core group."""
    version: str
    name: str
    """As `kind:` in a manifest says it, such as `Deployment`."""
    plural: str
    """As URLs and RBAC rules say it, such as `deployments`."""
    namespaced: bool = True
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.singular:
            object.__setattr__(self, "singular", self.name.lower())

    @property
    def api_version(self) -> str:
        """As `apiVersion:` in a manifest says it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """As errors and `kubectl` say it: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def __str__(self) -> str:
        return f"{self.name} ({self.api_version})"

    def collection_path(self, namespace: str = "") -> str:
        """The path of the objects in `namespace`, or of all objects."""
        root = f"/apis/{self.group}" if self.group else "/api"
        if not namespace:
            return f"{root}/{self.version}/{self.plural}"
        if not self.namespaced:
            raise ValueError(f"{self} is not namespaced; leave out namespace={namespace!r}")
        return f"{root}/{self.version}/namespaces/{path_segment(namespace)}/{self.plural}"

    def path(self, name: str, namespace: str = "", subresource: str = "") -> str:
        """The path of one object, or of one of its subresources."""
        if self.namespaced and not namespace:
            raise ValueError(f"{self} {name!r} lives in a namespace; say which")
        path = f"{self.collection_path(namespace)}/{path_segment(name)}"
        return f"{path}/{subresource}" if subresource else path


def path_segment(name: str) -> str:
    """`name` as one segment of a URL, or ValueError if it could mean another path."""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise ValueError(f"{name!r} can't be a name: not empty, not '.' or '..', and no '/' or '%' in it")
    return quote(name, safe=":@")


def pluralize(singular: str) -> str:
    """The usual English plural in lower case; give `plural=` where it is wrong."""
    word = singular.lower()
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def is_custom(kind: Kind) -> bool:
    """Whether a CRD can define the kind: groups without a dot and those of the Kubernetes community are built in."""
    return "." in kind.group and not _BUILT_IN_GROUP.search(kind.group)
