"""Why pods of a StatefulSet or a Job are not there: the API server refuses them, and only an Event says so."""

from windvane import Client, ClientError
from windvane.k8s import apps, batch, core

LONGEST = 500
"""How many characters of a refusal are told."""


async def refusal(client: Client, owner: apps.StatefulSet | batch.Job) -> str:
    """Why the last pod of an owner could not be made; nothing if it could, as far as is known."""
    about = {"involvedObject.uid": owner.metadata.uid, "reason": "FailedCreate"}
    try:
        told = await client.list(core.Event, namespace=owner.metadata.namespace, fields=about)
    except ClientError:
        return ""  # we may not look, or it can't be told now
    newest = max(told, key=lambda each: str(each.last_timestamp or each.event_time), default=None)
    return (newest.message or "")[:LONGEST] if newest is not None else ""
