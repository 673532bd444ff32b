"""Everything that runs is admitted by the Pod Security Standard `restricted`, as the API server judges it."""

import pytest

from etcd_operator import backups, children, restore
from windvane import ObjectMeta, object_to_wire
from windvane.cluster.apiserver.admission.pod_security.policy import Standard
from windvane.cluster.apiserver.admission.pod_security.standards import violations
from windvane.k8s import core
from worlds import cluster

SECURED = cluster(tls=True, auth=True, backupSchedule="0 2 * * *")
SCHEDULE = backups.schedule_for(SECURED)
assert SCHEDULE is not None
PODS = {
    "a member": children.stateful_set(SECURED, 3, "3.5.1", children.Security()).spec.template,
    "a backup": backups.job_for(SECURED, name="now", purpose="ondemand").spec.template,
    "a scheduled backup": SCHEDULE.spec.job_template.spec.template,
    "a restore": restore.job_for(SECURED, restore="r", volume_claim="prod-backups").spec.template,
    "what reads a snapshot": restore.reading_job_for(
        SECURED, restore="r", volume_claim="prod-backups", snapshot="monday"
    ).spec.template,
    "what a member has left": restore.salvage_job_for(SECURED, restore="r", ordinal=2).spec.template,
}


def wire_of(template: core.PodTemplateSpec) -> dict[str, object]:
    return object_to_wire(core.Pod(metadata=ObjectMeta(name="it"), spec=template.spec))


@pytest.mark.parametrize("template", PODS.values(), ids=PODS.keys())
def test_the_standard_restricted_admits_it(template: core.PodTemplateSpec) -> None:
    assert violations(wire_of(template), Standard("restricted", None)) == []


@pytest.mark.parametrize("template", PODS.values(), ids=PODS.keys())
def test_it_owns_what_it_writes(template: core.PodTemplateSpec) -> None:
    """A volume may have been root's: it is given to the group that the pod runs as."""
    security = template.spec.security_context
    assert security is not None
    assert security.run_as_group == security.fs_group == 65532


def test_other_ids_can_be_asked_for() -> None:
    asked = cluster(securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})
    security = children.stateful_set(asked, 3, "3.5.1", children.Security()).spec.template.spec.security_context
    assert security is not None
    assert (security.run_as_user, security.run_as_non_root) == (None, True)
