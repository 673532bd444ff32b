"""Whether CRDs may be installed on a cluster: on one that is not of this machine, only if the user says so.

CRDs are everybody's in a cluster, and a kubeconfig whose current context is not the one that one thinks of is an easy
mistake. An operator in a pod is spared the question: its manifest has chosen the cluster and the flag.
"""

import socket
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from windvane.client.config import ClientConfig


class ConsentRefused(Exception):
    """It may not be done; the message says why, and what to pass."""


class Declined(Exception):
    """The user was asked, and said no."""


def ask_to_install(config: ClientConfig, operator: str) -> None:
    """Return if CRDs may be installed there, which is asked on a terminal if need be; else raise."""
    if not config.context or is_local(config):
        return
    where = f"{config.server}, {config.source}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConsentRefused(
            f"--install-crds would change a cluster that is not on this machine: {where}. If that is the one: "
            f"--context {config.context}, or --yes"
        )
    sys.stderr.write(f"Install the CRDs of operator {operator} on {where}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was written")


def is_local(config: ClientConfig) -> bool:
    """Whether an API server is on this machine, as those of `windvane cluster`, kind, k3d and Docker Desktop are."""
    if config.proxy_url:
        return False  # whose machine is meant, then
    host = urlsplit(config.server).hostname or ""
    try:
        addresses = {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(_is_here(ip_address(each.partition("%")[0])) for each in addresses)


def _is_here(address: IPv4Address | IPv6Address) -> bool:
    return address.is_loopback or address.is_unspecified  # 0.0.0.0 is what k3d writes, and leads to this machine
