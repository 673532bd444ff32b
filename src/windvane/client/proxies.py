"""Which proxy leads to a server, if any: the kubeconfig's `proxy-url`, or what the environment says."""

from contextlib import suppress
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from windvane.client.config import ClientConfig


def proxy_for(config: ClientConfig) -> str | None:
    """The proxy to go through: the configuration's own, or the environment's."""
    return config.proxy_url or _environment_proxy(config.server)


def proxy_name(config: ClientConfig) -> str:
    """The proxy as messages name it: without its password."""
    return f"the proxy {URL(proxy_for(config) or '').with_user(None)}"


def _environment_proxy(server: str) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY mean for `server`, as kubectl understands them.

    aiohttp's own `trust_env` would look into ~/.netrc as well, and send the password that stands there.
    """
    parts = urlsplit(server)
    if is_loopback(server) or proxy_bypass(parts.netloc) or _in_no_proxy_network(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _in_no_proxy_network(host: str) -> bool:
    """Whether NO_PROXY has a network, such as 10.0.0.0/8, that `host` is an address in; Python itself knows names."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    for entry in getproxies().get("no", "").split(","):
        with suppress(ValueError):
            if address in ip_network(entry.strip(), strict=False):
                return True
    return False


def is_loopback(server: str) -> bool:
    """Whether a URL leads to this machine."""
    host = urlsplit(server).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
