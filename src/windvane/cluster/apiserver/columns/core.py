"""Columns of the kinds in the core group, but for Pods and Events."""

from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Cell,
    Column,
    JSONObject,
    containers,
    count,
    field,
    integer,
    items,
    labels,
    quantity,
    read,
    shortened,
    wide,
)

CONFIG_MAP = (NAME, Column("Data", count("data", "binaryData")), AGE)
SECRET = (NAME, Column("Type", field("type")), Column("Data", count("data")), AGE)
SERVICE_ACCOUNT = (NAME, AGE)
NAMESPACE = (NAME, Column("Status", field("status.phase")), AGE)

REPLICATION_CONTROLLER = (
    NAME,
    integer("Desired", "spec.replicas"),
    integer("Current", "status.replicas"),
    integer("Ready", "status.readyReplicas"),
    AGE,
    *containers("spec.template.spec.containers"),
    wide("Selector", labels("spec.selector")),
)


def _healthy(component: JSONObject) -> JSONObject:
    found: JSONObject = next((each for each in items(component, "conditions") if each.get("type") == "Healthy"), {})
    return found


def _health(component: JSONObject) -> str:
    status = _healthy(component).get("status")
    return "Unknown" if status is None else "Healthy" if status == "True" else "Unhealthy"


COMPONENT_STATUS = (
    NAME,
    Column("Status", _health),
    Column("Message", lambda component: _healthy(component).get("message", "")),
    Column("Error", lambda component: _healthy(component).get("error", "")),
)


def _cluster_ip(service: JSONObject) -> str:
    addresses = items(service, "spec.clusterIPs")
    return str(addresses[0]) if addresses else "<none>"


def balanced(thing: JSONObject) -> str:
    """The addresses that a load balancer gave, in order."""
    points = items(thing, "status.loadBalancer.ingress")
    return ",".join(sorted({address for point in points if (address := point.get("ip") or point.get("hostname"))}))


def _external_ip(service: JSONObject) -> str:
    external = items(service, "spec.externalIPs")
    match read(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            given = balanced(service)
            return ",".join([*([given] if given else []), *external]) or "<pending>"
        case "ExternalName":
            return read(service, "spec.externalName") or ""
    return "<unknown>"


def _port(port: JSONObject) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


SERVICE = (
    NAME,
    Column("Type", field("spec.type")),
    Column("Cluster-IP", _cluster_ip),
    Column("External-IP", _external_ip),
    Column("Port(s)", lambda service: ",".join(map(_port, items(service, "spec.ports"))) or "<none>"),
    AGE,
    wide("Selector", labels("spec.selector")),
)


def _endpoints(endpoints: JSONObject) -> str:
    subsets = items(endpoints, "subsets")
    if not subsets:
        return "<none>"
    shown = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = [port.get("port", 0) for port in subset.get("ports") or ()]
        if not ports:
            shown += addresses
        shown += [f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}" for port in ports for ip in addresses]
    return shortened(shown)


ENDPOINTS = (NAME, Column("Endpoints", _endpoints), AGE)

ROLE_PREFIX = "node-role.kubernetes.io/"


def _node_status(node: JSONObject) -> str:
    ready = [each for each in items(node, "status.conditions") if each.get("type") == "Ready"]
    status = ("Ready" if ready[-1].get("status") == "True" else "NotReady") if ready else "Unknown"
    return f"{status},SchedulingDisabled" if read(node, "spec.unschedulable") else status


def _roles(node: JSONObject) -> str:
    roles = set()
    for key, value in (read(node, "metadata.labels") or {}).items():
        if key.startswith(ROLE_PREFIX):
            roles.add(key.removeprefix(ROLE_PREFIX))
        elif key == "kubernetes.io/role":
            roles.add(value)
    return ",".join(sorted(roles - {""})) or "<none>"


def _address(node: JSONObject, type_: str) -> str:
    addresses = (each.get("address", "") for each in items(node, "status.addresses") if each.get("type") == type_)
    return next(addresses, "<none>")


def _kernel(node: JSONObject) -> str:
    kernel = read(node, "status.nodeInfo.kernelVersion") or "<unknown>"
    architecture = read(node, "status.nodeInfo.architecture")
    return f"{kernel} ({architecture})" if architecture else kernel


NODE = (
    NAME,
    Column("Status", _node_status),
    Column("Roles", _roles),
    AGE,
    Column("Version", field("status.nodeInfo.kubeletVersion")),
    wide("Internal-IP", lambda node: _address(node, "InternalIP")),
    wide("External-IP", lambda node: _address(node, "ExternalIP")),
    wide("OS-Image", lambda node: read(node, "status.nodeInfo.osImage") or "<unknown>"),
    wide("Kernel-Version", _kernel),
    wide("Container-Runtime", lambda node: read(node, "status.nodeInfo.containerRuntimeVersion") or "<unknown>"),
)

MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in MODES.items() if mode in modes)


def _phase(volume: JSONObject) -> str:
    return "Terminating" if read(volume, "metadata.deletionTimestamp") else read(volume, "status.phase") or ""


def _storage_class(volume: JSONObject) -> str:
    annotations = read(volume, "metadata.annotations") or {}
    return str(annotations.get("volume.beta.kubernetes.io/storage-class", read(volume, "spec.storageClassName") or ""))


def _claim(volume: JSONObject) -> str:
    claim = read(volume, "spec.claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


PERSISTENT_VOLUME = (
    NAME,
    Column("Capacity", lambda volume: quantity(read(volume, "spec.capacity.storage"))),
    Column("Access Modes", lambda volume: _modes(items(volume, "spec.accessModes"))),
    Column("Reclaim Policy", field("spec.persistentVolumeReclaimPolicy")),
    Column("Status", _phase),
    Column("Claim", _claim),
    Column("StorageClass", _storage_class),
    Column("VolumeAttributesClass", field("spec.volumeAttributesClassName", "<unset>")),
    Column("Reason", field("status.reason")),
    AGE,
    wide("VolumeMode", field("spec.volumeMode", "<unset>")),
)


def _if_bound(claim: JSONObject, cell: Cell) -> Cell:
    """A claim shows what it got only once it has a volume."""
    return cell if read(claim, "spec.volumeName") else ""


PERSISTENT_VOLUME_CLAIM = (
    NAME,
    Column("Status", _phase),
    Column("Volume", field("spec.volumeName")),
    Column("Capacity", lambda claim: _if_bound(claim, quantity(read(claim, "status.capacity.storage")))),
    Column("Access Modes", lambda claim: _if_bound(claim, _modes(items(claim, "status.accessModes")))),
    Column("StorageClass", _storage_class),
    Column("VolumeAttributesClass", field("spec.volumeAttributesClassName", "<unset>")),
    AGE,
    wide("VolumeMode", field("spec.volumeMode", "<unset>")),
)


def _quota(quota: JSONObject, *, limits: bool) -> str:
    """What is used of what is allowed; `limits.cpu` and the like have a column of their own."""
    hard, used = read(quota, "status.hard") or {}, read(quota, "status.used") or {}
    return ", ".join(
        f"{resource}: {quantity(used.get(resource))}/{quantity(amount)}"
        for resource, amount in sorted(hard.items())
        if resource.startswith("limits.") is limits
    )


RESOURCE_QUOTA = (
    NAME,
    Column("Request", lambda quota: _quota(quota, limits=False)),
    Column("Limit", lambda quota: _quota(quota, limits=True)),
    AGE,
)
