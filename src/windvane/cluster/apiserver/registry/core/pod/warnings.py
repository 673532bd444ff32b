"""What the server warns of in a pod, or in the template of one: it is taken, but hardly what its author wanted."""

from collections.abc import Iterator, Mapping
from typing import Any

from windvane.api.json_value import Wire
from windvane.api.names import label_value_problems
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.validation.address import address_warnings

DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
DEPRECATED_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
# Where the server's name of a field isn't the one on the wire.
SHOWN_VOLUMES = {"storageos": "storageOS"}
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR_OF = "container.apparmor.security.beta.kubernetes.io/"
NO_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
NO_APP_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
MATCHES_NOTHING = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Wire, path: str = "") -> Iterator[str]:
    """Warnings about a pod; `path` is where its template is, if it is one."""
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    here = f"{path}.spec" if path else "spec"
    noted = f"{path}.metadata.annotations" if path else "metadata.annotations"
    for label in sorted(DEPRECATED_LABELS.keys() & (spec.get("nodeSelector") or {}).keys()):
        yield f"{here}.nodeSelector[{label}]: {DEPRECATED_LABELS[label]}"
    yield from _node_affinity(spec, f"{here}.affinity.nodeAffinity")
    yield from _spread(spec, f"{here}.topologySpreadConstraints")
    for key, why in DEPRECATED_ANNOTATIONS.items():
        if key in annotations:
            yield f"{noted}[{key}]: {why}"
    yield from _volumes(spec, f"{here}.volumes")
    yield from _repeats(spec.get("hostAliases") or [], "ip", f"{here}.hostAliases")
    yield from _repeats(spec.get("imagePullSecrets") or [], "name", f"{here}.imagePullSecrets")
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{here}.imagePullSecrets[{index}].name: invalid empty name ""'
    for name in ("memory", "ephemeral-storage"):
        yield from fraction_warnings(spec.get("overhead"), name, f"{here}.overhead")
    if SECCOMP in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield f"{noted}[{SECCOMP}]: {NO_SECCOMP}"
    containers = list(_containers(spec, here))
    for container, place in containers:
        yield from _security(container, spec, annotations, noted, is_template=bool(path))
        yield from _container(container, place)
    yield from _ports(containers)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        rule = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{here}.terminationGracePeriodSeconds: {rule}"
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity((spec.get("affinity") or {}).get(kind) or {}, f"{here}.affinity.{kind}")
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from address_warnings(f"{here}.dnsConfig.nameservers[{index}]", server)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from address_warnings(f"{here}.hostAliases[{index}].ip", alias.get("ip", ""))


def selector_term_warnings(term: Wire, path: str, *, check_values: bool) -> Iterator[str]:
    """Warnings about the nodes that a term selects."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key", "")
        if why := DEPRECATED_LABELS.get(key):
            yield f"{path}.matchExpressions[{index}].key: {key} is {why}"
        for place, value in enumerate(expression.get("values") or () if check_values else ()):
            for problem in label_value_problems(value):
                yield f"{path}.matchExpressions[{index}].values[{place}]: {value} is invalid, {problem}"


def fraction_warnings(amounts: Mapping[str, Any] | None, name: str, path: str) -> Iterator[str]:
    """Warnings about a part of a byte."""
    quantity = Quantity.from_wire((amounts or {}).get(name, 0))
    if quantity.milli() % 1000:
        yield f'{path}[{name}]: fractional byte value "{quantity}" is invalid, must be an integer'


def claim_spec_warnings(spec: Wire, path: str) -> Iterator[str]:
    """Warnings about what a PersistentVolumeClaim asks for."""
    for kind in ("requests", "limits"):
        amounts = (spec.get("resources") or {}).get(kind)
        yield from fraction_warnings(amounts, "storage", f"{path}.resources.{kind}")


def _node_affinity(spec: Wire, path: str) -> Iterator[str]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for index, term in enumerate((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        place = f"{path}.{REQUIRED}.nodeSelectorTerms[{index}]"
        yield from selector_term_warnings(term, place, check_values=False)
    for index, weighted in enumerate(affinity.get(PREFERRED) or ()):
        place = f"{path}.{PREFERRED}[{index}].preference"
        yield from selector_term_warnings(weighted.get("preference") or {}, place, check_values=True)


def _pod_affinity(affinity: Wire, path: str) -> Iterator[str]:
    for index, term in enumerate(affinity.get(REQUIRED) or ()):
        if term.get("labelSelector") is None:
            yield f"{path}.{REQUIRED}[{index}].labelSelector: {MATCHES_NOTHING}"
    for index, weighted in enumerate(affinity.get(PREFERRED) or ()):
        if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
            yield f"{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {MATCHES_NOTHING}"


def _spread(spec: Wire, path: str) -> Iterator[str]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        key = constraint.get("topologyKey", "")
        if why := DEPRECATED_LABELS.get(key):
            yield f"{path}[{index}].topologyKey: {key} is {why}"
        if constraint.get("labelSelector") is None:
            yield f"{path}[{index}].labelSelector: {MATCHES_NOTHING}"


def _volumes(spec: Wire, path: str) -> Iterator[str]:
    volumes = spec.get("volumes") or []
    for index, volume in enumerate(volumes):
        for name, why in DEPRECATED_VOLUMES.items():
            if volume.get(name) is not None:
                yield f"{path}[{index}].{SHOWN_VOLUMES.get(name, name)}: {why}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        claim = template.get("spec") or {}
        yield from claim_spec_warnings(claim, f"{path}[{index}].ephemeral.volumeClaimTemplate.spec")
    for volume in volumes:
        yield from _overlaps(volume)


def _overlaps(volume: Wire) -> Iterator[str]:
    """Files of a volume that would be written over each other, or below each other."""
    seen: list[tuple[str, str]] = []
    for source in (volume.get("projected") or {}).get("sources") or ():
        if not source:
            yield f'volume "{volume["name"]}" (Projected) has no sources provided'
        for file in _projected_files(source):
            yield from _collisions(file, seen, volume["name"], "Projected")
    for kind, shown, name in (
        ("configMap", "ConfigMap", "name"),
        ("secret", "Secret", "secretName"),
        ("downwardAPI", "DownwardAPI", ""),
    ):
        of = volume.get(kind) or {}
        seen = []
        for item in of.get("items") or ():
            about = f'{shown} "{of.get(name, "")}"' if name else shown
            yield from _collisions((item.get("path", ""), ""), seen, volume["name"], about)


def _projected_files(source: Wire) -> Iterator[tuple[str, str]]:
    for kind, shown in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        of = source.get(kind) or {}
        about = shown if kind == "downwardAPI" else f'{shown} "{of.get("name", "")}"'
        for item in of.get("items") or ():
            yield item.get("path", ""), about
    if token := source.get("serviceAccountToken"):
        yield token.get("path", ""), "ServiceAccountToken"
    if bundle := source.get("clusterTrustBundle"):
        yield bundle.get("path", ""), f'ClusterTrustBundle "{bundle.get("name") or bundle.get("signerName", "")}"'


def _collisions(file: tuple[str, str], seen: list[tuple[str, str]], volume: str, about: str) -> Iterator[str]:
    path, source = file[0].rstrip("/"), file[1]
    for other, other_source in seen:
        if path and other and (f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/")):
            one, two = (
                f'"{text}" ({of})' if of else f'"{text}"' for text, of in ((path, source), (other, other_source))
            )
            yield f'volume "{volume}" ({about}): overlapping paths: {one} with {two}'
    seen.append((path, source))


def _repeats(items: list[Wire], field: str, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(field, "")
        if value in seen:
            yield f'{path}[{index}].{field}: duplicate {field} "{value}"'
        seen.add(value)


def _containers(spec: Wire, path: str) -> Iterator[tuple[Wire, str]]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield container, f"{path}.{kind}[{index}]"


def _security(container: Wire, spec: Wire, annotations: Wire, noted: str, *, is_template: bool) -> Iterator[str]:
    context, name = container.get("securityContext") or {}, container.get("name", "")
    if f"{SECCOMP_OF}{name}" in annotations and not context.get("seccompProfile"):
        yield f"{noted}[{SECCOMP_OF}{name}]: {NO_SECCOMP}"
    confined = context.get("appArmorProfile") or (spec.get("securityContext") or {}).get("appArmorProfile")
    if is_template and f"{APP_ARMOR_OF}{name}" in annotations and not confined:
        yield f"{noted}[{APP_ARMOR_OF}{name}]: {NO_APP_ARMOR}"


def _container(container: Wire, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in ("memory", "ephemeral-storage"):
        for kind in ("limits", "requests"):
            yield from fraction_warnings(resources.get(kind), name, f"{path}.resources.{kind}")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value", "")
        earlier = f"$({name})"
        builds_on_it = variable.get("valueFrom") is None and value != earlier and earlier in value
        if name in seen and not builds_on_it:
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)


def _ports(containers: list[tuple[Wire, str]]) -> Iterator[str]:
    known: dict[tuple[int, str], list[tuple[Wire, str]]] = {}
    ports = [
        (port, f"{path}.ports[{index}]")
        for container, path in containers
        for index, port in enumerate(container.get("ports") or ())
    ]
    for port, place in ports:
        others = known.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        for other, other_place in others:
            if problem := _port_problem(port, other):
                yield f"{place}: {problem} port definition with {other_place}"
        others.append((port, place))
    named: dict[str, str] = {}
    for port, place in ports:
        name = port.get("name", "")
        if name in named:
            first = named[name]
            use = f"services and probes that select ports by name will use {first}"
            yield f'{place}: duplicate port name "{name}" with {first}, {use}'
        elif name:
            named[name] = place


def _port_problem(one: Wire, other: Wire) -> str:
    (ip, port), (other_ip, other_port) = (
        (each.get("hostIP") or "", each.get("hostPort") or 0) for each in (one, other)
    )
    if (ip, port) == (other_ip, other_port):
        return "duplicate"
    if not port or not other_port:
        return "overlapping"
    return "dangerously ambiguous" if port == other_port and bool(ip) != bool(other_ip) else ""
