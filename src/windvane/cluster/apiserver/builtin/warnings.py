"""What the server warns of in an object that it takes, kind by kind.

A controller that writes an object again and again should not hear the same each time: most kinds warn when an object
is made, and later only when what the warning is about has changed.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from windvane.api.kind import Kind
from windvane.api.names import label_problems
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.builtin.addresses import address_warnings, network_warnings
from windvane.cluster.apiserver.builtin.pod_warnings import (
    DEPRECATED_LABELS,
    DEPRECATED_VOLUMES,
    SHOWN_VOLUMES,
    claim_spec_warnings,
    pod_warnings,
    selector_term_warnings,
)

Json = dict[str, Any]
Rule = Callable[[Json, Json | None], Iterable[str]]

SURPRISING = "which can result in surprising behavior; a DNS label is recommended"
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
USE_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead'
OLD_OPTIONS = "volume.beta.kubernetes.io/mount-options"
USE_OPTIONS = 'deprecated since v1.31; use "mountOptions" attribute instead'
INGRESS_CLASS = "kubernetes.io/ingress.class"
HINTS = "service.kubernetes.io/topology-aware-hints"
MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
VOLUME_PLUGINS = ("cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd")
MANAGED = {
    "Endpoints": ("endpoints.kubernetes.io/managed-by", ("endpoint-controller",)),
    "EndpointSlice": (
        "endpointslice.kubernetes.io/managed-by",
        ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"),
    ),
}


def warnings_about(kind: Kind, obj: Json, old: Json | None) -> list[str]:
    """Warnings about an object of a built-in kind that is new, or was `old` until now."""
    rule = _RULES.get(f"{kind.group}/{kind.name}")
    return list(rule(obj, old)) if rule else []


def _name(obj: Json, used: str = "Pod names and hostnames") -> Iterator[str]:
    if problems := label_problems(obj["metadata"].get("name", "")):
        yield f"metadata.name: this is used in {used}, {SURPRISING}: [{' '.join(problems)}]"


def _respecified(obj: Json, old: Json | None) -> bool:
    return old is None or obj["metadata"].get("generation") != old["metadata"].get("generation")


def _pod(obj: Json, old: Json | None) -> Iterator[str]:
    if old is None:
        yield from _name(obj, "the Pod's hostname")
        yield from pod_warnings(obj)


def _named_workload(obj: Json, old: Json | None) -> Iterator[str]:
    if old is None:
        yield from _name(obj)
    yield from _workload(obj, old)


def _workload(obj: Json, old: Json | None) -> Iterator[str]:
    if _respecified(obj, old):
        yield from pod_warnings(obj["spec"].get("template") or {}, "spec.template")


def _daemon_set(obj: Json, old: Json | None) -> Iterator[str]:
    if old is None or obj["spec"].get("template") != old["spec"].get("template"):
        yield from pod_warnings(obj["spec"].get("template") or {}, "spec.template")


def _stateful_set(obj: Json, old: Json | None) -> Iterator[str]:
    yield from _workload(obj, old)
    for index, claim in enumerate(obj["spec"].get("volumeClaimTemplates") or ()):
        path = f"spec.volumeClaimTemplates[{index}]"
        yield from claim_spec_warnings(claim.get("spec") or {}, path if old is None else f"{path}.Spec")
    if (obj["spec"].get("revisionHistoryLimit") or 0) < 0:
        rule = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield f"spec.revisionHistoryLimit: {rule}"


def _cron_job(obj: Json, old: Json | None) -> Iterator[str]:
    if old is None:
        yield from _name(obj)
    if _respecified(obj, old):
        template = (obj["spec"].get("jobTemplate") or {}).get("spec", {}).get("template") or {}
        yield from pod_warnings(template, "spec.jobTemplate.spec.template")


def _pod_template(obj: Json, old: Json | None) -> Iterator[str]:
    if _respecified(obj, old):
        yield from pod_warnings(obj.get("template") or {}, "template")


def _service(obj: Json, _: Json | None) -> Iterator[str]:
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    if HINTS in annotations:
        yield f"annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
    for index, address in enumerate(spec.get("clusterIPs") or ()):
        yield from address_warnings(f"spec.clusterIPs[{index}]", address)
    external, headless = spec.get("externalIPs") or [], spec["type"] == "ClusterIP" and spec.get("clusterIP") == "None"
    if headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if external:
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    for index, address in enumerate(external):
        yield from address_warnings(f"spec.externalIPs[{index}]", address)
    if external and not headless and spec["type"] != "ExternalName":
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    yield from address_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP", ""))
    for index, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from network_warnings(f"spec.loadBalancerSourceRanges[{index}]", network)
    if spec["type"] == "ExternalName" and external:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if spec["type"] != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _volume(obj: Json, _: Json | None) -> Iterator[str]:
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    for key, why in ((OLD_CLASS, USE_CLASS), (OLD_OPTIONS, USE_OPTIONS)):
        if key in annotations:
            yield f"metadata.annotations[{key}]: {why}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        rule = "Instead, the recommended approach is to use dynamic provisioning."
        yield f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {rule}"
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        path = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        yield from selector_term_warnings(term, path, check_values=False)
    for plugin in VOLUME_PLUGINS:
        if spec.get(plugin) is not None:
            yield f"spec.{SHOWN_VOLUMES.get(plugin, plugin)}: {DEPRECATED_VOLUMES[plugin]}"


def _claim(obj: Json, _: Json | None) -> Iterator[str]:
    if OLD_CLASS in (obj["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{OLD_CLASS}]: {USE_CLASS}"
    yield from claim_spec_warnings(obj["spec"], "spec")


def _storage_class(obj: Json, _: Json | None) -> Iterator[str]:
    for index, topology in enumerate(obj.get("allowedTopologies") or ()):
        for place, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            if why := DEPRECATED_LABELS.get(expression.get("key", "")):
                yield f"allowedTopologies[{index}].matchLabelExpressions[{place}].key: {why}"


def _runtime_class(obj: Json, _: Json | None) -> Iterator[str]:
    selected = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    for label in sorted(DEPRECATED_LABELS.keys() & selected.keys()):
        yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[label]}"


def _ingress(obj: Json, old: Json | None) -> Iterator[str]:
    stated = INGRESS_CLASS in (obj["metadata"].get("annotations") or {})
    if old is None and stated and obj["spec"].get("ingressClassName") is None:
        yield f"annotation \"{INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"


def _network_policy(obj: Json, _: Json | None) -> Iterator[str]:
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(obj["spec"].get(direction) or ()):
            for place, peer in enumerate(rule.get(peers) or ()):
                block, path = peer.get("ipBlock") or {}, f"spec.{direction}[{index}].{peers}[{place}].ipBlock"
                yield from network_warnings(f"{path}.cidr", block.get("cidr", ""))
                for at, network in enumerate(block.get("except") or ()):
                    yield from network_warnings(f"{path}.except[{at}]", network)


def _node(obj: Json, _: Json | None) -> Iterator[str]:
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, network in enumerate(spec.get("podCIDRs") or ()):
        yield from network_warnings(f"spec.podCIDRs[{index}]", network)


def _service_account(obj: Json, old: Json | None) -> Iterator[str]:
    before = (old or {}).get("metadata", {}).get("annotations") or {}
    if MOUNTABLE in (obj["metadata"].get("annotations") or {}) and MOUNTABLE not in before:
        rule = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        yield f"metadata.annotations[{MOUNTABLE}]: {rule}"


def _quota(obj: Json, old: Json | None) -> Iterator[str]:
    hard = obj["spec"].get("hard") or {} if old is None else {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        bare = f"requests.{name}" not in hard and name in ("cpu", "memory")
        request, limit = name if bare else f"requests.{name}", f"limits.{name}"
        if request in hard and limit in hard:
            asked, allowed = Quantity.from_wire(hard[request]), Quantity.from_wire(hard[limit])
            if asked > allowed:
                yield f"ResourceQuota {request} ({asked}) should be less than {limit} ({allowed})"


def _is_managed(kind: str, obj: Json) -> bool:
    label, controllers = MANAGED[kind]
    return (obj["metadata"].get("labels") or {}).get(label) in controllers


def _endpoints(obj: Json, _: Json | None) -> Iterator[str]:
    for index, subset in enumerate(() if _is_managed("Endpoints", obj) else obj.get("subsets") or ()):
        for kind in ("addresses", "notReadyAddresses"):
            for place, address in enumerate(subset.get(kind) or ()):
                yield from address_warnings(f"subsets[{index}].{kind}[{place}].ip", address.get("ip", ""))


def _endpoint_slice(obj: Json, old: Json | None) -> Iterator[str]:
    if old is None and obj.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    for index, endpoint in enumerate(() if _is_managed("EndpointSlice", obj) else obj.get("endpoints") or ()):
        for place, address in enumerate(endpoint.get("addresses") or ()):
            yield from address_warnings(f"endpoints[{index}].addresses[{place}]", address)


def _secret(obj: Json, _: Json | None) -> Iterator[str]:
    if obj.get("type") != "kubernetes.io/tls":
        return
    from windvane.cluster.apiserver.builtin.key_pairs import key_pair_problem

    certificate, key = (b64decode((obj.get("data") or {}).get(name) or "") for name in ("tls.crt", "tls.key"))
    if problem := key_pair_problem(certificate, key):
        yield problem


_RULES: Mapping[str, Rule] = {
    "/Endpoints": _endpoints,
    "/Node": _node,
    "/PersistentVolume": _volume,
    "/PersistentVolumeClaim": _claim,
    "/Pod": _pod,
    "/PodTemplate": _pod_template,
    "/ReplicationController": _named_workload,
    "/ResourceQuota": _quota,
    "/Secret": _secret,
    "/Service": _service,
    "/ServiceAccount": _service_account,
    "apps/DaemonSet": _daemon_set,
    "apps/Deployment": _named_workload,
    "apps/ReplicaSet": _named_workload,
    "apps/StatefulSet": _stateful_set,
    "batch/CronJob": _cron_job,
    "batch/Job": _named_workload,
    "discovery.k8s.io/EndpointSlice": _endpoint_slice,
    "networking.k8s.io/Ingress": _ingress,
    "networking.k8s.io/NetworkPolicy": _network_policy,
    "node.k8s.io/RuntimeClass": _runtime_class,
    "storage.k8s.io/StorageClass": _storage_class,
}
