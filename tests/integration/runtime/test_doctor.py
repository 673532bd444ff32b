"""`windvane doctor`, as far as it asks the cluster."""

import pytest

from integration.runtime.websites import Website, Websites, website
from integration.runtime.world import World
from windvane import Client, ObjectMeta, Operator, ambient, crd
from windvane.api.time import MicroTime
from windvane.cli.doctor.cluster_checks import OperatorPlace, check_operator, check_server, difference
from windvane.cli.doctor.finding import Finding
from windvane.client.config import ClientConfig
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.webhook.configurations import validating
from windvane.webhook.endpoint import URLEndpoint

CONFIG = ClientConfig(server="https://127.0.0.1:6443")


async def findings(client: Client, operator: Operator) -> list[Finding]:
    place = OperatorPlace("site:operator", (), "default")
    return [each async for each in check_operator(client, operator, place)]


async def of(world: World, what: str, operator: Operator) -> Finding:
    return next(each for each in await findings(world.admin, operator) if each.what == what)


@pytest.fixture
def operator() -> Operator:
    """With a controller and a finalizer."""
    return Websites(finalizer=True).operator


async def test_a_server_that_answers_says_which_it_is(world: World) -> None:
    found = await check_server(world.admin, CONFIG)
    assert found.level == "ok"
    assert found.words.startswith("v1.")


async def test_a_server_that_does_not_answer_is_a_failure_with_a_remedy(world: World) -> None:
    world.weather.fall()
    found = await check_server(world.client(), CONFIG)
    assert found.level == "fail"
    assert "windvane cluster start" in found.remedy


async def test_where_all_is_well_nothing_fails_and_nothing_is_written(world: World, operator: Operator) -> None:
    await world.admin.create(crd(Website))
    before = world.server.store.revision
    found = await findings(world.admin, operator)
    assert {each.level for each in found} == {"ok"}
    assert world.server.store.revision == before


async def test_a_crd_that_is_not_installed_is_told_with_how_to_install_it(world: World, operator: Operator) -> None:
    found = await of(world, "CRD Website", operator)
    assert (found.level, found.words) == ("fail", "websites.demo.windvane.dev is not installed")
    assert "windvane run site:operator --install-crds" in found.remedy


async def test_a_crd_that_is_not_as_the_class_says_is_told_with_the_place(world: World, operator: Operator) -> None:
    definition = crd(Website)
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["old"] = {
        "type": "string"
    }
    await world.admin.create(definition)
    found = await of(world, "CRD Website", operator)
    assert found.level == "fail"
    assert found.words.endswith("spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.old")


async def test_rights_that_are_missing_come_with_the_rule_to_write(world: World, operator: Operator) -> None:
    await world.admin.create(crd(Website))
    nobody = Client(InProcessTransport(world.server.handle, User("nobody", ("system:authenticated",))))
    found = await findings(nobody, operator)
    await nobody.close()
    (missing,) = [each for each in found if "configmaps" in each.words]
    assert missing.level == "fail"
    assert "no right to list, watch, get, create, patch, delete configmaps (owned by Website)" in missing.words
    rule = '- {apiGroups: [""], resources: [configmaps], verbs: [list, watch, get, create, patch, delete]}'
    assert rule in missing.remedy


@pytest.mark.parametrize(
    ("holder", "age", "words"),
    [
        ("a", 3.0, "a leads, and was heard of 3 s ago"),
        ("a", 60.0, "a was last heard of 60 s ago"),
        ("", 3.0, "was given back"),
    ],
)
async def test_who_leads_is_told(world: World, operator: Operator, holder: str, age: float, words: str) -> None:
    assert "no replica leads" in (await of(world, "Lease", operator)).words
    spec = LeaseSpec(holder_identity=holder, lease_duration_seconds=15, renew_time=MicroTime.of(ambient.now()))
    await world.admin.create(Lease(metadata=ObjectMeta(name="websites", namespace="default"), spec=spec))
    await ambient.sleep(age)
    assert words in (await of(world, "Lease", operator)).words


async def test_a_webhook_that_is_not_reached_is_a_failure(world: World, operator: Operator) -> None:
    @operator.validate(Website)
    def check(site: Website) -> None: ...

    assert (await of(world, "webhooks", operator)).level == "warn"
    await world.admin.create(crd(Website))
    await world.admin.create(website())
    configuration = validating(operator, URLEndpoint("https://127.0.0.1:1"), b"", "default")
    assert isinstance(configuration, ValidatingWebhookConfiguration)
    await world.admin.create(configuration)
    found = await of(world, "webhooks", operator)
    assert found.level == "fail"
    assert "failed calling webhook" in found.words
    assert "kubectl delete validatingwebhookconfiguration websites" in found.remedy


def test_a_difference_is_where_two_values_differ_first() -> None:
    assert difference({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "spec") == "spec.a[0].b"
    assert difference({"a": [1]}, {"a": [1, 2]}, "spec") == "spec.a"
    assert difference({"a": 1}, {"a": 1}, "spec") == ""
