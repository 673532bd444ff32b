"""What members, and the operator's own calls, need in order to speak TLS: flags, volumes, and a context."""

import ssl
from functools import lru_cache
from tempfile import NamedTemporaryFile

from etcd_operator import tls
from windvane.k8s import core

_DIRECTORIES = {"server-tls": ("/tls/server", tls.server), "peer-tls": ("/tls/peer", tls.peer)}
"""The names of volumes: where they are in a member, and the Secret of a cluster that is in them."""


def member_flags() -> list[str]:
    """What etcd is told: where its certificates are, and that nobody is served without one.

    etcd reads certificates and keys anew for each connection, so renewed ones count without a restart. Whom to trust
    it reads only when it starts.
    """
    server, peer = (directory for directory, _ in _DIRECTORIES.values())
    return [
        f"--cert-file={server}/tls.crt",
        f"--key-file={server}/tls.key",
        f"--trusted-ca-file={server}/ca.crt",
        "--client-cert-auth=true",
        f"--peer-cert-file={peer}/tls.crt",
        f"--peer-key-file={peer}/tls.key",
        f"--peer-trusted-ca-file={peer}/ca.crt",
        "--peer-client-cert-auth=true",
    ]


def member_volumes(cluster: str) -> list[core.Volume]:
    """The volumes of a member's pod that have its certificates."""
    return [
        core.Volume(name=name, secret=core.SecretVolumeSource(secret_name=secret_of(cluster), default_mode=0o440))
        for name, (_, secret_of) in _DIRECTORIES.items()
    ]


def member_mounts() -> list[core.VolumeMount]:
    """Where those are in the container. Not with a subPath: such files would stay as they were when it started."""
    return [
        core.VolumeMount(name=name, mount_path=directory, read_only=True)
        for name, (directory, _) in _DIRECTORIES.items()
    ]


def client_context(secret: core.Secret) -> ssl.SSLContext:
    """How to connect to a member, as the Secret CLUSTER-client-tls says. The same one as long as that is the same.

    Members are called by address; name one with `server_hostname=names.host(...)`, for addresses are in no certificate.
    """
    return _context(secret.data["tls.crt"], secret.data["tls.key"], secret.data["ca.crt"])


@lru_cache(maxsize=256)
def _context(certificate: bytes, key: bytes, trusted: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=trusted.decode("ascii"))
    # OpenSSL reads certificates from files only: ours exists for a moment, for our eyes only.
    with NamedTemporaryFile() as file:
        file.write(certificate + b"\n" + key)
        file.flush()
        context.load_cert_chain(file.name)
    return context
