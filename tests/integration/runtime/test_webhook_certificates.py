"""Replicas that share the certificates of their webhook servers through a Secret, over years."""

import asyncio
import logging
import ssl
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from integration.runtime.world import World
from windvane import APIStatus, NotFound, ObjectMeta, ambient
from windvane.api.status import StatusCause, StatusDetails
from windvane.client.transport import Request
from windvane.k8s.core import Secret
from windvane.sim.time import MachineClock, VirtualTime
from windvane.webhook.certificate_secret import LONGEST_WAIT, SharedCertificates
from windvane.webhook.tls import ServerTLS

NAME, NAMESPACE = "website-webhook-server-cert", "default"
DAY = 86400.0


class Calendar(MachineClock):
    """A clock that is set to another day: in virtual time, every ten minutes of a year would be lived."""

    async def pass_by(self, days: float) -> None:
        self.set(days * DAY)
        await ambient.sleep(LONGEST_WAIT)


@pytest.fixture(autouse=True)
def calendar(virtual_time: None) -> Iterator[Calendar]:
    calendar = Calendar(VirtualTime(seed=1))
    with ambient.use(calendar):
        yield calendar


class Replica:
    """One of several processes of an operator, and what it knows."""

    def __init__(self, world: World, *addresses: str) -> None:
        self.all_know = True
        self.tls = ServerTLS()
        self.certificates = SharedCertificates(
            world.client(),
            NAME,
            namespace=NAMESPACE,
            tls=self.tls,
            addresses=addresses or ("hooks.web.svc",),
            known=lambda bundle: self.all_know,
        )
        self._running = world.start(self.certificates.run())

    async def die(self) -> None:
        self._running.cancel()
        await asyncio.wait([self._running])

    @property
    def shows(self) -> bytes:
        held = self.certificates.held
        return held.server.public if held else b""

    def is_trusted_by(self, bundle: bytes) -> bool:
        held = self.certificates.held
        return held is not None and held.authority.pair.public in bundle


async def secret(world: World) -> Secret:
    return await world.admin.get(Secret, NAME, namespace=NAMESPACE)


async def agree(world: World, *replicas: Replica) -> None:
    def do() -> bool:
        return len({each.shows for each in replicas}) == 1 and replicas[0].shows != b""

    await world.until(do)


async def test_replicas_that_start_together_share_one_certificate(world: World) -> None:
    replicas = [Replica(world) for _ in range(5)]
    await agree(world, *replicas)
    there = await secret(world)
    assert there.data["tls.crt"] == replicas[0].shows
    assert there.data["ca.crt"] == replicas[0].certificates.bundle
    assert there.type == "kubernetes.io/tls"


async def test_a_replica_that_comes_later_takes_what_is_there(world: World) -> None:
    first = Replica(world)
    await agree(world, first)
    before = first.shows
    second = Replica(world)
    await agree(world, first, second)
    assert second.shows == before


async def test_the_certificate_is_in_the_servers_context(world: World) -> None:
    replica = Replica(world)
    await agree(world, replica)
    trust = ssl.create_default_context(cadata=replica.certificates.bundle.decode())
    assert shown_name(replica.tls.context(), trust, "hooks.web.svc") == (("DNS", "hooks.web.svc"),)


async def test_all_replicas_have_the_new_certificate_in_time(world: World, calendar: Calendar) -> None:
    replicas = [Replica(world) for _ in range(3)]
    await agree(world, *replicas)
    before = replicas[0].shows
    await calendar.pass_by(days=61)
    await agree(world, *replicas)
    assert replicas[0].shows != before
    version = (await secret(world)).metadata.resource_version
    await ambient.sleep(6 * LONGEST_WAIT)
    assert (await secret(world)).metadata.resource_version == version, "nothing is written without need"


async def test_a_replica_that_is_left_alone_renews_by_itself(world: World, calendar: Calendar) -> None:
    first, second = Replica(world), Replica(world)
    await agree(world, first, second)
    before = second.shows
    await first.die()
    await calendar.pass_by(days=61)
    await world.until(lambda: second.shows != before)


async def test_the_authority_waits_until_all_know_the_next_one(world: World, calendar: Calendar) -> None:
    replicas = [Replica(world) for _ in range(2)]
    await agree(world, *replicas)
    first = replicas[0].certificates.bundle
    for replica in replicas:
        replica.all_know = False
    await calendar.pass_by(days=3650 - 364)
    await world.until(lambda: authorities(replicas[0].certificates.bundle) == 2)
    await agree(world, *replicas)
    both = replicas[0].certificates.bundle
    assert all(replica.is_trusted_by(first) for replica in replicas)

    replicas[1].all_know = True
    replicas[1].certificates.look_again()
    await world.until(lambda: all(not replica.is_trusted_by(first) for replica in replicas))
    assert all(replica.is_trusted_by(both) for replica in replicas)

    await calendar.pass_by(days=61)
    await world.until(lambda: authorities(replicas[0].certificates.bundle) == 1)


async def test_a_deleted_secret_is_written_again_as_it_was(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    replicas = [Replica(world) for _ in range(2)]
    await agree(world, *replicas)
    before = await secret(world)
    await world.admin.delete(Secret, NAME, namespace=NAMESPACE)
    assert await until_there(world, lambda there: there.metadata.uid != before.metadata.uid)
    assert (await secret(world)).data == before.data
    assert f"Secret default/{NAME} was deleted, and is written again" in caplog.text


async def test_a_secret_that_was_emptied_is_filled_again_as_it_was(world: World) -> None:
    replica = Replica(world)
    await agree(world, replica)
    before = await secret(world)
    await world.admin.patch(Secret, NAME, {"data": {"tls.key": "", "tls.crt": "", "ca.key": None}}, namespace=NAMESPACE)
    assert await until_there(world, lambda there: there.data == before.data)


async def test_a_garbled_secret_is_made_anew_by_who_never_saw_another(world: World) -> None:
    garbage = {"tls.crt": b"a", "tls.key": b"b", "ca.crt": b"c", "ca.key": b"d"}
    await world.admin.create(
        Secret(metadata=ObjectMeta(name=NAME, namespace=NAMESPACE), type="kubernetes.io/tls", data=garbage)
    )
    replica = Replica(world)
    await agree(world, replica)
    assert (await secret(world)).data["tls.crt"] == replica.shows


async def test_replicas_with_different_addresses_settle_on_a_certificate_for_all(world: World) -> None:
    old, new = Replica(world, "hooks.web.svc"), Replica(world, "hooks.site.svc")
    await world.until(lambda: addresses(new) == {"hooks.web.svc", "hooks.site.svc"})
    await agree(world, old, new)
    version = (await secret(world)).metadata.resource_version
    await ambient.sleep(6 * LONGEST_WAIT)
    assert (await secret(world)).metadata.resource_version == version, "they don't undo each other's work"


async def test_without_the_right_to_it_says_which_verbs_are_missing(world: World) -> None:
    def forbidden(request: Request) -> APIStatus | None:
        if "/secrets" in request.path:
            return APIStatus(status="Failure", code=403, reason="Forbidden", message="not you")
        return None

    world.weather.refuse = forbidden
    replica = Replica(world)
    await world.until(lambda: "Grant the verbs" in replica.certificates.missing)
    assert "get, list, watch, create and update on secrets in default" in replica.certificates.missing
    world.weather.refuse = lambda _: None
    await world.until(lambda: not replica.certificates.missing)


@pytest.mark.parametrize(
    "status",
    [
        APIStatus(status="Failure", code=404, reason="NotFound", message="no such namespace"),
        APIStatus(
            status="Failure",
            code=403,
            reason="Forbidden",
            message="it is being terminated",
            details=StatusDetails(causes=[StatusCause(reason="NamespaceTerminating")]),
        ),
    ],
)
async def test_a_namespace_that_has_gone_is_to_be_made_anew(world: World, status: APIStatus) -> None:
    world.weather.refuse = lambda request: status if request.method == "POST" else None
    replica = Replica(world)
    await world.until(lambda: "Make the namespace default anew, or choose another" in replica.certificates.missing)
    assert "Grant" not in replica.certificates.missing
    world.weather.refuse = lambda _: None
    await world.until(lambda: not replica.certificates.missing)


async def test_a_server_that_is_away_does_not_make_a_certificate_bad(world: World, calendar: Calendar) -> None:
    replica = Replica(world)
    await agree(world, replica)

    def away(request: Request) -> APIStatus | None:
        return APIStatus(status="Failure", code=403, reason="Forbidden", message="not now")

    world.weather.refuse = away
    await calendar.pass_by(days=80)
    assert not replica.certificates.missing
    await calendar.pass_by(days=11)
    assert replica.certificates.missing, "it has expired"


def authorities(bundle: bytes) -> int:
    return bundle.count(b"BEGIN CERTIFICATE")


def addresses(replica: Replica) -> set[str]:
    held = replica.certificates.held
    return set(held.certificate.addresses) if held else set()


async def until_there(world: World, condition: Any) -> bool:
    for _ in range(1000):
        with suppress(NotFound):
            if condition(await secret(world)):
                return True
        await ambient.sleep(0.1)
    return False


def shown_name(server: ssl.SSLContext, client: ssl.SSLContext, host: str) -> Any:
    """What a client reads from the certificate that a server shows it; in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    # The certificate is of virtual time, and OpenSSL's clock is the machine's.
    client.verify_flags |= ssl.VerifyFlags(0x200000)  # X509_V_FLAG_NO_CHECK_TIME
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server, server_hostname=host)
    for _ in range(5):
        for side in (theirs, ours):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return (theirs.getpeercert() or {})["subjectAltName"]
