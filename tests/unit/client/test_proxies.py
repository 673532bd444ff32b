"""Which proxy the environment means; test_http.py has what happens on the way through one."""

import pytest

from windvane.client.config import ClientConfig
from windvane.client.proxies import proxy_for


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def proxy(server: str) -> str | None:
    return proxy_for(ClientConfig(server=server))


@pytest.mark.parametrize("server", ["https://10.96.0.1", "https://10.96.0.1:443", "https://[fd00::1]"])
def test_no_proxy_may_name_networks(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "example.org, 10.0.0.0/8,fd00::/8")
    assert proxy(server) is None
    assert proxy("https://11.0.0.1") == "http://127.0.0.1:1"


def test_a_proxy_may_be_named_without_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    assert proxy("https://kubernetes.example") == "http://proxy.example:3128"


def test_no_proxy_may_name_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", ".example,kubernetes")
    assert proxy("https://kubernetes.example:6443") is None
    assert proxy("https://kubernetes:6443") is None
    assert proxy("https://example.org") == "http://127.0.0.1:1"


def test_the_configurations_proxy_goes_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    config = ClientConfig(server="https://kubernetes.example", proxy_url="http://127.0.0.1:2")
    assert proxy_for(config) == "http://127.0.0.1:2"
