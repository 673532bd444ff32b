"""What kubectl prints, with what differs from run to run replaced by words."""

import asyncio

from conformance.crds import gadget
from conformance.kubectl import Session
from conformance.objects import config_map, deployment, pod, service
from conformance.requests import SECONDS, Raw
from conformance.servers import Server
from windvane import ambient


def of(kind: str, thing: dict[str, object], version: str = "v1") -> dict[str, object]:
    return {"apiVersion": version, "kind": kind, **thing}


WEB = of("Deployment", deployment(), "apps/v1")


async def test_create_get_and_delete(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    assert kubectl("create configmap a --from-literal=k=v") == "configmap/a created"
    assert kubectl("create configmap a") == 'error: failed to create configmap: configmaps "a" already exists'
    assert kubectl("get configmaps") == "NAME  DATA  AGE\na  1  AGE"
    assert kubectl("get cm a -o name") == "configmap/a"
    assert kubectl("get cm a -o jsonpath={.data.k}") == "v"
    assert kubectl("get cm a -o custom-columns=N:.metadata.name,K:.data.k") == "N  K\na  v"
    assert kubectl("get cm a -o yaml") == (
        'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  creationTimestamp: "TIME"\n  '
        'name: a\n  namespace: NS\n  resourceVersion: "VERSION"\n  uid: UID'
    )
    assert kubectl("get cm nope") == 'Error from server (NotFound): configmaps "nope" not found'
    assert kubectl("get cm --field-selector=metadata.name=b") == "No resources found in NS namespace."
    assert kubectl("get wines") == 'error: the server doesn\'t have a resource type "wines"'
    assert kubectl("delete cm a") == 'configmap "a" deleted from NS namespace'
    assert kubectl("delete cm a") == 'Error from server (NotFound): configmaps "a" not found'


async def test_apply(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    assert kubectl("apply -f -", stdin=WEB) == "deployment.apps/web created"
    assert kubectl("apply -f -", stdin=WEB) == "deployment.apps/web unchanged"
    changed = of("Deployment", deployment(replicas=3), "apps/v1")
    assert kubectl("diff -f -", stdin=changed).splitlines()[-6:] == [
        "   progressDeadlineSeconds: 600",
        "-  replicas: 1",
        "+  replicas: 3",
        "   revisionHistoryLimit: 10",
        "   selector:",
        "     matchLabels:",
    ]
    assert kubectl("apply -f -", stdin=changed) == "deployment.apps/web configured"
    assert kubectl("get deploy web") == "NAME  READY  UP-TO-DATE  AVAILABLE  AGE\nweb  0/3  0  0  AGE"
    assert kubectl("get deploy web -o wide") == (
        "NAME  READY  UP-TO-DATE  AVAILABLE  AGE  CONTAINERS  IMAGES  SELECTOR\nweb  0/3  0  0  AGE  "
        "main  nginx  app=web"
    )
    assert kubectl("delete -f -", stdin=changed) == 'deployment.apps "web" deleted from NS namespace'


async def test_apply_says_what_is_wrong(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    unknown = of("ConfigMap", config_map(color="red"))
    assert kubectl("apply -f -", stdin=unknown) == (
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot '
        'be handled as a ConfigMap: strict decoding error: unknown field "color"'
    )
    assert kubectl("apply --validate=warn -f -", stdin=unknown) == 'Warning: unknown field "color"\nconfigmap/a created'
    assert kubectl("apply -f -", stdin=of("Deployment", deployment(replicas=-1), "apps/v1")) == (
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
    assert kubectl("apply -f -", stdin=of("Deployment", deployment(replicas="x"), "apps/v1")) == (
        'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot '
        "be handled as a Deployment: json: cannot unmarshal string into Go struct field "
        "DeploymentSpec.spec.replicas of type int32"
    )
    assert kubectl("apply -f -", stdin=of("Wine", config_map(), "v9")) == (
        'error: resource mapping not found for name: "a" namespace: "" from "STDIN": no matches for kind '
        '"Wine" in version "v9"\nensure CRDs are installed first'
    )


async def test_label_annotate_patch_and_scale(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create -f -", stdin=WEB)
    assert kubectl("label deploy web a=b") == "deployment.apps/web labeled"
    assert kubectl("label deploy web a=c") == "error: 'a' already has a value (b), and --overwrite is false"
    assert kubectl("label deploy web a=b") == "deployment.apps/web not labeled"
    assert kubectl("label --overwrite deploy web a=c") == "deployment.apps/web labeled"
    assert kubectl("label deploy web a-") == "deployment.apps/web unlabeled"
    assert kubectl("annotate deploy web n=1") == "deployment.apps/web annotated"
    assert kubectl("get deploy -l a=b") == "No resources found in NS namespace."
    assert kubectl('patch deploy web -p {"spec":{"paused":true}}') == "deployment.apps/web patched"
    assert (
        kubectl('patch deploy web --type=merge -p {"spec":{"paused":true}}')
        == "deployment.apps/web patched (no change)"
    )
    json_patch = '[{"op":"remove","path":"/spec/paused"}]'
    assert kubectl("patch deploy web --type=json -p", json_patch) == "deployment.apps/web patched"
    assert kubectl("scale deploy web --replicas=2") == "deployment.apps/web scaled"
    assert kubectl("scale deploy web --replicas=3 --current-replicas=9") == "error: Expected replicas to be 9, was 2"
    assert kubectl("set image deploy/web main=other") == "deployment.apps/web image updated"
    assert kubectl("get deploy web -o jsonpath={.spec.replicas},{.metadata.generation}") == "2,6"
    assert kubectl("rollout status deploy/web --watch=false") == "Waiting for deployment spec update to be observed..."
    assert kubectl("rollout pause deploy/web") == "deployment.apps/web paused"
    assert kubectl("rollout history deploy/web") == "deployment.apps/web\nNo rollout history found."


async def test_replace_needs_the_version_that_was_read(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create configmap a --from-literal=k=v")
    shown = await raw.ok("GET configmaps/a")
    assert kubectl("replace -f -", stdin={**shown, "data": {"k": "w"}}) == "configmap/a replaced"
    assert kubectl("replace -f -", stdin={**shown, "data": {"k": "x"}}) == (
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on '
        'configmaps "a": the object has been modified; please apply your changes to the latest version '
        "and try again"
    )


async def test_edit_with_an_editor_that_is_a_program(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create configmap a --from-literal=k=v")
    assert kubectl("edit cm a", editor="sed -i /k:/s/v$/w/") == "configmap/a edited"
    assert kubectl("get cm a -o jsonpath={.data.k}") == "w"
    assert kubectl("edit cm a", editor="true") == "Edit cancelled, no changes made."


async def test_tables_of_several_kinds(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create -f -", stdin=of("Pod", pod(metadata={"labels": {"app": "web"}})))
    kubectl("create -f -", stdin=of("Service", service(clusterIP="None")))
    assert kubectl("get pods,services") == (
        "NAME  READY  STATUS  RESTARTS  AGE\npod/p  0/1  Pending  0  AGE\n\nNAME  TYPE  CLUSTER-IP  "
        "EXTERNAL-IP  PORT(S)  AGE\nservice/s  ClusterIP  None  <none>  80/TCP  AGE"
    )
    assert kubectl("get pods -o wide") == (
        "NAME  READY  STATUS  RESTARTS  AGE  IP  NODE  NOMINATED NODE  READINESS GATES\np  0/1  Pending  "
        "0  AGE  <none>  <none>  <none>  <none>"
    )
    assert (
        kubectl("get pods --show-labels")
        == "NAME  READY  STATUS  RESTARTS  AGE  LABELS\np  0/1  Pending  0  AGE  app=web"
    )
    assert kubectl("get pods -L app") == "NAME  READY  STATUS  RESTARTS  AGE  APP\np  0/1  Pending  0  AGE  web"
    assert kubectl("get pods --no-headers") == "p  0/1  Pending  0  AGE"


async def test_wait(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create -f -", stdin=of("Pod", pod()))
    assert kubectl("wait pod/p --for=jsonpath={.status.phase}=Pending --timeout=30s") == "pod/p condition met"
    assert kubectl("delete pod p --wait=false") == 'pod "p" deleted from NS namespace'
    assert kubectl("wait pod/p --for=delete --timeout=30s") in ("", "pod/p condition met")


async def test_describe(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create configmap a --from-literal=k=v")
    assert kubectl("describe cm a") == (
        "Name:  a\nNamespace:  NS\nLabels:  <none>\nAnnotations:  "
        "<none>\n\nData\n====\nk:\n----\nv\n\n\nBinaryData\n====\n\nEvents:  <none>"
    )


async def test_explain(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    assert kubectl("explain configmap.data").splitlines()[:4] == [
        "KIND:  ConfigMap",
        "VERSION:  v1",
        "",
        "FIELD: data <map[string]string>",
    ]
    assert (
        kubectl("explain deployment.spec.wine")
        == 'GROUP:  apps\nKIND:  Deployment\nVERSION:  v1\n\nerror: field "wine" does not exist'
    )


async def test_explain_a_custom_kind(raw: Raw, server: Server, crds: None) -> None:
    kubectl = Session(server, raw)
    async with asyncio.timeout(SECONDS):  # the real server publishes schemas a moment later
        while "How large it is." not in (shown := kubectl("explain gadget.spec.size")):
            await ambient.sleep(0.05)
    assert shown == (
        "GROUP:  conformance.windvane.dev\nKIND:  Gadget\nVERSION:  v1\n\nFIELD: size "
        "<integer>\n\n\nDESCRIPTION:\n    How large it is.\n\n"
    )


async def test_custom_kinds(raw: Raw, server: Server, crds: None) -> None:
    kubectl = Session(server, raw)
    assert kubectl("apply -f -", stdin=gadget(code="abc")) == "gadget.conformance.windvane.dev/g created"
    assert kubectl("get gadgets") == "NAME  SIZE  COLOR  AGE\ng  1  red  AGE"
    assert kubectl("get gd -o wide") == "NAME  SIZE  COLOR  CODE  AGE\ng  1  red  abc  AGE"
    assert kubectl("get toys -o name") == "gadget.conformance.windvane.dev/g"
    assert kubectl("get gadgets --field-selector spec.color=green") == "No resources found in NS namespace."
    assert kubectl("scale gadget g --replicas=3") == "gadget.conformance.windvane.dev/g scaled"
    assert kubectl('patch gadget g -p {"spec":{"size":2}}') == (
        "error: application/strategic-merge-patch+json is not supported by conformance.windvane.dev/v1, "
        "Kind=Gadget: the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
    assert kubectl('patch gadget g --type=merge -p {"spec":{"size":99}}') == (
        'The Gadget "g" is invalid: spec.size: Invalid value: 99: spec.size in body should be less than or equal to 10'
    )
    assert kubectl("apply -f -", stdin=gadget(size=0)) == (
        'The Gadget "g" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'
    )


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


async def test_lists_in_chunks(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))
    assert kubectl("get cm --chunk-size=1 -o name") == "configmap/a\nconfigmap/b\nconfigmap/c"
    assert kubectl("delete cm --all") == (
        'configmap "a" deleted from NS namespace\nconfigmap "b" deleted from NS namespace\nconfigmap '
        '"c" deleted from NS namespace'
    )
