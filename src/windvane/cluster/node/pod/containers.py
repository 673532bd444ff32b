"""The containers of a pod, of whichever sort: those that prepare it, those that it is for, and those to debug it."""

from collections.abc import Iterator

from windvane.k8s.core import Container, Pod


def every_container(pod: Pod) -> Iterator[Container]:
    """All of them. No two have the same name."""
    yield from pod.spec.init_containers
    yield from pod.spec.containers
    yield from ephemeral_containers(pod)


def ephemeral_containers(pod: Pod) -> list[Container]:
    """Those that were added to a pod that was there, for debugging. The rest of the pod does not depend on them."""
    fields = Container.__struct_fields__
    return [Container(**{name: getattr(each, name) for name in fields}) for each in pod.spec.ephemeral_containers]
