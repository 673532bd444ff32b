"""Another authority, while members run: at no moment does one meet another that it doesn't trust.

The world here is what matters of it: what the Secrets are, what of them has arrived in a member's volumes, whom it has
trusted since it started. The rest happens whenever it likes: the operator is killed between two writes, files arrive
late, members crash, Secrets are deleted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etcd_operator import certificates, tls
from etcd_operator.api import EtcdCluster, EtcdClusterSpec
from etcd_operator.certificates import is_signed_by, unbundle
from windvane import ObjectMeta, Quantity
from windvane.k8s import core

BEGIN = datetime(2026, 11, 16, 8, tzinfo=UTC)
CA, SERVER, PEER, CLIENT = tls.secret_names("prod")


class Distrust(Exception):
    """Somebody met somebody whom they don't trust."""


@dataclass
class Member:
    """A member, and its pod."""

    digest: str
    """The annotation that its pod was made with."""
    files: dict[str, dict[str, bytes]]
    """What is in its volumes: what the Secrets were when the pod started, or at some time since."""
    trusts: dict[str, bytes] = field(default_factory=dict)
    """The ca.crt of each volume, when the process started."""

    def start(self) -> None:
        self.trusts = {name: files["ca.crt"] for name, files in self.files.items()}


class World:
    """An EtcdCluster of three members that has just come up, the operator, and time."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.cluster = EtcdCluster(
            metadata=ObjectMeta(name="prod", namespace="db"),
            spec=EtcdClusterSpec(version="3.5.1", storage_size=Quantity("1Gi"), tls=True),
        )
        self.secrets: dict[str, core.Secret] = {}
        self.template = ""
        self.events: list[str] = []
        self.members: list[Member] = []
        self.operate()
        self.members = [Member(self.template, self.mounted()) for _ in range(3)]
        for member in self.members:
            member.start()

    def mounted(self) -> dict[str, dict[str, bytes]]:
        return {name: dict(self.secrets[name].data) for name in (SERVER, PEER)}

    def all_pods_at(self) -> bool:
        digest = tls.ca_digest("prod", self.secrets)
        return all(member.digest == digest for member in self.members)

    # What happens

    def operate(self, writes: int = 5) -> None:
        """A pass of the operator, which is killed after so many writes: of four Secrets and the StatefulSet."""
        step = tls.decide(self.cluster, self.secrets, now=self.now, all_pods_at=self.all_pods_at())
        self.events += [message for _, message in step.events]
        self.secrets |= {each.metadata.name: each for each in step.secrets[:writes]}
        if writes > 4:
            self.template = tls.ca_digest("prod", self.secrets)

    def roll(self) -> None:
        """The first pod that was made for another template is made again."""
        for member in self.members:
            if member.digest != self.template and SERVER in self.secrets and PEER in self.secrets:
                member.digest, member.files = self.template, self.mounted()
                member.start()
                return

    def crash(self, member: int) -> None:
        """A process ends by itself and is started again, in the same pod."""
        self.members[member].start()

    def deliver(self, member: int, name: str) -> None:
        """The node brings a volume up to date."""
        if name in self.secrets:
            self.members[member].files[name] = dict(self.secrets[name].data)

    def ask(self, value: str) -> None:
        self.cluster.metadata.annotations[tls.ROTATE] = value

    def lose(self, name: str) -> None:
        """Somebody deletes a Secret."""
        self.secrets.pop(name, None)

    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)

    # What must hold

    def check(self) -> None:
        """Everybody trusts everybody: members each other, their own gateway and clients, and clients members."""
        for one in self.members:
            for other in self.members:
                self._must_trust(one.trusts[PEER], other.files[PEER])
            self._must_trust(one.trusts[SERVER], one.files[SERVER])
            if CLIENT in self.secrets:
                client = self.secrets[CLIENT].data
                self._must_trust(one.trusts[SERVER], client)
                self._must_trust(client["ca.crt"], one.files[SERVER])

    @staticmethod
    def _must_trust(bundle: bytes, shown: dict[str, bytes]) -> None:
        if not any(is_signed_by(shown["tls.crt"], authority) for authority in unbundle(bundle)):
            raise Distrust

    def settle(self) -> None:
        """Let the operator work, and nothing else happen, until there is nothing left to do."""
        for _ in range(60):
            before = {name: dict(secret.data) for name, secret in self.secrets.items()}
            self.operate()
            self.check()
            if self.all_pods_at() and before == {name: secret.data for name, secret in self.secrets.items()}:
                return
            self.roll()
            self.check()
        raise AssertionError("it goes on and on")

    def authorities(self) -> set[bytes]:
        """Whom anybody trusts."""
        trusted = [each for member in self.members for each in member.trusts.values()]
        return {each for one in (*trusted, self.secrets[CLIENT].data["ca.crt"]) for each in unbundle(one)}


Happening = tuple[Callable[..., None], tuple[int | str, ...]]


def happenings(*deletable: str, days: tuple[int, ...]) -> st.SearchStrategy[list[Happening]]:
    members, volumes = st.integers(0, 2), st.sampled_from((SERVER, PEER))
    operate = st.tuples(st.just(World.operate), st.tuples(st.integers(0, 5)))
    roll = st.tuples(st.just(World.roll), st.just(()))
    return st.lists(
        st.one_of(
            operate,
            operate,
            roll,
            roll,
            st.tuples(st.just(World.crash), st.tuples(members)),
            st.tuples(st.just(World.deliver), st.tuples(members, volumes)),
            st.tuples(st.just(World.ask), st.tuples(st.sampled_from(("first", "second", "third")))),
            st.tuples(st.just(World.lose), st.tuples(st.sampled_from(deletable))),
            st.tuples(st.just(World.wait), st.tuples(st.sampled_from(days))),
        ),
        max_size=40,
    )


def live(world: World, happened: list[Happening]) -> None:
    for what, arguments in happened:
        what(world, *arguments)
        world.check()
    world.settle()


@pytest.mark.long
@settings(max_examples=3 * settings().max_examples)
@given(happenings(SERVER, PEER, CLIENT, days=(1, 31)))
def test_whatever_happens_during_a_rotation_everybody_trusts_everybody(happened: list[Happening]) -> None:
    world = World()
    before = world.authorities()
    world.ask("begin")
    live(world, happened)
    [only] = world.authorities()
    assert only not in before
    assert world.secrets[CA].data["tls.crt"] == only
    assert set(world.secrets[CA].data) == {"tls.crt", "tls.key"}


@pytest.mark.long
@settings(deadline=None)
@given(happenings(CA, days=(1,)))
def test_a_lost_authority_is_followed_by_another_and_everybody_trusts_everybody(happened: list[Happening]) -> None:
    world = World()
    world.lose(CA)
    live(world, happened)
    assert world.authorities() == {world.secrets[CA].data["tls.crt"]}


@pytest.mark.parametrize("writes", range(5))
def test_an_operator_that_is_killed_after_each_write_still_ends_it(writes: int) -> None:
    world = World()
    [before] = world.authorities()
    world.ask("now")
    for _ in range(40):
        world.operate(writes)
        world.check()
        world.operate()
        world.roll()
        world.check()
    world.settle()
    assert before not in world.authorities()


def test_a_hasty_operator_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr(World, "all_pods_at", lambda self: True)
    world.ask("now")
    world.operate()
    world.operate()  # certificates from an authority that nobody has read of
    world.deliver(0, PEER)
    with pytest.raises(Distrust):
        world.check()


def test_an_operator_that_restarts_nobody_between_new_certificates_and_the_end_would_be_noticed() -> None:
    world = World()
    world.ask("now")
    world.operate()
    for _ in range(3):
        world.roll()
    world.operate()  # certificates from the new authority, which have not arrived anywhere
    for member in world.members:
        member.digest = world.template
    world.operate()
    world.roll()
    with pytest.raises(Distrust):
        world.check()


def test_it_takes_three_rounds_of_restarts_and_says_so_thrice() -> None:
    world = World()
    world.events.clear()
    world.ask("now")
    restarts = 0
    for _ in range(30):
        world.operate()
        restarts += any(member.digest != world.template for member in world.members)
        world.roll()
    assert restarts == 3 * len(world.members)
    asked = "as the annotation etcd.windvane.dev/rotate-ca asks"
    assert world.events == [
        f"{asked}, there is a new CA: members come to trust both, one restart after the other",
        "all members trust the new CA: certificates are from it now",
        "all certificates are from the new CA: members no longer trust the one before",
    ]


def test_one_value_of_the_annotation_is_one_rotation() -> None:
    world = World()
    world.ask("now")
    world.settle()
    after = world.authorities()
    world.settle()
    assert world.authorities() == after
    del world.cluster.metadata.annotations[tls.ROTATE]
    world.settle()
    assert world.authorities() == after
    world.ask("and again")
    world.settle()
    assert not world.authorities() & after


def test_an_authority_with_a_year_left_is_followed_by_another_and_clients_have_time() -> None:
    world = World()
    [before] = world.authorities()
    world.wait(3653 - 365)
    world.settle()
    assert world.authorities() == {before}
    world.wait(1)
    world.settle()
    assert len(world.authorities()) == 2
    assert is_signed_by(world.secrets[SERVER].data["tls.crt"], before)
    world.wait(30)
    world.settle()
    assert len(world.authorities()) == 2
    assert not is_signed_by(world.secrets[SERVER].data["tls.crt"], before)
    world.wait(30)
    world.settle()
    assert len(world.authorities()) == 1
    assert before not in world.authorities()


def test_while_clients_have_time_certificates_are_renewed_as_ever() -> None:
    world = World()
    [before] = world.authorities()
    world.wait(3653 - 364)
    world.settle()
    world.wait(25)
    world.secrets[SERVER] = _expiring(world, before)
    world.settle()
    renewed = world.secrets[SERVER].data["tls.crt"]
    assert is_signed_by(renewed, before)
    assert certificates.read(renewed).not_valid_after_utc > world.now + timedelta(days=80)


def _expiring(world: World, authority: bytes) -> core.Secret:
    key = world.secrets[CA].data["old.key"]
    hosts = certificates.member_hosts("prod", "db")
    issued = world.now - timedelta(days=70)
    leaf = certificates.new_leaf(certificates.Pair(authority, key), "prod", hosts, issued)
    there = world.secrets[SERVER]
    return core.Secret(
        metadata=there.metadata,
        data={"tls.crt": leaf.certificate, "tls.key": leaf.key, "ca.crt": there.data["ca.crt"]},
    )


def test_who_asks_does_not_wait_for_a_planned_rotation() -> None:
    world = World()
    [before] = world.authorities()
    world.wait(3653 - 364)
    world.settle()
    planned = world.authorities() - {before}
    world.ask("the key was seen")
    world.settle()
    assert len(world.authorities()) == 1
    assert not world.authorities() & {before, *planned}
