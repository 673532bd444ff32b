"""Converting: a Route that had one host in v1beta1 has several in v1, and whoever knows only one of them goes on.

windvane run examples/convert_versions.py --install-crds

Objects are stored in v1. Whatever version they were written in, they can be had in either. What v1beta1 has no field
for is kept in an annotation, so that nothing is lost on the way there and back.
"""

from windvane import Column, Operator, Resource, Spec, Status

GROUP = "examples.windvane.dev"
MORE_HOSTS = "examples.windvane.dev/more-hosts"


class RouteV1Beta1Spec(Spec):
    host: str
    """Whose requests it takes."""


class RouteV1Beta1(
    Resource[RouteV1Beta1Spec, Status],
    group=GROUP,
    version="v1beta1",
    kind="Route",
    stored=False,
    deprecated="examples.windvane.dev/v1beta1 Route has one host only; use v1",
    columns=[Column("Host", ".spec.host")],
    ready_column=False,
):
    """Where requests go."""


class RouteSpec(Spec):
    hosts: list[str]
    """Whose requests it takes."""


class Route(
    Resource[RouteSpec, Status],
    group=GROUP,
    version="v1",
    columns=[Column("Hosts", ".spec.hosts", type="string")],
    ready_column=False,
):
    """Where requests go."""


operator = Operator("routes")


@operator.convert(RouteV1Beta1, Route)
def up(old: RouteV1Beta1) -> Route:
    more = old.metadata.annotations.pop(MORE_HOSTS, "").split()
    return Route(metadata=old.metadata, spec=RouteSpec(hosts=[old.spec.host, *more]), status=old.status)


@operator.convert(Route, RouteV1Beta1)
def down(new: Route) -> RouteV1Beta1:
    first, *more = new.spec.hosts or [""]
    if more:
        new.metadata.annotations[MORE_HOSTS] = " ".join(more)
    return RouteV1Beta1(metadata=new.metadata, spec=RouteV1Beta1Spec(host=first), status=new.status)
