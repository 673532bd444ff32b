"""Where API servers reach the webhook server: at a Service of their cluster, or at a URL.

Which one says what its certificate must be for, and what stands in webhook configurations and CRDs.
"""

import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from windvane.k8s.admissionregistration import ServiceReference, WebhookClientConfig

HTTPS = 443
WRITTEN = re.compile(r"(?P<base>.+)/(default|validate)/[^/]+/[^/]+/[^/]+")
"""What stands in a configuration of an operator that is reached at a URL: see `paths`."""


@dataclass(frozen=True)
class ServiceEndpoint:
    """A Service of the cluster, which leads to the pods of the operator."""

    namespace: str
    name: str
    port: int = HTTPS
    """That of the Service, not of the pods."""

    @property
    def home(self) -> str:
        """The namespace of the operator's pods: a Service leads to no others."""
        return self.namespace

    @property
    def addresses(self) -> tuple[str, ...]:
        """The host names that the server's certificate must have. API servers ask for the one with .svc."""
        local = f"{self.name}.{self.namespace}"
        return (f"{local}.svc", f"{local}.svc.cluster.local", local)

    def client_config(self, path: str, bundle: bytes) -> WebhookClientConfig:
        """What a webhook configuration says of it."""
        service = ServiceReference(name=self.name, namespace=self.namespace, path=path, port=self.port)
        return WebhookClientConfig(service=service, ca_bundle=bundle)

    def __str__(self) -> str:
        return f"Service {self.namespace}/{self.name} port {self.port}"


@dataclass(frozen=True)
class URLEndpoint:
    """A URL such as https://192.0.2.7:9443, which leads here from wherever the API server is."""

    url: str
    home: str = ""
    """The namespace of the operator's pods; empty if it runs in none."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment or parts.username:
            raise ValueError(f"{self.url!r} is no URL that an API server calls: write https://HOST:PORT")
        if not parts.hostname.isascii():
            raise ValueError(
                f"{self.url!r}: write the host in ASCII letters, {parts.hostname.encode('idna').decode()!r}"
            )
        _ = parts.port  # ValueError if it is none

    @property
    def addresses(self) -> tuple[str, ...]:
        """The host name or IP address that the server's certificate must have."""
        return (urlsplit(self.url).hostname or "",)

    def client_config(self, path: str, bundle: bytes) -> WebhookClientConfig:
        """What a webhook configuration says of it."""
        return WebhookClientConfig(url=self.url.rstrip("/") + path, ca_bundle=bundle)

    def __str__(self) -> str:
        return self.url


WebhookEndpoint: TypeAlias = ServiceEndpoint | URLEndpoint


def endpoint_of(said: WebhookClientConfig) -> WebhookEndpoint | None:
    """Where an entry of a configuration that an operator wrote leads; None if that can't be read from it."""
    if (service := said.service) is not None:
        return ServiceEndpoint(service.namespace, service.name, service.port or HTTPS)
    found = WRITTEN.fullmatch(said.url or "")
    try:
        return URLEndpoint(found["base"]) if found is not None else None
    except ValueError:
        return None
