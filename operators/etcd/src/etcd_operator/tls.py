"""Which Secrets with certificates a cluster should have, judged by those that it has, and the time.

A cluster has an authority (C-ca) and three certificates: of members for clients, of members for each other, of clients.
Members trust whatever is in the `ca.crt` beside their certificate, as it was when they started. So another authority
comes in steps, and before each of the later ones all members must have been restarted since the one before:

    C-ca has   certificates from   members trust   then
    old, new   old                 old, new        all are restarted: everybody trusts both
    old, new   new                 old, new        all are restarted: nobody has a certificate from the old one
    new        new                 new             all are restarted, and it is over

Where it stands is read off the Secrets, each of which may be written or not: whatever is missing is made up for, and as
nothing is dropped or used before all members know of it, no member ever meets one that it doesn't trust.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from etcd_operator import names
from etcd_operator.api import GROUP, EtcdCluster
from etcd_operator.certificates import (
    LEAF_LIFE,
    Pair,
    bundle,
    hosts_of,
    is_signed_by,
    member_hosts,
    new_authority,
    new_leaf,
    unbundle,
)
from windvane import ObjectMeta
from windvane.k8s import core

ROTATE = f"{GROUP}/rotate-ca"
"""An annotation: on an EtcdCluster, a new value asks for another authority; on C-ca, the value that was answered."""
RENEW = timedelta(days=30)
"""A certificate with less left than this is renewed."""
ROTATION = timedelta(days=365)
"""An authority with less left than this is followed by another."""
PATIENCE = timedelta(days=30)
"""How long clients have, in a rotation that nobody asked for, to read again whom to trust, and what to show."""


def ca(cluster: str) -> str:
    """The Secret with the authority. No pod has it."""
    return f"{cluster}-ca"


def server(cluster: str) -> str:
    """The Secret that members show to clients."""
    return f"{cluster}-server-tls"


def peer(cluster: str) -> str:
    """The Secret that members show to each other."""
    return f"{cluster}-peer-tls"


def client(cluster: str) -> str:
    """The Secret for clients, of which the operator is one."""
    return f"{cluster}-client-tls"


def secret_names(cluster: str) -> list[str]:
    """All of them."""
    return [ca(cluster), server(cluster), peer(cluster), client(cluster)]


@dataclass(frozen=True)
class Step:
    """What comes next."""

    secrets: list[core.Secret]
    """All Secrets as they should be, to be applied in this order."""
    events: list[tuple[str, str]]
    """What is new in them: a reason and a sentence each."""
    again: datetime
    """When something will be due, if nothing happens before."""


@dataclass(frozen=True)
class Authority:
    """What is in C-ca."""

    newest: Pair
    old: Pair | None = None
    """The one before, as long as it is trusted."""
    answered: str = ""
    """The last wish for a rotation that was heard."""

    @classmethod
    def of(cls, secret: core.Secret | None) -> Self | None:
        """As a Secret has it; None if it has none that can be used."""
        if secret is None or (newest := _pair(secret, "tls")) is None:
            return None
        return cls(newest, _pair(secret, "old"), secret.metadata.annotations.get(ROTATE, ""))


@dataclass(frozen=True)
class Leaf:
    """What is in a Secret with a certificate."""

    pair: Pair | None = None
    trusted: list[bytes] = field(default_factory=list)
    """The authorities whose certificates its holder accepts."""

    @classmethod
    def of(cls, secret: core.Secret | None) -> Self:
        """As a Secret has it."""
        if secret is None:
            return cls()
        return cls(_pair(secret, "tls"), unbundle(secret.data.get("ca.crt", b"")))

    def is_from(self, authority: Pair | None) -> bool:
        """Whether it was issued by that one."""
        return (
            self.pair is not None
            and authority is not None
            and is_signed_by(self.pair.certificate, authority.certificate)
        )


def ca_digest(cluster: str, secrets: Mapping[str, core.Secret]) -> str:
    """For an annotation of pods: another one whenever members must be restarted because of their certificates.

    That is if they should trust others, or if their certificates are from another authority. A member would show a new
    certificate of its own accord; but only after a restart it is certain that none has kept the one before.
    """
    digest = hashlib.sha256()
    for each in (server(cluster), peer(cluster)):
        leaf = Leaf.of(secrets.get(each))
        issuers = [place for place, authority in enumerate(leaf.trusted) if leaf.is_from(Pair(authority, b""))]
        digest.update(repr((each, leaf.trusted, issuers)).encode())
    return digest.hexdigest()[:16]


def decide(cluster: EtcdCluster, existing: Mapping[str, core.Secret], *, now: datetime, all_pods_at: bool) -> Step:
    """The Secrets that should be, given those that are, by name.

    `all_pods_at` says whether each of the cluster's pods was made for `ca_digest(cluster.metadata.name, existing)`.
    """
    name, asked = cluster.metadata.name, cluster.metadata.annotations.get(ROTATE, "")
    leaves = {each: Leaf.of(existing.get(each)) for each in secret_names(name)[1:]}
    authority, events = _authority(name, Authority.of(existing.get(ca(name))), leaves.values(), asked, now)

    all_trust_newest = all_pods_at and all(authority.newest.certificate in leaf.trusted for leaf in leaves.values())
    all_from_newest = all(leaf.is_from(authority.newest) for leaf in leaves.values())
    patience_ends = _patience_ends(authority, asked, leaves.values() if all_from_newest else ())
    go_on = all_trust_newest and now >= patience_ends
    if go_on and not all_from_newest:
        events.append(("CARotation", "all members trust the new CA: certificates are from it now"))
    elif go_on and not _is_settled(authority, leaves.values()):
        authority = replace(authority, old=None)
        leaves = {each: replace(leaf, trusted=[]) for each, leaf in leaves.items()}
        events.append(("CARotation", "all certificates are from the new CA: members no longer trust the one before"))

    everything = [each for leaf in leaves.values() for each in leaf.trusted]
    old = [authority.old.certificate] if authority.old is not None else []
    due = [authority.newest.ends - ROTATION, patience_ends]
    secrets = [_ca_secret(cluster, authority)]
    for each, leaf in leaves.items():
        hosts = [] if each == client(name) else member_hosts(name, cluster.metadata.namespace)
        signer = authority.newest if go_on else _signer(leaf, authority, now)
        pair = leaf.pair
        if pair is None or _is_due(pair, signer, hosts, now):
            if leaf.is_from(signer):
                events.append(("CertificateRenewed", f"the certificate in Secret {each} was renewed"))
            pair = new_leaf(signer or authority.newest, name, hosts, now)
        due.append(pair.ends - RENEW)
        trusted = bundle([*(leaf.trusted or everything), *old, authority.newest.certificate])
        secrets.append(_secret(cluster, each, {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": trusted}))
    return Step(secrets, events, min((each for each in due if each > now), default=now + timedelta(days=1)))


def is_rotating(secrets: Iterable[core.Secret]) -> bool:
    """Whether another authority is taking the place of the one before."""
    return any("old.crt" in each.data for each in secrets)


def _authority(
    name: str, known: Authority | None, leaves: Collection[Leaf], asked: str, now: datetime
) -> tuple[Authority, list[tuple[str, str]]]:
    """The authority that should be, and what to say if that is news."""
    if known is None:
        if any(leaf.pair for leaf in leaves):
            said = ("CALost", f"there is no usable CA in Secret {ca(name)}: another one takes its place, step by step")
        else:
            said = ("CACreated", f"certificates of members and clients are from the CA in Secret {ca(name)}")
        return Authority(new_authority(name, now), answered=asked), [said]
    is_asked = asked not in ("", known.answered)
    if not _is_settled(known, leaves) or not (is_asked or known.newest.left(now) < ROTATION):
        return known, []
    why = f"as the annotation {ROTATE} asks" if is_asked else f"for the CA ends on {known.newest.ends:%Y-%m-%d}"
    said = ("CARotation", f"{why}, there is a new CA: members come to trust both, one restart after the other")
    return Authority(new_authority(name, now), known.newest, asked or known.answered), [said]


def _is_settled(authority: Authority, leaves: Iterable[Leaf]) -> bool:
    """Whether there is one authority, and all know it and no other."""
    return authority.old is None and all(
        leaf.is_from(authority.newest) and leaf.trusted == [authority.newest.certificate] for leaf in leaves
    )


def _patience_ends(authority: Authority, asked: str, switched: Iterable[Leaf]) -> datetime:
    """Until when clients have time in this step: no time if somebody asked for a rotation, or the old key is lost."""
    begun = max([authority.newest.begins, *(leaf.pair.begins for leaf in switched if leaf.pair)])
    old = authority.old
    is_planned = old is not None and authority.newest.begins >= old.ends - ROTATION
    return begun + PATIENCE if is_planned and asked in ("", authority.answered) else begun


def _signer(leaf: Leaf, authority: Authority, now: datetime) -> Pair | None:
    """Who issues a certificate while not all members may trust the newest authority; None if only that one could."""
    old = authority.old if authority.old is not None and authority.old.left(now) > timedelta() else None
    if leaf.pair is None or leaf.pair.left(now) <= timedelta():
        return old or authority.newest
    return next((each for each in (authority.newest, old) if leaf.is_from(each)), None)


def _is_due(pair: Pair, signer: Pair | None, hosts: Collection[str], now: datetime) -> bool:
    """Whether a certificate should be followed by another one, which that authority issues."""
    if signer is None:
        return False
    gain = min(LEAF_LIFE, signer.left(now)) - pair.left(now)
    return (
        (pair.left(now) < RENEW and gain > timedelta(days=1))
        or hosts_of(pair.certificate) != list(hosts)
        or not is_signed_by(pair.certificate, signer.certificate)
    )


def _ca_secret(cluster: EtcdCluster, authority: Authority) -> core.Secret:
    data = {"tls.crt": authority.newest.certificate, "tls.key": authority.newest.key}
    if authority.old is not None:
        data |= {"old.crt": authority.old.certificate, "old.key": authority.old.key}
    secret = _secret(cluster, ca(cluster.metadata.name), data)
    if authority.answered:
        secret.metadata.annotations[ROTATE] = authority.answered
    return secret


def _secret(cluster: EtcdCluster, name: str, data: dict[str, bytes]) -> core.Secret:
    labels = names.labels(cluster.metadata.name)
    metadata = ObjectMeta(name=name, namespace=cluster.metadata.namespace, labels=labels)
    return core.Secret(metadata=metadata, type="kubernetes.io/tls", data=data)


def _pair(secret: core.Secret, name: str) -> Pair | None:
    return Pair.of(secret.data.get(f"{name}.crt", b""), secret.data.get(f"{name}.key", b""))
