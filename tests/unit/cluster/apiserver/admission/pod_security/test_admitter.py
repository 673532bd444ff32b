"""What pod security notes for the audit log, and whom it does not look at; the rest has conformance tests."""

from typing import Any

import pytest

from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.pod_security.admitter import PodSecurity
from windvane.cluster.apiserver.admission.request import AdmissionRequest, Operation
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

PREFIX = "pod-security.kubernetes.io"
FREE = "host namespaces (hostPID=true)"
CATALOG = Catalog()
CATALOG.add(builtin_types())


def type_of(plural: str, group: str = "") -> ResourceType:
    found = CATALOG.find(group, "v1", plural)
    assert found is not None
    return found


async def security(**labels: str) -> PodSecurity:
    """Where there is the namespace `n` with these labels."""
    store = Store.open()
    stated = ",".join(f'"{PREFIX}/{mode}":"{value}"' for mode, value in labels.items())
    namespace = f'{{"metadata":{{"name":"n","labels":{{{stated}}}}}}}'.encode()
    await store.commit(Key("/namespaces", "", "n"), 0, lambda _: namespace)
    return PodSecurity(store)


def asking(
    operation: Operation = "CREATE", plural: str = "pods", group: str = "", subresource: str = "", **spec: Any
) -> AdmissionRequest:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    thing = pod if plural == "pods" else {"metadata": {"name": "w"}, "spec": {"template": pod}}
    return AdmissionRequest(
        operation=operation,
        type=type_of(plural, group),
        subresource=subresource,
        namespace="n",
        name="p",
        object=thing,
        user=User("somebody", ()),
    )


async def test_where_nothing_is_asked_for_that_is_noted() -> None:
    request = asking(hostPID=True)
    await (await security()).validate(request)
    assert request.annotations == {f"{PREFIX}/enforce-policy": "privileged:latest"}
    assert request.warnings == []


async def test_what_is_enforced_is_noted_with_what_would_be_violated() -> None:
    request = asking(hostPID=True)
    await (await security(enforce="privileged", audit="baseline")).validate(request)
    assert request.annotations == {
        f"{PREFIX}/enforce-policy": "privileged:latest",
        f"{PREFIX}/audit-violations": f'would violate PodSecurity "baseline:latest": {FREE}',
    }
    assert request.warnings == []


async def test_what_is_refused_is_noted_and_nobody_is_warned_of_it() -> None:
    request = asking(hostPID=True)
    with pytest.raises(Failure, match="violates PodSecurity"):
        await (await security(enforce="baseline", audit="baseline")).validate(request)
    assert set(request.annotations) == {f"{PREFIX}/enforce-policy", f"{PREFIX}/audit-violations"}
    assert request.warnings == []


async def test_of_a_template_only_violations_are_noted() -> None:
    request = asking(plural="deployments", group="apps", hostPID=True)
    await (await security(enforce="baseline", audit="baseline")).validate(request)
    assert set(request.annotations) == {f"{PREFIX}/audit-violations"}
    assert request.warnings == [f'would violate PodSecurity "baseline:latest": {FREE}']


async def test_labels_that_can_not_be_read_are_noted() -> None:
    request = asking()
    await (await security(warn="tight")).validate(request)
    why = f'metadata.labels[{PREFIX}/warn]: Invalid value: "tight": must be one of privileged, baseline, restricted'
    assert request.annotations[f"{PREFIX}/error"] == f"Failed to parse policy: {why}"


@pytest.mark.parametrize(
    ("request_", "concerned"),
    [
        (asking(), True),
        (asking("UPDATE", subresource="ephemeralcontainers"), True),
        (asking("UPDATE", subresource="status"), False),
        (asking("CREATE", subresource="binding"), False),
        (asking("DELETE"), False),
        (asking("CONNECT", subresource="exec"), False),
        (asking("UPDATE", "deployments", "apps"), True),
        (asking("UPDATE", "deployments", "apps", "scale"), False),
        (asking(plural="configmaps"), False),
        (asking(plural="namespaces"), True),
        (asking("UPDATE", "namespaces", subresource="finalize"), False),
    ],
)
async def test_only_what_may_become_a_pod_is_looked_at(request_: AdmissionRequest, concerned: bool) -> None:
    assert Chain([await security()]).handles(request_) == concerned
