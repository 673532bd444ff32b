"""How an API server comes to the webhooks of an operator that is run: what was said, or what can be known without."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from windvane.api.names import label_problems
from windvane.webhook.endpoint import HTTPS, ServiceEndpoint, URLEndpoint, WebhookEndpoint

PORT = 9443
ANYWHERE, LOOPBACK = "0.0.0.0", "127.0.0.1"  # noqa: S104
LEAVE_WITHIN = 5.0
"""Seconds that a replica still answers when it stops: as long, API servers may be led to it by a Service."""


class WebhookPlaceUnknown(Exception):
    """There is no knowing how an API server comes here; the message says what to pass."""


@dataclass(frozen=True, kw_only=True)
class WebhookOrders:
    """What was said about webhooks."""

    host: str
    """Where to listen; empty if nothing was said."""
    port: int
    service: str
    """[NAMESPACE/]NAME[:PORT], or empty."""
    url: str
    """Or empty."""
    client_ca: Path | None
    """A file with certificates in PEM form that vouch for API servers."""
    in_pod: bool


@dataclass(frozen=True)
class WebhookPlace:
    """Where webhooks are served, and how API servers come there."""

    host: str
    port: int
    endpoint: WebhookEndpoint | None
    """None: from this machine."""

    @property
    def leave_within(self) -> float:
        """Seconds that questions are still answered when we stop."""
        return LEAVE_WITHIN if isinstance(self.endpoint, ServiceEndpoint) else 0.0


def place(orders: WebhookOrders, operator: str, *, server: str, namespace: str, home: str) -> WebhookPlace:
    """Where webhooks are, for an API server at the URL `server`; `WebhookPlaceUnknown` says what is missing.

    `namespace` is the operator's own, and `home` that of its pod, if it is in one.
    """
    if orders.service and orders.url:
        raise WebhookPlaceUnknown("say either --webhook-service, for a pod, or --webhook-url, for any other process")
    if orders.service:
        return WebhookPlace(orders.host or ANYWHERE, orders.port, read_service(orders.service, namespace))
    if orders.url:
        endpoint = URLEndpoint(orders.url, home if orders.in_pod else "")
        near = all(_is_loopback(each) for each in endpoint.addresses)
        return WebhookPlace(orders.host or (LOOPBACK if near else ANYWHERE), orders.port, endpoint)
    if orders.in_pod:
        raise WebhookPlaceUnknown(SERVICE_MISSING.format(operator=operator, namespace=namespace, port=orders.port))
    if _is_loopback(urlsplit(server).hostname or ""):
        return WebhookPlace(orders.host or LOOPBACK, orders.port, None)
    raise WebhookPlaceUnknown(URL_MISSING.format(server=server, operator=operator, port=orders.port))


def read_service(text: str, namespace: str) -> ServiceEndpoint:
    """What [NAMESPACE/]NAME[:PORT] says; ValueError if it is something else."""
    before, slash, rest = text.rpartition("/")
    name, colon, port = rest.partition(":")
    if (slash and not before) or (colon and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(f"{text!r} is no Service: write NAME, NAMESPACE/NAME or NAMESPACE/NAME:PORT")
    for each in (name, before) if slash else (name,):
        if problems := label_problems(each):
            raise ValueError(
                f"{text!r} is no Service: write NAME, NAMESPACE/NAME or NAMESPACE/NAME:PORT; {each!r}: {problems[0]}"
            )
    return ServiceEndpoint(before or namespace, name, int(port) if colon else HTTPS)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


SERVICE_MISSING = """\
operator {operator} has webhooks, and API servers reach a pod by a Service only. Say which one:
  --webhook-service {operator}-webhooks
and if there is none yet, apply this, with the labels of the operator's pods:
  apiVersion: v1
  kind: Service
  metadata: {{name: {operator}-webhooks, namespace: {namespace}}}
  spec:
    selector: {{app: {operator}}}
    ports: [{{port: 443, targetPort: {port}}}]
To do without webhooks: --no-webhooks"""

URL_MISSING = """\
operator {operator} has webhooks, and {server} has to reach them here. Say how it does: by an address of \
this machine, or by a tunnel to port {port}:
  --webhook-url https://HOST:PORT
To do without webhooks: --no-webhooks"""


def not_reached(orders: WebhookOrders, operator: str, endpoint: WebhookEndpoint, error: str) -> str:
    """What to say, and what to try, when an API server does not come here."""
    from windvane.webhook.server import NO_CERTIFICATE  # loaded by now, if webhooks were served

    words = f"the API server does not reach the webhooks of operator {operator} at {endpoint}. It says:\n  {error}\n"
    if orders.client_ca:
        words += CERTIFICATE_ASKED_FOR.format(file=orders.client_ca)
    if NO_CERTIFICATE in error:
        return words + DO_WITHOUT  # it does come here
    remedy = SERVICE_LEADS_ELSEWHERE if isinstance(endpoint, ServiceEndpoint) else URL_LEADS_ELSEWHERE
    return words + remedy.format(port=orders.port or "PORT")


CERTIFICATE_ASKED_FOR = """\
With --webhook-client-ca, it must show a certificate that those in {file} vouch for. It does so only if its
--admission-control-config-file names a kubeConfigFile with one for this host; with any other, it is hung up on.
"""
DO_WITHOUT = "To do without webhooks: --no-webhooks"

SERVICE_LEADS_ELSEWHERE = """\
A Service leads to pods. If this is none, say --webhook-url https://HOST:PORT instead. To do without webhooks: \
--no-webhooks"""

URL_LEADS_ELSEWHERE = """\
If it runs in a container, as those of kind and minikube do, 127.0.0.1 is not this machine for it. Try one of
  --webhook-url https://host.docker.internal:{port}      Docker Desktop, or --add-host=host.docker.internal:host-gateway
  --webhook-url https://host.minikube.internal:{port}
  --webhook-url https://$(docker network inspect kind -f '{{{{(index .IPAM.Config 0).Gateway}}}}'):{port}
or a tunnel to port {port}. To do without webhooks: --no-webhooks"""
