"""What a real container sees: its environment, its volumes, its names."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from integration.node.machine import running
from integration.processes.machine import RealMachine, python, shell
from windvane import ObjectMeta
from windvane.api import codec
from windvane.cluster.node.volumes.atomic_writer import FileContent, write_all
from windvane.k8s.core import (
    ConfigMap,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    Pod,
    Secret,
    Service,
    ServiceAccount,
    ServiceSpec,
)
from windvane.k8s.discovery import EndpointSlice


def exists(path: str) -> bool:
    return Path(path).exists()


def refused(status: Any) -> bool:
    return any(each.state.waiting and each.state.waiting.message for each in status.container_statuses)


def restarted(status: Any) -> bool:
    return any(each.restart_count for each in status.container_statuses)


SHOW_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


def meta(name: str, **labels: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="default", labels=labels)


async def environment(machine: RealMachine, **more: Any) -> dict[str, str]:
    await machine.create(containers=[python(SHOW_ENVIRONMENT, **more)], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    told: dict[str, str] = json.loads((await machine.log())[0])
    return told


async def output(machine: RealMachine, code: str, *, volumes: list[Any], mounts: list[Any], **more: Any) -> list[str]:
    containers = [shell(code, volumeMounts=mounts)]
    await machine.create(containers=containers, volumes=volumes, restartPolicy="Never", **more)
    await machine.status(lambda status: status.phase in ("Succeeded", "Failed"))
    return await machine.log()


async def test_the_environment_is_what_the_pod_says(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"COLOUR": "green", "SIZE": "9"}))
    await machine.admin.create(Secret(metadata=meta("login"), data={"PASSWORD": b"hunter2"}))
    told = await environment(
        machine,
        env=[
            {"name": "GREETING", "value": "hello $(COLOUR) $$(COLOUR) $(NOBODY)"},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
            {"name": "SIZE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "SIZE"}}},
            {"name": "ABSENT", "valueFrom": {"secretKeyRef": {"name": "none", "key": "x", "optional": True}}},
        ],
        envFrom=[{"configMapRef": {"name": "settings"}}, {"prefix": "LOGIN_", "secretRef": {"name": "login"}}],
        resources={"limits": {"memory": "64Mi"}},
    )
    assert told["GREETING"] == "hello green $(COLOUR) $(NOBODY)"
    assert told["POD"] == told["HOSTNAME"] == "web"
    assert told["IP"] == told["WINDVANE_POD_IP"] == (await machine.get()).status.pod_ip
    assert told["MEMORY"] == "64"
    assert told["SIZE"] == "9"
    assert told["LOGIN_PASSWORD"] == "hunter2"
    assert "ABSENT" not in told


async def test_services_are_told_as_variables(machine: RealMachine) -> None:
    spec = codec.from_wire({"ports": [{"port": 5432, "name": "sql"}], "selector": {"a": "b"}}, ServiceSpec)
    service = await machine.admin.create(Service(metadata=meta("my-db"), spec=spec))
    told = await environment(machine)
    assert told["MY_DB_SERVICE_HOST"] == service.spec.cluster_ip
    assert told["MY_DB_SERVICE_PORT_SQL"] == "5432"
    assert told["MY_DB_PORT_5432_TCP_ADDR"] == service.spec.cluster_ip


async def test_arguments_are_expanded(machine: RealMachine) -> None:
    container = shell('echo "$0" "$1"', args=["$(A)", "$(WINDVANE_POD_IP)"], env=[{"name": "A", "value": "1"}])
    await machine.create(containers=[container], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    assert await machine.log() == [f"1 {(await machine.get()).status.pod_ip}"]


async def test_a_missing_config_map_is_a_config_error_until_it_comes(machine: RealMachine) -> None:
    container = shell("echo $A", env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "a"}}}])
    await machine.create(containers=[container], restartPolicy="Never")
    status = await machine.status(refused)
    waiting = status.container_statuses[0].state.waiting
    assert (waiting.reason, waiting.message) == ("CreateContainerConfigError", 'configmap "late" not found')
    await machine.admin.create(ConfigMap(metadata=meta("late"), data={"a": "now"}))
    await machine.status(lambda status: status.phase == "Succeeded")
    assert await machine.log() == ["now"]


async def test_config_maps_and_secrets_are_directories_at_their_paths(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"a": "1", "b": "2"}))
    await machine.admin.create(Secret(metadata=meta("login"), data={"key": b"hunter2"}))
    volumes = [
        {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "a", "path": "deep/a.txt"}]}},
        {"name": "login", "secret": {"secretName": "login", "defaultMode": 0o400}},
        {"name": "none", "configMap": {"name": "none", "optional": True}},
    ]
    mounts = [
        {"name": "settings", "mountPath": "/etc/settings"},
        {"name": "login", "mountPath": "/very/new/place"},
        {"name": "none", "mountPath": "/none"},
    ]
    code = "cat /etc/settings/deep/a.txt; echo; ls /etc/settings; stat -L -c %a /very/new/place/key; ls /none | wc -l"
    assert await output(machine, code, volumes=volumes, mounts=mounts) == ["1", "deep", "400", "0"]
    assert not exists("/very")
    assert not exists("/etc/settings")


async def test_a_volume_follows_its_config_map(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"a": "old"}))
    code = "cat /s/a; echo; until grep -q new /s/a; do sleep 0.05; done; cat /s/a; echo; ls /s; exec sleep 1000"
    volumes = [{"name": "s", "configMap": {"name": "settings"}}]
    await machine.create(containers=[shell(code, volumeMounts=[{"name": "s", "mountPath": "/s"}])], volumes=volumes)
    await machine.said("old")
    await machine.admin.patch(ConfigMap, "settings", {"data": {"a": "new", "b": "x"}}, namespace="default")
    await machine.said("b")
    assert await machine.log() == ["old", "new", "a", "b"]


def test_who_sees_what_is_new_in_a_volume_sees_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, {"a": FileContent(b"old", 0o644)})
    seen: list[dict[str, str]] = []
    replace = Path.replace

    def look(link: Path, at: Path) -> Path:
        replaced = replace(link, at)
        seen.append({each.name: each.read_text() for each in tmp_path.iterdir() if not each.name.startswith("..")})
        return replaced

    monkeypatch.setattr(Path, "replace", look)
    write_all(tmp_path, {"a": FileContent(b"new", 0o644), "b": FileContent(b"x", 0o644)})
    assert seen == [{"a": "new", "b": "x"}]


async def test_an_empty_directory_is_shared_and_outlives_a_container(machine: RealMachine) -> None:
    code = "test -e /shared/been && { cat /shared/been; exec sleep 1000; }; echo before > /shared/been; exit 1"
    mounts = [{"name": "shared", "mountPath": "/shared"}]
    await machine.create(containers=[shell(code, volumeMounts=mounts)], volumes=[{"name": "shared", "emptyDir": {}}])
    await machine.status(restarted)
    await machine.said("before", attempt=1)


async def test_what_a_container_writes_elsewhere_is_its_own(machine: RealMachine) -> None:
    code = "test -e /var/mine && echo again; echo x > /var/mine; echo y > /etc/hostname; cat /etc/hostname; exit 1"
    await machine.create(containers=[shell(code)])
    await machine.status(restarted)
    await machine.said("y", attempt=1)
    assert await machine.log(attempt=1) == ["y"]
    assert not exists("/var/mine")


async def test_the_token_of_the_service_account_is_where_clients_look_for_it(machine: RealMachine) -> None:
    await machine.admin.create(ServiceAccount(metadata=meta("robot")))
    await machine.admin.create(ConfigMap(metadata=meta("kube-root-ca.crt"), data={"ca.crt": "CA"}))
    projected = {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ]
    }
    place = "/var/run/secrets/kubernetes.io/serviceaccount"
    code = f"cat {place}/ca.crt; echo; cat {place}/namespace; echo; wc -c < {place}/token"
    said = await output(
        machine,
        code,
        volumes=[{"name": "access", "projected": projected}],
        mounts=[{"name": "access", "mountPath": place, "readOnly": True}],
        serviceAccountName="robot",
        automountServiceAccountToken=False,
    )
    assert said[:2] == ["CA", "default"]
    assert int(said[2]) > 100


async def test_a_read_only_mount_can_not_be_written(machine: RealMachine) -> None:
    mounts = [{"name": "v", "mountPath": "/v", "readOnly": True}]
    said = await output(machine, "touch /v/x || echo no", volumes=[{"name": "v", "emptyDir": {}}], mounts=mounts)
    assert said[-1] == "no"


async def test_a_part_of_a_volume_can_be_mounted(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"app.conf": "x = 1"}))
    volumes = [{"name": "s", "configMap": {"name": "settings"}}, {"name": "e", "emptyDir": {}}]
    mounts = [
        {"name": "s", "mountPath": "/etc/app.conf", "subPath": "app.conf"},
        {"name": "e", "mountPath": "/part", "subPathExpr": "$(HOSTNAME)/data"},
        {"name": "e", "mountPath": "/whole"},
    ]
    said = await output(
        machine,
        "cat /etc/app.conf; echo; ls -d /whole/*/data; touch /part/x; ls /whole/web/data",
        volumes=volumes,
        mounts=mounts,
    )
    assert said == ["x = 1", "/whole/web/data", "x"]


async def test_other_users_of_this_machine_do_not_see_secrets(machine: RealMachine) -> None:
    assert machine.directory.stat().st_mode & 0o077 == 0


async def test_what_comes_from_the_cluster_can_not_be_written(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"key": "x"}))
    code = "ln -s /etc /s/..data_tmp || echo no; ln -s /etc /s/..data_tmp; cat /s/key"
    volumes, mounts = [{"name": "s", "configMap": {"name": "settings"}}], [{"name": "s", "mountPath": "/s"}]
    said = await output(machine, code, volumes=volumes, mounts=mounts)
    assert "no" in said
    assert said[-1] == "x"


async def test_a_part_of_a_volume_that_leads_out_of_it_is_refused(machine: RealMachine) -> None:
    await machine.admin.create(ConfigMap(metadata=meta("settings"), data={"key": "x"}))
    container = shell(
        "cat /evil/passwd",
        env=[{"name": "WHERE", "value": "../../../../../../../../../../../../etc"}],
        volumeMounts=[{"name": "s", "mountPath": "/evil", "subPathExpr": "$(WHERE)"}],
    )
    await machine.create(containers=[container], volumes=[{"name": "s", "configMap": {"name": "settings"}}])
    status = await machine.status(refused)
    assert status.container_statuses[0].state.waiting.reason == "CreateContainerConfigError"


async def test_the_data_of_a_claim_outlives_the_pod(machine: RealMachine, tmp_path: Path) -> None:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": str(tmp_path / "pv")},
    }
    volume = PersistentVolume(metadata=ObjectMeta(name="pv-1"), spec=codec.from_wire(spec, PersistentVolumeSpec))
    await machine.admin.create(volume)
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "pv-1"}
    await machine.admin.create(
        PersistentVolumeClaim(metadata=meta("data"), spec=codec.from_wire(wanted, PersistentVolumeClaimSpec))
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    await output(machine, "echo kept > /data/file", volumes=volumes, mounts=mounts)
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()
    assert await output(machine, "cat /data/file", volumes=volumes, mounts=mounts) == ["kept"]


async def test_a_path_of_the_machine_is_refused_unless_it_is_allowed(machine: RealMachine) -> None:
    volumes = [{"name": "host", "hostPath": {"path": "/root"}}]
    await machine.create(
        containers=[shell("ls /host", volumeMounts=[{"name": "host", "mountPath": "/host"}])], volumes=volumes
    )
    status = await machine.status(refused)
    assert "--host-paths" in status.container_statuses[0].state.waiting.message
    assert status.container_statuses[0].state.waiting.reason == "ContainerCreating"


async def test_names_of_services_and_of_their_pods_are_known(machine: RealMachine) -> None:
    spec = codec.from_wire({"ports": [{"port": 80}], "selector": {"a": "b"}}, ServiceSpec)
    web = await machine.admin.create(Service(metadata=meta("web-service"), spec=spec))
    headless = codec.from_wire({"clusterIP": "None", "ports": [{"port": 80}], "selector": {"a": "b"}}, ServiceSpec)
    await machine.admin.create(Service(metadata=meta("db"), spec=headless))
    await machine.create(
        containers=[
            shell(
                "until getent hosts db-0.db; do sleep 0.05; done; getent hosts web-service.default.svc; exec sleep 1000"
            )
        ]
    )
    await machine.status(running)
    wire = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "metadata": {"name": "db-1", "namespace": "default", "labels": {"kubernetes.io/service-name": "db"}},
        "endpoints": [{"addresses": ["127.64.2.3"], "hostname": "db-0", "conditions": {"ready": True}}],
        "ports": [],
    }
    slice_ = codec.from_wire(wire, EndpointSlice)
    await machine.admin.create(slice_)
    await machine.mentioned("127.64.2.3")
    await machine.mentioned(str(web.spec.cluster_ip))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_a_container_runs_as_the_user_that_it_asks_for(machine: RealMachine) -> None:
    said = await output(
        machine,
        "id -u; id -g; id -G; touch /v/x; stat -c %g /v/x",
        volumes=[{"name": "v", "emptyDir": {}}],
        mounts=[{"name": "v", "mountPath": "/v"}],
        securityContext={"runAsUser": 1234, "runAsGroup": 99, "fsGroup": 777},
    )
    assert said == ["1234", "99", "99 777", "777"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_who_is_not_root_can_enter_where_only_root_may_and_not_look_around(machine: RealMachine) -> None:
    """A Python of root's own, below /root, is what an image has: it must start as any user."""
    said = await output(
        machine,
        "stat -c %a /root; ls /root 2>&1 | tail -1 | grep -c 'Permission denied'",
        volumes=[],
        mounts=[],
        securityContext={"runAsUser": 1234, "runAsGroup": 1234},
    )
    assert said[0][-1] in "1357"
    assert said[1] == "1" or said[0][-1] in "57"


@pytest.mark.skipif(os.getuid() != 0, reason="nobody else would be root")
async def test_who_must_not_be_root_and_would_be_does_not_start(machine: RealMachine) -> None:
    await machine.create(containers=[shell("id")], securityContext={"runAsNonRoot": True})
    status = await machine.status(refused)
    assert "runAsNonRoot" in status.container_statuses[0].state.waiting.message


async def test_each_pod_can_listen_on_the_same_port(machine: RealMachine) -> None:
    code = "import os, socket; s = socket.create_server((os.environ['WINDVANE_POD_IP'], 8000)); print('up'); s.accept()"
    for name in ("a", "b"):
        await machine.create(name, containers=[python(code)])
    for name in ("a", "b"):
        await machine.said("up", name)


LAUNCH = """
import asyncio, sys
from windvane.cluster.node.process.launch import LaunchSpec, Mount, launch

async def main(place):
    mounts = [Mount(place, "/v", read_only=True)]
    spec = LaunchSpec(["/bin/true"], {}, place + "/container", "user", "web", mounts=mounts)
    return await (await launch(spec, lambda *_: None)).ended()

sys.exit(asyncio.run(main(sys.argv[1])))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount something to try it on")
async def test_volumes_may_be_where_devices_and_set_uid_programs_are_not_allowed(tmp_path: Path) -> None:
    commands = f'mount -t tmpfs -o nosuid,nodev x {tmp_path} && mkdir {tmp_path}/container && exec "$@"'
    process = await asyncio.create_subprocess_exec(
        *("unshare", "-m", "sh", "-c", commands, "sh", sys.executable, "-c", LAUNCH, str(tmp_path))
    )
    assert await process.wait() == 0
