"""The options of connect requests: exec, attach, port-forward and proxy. Admission sees them as objects."""

from collections.abc import Mapping

from windvane.api.markers import Int32
from windvane.api.struct import Struct


class _Options(Struct):
    api_version: str = ""
    kind: str = ""


class PodAttachOptions(_Options):
    """Attach to a running container."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False
    container: str = ""


class PodExecOptions(PodAttachOptions):
    """Run a command in a container."""

    command: list[str] = []


class PodPortForwardOptions(_Options):
    """Forward ports of a pod."""

    ports: list[Int32] = []


class PodProxyOptions(_Options):
    """Proxy HTTP to a pod."""

    path: str = ""


class ServiceProxyOptions(PodProxyOptions):
    """Proxy HTTP to a Service."""


class NodeProxyOptions(PodProxyOptions):
    """Proxy HTTP to a node."""


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
