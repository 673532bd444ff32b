"""What kubectl prints, with what differs from run to run replaced by words."""

from conformance.kubectl import Session
from conformance.objects import pod
from conformance.requests import Raw
from conformance.servers import Server


def of(kind: str, thing: dict[str, object], version: str = "v1") -> dict[str, object]:
    return {"apiVersion": version, "kind": kind, **thing}


async def test_wait(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create -f -", stdin=of("Pod", pod()))
    assert kubectl("wait pod/p --for=jsonpath={.status.phase}=Pending --timeout=30s") == "pod/p condition met"
    assert kubectl("delete pod p --wait=false") == 'pod "p" deleted from NS namespace'
    assert kubectl("wait pod/p --for=delete --timeout=30s") in ("", "pod/p condition met")


async def test_api_resources_and_versions(raw: Raw, server: Server, crds: None) -> None:
    kubectl = Session(server, raw)
    # Other tests may have kinds of their own in this group.
    listed = kubectl("api-resources --api-group=conformance.windvane.dev").splitlines()
    assert "gadgets  gd  conformance.windvane.dev/v1  true  Gadget" in listed
    assert kubectl("api-resources --api-group=apps -o name") == (
        "controllerrevisions.apps\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps"
    )
    assert {"v1", "apps/v1", "conformance.windvane.dev/v1"} <= set(kubectl("api-versions").splitlines())
    assert "configmaps  cm  v1  true  ConfigMap" in kubectl("api-resources").splitlines()
