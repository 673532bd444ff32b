"""Some hundred pods, each with something that a pod security standard may mind, and what the real server said to them.

The answers are in `pod_security_answers.json`, by pod, level, and the first version from which on they are so; none is
"". With WINDVANE_RECORD=1, the tests in `test_pod_security.py` write those of the real server anew.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from builtin_cases import ABSENT, but

Json = dict[str, Any]
RECORDED = Path(__file__).parent / "pod_security_answers.json"
LEVELS = ("baseline", "restricted")
# Those in which a check has come or has changed, and one before.
MINORS = (0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36)
VERSIONS = (*(f"v1.{minor}" for minor in MINORS), "latest")
FEW = ("v1.0", "latest")


class Case(NamedTuple):
    """A pod that differs in something from one that nobody minds."""

    name: str
    pod: Json
    versions: tuple[str, ...]
    """Those for which it is known what is said to it."""


def _container(name: str) -> Json:
    return {
        "name": name,
        "image": "nginx",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"initContainers": [_container("first")], "containers": [_container("main"), _container("second")]},
}
DEBUGGED = but(POD, {"spec.ephemeralContainers": [_container("debug")]})
BARE: Json = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
WINDOWS = but(BARE, {"spec.os": {"name": "windows"}, "spec.securityContext.runAsNonRoot": True})
PLACES = {
    "init": (POD, ["spec.initContainers.0"]),
    "main": (POD, ["spec.containers.0"]),
    "all": (POD, ["spec.initContainers.0", "spec.containers.0", "spec.containers.1"]),
    "ephemeral": (DEBUGGED, ["spec.ephemeralContainers.0"]),
}

IN_CONTAINERS: list[Json] = [
    {"securityContext": ABSENT},
    {"securityContext.privileged": False},
    {"securityContext.privileged": True, "securityContext.allowPrivilegeEscalation": ABSENT},
    {"securityContext.allowPrivilegeEscalation": True},
    {"securityContext.capabilities": ABSENT},
    {"securityContext.capabilities": {}},
    {"securityContext.capabilities.drop": ["NET_RAW"]},
    {"securityContext.capabilities.drop": ["all"]},
    {"securityContext.capabilities.drop": ["NET_RAW", "ALL"]},
    {"securityContext.capabilities.add": ["NET_BIND_SERVICE"]},
    {"securityContext.capabilities.add": ["CHOWN", "KILL"]},
    {"securityContext.capabilities.add": ["NET_RAW"]},
    {"securityContext.capabilities.add": ["SYS_ADMIN", "CHOWN", "NET_ADMIN", "SYS_ADMIN"]},
    {"securityContext.capabilities": {"add": ["ALL"]}},
    {"securityContext.runAsNonRoot": False},
    {"securityContext.runAsNonRoot": ABSENT},
    {"securityContext.runAsUser": 0},
    {"securityContext.runAsUser": 1},
    {"securityContext.seccompProfile": ABSENT},
    {"securityContext.seccompProfile": {"type": "Unconfined"}},
    {"securityContext.seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"}},
    {"securityContext.appArmorProfile": {"type": "Unconfined"}},
    {"securityContext.appArmorProfile": {"type": "RuntimeDefault"}},
    {"securityContext.appArmorProfile": {"type": "Localhost", "localhostProfile": "p"}},
    {"securityContext.seLinuxOptions": {}},
    {"securityContext.seLinuxOptions": {"type": "container_t", "level": "s0:c1"}},
    {"securityContext.seLinuxOptions": {"type": "container_init_t"}},
    {"securityContext.seLinuxOptions": {"type": "container_kvm_t"}},
    {"securityContext.seLinuxOptions": {"type": "container_engine_t"}},
    {"securityContext.seLinuxOptions": {"type": "spc_t"}},
    {"securityContext.seLinuxOptions": {"user": "u"}},
    {"securityContext.seLinuxOptions": {"role": "r"}},
    {"securityContext.seLinuxOptions": {"user": "u", "role": "r", "type": "a_t"}},
    {"securityContext.procMount": "Default"},
]
# Not of ephemeral containers, which can't have these.
IN_LASTING_CONTAINERS: list[Json] = [
    {"ports": [{"containerPort": 80}]},
    {"ports": [{"containerPort": 80, "hostPort": 80}]},
    {"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 9}, {"containerPort": 82}]},
]
# Not of init containers, which can't have these.
IN_MAIN_CONTAINERS: list[Json] = [
    {"livenessProbe": {"httpGet": {"port": 80}}},
    {"livenessProbe": {"httpGet": {"port": 80, "host": "other"}}},
    {"readinessProbe": {"tcpSocket": {"port": 80, "host": "127.0.0.1"}}},
    {
        "startupProbe": {"tcpSocket": {"port": 80, "host": "b"}},
        "livenessProbe": {"tcpSocket": {"port": 80, "host": "a"}},
    },
    {"lifecycle": {"postStart": {"httpGet": {"port": 80, "host": "other"}}}},
    {"lifecycle": {"preStop": {"httpGet": {"port": 80, "host": "a"}}, "postStart": {"exec": {"command": ["x"]}}}},
    {"lifecycle": {"preStop": {"tcpSocket": {"port": 80, "host": "a"}}}},
]
IN_PODS: list[Json] = [
    {},
    *({f"spec.{field}": value} for field in ("hostNetwork", "hostPID", "hostIPC") for value in (True, False)),
    {"spec.hostNetwork": True, "spec.hostPID": True, "spec.hostIPC": True},
    {"spec.securityContext.runAsNonRoot": True},
    {"spec.securityContext.runAsNonRoot": False},
    {"spec.securityContext.runAsUser": 0},
    {"spec.securityContext.runAsUser": 1000},
    {"spec.securityContext.windowsOptions": {"hostProcess": False}},
    {
        "spec.initContainers.0.restartPolicy": "Always",
        "spec.initContainers.0.livenessProbe": {"httpGet": {"port": 80, "host": "other"}},
    },
    *(
        {f"spec.securityContext.{profile}": {"type": type_, **more}}
        for profile in ("seccompProfile", "appArmorProfile")
        for type_, more in (("Unconfined", {}), ("RuntimeDefault", {}), ("Localhost", {"localhostProfile": "p"}))
    ),
    *({"spec.securityContext.seLinuxOptions": {"type": name}} for name in ("container_t", "container_engine_t", "x_t")),
    {"spec.securityContext.seLinuxOptions": {"user": "u", "role": "r"}},
    *(
        {"metadata.annotations": {f"container.apparmor.security.beta.kubernetes.io/{name}": value}}
        for name, value in (("main", "runtime/default"), ("main", "localhost/p"), ("main", "unconfined"))
    ),
    {
        "metadata.annotations": {
            "container.apparmor.security.beta.kubernetes.io/main": "unconfined",
            "container.apparmor.security.beta.kubernetes.io/first": "unconfined",
        }
    },
    *(
        {"metadata.annotations": {key: value}, "spec.containers.0.securityContext.seccompProfile": ABSENT}
        for key in (
            "seccomp.security.alpha.kubernetes.io/pod",
            "container.seccomp.security.alpha.kubernetes.io/main",
            "container.seccomp.security.alpha.kubernetes.io/nobody",
        )
        for value in ("unconfined", "runtime/default", "docker/default", "localhost/p")
    ),
]
SYSCTLS = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem", "kernel.msgmax", "net.core.somaxconn",
)  # fmt: skip
NFS = {"server": "s", "path": "/"}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
VOLUMES: list[Json] = [
    {"awsElasticBlockStore": {"volumeID": "v"}},
    {"azureDisk": {"diskName": "d", "diskURI": "https://blob/d.vhd"}},
    {"azureFile": {"secretName": "s", "shareName": "s"}},
    {"cephfs": {"monitors": ["m"]}},
    {"cinder": {"volumeID": "v"}},
    {"configMap": {"name": "c"}},
    {"csi": {"driver": "d.example.com"}},
    {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    {"emptyDir": {}},
    {"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
    {"fc": {"targetWWNs": ["w"], "lun": 1}},
    {"flexVolume": {"driver": "d.example.com/d"}},
    {"flocker": {"datasetName": "d"}},
    {"gcePersistentDisk": {"pdName": "p"}},
    {"gitRepo": {"repository": "r"}},
    {"glusterfs": {"endpoints": "e", "path": "p"}},
    {"hostPath": {"path": "/"}},
    {"image": {"reference": "r"}},
    {"iscsi": {"targetPortal": "p", "iqn": "iqn.2001-04.com.example:a", "lun": 1}},
    {"nfs": NFS},
    {"persistentVolumeClaim": {"claimName": "c"}},
    {"photonPersistentDisk": {"pdID": "p"}},
    {"portworxVolume": {"volumeID": "v"}},
    {"projected": {"sources": [{"secret": {"name": "s"}}]}},
    {"quobyte": {"registry": "r:1", "volume": "v"}},
    {"rbd": {"monitors": ["m"], "image": "i"}},
    {"scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {"name": "s"}}},
    {"secret": {"secretName": "s"}},
    {"storageos": {"volumeName": "v"}},
    {"vsphereVolume": {"volumePath": "p"}},
]  # fmt: skip
# What is inherited, or is not: of the pod, and of some of its containers.
INHERITED = {
    "runAsNonRoot": (ABSENT, True, False),
    "runAsUser": (ABSENT, 0, 7),
    "seccompProfile": (ABSENT, {"type": "RuntimeDefault"}, {"type": "Unconfined"}),
    "appArmorProfile": (ABSENT, {"type": "RuntimeDefault"}, {"type": "Unconfined"}),
    "seLinuxOptions": (ABSENT, {"type": "a_t"}, {"user": "u"}),
}
UNMASKED: Json = {"spec.hostUsers": False, "spec.containers.0.securityContext.procMount": "Unmasked"}
# Pods of which each version thinks something else.
HISTORIC: list[tuple[Json, Json]] = [
    (BARE, {}),
    (POD, {}),
    (POD, {"spec.hostUsers": False}),
    (POD, UNMASKED),
    (BARE, UNMASKED),
    (BARE, {"spec.hostUsers": True}),
    (BARE, {"spec.hostUsers": False, "spec.securityContext.runAsUser": 0}),
    (BARE, {"spec.hostUsers": False, "spec.containers.0.securityContext": {"runAsNonRoot": False, "runAsUser": 0}}),
    (WINDOWS, {}),
    (WINDOWS, {"spec.securityContext.runAsNonRoot": ABSENT}),
    (WINDOWS, {"spec.hostNetwork": True, "spec.securityContext.windowsOptions.hostProcess": True}),
    (
        WINDOWS,
        {"spec.hostNetwork": True, "spec.containers.0.securityContext": {"windowsOptions": {"hostProcess": True}}},
    ),
    (BARE, {"spec.os": {"name": "linux"}}),
    (BARE, {"spec.containers.0.securityContext": {"privileged": True}}),
    (BARE, {"spec.containers.0.securityContext": {"capabilities": {"add": ["NET_RAW"]}}}),
    (POD, {"spec.containers.0.securityContext.capabilities.add": ["CHOWN"]}),
    (POD, {"spec.containers.0.securityContext.runAsUser": 0}),
    (POD, {"spec.containers.0.livenessProbe": {"httpGet": {"port": 80, "host": "other"}}}),
    (POD, {"spec.volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "nfs": NFS}]}),
    (POD, {"spec.securityContext.sysctls": [{"name": name, "value": "1"} for name in SYSCTLS]}),
    (POD, {"spec.securityContext.seLinuxOptions": {"type": "container_engine_t"}}),
    (BARE, {"spec.securityContext.seccompProfile": {"type": "Unconfined"}}),
    (BARE, {"metadata.annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}}),
    (
        BARE,
        {
            "metadata.annotations": {
                "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
                "container.seccomp.security.alpha.kubernetes.io/main": "unconfined",
            }
        },
    ),
]  # fmt: skip


def _named(*parts: str, changes: Json) -> str:
    said = (f"{path}={'absent' if value is ABSENT else json.dumps(value)}" for path, value in changes.items())
    return f"{' '.join(parts)}: {', '.join(said)}"


def _in(place: str, changes: Iterable[Json]) -> Iterator[Case]:
    pod, holders = PLACES[place]
    for change in changes:
        whole = {f"{holder}.{path}": value for holder in holders for path, value in change.items()}
        yield Case(_named(place, changes=change), but(pod, whole), FEW)


def _cases() -> Iterator[Case]:
    for place in PLACES:
        yield from _in(place, IN_CONTAINERS)
    yield from _in("init", IN_LASTING_CONTAINERS)
    yield from _in("main", [*IN_LASTING_CONTAINERS, *IN_MAIN_CONTAINERS])
    for change in IN_PODS:
        yield Case(_named("pod", changes=change), but(POD, change), FEW)
    for name in SYSCTLS:
        change = {"spec.securityContext.sysctls": [{"name": name, "value": "1"}]}
        yield Case(f"sysctl {name}", but(POD, change), FEW)
    for volume in VOLUMES:
        yield Case(f"volume {next(iter(volume))}", but(POD, {"spec.volumes": [{"name": "v", **volume}]}), FEW)
    for field, values in INHERITED.items():
        for own, first, main in product(values, repeat=3):
            change = {
                f"spec.securityContext.{field}": own,
                f"spec.initContainers.0.securityContext.{field}": first,
                f"spec.containers.0.securityContext.{field}": main,
            }
            yield Case(_named("inherited", changes=change), but(POD, change), ("latest",))
    for pod, change in HISTORIC:
        name = {id(POD): "good", id(BARE): "bare", id(WINDOWS): "windows"}[id(pod)]
        yield Case(_named("historic", name, changes=change), but(pod, change), VERSIONS)


CASES = list({case.name: case for case in _cases()}.values())


def answers() -> dict[str, dict[str, str]]:
    """What was recorded: by case and standard, such as `baseline:v1.8`."""
    recorded: dict[str, dict[str, dict[str, str]]] = json.loads(RECORDED.read_text())
    return {case.name: dict(_unfolded(case, recorded[case.name])) for case in CASES}


def _unfolded(case: Case, recorded: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    for level in LEVELS:
        said = ""
        for version in case.versions:
            said = recorded.get(level, {}).get(version, said)
            yield f"{level}:{version}", said


def record(given: dict[str, dict[str, str]]) -> None:
    """Write answers, one line for each case, and of each only where it changes."""
    lines = []
    for case in CASES:
        folded: dict[str, dict[str, str]] = {}
        for level in LEVELS:
            last = ""
            for version in case.versions:
                said = given[case.name][f"{level}:{version}"]
                if said != last:
                    folded.setdefault(level, {})[version] = last = said
        lines.append(f"{json.dumps(case.name)}: {json.dumps(folded)}")
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
