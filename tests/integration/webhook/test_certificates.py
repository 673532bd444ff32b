"""Certificates change, are lost, are shared, and nobody who creates an object notices."""

import asyncio
from collections.abc import Iterator

import pytest

from integration.webhook.world import Balancer, Load, Site, World
from windvane import ObjectMeta, ambient
from windvane.ambient import Reality
from windvane.certificates import Authority
from windvane.k8s.core import Secret
from windvane.sim.time import MachineClock
from windvane.webhook import certificates
from windvane.webhook.certificates import Certificates
from windvane.webhook.endpoint import URLEndpoint
from windvane.webhook.lifecycle import Webhooks, serve_webhooks

DAY = 86400.0


@pytest.fixture
def clock() -> Iterator[MachineClock]:
    """The clock of whoever issues certificates; that of the API server is the machine's."""
    clock = MachineClock(Reality())
    with ambient.use(clock):
        yield clock


@pytest.fixture
def guarded(world: World) -> World:
    @world.operator.default(world.site)
    def fill_in(site: Site) -> None:
        site.spec.region = site.spec.region or "eu"

    @world.operator.validate(world.site)
    def check(site: Site) -> None:
        assert site.spec.region == "eu"

    return world


def secret_name(world: World) -> str:
    return f"{world.operator.name}-webhook-server-cert"


async def secret(world: World) -> Secret:
    return await world.client.get(Secret, secret_name(world))


async def wake(world: World) -> None:
    """Have everybody look at the Secret."""
    await world.client.patch(Secret, secret_name(world), {"metadata": {"annotations": {"a": ambient.token(5)}}})


def load(world: World) -> Load:
    return Load(lambda: world.create("blog", dry_run=True))


async def test_a_certificate_is_renewed_under_load_and_no_request_is_lost(guarded: World, clock: MachineClock) -> None:
    clock.set(-70 * DAY)
    async with guarded.serving() as webhooks, load(guarded).running() as requests:
        await requests.more()
        before = (await secret(guarded)).data
        clock.set(70 * DAY)
        await wake(guarded)
        await guarded.until(lambda: shows_another(webhooks, before["tls.crt"]))
        await requests.more()
        assert requests.failures == []
        after = (await secret(guarded)).data
        assert after["tls.crt"] != before["tls.crt"]
        assert after["ca.crt"] == before["ca.crt"]


async def test_an_authority_gives_way_under_load_and_no_request_is_lost(
    guarded: World, clock: MachineClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.set(-3400 * DAY)
    authority = Authority.new()
    clock.set(3400 * DAY)
    server = authority.server("webhooks", ["127.0.0.1"], life=certificates.LIFE)
    held = Certificates(authority, None, (), server)
    # So that the first step is taken under load, nobody knows yet that it is due.
    monkeypatch.setattr(certificates, "RENEW_AUTHORITY_BEFORE", certificates.LIFE)
    metadata = ObjectMeta(name=secret_name(guarded), namespace=guarded.client.namespace)
    await guarded.client.create(Secret(metadata=metadata, type="kubernetes.io/tls", data=certificates.to_secret(held)))
    async with guarded.serving() as webhooks, load(guarded).running() as requests:
        await requests.more()
        monkeypatch.undo()
        await wake(guarded)
        await guarded.until(lambda: shows_another(webhooks, server.public))
        await requests.more(100)
        assert requests.failures == []
        assert webhooks.certificates.held is not None
        assert webhooks.certificates.held.authority.pair != authority.pair


async def test_replicas_share_a_certificate_and_when_one_ends_no_request_is_lost(guarded: World) -> None:
    async with Balancer().running() as balancer:
        endpoint = URLEndpoint(f"https://127.0.0.1:{balancer.port}")
        async with serve_webhooks(guarded.operator, guarded.client, endpoint=endpoint) as one:
            balancer.ports.append(port(one))
            await guarded.settle(one, guarded.operator)
            async with load(guarded).running() as requests:
                async with serve_webhooks(
                    guarded.operator, guarded.client, endpoint=endpoint, leave_within=5.0
                ) as other:
                    balancer.ports[:] = [port(other)]  # whoever connects now comes to this one
                    assert one.certificates.held is not None
                    assert other.certificates.held is not None
                    assert one.certificates.held.server == other.certificates.held.server
                    await one_more_connection(guarded, other)
                    balancer.ports[:] = [port(one)]
                await requests.more()
                assert requests.failures == []


async def test_a_deleted_secret_comes_back_as_it_was_and_no_request_is_lost(guarded: World) -> None:
    async with guarded.serving(), load(guarded).running() as requests:
        before = await secret(guarded)
        await guarded.client.delete(Secret, secret_name(guarded), namespace=guarded.client.namespace)

        async def is_back() -> bool:
            found = await guarded.client.list(Secret, namespace=guarded.client.namespace)
            return any(each.decode().data == before.data for each in found.items)

        await guarded.until(is_back)
        await requests.more()
        assert requests.failures == []


@pytest.mark.parametrize("data", [None, {"tls.crt": "Z2FyYmxlZA==", "ca.crt": None}], ids=["emptied", "garbled"])
async def test_a_damaged_secret_is_as_it_was_and_no_request_is_lost(
    guarded: World, data: dict[str, str | None]
) -> None:
    async with guarded.serving(), load(guarded).running() as requests:
        before = await secret(guarded)
        await guarded.client.patch(Secret, secret_name(guarded), {"data": data or {"tls.crt": "", "tls.key": ""}})

        async def is_back() -> bool:
            return (await secret(guarded)).data == before.data

        await guarded.until(is_back)
        await requests.more()
        assert requests.failures == []


async def one_more_connection(world: World, webhooks: Webhooks) -> None:
    """Have the API server open more connections than it had, so that one comes to a certain replica."""

    async def has_been_asked() -> bool:
        await asyncio.gather(*(world.create("blog", dry_run=True) for _ in range(20)))
        return webhooks.listening is not None and bool(webhooks.listening.metrics.answers)

    await world.until(has_been_asked)


def port(webhooks: Webhooks) -> int:
    assert webhooks.listening is not None
    return webhooks.listening.port


async def shows_another(webhooks: Webhooks, than: bytes) -> bool:
    held = webhooks.certificates.held
    return held is not None and held.server.public != than
