"""The certificates, keys and tokens of one cluster, in a directory that only its owner can read.

They are made once, used at every start, and made anew some weeks before they expire. `issued.json` says when that is,
so that a usual start reads no certificate: loading the library that can takes longer than all else here.
"""

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING

from windvane import ambient

if TYPE_CHECKING:
    from windvane.certificates import Authority

ADMIN = "kubernetes-admin"
ADMIN_GROUP = "system:masters"
NAMES = (
    "127.0.0.1",
    "::1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
"""What the server may be called: as seen from this machine, and from inside of a cluster."""

RENEW_BEFORE = timedelta(days=30)

ISSUED = "issued.json"
FILES = ("ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key", "sa.key", "sa.pub", "admin.token")


class PKIError(Exception):
    """The directory of certificates can't be used; the message says why and what to do."""


@dataclass(frozen=True)
class PKI:
    """Where the certificates of a cluster are."""

    directory: Path
    names: tuple[str, ...] = NAMES
    """The host names and addresses in the server's certificate."""

    @property
    def ca_certificate(self) -> Path:
        """The authority that all of the cluster's certificates come from."""
        return self.directory / "ca.crt"

    @property
    def server_certificate(self) -> Path:
        """What the API server shows."""
        return self.directory / "server.crt"

    @property
    def server_key(self) -> Path:
        """The key of `server_certificate`."""
        return self.directory / "server.key"

    @property
    def service_account_key(self) -> Path:
        """The private key that service account tokens are signed with (P-256, so they are ES256)."""
        return self.directory / "sa.key"

    @property
    def service_account_public_key(self) -> Path:
        """What service account tokens are checked with."""
        return self.directory / "sa.pub"

    @property
    def admin_token(self) -> str:
        """The bearer token of `kubernetes-admin`."""
        return (self.directory / "admin.token").read_text()

    def authority(self) -> "Authority":
        """The authority itself, with its key."""
        authority = _read_authority(self)
        if authority is None:
            raise PKIError(f"there is no ca.crt and ca.key in {self.directory}.")
        return authority

    def kubeconfig(self, server: str, *, name: str = "windvane") -> str:
        """The text of a kubeconfig for `kubernetes-admin` at the URL `server`."""
        user = json.dumps(f"{name}-admin")
        quoted = json.dumps(name)
        return (
            "apiVersion: v1\n"
            "kind: Config\n"
            "clusters:\n"
            f"- name: {quoted}\n"
            "  cluster:\n"
            f"    server: {json.dumps(server)}\n"
            f"    certificate-authority-data: {self._base64('ca.crt')}\n"
            "users:\n"
            f"- name: {user}\n"
            "  user:\n"
            f"    client-certificate-data: {self._base64('admin.crt')}\n"
            f"    client-key-data: {self._base64('admin.key')}\n"
            "contexts:\n"
            f"- name: {quoted}\n"
            "  context:\n"
            f"    cluster: {quoted}\n"
            f"    user: {user}\n"
            "    namespace: default\n"
            f"current-context: {quoted}\n"
        )

    def _base64(self, file: str) -> str:
        return base64.b64encode((self.directory / file).read_bytes()).decode()


def open_pki(directory: Path, *, names: Sequence[str] = NAMES) -> PKI:
    """The certificates in `directory`, made or renewed if need be."""
    pki = PKI(directory, tuple(names))
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.chmod(0o700)
        if not _usable(pki):
            _issue(pki)
    except OSError as error:
        raise PKIError(f"the certificates can't be kept in {directory}: {error.strerror or error}") from error
    return pki


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all: no reader meets half of it, at no moment."""
    beside = file.with_name(f".{file.name}.{ambient.token(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _usable(pki: PKI) -> bool:
    """Whether all is there, for these names, and for a while yet."""
    if not all((pki.directory / file).is_file() for file in FILES):
        return False
    try:
        issued = json.loads((pki.directory / ISSUED).read_bytes())
        renew = datetime.fromisoformat(issued["renew"])
        return bool(issued["names"] == list(pki.names) and ambient.now() < renew)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def _issue(pki: PKI) -> None:
    """Make certificates anew, and what else is missing. An authority, a signing key and a token that are good stay:
    clients that have them in a kubeconfig or a pod go on.
    """
    from windvane.certificates import CERTIFICATE_LIFE, Authority, signing_key

    authority = _read_authority(pki)
    if authority is None or authority.expires - ambient.now() < RENEW_BEFORE:
        authority = Authority.new()
    server = authority.server("kube-apiserver", pki.names)
    admin = authority.client(ADMIN, ADMIN_GROUP)
    files = {
        "ca.key": authority.pair.key,
        "ca.crt": authority.pair.public,
        "server.key": server.key,
        "server.crt": server.public,
        "admin.key": admin.key,
        "admin.crt": admin.public,
    }
    if not (pki.service_account_key.is_file() and pki.service_account_public_key.is_file()):
        files["sa.key"], files["sa.pub"] = signing_key()
    if not (pki.directory / "admin.token").is_file():
        files["admin.token"] = ambient.token(43, ascii_letters + digits).encode()  # 256 bits
    renew = min(ambient.now() + CERTIFICATE_LIFE, authority.expires) - RENEW_BEFORE
    # Last, because it says that all the rest is there, and fits: after a crash on the way, all is made again.
    (pki.directory / ISSUED).unlink(missing_ok=True)
    files[ISSUED] = json.dumps({"renew": renew.isoformat(), "names": pki.names}, indent=1).encode()
    for file, content in files.items():
        write_private(pki.directory / file, content)


def _read_authority(pki: PKI) -> "Authority | None":
    from windvane.certificates import Authority, Pair

    try:
        pair = Pair((pki.directory / "ca.key").read_bytes(), pki.ca_certificate.read_bytes())
        return Authority.read(pair)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise PKIError(
            f"ca.crt and ca.key in {pki.directory} are damaged ({error}). "
            "Remove that directory: new certificates are made, and kubeconfigs that you copied must be copied again."
        ) from None
