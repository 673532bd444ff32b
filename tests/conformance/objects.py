"""Objects that tests send: the smallest that the server accepts of each kind, with what a test adds."""

from typing import Any

Thing = dict[str, Any]


def config_map(name: str = "a", /, **rest: Any) -> Thing:
    """`data=` and the like go to the top; metadata's fields are merged into it."""
    return {"metadata": {"name": name, **rest.pop("metadata", {})}, **rest}


def pod(name: str = "p", /, *, metadata: Thing | None = None, container: Thing | None = None, **spec: Any) -> Thing:
    main = {"name": "main", "image": "nginx", **(container or {})}
    return {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": [main], **spec}}


def template(*, labels: Thing | None = None, **spec: Any) -> Thing:
    containers = [{"name": "main", "image": "nginx"}]
    return {"metadata": {"labels": labels or {"app": "web"}}, "spec": {"containers": containers, **spec}}


def deployment(name: str = "web", /, *, metadata: Thing | None = None, **spec: Any) -> Thing:
    """A Deployment; the same text is a ReplicaSet, and with `serviceName=` a StatefulSet."""
    selector = {"matchLabels": {"app": "web"}}
    made = {"selector": selector, "template": template(), **spec}
    return {"metadata": {"name": name, **(metadata or {})}, "spec": made}


def service(name: str = "s", /, **spec: Any) -> Thing:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def job(name: str = "j", /, **spec: Any) -> Thing:
    made = {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "nginx"}]}},
        **spec,
    }
    return {"metadata": {"name": name}, "spec": made}


def without(thing: Thing, *path: str) -> Thing:
    """A copy that lacks one field."""
    first, *rest = path
    if rest:
        return {**thing, first: without(thing[first], *rest)}
    return {key: value for key, value in thing.items() if key != first}
