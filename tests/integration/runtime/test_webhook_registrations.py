"""What API servers are told, by replicas that agree and by replicas that don't, in virtual time."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from integration.runtime.test_webhook_certificates import Calendar
from integration.runtime.world import PATIENCE, World
from windvane import APIStatus, Client, ObjectMeta, Operator, Resource, Spec, Status, ambient
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.k8s import rbac
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration
from windvane.k8s.core import ConfigMap
from windvane.sim.time import VirtualTime
from windvane.webhook.certificate_secret import SharedCertificates
from windvane.webhook.endpoint import ServiceEndpoint
from windvane.webhook.registration_controller import KNOWN_AFTER, RegistrationController
from windvane.webhook.tls import ServerTLS

SERVICE = ServiceEndpoint("default", "hooks")


class Website(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


class OldWebsite(Resource[Spec, Status], group="demo.windvane.dev", version="v1beta1", kind="Website", stored=False):
    """A website, as it was."""


@pytest.fixture(autouse=True)
def calendar(virtual_time: None) -> Iterator[Calendar]:
    calendar = Calendar(VirtualTime(seed=1))
    with ambient.use(calendar):
        yield calendar


def nothing(thing: Any) -> None:
    pass


class Replica:
    """One process of an operator."""

    def __init__(self, world: World, operator: Operator, client: Client | None = None) -> None:
        client = client or world.client()
        client.field_manager = operator.name
        self.certificates = SharedCertificates(
            client,
            "website-webhook-server-cert",
            namespace="default",
            tls=ServerTLS(),
            addresses=SERVICE.addresses,
            known=self._is_known,
        )
        self.registrations = RegistrationController(client, operator, SERVICE, self.certificates, namespace="default")
        self._tasks = [world.start(self.certificates.run()), world.start(self.registrations.run())]

    def _is_known(self, bundle: bytes) -> bool:
        return self.registrations.is_known(bundle)

    def die(self) -> None:
        for task in self._tasks:
            task.cancel()


def guarding(*kinds: Any) -> Operator:
    operator = Operator("website")
    for kind in kinds:
        operator.validate(kind)(nothing)
    return operator


async def configuration(world: World) -> ValidatingWebhookConfiguration:
    return await world.admin.get(ValidatingWebhookConfiguration, "website")


async def names(world: World) -> list[str]:
    return [each.name for each in (await configuration(world)).webhooks]


async def test_replicas_of_two_versions_slow_each_other_down_and_the_one_that_stays_has_the_last_word(
    world: World,
) -> None:
    old = Replica(world, guarding(Website))
    await old.registrations.wait_right()
    new = Replica(world, guarding(Website, ConfigMap))
    began = await configuration(world)
    await ambient.sleep(600)
    writes = (await configuration(world)).metadata.generation - began.metadata.generation
    assert writes < 200, "about one in six seconds"
    old.die()
    await ambient.sleep(20)
    assert await names(world) == ["validate.websites.demo.windvane.dev", "validate.configmaps.core"]
    del new


async def test_the_log_says_that_others_change_it_again_and_again_only_if_they_do(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = ValidatingWebhookConfiguration(metadata=ObjectMeta(name="website"))
    await world.admin.create(theirs)
    replica = Replica(world, guarding(Website))
    await ambient.sleep(300)
    assert "it belongs to somebody else" in caplog.text
    assert "again and again" not in caplog.text
    await world.admin.delete(ValidatingWebhookConfiguration, "website")
    await replica.registrations.wait_right()
    other = Replica(world, guarding(Website, ConfigMap))
    await ambient.sleep(300)
    assert "again and again" in caplog.text
    del other


async def test_an_authority_gives_way_when_its_turn_has_come_and_all_know_the_next(
    world: World, calendar: Calendar
) -> None:
    replicas = [Replica(world, guarding(Website)) for _ in range(2)]
    for replica in replicas:
        await replica.registrations.wait_right()
    first = replicas[0].certificates.bundle
    await calendar.pass_by(days=3650 - 364)

    def signed_by_another() -> bool:
        held = replicas[0].certificates.held
        return held is not None and held.authority.pair.public != first

    await world.until(signed_by_another)
    (entry,) = (await configuration(world)).webhooks
    held = replicas[0].certificates.held
    assert held is not None
    assert first in held.bundle
    assert held.authority.pair.public in (entry.client_config.ca_bundle or b"")


async def test_a_bundle_is_known_some_seconds_after_it_is_everywhere(world: World) -> None:
    replica = Replica(world, guarding(Website))
    await replica.registrations.wait_right()
    bundle = replica.certificates.bundle
    assert not replica.registrations.is_known(bundle)
    await ambient.sleep(KNOWN_AFTER + 1)
    assert replica.registrations.is_known(bundle)
    assert not replica.registrations.is_known(b"another")


async def test_the_log_says_that_somebody_else_has_changed_it(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    changed = "validatingwebhookconfigurations.admissionregistration.k8s.io: what API servers are told"
    replica = Replica(world, guarding(Website))
    await replica.registrations.wait_right()
    assert changed not in caplog.text
    await world.admin.delete(ValidatingWebhookConfiguration, "website")
    await ambient.sleep(10)
    assert await names(world) == ["validate.websites.demo.windvane.dev"]
    assert f"{changed} about webhooks was changed or deleted" in caplog.text


async def test_what_can_not_be_read_is_not_in_the_way_of_the_rest(world: World) -> None:
    def forbidden(request: Request) -> APIStatus | None:
        if "customresourcedefinitions" in request.path:
            return APIStatus(status="Failure", code=403, reason="Forbidden", message="not you")
        return None

    world.weather.refuse = forbidden
    operator = guarding(Website)
    operator.convert(Website, OldWebsite)(lambda _: OldWebsite())
    operator.convert(OldWebsite, Website)(lambda _: Website())
    replica = Replica(world, operator)
    await ambient.sleep(10)
    assert await names(world) == ["validate.websites.demo.windvane.dev"]
    assert not replica.registrations.is_known(replica.certificates.bundle)


async def test_without_a_right_to_configurations_one_that_declares_none_is_right(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    verbs = ["get", "list", "watch", "create", "update", "patch"]
    rules = [
        rbac.PolicyRule(api_groups=[""], resources=["secrets"], verbs=verbs),
        rbac.PolicyRule(api_groups=["apiextensions.k8s.io"], resources=["customresourcedefinitions"], verbs=verbs),
        rbac.PolicyRule(api_groups=["authorization.k8s.io"], resources=["selfsubjectaccessreviews"], verbs=["create"]),
    ]
    role = rbac.RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="operator")
    await world.admin.create(rbac.ClusterRole(metadata=ObjectMeta(name="operator"), rules=rules))
    subject = rbac.Subject(kind="User", name="operator", api_group="rbac.authorization.k8s.io")
    await world.admin.create(
        rbac.ClusterRoleBinding(metadata=ObjectMeta(name="operator"), role_ref=role, subjects=[subject])
    )
    operator = Operator("website")
    operator.convert(Website, OldWebsite)(lambda _: OldWebsite())
    operator.convert(OldWebsite, Website)(lambda _: Website())
    replica = Replica(
        world, operator, Client(InProcessTransport(world.server.handle, User("operator", ("system:authenticated",))))
    )
    async with asyncio.timeout(PATIENCE):
        await replica.registrations.wait_right()
    assert replica.registrations.problem == ""
    assert await replica.registrations.take_back() == []
    assert "forbidden" not in caplog.text
    caplog.clear()
    operator.validate(Website)(nothing)  # now it needs that right
    again = Replica(
        world, operator, Client(InProcessTransport(world.server.handle, User("operator", ("system:authenticated",))))
    )
    await world.until(lambda: "forbidden" in again.registrations.problem)


@pytest.mark.parametrize("methods", [("GET",), ("PATCH",)])
async def test_a_replica_that_may_not_tell_api_servers_says_once_what_is_missing(
    world: World, methods: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    def forbidden(request: Request) -> APIStatus | None:
        if request.method in methods and "/validatingwebhookconfigurations" in request.path:
            return APIStatus(status="Failure", code=403, reason="Forbidden", message="not you")
        return None

    world.weather.refuse = forbidden
    replica = Replica(world, guarding(Website))
    for _ in range(120):
        assert replica.registrations.problem, "also before it has looked"
        await ambient.sleep(1)
    assert "validatingwebhookconfigurations.admissionregistration.k8s.io" in replica.registrations.problem
    assert "not you. Grant the verbs" in replica.registrations.problem
    assert sum("not you" in each.message for each in caplog.records) == 1
    world.weather.clear()
    await world.until(lambda: not replica.registrations.problem)
    assert await names(world) == ["validate.websites.demo.windvane.dev"]


async def test_replicas_of_two_versions_stay_ready_while_they_change_what_the_other_stated(world: World) -> None:
    old, new = Replica(world, guarding(Website)), Replica(world, guarding(Website, ConfigMap))
    await world.until(lambda: not old.registrations.problem and not new.registrations.problem)
    for _ in range(300):
        assert (old.registrations.problem, new.registrations.problem) == ("", "")
        await ambient.sleep(1)


async def test_a_server_that_restarts_makes_no_replica_unready(world: World) -> None:
    replica = Replica(world, guarding(Website))
    await replica.registrations.wait_right()
    world.weather.fall()
    for _ in range(120):
        assert replica.registrations.problem == ""
        await ambient.sleep(1)
