"""TLS, as a pass deals with it: certificates are looked at, stated, and used."""

import ssl
from collections.abc import Mapping
from datetime import datetime

from etcd_operator import names, tls, transport
from etcd_operator.api import EtcdCluster
from etcd_operator.children import TRUSTS, Security
from windvane import Context
from windvane.k8s import core


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
        await ctx.apply(secret)
    for reason, message in step.events:
        ctx.event(reason, message)
    return Security(
        scheme="https",
        flags=transport.member_flags(),
        volumes=transport.member_volumes(name),
        mounts=transport.member_mounts(),
        digest=tls.ca_digest(name, {each.metadata.name: each for each in step.secrets}),
    )
