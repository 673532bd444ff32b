"""Whether a cluster answers, asked as any client would: over HTTPS, with its kubeconfig."""

import http.client
from urllib.parse import urlsplit

from windvane.client.config import load_config
from windvane.client.tls import tls_context
from windvane.cluster.instance import Instance


def is_ready(instance: Instance, *, within: float = 5.0) -> bool:
    """Whether the cluster says that it is ready, and takes no longer than so many seconds for each step of that."""
    config = load_config(kubeconfig=instance.kubeconfig)
    where = urlsplit(config.server)
    context = tls_context(config)
    if isinstance(context, bool):
        return False
    connection = http.client.HTTPSConnection(where.hostname or "", where.port, timeout=within, context=context)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
