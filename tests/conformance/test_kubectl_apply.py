"""kubectl as a manager of fields: server-side apply, conflicts, and the way there from client-side apply and back."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from conformance.objects import deployment
from conformance.ownership import applied_thing, owners
from conformance.requests import Raw
from conformance.servers import Server

Kubectl = Callable[..., str]

REVIEW = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ANNOTATION = f".metadata.annotations.{LAST_APPLIED}"
WEB = applied_thing("Deployment", **deployment())


def config(**data: Any) -> dict[str, Any]:
    return applied_thing("ConfigMap", data=data)


@pytest.fixture
def kubectl(server: Server, raw: Raw) -> Kubectl:
    """kubectl in the test's namespace; what differs from run to run is replaced by words."""

    def run(command: str, stdin: Any = None) -> str:
        said = server.kubectl(f"--namespace={raw.namespace}", *command.split(), input=json.dumps(stdin))
        said = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", said.replace(raw.namespace, "NS"))
        return re.sub(r'uid: \S+|resourceVersion: "\d+"', "ID", said).strip()

    return run


async def shown_owners(raw: Raw, place: str = "configmaps/a") -> dict[str, str]:
    return owners(await raw.ok(f"GET {place}"))


async def test_server_side_apply(raw: Raw, kubectl: Kubectl) -> None:
    for _ in range(2):
        assert kubectl("apply --server-side -f -", config(k="v")) == "configmap/a serverside-applied"
    assert await shown_owners(raw) == {"kubectl Apply v1": ".data.k"}


async def test_managed_fields_are_shown_to_who_asks(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side -f -", config(k="v"))
    assert "managedFields" not in kubectl("get configmap a -o yaml")
    assert kubectl("get configmap a -o yaml --show-managed-fields") == (
        'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  creationTimestamp: "TIME"\n  managedFields:\n'
        "  - apiVersion: v1\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:data:\n        f:k: {}\n"
        '    manager: kubectl\n    operation: Apply\n    time: "TIME"\n  name: a\n  namespace: NS\n  ID\n  ID'
    )


async def test_a_conflict_is_explained(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side --field-manager=one -f -", config(k="v"))
    said = kubectl("apply --server-side -f -", config(k="w"))
    assert said == f'error: Apply failed with 1 conflict: conflict with "one": .data.k{REVIEW}'


async def test_conflicts_over_two_fields_are_listed(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side --field-manager=one -f -", config(k="v", l="v"))
    said = kubectl("apply --server-side -f -", config(k="w", l="w"))
    assert said == f'error: Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\n- .data.l{REVIEW}'


async def test_force_conflicts(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side --field-manager=one -f -", config(k="v"))
    said = kubectl("apply --server-side --force-conflicts -f -", config(k="w"))
    assert said == "configmap/a serverside-applied"
    assert await shown_owners(raw) == {"kubectl Apply v1": ".data.k"}


async def test_from_client_side_to_server_side_apply(raw: Raw, kubectl: Kubectl) -> None:
    assert kubectl("apply -f -", config(k="v", l="v")) == "configmap/a created"
    paths = f".data .data.k .data.l .metadata.annotations {ANNOTATION}"
    assert await shown_owners(raw) == {"kubectl-client-side-apply Update v1": paths}
    assert kubectl("apply --server-side -f -", config(k="w")) == "configmap/a serverside-applied"
    assert await shown_owners(raw) == {"kubectl-last-applied Apply v1": ANNOTATION, "kubectl Apply v1": ".data.k"}
    shown = await raw.ok("GET configmaps/a")
    assert shown["data"] == {"k": "w"}
    assert json.loads(shown["metadata"]["annotations"][LAST_APPLIED])["data"] == {"k": "w"}


async def test_and_back_to_client_side_apply(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply -f -", config(k="v", l="v"))
    kubectl("apply --server-side -f -", config(k="w"))
    assert kubectl("apply -f -", config(k="x", m="y")) == "configmap/a configured"
    paths = f".data.k .data.m {ANNOTATION}"
    assert await shown_owners(raw) == {"kubectl-client-side-apply Update v1": paths}


async def test_a_deployment_goes_from_client_side_to_server_side_apply(raw: Raw, kubectl: Kubectl) -> None:
    assert kubectl("apply -f -", WEB) == "deployment.apps/web created"
    assert kubectl("apply --server-side -f -", WEB) == "deployment.apps/web serverside-applied"
    container = ".spec.template.spec.containers[name=main]"
    paths = f".spec.selector .spec.template.metadata.labels.app {container} {container}.image {container}.name"
    assert await shown_owners(raw, "deployments/web") == {
        "kubectl-last-applied Apply apps/v1": ANNOTATION,
        "kubectl Apply apps/v1": paths,
    }


async def test_client_side_apply_of_what_was_applied_on_the_servers_side(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side -f -", config(k="v"))
    warning, done = kubectl("apply -f -", config(k="w")).splitlines()
    assert f"is missing the {LAST_APPLIED} annotation" in warning
    assert done == "configmap/a configured"
    paths = f".data.k .metadata.annotations {ANNOTATION}"
    assert await shown_owners(raw) == {"kubectl-client-side-apply Update v1": paths}


async def test_a_dry_run_on_the_server(raw: Raw, kubectl: Kubectl) -> None:
    said = kubectl("apply --server-side --dry-run=server -f -", config(k="v"))
    assert said == "configmap/a serverside-applied (server dry run)"
    assert kubectl("get configmap a") == 'Error from server (NotFound): configmaps "a" not found'


async def test_a_diff_on_the_servers_side(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side -f -", config(k="v"))
    changed = [line for line in kubectl("diff --server-side -f -", config(k="w")).splitlines() if line[1:3] == "  "]
    assert "-  k: v" in changed
    assert "+  k: w" in changed


async def test_a_diff_conflicts_too(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side --field-manager=one -f -", config(k="v"))
    said = kubectl("diff --server-side -f -", config(k="w"))
    assert said.endswith('Error from server (Conflict): Apply failed with 1 conflict: conflict with "one": .data.k')


async def test_commands_have_names_as_managers(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("create -f -", config(k="v"))
    kubectl("label configmap a x=y")
    kubectl("annotate configmap a n=m")
    kubectl('patch configmap a -p {"data":{"k":"w"}}')
    assert await shown_owners(raw) == {
        "kubectl-create Update v1": ".data",
        "kubectl-label Update v1": ".metadata.labels .metadata.labels.x",
        "kubectl-annotate Update v1": ".metadata.annotations .metadata.annotations.n",
        "kubectl-patch Update v1": ".data.k",
    }


async def test_scaling_is_remembered_with_its_subresource(raw: Raw, kubectl: Kubectl) -> None:
    kubectl("apply --server-side -f -", applied_thing("Deployment", **deployment(replicas=1)))
    assert kubectl("scale deployment web --replicas=3") == "deployment.apps/web scaled"
    found = await shown_owners(raw, "deployments/web")
    assert found["kubectl Update apps/v1 scale"] == ".spec.replicas"
    assert ".spec.replicas" not in found["kubectl Apply apps/v1"]


async def test_an_unknown_field_is_refused(raw: Raw, kubectl: Kubectl) -> None:
    said = kubectl("apply --server-side -f -", {**config(k="v"), "bogus": 1})
    problem = "failed to create typed patch object (NS/a; /v1, Kind=ConfigMap): .bogus: field not declared in schema"
    assert said == f"Error from server: {problem}"


async def test_a_list_is_applied_item_by_item(raw: Raw, kubectl: Kubectl) -> None:
    items = [config(k="v"), applied_thing("Secret", stringData={"a": "b"})]
    said = kubectl("apply --server-side -f -", {"apiVersion": "v1", "kind": "List", "items": items})
    assert said == "configmap/a serverside-applied\nsecret/a serverside-applied"
