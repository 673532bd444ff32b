"""How somebody wants to talk to a pod, a service or a node: options that are objects to who is asked about it."""

from collections.abc import Mapping

from windvane.api.markers import Int32
from windvane.api.struct import Struct


class _Options(Struct):
    api_version: str = ""
    kind: str = ""


class PodAttachOptions(_Options):
    """To a container that runs."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False
    container: str = ""


class PodExecOptions(PodAttachOptions):
    """To a command in it."""

    command: list[str] = []


class PodPortForwardOptions(_Options):
    """To ports of a pod."""

    ports: list[Int32] = []


class PodProxyOptions(_Options):
    """To what listens in a pod, over HTTP."""

    path: str = ""


class ServiceProxyOptions(PodProxyOptions):
    """To what is behind a service."""


class NodeProxyOptions(PodProxyOptions):
    """To what listens on a node."""


CONNECT_OPTIONS: Mapping[str, type[Struct]] = {
    cls.__name__: cls
    for cls in (
        NodeProxyOptions,
        PodAttachOptions,
        PodExecOptions,
        PodPortForwardOptions,
        PodProxyOptions,
        ServiceProxyOptions,
    )
}
"""By kind; all of them are of v1."""
