"""Asks a cluster and the histories about one object, and puts together what they say."""

from windvane import ambient
from windvane.cli.why.causes import read_record
from windvane.cli.why.explanation import Explanation, explain
from windvane.cli.why.histories import Histories
from windvane.cli.why.live import read_live, served_kinds
from windvane.cli.why.reason import Facts
from windvane.cli.why.reference import find_kind
from windvane.client.client import Client

NO_HISTORY = (
    "No operator on this cluster keeps a history here, so this is what the objects themselves tell. To know what leads "
    "to what from now on: windvane run OPERATOR --history FILE, and then windvane why {0} --history FILE"
)


class NothingKnown(Exception):
    """There is no such object, and no history tells of one."""


async def inquire(
    client: Client, histories: Histories, kind: str, name: str, *, namespace: str = "", everything: bool = False
) -> Explanation:
    """Why the object that `kind` and `name` mean is as it is; `WrongReference` if there is no such kind."""
    kinds = await served_kinds(client)
    wanted = find_kind(kind, kinds)
    live = await read_live(client, kinds, wanted, namespace or client.namespace, name)
    record = read_record(histories.entries, {each.resource: each.name for each in kinds})
    if live.object is None and not record.knows(live.reference):
        told = "no history tells of it" if histories.entries else "there is no history that could tell of it"
        raise NothingKnown(f"there is no {wanted.name} {live.reference.where}, and {told}")
    notes = [] if histories.entries else [NO_HISTORY.format(f"{kind}/{name}")]
    return explain(Facts(live, record, ambient.now(), histories.running), notes, everything=everything)
