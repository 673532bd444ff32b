"""The ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`, in every namespace that is in use."""

import pytest

from integration.controllers.cluster import ROOT_CA, Cluster
from integration.runtime.world import World
from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.client.errors import Forbidden, NotFound
from windvane.k8s.core import ConfigMap, Container, Namespace, Pod, PodSpec, ServiceAccount

NAME = "kube-root-ca.crt"
DESCRIPTION = "kubernetes.io/description"


async def make_namespace(cluster: Cluster, name: str = "new") -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name=name)))
    await cluster.settled()


async def test_the_namespaces_of_every_cluster_have_a_default_account(cluster: Cluster) -> None:
    await cluster.settled()
    accounts = await cluster.admin.list(ServiceAccount)
    assert [(each.metadata.namespace, each.metadata.name) for each in accounts] == [
        ("default", "default"),
        ("kube-node-lease", "default"),
        ("kube-public", "default"),
        ("kube-system", "default"),
    ]


async def test_a_new_namespace_gets_a_default_account(cluster: Cluster) -> None:
    await make_namespace(cluster)
    account = await cluster.admin.get(ServiceAccount, "default", namespace="new")
    assert account.metadata.uid


async def test_a_deleted_default_account_comes_back_as_another_one(cluster: Cluster) -> None:
    await make_namespace(cluster)
    before = await cluster.admin.get(ServiceAccount, "default", namespace="new")
    await cluster.admin.delete(ServiceAccount, "default", namespace="new")
    await cluster.settled()
    after = await cluster.admin.get(ServiceAccount, "default", namespace="new")
    assert after.metadata.uid != before.metadata.uid


async def test_another_account_that_is_deleted_stays_deleted(cluster: Cluster) -> None:
    await cluster.admin.create(ServiceAccount(metadata=ObjectMeta(name="robot", namespace="default")))
    await cluster.admin.delete(ServiceAccount, "robot")
    await cluster.settled()
    with pytest.raises(NotFound):
        await cluster.admin.get(ServiceAccount, "robot")


async def test_what_somebody_adds_to_the_default_account_stays(cluster: Cluster) -> None:
    await cluster.settled()
    await cluster.admin.patch(ServiceAccount, "default", {"imagePullSecrets": [{"name": "registry"}]})
    await cluster.settled()
    account = await cluster.admin.get(ServiceAccount, "default")
    assert [each.name for each in account.image_pull_secrets] == ["registry"]


async def test_a_pod_that_is_faster_than_the_account_waits_for_it(cluster: Cluster) -> None:
    cluster.weather.delay = 0.3  # for the controllers, not for us
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="new")))
    spec = PodSpec(containers=[Container(name="web", image="web")])
    pod = await cluster.admin.create(Pod(metadata=ObjectMeta(name="web", namespace="new"), spec=spec))
    assert pod.spec.service_account_name == "default"


async def test_a_pod_whose_account_does_not_come_is_refused() -> None:
    world = World(require_accounts=True)
    await world.server.start()
    spec = PodSpec(containers=[Container(name="web", image="web")])
    began = ambient.monotonic()
    with pytest.raises(Forbidden, match='serviceaccount "default" not found'):
        await world.admin.create(Pod(metadata=ObjectMeta(name="web"), spec=spec))
    assert ambient.monotonic() - began == pytest.approx(1.5)
    await world.close()


async def test_a_new_namespace_gets_the_certificate_with_a_description(cluster: Cluster) -> None:
    await make_namespace(cluster)
    found = await cluster.admin.get(ConfigMap, NAME, namespace="new")
    assert found.data == {"ca.crt": ROOT_CA}
    assert found.metadata.annotations[DESCRIPTION].startswith("Contains a CA bundle")


async def test_a_deleted_certificate_comes_back(cluster: Cluster) -> None:
    await make_namespace(cluster)
    await cluster.admin.delete(ConfigMap, NAME, namespace="new")
    await cluster.settled()
    assert (await cluster.admin.get(ConfigMap, NAME, namespace="new")).data == {"ca.crt": ROOT_CA}


async def test_a_changed_certificate_is_put_right_and_nothing_is_left_beside_it(cluster: Cluster) -> None:
    await make_namespace(cluster)
    await cluster.admin.patch(ConfigMap, NAME, {"data": {"ca.crt": "mine", "more": "words"}}, namespace="new")
    await cluster.settled()
    assert (await cluster.admin.get(ConfigMap, NAME, namespace="new")).data == {"ca.crt": ROOT_CA}


async def test_labels_of_the_certificate_survive_when_it_is_put_right(cluster: Cluster) -> None:
    await make_namespace(cluster)
    change = {"metadata": {"labels": {"team": "blue"}}, "data": {"ca.crt": "mine"}}
    await cluster.admin.patch(ConfigMap, NAME, change, namespace="new")
    await cluster.settled()
    found = await cluster.admin.get(ConfigMap, NAME, namespace="new")
    assert (found.metadata.labels, found.data) == ({"team": "blue"}, {"ca.crt": ROOT_CA})


async def test_a_removed_description_of_the_certificate_comes_back(cluster: Cluster) -> None:
    await make_namespace(cluster)
    change = {"metadata": {"annotations": {DESCRIPTION: None}}}
    await cluster.admin.patch(ConfigMap, NAME, change, namespace="new")
    await cluster.settled()
    found = await cluster.admin.get(ConfigMap, NAME, namespace="new")
    assert found.metadata.annotations[DESCRIPTION].startswith("Contains a CA bundle")


async def test_a_description_in_other_words_stays(cluster: Cluster) -> None:
    await make_namespace(cluster)
    change = {"metadata": {"annotations": {DESCRIPTION: "ours"}}}
    await cluster.admin.patch(ConfigMap, NAME, change, namespace="new")
    await cluster.settled()
    assert (await cluster.admin.get(ConfigMap, NAME, namespace="new")).metadata.annotations[DESCRIPTION] == "ours"


async def test_another_config_map_is_nobodys_business(cluster: Cluster) -> None:
    await cluster.admin.create(ConfigMap(metadata=ObjectMeta(name="mine"), data={"ca.crt": "mine"}))
    await cluster.settled()
    assert (await cluster.admin.get(ConfigMap, "mine")).data == {"ca.crt": "mine"}
