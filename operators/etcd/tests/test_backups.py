"""What takes snapshots, and what restores them, as manifests."""

import ast
import sys
from typing import Any

from etcd_operator import backups, keeper, restore
from etcd_operator.api import EtcdCluster, EtcdClusterStatus
from windvane import object_from_wire, object_to_wire
from windvane.k8s import batch, core


def cluster(**spec: Any) -> EtcdCluster:
    wire = {"version": "3.5.1", "storageSize": "10Gi", "backupSchedule": "0 2 * * *", **spec}
    content = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "prod", "namespace": "db", "uid": "u-1"},
        "spec": wire,
    }
    return object_from_wire(content, EtcdCluster)


def pod_of(job: batch.Job | batch.CronJob) -> core.PodSpec:
    spec = job.spec.job_template.spec if isinstance(job, batch.CronJob) else job.spec
    return spec.template.spec


def step(pod: core.PodSpec, name: str) -> core.Container:
    [found] = [each for each in (*pod.init_containers, *pod.containers) if each.name == name]
    return found


def scheduled(**spec: Any) -> batch.CronJob:
    job = backups.schedule_for(cluster(**spec))
    assert job is not None
    return job


def test_a_schedule_becomes_a_cronjob_that_never_runs_twice_at_once() -> None:
    job = scheduled()
    assert (job.metadata.name, job.spec.schedule, job.spec.time_zone) == ("prod-backup", "0 2 * * *", "Etc/UTC")
    assert job.spec.concurrency_policy == "Forbid"


def test_without_a_schedule_there_is_none() -> None:
    assert backups.schedule_for(cluster(backupSchedule=None)) is None


def test_a_snapshot_is_taken_checked_and_kept_without_a_shell() -> None:
    pod = pod_of(scheduled())
    assert [each.name for each in (*pod.init_containers, *pod.containers)] == ["begin", "snapshot", "check", "keep"]
    assert step(pod, "snapshot").command == [
        "etcdctl",
        "--endpoints=http://prod-client.db.svc:2379",
        "--command-timeout=1800s",
        "snapshot",
        "save",
        "/backups/incoming/$(JOB_NAME).db",
    ]
    assert step(pod, "check").command[:3] == ["etcdutl", "snapshot", "status"]
    assert step(pod, "snapshot").image == "quay.io/coreos/etcd:v3.5.1"
    assert step(pod, "keep").image == "python:3.13-alpine"
    assert step(pod, "keep").command[:3] == ["python", "/scripts/keeper.py", "keep"]


def test_the_tools_are_of_the_version_that_runs() -> None:
    upgrading = cluster(version="3.5.1")
    upgrading.status = EtcdClusterStatus(version="3.4.23")
    pod = pod_of(backups.job_for(upgrading, name="before", purpose="upgrade"))
    assert step(pod, "snapshot").image == "quay.io/coreos/etcd:v3.4.23"
    assert step(pod, "check").command[0] == "etcdctl"  # there is no etcdutl before 3.5


def test_a_file_has_the_name_of_its_job() -> None:
    pod = pod_of(scheduled())
    for name in ("begin", "snapshot", "check", "keep"):
        variables = {each.name: each.value_from for each in step(pod, name).env}
        source = variables["JOB_NAME"]
        assert source is not None
        assert source.field_ref is not None
        assert source.field_ref.field_path == "metadata.labels['batch.kubernetes.io/job-name']"


def test_the_volume_has_no_owner_and_is_as_large_as_asked() -> None:
    claim = backups.claim_for(cluster(backupStorageSize="50Gi", storageClass="slow"))
    wire = object_to_wire(claim)
    assert "ownerReferences" not in wire["metadata"]
    assert wire["spec"]["resources"] == {"requests": {"storage": "50Gi"}}
    assert wire["spec"]["storageClassName"] == "slow"


def test_the_volume_does_not_shrink() -> None:
    there = backups.claim_for(cluster(backupStorageSize="50Gi"))
    claim = backups.claim_for(cluster(backupStorageSize="20Gi"), there)
    assert object_to_wire(claim)["spec"]["resources"] == {"requests": {"storage": "50Gi"}}


def test_who_must_log_in_logs_in_as_root() -> None:
    env = {each.name: each for each in step(pod_of(scheduled(auth=True)), "snapshot").env}
    assert env["ETCDCTL_USER"].value == "root"
    source = env["ETCDCTL_PASSWORD"].value_from
    assert source is not None
    assert source.secret_key_ref == core.SecretKeySelector(name="prod-root", key="password")


def test_with_tls_etcdctl_shows_a_certificate() -> None:
    pod = pod_of(scheduled(tls=True))
    save = step(pod, "snapshot")
    assert "--endpoints=https://prod-client.db.svc:2379" in save.command
    env = {each.name: each.value for each in save.env}
    assert env["ETCDCTL_CACERT"] == "/tls/client/ca.crt"
    for name in ("begin", "snapshot"):
        assert {each.name: each.mount_path for each in step(pod, name).volume_mounts}["tls"] == "/tls/client"
    assert "--tls=/tls/client" in step(pod, "begin").command
    assert [each.secret.secret_name for each in pod.volumes if each.secret] == ["prod-client-tls"]


def test_pods_have_no_token_and_tell_their_last_words() -> None:
    pod = pod_of(scheduled())
    assert pod.automount_service_account_token is False
    assert {each.termination_message_policy for each in (*pod.init_containers, *pod.containers)} == {
        "FallbackToLogsOnError"
    }


def test_pods_of_backups_are_not_taken_for_members() -> None:
    meta = backups.job_for(cluster(), name="one", purpose="ondemand").spec.template.metadata
    assert meta is not None
    assert meta.labels["app.kubernetes.io/component"] != "member"
    assert meta.labels["etcd.windvane.dev/backup"] == "ondemand"


def test_the_script_is_the_module_and_old_pythons_can_read_it() -> None:
    source = backups.script_for(cluster()).data["keeper.py"]
    assert source.startswith(f'"""{(keeper.__doc__ or "")[:20]}')
    ast.parse(source, feature_version=(3, 9))
    imported = {each.names[0].name for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Import)}
    assert {each.partition(".")[0] for each in imported} <= sys.stdlib_module_names


def test_a_restore_makes_the_only_member_of_a_new_cluster() -> None:
    pod = pod_of(restore.job_for(cluster(), restore="r-1", volume_claim="old-backups", snapshot="monday"))
    assert [each.name for each in (*pod.init_containers, *pod.containers)] == ["prepare", "restore", "finish"]
    assert step(pod, "restore").command == [
        "etcdutl",
        "snapshot",
        "restore",
        "/source/snapshot.db",
        "--name=prod-0",
        "--initial-cluster=prod-0=http://prod-0.prod-peers.db.svc:2380",
        "--initial-advertise-peer-urls=http://prod-0.prod-peers.db.svc:2380",
        "--initial-cluster-token=db-prod-u-1-r-1",
        "--data-dir=/var/lib/etcd/restoring",
    ]
    assert "--snapshot=monday" in step(pod, "prepare").command
    claims = {each.name: each.persistent_volume_claim for each in pod.volumes if each.persistent_volume_claim}
    assert {name: claim.claim_name for name, claim in claims.items()} == {
        "data": "data-prod-0",
        "backups": "old-backups",
    }


def test_what_a_member_has_left_becomes_a_new_cluster_in_its_place() -> None:
    pod = pod_of(restore.salvage_job_for(cluster(), restore="r-1", ordinal=2))
    assert [each.name for each in (*pod.init_containers, *pod.containers)] == ["salvage", "restore", "replace"]
    command = step(pod, "restore").command
    assert "--initial-cluster=prod-2=http://prod-2.prod-peers.db.svc:2380" in command
    assert "--skip-hash-check=true" in command  # only a snapshot has one
    claims = [each.persistent_volume_claim.claim_name for each in pod.volumes if each.persistent_volume_claim]
    assert claims == ["data-prod-2"]
    assert pod.host_aliases[0].hostnames == ["prod-2.prod-peers.db.svc"]


def test_the_name_of_the_member_that_is_restored_means_something_before_it_runs() -> None:
    [alias] = pod_of(restore.job_for(cluster(), restore="r-1", volume_claim="old-backups")).host_aliases
    assert alias.hostnames == ["prod-0.prod-peers.db.svc"]  # else etcdutl looks for it for 30 seconds, and fails


def test_each_restore_has_its_own_job_and_its_own_cluster() -> None:
    first, second = (restore.job_for(cluster(), restore=which, volume_claim="prod-backups") for which in ("1a", "2b"))
    assert first.metadata.name != second.metadata.name
    assert step(pod_of(first), "restore").command != step(pod_of(second), "restore").command


def test_the_first_members_claim_is_what_the_statefulset_would_make() -> None:
    claim = restore.member_claim_for(cluster())
    wire = object_to_wire(claim)
    assert wire["metadata"]["name"] == "data-prod-0"
    assert wire["metadata"]["labels"]["app.kubernetes.io/component"] == "member"
    assert wire["spec"]["resources"] == {"requests": {"storage": "10Gi"}}
