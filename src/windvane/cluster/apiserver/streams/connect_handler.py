"""Subresources of pods that only the kubelet can answer: checks each request, and passes it to the node's kubelet."""

from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from urllib.parse import quote, unquote, urlencode

from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.answer import Answer, Conversation
from windvane.cluster.apiserver.authorization.access_control import AccessControl
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.cluster.apiserver.failure import bad_request, failure, forbidden
from windvane.cluster.apiserver.pipeline.call import Call
from windvane.cluster.apiserver.pipeline.reader import Reader
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.storage_codec import unpack
from windvane.cluster.apiserver.request.options import is_on
from windvane.cluster.apiserver.streams.dialer import dial_pod
from windvane.cluster.apiserver.streams.log_options import read_log_options
from windvane.cluster.apiserver.streams.port_forward import PortForward
from windvane.cluster.apiserver.streams.port_forward_tunnel import PortForwardTunnel
from windvane.cluster.apiserver.streams.proxy import endpoint_of, forward, port_of_pod, read_name, unavailable
from windvane.cluster.apiserver.streams.remote_command import RemoteCommand
from windvane.cluster.apiserver.target import Target
from windvane.cluster.kubelet import Kubelet, Unavailable, Wiring
from windvane.k8s.core import Pod, Service
from windvane.k8s.discovery import EndpointSlice

Kubelets = MutableMapping[str, Kubelet]
"""By the name of the node."""
TEXT = "text/plain"
OPTIONS = {"attach": "AttachOptions", "exec": "ExecOptions", "portforward": "PortForwardOptions"}


class ConnectHandler:
    """Answers logs, exec, attach, port-forward and proxy."""

    def __init__(self, reader: Reader, catalog: Catalog, access: AccessControl, kubelets: Kubelets) -> None:
        self._reader = reader
        self._catalog = catalog
        self._access = access
        self._kubelets = kubelets

    async def answer(self, call: Call, admission: Admission) -> Answer:
        """The answer to a request for `log`, `exec`, `attach`, `portforward` or `proxy`."""
        if call.target.subresource == "log":
            return await self._log(call)
        options = await admission.connect(_options(call))
        if call.target.subresource == "proxy":
            return await self._proxy(call, _proxied_path(call, options))
        self._check_create(call)
        pod = self._pod(call.target)
        if call.target.subresource == "portforward":
            dial = dial_pod(self._kubelet(pod), pod)
            return _talk(call, PortForwardTunnel(dial), PortForward(dial, _ports(options)))
        container, kubelet = container_of(pod, options.get("container") or ""), self._kubelet(pod)
        wiring = _wiring(options)
        if call.target.subresource == "attach":
            return _talk(call, RemoteCommand(lambda: kubelet.attach(pod, container, wiring), wiring))
        command = options.get("command") or []
        if not command:
            raise bad_request("you must specify a command")
        return _talk(call, RemoteCommand(lambda: kubelet.exec(pod, container, command, wiring), wiring))

    async def _log(self, call: Call) -> Answer:
        options = read_log_options(call.target.name, call.query)
        pod = self._pod(call.target)
        container = container_of(pod, call.query.get("container", ""))
        if not pod.spec.node_name:
            return Answer(204)
        try:
            stream = await self._kubelet(pod).logs(pod, container, options)
        except Unavailable as error:
            raise bad_request(str(error)) from None
        return Answer(content_type=TEXT, stream=stream, unhurried=True)

    async def _proxy(self, call: Call, path: str) -> Answer:
        target, what = call.target, call.target.type.kind.resource
        if what not in ("pods", "services"):
            raise failure(501, "NotImplemented", f"the proxy to {what} is not served: a node of windvane has no port")
        named = read_name(target.name, what.removesuffix("s"))
        place = Target(target.type, target.namespace, named.name)
        if what == "services":
            slices = self._slices(place)
            pod_name, port = endpoint_of(codec.from_wire(self._wire(place), Service), named, slices)
            pods = self._catalog.types["", "v1", "pods"]
            pod = self._pod(Target(pods, target.namespace, pod_name))
        else:
            pod = self._pod(place)
            port = port_of_pod(pod, named)
        if not pod.status.pod_ip:
            raise bad_request("address not allowed")
        if not path and call.request.method in ("GET", "HEAD"):
            query = f"?{urlencode(call.request.query)}" if call.request.query else ""
            return Answer(301, content_type="", headers=[("Location", f"{call.request.path}/{query}")])
        try:
            host = self._kubelet(pod).address(pod)
        except Unavailable as error:
            raise unavailable(f"error trying to reach service: {error}") from None
        return await forward(call.request, named.scheme, host, port, path or "/")

    def _slices(self, service: Target) -> list[EndpointSlice]:
        """The EndpointSlices of a Service."""
        type_ = self._catalog.types["discovery.k8s.io", "v1", "endpointslices"]
        mine = {"labelSelector": f"kubernetes.io/service-name={service.name}"}
        listed = self._reader.list(Target(type_, service.namespace), mine)
        return [codec.from_wire(unpack(type_, each.value), EndpointSlice) for each in listed.entries]

    def _pod(self, target: Target) -> Pod:
        return codec.from_wire(self._wire(target), Pod)

    def _wire(self, target: Target) -> Wire:
        return unpack(target.type, self._reader.get(Target(target.type, target.namespace, target.name)).value)

    def _kubelet(self, pod: Pod) -> Kubelet:
        node = pod.spec.node_name
        if not node:
            raise bad_request(f"pod {pod.metadata.name} does not have a host assigned")
        if (kubelet := self._kubelets.get(node)) is None:
            why = f"no kubelet is known for node {quoted(node)}: this API server has none of its own there"
            raise failure(501, "NotImplemented", why)
        return kubelet

    def _check_create(self, call: Call) -> None:
        """A WebSocket is opened with GET, but does more than read: it takes the right to create."""
        if call.attributes.verb != "create":
            decision = self._access.authorizer.decide(replace(call.attributes, verb="create"))
            if not decision.allowed:
                raise forbidden(call.target.type.kind, call.target.name, decision.reason)


def container_of(pod: Pod, name: str) -> str:
    """The name of the container; a `Failure` 400 if there is no such container, or it could be several."""
    every = [each.name for each in (*pod.spec.init_containers, *pod.spec.containers)]
    every += [each.name for each in pod.spec.ephemeral_containers]
    if name:
        if name not in every:
            raise bad_request(f"container {name} is not valid for pod {pod.metadata.name}")
        return name
    if len(pod.spec.containers) == 1:
        return pod.spec.containers[0].name
    listed = f", choose one of: [{' '.join(every)}]" if pod.spec.containers else ""
    raise bad_request(f"a container name must be specified for pod {pod.metadata.name}{listed}")


def _options(call: Call) -> Wire:
    """The options as an object, such as PodExecOptions."""
    target = call.target
    what = OPTIONS.get(target.subresource, "ProxyOptions")
    options: Wire = {"kind": f"{target.type.kind.name}{what}", "apiVersion": "v1"}
    options |= {name: True for name in ("stdin", "stdout", "stderr", "tty") if is_on(call.query, name)}
    if container := call.query.get("container"):
        options["container"] = container
    if command := [value for name, value in call.request.query if name == "command"]:
        options["command"] = command
    if ports := [_number(each) for name, value in call.request.query if name == "ports" for each in value.split(",")]:
        options["ports"] = ports
    if target.subresource == "proxy" and (path := _path_behind_proxy(call)):
        options["path"] = path
    return options


def _number(text: str) -> int:
    """A port in a query, as Go reads it."""
    if not (text.isascii() and text.isdecimal()):
        raise bad_request(f"cannot convert to []int32: strconv.ParseUint: parsing {quoted(text)}: invalid syntax")
    digits = text.lstrip("0")
    if len(digits) > 5 or int(digits or 0) > 65535:
        raise bad_request(f"cannot convert to []int32: strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(digits or 0)


def _path_behind_proxy(call: Call) -> str:
    """What follows /api/v1/namespaces/NAMESPACE/pods/NAME/proxy: the path of the request to the pod."""
    before = 8 if call.target.namespace else 6
    return unquote("".join(f"/{each}" for each in call.request.path.split("/")[before:]))


def _proxied_path(call: Call, options: Wire) -> str:
    """The path of the request to the pod, escaped as Go does it."""
    path = quote(options.get("path") or "", safe="/$&+,:;=@")
    return f"{path}/" if call.request.path.endswith("/") and not path.endswith("/") else path


def _wiring(options: Wire) -> Wiring:
    """The streams to connect: at least one."""
    stdin, stdout, stderr, tty = (bool(options.get(name)) for name in ("stdin", "stdout", "stderr", "tty"))
    if not (stdin or stdout or stderr):
        raise bad_request("you must specify at least 1 of stdin, stdout, stderr")
    return Wiring(stdin=stdin, stdout=stdout, stderr=stderr and not tty, tty=tty)


def _ports(options: Wire) -> Sequence[int]:
    ports: Sequence[int] = options.get("ports") or ()
    for port in ports:
        if not 0 < port < 65536:
            raise bad_request(f'unable to parse "{port}" as a port')
    return ports


def _talk(call: Call, *conversations: Conversation) -> Answer:
    """A conversation in the first of the client's protocols that is known here."""
    if "websocket" not in header(call.request, "Upgrade").lower():
        if header(call.request, "Upgrade"):
            why = "unable to upgrade: only WebSockets are spoken here, not SPDY"
            raise bad_request(why)
        raise bad_request("Upgrade request required")
    offered = [each.strip() for each in header(call.request, "Sec-WebSocket-Protocol").split(",")]
    for protocol in offered:
        for conversation in conversations:
            if protocol in conversation.protocols:
                return Answer(101, conversation=conversation, protocol=protocol)
    known = [protocol for each in conversations for protocol in each.protocols]
    raise bad_request(f"unable to upgrade: none of the protocols {offered} is known here: use one of {known}")
