"""TLS and root's password, as a pass deals with them: Secrets are looked at, stated, and used."""

import ssl
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from etcd_operator import auth, names, tls, transport
from etcd_operator.api import EtcdCluster
from etcd_operator.children import TRUSTS, Security
from etcd_operator.etcd import EtcdError
from etcd_operator.reach import Access
from etcd_operator.world import World
from windvane import AlreadyExists, Context
from windvane.k8s import core

_logins: dict[str, tuple[dict[str, bytes], auth.Login]] = {}
"""By the uid of a cluster: the Secret that a token is for. To log in takes etcd a tenth of a second and a write."""


def certificates(cluster: EtcdCluster, ctx: Context) -> dict[str, core.Secret]:
    """The Secrets that there are, by name: none without TLS."""
    if not cluster.spec.tls:
        return {}
    found = ((name, ctx.get(core.Secret, name)) for name in tls.secret_names(cluster.metadata.name))
    return {name: secret for name, secret in found if secret is not None}


def client_context(cluster: EtcdCluster, existing: Mapping[str, core.Secret]) -> ssl.SSLContext | None:
    """How to call members; None where they don't speak TLS, or nobody could have a certificate yet."""
    secret = existing.get(tls.client(cluster.metadata.name))
    return transport.client_context(secret) if secret is not None else None


async def state(cluster: EtcdCluster, existing: Mapping[str, core.Secret], ctx: Context, now: datetime) -> Security:
    """Have certificates be as they should; what members' pods need because of them."""
    if not cluster.spec.tls:
        return Security()
    name = cluster.metadata.name
    pods = ctx.list(core.Pod, labels=names.selector(name))
    digest = tls.ca_digest(name, existing)
    everywhere = all(each.metadata.annotations.get(TRUSTS) == digest for each in pods)
    step = tls.decide(cluster, existing, now=now, all_pods_at=everywhere)
    for secret in step.secrets:
        await ctx.apply(secret, prune=False)  # without its keys, a cluster could not be talked to
    for reason, message in step.events:
        ctx.event(reason, message)
    return Security(
        scheme="https",
        flags=transport.member_flags(),
        volumes=transport.member_volumes(name),
        mounts=transport.member_mounts(),
        digest=tls.ca_digest(name, {each.metadata.name: each for each in step.secrets}),
        rotating=tls.is_rotating(step.secrets),
    )


async def root_password(cluster: EtcdCluster, ctx: Context) -> core.Secret | None:
    """The Secret with root's password, which is made if there is none; None if nobody must log in."""
    if not cluster.spec.auth:
        return None
    name = auth.root(cluster.metadata.name)
    there = ctx.get(core.Secret, name)
    if there is not None:
        return there
    try:
        return await ctx.client.create(auth.new_root(cluster))
    except AlreadyExists:  # its user made it, and without the label we don't see it
        return await ctx.client.patch(core.Secret, name, {"metadata": {"labels": names.labels(cluster.metadata.name)}})


def login(cluster: EtcdCluster, secret: core.Secret | None) -> auth.Login | None:
    """How to log in; None if nobody must. The same one as long as the passwords are the same."""
    if secret is None:
        return None
    known = _logins.get(cluster.metadata.uid)
    if known is None or known[0] != secret.data:
        known = _logins[cluster.metadata.uid] = (secret.data, auth.Login(secret))
    return known[1]


def forget(cluster: EtcdCluster) -> None:
    """Keep no token of a cluster that is gone."""
    _logins.pop(cluster.metadata.uid, None)


async def require_login(
    cluster: EtcdCluster, world: World, ways: Access, secret: core.Secret | None, ctx: Context
) -> str:
    """Have etcd ask clients who they are, and know the password that the Secret has. Returns why not, if so."""
    leader = world.leader_place
    if secret is None or leader is None or leader.pod is None:
        return ""
    mine = cluster.metadata
    member = ways.stranger(leader.pod, names.host(mine.name, mine.namespace, leader.ordinal))

    async def record(patch: dict[str, Any]) -> None:
        await ctx.client.patch(core.Secret, secret.metadata.name, patch)

    try:
        for reason, message in await auth.ensure(member, secret, record, ctx.outside):
            ctx.event(reason, message)
    except (EtcdError, auth.PasswordMissing) as error:
        return str(error)
    return ""
