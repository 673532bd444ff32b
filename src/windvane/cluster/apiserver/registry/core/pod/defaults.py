"""What the API server fills into the spec of a pod, and into that of every template of pods."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.pod_level_resources import fill_requests
from windvane.cluster.apiserver.registry.defaults import fill, fill_zero

FILE_MODE = 0o644
ONE_HOUR = 3600


def pod_spec(spec: Wire) -> None:
    """Fill the spec of a pod or of a template of pods."""
    fill(spec, "restartPolicy", "Always")
    fill(spec, "dnsPolicy", "ClusterFirst")
    fill(spec, "schedulerName", "default-scheduler")
    fill(spec, "terminationGracePeriodSeconds", 30)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    fill(spec, "securityContext", {})
    _service_account(spec)
    for container in all_containers(spec):
        _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)


def pod(obj: Wire) -> None:
    """Fill a pod itself, which gets some values that its template doesn't show."""
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    fill(spec, "enableServiceLinks", True)
    for condition in (obj.get("status") or {}).get("conditions") or ():
        for time in ("lastProbeTime", "lastTransitionTime"):
            condition.setdefault(time, None)
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = limits | resources.get("requests", {})
        if spec.get("hostNetwork"):
            for port in container.get("ports") or ():
                fill_zero(port, "hostPort", port.get("containerPort"))
    fill_requests(spec)


def all_containers(spec: Wire) -> Iterator[Wire]:
    """The containers of a pod's spec, of all three sorts."""
    for sort in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(sort) or ()


def pull_policy(image: str) -> str:
    """Always for what may change under its name: the tag `latest`, written or implied."""
    name, _, digest = image.partition("@")
    if digest:
        return "IfNotPresent"
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _service_account(spec: Wire) -> None:
    """`serviceAccount` is the old name of `serviceAccountName`, and is kept beside it."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _container(container: Wire) -> None:
    fill(container, "imagePullPolicy", pull_policy(container.get("image") or ""))
    fill(container, "terminationMessagePath", "/dev/termination-log")
    fill(container, "terminationMessagePolicy", "File")
    fill(container, "resources", {})
    for port in container.get("ports") or ():
        fill(port, "protocol", "TCP")
    for variable in container.get("env") or ():
        _downward(variable.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            _probe(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _http_get(handler)


def _probe(probe: Wire) -> None:
    fill_zero(probe, "timeoutSeconds", 1)
    fill_zero(probe, "periodSeconds", 10)
    fill_zero(probe, "successThreshold", 1)
    fill_zero(probe, "failureThreshold", 3)
    _http_get(probe)
    if (grpc := probe.get("grpc")) is not None:
        grpc.setdefault("service", "")


def _http_get(handler: Wire) -> None:
    if (request := handler.get("httpGet")) is not None:
        fill(request, "path", "/")
        fill(request, "scheme", "HTTP")


def _volume(volume: Wire) -> None:
    if not any(value is not None for source, value in volume.items() if source != "name"):
        volume["emptyDir"] = {}
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        if source in volume:
            fill(volume[source], "defaultMode", FILE_MODE)
    _items(volume.get("downwardAPI"))
    if "projected" in volume:
        volume["projected"].setdefault("sources", None)  # which is written even if there is nothing
    for part in (volume.get("projected") or {}).get("sources") or ():
        _items(part.get("downwardAPI"))
        if (token := part.get("serviceAccountToken")) is not None:
            fill(token, "expirationSeconds", ONE_HOUR)
    if (host_path := volume.get("hostPath")) is not None:
        host_path.setdefault("type", "")
    if (image := volume.get("image")) is not None:
        fill(image, "pullPolicy", pull_policy(image.get("reference") or ""))
    if (template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate")) is not None:
        template.setdefault("metadata", {})
        claim_spec(template.setdefault("spec", {}))
    block_volume(volume)


def block_volume(source: Wire) -> None:
    """Fill the sources of network volumes, in pods and in persistent volumes alike."""
    if (iscsi := source.get("iscsi")) is not None:
        fill(iscsi, "iscsiInterface", "default")
    if (rbd := source.get("rbd")) is not None:
        fill(rbd, "pool", "rbd")
        fill(rbd, "user", "admin")
        fill(rbd, "keyring", "/etc/ceph/keyring")
    if (disk := source.get("azureDisk")) is not None:
        fill(disk, "cachingMode", "ReadWrite")
        fill(disk, "fsType", "ext4")
        fill(disk, "readOnly", False)
        fill(disk, "kind", "Shared")
    if (scale_io := source.get("scaleIO")) is not None:
        fill(scale_io, "storageMode", "ThinProvisioned")
        fill(scale_io, "fsType", "xfs")


def claim_spec(spec: Wire) -> None:
    """Fill the spec of a claim for a volume."""
    fill(spec, "volumeMode", "Filesystem")
    fill(spec, "resources", {})


def _items(source: Wire | None) -> None:
    for item in (source or {}).get("items") or ():
        _downward(item)


def _downward(source: Wire) -> None:
    """Fill what reads a field of the pod or a resource of a container."""
    if (field := source.get("fieldRef")) is not None:
        fill(field, "apiVersion", "v1")
    if (resource := source.get("resourceFieldRef")) is not None:
        fill(resource, "divisor", "0")


def default_template(template: Wire) -> None:
    """Fill in a template of pods."""
    template.setdefault("metadata", {})
    pod_spec(template.setdefault("spec", {}))
